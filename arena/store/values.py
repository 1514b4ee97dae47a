"""What goes into the store and comes out of it, as values; nothing here knows SQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from enum import StrEnum
from operator import add
from typing import Any

from arena.errors import ArenaError, UsageError
from arena.match.lag import Lag
from arena.match.record import MatchRecord, Status
from arena.match.rulings import Fault, Loss
from arena.match.summary import MatchKey, MatchSummary


class StoreError(ArenaError):
    """The arena asked for something that contradicts what is stored: a bug of the arena, nothing was written."""


class TakenOver(ArenaError):
    """Another arena plays the tournament now: nothing was written."""


class Unreachable(UsageError):
    """The server does not answer, or does not write for now: nothing is known of what was under way."""


class NameTaken(UsageError):
    """There is a tournament of that name already."""


class State(StrEnum):
    """How far a tournament is."""

    CREATED = "created"
    """Nothing was played yet."""
    RUNNING = "running"
    """A living process holds its lock."""
    INTERRUPTED = "interrupted"
    """Stopped early, or its process died: it can be resumed."""
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Tournament:
    """The facts of a tournament; the other methods of the store take it as their first argument."""

    id: int
    """Its number in this store."""
    name: str
    created: str
    """When, in UTC, ISO 8601."""
    rated: bool
    """Whether it counts in careers (`lost_bummerls`)."""
    config: Mapping[str, Any]
    """What decides its results, as its first epoch was opened with."""
    rules: Mapping[str, Any]
    """Every option of the rules."""
    about: Mapping[str, Any]
    """What decides nothing: title, jobs, sandbox level."""
    state: State

    @property
    def is_play(self) -> bool:
        """Whether it is no tournament, but a match or a few that somebody wanted to see."""
        return bool(self.about.get("play"))


@dataclass(frozen=True, slots=True)
class Epoch:
    """The matches that are dealt from one secret."""

    number: int
    commitment: str
    secret: bytes | None
    """None until it is revealed."""
    config: Mapping[str, Any]
    """The config that its schedule follows from."""
    participants: tuple[str, ...]
    """The names of those who had entered when it was opened, sorted."""

    @property
    def revealed(self) -> bool:
        return self.secret is not None

    @property
    def derived(self) -> bool:
        """Whether its secret follows from that of the epoch before, so that the earlier commitment binds it too."""
        return bool(self.config.get("derived"))


@dataclass(frozen=True, slots=True)
class MatchResult:
    """A finished match, as it is recorded."""

    key: MatchKey
    position: int
    """Its index in the schedule of its epoch, from 0 without gaps."""
    seats: tuple[str, ...]
    """The participant of each seat."""
    mirrored: bool
    record: MatchRecord
    summary: MatchSummary


@dataclass(frozen=True, slots=True)
class StoredFault:
    """A bot's fault: whose, where, what it cost, and why we say so."""

    key: MatchKey
    participant: str
    seat: int
    deal: int
    """The deal's number in the match, from 1."""
    decision: int
    """How many actions of the deal came before the faulty decision."""
    fault: Fault
    loss: Loss
    evidence: str


@dataclass(frozen=True, slots=True)
class VoidAttempt:
    """An attempt at a match that the arena spoilt and will play again."""

    key: MatchKey
    attempt: int
    """From 1."""
    text: str


@dataclass(frozen=True, slots=True)
class VoidMatch:
    """A match that the arena failed to play."""

    key: MatchKey
    reason: str


@dataclass(frozen=True, slots=True)
class Session:
    """What an arena that played a tournament, or a part of it, says of itself."""

    begun: str
    """When, in UTC, ISO 8601."""
    jobs: int
    """Blocks played at a time."""
    lag: Lag


@dataclass(frozen=True, slots=True, order=True)
class DealOf:
    """One deal as one of its participants played it."""

    participant: str
    key: MatchKey
    deal: int
    """The deal's number in the match, from 1."""


@dataclass(frozen=True, slots=True)
class Endgames:
    """What is known of a participant's endgames: totals over the deals that were analysed."""

    deals: int = 0
    """Those that were analysed."""
    reached: int = 0
    """Those of them with a decision that can be judged, as `arena.match.endgame` says."""
    choices: int = 0
    """Such decisions."""
    mistakes: int = 0
    """Those of them that gave something away."""
    given_away: int = 0
    """In game points."""

    def __add__(self, other: Endgames) -> Endgames:
        return Endgames(*map(add, astuple(self), astuple(other)))

    @property
    def given_away_a_deal(self) -> float | None:
        """Game points; None where nothing was analysed."""
        return self.given_away / self.deals if self.deals else None


@dataclass(frozen=True, slots=True)
class Tally:
    """A tournament in the list of all: how large it is and how far."""

    tournament: Tournament
    participants: int
    matches: Mapping[Status, int]
    """Its matches that count, and those that are void, by status; no entry where there are none."""


@dataclass(frozen=True, slots=True)
class News:
    """The matches that were stored after a row of a tournament's journal."""

    row: int
    """The last of them; where there are none, the row that was asked for."""
    counts: Mapping[Status, int]
    """How many, as `Queries.counts` has them."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The first place where the store is not what was committed."""

    table: str
    row: int
    """The row's place in the tournament's order of commits, from 1; 0 is the tournament itself."""
    what: str
    """A sentence for the operator."""


class StoredPlaces:
    """Which places of the schedule have their match stored: a byte for each, so that millions fit."""

    __slots__ = ("_epochs",)

    def __init__(self, places: Iterable[tuple[int, int]] = ()) -> None:
        """`places`: of each match that is stored its epoch and its position there, in any order."""
        self._epochs: dict[int, bytearray] = {}
        for epoch, position in places:
            flags = self._epochs.setdefault(epoch, bytearray())
            if position >= len(flags):
                flags.extend(bytes(position + 1 - len(flags)))
            flags[position] = 1

    def missing(self, epoch: int, positions: range) -> list[int]:
        """Those of the positions of an epoch, ascending by one, whose match is not stored."""
        flags = self._epochs.get(epoch, b"")[positions.start : positions.stop].ljust(len(positions), b"\0")
        if 0 not in flags:
            return []
        return [position for position, stored in zip(positions, flags, strict=True) if not stored]

    def __len__(self) -> int:
        return sum(map(sum, self._epochs.values()))
