"""Whose time it is: real bots that take their time in every way, and an arena that takes its own."""

from __future__ import annotations

import asyncio
import gc
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from arena.bots.cores import Cores, Look, free_s
from arena.bots.load import AVERAGED, Load
from arena.bots.manifest import BotSpec, resolve
from arena.bots.stopwatch import BEAT_S, PAUSE_S, Stopwatch
from arena.match.clock import TimeControl
from arena.match.record import MatchRecord, Spent
from arena.match.referee import NoReply, Reply
from arena.match.rulings import Fault, Loss
from arena.wire import codec
from tests.bots.conftest import Arena, remote
from tests.bots.test_channel import Context, Line, on_a_line

THINKER = Path(__file__).parent.parent / "bad_bots" / "thinker.py"
NO_BANK = TimeControl(limit_ms=400, bank_ms=0)


def thinker(name: str, way: str) -> BotSpec:
    return resolve(f"{sys.executable} {THINKER} {way}", name=name, base=THINKER.parent)


def played(arena: Arena, one: str, other: str, matches: int, time: TimeControl = NO_BANK) -> list[MatchRecord]:
    specs = {"a": thinker("a", one), "b": thinker("b", other)}
    return asyncio.run(arena.play(specs, matches=matches, time=time))


def spent(records: Sequence[MatchRecord], seat: int) -> list[Spent]:
    return [each for record in records for each in record.testimony.decisions(seat)]


def faults(records: Sequence[MatchRecord]) -> list[tuple[int, Fault, Loss]]:
    return [(fault.seat, fault.fault, fault.loss) for record in records for fault in record.faults]


# -- the arena's own time ----------------------------------------------------------------------------------------------


def test_a_garbage_collection_charges_nobody(arena: Arena) -> None:
    heap: list[Any] = [[] for _ in range(700_000)]
    for each in heap:
        each.append(each)

    async def play() -> list[MatchRecord]:
        loop = asyncio.get_running_loop()

        def collect() -> None:
            heap.extend([] for _ in range(1000))
            gc.collect()
            collections.append(loop.call_later(0.15, collect))

        collections = [loop.call_later(0.5, collect)]
        try:
            return await arena.play(
                {"a": thinker("a", "nap 5"), "b": thinker("b", "nap 5")}, time=TimeControl(limit_ms=150, bank_ms=0)
            )
        finally:
            collections[-1].cancel()

    records = asyncio.run(play())
    assert faults(records) == []
    pauses = [each for each in spent(records, 0) if each.arena_us > 30_000]
    assert pauses, "no collection fell between a question and its answer"


def test_a_clock_passes_no_more_than_a_moment_while_the_arena_does_not_get_round() -> None:
    async def busy() -> tuple[float, float]:
        stopwatch = Stopwatch()
        stopwatch.start()
        await asyncio.sleep(0.05)
        began, real = stopwatch.now(), time.monotonic()
        while time.monotonic() - real < 0.5:  # it looks at its clock, but takes in nothing
            stopwatch.now()
        passed = stopwatch.now() - began
        stopwatch.stop()
        return passed, stopwatch.lag.paused_s

    passed, paused = asyncio.run(busy())
    assert passed <= BEAT_S + PAUSE_S + 0.001
    assert paused >= 0.5 - BEAT_S - PAUSE_S - 0.001


# -- the bot's own time ------------------------------------------------------------------------------------------------


def test_many_matches_in_one_process_charge_only_its_own_work(arena: Arena) -> None:
    began = time.monotonic()
    records = played(arena, "burn 5", "burn 5", matches=8)
    elapsed_us = (time.monotonic() - began) * 1e6
    assert faults(records) == []
    for seat in (0, 1):
        times = spent(records, seat)
        assert sum(each.took_us for each in times) < elapsed_us
        assert sum(each.took_us + each.queue_us for each in times) > 2 * sum(each.took_us for each in times)


