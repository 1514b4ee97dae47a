"""One bot process's stream: all its matches, batched both ways, and the clock of every open decision.

A bot that owes nothing is written to at once; one that is busy gets what has gathered when it shows that it goes on,
by its next message.  So the bot sets the pace, no timer delays anything, and messages are few and large.  A decision is
charged its *busy time*: from the later of its sending and the previous answer on the stream, so that nobody pays
for the queue that the arena put in front of it; answers in one message share its busy time evenly.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import assert_never

os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"  # gRPC's fork handlers break streams when a child is started

import grpc
from grpc import aio

from arena.bots.certificates import Keys
from arena.bots.stopwatch import Stopwatch
from arena.match.referee import NoReply, Reply
from arena.match.rulings import Fault
from arena.wire import codec, stubs

OWED_FOR_EACH = 25
"""A bot that still owes more answers than this for each event that has gathered is sent nothing yet ..."""
PATIENCE_S = 0.005
"""... unless the last message to it was written this long ago."""
CLOSE_S = 1.0
"""How long a cancelled stream may take to be gone."""
GRACE_S = 0.050
"""Nothing is late before the reader has had this long to run once more."""
MAX_DROPPED = 1000
"""A stream is flooded by more dropped answers than this beyond the good ones, or messages in a row that hold none."""
MAX_RECEIVED_BYTES = 1 << 20

OPTIONS = (
    ("grpc.initial_reconnect_backoff_ms", 20),
    ("grpc.min_reconnect_backoff_ms", 20),
    ("grpc.max_reconnect_backoff_ms", 200),
    ("grpc.max_receive_message_length", MAX_RECEIVED_BYTES),
    ("grpc.max_metadata_size", 8192),
    ("grpc.enable_retries", 0),
    ("grpc.use_local_subchannel_pool", 1),
)

REMOTE_OPTIONS = (
    ("grpc.min_reconnect_backoff_ms", 5000),
    ("grpc.keepalive_time_ms", 310_000),
    ("grpc.http2.ping_timeout_ms", 20_000),
    ("grpc.http2.max_pings_without_data", 0),
)
"""What is different on a network: an attempt to connect takes more than a moment (that is the time it has), and a
connection that died without a word is noticed by pings only; servers take one in five minutes, and no more."""

_LOST = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.INTERNAL}
"""What gRPC says when a connection breaks: on its way, at the other end, or under a message just being written."""
_REFUSALS = {grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.FAILED_PRECONDITION}
_FOREVER = float("inf")

Answered = Callable[[Reply | NoReply], None]
Metadata = tuple[tuple[str, str], ...]


class Question:
    """A decision on its way to a bot and back."""

    __slots__ = ("answered", "budget_s", "data", "hard_s", "id", "losses", "match_id", "sent", "written")

    def __init__(self, id: int, match_id: str, data: bytes, budget_ms: float | None, answered: Answered) -> None:
        self.id = id
        self.match_id = match_id
        self.data = data
        """The framed event."""
        self.budget_s = None if budget_ms is None else budget_ms / 1000
        self.answered = answered
        """Called once, with what the referee is to be told."""
        self.sent = 0.0
        """When it was sent, in seconds of the stopwatch."""
        self.written = False
        """Whether it is on its way: before that nobody can answer it, only guess its id."""
        self.hard_s = _FOREVER
        """The budgets of all decisions that were open on the stream when it was sent, this one included."""
        self.losses = 0
        """How often it was lost with the connection."""

    def again(self, spent_ms: float) -> Question:
        """The same decision, to be put once more; what was spent on it already counts."""
        left_ms = None if self.budget_s is None else max(1.0, self.budget_s * 1000 - spent_ms)

        def answered(answer: Reply | NoReply) -> None:
            self.answered(answer._replace(took_ms=answer.took_ms + spent_ms))

        data = codec.asked_again(self.data, 0 if left_ms is None else int(left_ms))
        again = Question(self.id, self.match_id, data, left_ms, answered)
        again.losses = self.losses
        return again


class Broken(Enum):
    """Why a stream can be used no more."""

    LOST = "lost"
    """The connection is gone, by whatever."""
    ENDED = "ended"
    """The bot closed it, or refused to go on."""
    FLOOD = "flood"
    """A message over the size limit, or too many that answer nothing."""
    HUNG = "hung"
    """Two decisions in a row ran out of time without an answer between."""

    @property
    def fault(self) -> Fault:
        """What it is called when it is charged."""
        match self:
            case Broken.LOST | Broken.ENDED:
                return Fault.STREAM_BROKEN
            case Broken.FLOOD:
                return Fault.FLOOD
            case Broken.HUNG:
                return Fault.HUNG
            case _:
                assert_never(self)


@dataclass(slots=True)
class Traffic:
    """The answers that came over a stream."""

    answers: int = 0
    dropped: int = 0
    """Answers to no open decision: late, double, foreign or guessed."""


class Channel:
    """The stream of one process.  `on_broken` is called once, after which nothing is answered any more."""

    def __init__(
        self,
        target: str,
        stopwatch: Stopwatch,
        decisions_at_once: int,
        on_broken: Callable[[Broken, str], None],
        connection: aio.Channel | None = None,
        metadata: Metadata = (),
    ) -> None:
        self._connection = connection or connect(target)
        self._metadata = metadata
        self._stopwatch = stopwatch
        self._at_once = decisions_at_once or 1 << 30
        self._on_broken = on_broken
        self._outbox: deque[bytes | Question] = deque()
        self._held: deque[Question] = deque()
        self._open: dict[int, Question] = {}
        self._late: set[int] = set()
        self._open_budget_s = 0.0
        self._last_answer = 0.0
        self._written = 0.0
        self._expired_in_a_row = 0
        self._silent_messages = 0
        self._wake: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._look_at = _FOREVER
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._call: aio.StreamStreamCall[bytes, bytes] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self.traffic = Traffic()

    def start(self) -> None:
        """Open the stream."""
        play: aio.StreamStreamMultiCallable[bytes, bytes] = self._connection.stream_stream(stubs.PLAY)
        self._call = call = play(metadata=self._metadata)
        self._tasks = [
            self._loop.create_task(self._write_loop(call)),
            self._loop.create_task(self._read_loop(call)),
        ]

    def tell(self, event: bytes) -> None:
        """Send a framed event."""
        self._outbox.append(event)
        if not self._open:
            self._wake_writer()

    def ask(self, question: Question) -> None:
        """Send a decision as soon as the bot takes one more; its time starts when it is sent."""
        if len(self._open) >= self._at_once:
            self._held.append(question)
            return
        idle = not self._open
        self._open[question.id] = question
        if question.budget_s is not None:
            self._open_budget_s += question.budget_s
            question.hard_s = self._open_budget_s
        question.sent = self._stopwatch.latest
        self._outbox.append(question)
        if idle:
            self._wake_writer()

    def withdraw(self, id: int) -> None:
        """Ask no more for a decision: its match has ended.  Nothing happens if it is not open."""
        question = self._open.get(id)
        if question is None:
            self._held = deque(held for held in self._held if held.id != id)
            return
        self._close(question)
        if question in self._outbox:
            self._outbox.remove(question)
        else:
            self._late.add(id)
            self.tell(codec.withdrawn(question.match_id, id, codec.WithdrawnReason.ENDED))
            self._wake_writer()
        self._release()

    def abandon(self) -> tuple[list[tuple[Question, float]], list[Question]]:
        """Stop asking; returns the decisions that are owed an answer, oldest first, and those that were never sent.

        Each owed one comes with the milliseconds it took.  The busy time is the oldest's: the clock of the next one
        would only start now.
        """
        now = self._stopwatch.now()
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        unsent = {item.id: item for item in self._outbox if not isinstance(item, bytes) and item.id in self._open}
        owed = [(question, 0.0) for id, question in self._open.items() if id not in unsent]
        if owed:
            oldest = owed[0][0]
            owed[0] = (oldest, (now - max(oldest.sent, self._last_answer)) * 1000)
        never_sent = [*unsent.values(), *self._held]
        self._open.clear()
        self._held.clear()
        return owed, never_sent

    async def close(self) -> None:
        """End the stream and the connection.  What is in the outbox is written first if the bot reads."""
        if not self._closed:
            await self._drain()
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._call is not None:
            self._call.cancel()
            with contextlib.suppress(TimeoutError):  # else gRPC's own thread may still speak to a closed loop
                async with asyncio.timeout(CLOSE_S):
                    await self._call.code()
        await self._connection.close(grace=None)

    # -- writing -------------------------------------------------------------------------------------------------

    def _wake_writer(self) -> None:
        wake = self._wake
        if wake is not None:
            self._wake = None
            if not wake.done():
                wake.set_result(None)

    def _worth_a_message(self) -> bool:
        """Whether what has gathered should go out now: to a bot that is busy for long a few at a time are enough."""
        gathered = len(self._outbox)
        owed = len(self._open) - gathered
        return gathered * OWED_FOR_EACH >= owed or self._stopwatch.latest - self._written > PATIENCE_S

    async def _write_loop(self, call: aio.StreamStreamCall[bytes, bytes]) -> None:
        outbox = self._outbox
        while True:
            if not outbox or not self._worth_a_message():
                self._wake = self._loop.create_future()
                await self._wake
            if not outbox:
                continue
            batch: list[bytes] = []
            asked: list[Question] = []
            size = 0
            while outbox and len(batch) < stubs.MAX_ITEMS:
                item = outbox[0]
                data = item if isinstance(item, bytes) else item.data
                size += len(data)
                if batch and size > stubs.MAX_MESSAGE_BYTES:
                    break
                outbox.popleft()
                batch.append(data)
                if not isinstance(item, bytes):
                    item.written = True
                    asked.append(item)
            try:
                await call.write(b"".join(batch))
            except (aio.AioRpcError, asyncio.InvalidStateError, aio.UsageError):
                outbox.extendleft(reversed(asked))  # they never left
                return  # the reader is told why
            self._written = now = self._stopwatch.now()
            for question in asked:
                question.sent = now
            if asked and not self._closed:
                self._look_by(now + min(question.budget_s or _FOREVER for question in asked))

    async def _drain(self) -> None:
        """Wait briefly until the last tellings are on their way."""
        for _ in range(20):
            if not self._outbox or all(task.done() for task in self._tasks):
                return
            await asyncio.sleep(0.005)

    # -- reading -------------------------------------------------------------------------------------------------

    async def _read_loop(self, call: aio.StreamStreamCall[bytes, bytes]) -> None:
        try:
            while True:
                data = await call.read()
                if not isinstance(data, bytes):  # aio.EOF
                    self._break(Broken.ENDED, "the bot closed the stream")
                    return
                self._receive(data)
                if self._closed:
                    return
                if self._worth_a_message():
                    self._wake_writer()
        except aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
                self._break(Broken.FLOOD, f"a message over {MAX_RECEIVED_BYTES} bytes: {error.details()}")
            else:
                why = Broken.LOST if error.code() in _LOST else Broken.ENDED
                self._break(why, f"the stream broke: {error.code().name.lower()}: {error.details()}")

    def _receive(self, data: bytes) -> None:
        now = self._stopwatch.now()
        traffic = self.traffic
        try:
            answers = codec.answers(data)
        except codec.WireError as error:
            self._answer_oldest(now, Fault.MALFORMED, str(error))
            return
        known: list[tuple[Question, codec.Answer]] = []
        first_sent = now
        overdue = False
        for answer in answers:
            question = self._open.get(answer.id)
            if question is None or not question.written:
                traffic.dropped += 1
                if answer.id in self._late:
                    self._late.remove(answer.id)
                    overdue = True
                continue
            del self._open[answer.id]
            known.append((question, answer))
            if question.sent < first_sent:
                first_sent = question.sent
            if question.budget_s is not None:
                self._open_budget_s -= question.budget_s
        if known or overdue:  # what comes too late counts for nothing, but shows that the bot goes on
            self._expired_in_a_row = 0
            busy_s = now - max(self._last_answer, first_sent)
            self._last_answer = now
        if not known:
            self._silent_messages += 1
            self._judge_flood()
            return
        if not self._open:
            self._open_budget_s = 0.0  # no rounding is carried along
        traffic.answers += len(known)
        self._silent_messages = 0
        share = busy_s / len(known)
        for question, answer in known:
            took_s = now - question.sent
            if took_s <= question.hard_s and share < took_s:
                took_s = share
            if answer.error:
                question.answered(NoReply(Fault.ERROR, took_s * 1000, answer.error))
            else:
                question.answered(Reply(answer.action, took_s * 1000, answer.think_us))
        self._judge_flood()
        self._release()

    def _judge_flood(self) -> None:
        if max(self.traffic.dropped - self.traffic.answers, self._silent_messages) > MAX_DROPPED:
            self._break(Broken.FLOOD, f"over {MAX_DROPPED} messages or answers to no open decision")

    def _answer_oldest(self, now: float, fault: Fault, evidence: str) -> None:
        """A fault that names no decision is one of the oldest that is open."""
        question = next(iter(self._open.values()), None)
        if question is None:
            self._silent_messages += 1
            self._judge_flood()
            return
        took_s = now - max(self._last_answer, question.sent)
        self._last_answer = now
        self._close(question)
        question.answered(NoReply(fault, took_s * 1000, evidence))
        self._release()

    def _close(self, question: Question) -> None:
        del self._open[question.id]
        if question.budget_s is not None:
            self._open_budget_s -= question.budget_s

    def _release(self) -> None:
        while self._held and len(self._open) < self._at_once and not self._closed:
            self.ask(self._held.popleft())

    # -- time ----------------------------------------------------------------------------------------------------

    def _look_by(self, due: float) -> None:
        """Look at the open decisions when `due` (in seconds of the stopwatch) is over, if not before."""
        if due < self._look_at:
            if self._timer is not None:
                self._timer.cancel()
            self._look_at = due
            wait = due + GRACE_S - self._stopwatch.now()
            self._timer = self._loop.call_later(max(wait, 0.001), self._look)

    def _due(self, question: Question) -> float:
        """When the oldest decision runs out of time: its clock starts at the last answer or ruling before it."""
        budget_s = _FOREVER if question.budget_s is None else question.budget_s
        return min(max(question.sent, self._last_answer) + budget_s, question.sent + question.hard_s)

    def _look(self) -> None:
        """The timer fired: rule on the oldest decision if its time is really over, then set the timer again."""
        now = self._stopwatch.now()
        self._timer = None
        self._look_at = _FOREVER
        late = [
            question
            for index, question in enumerate(self._open.values())
            if now > (self._due(question) if index == 0 else question.sent + question.hard_s) + GRACE_S
        ]
        if late:
            question = late[0]
            self._expired_in_a_row += 1
            if self._expired_in_a_row > 1:
                self._break(Broken.HUNG, "two decisions in a row ran out of time without an answer between")
                return
            took_s = now - max(question.sent, self._last_answer)
            self._last_answer = now
            self._close(question)
            self._late.add(question.id)
            self.tell(codec.withdrawn(question.match_id, question.id, codec.WithdrawnReason.LATE))
            question.answered(NoReply(Fault.LATE, took_s * 1000))
            self._release()
            self._wake_writer()
        oldest = next(iter(self._open.values()), None)
        if oldest is not None and not self._closed:
            self._look_by(self._due(oldest))

    # -- the end -------------------------------------------------------------------------------------------------

    def _break(self, why: Broken, evidence: str) -> None:
        if not self._closed:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
            self._on_broken(why, evidence)


def connect(target: str, keys: Keys | None = None) -> aio.Channel:
    """A connection of its own to `unix:/path` or `host:port`; with keys it is encrypted, and both sides are known."""
    options = OPTIONS if target.startswith("unix:") else tuple({**dict(OPTIONS), **dict(REMOTE_OPTIONS)}.items())
    if keys is None:
        return aio.insecure_channel(target, options=options)
    credentials = grpc.ssl_channel_credentials(keys.certificate, keys.client_key, keys.client_certificate)
    return aio.secure_channel(target, credentials, options=(*options, ("grpc.ssl_target_name_override", keys.host)))


async def describe(
    connection: aio.Channel, request: bytes, timeout_s: float, metadata: Metadata = ()
) -> codec.BotDescription:
    """The handshake.  Raises `TimeoutError`, and `HandshakeError` with a sentence if there is no proper answer."""
    describe: aio.UnaryUnaryMultiCallable[bytes, bytes] = connection.unary_unary(stubs.DESCRIBE)
    try:
        return codec.describe_response(
            await describe(request, timeout=timeout_s, wait_for_ready=True, metadata=metadata)
        )
    except aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
            raise TimeoutError from None
        if error.code() in _REFUSALS:
            raise HandshakeError(f"it refused the arena: {error.details()}") from None
        raise HandshakeError(f"Describe failed: {error.code().name.lower()}: {error.details()}") from None
    except codec.WireError as error:
        raise HandshakeError(f"its answer to Describe is not a message: {error}") from None


class HandshakeError(Exception):
    """The handshake failed; the text says how."""
