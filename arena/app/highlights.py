"""The deals of a run that are worth looking at: found in one pass over the records, whatever order they come in."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from arena.game.scoring import Termination
from arena.match.endgame import Judged
from arena.match.record import Status
from arena.match.summary import MatchKey
from arena.reports.counting import counted
from arena.reports.highlights import Highlight, Kind
from arena.reports.replay import words
from arena.store.queries import in_words
from arena.store.values import DealOf, MatchResult

SHOWN = 10
"""Of each kind."""
DEAREST = 3
"""Deals of each bot in which it gave most away."""

_Found = tuple[tuple[int, ...], Highlight]


def highlights(
    results: Iterable[MatchResult], dearest: Mapping[DealOf, Sequence[Judged]] = {}
) -> Mapping[Kind, Sequence[Highlight]]:
    """Of each kind the best, from matches that count; and the `dearest` mistakes that were judged."""
    best: dict[Kind, list[_Found]] = {kind: [] for kind in Kind}
    samples: dict[tuple[str, ...], tuple[bytes, Highlight]] = {}
    """By pairing the match with the lowest lot so far."""
    for result in results:
        if result.record.status is Status.VOID:
            continue
        for worth, found in _of_match(result):
            kept = best[found.kind]
            entry = ((*worth, *_later_is_less(found.key, found.deal)), found)
            heapq.heappush(kept, entry) if len(kept) < SHOWN else heapq.heappushpop(kept, entry)
        lot = hashlib.sha256(in_words(result.key).encode()).digest()
        if result.record.deals and (result.key.pairing not in samples or lot < samples[result.key.pairing][0]):
            about = " : ".join(map(str, result.record.points))
            samples[result.key.pairing] = lot, Highlight(Kind.SAMPLE, result.key, 1, about)
    chosen = {kind: [found for _, found in sorted(kept, reverse=True)] for kind, kept in best.items()}
    chosen[Kind.SAMPLE] = [found for _, (_, found) in sorted(samples.items())]
    chosen[Kind.MISTAKE] = [_mistake(of, judged) for of, judged in dearest.items()]
    return {kind: chosen[kind] for kind in Kind if chosen[kind]}


def _later_is_less(key: MatchKey, deal: int) -> tuple[int, ...]:
    """So that of equal deals the earlier comes first."""
    return (-key.epoch, -key.number, -key.leg, -deal)


def _of_match(result: MatchResult) -> Iterator[tuple[tuple[int, ...], Highlight]]:
    record = result.record
    for fault in record.faults:
        if fault.deal <= len(record.deals):
            about = f"{result.seats[fault.seat]}: {fault.fault.label}"
            yield (result.position, fault.deal), Highlight(Kind.FAULT, result.key, fault.deal, about)
    scores = list(accumulate((deal.points for deal in record.deals), _sum, initial=(0,) * len(record.points)))
    for number, deal in enumerate(record.deals, start=1):
        before, after = scores[number - 1], scores[number]
        score = " : ".join(map(str, before))
        closeness = min(deal.card_points) - max(deal.card_points)
        if _leader(before) is not None and _leader(after) not in (None, _leader(before)):
            about = f"{score} becomes {' : '.join(map(str, after))}"
            yield (max(deal.points), closeness), Highlight(Kind.SWING, result.key, number, about)
        if deal.termination is Termination.CLOSE_FAILED:
            closer = next(side for side in result.summary.sides if result.seats[deal.seat] in side.participants)
            had = deal.card_points[result.summary.sides.index(closer)]
            about = f"{result.seats[deal.seat]} with {had}"
            yield (had, max(deal.points)), Highlight(Kind.CLOSE_FAILED, result.key, number, about)
        if 1 < number == len(record.deals) and record.forfeited_by is None:
            yield (min(before), closeness), Highlight(Kind.DECISIVE, result.key, number, f"at {score}")


def _mistake(of: DealOf, judged: Sequence[Judged]) -> Highlight:
    """The first of the dearest choices of a deal."""
    worst = max(judged, key=lambda each: each.given_away)
    best = max(worst.values, key=lambda action: worst.values[action])
    did, better = (f"{words.action(action)} {worst.values[action]:+d}" for action in (worst.action, best))
    about = f"{of.participant} gives away {counted(worst.given_away, 'point')}: {did}, where {better} was there"
    return Highlight(Kind.MISTAKE, of.key, of.deal, about, worst.decision + 1, of.participant)


def _sum(score: tuple[int, ...], points: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(have + more for have, more in zip(score, points, strict=True))


def _leader(score: Sequence[int]) -> int | None:
    """The side that leads alone."""
    best = max(score)
    return score.index(best) if score.count(best) == 1 else None
