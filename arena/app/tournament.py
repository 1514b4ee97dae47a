"""The main job: a tournament from its config to its last committed match.

The event loop plays; one thread writes.  A match is reported only after its commit.  What the store holds decides what
is still to be played, so that resuming is the same as beginning.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from arena.app import participants
from arena.app.data import RUNS
from arena.app.data import make as make_data
from arena.app.engines import TournamentEngine
from arena.app.engines.cluster.engine import ClusterEngine, cluster_engine
from arena.app.engines.local import Building, Job, Setting, local_engine
from arena.app.engines.room import Room
from arena.app.engines.workers import workers_engine
from arena.app.epochs import asked_for, grow, has_work, in_reserve, lacks_epoch, open_next, remainder_of
from arena.app.runs import RunOptions, check_fits, check_mirroring, create_run, find, last_interrupted, new_name
from arena.app.sandboxes import chosen
from arena.app.schedules import blocks_of, left_out, missed_lists, schedule_of, schedules_of
from arena.app.show import totals_of
from arena.app.signals import Signals
from arena.app.writer import Writer
from arena.bots.bot import BotFailed
from arena.bots.launcher import sweep
from arena.bots.manifest import BotSpec
from arena.bots.sandbox import Level
from arena.errors import ArenaError, UnfitBot
from arena.game.presets import name_of
from arena.match.absence import NOBODY, Exclusion
from arena.match.lag import Lag
from arena.match.record import Status
from arena.match.summary import MatchSummary
from arena.reports.model import Stopping
from arena.store import (
    Epoch,
    NameTaken,
    Session,
    State,
    Store,
    StoredPlaces,
    Tournament,
    has_store,
    open_queries,
    open_store,
)
from arena.tournament.config import Isolation, OnBrokenBot, TournamentConfig
from arena.tournament.engines import EngineKind
from arena.tournament.pairings import Pairing
from arena.tournament.quarantine import Quarantine
from arena.tournament.runner import Runner, Task, UnderWay, open_tasks
from arena.tournament.schedule import Schedule, seating

MARKER = "arena-run"
"""What the marker of every bot process of every run begins with."""
SAY_AGAIN_S = 30.0
"""How long nothing more is said of an overloaded machine."""

JUDGED_AT_ONCE = 1024
"""After how many stored matches it is seen who is quarantined by them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is going to be played: for the header and the dry run."""

    name: str
    config: TournamentConfig
    specs: Mapping[str, BotSpec]
    schedules: tuple[Schedule, ...]
    """One an epoch."""
    commitments: Mapping[int, str]
    """By epoch, without those that follow from an earlier one; empty in a dry run of what has not begun."""
    seed: str | None
    sandbox: str
    """The level at which local bots are held."""
    finished: int
    """Matches that the store has already."""
    left_out: int = 0
    """Matches that are not played, since somebody is out."""
    in_reserve: int = 0
    """Matches that a stop rule's budget still has for later epochs."""
    interrupted: str | None = None
    """An earlier run of this file that was stopped early, where a new one begins."""

    @property
    def matches(self) -> int:
        """Matches of all epochs, but for those that are left out."""
        return sum(schedule.match_count for schedule in self.schedules) - self.left_out

    @property
    def most(self) -> int:
        """Matches if a stop rule's budget is spent."""
        return self.matches + self.in_reserve


@dataclass(frozen=True, slots=True)
class Finished:
    """How a run ended."""

    name: str
    complete: bool
    """The whole schedule has been played."""
    void: int
    """Matches that the arena failed to play."""
    secrets: Mapping[int, bytes]
    """Those that were revealed by epoch, without those that follow from an earlier one; empty until it is complete."""
    lag: Lag
    """Of this session."""


