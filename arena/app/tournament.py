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
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from arena.app import participants
from arena.app.data import RUNS, STORE
from arena.app.data import make as make_data
from arena.app.engines.local import Building, LocalEngine, Setting, local_engine
from arena.app.sandboxes import chosen, why_not
from arena.app.schedules import blocks_of, left_out, missed_lists, schedule_of, schedules_of
from arena.app.show import evidence_of
from arena.app.stopping import ask, lists_left
from arena.app.writer import Writer
from arena.bots.bot import BotFailed
from arena.bots.launcher import sweep
from arena.bots.manifest import BotSpec
from arena.bots.sandbox import Level
from arena.bots.stopwatch import Stopwatch
from arena.errors import ArenaError, UnfitBot, UsageError
from arena.game.presets import name_of
from arena.match.absence import NOBODY, Absences, Exclusion
from arena.match.lag import Lag
from arena.match.record import Status
from arena.match.summary import MatchSummary
from arena.ratings.base import Game
from arena.reports.model import Stopping
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
    StopRule,
    TournamentConfig,
    check_run_name,
    differences,
    load_config,
)
from arena.tournament.pairings import Pairing
from arena.tournament.quarantine import Quarantine
from arena.tournament.runner import Runner, Task, open_tasks
from arena.tournament.schedule import Schedule
from arena.tournament.standings import complete_pairs

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
    pairs: int | None = None
    """Lists a pairing; None: what the config says."""
    no_timeouts: bool = False
    """No clock runs, and the run is not rated."""
    allow_build_network: bool = False
    """Builds that ask for the network may have it, whatever the config says."""

    def load(self) -> TournamentConfig:
        """The config, as the command line changes it."""
        config = load_config(self.config) if isinstance(self.config, Path) else self.config
        if self.pairs is not None:
            config = config.with_pairs(self.pairs)
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
    commitments: Mapping[int, str]
    """By epoch, without those that follow from an earlier one; empty in a dry run of what has not begun."""
    seed: str | None
    jobs: int
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

    def broken(self, name: str, failure: str) -> None:
        """A bot that does not start will lose its matches."""

    def draining(self, under_way: int) -> None:
        """Nothing more is started; blocks under way finish."""

    def lagged(self, lag: Lag) -> None:
        """How late the arena has been so far; every second."""

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
    remainder: Mapping[Pairing, int] = {}
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
                remainder = _remainder(queries, found, config, specs)
    schedules = schedules_of(epochs)
    if remainder or _lacks_epoch(epochs, absences, config, specs):
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
        jobs=options.jobs or config.jobs,
        sandbox=str(level),
        finished=counted,
        left_out=left_out(schedules, absences),
        in_reserve=_in_reserve(config, schedules, absences),
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
            play = _Play(
                store=store,
                tournament=tournament,
                config=config,
                specs=specs,
                level=sandbox.level,
                jobs=options.jobs or config.jobs,
                interrupted=interrupted,
                engine=engine,
                secrets=secrets,
                listener=listener,
                signals=signals,
            )
            begun = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            watch = asyncio.create_task(_watch_load(engine.stopwatch, listener))
            try:
                complete = await _until_done_or_stopped(play.to_the_end(), signals)
            finally:
                watch.cancel()
                lag = engine.stopwatch.lag
            if play.had_work:
                store.add_session(tournament, Session(begun, play.jobs, lag))
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


@dataclass(slots=True)
class _Play:
    """A run while it is played: all that its epochs have open, and then the epochs that its stop rule asks for."""

    store: Store
    tournament: Tournament
    config: TournamentConfig
    specs: Mapping[str, BotSpec]
    level: Level
    jobs: int
    interrupted: str | None
    """An earlier run of the file that was stopped early."""
    engine: LocalEngine
    secrets: dict[int, bytes]
    """By epoch; the engine deals from them."""
    listener: Listener
    signals: _Signals
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
            stopping, further = await asyncio.to_thread(_ask, self.store, self.tournament, self.config.stop)
            if not further:
                return True
            if runner.draining:
                return False
            _open_epoch(self.store, self.tournament, self.config, self.specs, self.level, further)

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
                jobs=self.jobs,
                sandbox=str(self.level),
                finished=sum(store.counts(tournament).values()),
                left_out=left_out(schedules, quarantine.absences),
                in_reserve=_in_reserve(self.config, schedules, quarantine.absences),
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
            store.finished_keys(tournament),
            lambda key, position: quarantine.absences.leave_out(key, position),
        )
        with Writer(store, tournament, self.config.rules, quarantine, told) as writer:
            load = self.engine.stopwatch.load
            runner = self.signals.runner = Runner(tasks, self.engine, writer.record, self.jobs, lambda: load.overloaded)
            store.set_state(tournament, State.RUNNING)
            return runner if await runner.run() else None


