"""Bots that somebody else runs: the arena connects, asks and hangs up, and can start nothing."""

from __future__ import annotations

from arena.match.record import Status
from arena.match.rulings import Fault, Loss
from tests.bots.conftest import Arena, remote


def test_a_remote_bot_plays_one_block_after_another(arena: Arena) -> None:
    with remote("honest") as address:
        first, second = arena.block(address), arena.block(address)
    assert first == second == arena.block("honest")
    assert not any(record.faults for record in first)


def test_both_seats_may_be_the_same_remote_process(arena: Arena) -> None:
    with remote("honest") as address:
        assert arena.block(address, address) == arena.block("honest")


def test_a_remote_bot_that_closes_its_stream_is_asked_again_on_a_new_one(arena: Arena) -> None:
    with remote("close") as address:  # at the third decision of each stream
        records = arena.block(address, matches=1)
    assert faults_of(records[0].faults)[:2] == [(0, Fault.STREAM_BROKEN, Loss.DEAL)] * 2


def test_a_remote_bot_that_is_gone_loses_what_it_owed_and_then_the_rest(arena: Arena) -> None:
    with remote("crash") as address:
        records = arena.block(address, matches=2, start_s=3.0)
    assert [record.forfeited_by for record in records] == [0, 0]
    kinds = {fault.fault for record in records for fault in record.faults}
    assert kinds == {Fault.STREAM_BROKEN, Fault.NOT_STARTED}


def test_nobody_at_the_address_is_a_walkover(arena: Arena) -> None:
    records = arena.block("unix:/nonexistent/socket", matches=1, start_s=0.5)
    assert records[0].status is Status.WALKOVER
    assert faults_of(records[0].faults) == [(0, Fault.NOT_STARTED, Loss.MATCH)]


def faults_of(faults: tuple[object, ...]) -> list[tuple[int, Fault, Loss]]:
    return [(fault.seat, fault.fault, fault.loss) for fault in faults]  # type: ignore[attr-defined]
