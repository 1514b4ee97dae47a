"""When a tournament with a stop rule is over, and what it plays until then: a function of what is committed.

A look is taken only when every match of every epoch is finished.  What it asks for is an epoch of its own; so the same
follows whatever the number of jobs, and wherever an arena was killed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.match.absence import Absences
from arena.ratings.base import Games, grouped
from arena.ratings.posterior import Posterior, posterior, ranking
from arena.ratings.remainder import share_out
from arena.ratings.statistics import fitted_draw_probability
from arena.ratings.trust import separations
from arena.reports.model import Stopping
from arena.tournament.pairings import Pairing
from arena.tournament.schedule import Schedule
from arena.tournament.stop import StopRule

GROWTH = 2
"""From one look to the next the lists grow by one of so many: few looks, so that they seldom catch a lucky moment."""
CHANCES = 5
"""To luck, the looks of a long tournament are as good as so many on evidence of its own each: they share the error."""


def stopping_of(
    rule: StopRule,
    schedules: Sequence[Schedule],
    absences: Absences,
    belief: Posterior,
    scores: Mapping[str, float],
    *,
    over: bool,
) -> Stopping:
    """How far a tournament with a stop rule is; these scores order the ranking within a rank."""
    playing = belief.of(set(belief.names) - absences.out.keys())
    neighbours = separations(playing, ranking(playing, scores))
    pairings = _pairings(schedules, absences)
    asked = rule.separated if over else 1 - (1 - rule.separated) / CHANCES
    return Stopping(
        separated=rule.separated,
        asked=asked,
        max_pairs=rule.max_pairs,
        pairs=_lists(schedules, pairings) / len(pairings) if pairings else 0.0,
        ranked=len(playing.names),
        open=tuple(each for each in neighbours if each.probability < asked),
        over=over,
    )


def ask(
    rule: StopRule, schedules: Sequence[Schedule], absences: Absences, games: Games
) -> tuple[Stopping, Mapping[Pairing, int]]:
    """How far it is once all schedules are played, and the lists of the next epoch: none if the tournament is over.

    `games` are all that count.
    """
    evidence = grouped(games)
    draw_probability = fitted_draw_probability(evidence)
    belief = posterior(evidence, draw_probability)
    means = dict(zip(belief.names, belief.mean.tolist(), strict=True))  # whether all are separated is so by any scores
    stopping = stopping_of(rule, schedules, absences, belief, means, over=False)
    if not stopping.open:
        return stopping, {}
    pairings = _pairings(schedules, absences)
    lists = min(lists_left(rule, schedules, absences), max(1, _lists(schedules, pairings) // GROWTH))
    meetings = {schedules[-1].sides_of(pairing): pairing for pairing in pairings if set(pairing) <= set(belief.names)}
    given = share_out(belief, draw_probability, list(meetings), lists)
    return stopping, {meetings[meeting]: lists for meeting, lists in sorted(given.items())}


def lists_left(rule: StopRule, schedules: Sequence[Schedule], absences: Absences) -> int:
    """How many lists the budget has beyond those that are planned."""
    pairings = _pairings(schedules, absences)
    return max(0, rule.max_pairs * len(pairings) - _lists(schedules, pairings))


def rule_of(identity: Mapping[str, Any]) -> StopRule | None:
    """The rule that the identity of a config has; that of an earlier version had none."""
    stored = identity.get("stop")
    return stored and StopRule(**stored)


def _pairings(schedules: Sequence[Schedule], absences: Absences) -> list[Pairing]:
    """Those of which nobody is out."""
    return [pairing for pairing in schedules[-1].pairings() if absences.out.keys().isdisjoint(pairing)]


def _lists(schedules: Sequence[Schedule], pairings: Sequence[Pairing]) -> int:
    """All lists of these pairings; those that were missed and are made up for count once."""
    return sum(
        schedules[-1].pairs + sum(schedule.remainder.get(pairing, 0) for schedule in schedules) for pairing in pairings
    )
