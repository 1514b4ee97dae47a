"""How sure the ratings are: all strengths believed at once, with how they depend on each other.

The factorised fit has one number for each participant's uncertainty, in which the common level of the field, that
nobody can know, is mixed with what matters: the differences.  Expectation propagation again, but with one normal
distribution over all strengths together; every quantity is one of differences.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np

from arena.ratings.base import BETA, MU, SIGMA, Game, Games, Groups, grouped
from arena.ratings.statistics import Matrix, Vector, cdf, encounter, quantile

LEVEL = 0.95
"""Of bars and rank intervals, and how likely one must be the better for the other to rank behind it."""
DRAWS = 8192
"""Fields drawn from the posterior, for ranks: a probability of them is right to about 0.005."""

_DAMPING = 0.8
_MAX_SWEEPS = 300
_TOLERANCE = 1e-7
_BAR = quantile((1 + LEVEL) / 2)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be said of one participant's place in its field."""

    rank: int
    """1 and how many are better with a probability of `LEVEL` at least: who cannot be told apart shares a rank."""
    ranks: tuple[int, int]
    """The best and the worst rank of those that hold the true one with a probability of `LEVEL`."""
    error: float
    """Half the bar that holds, at `LEVEL`, its strength less the field's mean (or less the reference), in points."""
    first: float
    """The probability that nobody is stronger."""
    better_than_next: float | None
    """The probability that it is stronger than who stands next in the table; None for the last."""