@pytest.mark.parametrize("way", ["burn 5", "batch 5", "burn 5 4"])
def test_ways_of_thinking_change_nothing_in_the_play(arena: Arena, way: str) -> None:
    assert played(arena, way, "nap 0", matches=2) == played(arena, "nap 0", "nap 0", matches=2)


@asynccontextmanager
async def slow_way(folder: Path, target: str, delay_s: float) -> AsyncIterator[str]:
    """An address behind which a bot is reached by a way that delays every byte, in order, in both directions."""

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        while data := await reader.read(1 << 16):
            loop.call_later(delay_s, writer.write, data)
        loop.call_later(delay_s, writer.close)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection(target.removeprefix("unix:"))
        ways.append(asyncio.ensure_future(carry(reader, far_writer)))
        ways.append(asyncio.ensure_future(carry(far_reader, writer)))

    ways: list[asyncio.Future[None]] = []
    server = await asyncio.start_unix_server(connected, folder / "way")
    try:
        yield f"unix:{folder / 'way'}"
    finally:
        server.close()
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


def test_the_same_policy_plays_the_same_by_a_fast_and_a_slow_way(arena: Arena) -> None:
    async def play(target: str, folder: Path) -> list[MatchRecord]:
        async with slow_way(folder, target, 0.02) as address:
            bots = {"a": resolve(address, name="a", base=folder), "b": thinker("b", "nap 0")}
            return await arena.play(bots, matches=2, time=NO_BANK)

    with tempfile.TemporaryDirectory(prefix="t-") as folder, remote("honest") as target:
        slow = asyncio.run(play(target, Path(folder)))
    assert slow == played(arena, "nap 0", "nap 0", matches=2)
    assert faults(slow) == []
    times = spent(slow, 0)
    assert sum(each.took_us + each.queue_us for each in times) >= 30_000 * len(times)


def test_answering_easy_decisions_first_buys_no_time(arena: Arena) -> None:
    """It sleeps over the leads of many matches, within the limit, and goes on answering: no moment of it is free."""
    records = played(arena, "easy-first 300", "nap 0", matches=8, time=TimeControl(limit_ms=1000, bank_ms=0))
    times = spent(records, 0)
    hard = [each.queue_us + each.took_us for each in times if each.queue_us + each.took_us > 300_000]
    assert len(hard) >= 8
    assert sum(each.took_us for each in times) >= max(hard)


def test_an_answer_after_its_time_is_no_move_though_the_timer_has_not_fired(arena: Arena) -> None:
    """To the millisecond: see the stream whose clock is moved by hand.  A busy machine may forgive a real bot a few."""
    records = played(arena, "over 40", "nap 0", matches=1)
    assert faults(records) == [(0, Fault.LATE, Loss.DEAL)]
    (late,) = [each for each in spent(records, 0) if each.took_us > 400_000]
    assert late.deal == records[0].faults[0].deal == 2
    assert len(records[0].deals) > 2


def test_who_uses_its_whole_budget_but_the_way_of_the_answer_is_in_time(arena: Arena) -> None:
    records = played(arena, "over -80", "nap 0", matches=1, time=TimeControl(limit_ms=300, bank_ms=300))
    assert faults(records) == []
    assert max(each.took_us for each in spent(records, 0)) >= 450_000


@pytest.mark.parametrize("threads", [1, 4])
def test_who_waits_for_a_core_is_charged_what_it_computed(arena: Arena, threads: int) -> None:
    """Four bots at work on whatever cores there are; who thinks in more threads is charged no less for it."""

    async def play() -> list[MatchRecord]:
        blocks = [
            arena.play({"a": thinker("a", f"burn 10 {threads}"), "b": thinker("b", f"burn 10 {threads}")}, matches=1)
            for _ in range(2)
        ]
        return [record for records in await asyncio.gather(*blocks) for record in records]

    records = asyncio.run(play())
    assert faults(records) == []
    times = [each for seat in (0, 1) for each in spent(records, seat)]
    assert sum(each.took_us for each in times) >= 10_000 * len(times)
    assert any(each.waited_us for each in times)


# -- one stream, exactly -----------------------------------------------------------------------------------------------


