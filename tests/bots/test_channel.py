"""One stream against a server that is written for the test: what the channel makes of anything that may come."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import aio

from arena.bots import channel
from arena.bots.channel import MAX_DROPPED, Broken, Channel, Question
from arena.bots.stopwatch import Stopwatch
from arena.match.clock import Clock, TimeControl
from arena.match.referee import NoReply, Reply
from arena.match.rulings import Fault
from arena.wire import codec, stubs

Context = aio.ServicerContext[bytes, bytes]
Play = Callable[[object, Context], Awaitable[None]]


class Line:
    """A channel, what it asked and what came of it."""

    def __init__(self, target: str, stopwatch: Stopwatch) -> None:
        self.answers: dict[int, Reply | NoReply] = {}
        self.broken: list[Broken] = []
        self.evidence = ""
        self.news = asyncio.Event()
        self.channel = Channel(target, stopwatch, 0, self._broke)

    def ask(self, id: int, budget_ms: float | None, size: int = 100) -> None:
        data = codec.fault("m", id, 1, "x" * size, (0, 0), False)  # any event will do

        def answered(answer: Reply | NoReply) -> None:
            assert id not in self.answers, "answered twice"
            self.answers[id] = answer
            self.news.set()

        self.channel.ask(Question(id, "m", data, budget_ms, answered))

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not holds():
                self.news.clear()
                await self.news.wait()

    async def until_sent(self) -> None:
        """Until the writer has sent everything and waits for more."""
        while self.channel._outbox or self.channel._wake is None:
            await asyncio.sleep(0.001)

    def _broke(self, why: Broken, evidence: str) -> None:
        self.broken.append(why)
        self.evidence = evidence
        self.news.set()


def on_a_line(
    folder: Path, play: Play, test: Callable[[Line], Coroutine[Any, Any, None]], stopwatch: Stopwatch | None = None
) -> None:
    async def run() -> None:
        server = aio.server()
        handlers: dict[str, Any] = {stubs.PLAY_METHOD: grpc.stream_stream_rpc_method_handler(play)}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(stubs.SERVICE, handlers),))
        target = f"unix:{folder / 's'}"
        server.add_insecure_port(target)
        await server.start()
        watch = stopwatch or Stopwatch()
        watch.start()
        line = Line(target, watch)
        line.channel.start()
        try:
            await test(line)
        finally:
            watch.stop()
            await line.channel.close()
            await server.stop(None)

    asyncio.run(run())


def test_a_bot_that_never_reads_is_late_all_the_same(tmp_path: Path) -> None:
    async def play(_: object, context: Context) -> None:
        await asyncio.sleep(60)

    async def test(line: Line) -> None:
        for id in range(1, 129):
            line.ask(id, budget_ms=200, size=1900)
        await line.until(lambda: bool(line.answers))
        assert isinstance(line.answers[1], NoReply)
        assert line.answers[1].fault is Fault.LATE
        await line.until(lambda: line.broken == [Broken.HUNG])

    on_a_line(tmp_path, play, test)


def test_the_last_word_of_a_bot_is_heard_though_a_message_was_on_its_way_to_it(tmp_path: Path) -> None:
    async def play(_: object, context: Context) -> None:
        await context.read()
        await context.abort(grpc.StatusCode.UNKNOWN, "the deck ran away")

    async def test(line: Line) -> None:
        for id in range(1, 2001):  # far more than what gRPC takes of a stream that nobody reads
            line.ask(id, budget_ms=None, size=1900)
        await line.until(lambda: bool(line.broken))
        assert (line.broken, line.evidence) == ([Broken.ENDED], "the stream broke: unknown: the deck ran away")

    on_a_line(tmp_path, play, test)


def test_messages_that_are_none_are_a_flood_where_nothing_is_open(tmp_path: Path) -> None:
    async def play(_: object, context: Context) -> None:
        for _ in range(MAX_DROPPED + 10):
            await context.write(b"\xff\xff\xff\xff")
        await asyncio.sleep(60)

    async def test(line: Line) -> None:
        await line.until(lambda: line.broken == [Broken.FLOOD])

    on_a_line(tmp_path, play, test)


def test_a_flood_behind_a_good_answer_is_a_flood(tmp_path: Path) -> None:
    async def play(_: object, context: Context) -> None:
        await context.read()
        await context.write(codec.answer(1, 3, 1) + codec.answer(99, 3, 1) * (MAX_DROPPED + 10))
        await asyncio.sleep(60)

    async def test(line: Line) -> None:
        line.ask(1, budget_ms=5000)
        await line.until(lambda: line.broken == [Broken.FLOOD])
        assert isinstance(line.answers[1], Reply)

    on_a_line(tmp_path, play, test)


def test_an_answer_to_a_question_that_waits_in_the_arena_is_a_guess_and_dropped(tmp_path: Path) -> None:
    asked_more = asyncio.Event()

    async def play(_: object, context: Context) -> None:
        await context.read()
        await asked_more.wait()
        await context.write(codec.answer(2, 5, 1))
        await context.read()
        await context.write(codec.answer(1, 3, 1) + codec.answer(2, 4, 1))
        await asyncio.sleep(60)

    async def test(line: Line) -> None:
        line.ask(1, budget_ms=60_000)
        await line.until_sent()
        line.ask(2, budget_ms=60_000)
        asked_more.set()
        await line.until(lambda: len(line.answers) == 2)
        assert [answer.action for answer in line.answers.values() if isinstance(answer, Reply)] == [3, 4]
        assert line.channel.traffic.dropped == 1

    on_a_line(tmp_path, play, test)


def test_few_questions_wait_until_they_are_as_many_as_the_bot_owes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "PATIENCE_S", float("inf"))
    messages: list[list[int]] = []
    asked = asyncio.Semaphore(0)

    async def play(_: object, context: Context) -> None:
        async def read() -> None:
            message = await context.read()  # type: ignore[no-untyped-call]
            messages.append([event.id for event in codec.events(message) if isinstance(event, codec.FaultNotice)])

        await read()
        for answered in (1, 2):
            await asked.acquire()
            await context.write(codec.answer(answered, 1, 1))
        await read()
        await context.write(b"".join(codec.answer(id, 1, 1) for id in range(3, 15)))
        await asyncio.sleep(60)

    async def test(line: Line) -> None:
        for id in range(1, 9):
            line.ask(id, None)
        await line.until_sent()
        for id in (9, 10, 11, 12):
            line.ask(id, None)
        asked.release()
        await line.until(lambda: 1 in line.answers)  # the bot owes 7 more, and four questions have gathered
        for id in (13, 14):
            line.ask(id, None)
        asked.release()
        await line.until(lambda: len(line.answers) == 14)
        assert messages == [list(range(1, 9)), [9, 10, 11, 12, 13, 14]]

    on_a_line(tmp_path, play, test)


def test_who_answers_everything_twice_is_never_flooded_out(tmp_path: Path) -> None:
    asked = MAX_DROPPED + 200

    async def play(_: object, context: Context) -> None:
        while isinstance(message := await context.read(), bytes):
            for event in codec.events(message):
                assert isinstance(event, codec.FaultNotice)
                await context.write(codec.answer(event.id, 3, 1) + codec.answer(event.id, 3, 1) + b"")
                await context.write(b"")

    async def test(line: Line) -> None:
        for id in range(1, asked + 1):
            line.ask(id, budget_ms=60_000)
        await line.until(lambda: len(line.answers) == asked or bool(line.broken))
        assert not line.broken
        assert line.channel.traffic.dropped == asked

    on_a_line(tmp_path, play, test)


def test_an_answer_a_millisecond_after_its_time_is_late_though_no_timer_has_fired(tmp_path: Path) -> None:
    class ByHand(Stopwatch):
        def now(self) -> float:
            return self.latest

    stopwatch = ByHand()
    stopwatch.latest = 0.0
    time_is_over = asyncio.Event()

    async def play(_: object, context: Context) -> None:
        await context.read()
        await time_is_over.wait()
        await context.write(codec.answer(1, 3, 1))
        await asyncio.sleep(60)

    async def test(line: Line) -> None:
        line.ask(1, budget_ms=60_000)
        await line.until_sent()
        stopwatch.latest = 60.001
        time_is_over.set()
        await line.until(lambda: bool(line.answers))
        answer = line.answers[1]
        assert isinstance(answer, Reply)
        assert not Clock(TimeControl(limit_ms=60_000, bank_ms=0)).charge(answer.took_ms)

    on_a_line(tmp_path, play, test, stopwatch)


def test_answers_in_one_message_share_its_time(tmp_path: Path) -> None:
    async def play(_: object, context: Context) -> None:
        ids: list[int] = []
        while len(ids) < 4:
            message = await context.read()
            assert isinstance(message, bytes)
            ids += [event.id for event in codec.events(message) if isinstance(event, codec.FaultNotice)]
        await asyncio.sleep(0.4)
        await context.write(b"".join(codec.answer(id, 3, 1) for id in ids))
        await asyncio.sleep(60)

    async def test(line: Line) -> None:
        for id in range(1, 5):
            line.ask(id, budget_ms=1000)
        await line.until(lambda: len(line.answers) == 4)
        took = [answer.took_ms for answer in line.answers.values()]
        paused_ms = max(answer.split.arena_us for answer in line.answers.values()) / 1000  # is nobody's
        assert sum(took) + paused_ms >= 390
        assert max(took) < 1.01 * min(took)

    on_a_line(tmp_path, play, test)


def test_a_paused_arena_charges_nobody(tmp_path: Path) -> None:
    import time

    async def play(_: object, context: Context) -> None:
        await context.read()
        await asyncio.sleep(0.05)
        await context.write(codec.answer(1, 3, 1))
        await asyncio.sleep(60)

    async def test(line: Line) -> None:
        line.ask(1, budget_ms=300)
        await asyncio.sleep(0.02)
        time.sleep(0.8)  # the arena stands still, and the server with it
        await line.until(lambda: bool(line.answers))
        answer = line.answers[1]
        assert isinstance(answer, Reply)
        assert answer.took_ms < 300

    on_a_line(tmp_path, play, test)


def test_a_decision_whose_match_has_ended_is_withdrawn_and_its_answer_counts_for_nothing(tmp_path: Path) -> None:
    seen: list[codec.Event] = []

    async def play(_: object, context: Context) -> None:
        while isinstance(message := await context.read(), bytes):
            seen.extend(codec.events(message))
            if any(isinstance(event, codec.Withdrawn) for event in seen):
                await context.write(codec.answer(1, 3, 1) + codec.answer(2, 3, 1))

    async def test(line: Line) -> None:
        line.ask(1, budget_ms=None)
        async with asyncio.timeout(60):
            while not seen:
                await asyncio.sleep(0.01)
        line.ask(2, budget_ms=None)  # held back: the bot owes an answer
        line.channel.withdraw(1)
        line.channel.withdraw(77)
        await line.until(lambda: bool(line.answers))
        assert list(line.answers) == [2]
        assert line.channel.traffic.dropped == 1
        assert [event for event in seen if isinstance(event, codec.Withdrawn)] == [
            codec.Withdrawn("m", 1, codec.WithdrawnReason.ENDED)
        ]

    on_a_line(tmp_path, play, test)
