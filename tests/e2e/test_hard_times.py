"""A run whose surroundings fail it: full disks, deaf listeners, kills between two steps, faults of the arena."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.app.data import Archive
from arena.app.runs import RunOptions
from arena.app.tournament import Finished, Plan, run_tournament
from arena.match.absence import Exclusion
from arena.match.lag import Lag
from arena.match.summary import MatchSummary
from arena.reports.model import Stopping
from arena.store import Store
from arena.tournament.runner import UnderWay
from arena.wire import codec
from tests.e2e.test_tournament import BOT, SINNER, config, place, wait_until_nothing_is_left

__all__ = ["place"]


class Silent:
    """Listens and says nothing."""

    def planned(self, plan: Plan) -> None:
        pass

    def extended(self, stopping: Stopping, plan: Plan) -> None:
        pass

    def committed(self, summaries: Sequence[MatchSummary]) -> None:
        pass

    def quarantined(self, entries: Sequence[Exclusion], plan: Plan) -> None:
        pass

    def broken(self, name: str, failure: str) -> None:
        pass

    def draining(self, under_way: int) -> None:
        pass

    def building(self, name: str) -> None:
        pass

    def noted(self, sentence: str) -> None:
        pass

    def looked(self, lag: Lag, under_way: Sequence[UnderWay]) -> None:
        pass

    def overloaded(self, lag: Lag) -> None:
        pass


def run_here(place: Path, listener: Silent | None = None, **options: Any) -> Finished:
    """A run in this process, for what is changed in it, with a time limit instead of a stall."""
    wanted = RunOptions(config=place / "cup.toml", archive=Archive(place / "arena-data"), workers=1, **options)

    async def run() -> Finished:
        async with asyncio.timeout(60):
            return await run_tournament(wanted, listener or Silent())

    return asyncio.run(run())


def rows(place: Path, question: str) -> list[tuple[Any, ...]]:
    """What the store answers."""
    with closing(sqlite3.connect(place / "arena-data" / "arena.db")) as store:
        return store.execute(question).fetchall()


def plays(place: Path) -> set[tuple[Any, ...]]:
    """Every match of every run with its play: as many as one run has if all runs are the same."""
    return set(rows(place, "select epoch, pairing, leg, number, play_hash from matches"))


def test_a_listener_that_fails_ends_the_run_and_stalls_nothing(place: Path) -> None:
    class Deaf(Silent):
        def committed(self, summaries: Sequence[MatchSummary]) -> None:
            raise BrokenPipeError("nobody listens")

    with pytest.raises(BrokenPipeError):
        run_here(place, Deaf(), name="deaf")
    assert run_here(place, resume="deaf").complete
    wait_until_nothing_is_left(place)


def test_a_run_that_was_killed_before_its_first_epoch_can_be_resumed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config(place, pairs=1)
    with monkeypatch.context() as killed:
        killed.setattr(Store, "open_epoch", _killed)
        with pytest.raises(InterruptedError):
            run_here(place, name="early", seed="1")
    assert run_here(place, resume="early").complete
    run_here(place, name="whole", seed="1")
    assert len(plays(place)) == 2
    assert rows(place, "select count(*) from matches") == [(4,)]


def test_a_bot_that_entered_just_before_the_arena_was_killed_plays_after_a_resume(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config(place, pairs=1)
    run_here(place, name="first")
    (place / "carl.py").write_text(BOT)
    config(place, "anna.py", "bert.py", "carl.py", pairs=1)
    with monkeypatch.context() as killed:
        killed.setattr(Store, "open_epoch", _killed)
        with pytest.raises(InterruptedError):
            run_here(place, resume="first")
    assert run_here(place, resume="first").complete
    assert rows(place, "select count(*) from matches") == [(3 * 2,)]


def _killed(*_: object, **__: object) -> None:
    raise InterruptedError("killed")


def test_a_match_that_the_arena_cannot_play_is_tried_three_times_and_then_shown_as_void(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config(place, pairs=3)
    put, victims = codec.deal_ended, Counter[str]()

    def deal_ended(match_id: str, *args: Any, **settings: Any) -> bytes:
        if not victims or match_id in victims:
            victims[match_id] += 1
            raise ValueError("no such field")
        return put(match_id, *args, **settings)

    monkeypatch.setattr(codec, "deal_ended", deal_ended)
    finished = run_here(place, name="void")
    assert (finished.complete, finished.void) == (True, 1)
    assert list(victims.values()) == [3]
    assert rows(place, "select attempt from voids order by attempt") == [(1,), (2,)]
    assert rows(place, "select status, count(*) from matches group by status") == [("played", 5), ("void", 1)]
    assert not rows(place, "select * from faults")


def test_a_match_that_fails_once_is_replayed_as_if_nothing_had_been(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config(place, pairs=2)
    run_here(place, name="whole", seed="3")
    put = codec.deal_ended
    failed: list[str] = []

    def deal_ended(match_id: str, *args: Any, **settings: Any) -> bytes:
        if not failed:
            failed.append(match_id)
            raise ValueError("no such field")
        return put(match_id, *args, **settings)

    monkeypatch.setattr(codec, "deal_ended", deal_ended)
    finished = run_here(place, name="broken", seed="3")
    assert failed
    assert (finished.complete, finished.void) == (True, 0)
    assert len(plays(place)) == 4


def test_each_match_in_processes_of_its_own_is_the_same_play(place: Path) -> None:
    config(place, pairs=2)
    run_here(place, name="blocks", seed="9")
    config(place, pairs=2, isolation="match")
    run_here(place, name="alone", seed="9")
    assert len(plays(place)) == 4


def test_a_bot_that_dies_in_every_block_is_charged_and_the_others_play_on(place: Path) -> None:
    config(place, pairs=1)
    with (place / "cup.toml").open("a") as file:
        file.write(f'[[bots]]\nname = "mortal"\nbot = "{sys.executable} {SINNER} once-crash 2"\n')
    run_here(place, name="dying")
    assert rows(place, "select count(*) from matches") == [(3 * 2,)]
    assert rows(place, "select participant, kind, count(*) from faults group by 1, 2") == [("mortal", "died", 4)]
    wait_until_nothing_is_left(place)