def charged(line: Line, id: int) -> float:
    answer = line.answers[id]
    assert isinstance(answer, Reply)
    return answer.took_ms


def since_sent(line: Line, id: int) -> float:
    """Milliseconds from its sending to its answer, in seconds of the bot's clock."""
    answer = line.answers[id]
    assert isinstance(answer, Reply)
    return answer.took_ms + answer.split.queue_us / 1000


async def read_ids(context: Context, count: int) -> list[int]:
    ids: list[int] = []
    while len(ids) < count:
        message = await context.read()
        assert isinstance(message, bytes)
        ids += [event.id for event in codec.events(message) if isinstance(event, codec.FaultNotice)]
    return ids


def test_a_later_question_that_is_answered_first_leaves_the_rest_to_the_earlier_one(tmp_path: Path) -> None:
    async def play(_: object, context: Context) -> None:
        await read_ids(context, 1)
        await asyncio.sleep(0.2)
        await context.write(codec.answer(99, 3, 1))  # a sign of life, so that what has gathered is sent
        await read_ids(context, 1)
        await context.write(codec.answer(2, 3, 1))
        await asyncio.sleep(0.1)
        await context.write(codec.answer(1, 3, 1))
        await asyncio.sleep(60)

    async def test(line: Line) -> None:
        line.ask(1, budget_ms=5000)
        await asyncio.sleep(0.05)
        line.ask(2, budget_ms=5000)
        await line.until(lambda: len(line.answers) == 2)
        assert charged(line, 1) + charged(line, 2) == pytest.approx(since_sent(line, 1), abs=0.1)
        assert charged(line, 2) <= since_sent(line, 2) + 0.01
        assert charged(line, 1) >= 250

    on_a_line(tmp_path, play, test)


def test_a_batch_is_charged_whole_though_its_last_question_has_just_come(tmp_path: Path) -> None:
    async def play(_: object, context: Context) -> None:
        await read_ids(context, 1)
        await asyncio.sleep(0.3)
        await context.write(b"")  # a sign of life
        await read_ids(context, 7)
        await context.write(b"".join(codec.answer(id, 3, 1) for id in range(1, 9)))
        await asyncio.sleep(60)

    async def test(line: Line) -> None:
        line.ask(1, budget_ms=60_000)
        await asyncio.sleep(0.05)
        for id in range(2, 9):
            line.ask(id, budget_ms=60_000)
        await line.until(lambda: len(line.answers) == 8)
        assert sum(charged(line, id) for id in range(1, 9)) == pytest.approx(since_sent(line, 1), abs=0.1)
        assert charged(line, 1) > 250, "the others cannot have taken its time"

    on_a_line(tmp_path, play, test)


def test_the_parts_of_a_decision_are_the_whole_time_from_question_to_answer(tmp_path: Path) -> None:
    async def play(_: object, context: Context) -> None:
        for id in await read_ids(context, 3):
            await asyncio.sleep(0.02)
            await context.write(codec.answer(id, 3, 15_000))
        await asyncio.sleep(60)

    async def test(line: Line) -> None:
        began = time.monotonic()
        for id in (1, 2, 3):
            line.ask(id, budget_ms=5000)
        await asyncio.sleep(0.02)
        time.sleep(0.3)  # the arena stands still
        await line.until(lambda: len(line.answers) == 3)
        elapsed = time.monotonic() - began
        for answer in line.answers.values():
            assert isinstance(answer, Reply)
            arena, queue, waited, wire = (part / 1e6 for part in answer.split)
            assert 0.2 < arena < 0.4
            assert waited == 0
            assert 0 <= wire * 1000 <= answer.took_ms
            assert arena + queue + answer.took_ms / 1000 <= elapsed + 0.1  # it was asked at the last look at the clock
        last = line.answers[3]
        assert isinstance(last, Reply)
        assert last.took_ms / 1000 + (last.split.arena_us + last.split.queue_us) / 1e6 > elapsed - 0.1

    on_a_line(tmp_path, play, test)


