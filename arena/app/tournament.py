"""The main job: a tournament from its config to its last committed match.

The event loop plays; one thread writes.  A match is reported only after its commit.  What the store holds decides what
is still to be played, so that resuming is the same as beginning.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import itertools
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from arena.app import participants
from arena.app.data import RUNS, STORE
from arena.app.data import make as make_data
from arena.app.engines.local import Building, Setting, local_engine
from arena.app.sandboxes import chosen, why_not
from arena.app.schedules import blocks_of, left_out, missed_lists, schedule_of, schedules_of
from arena.app.writer import Writer
from arena.bots.bot import BotFailed
from arena.bots.launcher import sweep
from arena.bots.manifest import BotSpec
from arena.bots.sandbox import Level
from arena.bots.stopwatch import Stopwatch
from arena.errors import ArenaError, UsageError
from arena.game.presets import name_of
from arena.match.absence import NOBODY, Absences, Exclusion
from arena.match.lag import Lag
from arena.match.record import Status
from arena.match.summary import MatchSummary
from arena.store import (
    Epoch,
    FinishedKeys,
    Participant,
    Queries,
    Session,
    State,
    Store,
    Tournament,
    open_queries,
    open_store,
)
from arena.store.queries import LAST
from arena.tournament import decks
from arena.tournament.config import (
    Isolation,
    OnBrokenBot,
    TournamentConfig,
    check_run_name,
    differences,
    load_config,
)
from arena.tournament.pairings import Pairing
from arena.tournament.quarantine import Quarantine
from arena.tournament.runner import Runner, Task, open_tasks
from arena.tournament.schedule import Schedule

MARKER = "arena-run"
"""What the marker of every bot process of every run begins with."""
SAY_AGAIN_S = 30.0
"""How long nothing more is said of an overloaded machine."""

JUDGED_AT_ONCE = 1024
"""After how many stored matches it is seen who is quarantined by them."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the command line says."""

    config: Path | TournamentConfig
    """A tournament's file; or what was never in one, and is not gone on with."""
    data: Path
    """The folder of the store and of the runs' logs."""
    name: str | None = None
    """The run's name; None: the config's name and the next free number."""
    seed: str | None = None
    """Makes the run a rehearsal whose decks anyone can predict; it never counts in careers."""
    resume: str | None = None
    """The run to go on with; `last` is the newest run of this config."""
    jobs: int | None = None
    no_timeouts: bool = False
    """No clock runs, and the run is not rated."""
    allow_build_network: bool = False
    """Builds that ask for the network may have it, whatever the config says."""

    def load(self) -> TournamentConfig:
        """The config, as the command line changes it."""
        config = load_config(self.config) if isinstance(self.config, Path) else self.config
        if self.allow_build_network:
            config = replace(config, allow_build_network=True)
        if self.no_timeouts:
            config = replace(config, clock=replace(config.clock, limit_ms=0), rated=False)
        return config


@dataclass(frozen=True, slots=True)
class Plan:
    """What is going to be played: for the header and the dry run."""

    name: str
    config: TournamentConfig
    specs: Mapping[str, BotSpec]
    schedules: tuple[Schedule, ...]
    """One an epoch."""
    commitments: tuple[str, ...]
    """Of the epochs' secrets; empty in a dry run."""
    seed: str | None
    jobs: int
    sandbox: str
    """The level at which local bots are held."""
    finished: int
    """Matches that the store has already."""
    left_out: int = 0
    """Matches that are not played, since somebody is out."""
    interrupted: str | None = None
    """An earlier run of this file that was stopped early, where a new one begins."""

    @property
    def matches(self) -> int:
        """Matches of all epochs, but for those that are left out."""
        return sum(schedule.match_count for schedule in self.schedules) - self.left_out


@dataclass(frozen=True, slots=True)
class Finished:
    """How a run ended."""

    name: str
    complete: bool
    """The whole schedule has been played."""
    void: int
    """Matches that the arena failed to play."""
    secrets: tuple[bytes, ...]
    """The revealed secrets by epoch; empty until the run is complete."""
    lag: Lag
    """Of this session."""


class Listener(Protocol):
    """Who watches a run; called on the event loop's thread."""

    def planned(self, plan: Plan) -> None:
        """Before the first deal."""

    def committed(self, summaries: Sequence[MatchSummary]) -> None:
        """Matches that have just become durable."""

    def quarantined(self, entries: Sequence[Exclusion], plan: Plan) -> None:
        """Who plays no more from now on, and what is left of the plan."""

    def building(self, name: str) -> None:
        """The build of a bot begins."""

    def broken(self, name: str, failure: str) -> None:
        """A bot that does not start will lose its matches."""

    def draining(self, under_way: int) -> None:
        """Nothing more is started; blocks under way finish."""

    def overloaded(self, lag: Lag) -> None:
        """The machine cannot keep up, and no further block is started for now; at most every `SAY_AGAIN_S` seconds."""


