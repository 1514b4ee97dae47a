"""One match between bots named on the command line: nothing is stored, nothing counts."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from arena.app import participants
from arena.app.engines.local import Setting, local_engine
from arena.app.sandboxes import chosen
from arena.errors import UsageError
from arena.game.game import Game
from arena.game.presets import name_of
from arena.game.rules import Rules
from arena.game.scoring import Outcome, Termination
from arena.match.clock import TimeControl
from arena.match.record import DeckOf, MatchRecord, Step, replay_deal
from arena.match.referee import DealEnded, Tell
from arena.match.summary import MatchKey
from arena.tournament import decks
from arena.tournament.config import LeastSandbox

MARKER = "arena-play"


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """What the command line says."""

    bots: tuple[str, ...]
    """One a side, whose seats are all its own: a sample bot's name, a folder, a file, a command or an address."""
    rules: Rules
    seed: str | None = None
    """The same decks and the same `bot_seed` for the same seed; None draws one."""
    time: TimeControl = field(default_factory=TimeControl)
    start_s: float = 10.0


@dataclass(frozen=True, slots=True)
class WatchedDeal:
    """A deal that has just ended."""

    number: int
    names: tuple[str, ...]
    """The bot of each seat."""
    dealer: int
    steps: tuple[Step, ...]
    """Every decision in order, as its seat saw it; the hands before the first card are in the steps."""
    outcome: Outcome
    points: tuple[int, ...]
    """What it added to the score, by side."""
    score: tuple[int, ...]
    """The match score by side, after it."""


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A finished match."""

    names: tuple[str, ...]
    """The bot of each seat."""
    seed: str
    record: MatchRecord


async def play_match(options: PlayOptions, watch: Callable[[WatchedDeal], None] | None = None) -> PlayedMatch:
    """Play one match; `watch` is called at the end of each deal.

    Raises `UsageError` if a bot does not start: its last words are in the text.
    """
    game = Game(options.rules)
    sides, named = game.table.sides, len(options.bots)
    if named != sides:
        bots = "1 bot was" if named == 1 else f"{named} bots were"
        raise UsageError(f"these rules have {sides} sides, but {bots} named: name a bot for each side")
    specs = participants.of_words(options.bots)
    seed = options.seed if options.seed is not None else os.urandom(4).hex()
    secret = decks.secret_from_seed(seed)
    names = tuple(specs)
    key = MatchKey(epoch=0, pairing=names, leg=0, number=0)
    sandbox = await asyncio.to_thread(chosen, LeastSandbox.AUTO, "arena play", specs, None)
    setting = Setting(options.rules, name_of(options.rules), options.time, options.start_s, sandbox=sandbox)
    with tempfile.TemporaryDirectory(prefix="arena-play-") as logs:
        async with local_engine(setting, specs, {0: secret}, MARKER, Path(logs)) as engine:
            seats = tuple(names[game.table.side_of[seat]] for seat in range(game.table.seats))
            order = engine.order(key, seats, mirrored=True)
            observer = None if watch is None else _Watcher(game, order.deck_of, seats, watch)
            record = await engine.play_one(order, seats, observer)
    return PlayedMatch(seats, seed, record)


class _Watcher:
    """Turns the end of a deal into a `WatchedDeal`."""

    def __init__(
        self,
        game: Game,
        deck_of: DeckOf,
        names: tuple[str, ...],
        watch: Callable[[WatchedDeal], None],
    ) -> None:
        self._game = game
        self._deck_of = deck_of
        self._names = names
        self._watch = watch
        self._score: tuple[int, ...] = (0,) * game.table.sides

    def __call__(self, telling: Tell) -> None:
        if isinstance(telling, DealEnded):
            self._watch(self._watched(telling))
            self._score = telling.score

    def _watched(self, ended: DealEnded) -> WatchedDeal:
        deck = self._deck_of(ended.deal)
        faulty = ended.outcome.seat if ended.outcome.termination is Termination.FORFEIT else None
        steps = tuple(
            replay_deal(
                self._game,
                deck,
                ended.deal,
                self._score,
                ended.carry,
                ended.dealer,
                ended.past_actions,
                faulty,
            )
        )
        return WatchedDeal(
            number=ended.deal,
            names=self._names,
            dealer=ended.dealer,
            steps=steps,
            outcome=ended.outcome,
            points=ended.points,
            score=ended.score,
        )
