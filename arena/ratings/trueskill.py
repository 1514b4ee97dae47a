"""TrueSkill run to convergence over the whole log: equal evidence gives equal bits, in any order.

Expectation propagation in which every update of a factor is the package's own `rate`; for games of two participants
it is written out, for all of them at once.  Strengths do not change with time (tau 0): a bot that changes is
another participant.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise, product

import numpy as np
import trueskill

from arena.errors import UsageError
from arena.ratings.base import BETA, MU, SIGMA, Game, Games, Groups, Rating, grouped
from arena.ratings.statistics import (
    LEAST_DRAW_PROBABILITY,
    MOST_DRAW_PROBABILITY,
    Matrix,
    Vector,
    cdf,
    encounter,
    fitted_draw_probability,
    pdf,
    pull,
    quantile,
)

MAX_SWEEPS = 200
"""Where a fit gives up: twice what games of two or three sides were seen to take."""

_TOLERANCE = 1e-7
"""Settled: no mean and no standard deviation moves by more than this, in points."""
_ROUNDING = 1e-11
"""What each copy of a game adds to that: the rounding in a message weighs as often as the message."""
_MOST_W = 1 - 1e-9
"""At 1 the truncated difference would have no variance left."""
_PRIOR = Rating(MU, SIGMA)
_PRIOR_PRECISION = SIGMA**-2
ONLINE_TAU, _ONLINE_DRAW_PROBABILITY = SIGMA / 100, 0.10
"""The package's defaults."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Ratings by name (in the order of names), with the draw probability under which they hold.

    `games` is the number of units of evidence, `sweeps` how often each was looked at.
    """

    ratings: Mapping[str, Rating]
    draw_probability: float
    games: int
    sweeps: int

    def anchored(self, reference: str, field: Collection[str]) -> Fit:
        """The same, but all of the `field` moved so that the reference stands at the prior's mean."""
        shift = MU - self.ratings[reference].mu
        moved = {
            name: Rating(rating.mu + shift, rating.sigma) if name in field else rating
            for name, rating in self.ratings.items()
        }
        return replace(self, ratings=moved)

    @property
    def converged(self) -> bool:
        """Whether more sweeps would change nothing; this can fail where four or more sides meet often."""
        return self.sweeps < MAX_SWEEPS


def fit(games: Games, participants: Iterable[str] = (), draw_probability: float | None = None) -> Fit:
    """Rate everybody in `games` by all of them at once; `participants` without a game stay at the prior.

    The draw probability is fitted to the games where none is given.  Raises `UsageError` for one that is out
    of range, and for a drawn game where it is 0.
    """
    groups = grouped(games)
    if draw_probability is None:
        draw_probability = fitted_draw_probability(groups)
    _check_draws(groups, draw_probability)
    met = sorted({name for game, _ in groups for name in game.participants})
    ratings = dict.fromkeys(participants, _PRIOR)
    sweeps = 0
    if groups:
        settled, sweeps = _settle(_Factors(groups, met), _environment(draw_probability))
        ratings.update(zip(met, settled, strict=True))
    total = sum(copies for _, copies in groups)
    return Fit(dict(sorted(ratings.items())), draw_probability, total, sweeps)


def online(
    games: Iterable[Game],
    participants: Iterable[str] = (),
    start: Mapping[str, Rating] | None = None,
    tau: float = ONLINE_TAU,
) -> Fit:
    """One pass of TrueSkill with the package's defaults, game by game: **the result depends on the order**.

    For comparison with other arenas; `fit` is the rating.  `start` holds ratings to begin with, all others
    begin at the prior; by `tau` strengths spread between two games.
    """
    environment = _environment(_ONLINE_DRAW_PROBABILITY, tau)
    ratings = dict.fromkeys(participants, _PRIOR) | dict(start or {})
    log = tuple(games)
    for game in log:
        known = [[ratings.get(name, _PRIOR) for name in side] for side in game.sides]
        before = [[environment.create_rating(rating.mu, rating.sigma) for rating in side] for side in known]
        after = chain.from_iterable(environment.rate(before, game.ranks))
        ratings |= {name: Rating(rated.mu, rated.sigma) for name, rated in zip(game.participants, after, strict=True)}
    return Fit(dict(sorted(ratings.items())), _ONLINE_DRAW_PROBABILITY, len(log), sweeps=1)


