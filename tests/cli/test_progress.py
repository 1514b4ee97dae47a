"""What a tournament says while it runs, from what it is told: every figure, and no more than was asked for."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from arena.app.data import Archive
from arena.app.runs import RunOptions
from arena.app.tournament import Plan, dry_run
from arena.cli import progress, screen
from arena.cli.progress import Progress, duration, header
from arena.match.absence import Change, Exclusion, Place
from arena.match.record import Status
from arena.match.summary import Histogram, MatchKey, MatchSummary, SideSummary
from arena.ratings.trust import Separation
from arena.reports.model import Stopping
from arena.tournament.stop import StopRule
from tests.cli.conftest import make_folder


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    config = make_folder(tmp_path, pairs=2) / "tournament.toml"
    plan, _ = dry_run(RunOptions(config=config, archive=Archive(tmp_path), seed="7"))
    return plan


def match(number: int, points: tuple[int, int], *, faults: int = 0, status: Status = Status.PLAYED) -> MatchSummary:
    """A match of one against two."""

    def side(name: str, own: int, other: int, faults: int) -> SideSummary:
        return SideSummary((name,), own, 1 if own >= other else 2, 0, {"late": faults}, (Histogram({}),))

    one, two = points
    sides = (side("one", one, two, faults), side("two", two, one, 0))
    return MatchSummary(MatchKey(0, ("one", "two"), 0, number), status, True, 5, {}, None, sides)


def lines(told: str) -> list[str]:
    return [line for line in told.splitlines() if " matches, " in line]


def test_the_first_line_comes_at_once_and_then_one_now_and_then(
    plan: Plan, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LINE_WAITS_S", (0.01,))

    async def watched() -> None:
        with Progress() as listener:
            listener.planned(plan)
            assert lines(capsys.readouterr().err) == ["0 of 4 matches, 0 faults"]
            listener.committed([match(0, (7, 3), faults=2), match(1, (2, 7), status=Status.VOID)])
            while not (told := lines(capsys.readouterr().err)):
                await asyncio.sleep(0.01)
            assert told[0].startswith("2 of 4 matches, ")
            assert told[0].endswith(" left, 2 faults, 1 void")
        await asyncio.sleep(0.03)
        assert capsys.readouterr().err == ""  # nothing is said after the end

    asyncio.run(watched())


def test_quiet_says_nothing(plan: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    async def watched() -> None:
        with Progress(quiet=True, verbose=True) as listener:
            listener.planned(plan)
            listener.committed([match(0, (7, 3))])
            listener.draining(1)
            listener.broken("one", "gone")

    asyncio.run(watched())
    assert capsys.readouterr().err == ""


def test_verbose_says_every_match(plan: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    async def watched() -> None:
        with Progress(verbose=True) as listener:
            listener.planned(plan)
            listener.committed([match(0, (7, 3), faults=1)])

    asyncio.run(watched())
    assert "one 7 - two 3 (played, 5 deals, 1 fault)\n" in capsys.readouterr().err


def test_a_broken_bot_is_told_with_its_last_words_made_harmless(plan: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    with Progress() as listener:
        listener.broken("one", "died\x1b[31m\nhere")
    assert capsys.readouterr().err == r"bot one does not start and will lose its matches: died\x1b[31m\nhere" + "\n"


def test_who_is_quarantined_is_told_once_and_leaves_less_to_play(
    plan: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    async def watched() -> None:
        with Progress() as listener:
            listener.planned(plan)
            listener.committed([match(0, (7, 3)), match(1, (7, 3))])
            entry = Exclusion("two", Change.QUARANTINED, "3 matches forfeited in a row", Place(0, 2))
            listener.quarantined([entry], replace(plan, finished=1, left_out=3))
            assert listener._status().startswith("1 of 1 match, ")

    asyncio.run(watched())
    told = capsys.readouterr().err
    assert told.count("two is quarantined: 3 matches forfeited in a row; it plays no more\n") == 1


def test_a_stop_rule_makes_all_that_is_left_the_most_that_may_be_left(
    plan: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    neighbours = Separation("one", "two", 0.81, 2.0)
    stopping = Stopping(separated=0.95, asked=0.99, max_pairs=9, pairs=2.0, ranked=2, open=(neighbours,), over=False)
    ruled = replace(plan, config=replace(plan.config, stop=StopRule(0.95, 9)), in_reserve=14)

    async def watched() -> None:
        with Progress() as listener:
            listener.planned(ruled)
            assert listener._status() == "0 of at most 18 matches, 0 faults"
            for number in range(4):
                listener.committed([match(number, (7, 3))])
            assert re.fullmatch(r"4 of at most 18 matches, .*/s, at most .* left, 0 faults", listener._status())
            longer = (*plan.schedules, replace(plan.schedules[0], pairs=7))
            listener.extended(stopping, replace(ruled, schedules=longer, finished=4, in_reserve=0))
            assert re.fullmatch(r"4 of 18 matches, .*/s, \d+ .* left, 0 faults", listener._status())

    asyncio.run(watched())
    told = capsys.readouterr().err
    assert "until every two neighbours are separated at 95%, at most 18 matches in all\n" in told
    assert "after 4 matches one and two (81%) are not separated at 99%, " in told
    assert ": 14 more are played\n" in told


def test_the_header_of_a_rehearsal_says_so(plan: Plan) -> None:
    told = "\n".join(header(plan))
    assert "Little cup: sixty-six, round-robin of 2 bots" in told
    assert "seed 7: a rehearsal, whose decks anyone can predict; it is not rated" in told


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (89, "89 s"), (90, "2 min"), (3000, "50 min"), (5400, "1 h 30 min"), (90_000, "25 h 00 min")],
)
def test_durations_are_short(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_waits_for_a_line_grow_and_then_stay(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    class Loop:
        def call_later(self, wait: float, line: Callable[[], None]) -> None:
            waits.append(wait)
            if len(waits) < 5:
                line()

    monkeypatch.setattr(asyncio, "get_running_loop", Loop)
    Progress().planned(plan)
    assert waits == [5, 10, 30, 30, 30]


def test_after_a_resumption_figures_are_said_to_be_of_this_session(
    plan: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    async def watched() -> None:
        with Progress() as listener:
            listener.planned(replace(plan, finished=2))

    asyncio.run(watched())
    assert lines(capsys.readouterr().err)[-1] == "2 of 4 matches, 0 faults this session"


@pytest.mark.parametrize("width", [30, 60, 80, 200])
def test_the_live_line_holds_all_figures_at_any_width(plan: Plan, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    listener = Progress(quiet=True)
    listener.planned(plan)
    listener.committed([match(0, (7, 3), faults=2), match(1, (2, 7), status=Status.VOID)])
    *_, line = screen.rendered(listener._picture(), screen.plain()).split("\n\n")
    assert re.sub(r"\s+", " ", line.replace("━", "")).strip().endswith(" left, 2 faults, 1 void")
    assert bool(re.match("━+ +2 of 4", line)) == (width >= 80)
