"""Is one bot better than another: a sequential test over mirrored pairs, that stops as soon as the answer is clear.

A generalised sequential probability ratio test: after each batch the likeliest distribution of pair results under "no
better" is compared with the likeliest one under "better by the edge".  Neither needs to know how often pairs are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

LEAST_PAIRS = 16
"""Before so many pairs nothing is decided: few results would pretend to be sure."""
PSEUDO_COUNT = 0.5
"""Added to each outcome, so that one which has not come up yet is not held impossible."""
_VALUES = (0.0, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Pairs:
    """What the pairs came to for the first bot."""

    lost: int = 0
    drawn: int = 0
    won: int = 0

    @property
    def total(self) -> int:
        return self.lost + self.drawn + self.won

    @property
    def share(self) -> float:
        """Pairs won and half of the pairs drawn, of all; 0.5 of none."""
        return (self.won + self.drawn / 2) / self.total if self.total else 0.5

    @property
    def error(self) -> float:
        """Half of the 95% interval of `share`; 0.5 of fewer than two pairs."""
        if self.total < 2:
            return 0.5
        counts = (self.lost, self.drawn, self.won)
        variance = sum(count * (value - self.share) ** 2 for count, value in zip(counts, _VALUES, strict=True))
        return 1.96 * math.sqrt(variance / (self.total - 1) / self.total)


class DecidedBy(StrEnum):
    """What wins a pair of matches."""

    MATCHES = "matches"
    """Matches won; one each is a draw."""
    POINTS = "points"
    """Matches won; of one each the game points decide."""


class Answer(StrEnum):
    """What a duel says."""

    BETTER = "better"
    """The first bot is better."""
    NOT_BETTER = "not better"
    """It is not better by the edge: equal or worse."""
    OPEN = "open"
    """The pairs played so far do not say."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """How far a duel has come."""

    pairs: Pairs
    ratio: float
    """The log likelihood ratio of "better by the edge" against "no better"."""
    least: float
    """At or below it the answer is "not better"."""
    most: float
    """At or above it the answer is "better"."""

    @property
    def answer(self) -> Answer:
        if self.pairs.total < LEAST_PAIRS or self.least < self.ratio < self.most:
            return Answer.OPEN
        return Answer.BETTER if self.ratio >= self.most else Answer.NOT_BETTER


def judge(pairs: Pairs, edge: float = 0.05, level: float = 0.05) -> Judgement:
    """Judge the pairs so far: "no better" is a share of 0.5, "better" one of 0.5 + `edge`.

    `level` is the nominal rate of either error; raises `ValueError` unless 0 < edge < 0.5 and 0 < level < 0.5.
    """
    if not (0 < edge < 0.5 and 0 < level < 0.5):
        raise ValueError(f"edge and level lie between 0 and 0.5, but are {edge} and {level}")
    counts = [count + PSEUDO_COUNT for count in (pairs.lost, pairs.drawn, pairs.won)]
    bound = math.log((1 - level) / level)
    return Judgement(pairs, _likelihood(counts, 0.5 + edge) - _likelihood(counts, 0.5), -bound, bound)


def _likelihood(counts: Sequence[float], mean: float) -> float:
    """The greatest log likelihood of the counts under a distribution of this mean.

    Each probability is count / total / (1 + x (value - mean)), with the one x for which the mean is right.
    """
    total = math.fsum(counts)

    def off(x: float) -> float:
        return math.fsum(
            count * (value - mean) / (1 + x * (value - mean)) for count, value in zip(counts, _VALUES, strict=True)
        )

    # Between these no probability is negative, and `off` falls from plus to minus infinity.
    low, high = -1 / (1 - mean), 1 / mean
    for _ in range(100):
        middle = (low + high) / 2
        if off(middle) > 0:
            low = middle
        else:
            high = middle
    return math.fsum(
        count * math.log(count / total / (1 + low * (value - mean)))
        for count, value in zip(counts, _VALUES, strict=True)
    )