def _check_draws(groups: Groups, draw_probability: float) -> None:
    if draw_probability != 0 and not LEAST_DRAW_PROBABILITY <= draw_probability <= MOST_DRAW_PROBABILITY:
        raise UsageError(
            f"the draw probability is {draw_probability}; it must be 0 or between {LEAST_DRAW_PROBABILITY} "
            f"and {MOST_DRAW_PROBABILITY}, or left out to have it fitted to the games"
        )
    drawn = next((game for game, _ in groups if game.drawn), None)
    if drawn is not None and draw_probability == 0:
        # The package would raise everybody's sigma without a word.
        raise UsageError(
            f"the game of {', '.join(drawn.participants)} was drawn, but the draw probability is 0; "
            "give one above 0, or leave it out to have it fitted to the games"
        )


class _Environment(trueskill.TrueSkill):  # type: ignore[misc]  # the package has no types
    """The package's TrueSkill, made to hold for results that are all but certain and all but impossible.

    The original raises `FloatingPointError` there, and both arise: between the ends of a long ladder of bots.
    """

    def v_win(self, diff: float, draw_margin: float) -> float:
        return pull(diff - draw_margin)[0]

    def w_win(self, diff: float, draw_margin: float) -> float:
        return min(pull(diff - draw_margin)[1], _MOST_W)

    def v_draw(self, diff: float, draw_margin: float) -> float:
        if abs(diff) - draw_margin < 35:
            return float(super().v_draw(diff, draw_margin))
        return math.copysign(pull(draw_margin - abs(diff))[0], -diff)

    def w_draw(self, diff: float, draw_margin: float) -> float:
        if abs(diff) - draw_margin < 35:
            return min(float(super().w_draw(diff, draw_margin)), _MOST_W)
        return self.w_win(-abs(diff), -draw_margin)


def _environment(draw_probability: float, tau: float = 0.0) -> _Environment:
    return _Environment(MU, SIGMA, BETA, tau, draw_probability, backend=(cdf, pdf, quantile))


@dataclass(frozen=True, slots=True)
class _Normals:
    """Normal distributions, each as its precision and precision times mean: adding these multiplies them."""

    precision: Vector
    product: Vector

    @property
    def mean(self) -> Vector:
        return self.product / self.precision

    @property
    def sigma(self) -> Vector:
        return self.precision**-0.5

    def __sub__(self, other: _Normals) -> _Normals:
        return _Normals(self.precision - other.precision, self.product - other.product)

    def towards(self, other: _Normals, step: float) -> _Normals:
        """Between these (at step 0) and the others (at step 1)."""
        change = other - self
        return _Normals(self.precision + step * change.precision, self.product + step * change.product)


_Indexed = tuple[tuple[tuple[int, ...], ...], tuple[int, ...], int]
"""A game with its participants by number: its sides, their ranks, and how many copies there are."""


def _is_duel(game: _Indexed) -> bool:
    return [len(side) for side in game[0]] == [1, 1]


