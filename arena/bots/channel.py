"""One bot process's stream: all its matches, batched both ways, and the clock of every open decision.

A bot that owes nothing is written to at once; one that is busy gets what has gathered when it shows that it goes on,
by its next message.  So the bot sets the pace, no timer delays anything, and messages are few and large.  A bot is
charged its *busy time*: all time in which it owes an answer, each moment once, to the decision that is answered next;
answers in one message share it evenly, and none pays for more than the time since it was sent.  The bot's clock stands
still while the arena pauses, and while the bot waits for a core.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar, assert_never, cast

os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"  # gRPC's fork handlers break streams when a child is started

import grpc
from grpc import aio

from arena.bots.certificates import Keys
from arena.bots.cores import Cores, Look, free_s
from arena.bots.stopwatch import BEAT_S, Stopwatch
from arena.match.clock import UNSPLIT, Split
from arena.match.referee import NoReply, Reply
from arena.match.rulings import Fault
from arena.wire import codec, stubs

PATIENCE_S = 0.005
"""A bot that owes more answers than events have gathered is sent nothing yet, unless it was written to so long ago."""
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

LOCAL_OPTIONS = (("grpc.default_authority", "localhost"),)
"""What is different on a socket: its path is no name of a host, and servers that look at it (Rust's) hang up."""
REMOTE_OPTIONS = (
    ("grpc.min_reconnect_backoff_ms", 5000),
    ("grpc.keepalive_time_ms", 310_000),
    ("grpc.http2.ping_timeout_ms", 20_000),
    ("grpc.http2.max_pings_without_data", 0),
)
"""What is different on a network: an attempt to connect takes more than a moment (that is the time it has), and a
connection that died without a word is noticed by pings only; servers take one in five minutes, and no more."""

_LOST = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}
"""What gRPC says when a connection breaks: on its way or at the other end."""
_UNWRITTEN = "Internal error from Core"
"""What gRPC says of a stream that broke under a message just being written, before or after it says why."""
_REFUSALS = {grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.FAILED_PRECONDITION}
_FOREVER = float("inf")

Answered = Callable[[Reply | NoReply], None]
Metadata = tuple[tuple[str, str], ...]
_Value = TypeVar("_Value")


