"""How far the ratings can be trusted: whether one number a bot explains the results, and what each bot brings about.

Everything rests on the same games as the ratings.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from arena.ratings.base import BETA, Games, Groups, grouped
from arena.ratings.posterior import LEVEL, Posterior, Verdict, posterior, ranking
from arena.ratings.statistics import cdf, quantile

Sides = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Residual:
    """What two sides have scored against each other, and what the ratings expect."""

    sides: Sides
    games: int
    score: float
    """Of the first side: its wins and half of its draws, as a share of the games."""
    expected: float
    z: float
    """The difference in standard deviations."""


@dataclass(frozen=True, slots=True)
class Transitivity:
    """Whether strengths on one scale explain who beats whom: Pearson's chi squared over all that met."""

    chi_squared: float
    freedom: int
    """Degrees of freedom: who met whom, less the strengths that were fitted."""
    probability: float
    """Of so large a chi squared by chance; below 0.05 is a hint of bots that beat each other in a circle."""
    outliers: tuple[Residual, ...]
    """Residuals too large for chance at 5% over all of them (Bonferroni), the largest first."""


@dataclass(frozen=True, slots=True)
class Separation:
    """Two neighbours in the table, and what it takes to tell them apart."""

    better: str
    other: str
    probability: float
    """That `better` is the stronger."""
    factor: float
    """How many times the games of now would tell them apart, if things go on as they went; below 1: they are."""


@dataclass(frozen=True, slots=True)
class Absence:
    """What the table would be without one participant's games."""

    name: str
    ranks: Mapping[str, tuple[int, int]]
    """Who would have another rank: that of now (counted without the one who is gone), and that of then."""


def head_to_head(games: Games, belief: Posterior, draw_probability: float) -> tuple[Residual, ...]:
    """Of all sides that met, by their names; none where more than two meet: their games are no independent duels."""
    groups = grouped(games)
    if any(len(game.sides) != 2 for game, _ in groups):
        return ()
    return tuple(_residual(sides, tally, belief, draw_probability) for sides, tally in _tallies(groups).items())


def transitivity(met: Sequence[Residual], participants: int, draw_probability: float) -> Transitivity | None:
    """By all that met, and the number of the participants in them; None where nothing is left to test."""
    fitted = participants - 1 + (draw_probability > 0)
    freedom = len(met) - fitted
    if not met or freedom < 1:
        return None
    chi_squared = math.fsum(residual.z**2 for residual in met)
    limit = -quantile(0.05 / (2 * len(met)))
    return Transitivity(
        chi_squared=chi_squared,
        freedom=freedom,
        probability=chi_squared_tail(chi_squared, freedom),
        outliers=tuple(
            sorted((each for each in met if abs(each.z) > limit), key=lambda each: (-abs(each.z), each.sides))
        ),
    )


def separations(belief: Posterior, listed: Iterable[str]) -> tuple[Separation, ...]:
    """Of each participant and the next one, as they are listed."""
    goal = quantile(LEVEL)
    found = []
    for better, other in pairwise(listed):
        gap = belief.gap(better, other)
        found.append(Separation(better, other, cdf(gap), math.inf if gap <= 0 else (goal / gap) ** 2))
    return tuple(found)


def absences(games: Games, draw_probability: float, judged: Mapping[str, Verdict]) -> tuple[Absence, ...]:
    """For each participant, in the order of the table: whose rank would be another without its games."""
    found = []
    groups = grouped(games)
    for name in judged:
        rest = Groups(group for group in groups if name not in group[0].participants)
        belief = posterior(rest, draw_probability).of(judged)
        then = ranking(belief, dict(zip(belief.names, belief.mean.tolist(), strict=True)))
        before = {other: verdict.rank for other, verdict in judged.items() if other != name and other in then}
        # Ranks of now, counted anew among those who stay.
        now = {other: rank - (judged[name].rank < rank) for other, rank in before.items()}
        changed = {other: (now[other], then[other]) for other in now if now[other] != then[other]}
        found.append(Absence(name, changed))
    return tuple(found)


def chi_squared_tail(x: float, freedom: int) -> float:
    """The probability that chi squared exceeds `x`, by its finite series."""
    half = x / 2
    if freedom % 2 == 0:
        terms = [math.exp(-half)]
        for k in range(1, freedom // 2):
            terms.append(terms[-1] * half / k)
        return math.fsum(terms)
    tail = math.erfc(math.sqrt(half))
    term = math.exp(-half) * math.sqrt(half) / math.gamma(1.5)
    for k in range(1, (freedom - 1) // 2 + 1):
        tail += term
        term *= half / (k + 0.5)
    return tail


def _tallies(groups: Groups) -> dict[Sides, tuple[int, int, int]]:
    """For each two sides that met, in canonical order: wins of the first, draws, wins of the second."""
    tallies: defaultdict[Sides, list[int]] = defaultdict(lambda: [0, 0, 0])
    for game, copies in groups:
        better, other = game.sides
        sides: Sides = (better, other) if better < other else (other, better)
        place = 1 if game.drawn else 0 if sides[0] == better else 2
        tallies[sides][place] += copies
    return {sides: (won, drawn, lost) for sides, (won, drawn, lost) in sorted(tallies.items())}


def _residual(sides: Sides, tally: tuple[int, int, int], belief: Posterior, draw_probability: float) -> Residual:
    means = dict(zip(belief.names, belief.mean.tolist(), strict=True))
    scale = BETA * math.sqrt(sum(map(len, sides)))
    gap = (sum(means[name] for name in sides[0]) - sum(means[name] for name in sides[1])) / scale
    margin = quantile((1 + draw_probability) / 2)
    won, lost = cdf(gap - margin), cdf(-gap - margin)
    drawn = max(0.0, 1 - won - lost)
    games = sum(tally)
    expected = won + drawn / 2
    variance = max(won + drawn / 4 - expected**2, 1e-12)
    score = (tally[0] + tally[1] / 2) / games
    return Residual(sides, games, score, expected, (score - expected) / math.sqrt(variance / games))
