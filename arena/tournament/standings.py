"""What the finished matches add up to: pure functions of their summaries, whatever the order these come in.

A void match counts nowhere.  A *pair* is a pairing's matches on one list, one in each seating: as many as participants
meet.  It counts once all are finished: an unfinished one is no evidence.  Each match is given at most once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import product
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from arena.match.conduct import Conduct
from arena.match.record import Status
from arena.match.summary import Histogram, MatchKey, MatchSummary, SideSummary

_VERSION = 1
"""Of what is counted, and how."""


@dataclass(frozen=True, slots=True, order=True)
class Tally:
    """Wins, draws and losses of one participant."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    @property
    def total(self) -> int:
        return self.won + self.drawn + self.lost


@dataclass(frozen=True, slots=True, order=True)
class PairResult:
    """The unit of evidence: one pairing's matches on one list number, one in each seating."""

    epoch: int
    pairing: tuple[str, ...]
    number: int
    sides: tuple[tuple[str, ...], ...]
    """The participants of each side, in the order of `pairing`."""
    ranks: tuple[int, ...]
    """The rank of each side, 0 the best; equal is shared.

    Two sides rank by matches won (one that the sides share is won by none).  More sides rank by match points over all
    matches, but who lost a match by a fault comes after all who lost fewer so: leaving never pays.
    """
    mirrored: bool
    """Whether all its matches were played on the same decks."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One participant's totals over its finished matches."""

    participant: str
    matches: Tally = field(default_factory=Tally)
    """Won: ranked first alone.  Drawn: the first rank shared.  Lost: not first."""
    pairs: Tally = field(default_factory=Tally)
    """Complete pairs, in the same sense."""
    points_for: int = 0
    """Match points over all matches, each match capped at the target."""
    points_against: int = 0
    """Those of all other sides together."""
    sides: int = 2
    """How many sides its matches have."""
    deals: int = 0
    deals_won: int = 0
    faults: Mapping[str, int] = field(default_factory=dict)
    """Faults of its side by their label."""
    times: Histogram = field(default_factory=lambda: Histogram({}))
    """Of each of its decisions."""

    @property
    def margin(self) -> float | None:
        """Points for a match, less the mean of what each other side had; None before the first match."""
        total = self.matches.total
        return (self.points_for - self.points_against / (self.sides - 1)) / total if total else None


@dataclass(frozen=True, slots=True)
class Encounter:
    """One participant against one other on another side, as the first sees it."""

    matches: Tally = field(default_factory=Tally)
    """Won: ranked before the other.  Drawn: level with it.  Lost: ranked behind it."""
    pairs: Tally = field(default_factory=Tally)
    """Complete pairs, in the same sense."""
    points_for: int = 0
    points_against: int = 0

    @property
    def margin(self) -> float:
        """Game points a match, its own less the other's."""
        return (self.points_for - self.points_against) / self.matches.total


def withdrawn(scheduled: Mapping[str, int], played: Mapping[str, int]) -> frozenset[str]:
    """Of those who are out, with their matches scheduled and played: who played less than half, and so leaves no trace.

    None of its matches counts then, for anybody; of all others those that were played do.
    """
    return frozenset(name for name, matches in scheduled.items() if 2 * played.get(name, 0) < matches)


def complete_pairs(summaries: Iterable[MatchSummary]) -> list[PairResult]:
    """The evidence: every pair of which all legs are finished, sorted by epoch, pairing and number."""
    return Totals.of(summaries).pairs


@dataclass(frozen=True, slots=True)
class MirrorLuck:
    """How much alike, or rather unlike, the two matches of a mirrored pair come out."""

    pairs: int
    correlation: float
    """Of the results of one participant in both, within each pairing: the luck of the deck makes it negative."""

    @property
    def gain(self) -> float:
        """How many times as many matches on decks of their own would tell as much."""
        return 1 / max(1 + self.correlation, 1e-9)