class Listener(Protocol):
    """Who watches a run; called on the event loop's thread."""

    def planned(self, plan: Plan) -> None:
        """Before the first deal."""

    def extended(self, stopping: Stopping, plan: Plan) -> None:
        """All was played, but the stop rule asks for more: how far it is, and the plan with another epoch."""

    def committed(self, summaries: Sequence[MatchSummary]) -> None:
        """Matches that have just become durable."""

    def quarantined(self, entries: Sequence[Exclusion], plan: Plan) -> None:
        """Who plays no more from now on, and what is left of the plan."""

    def building(self, name: str) -> None:
        """The build of a bot begins."""

    def noted(self, sentence: str) -> None:
        """What other machines have to say; it may quote foreign text."""

    def broken(self, name: str, failure: str) -> None:
        """A bot that does not start will lose its matches."""

    def draining(self, under_way: int) -> None:
        """Nothing more is started; blocks under way finish."""

    def looked(self, lag: Lag, under_way: Sequence[UnderWay]) -> None:
        """How late the arena has been so far, and what is being played; every second."""

    def overloaded(self, lag: Lag) -> None:
        """The machine cannot keep up, and no further block is started for now; at most every `SAY_AGAIN_S` seconds."""


def dry_run(options: RunOptions) -> tuple[Plan, Iterator[Task]]:
    """What `run_tournament` would play, and in which order; no bot is started and nothing is written."""
    config = options.load()
    specs = participants.of_config(config)
    level = chosen(config.sandbox, str(config.path), specs, options.archive.folder).level
    found, interrupted = None, None
    epochs: tuple[Epoch, ...] = ()
    finished = StoredPlaces()
    absences = NOBODY
    counted = 0
    remainder: Mapping[Pairing, int] = {}
    if options.resume is not None or has_store(options.archive.store):
        with open_queries(options.archive.store) as queries:
            if options.resume is None:
                interrupted = last_interrupted(queries, config)
            else:
                found = find(queries, options, config)
                check_fits(queries, found, options, config, specs)
                epochs = queries.epochs(found)
                check_mirroring(epochs, found, config, specs, level)
                finished = queries.stored(found)
                absences = queries.absences(found)
                counted = sum(queries.counts(found).values())
                remainder = remainder_of(queries, found, config, specs)
    schedules = schedules_of(epochs)
    if remainder or lacks_epoch(epochs, absences, config, specs):
        untrusted = participants.untrusted(specs, config.trust_bots, level)
        previous = schedules[-1] if schedules else None
        missed = missed_lists(schedules, absences)
        schedules += (schedule_of(config.identity(), tuple(specs), untrusted, previous, missed, remainder),)
    plan = Plan(
        name=found.name if found else options.name or f"{config.name}-N",  # which number is free is known at the start
        config=config,
        specs=specs,
        schedules=schedules,
        commitments={epoch.number: epoch.commitment for epoch in epochs if not epoch.derived},
        seed=found.about.get("seed") if found else options.seed,
        sandbox=str(level),
        finished=counted,
        left_out=left_out(schedules, absences),
        in_reserve=in_reserve(config, schedules, absences),
        interrupted=interrupted,
    )
    return plan, open_tasks(blocks_of(schedules), finished, absences.leave_out)


async def run_tournament(options: RunOptions, listener: Listener) -> Finished:
    """Play what is still to be played.  Raises `UsageError` for anything that the user can mend.

    The first SIGINT drains; the second, a SIGTERM or the end of the terminal stops at once: nothing that was committed
    is lost.
    """
    config = options.load()
    specs = participants.of_config(config)
    sweep(MARKER)
    make_data(options.archive.folder)
    with open_store(options.archive.store) as store, Signals(listener.draining) as signals:
        while True:
            try:
                return await _run(store, options, config, specs, listener, signals)
            except NameTaken:  # by an arena that began at the same moment
                if options.name is not None:
                    raise
            except asyncio.CancelledError:
                if signals.stopped:
                    raise KeyboardInterrupt from None
                raise