@dataclass(frozen=True, slots=True)
class Posterior:
    """A normal distribution over the strengths of all that have played, in points."""

    names: tuple[str, ...]
    """Sorted."""
    mean: Vector
    covariance: Matrix

    def of(self, names: Collection[str]) -> Posterior:
        """What is believed of these alone: of a field without the others, on the same evidence."""
        kept = [number for number, name in enumerate(self.names) if name in names]
        return Posterior(
            tuple(self.names[number] for number in kept), self.mean[kept], self.covariance[np.ix_(kept, kept)]
        )

    def better(self, one: str, other: str) -> float:
        """The probability that `one` is stronger than `other`."""
        return cdf(self.gap(one, other))

    def gap(self, one: str, other: str) -> float:
        """How far `one` is ahead of `other`, in standard deviations of what is believed of their difference."""
        i, j = self.names.index(one), self.names.index(other)
        variance = self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j]
        return float((self.mean[i] - self.mean[j]) / math.sqrt(variance))

    def errors(self, reference: str | None = None) -> dict[str, float]:
        """Half the bar at `LEVEL` of each strength, relative to the field's mean or to one participant, in points."""
        size = len(self.names)
        origin = np.full(size, 1 / max(size, 1)) if reference is None else np.eye(size)[self.names.index(reference)]
        relative = np.eye(size) - origin
        variances = np.einsum("ij,jk,ik->i", relative, self.covariance, relative)
        return dict(zip(self.names, (_BAR * np.sqrt(np.maximum(variances, 0.0))).tolist(), strict=True))

    def rank_shares(self) -> dict[str, list[float]]:
        """For each participant the probabilities of rank 1, 2, ... of the true strengths."""
        size = len(self.names)
        drawn = _normals(DRAWS // 2, size) @ np.linalg.cholesky(self.covariance).T
        fields = self.mean + np.concatenate((drawn, -drawn))
        places = np.argsort(np.argsort(-fields, axis=1, kind="stable"), axis=1, kind="stable")
        return {
            name: (np.bincount(places[:, number], minlength=size) / len(fields)).tolist()
            for number, name in enumerate(self.names)
        }


def posterior(games: Games, draw_probability: float) -> Posterior:
    """What all games together say of everybody that played in one, at this draw probability (that of the fit).

    The same bits for any order of the games.
    """
    groups = grouped(games)
    names = tuple(sorted({name for game, _ in groups for name in game.participants}))
    if not names:
        return Posterior((), np.zeros(0), np.zeros((0, 0)))
    shapes = [
        _Shape(sizes, Groups(alike), names, draw_probability)
        for sizes, alike in groupby(sorted(groups, key=_sizes), key=_sizes)
    ]
    mean, covariance = np.full(len(names), MU), np.eye(len(names)) * SIGMA**2
    unrest, sweeps = math.inf, 0
    while unrest > _TOLERANCE and sweeps < _MAX_SWEEPS:
        sweeps += 1
        precision, product = np.eye(len(names)) / SIGMA**2, np.full(len(names), MU / SIGMA**2)
        for shape in shapes:
            shape.listen(mean, covariance)
            more_precision, more_product = shape.said()
            precision += more_precision
            product += more_product
        before, covariance = covariance, np.asarray(np.linalg.inv(precision), np.float64)
        last, mean = mean, covariance @ product
        unrest = max(np.ptp(mean - last), np.abs(np.sqrt(np.diag(covariance)) - np.sqrt(np.diag(before))).max())
    return Posterior(names, mean, covariance)


def ranking(posterior: Posterior, scores: Mapping[str, float]) -> dict[str, int]:
    """The rank of each that has played, in the order of the table: by rank, then score, then name."""
    names = posterior.names
    variances = np.diag(posterior.covariance)
    of_gaps = variances[:, None] + variances - 2 * posterior.covariance
    np.fill_diagonal(of_gaps, 1.0)
    ahead = (posterior.mean[:, None] - posterior.mean) / np.sqrt(of_gaps) >= quantile(LEVEL)
    ranks = dict(zip(names, (1 + ahead.sum(axis=0)).tolist(), strict=True))
    return {name: ranks[name] for name in sorted(names, key=lambda name: (ranks[name], -scores[name], name))}


def verdicts(posterior: Posterior, scores: Mapping[str, float], reference: str | None = None) -> dict[str, Verdict]:
    """The verdict on each that has played, in the order of the table.

    Bars are relative to the field, or to the `reference` if it has played.
    """
    names = posterior.names
    if not names:
        return {}
    ranks = ranking(posterior, scores)
    errors = posterior.errors(reference if reference in names else None)
    shares = posterior.rank_shares()
    following: Mapping[str, str] = dict(pairwise(ranks))
    return {
        name: Verdict(
            rank=rank,
            ranks=_interval(shares[name]),
            error=errors[name],
            first=shares[name][0],
            better_than_next=posterior.better(name, following[name]) if name in following else None,
        )
        for name, rank in ranks.items()
    }


def _interval(shares: Sequence[float]) -> tuple[int, int]:
    """The ranks that are left when at most half of `1 - LEVEL` is cut off at each end."""
    tail = (1 - LEVEL) / 2
    return _first_beyond(shares, tail), len(shares) + 1 - _first_beyond(shares[::-1], tail)


def _first_beyond(shares: Sequence[float], tail: float) -> int:
    total = 0.0
    for number, share in enumerate(shares, start=1):
        total += share
        if total > tail:
            return number
    return len(shares)


def _normals(rows: int, columns: int) -> Matrix:
    """Standard normal numbers that are the same on every machine and at every time."""
    count = rows * columns
    bits = np.frombuffer(hashlib.shake_256(b"arena ranks").digest(8 * count), "<u8") >> 11
    return np.array([quantile(number) for number in ((bits + 0.5) / 2**53).tolist()]).reshape(rows, columns)


def _sizes(group: tuple[Game, int]) -> tuple[int, ...]:
    """Of the sides of a game."""
    return tuple(map(len, group[0].sides))


class _Shape:
    """All games whose sides have the same sizes, side by side: what each says of the strengths.

    A game of k sides speaks of the k - 1 differences between the performances of neighbouring sides: each has a
    margin to exceed, or to stay within.  One message for each difference, about the performances; what follows of
    the strengths is that, widened by the performances' own spread.  All copies of a game say the same.
    """

    def __init__(self, sizes: Sequence[int], groups: Groups, names: Sequence[str], draw_probability: float) -> None:
        index = {name: number for number, name in enumerate(names)}
        neighbours = list(pairwise(sizes))
        differences, most = len(neighbours), max(map(sum, neighbours))

        def padded(values: Sequence[float]) -> list[float]:
            return [*values, *[0] * (most - len(values))]

        self._size = len(names)
        self._copies = np.array([float(copies) for _, copies in groups])
        self._ends = np.array(
            [
                [padded([index[name] for name in upper + lower]) for upper, lower in pairwise(game.sides)]
                for game, _ in groups
            ],
            np.int64,
        )
        """Who stands at the two ends of each difference, by number; fewer leave places with the sign 0."""
        self._signs = np.array([padded([1.0] * one + [-1.0] * other) for one, other in neighbours])
        self._ties = np.array([[rank == below for rank, below in pairwise(game.ranks)] for game, _ in groups])
        between = np.diff(np.eye(len(sizes)), axis=0)
        self._spread = between @ np.diag(np.array(sizes) * BETA**2) @ between.T
        step = quantile((1 + draw_probability) / 2) * BETA
        self._margins = np.array([step * math.sqrt(one + other) for one, other in neighbours])
        self._precision = np.zeros((len(groups), differences))
        self._product = np.zeros((len(groups), differences))

    def _about_strengths(self) -> tuple[Matrix, Matrix]:
        """What one copy of each game says of the differences in strength: precision, precision times mean."""
        widened = _inverses(np.eye(self._spread.shape[1]) + self._precision[:, :, None] * self._spread)
        return widened * self._precision[:, None, :], np.einsum("gij,gj->gi", widened, self._product)

    def said(self) -> tuple[Matrix, Vector]:
        """What all copies of all games together say of the strengths: precision, precision times mean."""
        precision, product = self._about_strengths()
        whole = np.zeros((self._size, self._size))
        for one, other in self._pairs_of_ends():
            share = np.einsum("g,i,gij,j->gij", self._copies, self._signs[:, one], precision, self._signs[:, other])
            np.add.at(whole, (self._ends[:, :, None, one], self._ends[:, None, :, other]), share)
        weighed = (self._copies[:, None, None] * self._signs * product[:, :, None]).ravel()
        return whole, np.bincount(self._ends.ravel(), weighed, self._size).astype(np.float64)

    def _pairs_of_ends(self) -> Iterable[tuple[int, int]]:
        places = range(self._ends.shape[2])
        return itertools.product(places, places)

    def listen(self, mean: Vector, covariance: Matrix) -> None:
        """Hear what is believed of the strengths; change what is said to what follows from it, but not all the way."""
        precision, product = self._about_strengths()
        between = sum(
            self._signs[:, None, one]
            * covariance[self._ends[:, :, None, one], self._ends[:, None, :, other]]
            * self._signs[:, other]
            for one, other in self._pairs_of_ends()
        )
        heard = _inverses(between)
        centre = np.einsum("gij,gj->gi", heard, (self._signs * mean[self._ends]).sum(axis=2))
        cavity = _inverses(heard - precision)  # without what this one copy said itself
        cavity_mean = np.einsum("gij,gj->gi", cavity, centre - product)
        performance = _inverses(cavity + self._spread)
        performance_product = np.einsum("gij,gj->gi", performance, cavity_mean) + self._product
        diagonal = np.arange(self._precision.shape[1])
        performance[:, diagonal, diagonal] += self._precision
        belief = _inverses(performance)
        belief_mean = np.einsum("gij,gj->gi", belief, performance_product)
        own = belief[:, diagonal, diagonal]
        variance = 1 / (1 / own - self._precision)
        centre = variance * (belief_mean / own - self._product)
        sigma = np.sqrt(variance)
        said = encounter(centre / sigma, self._margins / sigma, self._ties)
        narrowed = variance * np.maximum(1 + said.by_gap_twice, 1e-9)
        aim = 1 / narrowed - 1 / variance
        aim_product = (centre + sigma * said.by_gap) / narrowed - centre / variance
        self._precision += _DAMPING * (aim - self._precision)
        self._product += _DAMPING * (aim_product - self._product)


def _inverses(matrices: Matrix) -> Matrix:
    """Of each; most games are of two sides, whose matrices are single numbers."""
    return np.asarray(1 / matrices if matrices.shape[-1] == 1 else np.linalg.inv(matrices), np.float64)
