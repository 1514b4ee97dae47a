"""One match between bots named on the command line: kept in the store for a second look, counting nowhere."""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Protocol

from arena.app import participants
from arena.app.data import RUNS, Archive, make
from arena.app.engines.local import Building, Setting, local_engine
from arena.app.epochs import grow
from arena.app.runs import RunOptions, create_run, free_names, run_names
from arena.app.sandboxes import chosen
from arena.app.schedules import schedule_of
from arena.bots.bot import log_of
from arena.bots.manifest import BotSpec
from arena.bots.sandbox import Level
from arena.errors import UsageError
from arena.game.game import Game
from arena.game.presets import preset
from arena.game.scoring import Outcome, Termination
from arena.game.table import Table
from arena.game.views import View
from arena.match.record import DeckOf, MatchRecord, Step, replay_deal
from arena.match.referee import Ask, DealEnded, Tell
from arena.match.summary import MatchSummary
from arena.store import MatchResult, NameTaken, State, Store, Tournament, has_store, open_store
from arena.tournament import decks
from arena.tournament.config import TournamentConfig, config_of
from arena.tournament.schedule import Block

MARKER = "arena-play"
NAME = "play"
"""What the runs are called, with a number."""
PAIRS_A_BLOCK = 8
"""Of a run of pairs: so that it is soon seen how it goes."""


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """What the command line says."""

    bots: tuple[str, ...]
    """One a side, whose seats are all its own: a sample bot's name, a folder, a file, a command or an address."""
    rules: str
    """The name of a preset."""
    archive: Archive
    """Of the match, and of the bots' logs."""
    seed: str | None = None
    """The same decks and the same `bot_seed` for the same seed; None draws one."""
    no_timeouts: bool = False
    allow_build_network: bool = False
    """Builds that ask for the network may have it."""
    pairs: int = 1
    """Mirrored pairs, where more than a match is played."""


@dataclass(frozen=True, slots=True)
class WatchedDeal:
    """A deal that is being played or has ended."""

    number: int
    names: tuple[str, ...]
    """The bot of each seat."""
    dealer: int
    steps: tuple[Step, ...]
    """Every decision so far, as its seat saw it; the hands before the first card are in the steps."""
    outcome: Outcome | None
    """None as long as it goes on."""
    points: tuple[int, ...]
    """What it added to the score, by side."""
    score: tuple[int, ...]
    """The match score by side, after it."""
    asked: View | None = None
    """What the seat sees that is being asked; None once the deal is over."""


class Watcher(Protocol):
    """Who looks on; called on the event loop's thread."""

    def asked(self, deal: Callable[[], WatchedDeal]) -> None:
        """A seat is asked; `deal()`, from any thread, is what there is to see then."""

    def ended(self, deal: WatchedDeal) -> None:
        """A deal is over."""


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A finished match."""

    names: tuple[str, ...]
    """The bot of each seat."""
    seed: str
    record: MatchRecord
    logs: Mapping[str, Path] = field(default_factory=dict)
    """By bot where its output went, of those that wrote something."""


@dataclass(frozen=True, slots=True)
class Lineup:
    """What is going to be played, under a name of its own: a small tournament that has no file."""

    name: str
    seed: str
    config: TournamentConfig
    specs: Mapping[str, BotSpec]
    archive: Archive

    @classmethod
    def of(cls, options: PlayOptions) -> Lineup:
        """Find the bots and reserve a name.  Raises `UsageError`."""
        sides, named = Table.of(preset(options.rules)).sides, len(options.bots)
        if named != sides:
            bots = "1 bot was" if named == 1 else f"{named} bots were"
            raise UsageError(f"these rules have {sides} sides, but {bots} named: name a bot for each side")
        specs = participants.of_words(options.bots)
        content = {
            "name": NAME,
            "rules": options.rules,
            "pairs": options.pairs,
            "block": PAIRS_A_BLOCK,
            "trust_bots": True,
            "quarantine": False,
            "rated": False,
            "allow_build_network": options.allow_build_network,
            "clock": {"limit_ms": 0} if options.no_timeouts else {},
            "bots": [{"bot": word, "name": name} for word, name in zip(options.bots, specs, strict=True)],
        }
        config = config_of(content, Path("arena play"))
        # Both seatings of the same lists at a time: whenever it is stopped, what is under way ends as whole pairs.
        config = replace(
            config,
            title=" against ".join(specs),
            jobs=max(2, config.jobs),
            cores=max(2 * sum(spec.cores for spec in specs.values()), config.cores),
        )
        seed = os.urandom(4).hex() if options.seed is None else options.seed
        return cls(_reserve(options.archive), seed, config, specs, options.archive)

    @property
    def run(self) -> RunOptions:
        """As a run of a tournament."""
        return RunOptions(config=self.config, archive=self.archive, name=self.name, seed=self.seed)

    @property
    def logs(self) -> Path:
        """The folder of the bots' output."""
        return self.archive.folder / RUNS / self.name / "logs"

    def written(self) -> dict[str, Path]:
        """The logs of those that wrote something."""
        logs = {name: log_of(name, self.logs) for name in self.specs}
        return {name: log for name, log in logs.items() if log.exists() and log.stat().st_size}

    def forget(self) -> None:
        """Give the name back: nothing came of it."""
        shutil.rmtree(self.archive.folder / RUNS / self.name, ignore_errors=True)