class Question:
    """A decision on its way to a bot and back."""

    __slots__ = (
        "answered", "asked", "budget_s", "data", "hard_s", "id", "losses", "match_id", "paused_s", "queued", "sent",
        "split", "waited_s", "written",
    )  # fmt: skip

    def __init__(self, id: int, match_id: str, data: bytes, budget_ms: float | None, answered: Answered) -> None:
        self.id = id
        self.match_id = match_id
        self.data = data
        """The framed event."""
        self.budget_s = None if budget_ms is None else budget_ms / 1000
        self.answered = answered
        """Called once, with what the referee is to be told."""
        self.asked = 0.0
        """When the referee asked, in seconds that pass for everybody ..."""
        self.paused_s = 0.0
        """... and how long the arena had paused until then."""
        self.queued = False
        """Whether the bot could not take it at once."""
        self.sent = 0.0
        """When it was sent, in seconds of the bot's clock."""
        self.waited_s = 0.0
        """How long the bot had waited for a core until then."""
        self.split = UNSPLIT
        """Where its time went, if it was abandoned."""
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
            queue_us = max(0, answer.split.queue_us - int(spent_ms * 1000))
            split = answer.split._replace(queue_us=queue_us)
            self.answered(answer._replace(took_ms=answer.took_ms + spent_ms, split=split))

        data = codec.asked_again(self.data, 0 if left_ms is None else int(left_ms))
        again = Question(self.id, self.match_id, data, left_ms, answered)
        again.losses = self.losses
        again.asked, again.paused_s, again.queued = self.asked, self.paused_s, True
        return again

    def begin(self, stopwatch: Stopwatch) -> None:
        """The referee has asked."""
        self.asked, self.paused_s = stopwatch.seen, stopwatch.paused_s


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
        cores: Cores | None = None,
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
        self._charged_to = 0.0
        """Up to when its busy time is charged to somebody, in seconds of the bot's clock."""
        self._cores = cores
        self._waited_s = 0.0
        """How long the bot has waited for a core so far, as far as that was looked at: its clock is late by it."""
        self._look_before: Look | None = None
        """The last look at its cores within the busy time that is not charged yet ..."""
        self._looked_at = 0.0
        """... and when that was, in seconds of the bot's clock."""
        self._slow = False
        """Whether its last message took it so long that its cores are looked at."""
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
        self._last_word: asyncio.Future[tuple[grpc.StatusCode, str]] = self._loop.create_future()
        """How the stream ended, by the word of who ended it."""
        self.traffic = Traffic()

    def start(self) -> None:
        """Open the stream."""
        play: aio.StreamStreamMultiCallable[bytes, bytes] = self._connection.stream_stream(stubs.PLAY)
        self._call = call = play(metadata=self._metadata)
        call.add_done_callback(self._hear)
        self._tasks = [
            self._loop.create_task(self._write_loop(call)),
            self._loop.create_task(self._read_loop(call)),
        ]
        if self._cores is not None:
            self._stopwatch.watchers.add(self._beat)

    def tell(self, event: bytes) -> None:
        """Send a framed event."""
        self._outbox.append(event)
        if not self._open:
            self._wake_writer()

    def ask(self, question: Question) -> None:
        """Send a decision as soon as the bot takes one more; its time starts when it is sent."""
        if not question.asked:
            question.begin(self._stopwatch)
        if len(self._open) >= self._at_once:
            question.queued = True
            self._held.append(question)
            return
        idle = not self._open
        question.queued |= not idle
        self._open[question.id] = question
        if question.budget_s is not None:
            self._open_budget_s += question.budget_s
            question.hard_s = self._open_budget_s
        question.sent = self._stopwatch.latest - self._waited_s
        question.waited_s = self._waited_s
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
        now = self._settle_waiting()
        self._end()
        unsent = {item.id: item for item in self._outbox if not isinstance(item, bytes) and item.id in self._open}
        owed: list[tuple[Question, float]] = []
        for id, question in self._open.items():
            if id not in unsent:
                took_s = 0.0 if owed else self._busy_s(question, now)
                question.split = self._split(question, now, took_s)
                owed.append((question, took_s * 1000))
        never_sent = [*unsent.values(), *self._held]
        self._open.clear()
        self._held.clear()
        return owed, never_sent

    async def close(self) -> None:
        """End the stream and the connection.  What is in the outbox is written first if the bot reads."""
        if not self._closed:
            await self._drain()
        self._end()
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
        return gathered >= owed or self._stopwatch.latest - self._written > PATIENCE_S

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
            if asked and self._slow and self._look_before is None:
                self._look_at_cores(self._clock())
            try:
                await call.write(b"".join(batch))
            except (aio.AioRpcError, asyncio.InvalidStateError, aio.UsageError):
                outbox.extendleft(reversed(asked))  # they never left
                return  # the reader is told why
            now = self._clock()
            self._written = self._stopwatch.latest
            for question in asked:
                question.sent = now
                question.waited_s = self._waited_s
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
        except aio.AioRpcError:
            code, details = await self._last_word
            if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
                self._break(Broken.FLOOD, f"it sent more at once than it may: {details}")
            else:
                why = Broken.LOST if code in _LOST else Broken.ENDED
                self._break(why, f"the stream broke: {code.name.lower()}: {details}")

    def _hear(self, call: aio.StreamStreamCall[bytes, bytes]) -> None:
        details = _at_once(call.details())
        if details != _UNWRITTEN and not self._last_word.done():
            self._last_word.set_result((_at_once(call.code()), details))

    def _receive(self, data: bytes) -> None:
        waited_s = self._waited_s
        now = self._settle_waiting()
        waited_s = self._waited_s - waited_s
        traffic = self.traffic
        try:
            answers = codec.answers(data)
        except codec.WireError as error:
            self._answer_oldest(now, Fault.MALFORMED, str(error))
            return
        oldest = self._oldest
        known: list[tuple[Question, codec.Answer]] = []
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
            if question.budget_s is not None:
                self._open_budget_s -= question.budget_s
        if known or overdue:  # what comes too late counts for nothing, but shows that the bot goes on
            self._expired_in_a_row = 0
        if not known:
            if overdue:
                self._charge(now, 0.0)
            self._silent_messages += 1
            self._judge_flood()
            return
        assert oldest is not None
        busy_s = self._busy_s(oldest, now)
        if not self._open:
            self._open_budget_s = 0.0  # no rounding is carried along
        traffic.answers += len(known)
        self._silent_messages = 0
        shares = _shares(busy_s, [now - question.sent for question, _ in known])
        charged_s = sum(shares)
        of_wire = _of_wire(charged_s, waited_s, sum([answer.think_us for _, answer in known]) / 1e6)
        self._charge(now, busy_s / len(known), left_s=busy_s - charged_s)
        for (question, answer), took_s in zip(known, shares, strict=True):
            since_s = now - question.sent
            if since_s > question.hard_s:
                took_s = since_s
            split = self._split(question, now, took_s, took_s * of_wire)
            if answer.error:
                question.answered(NoReply(Fault.ERROR, took_s * 1000, answer.error, split=split))
            else:
                question.answered(Reply(answer.action, took_s * 1000, answer.think_us, split))
        self._judge_flood()
        self._release()

    def _judge_flood(self) -> None:
        if max(self.traffic.dropped - self.traffic.answers, self._silent_messages) > MAX_DROPPED:
            self._break(Broken.FLOOD, f"over {MAX_DROPPED} messages or answers to no open decision")

    def _answer_oldest(self, now: float, fault: Fault, evidence: str) -> None:
        """A fault that names no decision is one of the oldest that is open."""
        question = self._oldest
        if question is None:
            self._silent_messages += 1
            self._judge_flood()
            return
        took_s = self._busy_s(question, now)
        self._close(question)
        self._charge(now, took_s)
        question.answered(NoReply(fault, took_s * 1000, evidence, split=self._split(question, now, took_s)))
        self._release()

    def _close(self, question: Question) -> None:
        del self._open[question.id]
        if question.budget_s is not None:
            self._open_budget_s -= question.budget_s

    def _release(self) -> None:
        while self._held and len(self._open) < self._at_once and not self._closed:
            self.ask(self._held.popleft())

    # -- time ----------------------------------------------------------------------------------------------------

    def _clock(self) -> float:
        """Seconds on the bot's clock."""
        return self._stopwatch.now() - self._waited_s

    def _settle_waiting(self) -> float:
        """Set the bot's clock back by what it has waited for a core since it was looked at; returns its seconds."""
        now = self._clock()
        before, oldest = self._look_before, self._oldest
        if before is None or oldest is None:
            return now
        elapsed_s = now - max(self._looked_at, oldest.sent)
        waited_s = free_s(before, self._look_at_cores(now), elapsed_s)
        self._stopwatch.load.worked(elapsed_s, waited_s)
        self._waited_s += waited_s
        self._looked_at -= waited_s
        return now - waited_s

    def _look_at_cores(self, now: float) -> Look:
        assert self._cores is not None
        self._look_before = look = self._cores.look()
        self._looked_at = now
        return look

    def _beat(self) -> None:
        """Look at the cores of a bot that takes longer than a beat for a decision: it may have to wait for one."""
        oldest = self._oldest
        if self._look_before is None and oldest is not None:
            now = self._stopwatch.latest - self._waited_s
            long_s = min(BEAT_S * len(self._open), (oldest.budget_s or _FOREVER) / 2)
            if self._busy_s(oldest, now) > long_s:
                self._look_at_cores(now)

    @property
    def _oldest(self) -> Question | None:
        """The decision that has been open for longest."""
        return next(iter(self._open.values()), None)

    def _busy_s(self, oldest: Question, now: float) -> float:
        """How long the bot has been busy since all was charged, where that is the oldest decision that it owed."""
        return max(0.0, now - max(self._charged_to, oldest.sent))

    def _charge(self, now: float, each_s: float, left_s: float = 0.0) -> None:
        """Busy time up to now is charged but for what is left, which the decisions that are still open will pay for.

        The cores of a bot that takes long for each are looked at from the start: from now on, or from the next sending.
        """
        self._slow = self._cores is not None and each_s > BEAT_S
        self._charged_to = now - left_s
        if not (self._open and self._slow):
            self._look_before = None
        elif self._look_before is None:
            self._look_at_cores(now)

    def _split(self, question: Question, now: float, took_s: float, wire_s: float = 0.0) -> Split:
        """Where the time since the question went, of which `took_s` is charged."""
        stopwatch = self._stopwatch
        since_s = now - question.sent
        waited_s = self._waited_s - question.waited_s
        arena_s = stopwatch.paused_s - question.paused_s
        unsent_s = stopwatch.seen - question.asked - since_s - waited_s - arena_s
        queue_s = since_s - took_s
        if question.queued:
            queue_s += unsent_s
        else:
            arena_s += unsent_s
        return Split(
            int(arena_s * 1e6) if arena_s > 0 else 0,  # looks at clocks a moment apart make nothing negative
            int(queue_s * 1e6) if queue_s > 0 else 0,
            int(waited_s * 1e6),
            int(wire_s * 1e6),
        )

    def _look_by(self, due: float) -> None:
        """Look at the open decisions when `due` (in seconds of the bot's clock) is over, if not before."""
        if due < self._look_at:
            if self._timer is not None:
                self._timer.cancel()
            self._look_at = due
            wait = due + GRACE_S - (self._stopwatch.now() - self._waited_s)
            self._timer = self._loop.call_later(max(wait, 0.001), self._look)

    def _due(self, question: Question) -> float:
        """When the oldest decision runs out of time: its clock starts at the last answer or ruling before it."""
        budget_s = _FOREVER if question.budget_s is None else question.budget_s
        return min(max(question.sent, self._charged_to) + budget_s, question.sent + question.hard_s)

    def _look(self) -> None:
        """The timer fired: rule on the oldest decision if its time is really over, then set the timer again."""
        now = self._settle_waiting()
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
            took_s = self._busy_s(question, now)
            self._close(question)
            self._charge(now, took_s)
            self._late.add(question.id)
            self.tell(codec.withdrawn(question.match_id, question.id, codec.WithdrawnReason.LATE))
            question.answered(NoReply(Fault.LATE, took_s * 1000, split=self._split(question, now, took_s)))
            self._release()
            self._wake_writer()
        oldest = self._oldest
        if oldest is not None and not self._closed:
            self._look_by(self._due(oldest))

    # -- the end -------------------------------------------------------------------------------------------------

    def _break(self, why: Broken, evidence: str) -> None:
        if not self._closed:
            self._end()
            self._on_broken(why, evidence)

    def _end(self) -> None:
        """Nothing is answered or timed any more."""
        self._closed = True
        self._stopwatch.watchers.discard(self._beat)
        if self._timer is not None:
            self._timer.cancel()


