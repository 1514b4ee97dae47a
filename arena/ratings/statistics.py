"""What ratings rest on: the normal distribution to its far tails, and how likely a draw is.

A tail that underflows is a tournament without a table: where each bot always beats the next, the ends of the
field lie forty standard deviations apart, and one upset between them must still have a probability.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.ratings.base import BETA, MU, SIGMA, Encounter, Games, encounters, grouped

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

LEAST_DRAW_PROBABILITY = 1e-6
"""Below this a drawn game would be more certain than floating point can say."""
MOST_DRAW_PROBABILITY = 0.98
"""Above this, as when all games are drawn, the likelihood only says "more"."""

_FAR = -35.0
"""Where the tail's series takes over: exact to 1e-8 from here, while `erfc` holds to -37."""
_LEAST_MARGIN = 1e-9
"""Narrower ties would have no probability left in floating point."""
_LOG_SQRT_TAU = 0.5 * math.log(math.tau)

quantile = NormalDist().inv_cdf
"""The inverse of `cdf`."""


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole, estimated from a sample."""

    share: float
    """0 to 1; 0.5 of nothing."""
    error: float
    """Half of its 95% interval; 0.5 of fewer than two groups."""


def share(groups: Sequence[tuple[float, int]]) -> Share:
    """The share of successes over groups of (successes, trials), which may depend on each other within a group only."""
    successes, trials = sum(won for won, _ in groups), sum(of for _, of in groups)
    if not trials:
        return Share(0.5, 0.5)
    whole = successes / trials
    if len(groups) < 2:
        return Share(whole, 0.5)
    squares = math.fsum((won - whole * of) ** 2 for won, of in groups)
    return Share(whole, quantile(0.975) * math.sqrt(squares * len(groups) / (len(groups) - 1)) / trials)


def pdf(x: float) -> float:
    """The density of the standard normal distribution."""
    return math.exp(-0.5 * x * x - _LOG_SQRT_TAU)


def cdf(x: float) -> float:
    """The probability below `x` under the standard normal distribution."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


def _erfc(x: Vector) -> Vector:
    """The complementary error function, which numpy has not."""
    return np.fromiter(map(math.erfc, x.ravel().tolist()), np.float64, x.size).reshape(x.shape)


def _densities(x: Vector) -> Vector:
    """`pdf`, number by number."""
    return np.asarray(np.exp(-0.5 * x * x - _LOG_SQRT_TAU), np.float64)


def _probabilities(x: Vector) -> Vector:
    """`cdf`, number by number."""
    return 0.5 * _erfc(-x / math.sqrt(2))


def log_cdf(x: Vector) -> Vector:
    """`log(cdf(x))`, number by number, for any `x`."""
    near, far = np.maximum(x, _FAR), np.minimum(x, _FAR)
    tail = -0.5 * far * far - _LOG_SQRT_TAU - np.log(-far) + np.log1p(-1 / far**2)
    return np.where(x > _FAR, np.log(_probabilities(near)), tail)


def pull(x: float) -> tuple[float, float]:
    """The slope of `log_cdf` at `x`, and how fast it falls: TrueSkill's v and w of a win."""
    first = pdf(x) / cdf(x) if x > _FAR else -x - 1 / x + 2 / x**3
    return first, first * (first + x)


def _pulls(x: Vector) -> tuple[Vector, Vector]:
    """`pull`, number by number."""
    near, far = np.maximum(x, _FAR), np.minimum(x, _FAR)
    first = np.where(x > _FAR, _densities(near) / _probabilities(near), -far - 1 / far + 2 / far**3)
    return first, first * (first + x)


def fitted_draw_probability(games: Games) -> float:
    """The draw probability under which the games were likeliest, strengths being whatever suits it best.

    It is that of two equally strong sides, so it lies above the share of draws where strengths differ.  Games
    of more sides count as all their encounters.  0 where nothing was tied, else clamped to 1e-6 .. 0.98.
    """
    met = encounters(grouped(games))
    tied = sum(copies for (_, _, tie), copies in met if tie)
    total = sum(copies for _, copies in met)
    if tied == 0:
        return 0.0
    if tied == total:
        return MOST_DRAW_PROBABILITY
    margin = _likeliest_margin(met, start=quantile((1 + tied / total) / 2))
    return min(max(2 * cdf(margin) - 1, LEAST_DRAW_PROBABILITY), MOST_DRAW_PROBABILITY)


@dataclass(frozen=True, slots=True)
class _Point:
    """The log likelihood and its derivatives `at` strengths (in betas above the mean) and a margin (last)."""

    at: Vector
    value: float
    gradient: Vector
    hessian: Matrix

    def newton_step(self) -> Vector:
        """From here to the summit of the parabola that fits here."""
        return np.asarray(np.linalg.solve(-self.hessian, self.gradient), np.float64)


