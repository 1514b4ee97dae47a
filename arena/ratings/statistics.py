"""What ratings rest on: the normal distribution to its far tails, and how likely a draw is.

A tail that underflows is a tournament without a table: where each bot always beats the next, the ends of the
field lie forty standard deviations apart, and one upset between them must still have a probability.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from arena.ratings.base import BETA, MU, SIGMA, Encounter, Groups, encounters

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


def log_cdf(x: float) -> float:
    """`log(cdf(x))` for any `x`."""
    if x > _FAR:
        return math.log(cdf(x))
    return -0.5 * x * x - _LOG_SQRT_TAU - math.log(-x) + math.log1p(-1 / x**2)


def pull(x: float) -> tuple[float, float]:
    """The slope of `log_cdf` at `x`, and how fast it falls: TrueSkill's v and w of a win."""
    first = pdf(x) / cdf(x) if x > _FAR else -x - 1 / x + 2 / x**3
    return first, first * (first + x)


def fitted_draw_probability(groups: Groups) -> float:
    """The draw probability under which the games were likeliest, strengths being whatever suits it best.

    It is that of two equally strong sides, so it lies above the share of draws where strengths differ.  Games
    of more sides count as all their encounters.  0 where nothing was tied, else clamped to 1e-6 .. 0.98.
    """
    met = encounters(groups)
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

    at: NDArray[np.float64]
    value: float
    gradient: NDArray[np.float64]
    hessian: NDArray[np.float64]

    def newton_step(self) -> NDArray[np.float64]:
        """From here to the summit of the parabola that fits here."""
        return np.asarray(np.linalg.solve(-self.hessian, self.gradient), np.float64)


def _likeliest_margin(met: Sequence[tuple[Encounter, int]], start: float) -> float:
    """The draw margin where the likelihood is highest, in standard deviations of a performance difference.

    Newton's method on margin and strengths together: the log likelihood is strictly concave in them, so that
    steps which climb lead to the one summit.
    """
    names = sorted({name for (side, other, _), _ in met for name in side + other})
    index = {name: number for number, name in enumerate(names)}
    trials = [
        (tuple(index[name] for name in side), tuple(index[name] for name in other), tie, copies)
        for (side, other, tie), copies in met
    ]
    point = _likelihood(trials, np.array([0.0] * len(names) + [start]))
    step = point.newton_step()
    while np.abs(step).max() > 1e-10:
        at = point.at + step
        if at[-1] > _LEAST_MARGIN and (trial := _likelihood(trials, at)).value > point.value:
            point = trial
            step = point.newton_step()
        else:
            step /= 2
    return float(point.at[-1])


def _likelihood(
    trials: Sequence[tuple[tuple[int, ...], tuple[int, ...], bool, int]], at: NDArray[np.float64]
) -> _Point:
    """The prior of the strengths and all encounters (better side, other side, tied, copies)."""
    strengths, margin = at[:-1].tolist(), float(at[-1])
    prior = np.append(np.full(len(strengths), (BETA / SIGMA) ** 2), 0.0)
    value = -0.5 * float(prior @ at**2)
    gradient = -prior * at
    hessian = np.diag(-prior)
    for side, other, tie, copies in trials:
        scale = 1 / math.sqrt(len(side) + len(other))
        ends = [(number, scale) for number in side] + [(number, -scale) for number in other]
        gap = sum(sign * (strengths[number] + MU / BETA) for number, sign in ends)
        here, by_gap, by_margin, by_gap_twice, by_both, by_margin_twice = encounter(gap, margin, tie)
        value += copies * here
        gradient[-1] += copies * by_margin
        hessian[-1, -1] += copies * by_margin_twice
        for number, sign in ends:
            gradient[number] += copies * sign * by_gap
            hessian[number, -1] += copies * sign * by_both
            hessian[-1, number] += copies * sign * by_both
            for partner, partner_sign in ends:
                hessian[number, partner] += copies * sign * partner_sign * by_gap_twice
    return _Point(at, value, gradient, hessian)


def encounter(gap: float, margin: float, tie: bool) -> tuple[float, float, float, float, float, float]:
    """An encounter's log likelihood, and its derivatives by gap, by margin, by gap twice, by both and by margin twice.

    `gap` is the better side's strength less the other's; gap and margin are in standard deviations of a
    performance difference.
    """
    if not tie:
        v, w = pull(gap - margin)
        return log_cdf(gap - margin), v, -v, -w, w, -w
    sign = math.copysign(1.0, gap)
    near, far = margin - abs(gap), -margin - abs(gap)
    if near < _FAR:  # The far edge of the tie is out of sight.
        v, w = pull(near)
        return log_cdf(near), -sign * v, v, -w, sign * w, -w
    mass = cdf(near) - cdf(far)
    by_gap, by_margin = (pdf(far) - pdf(near)) / mass, (pdf(far) + pdf(near)) / mass
    even, odd = (far * pdf(far) - near * pdf(near)) / mass, (far * pdf(far) + near * pdf(near)) / mass
    return (
        math.log(mass),
        sign * by_gap,
        by_margin,
        even - by_gap**2,
        sign * (odd - by_gap * by_margin),
        even - by_margin**2,
    )
