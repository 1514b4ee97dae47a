"""What the finished matches add up to: pure functions of their summaries, whatever the order these come in.

A void match counts nowhere.  A pair counts once all its legs are finished: an unfinished one is no evidence.
Each match is given at most once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

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
    wins: tuple[int, ...]
    """Matches won, by participant in the order of `pairing`; a match that two sides share is won by none."""
    mirrored: bool
    """Whether all its matches were played on the same decks."""

    def won_by(self, participant: str) -> int:
        """Matches that the participant won."""
        return self.wins[self.pairing.index(participant)]


@dataclass(frozen=True, slots=True)
class Standing:
    """One participant's totals over its finished matches."""

    participant: str
    matches: Tally = field(default_factory=Tally)
    pairs: Tally = field(default_factory=Tally)
    """Complete pairs, won by who won more of their matches."""
    points_for: int = 0
    """Match points over all matches, each match capped at the target."""
    points_against: int = 0
    deals: int = 0
    deals_won: int = 0
    faults: Mapping[str, int] = field(default_factory=dict)
    """Its faults by their label."""
    times: Histogram = field(default_factory=lambda: Histogram({}))
    """Of each decision."""

    @property
    def margin(self) -> float | None:
        """Points for less points against a match; None before the first match."""
        total = self.matches.total
        return (self.points_for - self.points_against) / total if total else None


@dataclass(frozen=True, slots=True)
class Encounter:
    """One participant against one other, as the first sees it."""

    matches: Tally = field(default_factory=Tally)
    pairs: Tally = field(default_factory=Tally)
    points_for: int = 0
    points_against: int = 0


def complete_pairs(summaries: Iterable[MatchSummary]) -> list[PairResult]:
    """The evidence: every pair of which all legs are finished, sorted by epoch, pairing and number."""
    pairs: defaultdict[tuple[int, tuple[str, ...], int], dict[int, MatchSummary]] = defaultdict(dict)
    for match in _finished(summaries):
        pairs[match.key.epoch, match.key.pairing, match.key.number][match.key.leg] = match
    return sorted(
        PairResult(
            epoch=epoch,
            pairing=pairing,
            number=number,
            wins=tuple(sum(_winner(match) == name for match in legs.values()) for name in pairing),
            mirrored=all(match.mirrored for match in legs.values()),
        )
        for (epoch, pairing, number), legs in pairs.items()
        if len(legs) == len(pairing)
    )


def standings(summaries: Iterable[MatchSummary], participants: Iterable[str] = ()) -> dict[str, Standing]:
    """Each participant's standing, sorted by name; `participants` are there even without a match."""
    finished = _finished(summaries)
    played: defaultdict[str, list[tuple[MatchSummary, SideSummary]]] = defaultdict(list)
    for match in finished:
        for side in match.sides:
            played[side.participants[0]].append((match, side))
    paired: defaultdict[str, list[PairResult]] = defaultdict(list)
    for pair in complete_pairs(finished):
        for name in pair.pairing:
            paired[name].append(pair)
    return {name: _standing(name, played[name], paired[name]) for name in sorted({*participants, *played})}


def crosstable(summaries: Iterable[MatchSummary]) -> dict[tuple[str, str], Encounter]:
    """Each (participant, opponent) that met, both ways round, sorted by name."""
    finished = _finished(summaries)
    met: defaultdict[tuple[str, str], list[tuple[SideSummary, SideSummary]]] = defaultdict(list)
    for match in finished:
        for side, other in permutations(match.sides, 2):
            met[side.participants[0], other.participants[0]].append((side, other))
    paired: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for pair in complete_pairs(finished):
        for name, other_name in permutations(pair.pairing, 2):
            paired[name, other_name].append(_sign(pair.won_by(name) - pair.won_by(other_name)))
    return {
        names: Encounter(
            matches=_tally(_sign(other.rank - side.rank) for side, other in met[names]),
            pairs=_tally(paired[names]),
            points_for=sum(side.points for side, _ in met[names]),
            points_against=sum(other.points for _, other in met[names]),
        )
        for names in sorted(met)
    }


def end_reasons(summaries: Iterable[MatchSummary]) -> dict[str, int]:
    """How the deals ended: their number by the label of the termination or fault, the commonest first."""
    reasons: Counter[str] = Counter()
    for match in _finished(summaries):
        reasons.update(match.terminations)
    return dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0])))


def _standing(
    name: str, played: Sequence[tuple[MatchSummary, SideSummary]], pairs: Sequence[PairResult]
) -> Standing:
    others = [[other for other in match.sides if other is not side] for match, side in played]
    faults: Counter[str] = Counter()
    times: Counter[int] = Counter()
    for _, side in played:
        faults.update(side.faults)
        times.update(side.times.counts)
    return Standing(
        participant=name,
        matches=_tally(
            _sign(min(other.rank for other in rest) - side.rank)
            for (_, side), rest in zip(played, others, strict=True)
        ),
        pairs=_tally(
            _sign(pair.won_by(name) - max(pair.won_by(other) for other in pair.pairing if other != name))
            for pair in pairs
        ),
        points_for=sum(side.points for _, side in played),
        points_against=sum(other.points for rest in others for other in rest),
        deals=sum(match.deals for match, _ in played),
        deals_won=sum(side.deals_won for _, side in played),
        faults=dict(sorted(faults.items())),
        times=Histogram(dict(sorted(times.items()))),
    )


def _finished(summaries: Iterable[MatchSummary]) -> list[MatchSummary]:
    return [match for match in summaries if match.status is not Status.VOID]


def _winner(match: MatchSummary) -> str | None:
    """Who alone is first; None if the first rank is shared."""
    first = [side.participants[0] for side in match.sides if side.rank == 1]
    return first[0] if len(first) == 1 else None


def _sign(difference: int) -> int:
    return (difference > 0) - (difference < 0)


def _tally(signs: Iterable[int]) -> Tally:
    """Of 1 for each win, 0 for each draw, -1 for each loss."""
    counts = Counter(signs)
    return Tally(won=counts[1], drawn=counts[0], lost=counts[-1])
