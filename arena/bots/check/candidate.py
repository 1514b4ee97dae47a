"""A bot under examination: a tournament's bot with one life, which can also be sent what no referee would send now."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import itertools
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

import psutil
from grpc import aio

from arena.bots.bot import Asker, Bot, Surroundings
from arena.bots.channel import HandshakeError, Question, describe
from arena.bots.driver import MatchRun
from arena.bots.manifest import BotSpec
from arena.cards import CLAIM, actions_of
from arena.game.game import Game
from arena.game.presets import PRESETS
from arena.game.questions import random_deals
from arena.game.views import DecisionPoint, View
from arena.match.clock import TimeControl
from arena.match.referee import Ask, NoReply, Reply
from arena.match.rulings import Fault
from arena.wire import codec, stubs

TIME = TimeControl(limit_ms=1000, bank_ms=4000)
BUDGET_MS = TIME.limit_ms + TIME.bank_ms
FIRST_ID = 1 << 20
"""Of decisions outside of matches: those of matches count from 1."""
DESCRIBE_S = 5.0
_LOOK_S = 0.01

Answer = Reply | NoReply
Heard = Callable[[View, Answer], None]


@dataclass(frozen=True, slots=True)
class Case:
    """A question in a match of its own, as framed events."""

    view: View
    match_id: str
    id: int
    started: bytes
    resumed: bytes
    """The match begins for a process while it is under way."""
    decision: bytes
    over: bytes


class Cases:
    """Makes cases under one preset: the same at every run, and never two alike."""

    def __init__(self, rules_name: str) -> None:
        self.rules_name = rules_name
        self.game = Game(PRESETS[rules_name])
        self._numbers = itertools.count(1)

    def of(self, view: View, deal: int = 1) -> Case:
        """A case of this question, asked in the deal of that number."""
        number = next(self._numbers)
        seed = hashlib.sha256(f"{self.rules_name} {number}".encode()).digest()
        match_id = seed[:8].hex()
        id = FIRST_ID + number
        table = self.game.table

        def started(resumed: bool) -> bytes:
            return codec.match_started(
                match_id, view.seat, table.side_of, seed, TIME.limit_ms, TIME.bank_ms, resumed=resumed
            )

        return Case(
            view=view,
            match_id=match_id,
            id=id,
            started=started(False),
            resumed=started(True),
            decision=codec.decision(view, match_id=match_id, id=id, deal=deal, time_left_ms=BUDGET_MS, last_took_ms=0),
            over=codec.match_ended(match_id, (0,) * table.sides, (1,) * table.sides),
        )

    def plain(self, deal: int = 1) -> Iterator[Case]:
        """The plainest of questions, without end: to follow in the first trick, with the talon open."""
        for played in random_deals(self.game, Random(next(self._numbers))):
            for view in played.views:
                if view.point is DecisionPoint.FOLLOW and view.closer is None and view.seat not in view.past_seats:
                    yield self.of(view, deal)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process ended that was asked to."""

    status: int | None
    """As in `subprocess`; None: it did not end in time."""
    left: tuple[str, ...]
    """Its own processes that it left running."""

    @property
    def clean(self) -> bool:
        """It ended by itself, or by the signal that asked it to."""
        return self.status in (0, -signal.SIGTERM, 128 + signal.SIGTERM)


class Candidate(Bot):
    """The bot under examination.

    `heard` gets its answers in matches; the handshake follows after other calls of Describe with the `requests`.
    """

    def __init__(self, spec: BotSpec, surroundings: Surroundings, heard: Heard, requests: Sequence[bytes] = ()) -> None:
        super().__init__(spec, surroundings, lives=1)
        self.described: list[codec.BotDescription | Exception] = []
        """What it answered to the requests, or how it failed."""
        self._heard = heard
        self._requests = requests

    async def _describe(self, connection: aio.Channel, due: float) -> codec.BotDescription:
        for request in self._requests:
            try:
                metadata = self._metadata(stubs.DESCRIBE)
                self.described.append(await describe(connection, request, DESCRIBE_S, metadata))
            except (HandshakeError, TimeoutError) as error:
                self.described.append(error)
        return await super()._describe(connection, due)

    def ask(self, match: Asker, ask: Ask) -> None:
        question = self.question(match, ask)
        answered = question.answered

        def heard(answer: Answer) -> None:
            self._heard(ask.view, answer)
            answered(answer)

        question.answered = heard
        self.put(question)

    async def try_case(self, case: Case) -> Answer:
        """Put a case from its beginning to its end; where the seat has acted before, the match is under way."""
        self.tell(case.resumed if case.view.seat in case.view.past_seats else case.started)
        answer = await self.decide(case)
        self.tell(case.over)
        return answer

    def decide(self, case: Case, decision: bytes | None = None) -> asyncio.Future[Answer]:
        """Put the decision of a case, or what is sent in its place; the answer may be a fault."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def answered(answer: Answer) -> None:
            if not future.done():  # nobody may wait any more
                future.set_result(answer)

        self.put(Question(case.id, case.match_id, decision or case.decision, BUDGET_MS, answered))
        return future

    async def hang_up(self) -> None:
        """Close the stream as the arena does at the end of a block."""
        self._stopping = True
        if self._channel is not None:
            await self._channel.close()

    async def terminate(self, within_s: float) -> Ending:
        """Ask the process alone to end.  Its keeper, which would end the others too, stands still meanwhile."""
        assert self.process is not None
        self._stopping = True  # a stream that breaks now is no death
        process, keeper = self.process, psutil.Process(self.process.keeper_pid)
        children = process.processes()[1:]
        if children:
            keeper.suspend()
        try:
            if not process.exited.done():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGTERM)
            ended = await _ended(process.pid, within_s)
            left = tuple(_command(child) for child in children if _lives(child)) if ended else ()
        finally:
            if children:
                keeper.resume()
        return Ending(await process.exited if ended else None, left)


class Sparring:
    """Sits on the other seats: does anything legal but claim, at once."""

    waives_before_draw = False

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def begin(self, match: MatchRun, seat: int) -> None:
        pass

    def finish(self, match: MatchRun) -> None:
        pass

    def tell(self, event: bytes) -> None:
        pass

    def ask(self, match: MatchRun, ask: Ask) -> None:
        actions = actions_of(ask.view.legal & ~(1 << CLAIM))
        asyncio.get_running_loop().call_soon(match.answered, Reply(self._rng.choice(actions), 0.0))

    def last_words(self, fault: Fault) -> str:
        return ""

    def last_id(self, match: MatchRun) -> int:
        return 0


async def _ended(pid: int, within_s: float) -> bool:
    """Whether the process ends in time."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        deadline = time.monotonic() + within_s
        while _lives(process):
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(_LOOK_S)
    return True


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline()) or process.name()
    except psutil.Error:
        return f"process {process.pid}"