async def _run(
    store: Store,
    options: RunOptions,
    config: TournamentConfig,
    specs: Mapping[str, BotSpec],
    listener: Listener,
    signals: Signals,
) -> Finished:
    """Nothing is entered into the store before every bot has shown that it can play."""
    found = None if options.resume is None else find(store, options, config)
    interrupted = last_interrupted(store, config) if found is None else None
    name = new_name(store, options, config) if found is None else found.name
    sandbox = await asyncio.to_thread(chosen, config.sandbox, str(config.path), specs, options.archive.folder)
    setting = Setting(
        rules=config.rules,
        rules_name=name_of(config.rules),
        time=config.clock,
        start_s=config.start_ms / 1000,
        isolate_matches=config.isolation is Isolation.MATCH,
        sandbox=sandbox,
        building=Building.of(config, options.archive.folder, listener.building),
    )
    secrets: dict[int, bytes] = {}
    job = Job(setting, specs, MARKER, options.archive.folder / RUNS / name / "logs")
    with contextlib.ExitStack() as locks:
        if found is not None:
            locks.enter_context(store.lock(found))
            check_fits(store, found, options, config, specs)
            check_mirroring(store.epochs(found), found, config, specs, sandbox.level)
        async with _engine(config, job, secrets, listener) as engine:
            if isinstance(engine, ClusterEngine):
                config = replace(config, jobs=engine.jobs)
            if found is None or has_work(store, found, config, specs):
                out = store.absences(found).out if found is not None else {}
                playing = [name for name in specs if name not in out]
                failures = await engine.preflight(playing, config.seats_each)
                _judge_preflight(options, config, failures, listener)
            tournament = found or create_run(store, name, options, config, specs, sandbox.level)
            if found is None:
                locks.enter_context(store.lock(tournament))
            grow(store, tournament, config, specs, sandbox.level)
            play = _Play(
                store=store,
                tournament=tournament,
                config=config,
                specs=specs,
                level=sandbox.level,
                interrupted=interrupted,
                engine=engine,
                secrets=secrets,
                listener=listener,
                signals=signals,
            )
            begun = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            watch = asyncio.create_task(_watch(engine, signals, listener))
            try:
                complete = await _until_done_or_stopped(play.to_the_end(), signals)
            finally:
                watch.cancel()
                lag = engine.lag
            if play.had_work:
                store.add_session(tournament, Session(begun, config.jobs, lag))
            if complete:
                for number in sorted(secrets, reverse=True):  # from a secret that is known the next one may follow
                    store.reveal(tournament, number)
            store.set_state(tournament, State.FINISHED if complete else State.INTERRUPTED)
            return Finished(
                name=name,
                complete=complete,
                void=store.counts(tournament).get(Status.VOID, 0),
                secrets={
                    epoch.number: epoch.secret
                    for epoch in store.epochs(tournament)
                    if epoch.secret and not epoch.derived
                },
                lag=lag,
            )


@contextlib.asynccontextmanager
async def _engine(
    config: TournamentConfig, job: Job, secrets: Mapping[int, bytes], listener: Listener
) -> AsyncIterator[TournamentEngine]:
    """The engine that the config asks for; a single worker is this process."""
    room = Room(config.cores)
    if config.engine is EngineKind.RAY:
        schedule = schedule_of(config.identity(), tuple(job.specs), frozenset(), None, {}, {})
        seatings = (seating(each, 0, schedule.sides, schedule.seats) for each in schedule.pairings())
        async with cluster_engine(config.ray_address, job, secrets, seatings, listener.noted) as cluster:
            yield cluster
    elif config.processes == 1:
        async with local_engine(job.setting, job.specs, secrets, job.run, job.logs, room=room) as local:
            yield local
    else:
        async with workers_engine(config.processes, job, secrets, room) as workers:
            yield workers


