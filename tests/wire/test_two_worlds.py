"""No byte, size, number, id, order or recipient of what a seat is sent depends on cards that it cannot see.

Thousands of pairs of matches are played by real processes over real sockets through the arena's own bots, channels
and matches.  The two matches of a pair differ in hidden cards alone, from a moment in the midst of a deal on.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest

from arena.bots.bot import Bot, Surroundings, start_all
from arena.bots.driver import MatchOrder, MatchRun
from arena.bots.manifest import resolve
from arena.bots.stopwatch import Stopwatch
from arena.game.game import Game
from arena.game.presets import PRESETS
from arena.match.clock import TimeControl
from arena.match.record import MatchRecord, Status
from arena.sixtysix.v1 import bot_pb2 as pb
from tests.game.tables import GAMES
from tests.wire.capture import Stream, Tap, fields, play_stream, tap
from tests.wire.leaks import LEAKS, messages_cut_by_the_deck, written_anew
from tests.wire.pairs import Pair, pairs

TOGETHER = 2000 // len(PRESETS) + 1
"""Pairs for each preset whose matches share a stream: 2,000 in all."""
ALONE = 8
"""Pairs for each preset whose matches have a stream each."""
PLAYED_S = 100.0
ARRIVED_S = 30.0
CLOCK = TimeControl(limit_ms=60_000, bank_ms=60_000)
SCRIPTED = Path(__file__).with_name("scripted.py")


class StandingStill(Stopwatch):
    """Time itself is not compared: nothing takes any here."""

    def __init__(self) -> None:
        super().__init__()
        self.latest = 0.0

    def now(self) -> float:
        return 0.0


class Event(NamedTuple):
    """An event as it was sent to a bot."""

    kind: str
    match_id: str
    id: int
    """The decision's; 0 where it has none."""
    rest: list[tuple[int, bytes]]
    """All other fields, in their order."""


class Processes:
    """A scripted bot for each seat of a table, each with a tap in front of its socket."""

    def __init__(self, folder: Path, runner: asyncio.Runner) -> None:
        self.folder = folder
        self.runner = runner
        """One loop for all of it."""
        self.running: list[subprocess.Popen[bytes]] = []

    def socket(self, seat: int) -> Path:
        """Where the bot of that seat listens; it is started when it is first needed."""
        place = self.folder / f"bot{seat}"
        if seat == len(self.running):
            words = [sys.executable, str(SCRIPTED), str(self.file(seat))]
            environment = {**os.environ, "ARENA_ADDRESS": f"unix:{place}", "PYTHONPATH": str(SCRIPTED.parents[2])}
            self.running.append(subprocess.Popen(words, env=environment))
        return place

    def file(self, seat: int) -> Path:
        return self.folder / f"{seat}.json"


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    with tempfile.TemporaryDirectory(prefix="t-") as folder, asyncio.Runner() as runner:
        found = Processes(Path(folder), runner)
        try:
            yield found
        finally:
            for process in found.running:
                process.kill()
                process.wait()


# -- playing -----------------------------------------------------------------------------------------------------------


def played(processes: Processes, name: str, matches: Sequence[Pair], world: int) -> list[Stream]:
    """Play the matches in one of the worlds, all on one stream for each seat; returns the stream of each seat."""
    for seat in range(GAMES[name].rules.seats):
        scripts = {pair.match_id: pair.script.answers[seat] for pair in matches}
        processes.file(seat).write_text(json.dumps(scripts))
    return processes.runner.run(_played(processes, name, matches, world))


async def _played(processes: Processes, name: str, matches: Sequence[Pair], world: int) -> list[Stream]:
    game = GAMES[name]
    seats = range(game.rules.seats)
    around = Surroundings(
        stopwatch=StandingStill(),
        rules=game.rules,
        rules_name=name,
        logs=processes.folder,
        marker="two-worlds",
        start_s=60.0,
    )
    async with contextlib.AsyncExitStack() as stack:
        taps: list[Tap] = []
        for seat in seats:
            bot = processes.socket(seat)
            while not bot.exists():
                await asyncio.sleep(0.01)
            taps.append(await stack.enter_async_context(tap(processes.folder / f"tap{seat}", bot)))
        with mock.patch("secrets.token_hex", return_value="0" * 32):  # what names a session, drawn at random
            bots = {str(seat): Bot(resolve(taps[seat].address, base=Path()), around) for seat in seats}
        try:
            if failures := await start_all(bots):
                raise RuntimeError(failures)
            await asyncio.wait_for(_matches(game, bots, matches, world), PLAYED_S)
            for seat in seats:
                await _arrived(taps[seat], sum(len(pair.script.events[seat]) for pair in matches))
        finally:
            await asyncio.gather(*(bot.stop() for bot in bots.values()))
        return [play_stream(tap.connections) for tap in taps]


async def _matches(game: Game, bots: dict[str, Bot], matches: Sequence[Pair], world: int) -> None:
    left = len(matches)
    over = asyncio.get_running_loop().create_future()

    def done(run: MatchRun, record: MatchRecord) -> None:
        nonlocal left
        left -= 1
        if record.status is Status.VOID:
            over.set_exception(RuntimeError(record.testimony.evidence))
        elif not left and not over.done():
            over.set_result(None)

    runs = []
    for pair in matches:
        seeds = tuple(bytes([seat]) * 32 for seat in range(game.rules.seats))
        order = MatchOrder(pair.match_id, tuple(bots), pair.decks[world], seeds)
        runs.append(MatchRun(game, order, bots, CLOCK, done))
    for run in runs:
        run.start()
    await over


