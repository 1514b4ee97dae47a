"""Plays in this process: real bot processes beside it, fresh ones for each block, one for each seat.

Partners never share a process, even where both seats are of one participant: each is shown its own cards only.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from arena.app.data import BUILDS, default_data
from arena.app.engines.room import Room
from arena.bots.bot import Bot, BotFailed, Surroundings, start_all
from arena.bots.build import BUILD_S, Builds
from arena.bots.driver import Consultation, MatchOrder, MatchRun
from arena.bots.launcher import arena_marker
from arena.bots.manifest import BotSpec
from arena.bots.sandbox import LIMITS_ONLY, Sandbox
from arena.bots.stopwatch import Stopwatch
from arena.cards import Card
from arena.errors import UnfitBot
from arena.game.game import Game
from arena.game.rules import Rules
from arena.match.clock import TimeControl
from arena.match.lag import Lag
from arena.match.record import MatchRecord
from arena.match.referee import Ask, FaultRuled, NoReply, Opening, Reply, Tell
from arena.match.rulings import Fault
from arena.match.summary import MatchKey
from arena.tournament import decks
from arena.tournament.config import TournamentConfig
from arena.tournament.runner import Played, Task


@dataclass(frozen=True, slots=True)
class Building:
    """What the organiser says of builds."""

    folder: Path = field(default_factory=lambda: default_data() / BUILDS)
    """Where they are kept."""
    network: bool = False
    """Whether those that ask for the network may have it."""
    limit_s: float = BUILD_S
    told: Callable[[str], None] = lambda name: None
    """Hears the name of a bot whose build begins."""

    @classmethod
    def of(cls, config: TournamentConfig, data: Path, told: Callable[[str], None]) -> Building:
        """As the config says, for a run with that data folder."""
        return cls(data / BUILDS, config.allow_build_network, config.build_s, told)

    def builds(self, sandbox: Sandbox, marker: str) -> Builds:
        """The builds of an arena process with that marker."""
        return Builds(self.folder, sandbox, marker, network=self.network, told=self.told, limit_s=self.limit_s)


@dataclass(frozen=True, slots=True)
class Setting:
    """What the matches of a run have in common."""

    rules: Rules
    rules_name: str
    time: TimeControl
    start_s: float
    isolate_matches: bool = False
    """A process of its own for every match instead of one for every block."""
    sandbox: Sandbox = LIMITS_ONLY
    building: Building = field(default_factory=Building)


@dataclass(frozen=True, slots=True)
class Job:
    """What an engine elsewhere is given of a run, whatever it plays of it; it travels."""

    setting: Setting
    specs: Mapping[str, BotSpec]
    run: str
    """What the markers of its bots begin with."""
    logs: Path


class LocalEngine:
    """Plays tasks with local (and remote) bots.  Use it as an async context manager: `local_engine`."""

    def __init__(
        self,
        setting: Setting,
        specs: Mapping[str, BotSpec],
        secrets: Mapping[int, bytes],
        surroundings: Surroundings,
        room: Room,
    ) -> None:
        self._setting = setting
        self._specs = specs
        self._secrets = secrets
        self._around = surroundings
        self._room = room
        self._game = Game(setting.rules)

    @property
    def lag(self) -> Lag:
        """How late the arena has been so far."""
        return self._around.stopwatch.lag

    @property
    def overloaded(self) -> bool:
        """Whether the machine cannot keep up."""
        return self._around.stopwatch.load.overloaded

    async def preflight(self, names: Iterable[str], seats: int = 1) -> dict[str, BotFailed]:
        """Start these bots once, a few at a time; returns the failures by name.

        `seats` is how many of a match each bot will have: so many streams a remote one must take.
        """
        failures: dict[str, BotFailed] = {}
        gate = asyncio.Semaphore(4)

        async def try_out(name: str) -> None:
            async with gate:
                bot = self.new_bot(name)
                async with self._room.taken([bot.spec]):
                    try:
                        failures.update(await start_all({name: bot}))
                    finally:
                        await _stop((bot,))
                if bot.spec.address is None or bot.description is None:
                    return
                streams = bot.description.streams
                self._room.learn(bot.spec.address, streams)
                if streams < seats:
                    few = f"it takes {streams} of the {seats} streams that its seats need; raise streams in its serve"
                    failures.setdefault(name, BotFailed(Fault.REFUSED, few))

        try:
            async with asyncio.TaskGroup() as group:  # whatever fails, nothing is starting any more afterwards
                for name in names:
                    group.create_task(try_out(name))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return failures

    async def play(self, task: Task, report: Callable[[Played], None]) -> None:
        """Play the task's matches, once there is room for them."""
        async with self._room.taken(self._specs[name] for name in task.block.seats):
            await self.play_now(task, report)

    async def play_now(self, task: Task, report: Callable[[Played], None]) -> None:
        """Play the task's matches, all at once in one process for each seat; whoever asks has seen to the room."""
        if self._setting.isolate_matches:
            for item in task.keys:
                await self._play_together(task, (item,), report)
        else:
            await self._play_together(task, task.keys, report)

    async def _play_together(
        self, task: Task, keys: Sequence[tuple[int, MatchKey]], report: Callable[[Played], None]
    ) -> None:
        block = task.block
        bots = self._seated(block.seats)
        try:
            for place, failure in (await start_all(bots)).items():
                bots[place].give_up(failure)
            all_done = asyncio.get_running_loop().create_future()

            identities: dict[MatchRun, tuple[int, MatchKey]] = {}

            def done(run: MatchRun, record: MatchRecord) -> None:
                position, key = identities.pop(run)
                report(Played(position, key, block.seats, block.mirrored, record, task.attempt))
                if not identities and not all_done.done():  # an answer may still come while a stopped block ends
                    all_done.set_result(None)

            for position, key in keys:
                order = self.order(key, block.seats, block.mirrored)
                identities[MatchRun(self._game, order, bots, self._setting.time, done)] = (position, key)
            runs = list(identities)
            for run in runs:
                run.start()
            await all_done
        finally:
            await _stop(bots.values())

    async def play_one(
        self,
        order: MatchOrder,
        seats: Sequence[str],
        observer: Callable[[Ask | Tell], None] | None,
        opening: Opening | None = None,
    ) -> MatchRecord:
        """Play a single match (or on from an opening) of bots that must start.

        Raises `UsageError` with what a bot said last.
        """
        async with self._started(self._seated(seats)) as bots:
            finished: asyncio.Future[MatchRecord] = asyncio.get_running_loop().create_future()
            MatchRun(
                self._game,
                order,
                bots,
                self._setting.time,
                lambda _, record: finished.set_result(record),
                observer,
                opening,
            ).start()
            return await finished

    async def consult(
        self, order: MatchOrder, name: str, opening: Opening
    ) -> tuple[Reply | NoReply, FaultRuled | None]:
        """Put the question at an opening to a bot; returns its answer, and the fault if that is one.

        Raises as `play_one`.
        """
        async with self._started({name: self.new_bot(name)}) as bots:
            consultation = Consultation(self._game, order, self._setting.time, opening)
            consultation.put(bots[name])
            return await consultation.answer

    @contextlib.asynccontextmanager
    async def _started(self, bots: Mapping[str, Bot]) -> AsyncIterator[Mapping[str, Bot]]:
        """Bots that run inside, and that all must start."""
        try:
            for place, failure in (await start_all(bots)).items():
                raise UnfitBot(f"bot {bots[place].spec.name!r} cannot play: {failure.evidence}")
            yield bots
        finally:
            await _stop(bots.values())

    def order(self, key: MatchKey, seats: tuple[str, ...], mirrored: bool) -> MatchOrder:
        """What a match is played with: a pure function of the secret and the match's identity."""
        secret = self._secrets[key.epoch]
        cards: tuple[Card, ...] = self._game.cards
        list_id = decks.list_id(key.pairing, key.leg, key.number, mirrored)
        match_id = decks.match_id(secret, key)
        return MatchOrder(
            match_id=match_id,
            seats=_places(seats),
            deck_of=lambda number: _deck(secret, list_id, number, cards),
            bot_seeds=tuple(decks.bot_seed(secret, match_id, seat) for seat in range(len(seats))),
        )

    def new_bot(self, name: str) -> Bot:
        """A participant, not yet started."""
        return Bot(self._specs[name], self._around)

    def _seated(self, seats: Sequence[str]) -> dict[str, Bot]:
        """A bot for each seat, not yet started, by its place in the orders of these seats."""
        return {place: self.new_bot(name) for place, name in zip(_places(seats), seats, strict=True)}