class _Factors:
    """The different games as factors.  All copies of a game send the same message, so one stands for all.

    A *slot* is one member of one factor; there is one message, and one cavity, a slot.
    """

    def __init__(self, groups: Groups, names: Sequence[str]) -> None:
        index = {name: number for number, name in enumerate(names)}
        self._games = [
            (tuple(tuple(index[name] for name in side) for side in game.sides), game.ranks, copies)
            for game, copies in groups
        ]
        slots = [(number, copies) for sides, _, copies in self._games for side in sides for number in side]
        self._larger = [(game, slot) for game, slot in self._with_slots() if not _is_duel(game)]
        duels = [(slot, game) for game, slot in self._with_slots() if _is_duel(game)]
        self._better = np.array([slot for slot, _ in duels], np.int64)
        """Of each game of two participants the slot of the better one; that of the other is the next."""
        self._tied = np.array([ranks[0] == ranks[1] for _, (_, ranks, _) in duels], np.bool_)
        self._size = len(names)
        self._owner = np.array([number for number, _ in slots])
        self._copies = np.array([float(copies) for _, copies in slots])

    @property
    def most_copies(self) -> float:
        """How often the most frequent game was played."""
        return float(self._copies.max())

    def silence(self) -> _Normals:
        """The messages of factors that have said nothing yet."""
        return _Normals(np.zeros(len(self._owner)), np.zeros(len(self._owner)))

    def beliefs(self, messages: _Normals) -> _Normals:
        """What is believed of each participant: the prior times all copies of all messages."""
        return _Normals(
            _PRIOR_PRECISION + self._by_participant(messages.precision),
            _PRIOR_PRECISION * MU + self._by_participant(messages.product),
        )

    def _by_participant(self, values: Vector) -> Vector:
        return np.asarray(np.bincount(self._owner, self._copies * values, self._size), np.float64)

    def cavities(self, beliefs: _Normals, messages: _Normals) -> _Normals:
        """What one copy of each factor hears of its members: the beliefs without its own message."""
        return _Normals(beliefs.precision[self._owner], beliefs.product[self._owner]) - messages

    def _with_slots(self) -> Iterator[tuple[_Indexed, int]]:
        """The games, each with its first slot."""
        slot = 0
        for game in self._games:
            yield game, slot
            slot += sum(map(len, game[0]))

    def answers(self, environment: _Environment, cavities: _Normals) -> _Normals:
        """What one copy of each factor says to that: the change that `rate` makes to what it heard."""
        answers = self.silence()
        means, sigmas = cavities.mean.tolist(), cavities.sigma.tolist()
        for (sides, ranks, _), first in self._larger:
            slots = iter(range(first, first + sum(map(len, sides))))
            heard = [
                [environment.create_rating(means[slot], sigmas[slot]) for slot in islice(slots, len(side))]
                for side in sides
            ]
            before, after = chain.from_iterable(heard), chain.from_iterable(environment.rate(heard, ranks))
            for slot, (one, rated) in enumerate(zip(before, after, strict=True), first):
                answers.precision[slot] = rated.pi - one.pi
                answers.product[slot] = rated.tau - one.tau
        self._answer_duels(environment, cavities, answers)
        return answers

    def _answer_duels(self, environment: _Environment, cavities: _Normals, answers: _Normals) -> None:
        """What `rate` comes to where two participants meet: the difference of their strengths, told to each.

        Most games are such, and the package builds a graph of objects for each of them.
        """
        better, other = self._better, self._better + 1
        mean, variance = cavities.mean, 1 / cavities.precision
        spread = 2 * BETA**2
        width = np.sqrt(spread + variance[better] + variance[other])
        gap = (mean[better] - mean[other]) / width
        margin = quantile((1 + environment.draw_probability) / 2) * math.sqrt(2) * BETA / width
        said = encounter(gap, margin, self._tied)
        v, w = said.by_gap, np.minimum(-said.by_gap_twice, _MOST_W)
        precision = w / (1 - w) / width**2
        shift = (gap * w + v) / (1 - w) / width
        for mine, facing, sign in ((better, other, 1), (other, better, -1)):
            widened = 1 + precision * (spread + variance[facing])
            answers.precision[mine] = precision / widened
            answers.product[mine] = (mean[facing] * precision + sign * shift) / widened

    def said(self, messages: _Normals) -> Vector:
        """The precision that all messages together give each participant; never quite 0, to divide by it."""
        return np.maximum(self._by_participant(messages.precision), 1e-12)

    def moved(self, messages: _Normals, means: Vector) -> _Normals:
        """The messages, those to one participant shifted alike, so that the beliefs have these means."""
        beliefs = self.beliefs(messages)
        shift = (beliefs.precision * means - beliefs.product) / self.said(messages)
        return _Normals(messages.precision, messages.product + messages.precision * shift[self._owner])

    def response(self, cavities: _Normals, answers: _Normals, messages: _Normals) -> Matrix:
        """How the force on each mean (a row each) yields as the means are `moved` with these messages.

        A cavity follows its owner's mean by what it holds besides the prior.  An answer tells how a factor's
        log likelihood curves along each member; between two neighbouring sides it curves no more than along
        the lesser, and just that where there are but two.
        """
        said = self.said(messages)
        others = said[self._owner] - messages.precision
        follows = others / (others + _PRIOR_PRECISION) * (1 + _PRIOR_PRECISION / said)[self._owner]
        stretch = 1 + answers.precision / cavities.precision
        curvature = answers.precision / stretch
        matrix = np.diag(np.full(self._size, _PRIOR_PRECISION))
        first, second = self._better, self._better + 1
        links = self._copies[first] * np.minimum(curvature[first], curvature[second])
        for mine, facing in ((first, second), (second, first)):
            pulled = stretch[mine] * links
            np.add.at(matrix, (self._owner[mine], self._owner[mine]), pulled)
            np.add.at(matrix, (self._owner[mine], self._owner[facing]), -follows[facing] * pulled)
        for (sides, _, copies), slot in self._larger:
            slots = []
            for side in sides:
                slots.append(range(slot, slot + len(side)))
                slot += len(side)
            for upper, lower in pairwise(slots):
                link = copies * min(curvature[upper[0]], curvature[lower[0]])
                ends = [(end, 1) for end in upper] + [(end, -1) for end in lower]
                for (end, sign), (other, other_sign) in product(ends, repeat=2):
                    share = 1.0 if end == other else sign * other_sign * follows[other]
                    matrix[self._owner[end], self._owner[other]] += share * stretch[end] * link
        return matrix