def dry_run(options: RunOptions) -> tuple[Plan, Iterator[Task]]:
    """What `run_tournament` would play, and in which order; no bot is started and nothing is written."""
    config = options.load()
    specs = participants.of_config(config)
    level = chosen(config.sandbox, str(config.path), specs, options.data).level
    found, interrupted = None, None
    epochs: tuple[Epoch, ...] = ()
    finished = FinishedKeys()
    absences = NOBODY
    counted = 0
    if options.resume is not None or (options.data / STORE).exists():
        with open_queries(options.data / STORE) as queries:
            if options.resume is None:
                interrupted = _interrupted(queries, config)
            else:
                found = _find(queries, options, config)
                _check_fits(queries, found, options, config, specs)
                epochs = queries.epochs(found)
                _check_mirroring(epochs, found, config, specs, level)
                finished = queries.finished_keys(found)
                absences = queries.absences(found)
                counted = sum(queries.counts(found).values())
    schedules = schedules_of(epochs)
    if _lacks_epoch(epochs, absences, config, specs):
        untrusted = participants.untrusted(specs, config.trust_bots, level)
        previous = schedules[-1] if schedules else None
        missed = missed_lists(schedules, absences)
        schedules += (schedule_of(config.identity(), tuple(specs), untrusted, previous=previous, missed=missed),)
    plan = Plan(
        name=found.name if found else options.name or f"{config.name}-N",  # which number is free is known at the start
        config=config,
        specs=specs,
        schedules=schedules,
        commitments=tuple(epoch.commitment for epoch in epochs),
        seed=found.about.get("seed") if found else options.seed,
        jobs=options.jobs or config.jobs,
        sandbox=str(level),
        finished=counted,
        left_out=left_out(schedules, absences),
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
    make_data(options.data)
    with open_store(options.data / STORE) as store, _Signals(listener) as signals:
        try:
            return await _run(store, options, config, specs, listener, signals)
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
    signals: _Signals,
) -> Finished:
    """Nothing is entered into the store before every bot has shown that it can play."""
    found = None if options.resume is None else _find(store, options, config)
    interrupted = _interrupted(store, config) if found is None else None
    name = _new_name(store, options, config) if found is None else found.name
    sandbox = await asyncio.to_thread(chosen, config.sandbox, str(config.path), specs, options.data)
    setting = Setting(
        rules=config.rules,
        rules_name=name_of(config.rules),
        time=config.clock,
        start_s=config.start_ms / 1000,
        isolate_matches=config.isolation is Isolation.MATCH,
        sandbox=sandbox,
        building=Building.of(config, options.data, listener.building),
    )
    secrets: dict[int, bytes] = {}
    logs = options.data / RUNS / name / "logs"
    with contextlib.ExitStack() as locks:
        if found is not None:
            locks.enter_context(store.lock(found))
            _check_fits(store, found, options, config, specs)
            _check_mirroring(store.epochs(found), found, config, specs, sandbox.level)
        async with local_engine(setting, specs, secrets, MARKER, logs) as engine:
            if found is None or _has_work(store, found, config, specs):
                out = store.absences(found).out if found is not None else {}
                playing = [name for name in specs if name not in out]
                failures = await engine.preflight(playing, config.seats_each)
                _judge_preflight(options, config, failures, listener)
            tournament = found or create_run(store, name, options, config, specs, sandbox.level)
            if found is None:
                locks.enter_context(store.lock(tournament))
            grow(store, tournament, config, specs, sandbox.level)
            epochs = store.epochs(tournament)
            secrets.update((epoch.number, store.secret_of(tournament, epoch.number)) for epoch in epochs)
            schedules = schedules_of(epochs)
            quarantine = _judged(store, tournament, config, schedules)
            plan = Plan(
                name=name,
                config=config,
                specs=specs,
                schedules=schedules,
                commitments=tuple(epoch.commitment for epoch in epochs),
                seed=tournament.about.get("seed"),
                jobs=options.jobs or config.jobs,
                sandbox=str(sandbox.level),
                finished=sum(store.counts(tournament).values()),
                left_out=left_out(schedules, quarantine.absences),
                interrupted=interrupted,
            )
            listener.planned(plan)

            def told(summaries: Sequence[MatchSummary], quarantined: Sequence[Exclusion]) -> None:
                if summaries:
                    listener.committed(summaries)
                if quarantined:
                    so_far = sum(store.counts(tournament).values())
                    gone = left_out(schedules, quarantine.absences)
                    listener.quarantined(quarantined, replace(plan, finished=so_far, left_out=gone))

            tasks = open_tasks(
                blocks_of(schedules),
                store.finished_keys(tournament),
                lambda key, position: quarantine.absences.leave_out(key, position),
            )
            with Writer(store, tournament, config.rules, quarantine, told) as writer:
                load = engine.stopwatch.load
                runner = Runner(tasks, engine, writer.record, plan.jobs, lambda: load.overloaded)
                store.set_state(tournament, State.RUNNING)
                begun = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
                watch = asyncio.create_task(_watch_load(engine.stopwatch, listener))
                try:
                    complete = await _until_done_or_stopped(runner, signals)
                finally:
                    watch.cancel()
                    lag = engine.stopwatch.lag
            if plan.finished < plan.matches:
                store.add_session(tournament, Session(begun, plan.jobs, lag))
            if complete:
                for epoch in epochs:
                    store.reveal(tournament, epoch.number)
            store.set_state(tournament, State.FINISHED if complete else State.INTERRUPTED)
            return Finished(
                name=name,
                complete=complete,
                void=store.counts(tournament).get(Status.VOID, 0),
                secrets=tuple(secrets[epoch.number] for epoch in epochs) if complete else (),
                lag=lag,
            )