def _likeliest_margin(met: Sequence[tuple[Encounter, int]], start: float) -> float:
    """The draw margin where the likelihood is highest, in standard deviations of a performance difference.

    Newton's method on margin and strengths together: the log likelihood is strictly concave in them, so that
    steps which climb lead to the one summit.
    """
    trials = _Trials(met)
    point = trials.likelihood(np.append(np.zeros(trials.size), start))
    step = point.newton_step()
    while np.abs(step).max() > 1e-10:
        at = point.at + step
        if at[-1] > _LEAST_MARGIN and (trial := trials.likelihood(at)).value > point.value:
            point = trial
            step = point.newton_step()
        else:
            step /= 2
    return float(point.at[-1])


class _Trials:
    """All encounters, side by side."""

    def __init__(self, met: Sequence[tuple[Encounter, int]]) -> None:
        names = sorted({name for (side, other, _), _ in met for name in side + other})
        index = {name: number for number, name in enumerate(names)}
        self.size = len(names)
        """The number of participants."""
        self._copies = np.array([float(copies) for _, copies in met])
        self._ties = np.array([tie for (_, _, tie), _ in met])
        most = max(len(side) + len(other) for (side, other, _), _ in met)
        self._ends = np.zeros((most, len(met)), np.int64)
        """Who stands at the two ends of each, by number; fewer leave places with the sign 0."""
        self._signs = np.zeros((most, len(met)))
        for number, ((side, other, _), _) in enumerate(met):
            members = len(side) + len(other)
            self._ends[:members, number] = [index[name] for name in side + other]
            self._signs[:members, number] = [1] * len(side) + [-1] * len(other)
        self._signs /= np.sqrt(np.abs(self._signs).sum(axis=0))

    def likelihood(self, at: Vector) -> _Point:
        """Of the prior of the strengths and all encounters, where the strengths and the margin are these."""
        strengths, margin = at[:-1], at[-1]
        prior = np.append(np.full(self.size, (BETA / SIGMA) ** 2), 0.0)
        gaps = (self._signs * (strengths[self._ends] + MU / BETA)).sum(axis=0)
        said = encounter(gaps, np.full_like(gaps, margin), self._ties)
        gradient = -prior * at
        gradient[:-1] += self._by_participant(said.by_gap)
        gradient[-1] += self._copies @ said.by_margin
        hessian = np.diag(-prior)
        hessian[-1, :-1] = hessian[:-1, -1] = self._by_participant(said.by_both)
        hessian[-1, -1] += self._copies @ said.by_margin_twice
        curvature = self._copies * self._signs * said.by_gap_twice
        for end, sign in zip(self._ends, self._signs, strict=True):
            places = (end * self.size + self._ends).ravel()
            hessian[:-1, :-1] += np.bincount(places, (sign * curvature).ravel(), self.size**2).reshape(self.size, -1)
        value = -0.5 * float(prior @ at**2) + float(self._copies @ said.value)
        return _Point(at, value, gradient, hessian)

    def _by_participant(self, values: Vector) -> Vector:
        weighed = (self._copies * self._signs * values).ravel()
        return np.asarray(np.bincount(self._ends.ravel(), weighed, self.size), np.float64)


class Said(NamedTuple):
    """What encounters say: their log likelihoods, and the derivatives of these."""

    value: Vector
    by_gap: Vector
    by_margin: Vector
    by_gap_twice: Vector
    by_both: Vector
    by_margin_twice: Vector


def encounter(gap: Vector, margin: Vector, tie: NDArray[np.bool_]) -> Said:
    """What encounters say, number by number.  Raises `FloatingPointError` for a tie that has no margin.

    `gap` is the better side's strength less the other's; gap and margin are in standard deviations of a
    performance difference.
    """
    sign = np.where(tie, -np.copysign(1.0, gap), 1.0)
    edge = np.where(tie, margin - np.abs(gap), gap - margin)
    v, w = _pulls(edge)
    # Of a tie the far edge is out of sight, or not: see below.
    said = Said(log_cdf(edge), sign * v, np.where(tie, v, -v), -w, np.where(tie, -sign * w, w), -w)
    seen = tie & (edge >= _FAR)
    near, far, sign = edge[seen], -margin[seen] - np.abs(gap[seen]), -sign[seen]
    mass = _probabilities(near) - _probabilities(far)
    with np.errstate(divide="raise", invalid="raise"):
        at_near, at_far = _densities(near) / mass, _densities(far) / mass
    by_gap, by_margin = at_far - at_near, at_far + at_near
    even, odd = far * at_far - near * at_near, far * at_far + near * at_near
    of_ties = (
        np.log(mass),
        sign * by_gap,
        by_margin,
        even - by_gap**2,
        sign * (odd - by_gap * by_margin),
        even - by_margin**2,
    )
    for values, seen_values in zip(said, of_ties, strict=True):
        values[seen] = seen_values
    return said
