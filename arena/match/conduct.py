"""What a seat did in the deals of a match, as counters that add up: how they ended for it, what it did and scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields

from arena.game.rules import Rules
from arena.game.scoring import Termination
from arena.game.table import Table
from arena.match.record import MatchRecord


@dataclass(frozen=True, slots=True)
class Conduct:
    """Counters by name.  A dealer who sits out has no part in a deal."""

    won: Counter[str] = field(default_factory=Counter)
    """Deals in which its side scored, and no other more, by how they ended: see `ends`."""
    drawn: Counter[str] = field(default_factory=Counter)
    """Deals in which nobody scored, likewise."""
    lost: Counter[str] = field(default_factory=Counter)
    """All other deals, likewise."""
    deals: Counter[str] = field(default_factory=Counter)
    """Deals by the seat's role, as all that follows up to `opponents`."""
    points_for: Counter[str] = field(default_factory=Counter)
    """Game points of its side."""
    points_against: Counter[str] = field(default_factory=Counter)
    """Those of all other sides that played the deal."""
    opponents: Counter[str] = field(default_factory=Counter)
    """How many sides these were."""
    closed: Counter[str] = field(default_factory=Counter)
    """Deals that it closed: `won`, where its side scored, and `failed`."""
    claimed: Counter[str] = field(default_factory=Counter)
    """Its claims: `right` and `wrong`."""
    marriages: Counter[str] = field(default_factory=Counter)
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
                result = conduct.won if mine >= max(others) else conduct.lost
                (result if any(deal.points) else conduct.drawn)[end] += 1
                conduct.deals[role] += 1
                conduct.points_for[role] += mine
                conduct.points_against[role] += sum(others)
                conduct.opponents[role] += len(others)
            if deal.closer is not None:
                won = deal.points[table.side_of[deal.closer]] > 0
                seats[deal.closer].closed["won" if won else "failed"] += 1
            if deal.termination is Termination.CLAIM:
                seats[deal.seat].claimed["right"] += 1
            if deal.termination is Termination.FALSE_CLAIM:
                seats[deal.seat].claimed["wrong"] += 1
            for seat, points in deal.marriages:
                seats[seat].marriages[str(points)] += 1
        return seats

    def add(self, other: Conduct) -> None:
        """Count all that the other has counted."""
        for name in _NAMES:
            getattr(self, name).update(getattr(other, name))

    def margin(self, role: str) -> float | None:
        """Game points a deal in that role, its own less the mean of the other sides'; None without such a deal."""
        if not self.deals[role]:
            return None
        return self.points_for[role] / self.deals[role] - self.points_against[role] / self.opponents[role]

    def to_json(self) -> dict[str, dict[str, int]]:
        """Plain values for the store; no key for counters that are empty."""
        return {name: dict(sorted(counter.items())) for name in _NAMES if (counter := getattr(self, name))}

    @classmethod
    def from_json(cls, data: Mapping[str, Mapping[str, int]]) -> Conduct:
        """The inverse of `to_json`."""
        return cls(**{name: Counter(data.get(name, {})) for name in _NAMES})


_NAMES = tuple(each.name for each in fields(Conduct))


def ends(record: MatchRecord) -> Iterator[str]:
    """How each deal ended: the label of its termination, or of the fault that ended it."""
    faults = {fault.deal: fault.fault.label for fault in record.faults}
    for number, deal in enumerate(record.deals, start=1):
        yield faults.get(number, str(deal.termination))