async def _watch_load(stopwatch: Stopwatch, listener: Listener) -> None:
    """Say when the machine is overloaded: as soon as it is, and then not too often."""
    while True:
        if stopwatch.load.overloaded:
            listener.overloaded(stopwatch.lag)
            await asyncio.sleep(SAY_AGAIN_S)
        await asyncio.sleep(1.0)


_STOPS = (signal.SIGTERM, signal.SIGHUP)


class _Signals:
    """The first SIGINT drains, a second one or one of `_STOPS` cancels; before there is a runner, any of them does."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None
        self._run = task
        self.runner: Runner | None = None
        self.stopped = False

    def __enter__(self) -> _Signals:
        self._loop.add_signal_handler(signal.SIGINT, self._interrupt)
        for stop in _STOPS:
            if signal.getsignal(stop) is not signal.SIG_IGN:  # as nohup wants it
                self._loop.add_signal_handler(stop, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        for handled in (signal.SIGINT, *_STOPS):
            self._loop.remove_signal_handler(handled)

    def _interrupt(self) -> None:
        if self.runner is None or self.runner.draining:
            self._stop()
        else:
            self.runner.drain()
            self._listener.draining(self.runner.under_way)

    def _stop(self) -> None:
        if not self.stopped:  # once: the bots are being ended already
            self.stopped = True
            self._run.cancel()


async def _until_done_or_stopped(runner: Runner, signals: _Signals) -> bool:
    """Run to the end; False if a signal ended it early."""
    signals.runner = runner
    try:
        return await runner.run()
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


# -- finding and making the run --------------------------------------------------------------------------------------


def _new_name(store: Store, options: RunOptions, config: TournamentConfig) -> str:
    taken = {tally.tournament.name for tally in store.tournaments()}
    if options.name is None:
        return next(free for number in itertools.count(1) if (free := f"{config.name}-{number}") not in taken)
    check_run_name(options.name)
    if options.name in taken:
        raise UsageError(
            f"there is a run {options.name!r} in {options.data} already: "
            f"go on with it by --resume {options.name}, or choose another name"
        )
    return options.name


def create_run(
    store: Store,
    name: str,
    options: RunOptions,
    config: TournamentConfig,
    specs: Mapping[str, BotSpec],
    level: Level,
) -> Tournament:
    """Enter a run and its participants; it has no epoch yet."""
    rehearsal = options.seed is not None
    return store.create_tournament(
        name,
        config=config.identity(),
        rules=config.rules.options(),
        participants=[_participant(spec) for spec in specs.values()],
        rated=config.rated and not rehearsal,
        created=datetime.datetime.now(datetime.UTC),
        about={
            "title": config.title,
            "rules_name": config.rules_name,
            "sandbox": str(level),
            **({"file": config.name} if isinstance(options.config, Path) else {"play": True}),
            **({"seed": options.seed} if rehearsal else {}),
        },
    )


def _find(store: Queries, options: RunOptions, config: TournamentConfig) -> Tournament:
    if options.resume != LAST:
        assert options.resume is not None
        return store.tournament(options.resume)
    mine = _runs_of(store, config)
    if not mine:
        raise UsageError(f"there is no run of {config.path} in {options.data} to resume: start one without --resume")
    return mine[-1]


def _interrupted(store: Queries, config: TournamentConfig) -> str | None:
    """The name of the newest run of this file, if it was stopped early."""
    mine = _runs_of(store, config)
    return mine[-1].name if mine and mine[-1].state is State.INTERRUPTED else None


def _runs_of(store: Queries, config: TournamentConfig) -> list[Tournament]:
    return [tally.tournament for tally in store.tournaments() if tally.tournament.about.get("file") == config.name]


def _check_fits(
    store: Queries,
    tournament: Tournament,
    options: RunOptions,
    config: TournamentConfig,
    specs: Mapping[str, BotSpec],
) -> None:
    """Raise `UsageError` with every difference that keeps the run from going on: only pairs and bots may be added."""
    epochs = store.epochs(tournament)
    identity = epochs[-1].config["identity"] if epochs else tournament.config
    changed = differences(identity, config.identity())
    known = {participant.name: participant for participant in store.participants(tournament)}
    for name, spec in specs.items():
        if name in known and known[name].digest != spec.digest:
            changed.append(
                f"the bot {name!r} has changed since the run began; a new version takes part under a new name"
            )
    seed = tournament.about.get("seed")
    if options.seed is not None and options.seed != seed:
        changed.append(f"the seed was {seed or 'not set'}, is now {options.seed}")
    if changed:
        raise UsageError(
            f"{config.path} no longer fits run {tournament.name!r}:\n  "
            + "\n  ".join(changed)
            + "\nundo this, or start a new run without --resume"
        )


def _check_mirroring(
    epochs: Sequence[Epoch],
    tournament: Tournament,
    config: TournamentConfig,
    specs: Mapping[str, BotSpec],
    level: Level,
) -> None:
    """Raise `UsageError` if bots that could now remember a deck are to play lists that were mirrored for them."""
    if not epochs:
        return
    forgetful = set(epochs[-1].participants) - set(epochs[-1].config["untrusted"])
    if forgetful & participants.untrusted(specs, config.trust_bots, level):
        raise UsageError(
            f"run {tournament.name!r} began in a sandbox of level {tournament.about['sandbox']}, and its lists are "
            f"mirrored; now the level is {level}, in which a bot could remember a deck: {why_not(Level.MEDIUM)}; "
            "see `arena doctor`, or start a new run without --resume"
        )


def _lacks_epoch(
    epochs: Sequence[Epoch], absences: Absences, config: TournamentConfig, specs: Mapping[str, BotSpec]
) -> bool:
    """Whether the run has no epoch yet, or has more to play than its epochs: more pairs, bots, or what was missed."""
    if not epochs:
        return True
    latest = epochs[-1]
    grown = not specs.keys() <= set(latest.participants) or config.pairs > latest.config["identity"]["pairs"]
    return grown or bool(missed_lists(schedules_of(epochs), absences))


def _has_work(store: Store, tournament: Tournament, config: TournamentConfig, specs: Mapping[str, BotSpec]) -> bool:
    epochs, absences = store.epochs(tournament), store.absences(tournament)
    if _lacks_epoch(epochs, absences, config, specs):
        return True
    tasks = open_tasks(blocks_of(schedules_of(epochs)), store.finished_keys(tournament), absences.leave_out)
    return next(tasks, None) is not None


def grow(
    store: Store, tournament: Tournament, config: TournamentConfig, specs: Mapping[str, BotSpec], level: Level
) -> None:
    """Enter who is new and open the epoch that is missing, the first one included.

    Whatever moment an earlier arena was killed at, what it left undone is done here.
    """
    known = {participant.name for participant in store.participants(tournament)}
    if added := [_participant(spec) for name, spec in specs.items() if name not in known]:
        store.add_participants(tournament, added)
    epochs, absences = store.epochs(tournament), store.absences(tournament)
    if _lacks_epoch(epochs, absences, config, specs):
        missed = missed_lists(schedules_of(epochs), absences)
        _open_epoch(store, tournament, len(epochs), tournament.about.get("seed"), config, specs, level, missed)


def _open_epoch(
    store: Store,
    tournament: Tournament,
    number: int,
    seed: str | None,
    config: TournamentConfig,
    specs: Mapping[str, BotSpec],
    level: Level,
    missed: Mapping[Pairing, int],
) -> None:
    secret = os.urandom(32) if seed is None else decks.secret_from_seed(seed, number)
    untrusted = participants.untrusted(specs, config.trust_bots, level)
    store.open_epoch(
        tournament,
        number,
        secret,
        decks.commitment(secret),
        config={"identity": config.identity(), "untrusted": sorted(untrusted), "missed": sorted(missed.items())},
    )


def _participant(spec: BotSpec) -> Participant:
    return Participant(
        name=spec.name, version=spec.version, digest=spec.digest, kind=spec.kind.value, author=spec.author
    )


def _judge_preflight(
    options: RunOptions, config: TournamentConfig, failures: Mapping[str, BotFailed], listener: Listener
) -> None:
    if failures and config.on_broken_bot is OnBrokenBot.STOP:
        lines = [f"bot {name!r} cannot play: {failure.evidence}" for name, failure in failures.items()]
        if isinstance(options.config, Path):
            lines.append('mend it, or set on_broken_bot = "walkover" to let it lose its matches')
        raise UsageError("\n".join(lines))
    for name, failure in failures.items():
        listener.broken(name, failure.evidence)
