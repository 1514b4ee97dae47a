"""Each sin of a bot, committed by a real process: the right fault, the right cost, and nobody else pays."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping

import pytest

from arena.game.presets import name_of
from arena.game.scoring import Termination
from arena.game.table import Table
from arena.match.clock import TimeControl
from arena.match.record import MatchRecord, Status
from arena.match.referee import MAX_EVIDENCE
from arena.match.rulings import Fault, Loss
from tests.bad_bots.sins import SINS, Sin
from tests.bots.conftest import Arena, assert_nothing_is_left, remote

SINNERS = 0
"""The side of the sinner, and of its partner, which is one too."""
AT_ONCE = 6
"""Blocks with a sinner that are played side by side."""


@pytest.fixture(scope="module")
def verdicts(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[Sin, list[MatchRecord]]:
    """What the arena makes of the sins of the tests that are to run, all of them against one honest process."""
    chosen = [sin for item in request.session.items if (sin := _sin_of(item)) is not None]
    gate = asyncio.Semaphore(AT_ONCE)

    async def judge(sin: Sin, honest: str) -> list[MatchRecord]:
        arena = Arena(tmp_path_factory.mktemp("sin"))
        others = ["b", "c"][: Table.of(sin.rules).sides - 1]
        specs = {"a": sin.flags, **dict.fromkeys(others, sin.against or honest)}
        async with gate:
            return await arena.play(
                {name: arena.spec(name, flags) for name, flags in specs.items()},
                matches=sin.matches,
                time=sin.time,
                start_s=sin.start_s,
                rules=sin.rules,
            )

    async def judge_all(honest: str) -> dict[Sin, list[MatchRecord]]:
        async with asyncio.TaskGroup() as group:
            judging = {sin: group.create_task(judge(sin, honest)) for sin in chosen}
        return {sin: task.result() for sin, task in judging.items()}

    with remote("honest") as address:
        found = asyncio.run(judge_all(address))
    assert_nothing_is_left()
    return found


def _sin_of(item: pytest.Item) -> Sin | None:
    """The sin that a test is about."""
    sin = item.callspec.params.get("sin") if hasattr(item, "callspec") else None
    return sin if isinstance(sin, Sin) else None


def test_there_are_more_than_fifty_sins() -> None:
    assert len({sin.flags for sin in SINS if sin.faults}) >= 50


@pytest.mark.timeout(300)  # the first one plays the blocks of all
@pytest.mark.parametrize("sin", SINS, ids=lambda sin: f"{sin.flags} in {name_of(sin.rules)}")
def test_a_sin_is_ruled_on_rightly_and_harms_nobody_else(sin: Sin, verdicts: Mapping[Sin, list[MatchRecord]]) -> None:
    records = verdicts[sin]
    table = Table.of(sin.rules)
    assert len(records) == sin.matches
    assert {table.side_of[fault.seat] for record in records for fault in record.faults} <= {SINNERS}
    for record in records:
        assert record.status is not Status.VOID
        assert record.forfeited_by in (None, SINNERS)
        faulty = {fault.deal for fault in record.faults}
        for number, deal in enumerate(record.deals, start=1):
            assert (deal.termination is Termination.FORFEIT) is (number in faulty)
            if number in faulty:
                assert deal.points[SINNERS] == 0
                assert all(deal.points[side] >= 2 for side in table.opponents[deal.dealer][SINNERS])
    kinds = [fault.fault for record in records for fault in record.faults]
    assert tuple(dict.fromkeys(kinds))[: len(sin.faults)] == sin.faults[: len(set(kinds))]
    assert set(kinds) <= set(sin.faults) and bool(kinds) is bool(sin.faults)
    if sin.faults:
        first = next(record for record in records if record.faults)
        assert (first.status, first.faults[0].loss) == (sin.status, sin.loss)
        assert sin.evidence in first.testimony.evidence[0]
        assert len(first.testimony.evidence[0]) < MAX_EVIDENCE + 1000
    if sin.ends is not None:
        ended = [deal for record in records for deal in record.deals if deal.termination is sin.ends]
        assert any(table.side_of[deal.seat] == SINNERS and deal.points[SINNERS] == 0 for deal in ended)


def faults(record: MatchRecord) -> list[tuple[int, Fault, Loss]]:
    return [(fault.seat, fault.fault, fault.loss) for fault in record.faults]


def only_by_the_sinner(records: list[MatchRecord]) -> None:
    assert all(fault.seat == 0 for record in records for fault in record.faults)


def test_an_answer_just_in_time_is_played(arena: Arena) -> None:
    records = arena.block("slow", matches=1, time=TimeControl(limit_ms=200, bank_ms=2800))
    assert faults(records[0]) == []
    assert max(records[0].testimony.took_us[0]) > 200_000


def test_what_was_spent_of_the_bank_is_missing_when_the_answer_is_late(arena: Arena) -> None:
    records = arena.block("spend-and-fall-silent", matches=1, time=TimeControl(limit_ms=500, bank_ms=4500))
    assert faults(records[0])[:1] == [(0, Fault.LATE, Loss.DEAL)]
    (evidence, *_) = records[0].testimony.evidence
    match = re.search(r"it took ([\d.]+) ms of the ([\d.]+) ms that were left", evidence)
    assert match is not None
    took_ms, left_ms = map(float, match.groups())
    assert 500 <= left_ms < took_ms
    assert left_ms < 5000 - 1000, "two seconds were slept before, most of them on the bank"


def test_answers_to_no_open_decision_are_counted_in_the_bots_log(arena: Arena) -> None:
    arena.block("foreign", "once-crash", matches=4)
    assert "[arena: answers to no open decision, all dropped: 1]" in (arena.logs / "a.log").read_text()
    assert "[arena:" not in (arena.logs / "b.log").read_text()


def test_the_third_death_forfeits_the_remaining_matches(arena: Arena) -> None:
    records = arena.block("crash 30", matches=12)  # else three lost deals end every match before the third death
    only_by_the_sinner(records)
    assert any(record.status is Status.FORFEIT and record.forfeited_by == 0 for record in records)
    assert any("3rd time" in text for record in records for text in record.testimony.evidence)


@pytest.mark.parametrize("sin", ["last-first", "in-one-message"])
def test_answers_may_come_in_any_order_and_together(arena: Arena, sin: str) -> None:
    records = arena.block(sin, matches=8)
    assert not any(record.faults for record in records)
    honest = arena.block("honest", matches=8)
    assert records == honest


def test_a_bot_that_answers_too_late_again_and_again_is_not_hung(arena: Arena) -> None:
    records = arena.block("overtime 1", matches=3, time=TimeControl(limit_ms=800, bank_ms=0))
    late = [(0, Fault.LATE, Loss.DEAL)]
    assert [faults(record) for record in records] == [late, late, []]


def test_a_death_charges_no_decision_that_the_bot_was_never_sent(arena: Arena) -> None:
    # While it thinks about the fourth match, the next decision of the third one waits in the arena.
    records = arena.block("once-think-and-crash 4", matches=4)
    assert faults(records[3]) == [(0, Fault.DIED, Loss.DEAL)]
    assert faults(records[2]) == []


def test_the_time_before_a_death_is_charged_once(arena: Arena) -> None:
    records = arena.block("once-think-and-crash 1", matches=4)
    assert [faults(record) for record in records] == [[(0, Fault.DIED, Loss.DEAL)]] * 4
    spent_us = [record.testimony.took_us[0][0] for record in records]
    assert max(spent_us) >= 200_000  # what the arena paused meanwhile is nobody's
    assert sum(spent_us) < 1.5 * max(spent_us)


def test_a_bot_that_dies_right_after_its_answer_is_charged_once_a_match_at_most(arena: Arena) -> None:
    records = arena.block("once-answer-and-leave 2", matches=3)
    for record in records:
        assert faults(record) in ([], [(0, Fault.DIED, Loss.DEAL)])


@pytest.mark.parametrize("sin", ["once-crash", "once-close", "once-abort"])
def test_without_a_clock_a_lost_bot_is_noticed_all_the_same(arena: Arena, sin: str) -> None:
    records = arena.block(sin, time=TimeControl(limit_ms=0))
    assert all(record.status is Status.PLAYED for record in records)
    assert any(record.faults for record in records)
    only_by_the_sinner(records)