def test_a_decision_that_ran_out_of_time_leaves_the_stream_and_nothing_else_behind(tmp_path: Path) -> None:
    async def play(_: object, context: Context) -> None:
        await read_ids(context, 1)
        await asyncio.sleep(0.4)
        await context.write(codec.answer(1, 3, 1))
        for id in await read_ids(context, 1):
            await context.write(codec.answer(id, 3, 1))
        await asyncio.sleep(60)

    async def test(line: Line) -> None:
        tasks = {task for task in asyncio.all_tasks() if "Channel." in repr(task)}
        assert tasks
        line.ask(1, budget_ms=100)
        await line.until(lambda: 1 in line.answers)
        late = line.answers[1]
        assert isinstance(late, NoReply) and late.fault is Fault.LATE and late.took_ms > 100
        line.ask(2, budget_ms=5000)
        await line.until(lambda: 2 in line.answers)
        assert isinstance(line.answers[2], Reply)
        assert not line.broken
        assert line.channel.traffic.dropped == 1
        assert {task for task in asyncio.all_tasks() if "Channel." in repr(task)} == tasks

    on_a_line(tmp_path, play, test)


# -- waiting for a core ------------------------------------------------------------------------------------------------


def look(*threads: tuple[float, float]) -> Look:
    """One process whose threads have used and waited so much."""
    return Look({1: sum(used for used, _ in threads)}, dict(enumerate(threads, start=1)))


@pytest.mark.parametrize(
    ("after", "free"),
    [
        (look((0.2, 0.7)), 0.7),  # it waited, and slept for a while
        (look((0.2, 0.9)), 0.8),  # more than there was beside its work
        (look((0.4, 0.6), (0.3, 0.7), (0.3, 0.7)), 0.0),  # three threads waited, but the bot had a core all the time
        (look((0.9, 0.1), (0.9, 0.1)), 0.0),  # it had two
        (look((0.0, 0.0)), 0.0),  # it slept
        (look((0.0001, 0.3), (0.0002, 0.4)), 0.0),  # it woke up now and then, and went to sleep again
        (look((0.0, 1.0), (0.3, 0.1)), 0.1),  # a thread that is never given a core buys no time
    ],
)
def test_waiting_is_free_only_where_it_had_less_than_a_core(after: Look, free: float) -> None:
    assert free_s(look(), after, elapsed_s=1.0) == pytest.approx(free)


def test_threads_and_processes_that_come_and_go_count_for_what_is_known_of_them() -> None:
    before = Look({1: 5.0, 2: 9.0}, {1: (4.0, 1.0), 7: (9.0, 50.0)})
    after = Look({1: 5.2, 3: 0.1}, {1: (4.2, 1.3), 8: (0.1, 0.2)})
    assert free_s(before, after, elapsed_s=1.0) == pytest.approx(0.5)


def test_a_bot_that_nobody_can_look_at_waits_for_nothing() -> None:
    nobody = Cores(1 << 30)
    assert free_s(nobody.look(), nobody.look(), elapsed_s=1.0) == 0.0


# -- overload ----------------------------------------------------------------------------------------------------------


def beats(load: Load, count: int, late_s: float, waiting: float = 0.0) -> bool:
    for _ in range(count):
        load.worked(0.02, 0.02 * waiting)
        load.beat(late_s)
    return load.overloaded


def test_overload_begins_and_ends_with_a_second_of_it_and_not_with_a_single_pause() -> None:
    load = Load()
    assert not beats(load, AVERAGED, late_s=0.001)
    assert not beats(load, 1, late_s=10.0)
    assert beats(load, 3 * AVERAGED, late_s=0.03)
    assert beats(load, 5 * AVERAGED, late_s=0.015), "once overloaded it is so until it is calm"
    assert not beats(load, 5 * AVERAGED, late_s=0.001)
    assert beats(load, 3 * AVERAGED, late_s=0.001, waiting=0.8)
    assert beats(load, 5 * AVERAGED, late_s=0.001, waiting=0.4)
    assert not beats(load, 5 * AVERAGED, late_s=0.001, waiting=0.1)