async def _arrived(tap: Tap, events: int) -> None:
    """Wait until so many events have passed the tap, or for long: what is missing is found by whoever compares."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(ARRIVED_S):
            while sum(len(fields(message)) for message in play_stream(tap.connections).messages) < events:
                await asyncio.sleep(0.05)


# -- comparing ---------------------------------------------------------------------------------------------------------


def events_of(stream: Stream) -> list[Event]:
    """The events of a stream in order."""
    found = []
    for message in stream.messages:
        for item, event in fields(message):
            assert item == pb.PlayRequest.DESCRIPTOR.fields_by_name["events"].number
            [(kind, content)] = fields(event)
            described = pb.Event.DESCRIPTOR.fields_by_number[kind]
            numbers = {field.name: field.number for field in described.message_type.fields}
            values = fields(content)
            match_id = next(value for number, value in values if number == numbers["match_id"]).decode()
            rest = [(number, value) for number, value in values if number != numbers.get("id")]
            parsed = pb.Event.FromString(event)
            found.append(Event(described.name, match_id, getattr(getattr(parsed, described.name), "id", 0), rest))
    return found


def check_ids(events: Sequence[Event]) -> None:
    """Decisions are numbered in the order in which they come, over all matches of a stream, so ids tell nothing."""
    last: dict[str, int] = {}
    asked = 0
    for event in events:
        match event.kind:
            case "decision":
                asked += 1
                assert event.id == asked
                last[event.match_id] = asked
            case "fault":
                assert event.id == last.get(event.match_id)


def compare_together(matches: Sequence[Pair], worlds: Sequence[Sequence[Stream]]) -> None:
    """Match by match: how matches are mixed on a stream hangs on who answers when, ids hang on that mixture alone."""
    seen: list[list[dict[str, list[Event]]]] = []
    for streams in worlds:
        of_world = []
        for stream in streams:
            events = events_of(stream)
            check_ids(events)
            by_match: dict[str, list[Event]] = {pair.match_id: [] for pair in matches}
            for event in events:
                assert event.match_id in by_match
                by_match[event.match_id].append(event._replace(id=0))
            of_world.append(by_match)
        seen.append(of_world)
    for pair in matches:
        for seat, expected in enumerate(pair.script.events):
            for of_world in seen:
                assert [event.kind for event in of_world[seat][pair.match_id]] == expected
        one, other = (of_world[pair.seat][pair.match_id] for of_world in seen)
        for mine, theirs in zip(one, other, strict=True):
            assert mine == theirs


def compare_alone(pair: Pair, worlds: Sequence[Sequence[Stream]]) -> None:
    """Everything that the seat is sent, byte for byte and message for message, its headers too.

    But for the name of the session, which is drawn at random before the first deal.
    """
    one, other = (streams[pair.seat] for streams in worlds)
    mine, theirs = (re.sub(rb"(arena-session.)[0-9a-f]{32}", rb"\1", stream.headers) for stream in (one, other))
    assert mine == theirs and len(one.headers) == len(other.headers) == len(mine) + 32
    assert one.messages == other.messages
    compare_together([pair], worlds)


def compare(processes: Processes, name: str, together: int, alone: int = 0) -> None:
    """Play pairs of a preset in both worlds.  Raises `AssertionError` where a seat can tell them apart."""
    found = pairs(GAMES[name], together + alone, name)
    if shared := found[:together]:
        compare_together(shared, [played(processes, name, shared, world) for world in (0, 1)])
    for pair in found[together:]:
        compare_alone(pair, [played(processes, name, [pair], world) for world in (0, 1)])


@pytest.mark.parametrize("name", PRESETS)
def test_a_seat_is_sent_the_same_in_two_worlds_that_it_cannot_tell_apart(processes: Processes, name: str) -> None:
    compare(processes, name, TOGETHER, ALONE)


@pytest.mark.parametrize("name", PRESETS)
def test_the_worlds_part_in_mid_deal_and_stay_alike_long_enough_to_mean_something(name: str) -> None:
    found = pairs(GAMES[name], TOGETHER, name)
    assert {pair.split for pair in found} == {1, 2, 3}
    assert {pair.seat for pair in found} == set(range(GAMES[name].rules.seats))
    for pair in found:
        one, other = ([*map(deck_of, range(1, 4))] for deck_of in pair.decks)
        assert [mine != theirs for mine, theirs in zip(one, other, strict=True)].count(True) == 1
    assert sum(pair.later for pair in found) > TOGETHER
    assert sum(pair.later > 3 for pair in found) > 3


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a leak leaves out is not waited for."""
    monkeypatch.setattr(sys.modules[__name__], "ARRIVED_S", 0.5)


def test_what_is_only_written_anew_is_no_leak(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    written_anew(monkeypatch)
    compare(processes, "pagat", together=20, alone=2)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("leak", LEAKS)
def test_a_planted_leak_is_caught(processes: Processes, leak: str, monkeypatch: pytest.MonkeyPatch) -> None:
    LEAKS[leak](monkeypatch)
    with pytest.raises(AssertionError):
        compare(processes, "pagat", together=20)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("leak", [*LEAKS, "messages cut by the deck"])
def test_a_planted_leak_is_caught_in_a_match_of_its_own_too(
    processes: Processes, leak: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    {**LEAKS, "messages cut by the deck": messages_cut_by_the_deck}[leak](monkeypatch)
    with pytest.raises(AssertionError):
        compare(processes, "pagat", together=0, alone=20)
