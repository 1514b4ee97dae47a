"""What has come is done in order, but for what was withdrawn meanwhile; answers that are ready together leave so."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from arena.bot.server import Backlog, Stream
from arena.wire import codec, stubs
from tests.bot.process import PATIENCE_S, decision


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    made.close()


def withdrawn(id: int) -> bytes:
    return codec.withdrawn("m", id, codec.WithdrawnReason.LATE)


def all_of(backlog: Backlog) -> list[object]:
    """The ids of the decisions, and whatever else has come."""
    done: list[object] = []
    while backlog:
        _, event = backlog.pop()
        done.append(event.id if isinstance(event, codec.Decision) else event)
    return done


def test_things_are_done_in_the_order_they_came(loop: asyncio.AbstractEventLoop) -> None:
    backlog, stream = Backlog(), Stream(loop)
    assert not backlog
    over = codec.match_ended("m", (7, 0), (1, 2))
    backlog.add(stream, decision(1) + over + decision(2))
    backlog.add(stream, decision(3))
    backlog.add(stream, None)
    assert all_of(backlog) == [1, codec.MatchEnded("m", (7, 0), (1, 2)), 2, 3, None]


def test_a_decision_that_was_withdrawn_meanwhile_is_not_done(loop: asyncio.AbstractEventLoop) -> None:
    backlog, stream, other = Backlog(), Stream(loop), Stream(loop)
    backlog.add(other, decision(2))
    backlog.add(stream, decision(1) + decision(2) + decision(3))
    backlog.add(stream, withdrawn(2) + withdrawn(9) + decision(4))
    assert (stream.owed, other.owed) == (3, 1)
    assert all_of(backlog) == [2, 1, 3, 4]
    assert (stream.owed, other.owed) == (0, 0)


def test_what_is_no_message_is_left_out_and_said(
    loop: asyncio.AbstractEventLoop, capsys: pytest.CaptureFixture[str]
) -> None:
    backlog, stream = Backlog(), Stream(loop)
    backlog.add(stream, b"\xff")
    backlog.add(stream, decision(1))
    assert all_of(backlog) == [1]
    assert "not a PlayRequest" in capsys.readouterr().err


# -- streams -----------------------------------------------------------------------------------------------------------


class Sent:
    """The messages that a stream has written; each write takes until `slow` is set."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.slow = asyncio.Event()
        self.slow.set()
        self.arrived = asyncio.Event()

    async def write(self, message: bytes) -> None:
        self.messages.append(message)
        self.arrived.set()
        await self.slow.wait()

    @property
    def ids(self) -> list[list[int]]:
        return [[answer.id for answer in codec.answers(message)] for message in self.messages]


def post(stream: Stream, *ids: int, owed: int, error: str = "") -> None:
    """Answers in a row; `owed` decisions are left after the last."""
    stream.owed = owed + len(ids)
    for id in ids:
        stream.owed -= 1
        stream.post(codec.answer(id, 1, 0, error))


def test_what_is_ready_at_once_goes_in_as_few_messages_as_may_be(loop: asyncio.AbstractEventLoop) -> None:
    stream, sent = Stream(loop), Sent()
    post(stream, *range(300), owed=0)
    stream.finish()
    loop.run_until_complete(stream.write(sent.write))
    assert sent.ids == [[*range(128)], [*range(128, 256)], [*range(256, 300)]]


def test_no_message_is_larger_than_it_may_be(loop: asyncio.AbstractEventLoop) -> None:
    stream, sent = Stream(loop), Sent()
    post(stream, *range(200), owed=0, error="x" * stubs.MAX_ERROR_BYTES)
    stream.finish()
    loop.run_until_complete(stream.write(sent.write))
    assert [id for ids in sent.ids for id in ids] == [*range(200)]
    assert len(sent.messages) == 2
    assert max(map(len, sent.messages)) <= stubs.MAX_MESSAGE_BYTES


def test_an_answer_leaves_though_the_next_decision_takes_for_ever(loop: asyncio.AbstractEventLoop) -> None:
    async def play() -> None:
        writer = asyncio.create_task(stream.write(sent.write))
        post(stream, 1, 2, owed=1)
        await asyncio.wait_for(sent.arrived.wait(), PATIENCE_S)
        writer.cancel()

    stream, sent = Stream(loop), Sent()
    loop.run_until_complete(play())
    assert sent.ids == [[1, 2]]


def test_what_gets_ready_during_a_write_leaves_together_after_it(loop: asyncio.AbstractEventLoop) -> None:
    async def play() -> None:
        sent.slow.clear()
        writer = asyncio.create_task(stream.write(sent.write))
        post(stream, 1, owed=0)
        await asyncio.wait_for(sent.arrived.wait(), PATIENCE_S)
        for id in (2, 3, 4):
            post(stream, id, owed=0)
        sent.slow.set()
        stream.finish()
        await asyncio.wait_for(writer, PATIENCE_S)

    stream, sent = Stream(loop), Sent()
    loop.run_until_complete(play())
    assert sent.ids == [[1], [2, 3, 4]]
