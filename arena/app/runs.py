"""A run as it is asked for, found in the store, or entered there; and whether it can be gone on with."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arena.app import participants
from arena.app.data import Archive
from arena.app.sandboxes import why_not
from arena.bots.manifest import BotSpec
from arena.bots.sandbox import Level
from arena.errors import UsageError
from arena.store import Epoch, Participant, Queries, State, Store, Tournament
from arena.store.queries import LAST
from arena.tournament.config import TournamentConfig, check_run_name, differences, load_config
from arena.tournament.engines import EngineKind


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the command line says."""

    config: Path | TournamentConfig
    """A tournament's file; or what was never in one, and is not gone on with."""
    archive: Archive
    """Of the run, and of its logs."""
    name: str | None = None
    """The run's name; None: the config's name and the next free number."""
    seed: str | None = None
    """Makes the run a rehearsal whose decks anyone can predict; it never counts in careers."""
    resume: str | None = None
    """The run to go on with; `last` is the newest run of this config."""
    jobs: int | None = None
    workers: int | None = None
    cores: int | None = None
    engine: EngineKind | None = None
    ray_address: str | None = None
    """None, for these five: what the config says."""
    pairs: int | None = None
    """Lists a pairing; None: what the config says."""
    no_timeouts: bool = False
    """No clock runs, and the run is not rated."""
    allow_build_network: bool = False
    """Builds that ask for the network may have it, whatever the config says."""

    def load(self) -> TournamentConfig:
        """The config, as the command line changes it."""
        config = load_config(self.config) if isinstance(self.config, Path) else self.config
        config = replace(
            config,
            jobs=self.jobs or config.jobs,
            workers=self.workers or config.workers,
            cores=self.cores or config.cores,
            engine=self.engine or config.engine,
            ray_address=self.ray_address or config.ray_address,
        )
        if self.pairs is not None:
            config = config.with_pairs(self.pairs)
        if self.allow_build_network:
            config = replace(config, allow_build_network=True)
        if self.no_timeouts:
            config = replace(config, clock=replace(config.clock, limit_ms=0), rated=False)
        return config


def free_names(store: Queries, stem: str) -> Iterator[str]:
    """The names that a run can be given, by their numbers; another arena may be quicker to take one."""
    taken = run_names(store)
    return (name for number in itertools.count(1) if (name := f"{stem}-{number}") not in taken)


def new_name(store: Store, options: RunOptions, config: TournamentConfig) -> str:
    if options.name is None:
        return next(free_names(store, config.name))
    check_run_name(options.name)
    if options.name in run_names(store):
        raise UsageError(
            f"there is a run {options.name!r} in {options.archive} already: "
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
    """Enter a run and its participants; it has no epoch yet.  Raises `NameTaken`."""
    rehearsal = options.seed is not None
    return store.create_tournament(
        name,
        config=config.identity(),
        rules=config.rules.options(),
        participants=[participant(spec) for spec in specs.values()],
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


def run_names(store: Queries) -> Collection[str]:
    """The names of all runs."""
    return {tally.tournament.name for tally in store.tournaments()}


def find(store: Queries, options: RunOptions, config: TournamentConfig) -> Tournament:
    if options.resume != LAST:
        assert options.resume is not None
        return store.tournament(options.resume)
    mine = _runs_of(store, config)
    if not mine:
        raise UsageError(f"there is no run of {config.path} in {options.archive} to resume: start one without --resume")
    return mine[-1]


def last_interrupted(store: Queries, config: TournamentConfig) -> str | None:
    """The name of the newest run of this file, if it was stopped early."""
    mine = _runs_of(store, config)
    return mine[-1].name if mine and mine[-1].state is State.INTERRUPTED else None


def _runs_of(store: Queries, config: TournamentConfig) -> list[Tournament]:
    return [tally.tournament for tally in store.tournaments() if tally.tournament.about.get("file") == config.name]


def check_fits(
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


def check_mirroring(
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


def participant(spec: BotSpec) -> Participant:
    return Participant(
        name=spec.name, version=spec.version, digest=spec.digest, kind=spec.kind.value, author=spec.author
    )
