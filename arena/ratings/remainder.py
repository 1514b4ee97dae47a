"""Where the remainder of a budget teaches most: in the pairings that say most about orders which are still open.

An order is the more open the nearer its probability is to one half.  What a pair teaches about it depends on all that
is known already, also by way of others.  TrueSkill's match quality looks at neither, and plays the same pairs again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from arena.ratings.base import BETA
from arena.ratings.posterior import Posterior
from arena.ratings.statistics import Matrix, cdf, pdf, quantile

STEPS = 64
"""In about so many steps a remainder is given out; each looks at what those before it will have taught."""
_DIGITS = 9
"""To which gains are compared: those that differ by rounding alone are equal, and the first of them is taken."""

Meeting = tuple[tuple[str, ...], ...]
"""Who meets in a pairing, side by side."""


def share_out(
    belief: Posterior, draw_probability: float, meetings: Sequence[Meeting], games: int
) -> Mapping[Meeting, int]:
    """How many of so many further games each meeting is to have; meetings without any are left out.

    All who meet must be believed of.  The same for any machine, but for a tie that its rounding decides.
    """
    given = dict.fromkeys(meetings, 0)
    if not meetings:
        return {}
    links, noise = _links(belief, meetings), _noise(meetings, draw_probability)
    covariance = belief.covariance
    step = max(1, games // STEPS)
    for start in range(0, games, step):
        copies = min(step, games - start)
        heard = links @ covariance
        told = (heard @ _openness(belief, covariance) * heard).sum(axis=2)
        gains = (told / (noise + (heard * links).sum(axis=2))).sum(axis=1)
        best = int(np.argmax(np.round(gains / max(gains.max(), 1e-300), _DIGITS)))
        given[meetings[best]] += copies
        for link, spread in zip(links[best], noise[best], strict=True):
            response = covariance @ link
            covariance = covariance - np.outer(response, response) / (spread / copies + link @ response)
    return {meeting: games for meeting, games in given.items() if games}


def _openness(belief: Posterior, covariance: Matrix) -> Matrix:
    """As a quadratic form: the squares of all differences, each weighed by how open the order of its two is."""
    own = np.diag(covariance)
    variances = own[:, None] + own[None, :] - 2 * covariance
    np.fill_diagonal(variances, 1.0)
    gaps = belief.mean[:, None] - belief.mean[None, :]
    weights = np.exp(-(gaps**2) / (2 * variances)) / variances
    np.fill_diagonal(weights, 0.0)
    return np.diag(weights.sum(axis=1)) - weights


def _links(belief: Posterior, meetings: Sequence[Meeting]) -> Matrix:
    """Of each meeting the differences of strengths that it speaks of: those of every two of its sides."""
    index = {name: number for number, name in enumerate(belief.names)}
    differences = math.comb(len(meetings[0]), 2)
    links = np.zeros((len(meetings), differences, len(index)))
    for row, meeting in enumerate(meetings):
        for column, (side, other) in enumerate(combinations(meeting, 2)):
            links[row, column, [index[name] for name in side]] = 1
            links[row, column, [index[name] for name in other]] = -1
    return links


def _noise(meetings: Sequence[Meeting], draw_probability: float) -> Matrix:
    """The variance with which one game shows each of its differences, if the two sides are about equal.

    A game of k sides shows k - 1 differences, whichever of its k (k - 1) / 2 these are.
    """
    margin = quantile((1 + draw_probability) / 2)
    information = 2 * pdf(margin) ** 2 / cdf(-margin)
    return np.array(
        [
            [BETA**2 * len(side + other) * len(meeting) / 2 / information for side, other in combinations(meeting, 2)]
            for meeting in meetings
        ]
    )
