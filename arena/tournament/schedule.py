"""All matches in their order: a lazy, pure function of the config, the same for any join order.

Chunk of lists by chunk, everyone in turn, the legs of a block next to each other: at any moment no pairing is more
than one block a leg ahead of another, and nobody more than one meeting ahead of another (two in an odd field, four
where more than two meet; in a gauntlet champions compare with champions).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from arena.errors import UsageError
from arena.match.summary import MatchKey
from arena.tournament.pairings import Field, Format, Pairing


@dataclass(frozen=True, slots=True)
class Block:
    """The unit of work: one pairing in one seating on consecutive lists, played by one process a seat."""

    position: int
    """Its place in the schedule of its epoch, from 0."""
    first: int
    """The index of its first match in the schedule of its epoch, from 0."""
    epoch: int
    pairing: Pairing
    leg: int
    numbers: range
    """The numbers of its lists."""
    seats: tuple[str, ...]
    """The participant of each seat."""
    mirrored: bool
    """Whether its lists are those of the other legs, and of all other mirrored pairings."""

    @property
    def positions(self) -> range:
        """The schedule indices of its matches, in order."""
        return range(self.first, self.first + len(self.numbers))

    def key(self, position: int) -> MatchKey:
        """The match at one of its schedule indices."""
        return MatchKey(self.epoch, self.pairing, self.leg, self.numbers[position - self.first])

    def keys(self) -> Iterator[tuple[int, MatchKey]]:
        """Its matches in order, each with its schedule index."""
        for position in self.positions:
            yield position, self.key(position)


@dataclass(frozen=True, slots=True)
class Schedule:
    """All matches of one epoch.  Raises `UsageError` when made of what cannot be a tournament."""

    participants: tuple[str, ...]
    """Their names; the order does not matter."""
    pairs: int
    """How many lists each pairing has played in all legs at the end, the earlier epochs included."""
    format: Format = Format.ROUND_ROBIN
    champions: frozenset[str] = frozenset()
    """The champions of a gauntlet."""
    block: int = 32
    """How many lists a block has at most."""
    sides: int = 2
    seats: int = 2
    """The seats of the table; the sides share them evenly."""
    untrusted: frozenset[str] = frozenset()
    """Who could remember a deck: remote bots, and all those that no sandbox holds.  Their pairings are unmirrored."""
    previous: Schedule | None = None
    """What the earlier epochs planned; this one adds what the grown tournament lacks, on lists from 0."""
    missed: Mapping[Pairing, int] = dataclasses.field(default_factory=dict)
    """Lists that pairings did not play in earlier epochs, since one of them was out, and play now besides."""
    remainder: Mapping[Pairing, int] = dataclasses.field(default_factory=dict)
    """Lists that pairings play beyond those of all, since they tell most about orders that are still open."""
    field: Field = dataclasses.field(init=False, repr=False, compare=False)
    """Who takes part, and what a pairing of them is."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "field", self._field())
        if len(set(self.participants)) < len(self.participants):
            raise UsageError(f"participants {sorted(self.participants)}: each name must be there once")
        unknown = (self.champions | self.untrusted).difference(self.participants)
        if unknown:
            raise UsageError(f"{sorted(unknown)} are no participants of {sorted(self.participants)}")
        if next(iter(self.pairings()), None) is None:
            raise UsageError(f"a {self.format} of {sorted(self.participants)} has nobody who meets")
        earlier = self.previous
        if earlier and not (
            set(earlier.participants) <= set(self.participants)
            and earlier.pairs <= self.pairs
            and (earlier.format, earlier.champions) == (self.format, self.champions)
        ):
            raise UsageError("a later epoch can only add participants and pairs to the tournament")

    @property
    def epoch(self) -> int:
        """The number of this epoch, from 0."""
        return self.previous.epoch + 1 if self.previous else 0

    def pairings(self) -> Iterable[Pairing]:
        """Every pairing once, in the order in which they meet."""
        return self.field.pairings()

    def lists(self, pairing: Pairing) -> int:
        """How many lists one of the pairings plays in this epoch: what the earlier ones left, 0 if nothing."""
        left = self.pairs - (self.previous.played(pairing) if self.previous else 0)
        return left + self.missed.get(pairing, 0) + self.remainder.get(pairing, 0)

    def played(self, pairing: Pairing) -> int:
        """How many lists the pairing has played as all do once this epoch is over, the earlier ones included."""
        if self.field.has(pairing):
            return self.pairs
        return self.previous.played(pairing) if self.previous else 0

    def sides_of(self, pairing: Pairing) -> tuple[tuple[str, ...], ...]:
        """Who stands on each side, in the order of the pairing."""
        members = len(pairing) // self.sides
        return tuple(pairing[first : first + members] for first in range(0, len(pairing), members))

    def blocks(self) -> Iterator[Block]:
        """The epoch's blocks in schedule order, made one at a time."""
        position = first = 0
        most = self.pairs + max(self.missed.values(), default=0) + max(self.remainder.values(), default=0)
        for start in range(0, most, self.block):
            for pairing in self.pairings():
                numbers = range(start, min(start + self.block, self.lists(pairing)))
                if not numbers:
                    continue
                for leg in range(len(pairing)):
                    yield Block(
                        position=position,
                        first=first,
                        epoch=self.epoch,
                        pairing=pairing,
                        leg=leg,
                        numbers=numbers,
                        seats=seating(pairing, leg, self.sides, self.seats),
                        mirrored=self.untrusted.isdisjoint(pairing),
                    )
                    position += 1
                    first += len(numbers)

    @property
    def block_count(self) -> int:
        """How many blocks this epoch has."""
        return sum(len(pairing) * -(-self.lists(pairing) // self.block) for pairing in self.pairings())

    @property
    def match_count(self) -> int:
        """How many matches this epoch has."""
        return sum(len(pairing) * self.lists(pairing) for pairing in self.pairings())

    def _field(self) -> Field:
        everyone = tuple(sorted(self.participants))
        match self.format:
            case Format.ROUND_ROBIN:
                return Field((everyone,), self.sides, members=1)
            case Format.GAUNTLET:
                champions = tuple(sorted(self.champions))
                others = tuple(name for name in everyone if name not in self.champions)
                return Field((champions, others), self.sides, members=1)
            case Format.MIXED_PARTNERS:
                return Field((everyone,), self.sides, members=self.seats // self.sides)
            case _:
                assert_never(self.format)


def seating(pairing: Pairing, leg: int, sides: int, seats: int) -> tuple[str, ...]:
    """The participant of each seat in a leg: the names take turns round the table, and each leg moves all by a seat.

    So over the legs, as many as there are names, everyone plays every hand of the same decks once.  The sides alternate
    round the table, so partners sit opposite; a participant that is a side of two seats alone has both.
    """
    members = len(pairing) // sides
    around = tuple(name for member in range(members) for name in pairing[member::members])
    return (around[leg:] + around[:leg]) * (seats // len(pairing))
