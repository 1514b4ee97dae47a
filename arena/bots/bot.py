"""One participant's process for one block: started, asked, restarted when it dies, given up when it dies too often."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from grpc import aio

from arena.bots.build import BuildError, Builds
from arena.bots.channel import GRACE_S, Broken, Channel, HandshakeError, Metadata, Question, connect, describe
from arena.bots.cores import Cores
from arena.bots.launcher import LOG_BYTES, BotProcess, LaunchError, Limits, launch
from arena.bots.manifest import BotSpec
from arena.bots.remote import RETRY_S, Session, knock
from arena.bots.sandbox import LIMITS_ONLY, Sandbox
from arena.bots.stopwatch import Stopwatch
from arena.errors import UsageError
from arena.game.rules import Rules
from arena.match.referee import LAST_WORDS, Ask, NoReply
from arena.match.rulings import Fault
from arena.wire import codec, stubs

if TYPE_CHECKING:
    from arena.bots.driver import Consultation, MatchRun

T = TypeVar("T")
Asker: TypeAlias = "MatchRun | Consultation"
"""Whose questions a bot answers."""

MAX_DEATHS = 3
"""The third death in a block forfeits the remaining matches."""
EXIT_WAIT_S = 2.0
"""A closed stream is a death if the process ends within this time; on a busy machine its end is seen late."""
LEAST_RETURN_S = 2.0
MOST_RETURN_S = 30.0
"""A lost connection to a remote bot has the rest of its oldest decision's time to come back, within these bounds ..."""
UNTIMED_RETURN_S = 10.0
"""... or this long where no clock runs, or nothing is owed."""
MAX_LOSSES = 10
"""A decision that was lost with the connection this often is not put again."""
SUSPENDED_S = 1.0
"""An arena that stood still so long while a bot started has had the time of it: the bot starts once more."""
EVIDENCE_LINES = 10
EVIDENCE_CHARS = 2000
"""Of what the bot wrote; the end of it says most."""
_STILL_THERE = frozenset({Fault.ILLEGAL, Fault.MALFORMED, Fault.LATE})
"""Faults of a process that goes on and does not say itself what went wrong."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all bots of a run share."""

    stopwatch: Stopwatch
    rules: Rules
    rules_name: str
    logs: Path
    marker: str
    start_s: float = 10.0
    sandbox: Sandbox = LIMITS_ONLY
    builds: Builds | None = None
    """None: no bot has to be built."""


def log_of(name: str, logs: Path) -> Path:
    """Where what a bot of that name writes goes to, below the folder of a run's logs."""
    return logs / f"{re.sub('[^A-Za-z0-9._-]', '_', name)}.log"


class BotFailed(Exception):
    """A bot cannot play: what it did (`fault`) and how one can see that (`evidence`)."""

    def __init__(self, fault: Fault, evidence: str) -> None:
        super().__init__(evidence)
        self.fault = fault
        self.evidence = evidence


