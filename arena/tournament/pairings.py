"""Who meets whom: every pairing of a field, in the order in which they meet; the same for any join order.

Where two participants meet, rounds bring everyone together.  Larger pairings grow in number so fast that of more than
`MAX_DRAWN` only a balanced part meets, drawn by hashing from what is public: the names and the format, no secret.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import chain, combinations, count, product

MAX_DRAWN = 2000
"""So many pairings of more than two participants a tournament has at most."""

Pairing = tuple[str, ...]
"""The participants that meet in canonical order: side by side, the members of a side sorted, and then the sides."""


class Format(StrEnum):
    """Who meets whom."""

    ROUND_ROBIN = "round-robin"
    """Everyone meets everyone; one participant a side."""
    GAUNTLET = "gauntlet"
    """Every champion meets everyone who is no champion; with three sides, each pairing has one or more of both."""
    MIXED_PARTNERS = "mixed-partners"
    """Every two participants, as partners, meet every other two; ratings are of the single participant."""


@dataclass(frozen=True, slots=True)
class Field:
    """Who takes part, and what a pairing of them is."""

    groups: tuple[tuple[str, ...], ...]
    """The names, sorted: one group, or the champions and all others, of both of which a pairing has one or more."""
    sides: int
    members: int
    """Participants a side: 1, or 2 where partners are mixed."""

    @property
    def size(self) -> int:
        """Participants a pairing."""
        return self.sides * self.members

    @property
    def by_rounds(self) -> bool:
        """Whether two meet: then rounds bring them together, and nothing is drawn."""
        return self.size == 2

    def pairings(self) -> Iterable[Pairing]:
        """Every pairing once, in the order in which they meet."""
        if not self.by_rounds:
            return _drawn(self)
        match self.groups:
            case [everyone]:
                return _circle(everyone)
            case [ours, theirs]:
                return _in_turn(ours, theirs)
            case _:
                raise AssertionError(f"{len(self.groups)} groups")

    def has(self, pairing: Pairing) -> bool:
        """Whether these meet."""
        if not self.by_rounds:
            return pairing in _drawn(self)
        present = [sum(name in group for name in pairing) for group in self.groups]
        return sum(present) == len(pairing) and all(present)


# -- two participants -------------------------------------------------------------------------------------------------


def _circle(names: Sequence[str]) -> Iterator[Pairing]:
    """Rounds with everyone once in each: the first stays, the others move on by a place; of an odd field one rests."""
    ring: list[str | None] = [*names, None] if len(names) % 2 else [*names]
    half = len(ring) // 2
    for _ in ring[1:]:
        for one, other in zip(ring[:half], reversed(ring[half:]), strict=True):
            if one is not None and other is not None:
                yield _canonical((one, other), 1)
        ring.insert(1, ring.pop())


def _in_turn(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Pairing]:
    """Each of ours meets each of theirs, both taking turns; one of ours is passed over when the same two are due."""
    lap = math.lcm(len(ours), len(theirs))
    for turn in range(len(ours) * len(theirs)):
        yield _canonical((ours[(turn + turn // lap) % len(ours)], theirs[turn % len(theirs)]), 1)


# -- more -------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def _drawn(field: Field) -> Mapping[Pairing, None]:
    """All pairings of a field, or a balanced part of them, in balanced order (a dict serves as an ordered set)."""
    shares = _shares(field)
    splits = 1 if field.members == 1 else field.size - 1
    if splits * sum(shares.values()) > MAX_DRAWN:
        chosen = _hashed(field, shares, splits)
        _balance(chosen, field)
    else:
        chosen = dict.fromkeys(
            _split(sorted(chain.from_iterable(parts)), split, field.members)
            for share in shares
            for parts in product(*map(combinations, field.groups, share))
            for split in range(splits)
        )
    return _in_balanced_order(chosen)


def _shares(field: Field) -> dict[tuple[int, ...], int]:
    """How many participants each group may have in a pairing, each with the number of ways to choose them."""
    shares = product(*(range(1, field.size + 1) for _ in field.groups))
    return {
        share: math.prod(map(math.comb, map(len, field.groups), share)) for share in shares if sum(share) == field.size
    }


def _split(names: Sequence[str], split: int, members: int) -> Pairing:
    """The `split`-th way to divide sorted names among the sides: the `split`-th other is the first one's partner."""
    if members == 1:
        return tuple(names)
    first, *others = names
    partner = others.pop(split)
    return (first, partner, *others)