def _at_once(word: Coroutine[None, None, _Value]) -> _Value:
    """What a call that has ended says of itself, which it need not wait for."""
    try:
        word.send(None)
    except StopIteration as end:
        return cast(_Value, end.value)
    raise AssertionError("the call has not ended")


def _shares(busy_s: float, since_s: Sequence[float]) -> Sequence[float]:
    """Busy time shared evenly by decisions that were answered together, none above the time since its sending."""
    even = busy_s / len(since_s)
    if min(since_s) >= even:
        return [even] * len(since_s)
    shares = list(since_s)
    left_s = busy_s
    for done, index in enumerate(sorted(range(len(since_s)), key=since_s.__getitem__)):
        shares[index] = min(max(0.0, since_s[index]), left_s / (len(since_s) - done))
        left_s -= shares[index]
    return shares


def _of_wire(charged_s: float, waited_s: float, thought_s: float) -> float:
    """The part of what is charged that the bot, by its own word, did not think.  It may take waiting for thinking."""
    return max(0.0, 1 - max(0.0, thought_s - waited_s) / charged_s) if thought_s and charged_s else 0.0


def connect(target: str, keys: Keys | None = None) -> aio.Channel:
    """A connection of its own to `unix:/path` or `host:port`; with keys it is encrypted, and both sides are known."""
    more = LOCAL_OPTIONS if target.startswith("unix:") else REMOTE_OPTIONS
    options = tuple({**dict(OPTIONS), **dict(more)}.items())
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