async def _watch_load(stopwatch: Stopwatch, listener: Listener) -> None:
    """Say how late the arena is, and when the machine is overloaded: as soon as it is, and then not too often."""
    clock = asyncio.get_running_loop().time
    silent_until = clock()
    while True:
        listener.lagged(stopwatch.lag)
        if stopwatch.load.overloaded and clock() >= silent_until:
            listener.overloaded(stopwatch.lag)
            silent_until = clock() + SAY_AGAIN_S
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


async def _until_done_or_stopped(playing: Coroutine[Any, Any, bool], signals: _Signals) -> bool:
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


def _remainder(
    queries: Queries, tournament: Tournament, config: TournamentConfig, specs: Mapping[str, BotSpec]
) -> Mapping[Pairing, int]:
    """The lists that a stop rule asks for next: none as long as anything else is to be played."""
    if config.stop is None or _has_planned_work(queries, tournament, config, specs):
        return {}
    return _ask(queries, tournament, config.stop)[1]


def _ask(queries: Queries, tournament: Tournament, rule: StopRule) -> tuple[Stopping, Mapping[Pairing, int]]:
    """What a stop rule says of all that was played."""
    evidence = evidence_of(queries, tournament)
    games = [Game(pair.sides, pair.ranks) for pair in complete_pairs(evidence.matches)]
    return ask(rule, schedules_of(queries.epochs(tournament)), evidence.absences, games)


def _in_reserve(config: TournamentConfig, schedules: Sequence[Schedule], absences: Absences) -> int:
    """The matches that a stop rule's budget has beyond those that are planned."""
    if config.stop is None:
        return 0
    return schedules[-1].field.size * lists_left(config.stop, schedules, absences)


def _has_work(queries: Queries, tournament: Tournament, config: TournamentConfig, specs: Mapping[str, BotSpec]) -> bool:
    """Whether there is anything to play, as far as is known before the bots are started."""
    return _has_planned_work(queries, tournament, config, specs) or bool(_remainder(queries, tournament, config, specs))


def _has_planned_work(
    queries: Queries, tournament: Tournament, config: TournamentConfig, specs: Mapping[str, BotSpec]
) -> bool:
    """Whether an epoch is lacking, or has matches that are not played yet."""
    epochs, absences = queries.epochs(tournament), queries.absences(tournament)
    if _lacks_epoch(epochs, absences, config, specs):
        return True
    tasks = open_tasks(blocks_of(schedules_of(epochs)), queries.finished_keys(tournament), absences.leave_out)
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
    if _lacks_epoch(store.epochs(tournament), store.absences(tournament), config, specs):
        _open_epoch(store, tournament, config, specs, level, remainder={})


def _open_epoch(
    store: Store,
    tournament: Tournament,
    config: TournamentConfig,
    specs: Mapping[str, BotSpec],
    level: Level,
    remainder: Mapping[Pairing, int],
) -> None:
    """Open the next epoch, with a secret of its own."""
    epochs = store.epochs(tournament)
    number, seed = len(epochs), tournament.about.get("seed")
    derived = bool(remainder) and not epochs[-1].revealed
    if derived:
        secret = decks.next_secret(store.secret_of(tournament, number - 1))
    else:
        secret = os.urandom(32) if seed is None else decks.secret_from_seed(seed, number)
    untrusted = participants.untrusted(specs, config.trust_bots, level)
    missed = missed_lists(schedules_of(epochs), store.absences(tournament))
    store.open_epoch(
        tournament,
        number,
        secret,
        decks.commitment(secret),
        config={
            "identity": config.identity(),
            "untrusted": sorted(untrusted),
            "missed": sorted(missed.items()),
            "remainder": sorted(remainder.items()),
            "derived": derived,
        },
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
        raise UnfitBot("\n".join(lines))
    for name, failure in failures.items():
        listener.broken(name, failure.evidence)