def _hashed(field: Field, shares: Mapping[tuple[int, ...], int], splits: int) -> dict[Pairing, None]:
    """As many different pairings as may be, each as likely as any other.

    Draw k is the SHA-256 of the JSON of `arena/pairings/v1`, the members of a side, the groups and k, as a number;
    each choice is its remainder, and leaves the quotient.
    """
    chosen: dict[Pairing, None] = {}
    total = sum(shares.values())
    for number in count():
        text = json.dumps(["arena/pairings/v1", field.members, field.groups, number], separators=(",", ":"))
        draw, index = divmod(int.from_bytes(hashlib.sha256(text.encode()).digest()), total)
        names: list[str] = []
        for group, wanted in zip(field.groups, _share_at(index, shares), strict=True):
            pool = list(group)
            for _ in range(wanted):
                draw, place = divmod(draw, len(pool))
                names.append(pool.pop(place))
        chosen[_split(sorted(names), draw % splits, field.members)] = None
        if len(chosen) == MAX_DRAWN:
            break
    return chosen


def _share_at(index: int, shares: Mapping[tuple[int, ...], int]) -> tuple[int, ...]:
    """The share among whose ways the index falls."""
    for share, ways in shares.items():
        if index < ways:
            return share
        index -= ways
    raise AssertionError(index)


def _balance(chosen: dict[Pairing, None], field: Field) -> None:
    """Exchange participants of a group until their pairings differ by one at most.

    There is always an exchange: who has more pairings than another cannot have, with every pairing of its own without
    the other, also that of the other in its place.
    """
    meetings = Counter(chain.from_iterable(chosen))
    for group in field.groups:
        while True:
            ranked = sorted(group, key=lambda name: (meetings[name], name))
            least, most = ranked[0], ranked[-1]
            if meetings[most] - meetings[least] <= 1:
                break
            old, new = next(
                (pairing, exchanged)
                for pairing in chosen
                if most in pairing and least not in pairing
                if (exchanged := _exchanged(pairing, most, least, field.members)) not in chosen
            )
            del chosen[old]
            chosen[new] = None
            meetings[most] -= 1
            meetings[least] += 1


def _exchanged(pairing: Pairing, out: str, into: str, members: int) -> Pairing:
    return _canonical([into if name == out else name for name in pairing], members)


def _in_balanced_order(pairings: Iterable[Pairing]) -> dict[Pairing, None]:
    """The next pairing is always one of a participant who has played the least share of its own, with such others."""
    waiting: dict[str, dict[Pairing, None]] = {}
    for pairing in sorted(pairings):
        for name in pairing:
            waiting.setdefault(name, {})[pairing] = None
    steps = {name: 1 / len(own) for name, own in waiting.items()}
    played = dict.fromkeys(sorted(waiting), 0.0)
    ordered: dict[Pairing, None] = {}

    def advance(pairing: Pairing) -> tuple[float, float]:
        shares = [played[name] for name in pairing]
        return max(shares), sum(shares)

    while played:
        name = min(played, key=played.__getitem__)
        pairing = min(waiting[name], key=advance)
        ordered[pairing] = None
        for name in pairing:
            del waiting[name][pairing]
            played[name] += steps[name]
            if not waiting[name]:
                del played[name]
    return ordered


def _canonical(names: Sequence[str], members: int) -> Pairing:
    """The one order of names that stand side by side."""
    sides = sorted(tuple(sorted(names[start : start + members])) for start in range(0, len(names), members))
    return tuple(chain.from_iterable(sides))