async def play_match(
    options: PlayOptions, watcher: Watcher | None = None, *, building: Callable[[str], None] = lambda name: None
) -> PlayedMatch:
    """Play one match and keep it; `building` hears the name of a bot whose build begins.

    Raises `UsageError` if a bot does not start: its last words are in the text.
    """
    lineup = Lineup.of(options)
    try:
        return await _play(lineup, watcher, building)
    except BaseException:
        lineup.forget()
        raise


async def _play(lineup: Lineup, watcher: Watcher | None, building: Callable[[str], None]) -> PlayedMatch:
    config, specs = lineup.config, lineup.specs
    sandbox = await asyncio.to_thread(chosen, config.sandbox, str(config.path), specs, lineup.archive.folder)
    setting = Setting(
        config.rules,
        config.rules_name,
        config.clock,
        config.start_ms / 1000,
        sandbox=sandbox,
        building=Building.of(config, lineup.archive.folder, building),
    )
    block = _block(config, specs)
    ((position, key),) = block.keys()
    async with local_engine(setting, specs, {0: decks.secret_from_seed(lineup.seed)}, MARKER, lineup.logs) as engine:
        order = engine.order(key, block.seats, block.mirrored)
        observer = None if watcher is None else _Observer(Game(config.rules), order.deck_of, block.seats, watcher)
        record = await engine.play_one(order, block.seats, observer)
    summary = MatchSummary.of(key, block.mirrored, block.seats, config.rules, record)
    with open_store(lineup.archive.store) as store:
        tournament = _enter(store, lineup, sandbox.level)
        grow(store, tournament, config, specs, sandbox.level)
        store.record(tournament, [MatchResult(key, position, block.seats, block.mirrored, record, summary)])
        store.reveal(tournament, key.epoch)
        store.set_state(tournament, State.FINISHED)
    return PlayedMatch(block.seats, lineup.seed, record, lineup.written())


def _enter(store: Store, lineup: Lineup, level: Level) -> Tournament:
    """Enter the match as a run, under another name if an arena elsewhere has taken its name meanwhile."""
    for name in itertools.chain([lineup.name], free_names(store, NAME)):
        with suppress(NameTaken):
            return create_run(store, name, lineup.run, lineup.config, lineup.specs, level)
    raise AssertionError("numbers do not end")


def _block(config: TournamentConfig, specs: Mapping[str, BotSpec]) -> Block:
    """The seating in which the bot that was named first has the first seat."""
    names = tuple(specs)
    untrusted = participants.untrusted(specs, config.trust_bots, Level.WEAK)
    schedule = schedule_of(config.identity(), names, untrusted, previous=None, missed={}, remainder={})
    return next(block for block in schedule.blocks() if block.seats[0] == names[0])


def _reserve(archive: Archive) -> str:
    """The name of a run that no other has: its folder is made."""
    make(archive.folder)
    taken: Collection[str] = ()
    if has_store(archive.store):
        with open_store(archive.store) as store:  # says now, rather than after the match, that nothing can be kept
            taken = run_names(store)
    for number in itertools.count(1):
        name = f"{NAME}-{number}"
        folder = archive.folder / RUNS / name
        if name not in taken:
            try:
                folder.mkdir(parents=True)
            except FileExistsError:
                continue
            except OSError as error:
                raise UsageError(f"the folder {folder} cannot be made: {error.strerror}") from None
            return name
    raise AssertionError("numbers do not end")


class _Observer:
    """Turns what the referee does into what there is to see."""

    def __init__(self, game: Game, deck_of: DeckOf, names: tuple[str, ...], watcher: Watcher) -> None:
        self._game = game
        self._deck_of = deck_of
        self._names = names
        self._watcher = watcher

    def __call__(self, request: Ask | Tell) -> None:
        match request:
            case Ask():
                self._watcher.asked(partial(self._unfinished, request.deal, request.view))
            case DealEnded():
                self._watcher.ended(self._ended(request))

    def _unfinished(self, number: int, view: View) -> WatchedDeal:
        actions = view.past_actions
        replaying = replay_deal(
            self._game, self._deck_of(number), number, view.score, view.carry, view.dealer, actions, None
        )
        return WatchedDeal(
            number=number,
            names=self._names,
            dealer=view.dealer,
            steps=tuple(islice(replaying, len(actions))),  # beyond them it would miss the end of the deal
            outcome=None,
            points=(0,) * self._game.table.sides,
            score=view.score,
            asked=view,
        )

    def _ended(self, ended: DealEnded) -> WatchedDeal:
        before = tuple(after - added for after, added in zip(ended.score, ended.points, strict=True))
        faulty = ended.outcome.seat if ended.outcome.termination is Termination.FORFEIT else None
        steps = replay_deal(
            self._game,
            self._deck_of(ended.deal),
            ended.deal,
            before,
            ended.carry,
            ended.dealer,
            ended.past_actions,
            faulty,
        )
        return WatchedDeal(
            number=ended.deal,
            names=self._names,
            dealer=ended.dealer,
            steps=tuple(steps),
            outcome=ended.outcome,
            points=ended.points,
            score=ended.score,
        )