@dataclass(slots=True)
class _Play:
    """A run while it is played: all that its epochs have open, and then the epochs that its stop rule asks for."""

    store: Store
    tournament: Tournament
    config: TournamentConfig
    specs: Mapping[str, BotSpec]
    level: Level
    interrupted: str | None
    """An earlier run of the file that was stopped early."""
    engine: TournamentEngine
    secrets: dict[int, bytes]
    """By epoch; the engine deals from them."""
    listener: Listener
    signals: Signals
    had_work: bool = False
    """Whether there was anything to play."""

    async def to_the_end(self) -> bool:
        """Returns False if it was drained before."""
        stopping: Stopping | None = None
        while True:
            epochs = self.store.epochs(self.tournament)
            self.secrets.update((each.number, self.store.secret_of(self.tournament, each.number)) for each in epochs)
            runner = await self._play(epochs, stopping)
            if runner is None or self.config.stop is None:
                return runner is not None
            stopping, further = await asyncio.to_thread(asked_for, self.store, self.tournament, self.config.stop)
            if not further:
                return True
            if runner.draining:
                return False
            open_next(self.store, self.tournament, self.config, self.specs, self.level, further)

    async def _play(self, epochs: Sequence[Epoch], stopping: Stopping | None) -> Runner | None:
        """Play what is open; `stopping` is why there is another epoch.  None if it was drained before."""
        store, tournament, listener = self.store, self.tournament, self.listener
        schedules = schedules_of(epochs)
        quarantine = _judged(store, tournament, self.config, schedules)

        def plan() -> Plan:
            return Plan(
                name=tournament.name,
                config=self.config,
                specs=self.specs,
                schedules=schedules,
                commitments={epoch.number: epoch.commitment for epoch in epochs if not epoch.derived},
                seed=tournament.about.get("seed"),
                sandbox=str(self.level),
                finished=sum(store.counts(tournament).values()),
                left_out=left_out(schedules, quarantine.absences),
                in_reserve=in_reserve(self.config, schedules, quarantine.absences),
                interrupted=self.interrupted,
            )

        def told(summaries: Sequence[MatchSummary], quarantined: Sequence[Exclusion]) -> None:
            if summaries:
                listener.committed(summaries)
            if quarantined:
                listener.quarantined(quarantined, plan())

        begun = plan()
        self.had_work |= begun.finished < begun.matches
        if stopping is None:
            listener.planned(begun)
        else:
            listener.extended(stopping, begun)
        tasks = open_tasks(
            blocks_of(schedules),
            store.stored(tournament),
            lambda key, position: quarantine.absences.leave_out(key, position),
        )
        totals = None if quarantine.absences.log else totals_of(store, tournament)
        with Writer(store, tournament, self.config.rules, quarantine, totals, told) as writer:
            engine = self.engine
            runner = Runner(tasks, engine, writer.record, self.config.jobs, lambda: engine.overloaded)
            self.signals.runner = runner
            store.set_state(tournament, State.RUNNING)
            return runner if await runner.run() else None


async def _watch(engine: TournamentEngine, signals: Signals, listener: Listener) -> None:
    """Say how it goes, and when the machine is overloaded: as soon as it is, and then not too often."""
    clock = asyncio.get_running_loop().time
    silent_until = clock()
    while True:
        listener.looked(engine.lag, signals.runner.under_way if signals.runner else ())
        if engine.overloaded and clock() >= silent_until:
            listener.overloaded(engine.lag)
            silent_until = clock() + SAY_AGAIN_S
        await asyncio.sleep(1.0)


async def _until_done_or_stopped(playing: Coroutine[Any, Any, bool], signals: Signals) -> bool:
    """Play to the end; False if a signal ended it early."""
    try:
        return await playing
    except asyncio.CancelledError:
        if not signals.stopped:
            raise
        return False
    except BaseExceptionGroup as group:
        raise _first_of(group) from None
    finally:
        signals.runner = None


def _judged(
    store: Store, tournament: Tournament, config: TournamentConfig, schedules: Sequence[Schedule]
) -> Quarantine:
    """Who is out, as far as the store's matches say; whoever was let in again may be out anew."""
    quarantine = Quarantine(blocks_of(schedules) if config.quarantine else (), store.absences(tournament))
    quarantined: list[Exclusion] = []
    for number, (key, forfeiters) in enumerate(store.forfeiters(tournament)):
        quarantine.add(key, forfeiters)
        if number % JUDGED_AT_ONCE == 0:
            quarantined += quarantine.judge()
    quarantined += quarantine.judge()
    if quarantined:
        store.record(tournament, (), quarantined)
    return quarantine


def _first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error that made the others: one of the arena's own before any other."""
    leaves: list[BaseException] = []

    def walk(error: BaseException) -> None:
        if isinstance(error, BaseExceptionGroup):
            for inner in error.exceptions:
                walk(inner)
        else:
            leaves.append(error)

    walk(group)
    return next((leaf for leaf in leaves if isinstance(leaf, ArenaError)), leaves[0])


def _judge_preflight(
    options: RunOptions, config: TournamentConfig, failures: Mapping[str, BotFailed], listener: Listener
) -> None:
    if failures and config.on_broken_bot is OnBrokenBot.STOP:
        lines = [f"bot {name!r} cannot play: {failure.evidence}" for name, failure in failures.items()]
        if isinstance(options.config, Path):
            lines.append('mend it, or set on_broken_bot = "walkover" to let it lose its matches')
        raise UnfitBot("\n".join(lines))
    for name, failure in failures.items():
        listener.broken(name, failure.evidence)