def _settle(factors: _Factors, environment: _Environment) -> tuple[list[Rating], int]:
    """The ratings under which every factor repeats what it said, and the number of sweeps to find them.

    Sweeps with a constant damping find them too, but slowly where the field hangs together loosely: the
    common level takes thousands, a ladder of bots hundreds.  So all means move at once by a Newton step, and
    their messages with them; what is left to swing, the variances, is damped by Aitken's rule.
    """
    tolerance = max(_TOLERANCE, _ROUNDING * factors.most_copies)
    messages = factors.silence()
    beliefs = factors.beliefs(messages)
    step = 0.5
    swing: Vector | None = None
    sweeps, unrest = 0, math.inf
    while unrest > tolerance and sweeps < MAX_SWEEPS:
        sweeps += 1
        cavities = factors.cavities(beliefs, messages)
        answers = factors.answers(environment, cavities)
        aim = factors.beliefs(answers)
        force = aim.product - aim.precision * beliefs.mean
        last, swing = swing, np.array([math.log(ratio) for ratio in aim.precision / beliefs.precision])
        if last is not None:
            step = _aitken(step, last, swing)
        messages = messages.towards(answers, step)
        move = np.linalg.solve(factors.response(cavities, answers, messages), force)
        unrest = max(np.ptp(move), np.abs(aim.sigma - beliefs.sigma).max())
        messages = factors.moved(messages, beliefs.mean + move)
        beliefs = factors.beliefs(messages)
    return list(map(Rating, beliefs.mean.tolist(), beliefs.sigma.tolist())), sweeps


def _aitken(step: float, last: Vector, swing: Vector) -> float:
    """The step that would have brought the last swing to rest, between a quarter and all of the way."""
    change = swing - last
    length = float(change @ change)
    return min(max(-step * float(last @ change) / length, 0.25), 1.0) if length > 0 else step