class Bot:
    """A participant at play.  Each question of a match is answered exactly once, whatever happens to the process."""

    def __init__(self, spec: BotSpec, surroundings: Surroundings, *, lives: int = MAX_DEATHS) -> None:
        self.spec = spec
        self.description: codec.BotDescription | None = None
        """What it said in the last handshake, whatever became of that."""
        self.process: BotProcess | None = None
        """None while none runs, and always for a remote bot."""
        self.address = ""
        """Where it was reached last."""
        self.deaths = 0
        self.dropped = 0
        """Answers to no open decision, over all its processes."""
        self._around = surroundings
        self._lives = lives
        self._channel: Channel | None = None
        self._former: Channel | None = None
        """The last one that broke: closed by whoever replaces it, or by `stop` if that comes first."""
        self._ids = itertools.count(1)
        self._matches: dict[Asker, int] = {}
        self._last_ids: dict[Asker, int] = {}
        self._waiting: list[Question] = []
        self._session = Session(spec.keys) if spec.remote else None
        self._unheard: list[bytes] = []
        """What was to be told while the connection to a remote bot was lost."""
        self.gone: BotFailed | None = None
        """Why it is asked no more."""
        self._restart: asyncio.Task[None] | None = None
        self._stopping = False

    @property
    def stood_still_s(self) -> float:
        """How many seconds the arena itself has stood still so far."""
        self._around.stopwatch.now()
        return self._around.stopwatch.paused_s

    @property
    def waives_before_draw(self) -> bool:
        """What it said in the handshake; a bot that never came is asked nothing."""
        return self.description is not None and self.description.waives_before_draw

    @property
    def log(self) -> Path:
        """Where the output of all its processes goes."""
        return log_of(self.spec.name, self._around.logs)

    def _metadata(self, method: str) -> Metadata:
        return () if self._session is None else self._session.metadata(method)

    async def start(self) -> None:
        """Build it if need be, launch the process and shake hands.

        Raises `BotFailed`, with nothing left running, and `UsageError` where the machine starts no more processes:
        that is nobody's fault.
        """
        if self.spec.address is None:
            try:
                if self._around.builds is not None:
                    self.spec = await self._around.builds.built(self.spec)
                self.process = await launch(
                    self.spec,
                    socket=f"bot.{self.deaths}",
                    env={},
                    log=self.log,
                    marker=self._around.marker,
                    limits=Limits.of(self.spec, self._around.sandbox.level),
                    sandbox=self._around.sandbox,
                )
            except LaunchError as error:
                raise BotFailed(Fault.NOT_STARTED, f"{error} {error.evidence}".strip()) from None
            except BuildError as error:
                raise BotFailed(Fault.NOT_STARTED, str(error)) from None
            except (OSError, RuntimeError) as error:
                raise UsageError(
                    f"the arena could not start a process for bot {self.spec.name!r}: {error}; "
                    "see that there is room for files, processes and memory, then resume"
                ) from error
        await self._connect(self._around.start_s)

    async def _connect(self, within_s: float) -> None:
        """Shake hands with the process and open the stream.  Raises `BotFailed`, with nothing left running."""
        due = asyncio.get_running_loop().time() + within_s
        try:
            self.address = self.spec.address or await self._listening(within_s)
            connection = connect(self.address, self.spec.keys)
            try:
                description = await self._shake_hands(connection, within_s, due)
            except BotFailed:
                await connection.close(grace=None)
                raise
        except BotFailed:
            await self._end_process(0)
            raise
        self._channel = Channel(
            self.address,
            self._around.stopwatch,
            description.decisions_at_once,
            self._broken,
            connection,
            self._metadata(stubs.PLAY),
            None if self.process is None else Cores(self.process.keeper_pid),
        )
        self._channel.start()

    async def stop(self) -> None:
        """End the stream and the process; nothing of the bot is left afterwards."""
        self._stopping = True
        if self._restart is not None:
            self._restart.cancel()
            await asyncio.gather(self._restart, return_exceptions=True)
        if self._former is not None:
            await self._former.close()
        if self._channel is not None:
            self.dropped += self._channel.traffic.dropped
            await self._channel.close()
            self._channel = None
        await self._end_process(0.5)
        self._note_dropped()

    def _note_dropped(self) -> None:
        """Tell the author of answers that came to nothing, where its log has room for it."""
        line = f"[arena: answers to no open decision, all dropped: {self.dropped}]\n"
        with contextlib.suppress(OSError):  # it has no log, or the disk is full
            if self.dropped and self.log.stat().st_size + len(line) <= LOG_BYTES:
                with self.log.open("a") as log:
                    log.write(line)

    def give_up(self, failure: BotFailed) -> None:
        """The bot never plays: every question is answered with its failure, which loses the match."""
        self.gone = failure
        waiting, self._waiting = self._waiting, []
        for question in waiting:
            question.answered(NoReply(failure.fault, 0.0, failure.evidence, whole_match=True))

    # -- what matches call ---------------------------------------------------------------------------------------

    def begin(self, match: Asker, seat: int) -> None:
        """A match begins for this bot on that seat."""
        self._matches[match] = seat
        if self._channel is not None:  # else it is told when there is one
            self._channel.tell(match.start_event(seat, resumed=False))

    def finish(self, match: Asker) -> None:
        """A match is over; what it still asks (it has become void) is asked no more."""
        self._matches.pop(match, None)
        last = self._last_ids.pop(match, 0)
        if self._channel is not None:
            self._channel.withdraw(last)
        self._waiting = [question for question in self._waiting if question.id != last]

    def tell(self, event: bytes) -> None:
        """Send a framed event; a bot that is not running learns what matters when it comes back."""
        if self._channel is not None:
            self._channel.tell(event)
        elif self.spec.remote and self.gone is None:
            self._unheard.append(event)

    def ask(self, match: Asker, ask: Ask) -> None:
        """Ask for a decision; `match.answered` is called with the reply."""
        self.put(self.question(match, ask))

    def question(self, match: Asker, ask: Ask) -> Question:
        """The decision as it will be sent."""
        number = next(self._ids)
        self._last_ids[match] = number
        data = codec.decision(
            ask.view,
            match_id=match.order.match_id,
            id=number,
            deal=ask.deal,
            time_left_ms=0 if ask.budget_ms is None else int(ask.budget_ms) or 1,
            last_took_ms=int(ask.last_took_ms),
        )
        return Question(number, match.order.match_id, data, ask.budget_ms, match.answered)

    def put(self, question: Question) -> None:
        """Send a decision as soon as there is somebody to take it."""
        if self.gone is not None:
            question.answered(NoReply(self.gone.fault, 0.0, self.gone.evidence, whole_match=True))
        elif self._channel is None:
            question.begin(self._around.stopwatch)
            question.queued = True
            self._waiting.append(question)
        else:
            self._channel.ask(question)

    def last_words(self, fault: Fault) -> str:
        """What it wrote last, where the evidence of the fault does not hold that already."""
        return self._last_lines() if fault in _STILL_THERE else ""

    def last_id(self, match: Asker) -> int:
        """The id of the last decision that was asked in this match, 0 if there was none."""
        return self._last_ids.get(match, 0)

    # -- starting ------------------------------------------------------------------------------------------------

    async def _listening(self, within_s: float) -> str:
        """Where the process can be reached, as soon as it listens."""
        assert self.process is not None
        try:
            return await self._unless_it_ends(self.process.target(within_s))
        except TimeoutError:
            failure = f"it did not listen at ARENA_ADDRESS within {within_s:.0f} s (does it call serve?)"
        except LaunchError as error:
            failure = str(error)
        raise BotFailed(Fault.NOT_STARTED, self._with_output(failure))

    async def _unless_it_ends(self, waiting: Coroutine[Any, Any, T]) -> T:
        """What is waited for.  Raises `BotFailed` if the process ends before."""
        task = asyncio.ensure_future(waiting)
        exited = self.process.exited if self.process is not None else asyncio.get_running_loop().create_future()
        try:
            await asyncio.wait((task, cast("asyncio.Future[Any]", exited)), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                status = exited.result()
                ended = f"its process ended with {_status(status)} before it answered"
                if status == 0:
                    ended += " (does it call serve?)"
                raise BotFailed(Fault.NOT_STARTED, self._with_output(ended))
            return await task
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _describe(self, connection: aio.Channel, due: float) -> codec.BotDescription:
        loop = asyncio.get_running_loop()
        if self.spec.address is not None and not self.spec.address.startswith("unix:"):
            await knock(self.spec.address, self.spec.keys, due - loop.time())
        request = codec.describe_request(self._around.rules, self._around.rules_name)
        return await describe(connection, request, max(due - loop.time(), 0.0), self._metadata(stubs.DESCRIBE))

    async def _shake_hands(self, connection: aio.Channel, within_s: float, due: float) -> codec.BotDescription:
        try:
            description = await self._unless_it_ends(self._describe(connection, due))
        except TimeoutError:
            failure = f"it did not answer Describe within {within_s:.0f} s"
            raise BotFailed(Fault.NOT_STARTED, self._with_output(failure)) from None
        except HandshakeError as error:
            raise BotFailed(Fault.NOT_STARTED, self._with_output(str(error))) from None
        self.description = description
        if description.protocol_major != stubs.PROTOCOL_MAJOR:
            raise BotFailed(
                Fault.REFUSED,
                f"it speaks protocol {description.protocol_major}.{description.protocol_minor}, "
                f"the arena speaks {stubs.PROTOCOL_MAJOR}.{stubs.PROTOCOL_MINOR}",
            )
        if not description.plays:
            raise BotFailed(
                Fault.REFUSED, f"it does not play these rules: {description.refusal or 'it gives no reason'}"
            )
        return description

    # -- breaking ------------------------------------------------------------------------------------------------

    def _broken(self, why: Broken, evidence: str) -> None:
        """The stream is over: what was owed is charged, the process is replaced, the rest goes on."""
        channel = self._channel
        assert channel is not None
        self._channel, self._former = None, channel
        self.dropped += channel.traffic.dropped
        owed, never_sent = channel.abandon()
        self._waiting.extend(question.again(0.0) for question in never_sent)
        if not self._stopping:
            self._restart = asyncio.get_running_loop().create_task(self._go_on(channel, why, evidence, owed))

    async def _go_on(self, channel: Channel, why: Broken, evidence: str, owed: list[tuple[Question, float]]) -> None:
        """Connect again, or replace the process; where the arena cannot, the matches are void."""
        try:
            if why is Broken.LOST and self.spec.remote:
                for question, _ in owed:
                    question.losses += 1
                if all(question.losses < MAX_LOSSES for question, _ in owed):
                    failure = await self._return(channel, owed)
                    if failure is None:
                        return
                    evidence = f"{evidence}; it did not come back: {failure.evidence}"
            await self._replace(channel, why, evidence, owed)
        except Exception as error:
            for match in list(self._matches):
                match.void(error)

    async def _return(self, channel: Channel, owed: list[tuple[Question, float]]) -> BotFailed | None:
        """Connect to a remote bot again and put the open decisions again; returns why that was not to be."""
        lost = self._around.stopwatch.now()
        oldest, spent_ms = owed[0] if owed else (None, 0.0)
        if oldest is None or oldest.budget_s is None:
            within_s = UNTIMED_RETURN_S
        else:
            within_s = min(max(oldest.budget_s - spent_ms / 1000, LEAST_RETURN_S), MOST_RETURN_S)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within_s
        await channel.close()
        while self._channel is None:
            try:
                await self._connect(deadline - loop.time())
            except BotFailed as failure:
                if loop.time() + RETRY_S >= deadline:
                    return failure
                await asyncio.sleep(RETRY_S)
        spent_ms += (self._around.stopwatch.now() - lost) * 1000
        self._resume()
        late: list[tuple[Question, float]] = []
        for question, _ in owed:  # the outage is the oldest's; what it has no time for is the next one's
            budget_ms = None if question.budget_s is None else question.budget_s * 1000
            if budget_ms is not None and spent_ms > budget_ms + GRACE_S * 1000:
                late.append((question, spent_ms))
                spent_ms -= budget_ms
            else:
                self._channel.ask(question.again(spent_ms))
                spent_ms = 0.0
        self._ask_waiting()
        for question, took_ms in late:
            question.answered(NoReply(Fault.LATE, took_ms, "the connection was lost meanwhile", split=question.split))
        return None

    def _resume(self) -> None:
        """Tell a process that is connected again which matches are under way, and what it has missed."""
        for match, seat in self._matches.items():
            self.tell(match.start_event(seat, resumed=True))
        unheard, self._unheard = self._unheard, []
        for event in unheard:
            self.tell(event)

    def _ask_waiting(self) -> None:
        assert self._channel is not None
        waiting, self._waiting = self._waiting, []
        for question in waiting:
            self._channel.ask(question)

    async def _replace(self, channel: Channel, why: Broken, evidence: str, owed: list[tuple[Question, float]]) -> None:
        fault = why.fault
        if fault is Fault.STREAM_BROKEN and self.process is not None:
            try:
                status = await asyncio.wait_for(asyncio.shield(self.process.exited), EXIT_WAIT_S)
            except TimeoutError:
                pass
            else:
                fault = Fault.DIED
                evidence = f"its process ended with {_status(status)}"
        evidence = self._with_output(evidence)
        await channel.close()
        await self._end_process(0)
        self.deaths += 1
        failure: BotFailed | None = None
        if self.deaths >= self._lives:
            times = "" if self.deaths == 1 else f" (the {self.deaths}rd time in this block)"
            failure = BotFailed(fault, f"{evidence}{times}")
        else:
            try:
                await self.start()
            except BotFailed as error:
                failure = error
        if failure is None:
            self._resume()
        for question, took_ms in owed:
            question.answered(NoReply(fault, took_ms, evidence, split=question.split))
        if failure is not None:
            self.give_up(failure)
        elif self._channel is not None:
            self._ask_waiting()

    async def _end_process(self, grace_s: float) -> None:
        if self.process is not None:
            await self.process.stop(grace_s)  # whoever is cancelled here leaves it to the next
            self.process = None

    def _with_output(self, text: str) -> str:
        """The text and the last lines that the bot wrote to stderr."""
        tail = self._last_lines()
        return f"{text}{LAST_WORDS}{tail}" if tail else text

    def _last_lines(self) -> str:
        return self.process.stderr_tail(EVIDENCE_LINES)[-EVIDENCE_CHARS:] if self.process is not None else ""


def _status(status: int) -> str:
    return f"status {status}" if status >= 0 else f"signal {-status}"


async def start_all(bots: Mapping[str, Bot]) -> dict[str, BotFailed]:
    """Start bots side by side; returns the failures by name."""
    failures: dict[str, BotFailed] = {}

    async def start(name: str, bot: Bot) -> None:
        stood_still_s = bot.stood_still_s
        try:
            try:
                await bot.start()
            except BotFailed:
                if bot.stood_still_s - stood_still_s < SUSPENDED_S:
                    raise
                await bot.start()
        except BotFailed as failure:
            failures[name] = failure

    done = await asyncio.gather(*(start(name, bot) for name, bot in bots.items()), return_exceptions=True)
    for error in done:  # only now: nothing must be starting any more when somebody stops the bots
        if error is not None:
            raise error
    return failures
