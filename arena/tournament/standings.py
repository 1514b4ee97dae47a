"""What the finished matches add up to: pure functions of their summaries, whatever the order these come in.

A void match counts nowhere.  A *pair* is a pairing's matches on one list, one in each seating: as many as participants
meet.  It counts once all are finished: an unfinished one is no evidence.  Each match is given at most once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product

from arena.match.record import Status
from arena.match.summary import Histogram, MatchSummary, SideSummary


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
    pairs: defaultdict[tuple[int, tuple[str, ...], int], dict[int, MatchSummary]] = defaultdict(dict)
    for match in _finished(summaries):
        pairs[match.key.epoch, match.key.pairing, match.key.number][match.key.leg] = match
    return sorted(
        _pair_result(list(legs.values())) for (_, pairing, _), legs in pairs.items() if len(legs) == len(pairing)
    )


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


def mirror_luck(summaries: Iterable[MatchSummary]) -> MirrorLuck | None:
    """Over all complete mirrored pairs of two sides; None where their results do not vary."""
    results: defaultdict[tuple[str, ...], list[tuple[float, float]]] = defaultdict(list)
    legs: defaultdict[tuple[int, tuple[str, ...], int], dict[int, MatchSummary]] = defaultdict(dict)
    for match in _finished(summaries):
        if match.mirrored and len(match.sides) == 2 and len(match.key.pairing) == 2:
            legs[match.key.epoch, match.key.pairing, match.key.number][match.key.leg] = match
    for (_, pairing, _), pair in sorted(legs.items()):
        if len(pair) == 2:
            results[pairing].append((_result_of(pairing[0], pair[0]), _result_of(pairing[0], pair[1])))
    both = first = second = 0.0
    for pairs in results.values():
        mean = sum(map(sum, pairs)) / (2 * len(pairs))
        both += sum((one - mean) * (other - mean) for one, other in pairs)
        first += sum((one - mean) ** 2 for one, _ in pairs)
        second += sum((other - mean) ** 2 for _, other in pairs)
    if not first or not second:
        return None
    return MirrorLuck(sum(map(len, results.values())), both / (first * second) ** 0.5)


def _result_of(name: str, match: MatchSummary) -> float:
    """1 for a match won, 1/2 for the first rank shared, 0 else."""
    mine, other = sorted(match.sides, key=lambda side: name not in side.participants)
    return (1 + _sign(other.rank - mine.rank)) / 2


def standings(summaries: Iterable[MatchSummary], participants: Iterable[str] = ()) -> dict[str, Standing]:
    """Each participant's standing, sorted by name; `participants` are there even without a match."""
    finished = _finished(summaries)
    played: defaultdict[str, list[tuple[MatchSummary, SideSummary]]] = defaultdict(list)
    for match in finished:
        for side in match.sides:
            for name in members(side):
                played[name].append((match, side))
    paired: defaultdict[str, list[int]] = defaultdict(list)
    for pair in complete_pairs(finished):
        for names, rank in zip(pair.sides, pair.ranks, strict=True):
            alone = pair.ranks.count(0) == 1
            for name in names:
                paired[name].append(int(alone) if rank == 0 else -1)
    return {name: _standing(name, played[name], paired[name]) for name in sorted({*participants, *played})}


def crosstable(summaries: Iterable[MatchSummary]) -> dict[tuple[str, str], Encounter]:
    """Each (participant, opponent) that met, both ways round, sorted by name."""
    finished = _finished(summaries)
    met: defaultdict[tuple[str, str], list[tuple[SideSummary, SideSummary]]] = defaultdict(list)
    for match in finished:
        for side, other in permutations(match.sides, 2):
            for names in product(members(side), members(other)):
                met[names].append((side, other))
    paired: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for pair in complete_pairs(finished):
        for (mine, rank), (theirs, other_rank) in permutations(zip(pair.sides, pair.ranks, strict=True), 2):
            for names in product(mine, theirs):
                paired[names].append(_sign(other_rank - rank))
    return {
        names: Encounter(
            matches=_tally(_sign(other.rank - side.rank) for side, other in met[names]),
            pairs=_tally(paired[names]),
            points_for=sum(side.points for side, _ in met[names]),
            points_against=sum(other.points for _, other in met[names]),
        )
        for names in sorted(met)
    }


def members(side: SideSummary) -> tuple[str, ...]:
    """The participants of a side, each once, sorted."""
    return tuple(sorted(set(side.participants)))


def end_reasons(summaries: Iterable[MatchSummary]) -> dict[str, int]:
    """How the deals ended: their number by the label of the termination or fault, the commonest first."""
    reasons: Counter[str] = Counter()
    for match in _finished(summaries):
        reasons.update(match.terminations)
    return dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0])))


def _standing(name: str, played: Sequence[tuple[MatchSummary, SideSummary]], pairs: Iterable[int]) -> Standing:
    others = [[other for other in match.sides if other is not side] for match, side in played]
    faults: Counter[str] = Counter()
    times: Counter[int] = Counter()
    for _, side in played:
        faults.update(side.faults)
        for participant, seat_times in zip(side.participants, side.times, strict=True):
            if participant == name:
                times.update(seat_times.counts)
    return Standing(
        participant=name,
        matches=_tally(
            _sign(min(other.rank for other in rest) - side.rank) for (_, side), rest in zip(played, others, strict=True)
        ),
        pairs=_tally(pairs),
        points_for=sum(side.points for _, side in played),
        points_against=sum(other.points for rest in others for other in rest),
        sides=len(played[0][0].sides) if played else 2,
        deals=sum(match.deals for match, _ in played),
        deals_won=sum(side.deals_won for _, side in played),
        faults=dict(sorted(faults.items())),
        times=Histogram(dict(sorted(times.items()))),
    )


def _finished(summaries: Iterable[MatchSummary]) -> list[MatchSummary]:
    return [match for match in summaries if match.status is not Status.VOID]


def _pair_result(matches: Sequence[MatchSummary]) -> PairResult:
    """What the matches of one pair come to."""
    key = matches[0].key
    merits: dict[tuple[str, ...], tuple[int, int]] = {}
    for match in matches:
        for number, side in enumerate(match.sides):
            kept, gained = merits.get(members(side), (0, 0))
            more_kept, more_gained = _merit(match, number)
            merits[members(side)] = (kept + more_kept, gained + more_gained)
    order = sorted(set(merits.values()), reverse=True)
    return PairResult(
        epoch=key.epoch,
        pairing=key.pairing,
        number=key.number,
        sides=tuple(sorted(merits)),
        ranks=tuple(order.index(merits[names]) for names in sorted(merits)),
        mirrored=all(match.mirrored for match in matches),
    )


def _merit(match: MatchSummary, number: int) -> tuple[int, int]:
    """What a match adds to a side of a pair: -1 if a fault of its own lost it, and what the sides are ranked by."""
    ranks = [side.rank for side in match.sides]
    if len(ranks) == 2:
        return 0, int(ranks[number] == 1 and ranks.count(1) == 1)
    return -int(match.forfeited_by == number), match.sides[number].points


def _sign(difference: int) -> int:
    return (difference > 0) - (difference < 0)


def _tally(signs: Iterable[int]) -> Tally:
    """Of 1 for each win, 0 for each draw, -1 for each loss."""
    counts = Counter(signs)
    return Tally(won=counts[1], drawn=counts[0], lost=counts[-1])
