"""What a bot is told of a match beside its decisions: values in the words of people, seats and sides by number."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from arena.cards import Action
from arena.game.rules import Rules
from arena.game.scoring import Termination
from arena.game.table import Table

_table_of = lru_cache(Table.of)


class Turn(NamedTuple):
    """One action of the deal and the seat that did it."""

    seat: int
    action: Action


@dataclass(frozen=True, slots=True)
class Match:
    """One match of this process: deals until a side reaches the target.  Many run at the same time."""

    id: str
    """Opaque, the same in all views and results of the match."""
    rules: Rules
    seat: int
    """Your seat, for the whole match.  Seats are numbered clockwise from 0."""
    rules_name: str = "custom"
    """The preset's name, "custom" where single options were changed."""
    bot_seed: bytes = b""
    """What `View.rng` draws from, so that a match can be repeated."""
    limit_ms: int = 0
    """Thinking time that is free on each decision, in milliseconds; 0 means that no clock runs."""
    bank_ms: int = 0
    """Thinking time beyond the limit, in milliseconds for the whole match, never refilled."""
    resumed: bool = False
    """The match is already under way: the process was started anew, or joined late."""
    table: Table = field(init=False, repr=False, compare=False)
    """The geometry of the table: which side a seat belongs to, who plays after whom."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", _table_of(self.rules))

    @property
    def my_side(self) -> int:
        """Your side: what scores.  Partners share one; otherwise every seat is a side of its own."""
        return self.table.side_of[self.seat]


class DealResult(NamedTuple):
    """A deal is over.  It may have ended before you were asked anything."""

    match: Match
    deal: int
    """The deal's number in the match, from 1."""
    termination: Termination | int
    """How it ended (a number if this SDK is too old to know the word)."""
    seat: int
    """The seat that claimed, closed, took the last trick or committed the fault."""
    points: tuple[int, ...]
    """What the deal adds to the match score, by side."""
    card_points: tuple[int, ...]
    """The card points that decided, by side."""
    score: tuple[int, ...]
    """The match score by side, this deal included."""
    new_turns: tuple[Turn, ...]
    """What happened since your last decision in the deal; everything if you were not asked."""

    @property
    def my_points(self) -> int:
        """What the deal adds to your side's score."""
        return self.points[self.match.my_side]


class MatchResult(NamedTuple):
    """A match is over."""

    match: Match
    score: tuple[int, ...]
    """The final score by side."""
    ranks: tuple[int, ...]
    """The rank of each side, 1 is first; equal ranks are shared."""

    @property
    def my_rank(self) -> int:
        return self.ranks[self.match.my_side]
