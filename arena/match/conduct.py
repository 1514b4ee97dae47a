"""What a seat did in the deals of a match, as counters that add up: how they ended for it, what it did and scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from arena.game.rules import Rules
from arena.game.scoring import Termination
from arena.game.table import Table
from arena.match.record import MatchRecord


class _Counter:
    """One of the counters, as an attribute."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, conduct: Conduct, owner: type) -> Counter[str]:
        return Counter(conduct.counts.get(self._name, {}))


@dataclass(frozen=True, slots=True)
class Conduct:
    """Counters by name.  A dealer who sits out has no part in a deal."""

    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    """All of them, but for those that are empty: as the store holds them, since most are only ever added up."""

    won = _Counter()
    """Deals in which its side scored, and no other more, by how they ended: see `ends`."""
    drawn = _Counter()
    """Deals in which nobody scored, likewise."""
    lost = _Counter()
    """All other deals, likewise."""
    deals = _Counter()
    """Deals by the seat's role, as all that follows up to `opponents`."""
    points_for = _Counter()
    """Game points of its side."""
    points_against = _Counter()
    """Those of all other sides that played the deal."""
    opponents = _Counter()
    """How many sides these were."""
    closed = _Counter()
    """Deals that it closed: `won`, where its side scored, and `failed`."""
    claimed = _Counter()
    """Its claims: `right` and `wrong`."""
    marriages = _Counter()
    """Its declarations by their points."""

    @classmethod
    def of(cls, rules: Rules, record: MatchRecord) -> tuple[Conduct, ...]:
        """The conduct of each seat in a match."""
        table = Table.of(rules)
        seats = tuple(cls() for _ in range(table.seats))
        for deal, end in zip(record.deals, ends(record), strict=True):
            for seat, role in table.roles(deal.dealer):
                conduct = seats[seat]
                side = table.side_of[seat]
                mine = deal.points[side]
                others = [deal.points[other] for other in table.opponents[deal.dealer][side]]
                result = "won" if mine >= max(others) else "lost"
                conduct._count(result if any(deal.points) else "drawn", end)
                conduct._count("deals", role)
                conduct._count("points_for", role, mine)
                conduct._count("points_against", role, sum(others))
                conduct._count("opponents", role, len(others))
            if deal.closer is not None:
                won = deal.points[table.side_of[deal.closer]] > 0
                seats[deal.closer]._count("closed", "won" if won else "failed")
            if deal.termination is Termination.CLAIM:
                seats[deal.seat]._count("claimed", "right")
            if deal.termination is Termination.FALSE_CLAIM:
                seats[deal.seat]._count("claimed", "wrong")
            for seat, points in deal.marriages:
                seats[seat]._count("marriages", str(points))
        return seats

    def _count(self, name: str, key: str, count: int = 1) -> None:
        counts = self.counts.setdefault(name, {})
        counts[key] = counts.get(key, 0) + count

    def add(self, other: Conduct) -> None:
        """Count all that the other has counted."""
        for name, theirs in other.counts.items():
            mine = self.counts.setdefault(name, {})
            for key, count in theirs.items():
                mine[key] = mine.get(key, 0) + count

    def margin(self, role: str) -> float | None:
        """Game points a deal in that role, its own less the mean of the other sides'; None without such a deal."""
        if not self.deals[role]:
            return None
        return self.points_for[role] / self.deals[role] - self.points_against[role] / self.opponents[role]

    def to_json(self) -> dict[str, dict[str, int]]:
        """Plain values for the store; no key for counters that are empty."""
        return {name: dict(sorted(counts.items())) for name, counts in sorted(self.counts.items())}

    @classmethod
    def from_json(cls, data: dict[str, dict[str, int]]) -> Conduct:
        """The inverse of `to_json`."""
        return cls(data)


def ends(record: MatchRecord) -> Iterator[str]:
    """How each deal ended: the label of its termination, or of the fault that ended it."""
    faults = {fault.deal: fault.fault.label for fault in record.faults}
    for number, deal in enumerate(record.deals, start=1):
        yield faults.get(number, str(deal.termination))