class Totals:
    """All that finished matches add up to, told one by one; it keeps no match but the legs of incomplete pairs."""

    def __init__(self) -> None:
        self.matches = 0
        self.forfeits = 0
        """Matches that a fault lost."""
        self.lost_with_fault = 0
        """Other matches that a side with a fault has lost."""
        self.faults: Counter[str] = Counter()
        """By their label."""
        self.ends: Counter[str] = Counter()
        """Deals by the label of their termination or fault."""
        self._sums: defaultdict[str, _Sums] = defaultdict(_Sums)
        self._met: defaultdict[tuple[str, str], _Meeting] = defaultdict(_Meeting)
        self._legs: dict[tuple[int, tuple[str, ...], int], list[_Leg]] = {}
        self._pairs: defaultdict[_Course, list[int]] = defaultdict(list)
        """The numbers of complete pairs by what is known of them else."""
        self._luck: defaultdict[tuple[str, ...], Counter[tuple[float, float]]] = defaultdict(Counter)
        """By pairing, how often its first participant had these results in the legs of a mirrored pair."""

    @classmethod
    def of(cls, summaries: Iterable[MatchSummary]) -> Totals:
        """The totals of these matches."""
        totals = cls()
        for summary in summaries:
            totals.add(summary)
        return totals

    def add(self, match: MatchSummary) -> None:
        """One more match."""
        if match.status is Status.VOID:
            return
        self.ends.update(match.terminations)
        self._count_faults(match)
        points = sum(side.points for side in match.sides)
        for side in match.sides:
            others = [other for other in match.sides if other is not side]
            sign = _sign(min(other.rank for other in others) - side.rank)
            for name in members(side):
                self._sums[name].add(name, match, side, sign, points - side.points)
                for other in others:
                    for opponent in members(other):
                        self._met[name, opponent].add(_sign(other.rank - side.rank), side.points, other.points)
        self._pair(match)

    @property
    def pairs(self) -> list[PairResult]:
        """The evidence: every pair of which all legs are finished, sorted by epoch, pairing and number."""
        return sorted(
            PairResult(course.epoch, course.pairing, number, course.sides, course.ranks, course.mirrored)
            for course, numbers in self._pairs.items()
            for number in numbers
        )

    def outcomes(self) -> Counter[tuple[tuple[tuple[str, ...], ...], tuple[int, ...]]]:
        """How many complete pairs there are by their sides and the ranks of these."""
        outcomes: Counter[tuple[tuple[tuple[str, ...], ...], tuple[int, ...]]] = Counter()
        for course, numbers in self._pairs.items():
            outcomes[course.sides, course.ranks] += len(numbers)
        return outcomes

    def standings(self, participants: Iterable[str] = ()) -> dict[str, Standing]:
        """Each participant's standing, sorted by name; `participants` are there even without a match."""
        return {name: self._sums.get(name, _Sums()).standing(name) for name in sorted({*participants, *self._sums})}

    def crosstable(self) -> dict[tuple[str, str], Encounter]:
        """Each (participant, opponent) that met, both ways round, sorted by name."""
        return {
            names: Encounter(_tally(met.matches), _tally(met.pairs), met.points_for, met.points_against)
            for names, met in sorted(self._met.items(), key=itemgetter(0))
        }

    def conduct(self) -> dict[str, Conduct]:
        """What each participant did in its deals so far."""
        return {name: deepcopy(sums.conduct) for name, sums in self._sums.items()}

    def mirror_luck(self) -> MirrorLuck | None:
        """Over all complete mirrored pairs of two sides; None where their results do not vary."""
        both = first = second = 0.0
        for _, results in sorted(self._luck.items()):
            mean = sum(count * (one + other) for (one, other), count in results.items()) / (2 * results.total())
            for (one, other), count in sorted(results.items()):
                both += count * (one - mean) * (other - mean)
                first += count * (one - mean) ** 2
                second += count * (other - mean) ** 2
        if not first or not second:
            return None
        return MirrorLuck(sum(map(Counter.total, self._luck.values())), both / (first * second) ** 0.5)

    def to_json(self) -> dict[str, Any]:
        """Plain values, the same for any order of the matches."""
        return {
            "version": _VERSION,
            "matches": self.matches,
            "forfeits": self.forfeits,
            "lost_with_fault": self.lost_with_fault,
            "faults": self.faults,
            "ends": self.ends,
            "sums": {name: sums.to_json() for name, sums in self._sums.items()},
            "met": sorted([*names, *met.to_json()] for names, met in self._met.items()),
            "legs": sorted([*identity, sorted(legs)] for identity, legs in self._legs.items()),
            "pairs": sorted([*course, sorted(numbers)] for course, numbers in self._pairs.items()),
            "luck": sorted(
                [pairing, *results, count] for pairing, luck in self._luck.items() for results, count in luck.items()
            ),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Totals | None:
        """The inverse of `to_json`; None for what another version has counted."""
        if data["version"] != _VERSION:
            return None
        totals = cls()
        totals.matches, totals.forfeits = data["matches"], data["forfeits"]
        totals.lost_with_fault = data["lost_with_fault"]
        totals.faults.update(data["faults"])
        totals.ends.update(data["ends"])
        totals._sums.update((name, _Sums.from_json(sums)) for name, sums in data["sums"].items())
        totals._met.update(((name, opponent), _Meeting(*met)) for name, opponent, *met in data["met"])
        for epoch, pairing, number, legs in data["legs"]:
            totals._legs[epoch, tuple(pairing), number] = [_Leg.from_json(*leg) for leg in legs]
        for epoch, pairing, sides, ranks, mirrored, numbers in data["pairs"]:
            course = _Course(epoch, tuple(pairing), tuple(map(tuple, sides)), tuple(ranks), mirrored)
            totals._pairs[course] = numbers
        for pairing, one, two, count in data["luck"]:
            totals._luck[tuple(pairing)][one, two] = count
        return totals

    def _count_faults(self, match: MatchSummary) -> None:
        self.matches += 1
        faulty = [side for side in match.sides if side.faults]
        for side in faulty:
            self.faults.update(side.faults)
        if match.forfeited_by is not None:
            self.forfeits += 1
        elif any(side.rank > 1 for side in faulty):
            self.lost_with_fault += 1

    def _pair(self, match: MatchSummary) -> None:
        """Note a leg of a pair, and what the pair comes to where it was the last."""
        key = match.key
        identity = (key.epoch, key.pairing, key.number)
        legs = self._legs.setdefault(identity, [])
        legs.append(_Leg.of(match))
        if len(legs) < len(key.pairing):
            return
        del self._legs[identity]
        course = _course(key, legs)
        self._pairs[course].append(key.number)
        alone = course.ranks.count(0) == 1
        for place, (names, rank) in enumerate(zip(course.sides, course.ranks, strict=True)):
            for name in names:
                self._sums[name].pairs[int(alone) if rank == 0 else -1] += 1
            for other, (theirs, other_rank) in enumerate(zip(course.sides, course.ranks, strict=True)):
                if other != place:
                    for met in product(names, theirs):
                        self._met[met].pairs[_sign(other_rank - rank)] += 1
        if course.mirrored and len(course.sides) == 2 and len(key.pairing) == 2:
            one, two = sorted(legs, key=attrgetter("leg"))
            self._luck[key.pairing][one.result, two.result] += 1


def _no_signs() -> list[int]:
    """Counts by sign: draws, wins, and last, at -1, losses."""
    return [0, 0, 0]


@dataclass(slots=True)
class _Sums:
    """What is counted of a participant."""

    matches: list[int] = field(default_factory=_no_signs)
    pairs: list[int] = field(default_factory=_no_signs)
    points_for: int = 0
    points_against: int = 0
    sides: int = 2
    deals: int = 0
    deals_won: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    times: Counter[int] = field(default_factory=Counter)
    conduct: Conduct = field(default_factory=Conduct)

    def add(self, name: str, match: MatchSummary, side: SideSummary, sign: int, points_against: int) -> None:
        self.matches[sign] += 1
        self.points_for += side.points
        self.points_against += points_against
        self.sides = len(match.sides)
        self.deals += match.deals
        self.deals_won += side.deals_won
        if side.faults:
            self.faults.update(side.faults)
        for seat, participant in enumerate(side.participants):
            if participant == name:
                times = self.times
                for bucket, count in side.times[seat].counts.items():
                    times[bucket] += count
                if side.conduct:
                    self.conduct.add(side.conduct[seat])

    def to_json(self) -> list[Any]:
        return [
            *(self.matches, self.pairs, self.points_for, self.points_against, self.sides, self.deals, self.deals_won),
            self.faults,
            {str(bucket): count for bucket, count in self.times.items()},
            self.conduct.to_json(),
        ]

    @classmethod
    def from_json(cls, data: Sequence[Any]) -> _Sums:
        sums = cls(*data)
        sums.faults, sums.conduct = Counter(sums.faults), Conduct.from_json(data[-1])
        sums.times = Counter({int(bucket): count for bucket, count in data[-2].items()})
        return sums

    def standing(self, name: str) -> Standing:
        return Standing(
            participant=name,
            matches=_tally(self.matches),
            pairs=_tally(self.pairs),
            points_for=self.points_for,
            points_against=self.points_against,
            sides=self.sides,
            deals=self.deals,
            deals_won=self.deals_won,
            faults=dict(sorted(self.faults.items())),
            times=Histogram(dict(sorted(self.times.items()))),
        )


@dataclass(slots=True)
class _Meeting:
    """What is counted of a participant against one other."""

    matches: list[int] = field(default_factory=_no_signs)
    pairs: list[int] = field(default_factory=_no_signs)
    points_for: int = 0
    points_against: int = 0

    def add(self, sign: int, points: int, others: int) -> None:
        self.matches[sign] += 1
        self.points_for += points
        self.points_against += others

    def to_json(self) -> list[Any]:
        return [self.matches, self.pairs, self.points_for, self.points_against]


class _Leg(NamedTuple):
    """What a pair needs to know of one of its matches."""

    leg: int
    mirrored: bool
    merits: tuple[tuple[tuple[str, ...], int, int], ...]
    """Of each side its names, and what it adds to their rank in the pair."""
    result: float
    """Of the first of the pairing: 1 for a match won, 1/2 for the first rank shared, 0 else."""

    @classmethod
    def of(cls, match: MatchSummary) -> _Leg:
        merits = tuple((members(side), *_merit(match, number)) for number, side in enumerate(match.sides))
        first = match.key.pairing[0]
        rank = next(side.rank for side in match.sides if first in side.participants)
        best = min(side.rank for side in match.sides if first not in side.participants)
        return cls(match.key.leg, match.mirrored, merits, (1 + _sign(best - rank)) / 2)

    @classmethod
    def from_json(cls, leg: int, mirrored: bool, merits: Iterable[tuple[Any, int, int]], result: float) -> _Leg:
        return cls(leg, mirrored, tuple((tuple(names), kept, gained) for names, kept, gained in merits), result)


class _Course(NamedTuple):
    """How a complete pair went, but for its number."""

    epoch: int
    pairing: tuple[str, ...]
    sides: tuple[tuple[str, ...], ...]
    ranks: tuple[int, ...]
    mirrored: bool


def end_reasons(*totals: Totals) -> dict[str, int]:
    """How the deals ended: their number by the label of the termination or fault, the commonest first."""
    ends = sum((each.ends for each in totals), Counter[str]())
    return dict(sorted(ends.items(), key=lambda item: (-item[1], item[0])))


def members(side: SideSummary) -> tuple[str, ...]:
    """The participants of a side, each once, sorted."""
    return side.participants if len(side.participants) == 1 else tuple(sorted(set(side.participants)))


def _course(key: MatchKey, legs: Sequence[_Leg]) -> _Course:
    """What the matches of one pair come to."""
    merits: dict[tuple[str, ...], tuple[int, int]] = {}
    for leg in legs:
        for names, more_kept, more_gained in leg.merits:
            kept, gained = merits.get(names, (0, 0))
            merits[names] = (kept + more_kept, gained + more_gained)
    order = sorted(set(merits.values()), reverse=True)
    return _Course(
        key.epoch,
        key.pairing,
        sides=tuple(sorted(merits)),
        ranks=tuple(order.index(merits[names]) for names in sorted(merits)),
        mirrored=all(leg.mirrored for leg in legs),
    )


def _merit(match: MatchSummary, number: int) -> tuple[int, int]:
    """What a match adds to a side of a pair: -1 if a fault of its own lost it, and what the sides are ranked by."""
    ranks = [side.rank for side in match.sides]
    if len(ranks) == 2:
        return 0, int(ranks[number] == 1 and ranks.count(1) == 1)
    return -int(match.forfeited_by == number), match.sides[number].points


def _sign(difference: int) -> int:
    return (difference > 0) - (difference < 0)


def _tally(signs: Sequence[int]) -> Tally:
    drawn, won, lost = signs
    return Tally(won, drawn, lost)
