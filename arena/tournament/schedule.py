"""Who meets whom, in which order: a lazy, pure function of the config, the same for any join order.

Chunk of lists by chunk, everyone in turn, the legs of a block next to each other: at any moment no pairing is more
than one block a leg ahead of another, and nobody more than one meeting ahead of another (two in an odd field; in a
gauntlet champions compare with champions).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from arena.errors import UsageError
from arena.match.summary import MatchKey

Pairing = tuple[str, ...]
"""The names of the participants that meet, sorted."""


class Format(StrEnum):
    """Who meets whom."""

    ROUND_ROBIN = "round-robin"
    """Everyone meets everyone."""
    GAUNTLET = "gauntlet"
    """Every champion meets everyone who is no champion; nobody else meets."""


@dataclass(frozen=True, slots=True)
class Block:
    """The unit of work: one pairing in one seating on consecutive lists, played by one process of each bot."""

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

    def keys(self) -> Iterator[tuple[int, MatchKey]]:
        """Its matches in order, each with its schedule index."""
        for index, number in enumerate(self.numbers, start=self.first):
            yield index, MatchKey(self.epoch, self.pairing, self.leg, number)


@dataclass(frozen=True, slots=True)
class Schedule:
    """All matches of one epoch.  Raises `UsageError` when made of what cannot be a tournament."""

    participants: tuple[str, ...]
    """Their names; the order does not matter."""
    pairs: int
    """How many mirrored pairs each pairing has played at the end, the earlier epochs included."""
    format: Format = Format.ROUND_ROBIN
    champions: frozenset[str] = frozenset()
    """The champions of a gauntlet."""
    block: int = 32
    """How many lists a block has at most."""
    seats: int = 2
    """The seats of the table; two sides share them evenly."""
    untrusted: frozenset[str] = frozenset()
    """Who could remember a deck: remote bots, and all those that no sandbox holds.  Their pairings are unmirrored."""
    previous: Schedule | None = None
    """What the earlier epochs planned; this one adds what the grown tournament lacks, on lists from 0."""

    def __post_init__(self) -> None:
        if len(set(self.participants)) < len(self.participants):
            raise UsageError(f"participants {sorted(self.participants)}: each name must be there once")
        unknown = (self.champions | self.untrusted).difference(self.participants)
        if unknown:
            raise UsageError(f"{sorted(unknown)} are no participants of {sorted(self.participants)}")
        if next(self.pairings(), None) is None:
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

    def pairings(self) -> Iterator[Pairing]:
        """Every pairing once, in the order in which they meet."""
        match self.format:
            case Format.ROUND_ROBIN:
                return _circle(sorted(self.participants))
            case Format.GAUNTLET:
                return _in_turn(sorted(self.champions), sorted(set(self.participants) - self.champions))

    def lists(self, pairing: Pairing) -> int:
        """How many lists a pairing plays in this epoch: what the earlier ones left, 0 if nothing."""
        earlier = self.previous
        return self.pairs - earlier.pairs if earlier and earlier.has(pairing) else self.pairs

    def has(self, pairing: Pairing) -> bool:
        """Whether the two meet in this tournament, in this epoch or an earlier one."""
        if not set(pairing) <= set(self.participants):
            return False
        match self.format:
            case Format.ROUND_ROBIN:
                return True
            case Format.GAUNTLET:
                return len(self.champions.intersection(pairing)) == 1

    def blocks(self) -> Iterator[Block]:
        """The epoch's blocks in schedule order, made one at a time."""
        position = first = 0
        for start in range(0, self.pairs, self.block):
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
                        seats=seating(pairing, leg, self.seats),
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


def seating(pairing: Pairing, leg: int, seats: int) -> tuple[str, ...]:
    """The participant of each seat in a leg: the names in order, the `leg`-th first, round and round the table.

    So the names change places from leg to leg, and partners, who sit opposite, are of one participant.
    """
    return (pairing[leg:] + pairing[:leg]) * (seats // len(pairing))


def _circle(names: list[str]) -> Iterator[Pairing]:
    """Rounds with everyone once in each: the first stays, the others move on by a place; of an odd field one rests."""
    ring: list[str | None] = [*names, None] if len(names) % 2 else [*names]
    half = len(ring) // 2
    for _ in ring[1:]:
        for one, other in zip(ring[:half], reversed(ring[half:]), strict=True):
            if one is not None and other is not None:
                yield _pairing(one, other)
        ring.insert(1, ring.pop())


def _in_turn(ours: list[str], theirs: list[str]) -> Iterator[Pairing]:
    """Each of ours meets each of theirs, both taking turns; one of ours is passed over when the same two are due."""
    lap = math.lcm(len(ours), len(theirs))
    for turn in range(len(ours) * len(theirs)):
        yield _pairing(ours[(turn + turn // lap) % len(ours)], theirs[turn % len(theirs)])


def _pairing(one: str, other: str) -> Pairing:
    return (one, other) if one < other else (other, one)
