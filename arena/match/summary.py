"""What tables need of a match, so that they never unpack a record: identity, result and mergeable counters by side."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from arena.game.rules import Rules
from arena.game.table import Table
from arena.match.conduct import Conduct, ends
from arena.match.record import MatchRecord, Status


@dataclass(frozen=True, slots=True, order=True)
class MatchKey:
    """The identity of a match within a tournament; it never depends on when or by whom it is played."""

    epoch: int
    pairing: tuple[str, ...]
    """The names of the participants, side by side: the members of each side sorted, and then the sides.

    Each name stands once, whatever seats it has.  So where each side is of one participant the names are sorted, and
    of mixed partners the first half of the names is one side, the second half the other.
    """
    leg: int
    """Which seating of the pairing: as many as names.  Each moves everybody by a seat; in leg 0 the first name has
    seat 0, and the sides take turns round the table."""
    number: int
    """The number of the deck list, from 0."""


BUCKETS_PER_DECADE = 20


@dataclass(frozen=True, slots=True)
class Histogram:
    """Times in buckets of a logarithmic scale (20 a decade, so about 12 % wide); merging is adding."""

    counts: Mapping[int, int]
    """Number of times by bucket; bucket b holds up to 10^(b/20) microseconds."""

    @classmethod
    def of(cls, times_us: Iterable[int]) -> Histogram:
        """The histogram of times in microseconds."""
        return cls(Counter(map(bucket_of, times_us)))

    def __add__(self, other: Histogram) -> Histogram:
        merged = Counter(self.counts)
        merged.update(other.counts)
        return Histogram(merged)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def quantile_ms(self, q: float) -> float | None:
        """The q-quantile (0..1) in milliseconds, up to the width of a bucket; None of no times at all."""
        total = self.total
        if not total:
            return None
        seen = 0
        for bucket in sorted(self.counts):
            seen += self.counts[bucket]
            if seen >= q * total:
                break
        return float(10.0 ** (bucket / BUCKETS_PER_DECADE) / 1000)

    def to_json(self) -> dict[str, int]:
        return {str(bucket): self.counts[bucket] for bucket in sorted(self.counts)}

    @classmethod
    def from_json(cls, data: Mapping[str, int]) -> Histogram:
        return cls({int(bucket): count for bucket, count in data.items()})


@lru_cache(maxsize=1 << 14)
def bucket_of(time_us: int) -> int:
    """The bucket of a histogram that a time in microseconds belongs to."""
    return 0 if time_us <= 1 else math.ceil(BUCKETS_PER_DECADE * math.log10(time_us))


@dataclass(frozen=True, slots=True)
class SideSummary:
    """One side of a match."""

    participants: tuple[str, ...]
    """The participants on the side's seats, in the order of the seats."""
    points: int
    """Final match points, capped at the target."""
    rank: int
    deals_won: int
    faults: Mapping[str, int]
    """Faults by their label."""
    times: tuple[Histogram, ...]
    """Of the decisions of each of its seats, in the order of `participants`, as `conduct`."""
    conduct: tuple[Conduct, ...] = ()
    """Of each of its seats; empty where nobody asks for it."""


@dataclass(frozen=True, slots=True)
class MatchSummary:
    """A finished match as tables see it."""

    key: MatchKey
    status: Status
    mirrored: bool
    """False where the two legs are not played on the same decks."""
    deals: int
    terminations: Mapping[str, int]
    """Deals by the label of their termination; a fault's deal counts under the fault's label."""
    forfeited_by: int | None
    sides: tuple[SideSummary, ...]

    @classmethod
    def of(
        cls, key: MatchKey, mirrored: bool, seats: tuple[str, ...], rules: Rules, record: MatchRecord
    ) -> MatchSummary:
        """The summary of a record played by `seats` (the participant of each seat)."""
        table = Table.of(rules)
        faults: list[Counter[str]] = [Counter() for _ in range(table.sides)]
        for fault in record.faults:
            faults[table.side_of[fault.seat]][fault.fault.label] += 1
        conduct = Conduct.of(rules, record)
        sides = tuple(
            SideSummary(
                participants=tuple(seats[seat] for seat in table.members[side]),
                points=record.points[side],
                rank=record.ranks[side],
                deals_won=sum(
                    bool(deal.points[side]) and deal.points[side] == max(deal.points) for deal in record.deals
                ),
                faults=dict(faults[side]),
                times=tuple(Histogram.of(_times(record, seat)) for seat in table.members[side]),
                conduct=tuple(conduct[seat] for seat in table.members[side]),
            )
            for side in range(table.sides)
        )
        return cls(
            key=key,
            status=record.status,
            mirrored=mirrored,
            deals=len(record.deals),
            terminations=Counter(ends(record)),
            forfeited_by=record.forfeited_by,
            sides=sides,
        )

    def to_json(self) -> dict[str, Any]:
        """The sides and counters as plain values (the key and the status have columns of their own)."""
        return {
            "deals": self.deals,
            "terminations": dict(sorted(self.terminations.items())),
            "forfeited_by": self.forfeited_by,
            "sides": [
                {
                    "participants": list(side.participants),
                    "points": side.points,
                    "rank": side.rank,
                    "deals_won": side.deals_won,
                    "faults": dict(sorted(side.faults.items())),
                    "times": [times.to_json() for times in side.times],
                    "conduct": [conduct.to_json() for conduct in side.conduct],
                }
                for side in self.sides
            ],
        }

    @classmethod
    def from_json(cls, key: MatchKey, status: Status, mirrored: bool, data: Mapping[str, Any]) -> MatchSummary:
        """The inverse of `to_json`."""
        return cls(
            key=key,
            status=status,
            mirrored=mirrored,
            deals=data["deals"],
            terminations=data["terminations"],
            forfeited_by=data["forfeited_by"],
            sides=tuple(
                SideSummary(
                    participants=tuple(side["participants"]),
                    points=side["points"],
                    rank=side["rank"],
                    deals_won=side["deals_won"],
                    faults=side["faults"],
                    times=tuple(map(Histogram.from_json, side["times"])),
                    conduct=tuple(map(Conduct.from_json, side["conduct"])),
                )
                for side in data["sides"]
            ),
        )


def _times(record: MatchRecord, seat: int) -> tuple[int, ...]:
    times = record.testimony.took_us
    return times[seat] if times else ()