async def _stop(bots: Iterable[Bot]) -> None:
    """End them all; who is cancelled meanwhile waits all the same, some seconds at most, for nothing may be left."""
    stopped = asyncio.gather(*(bot.stop() for bot in bots))
    try:
        await asyncio.shield(stopped)
    except asyncio.CancelledError:
        await stopped
        raise


def _places(seats: Sequence[str]) -> tuple[str, ...]:
    """What the seats are called in an order: a participant that has two of them needs two names."""
    return tuple(f"{seat} {name}" for seat, name in enumerate(seats))


@lru_cache(maxsize=1024)
def _deck(secret: bytes, list_id: str, number: int, cards: tuple[Card, ...]) -> tuple[Card, ...]:
    """A deck is dealt in every pairing and leg: worth keeping while the schedule is at its list."""
    return decks.deck(secret, list_id, number, cards)


@contextlib.asynccontextmanager
async def local_engine(
    setting: Setting,
    specs: Mapping[str, BotSpec],
    secrets: Mapping[int, bytes],
    run: str,
    logs: Path,
    *,
    room: Room | None = None,
) -> AsyncIterator[LocalEngine]:
    """An engine with its heartbeat."""
    stopwatch = Stopwatch()
    stopwatch.start()
    marker = arena_marker(run)
    builds = setting.building.builds(setting.sandbox, marker)
    surroundings = Surroundings(
        stopwatch=stopwatch,
        rules=setting.rules,
        rules_name=setting.rules_name,
        logs=logs,
        marker=marker,
        start_s=setting.start_s,
        sandbox=setting.sandbox,
        builds=builds,
    )
    try:
        yield LocalEngine(setting, specs, secrets, surroundings, room or Room())
    finally:
        stopwatch.stop()
        builds.close()
