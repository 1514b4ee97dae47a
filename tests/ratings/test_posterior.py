"""How sure the ratings are: compared with exact integration, where that can be done, and with a truth that is known."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from arena.ratings.base import BETA, SIGMA, Game, grouped, mirrored_pair
from arena.ratings.posterior import Posterior, posterior, verdicts
from arena.ratings.statistics import cdf, fitted_draw_probability
from arena.ratings.trueskill import fit
from bench.leagues import League
from tests.ratings.test_trueskill import drawn, logs, ordered, restated

Grid = NDArray[np.float64]


def judged(games: Sequence[Game]) -> Posterior:
    return posterior(games, fitted_draw_probability(grouped(games)))


# -- compared with exact integration ----------------------------------------------------------------------------------

_phi = np.vectorize(cdf)


# Who has never lost has a skew belief, which a normal distribution fits less well.
@pytest.mark.parametrize(
    ("wins", "losses", "near"), [(1, 0, 0.02), (1, 1, 0.02), (3, 1, 0.02), (10, 0, 0.15), (40, 30, 0.02)]
)
def test_of_two_bots_it_is_what_integration_gives(wins: int, losses: int, near: float) -> None:
    gap = np.linspace(-60, 60, 20_001)
    chance = _phi(gap / (2**0.5 * BETA))
    weight = np.exp(-(gap**2) / (4 * SIGMA**2)) * chance**wins * (1 - chance) ** losses
    weight /= weight.sum()
    mean = float(weight @ gap)
    spread = float(weight @ (gap - mean) ** 2) ** 0.5
    belief = posterior([ordered("a", "b")] * wins + [ordered("b", "a")] * losses, 0.0)
    assert belief.mean[0] - belief.mean[1] == pytest.approx(mean, abs=2.5 * near * spread)
    assert belief.errors()["a"] == pytest.approx(1.959964 * spread / 2, rel=near)
    assert belief.better("a", "b") == pytest.approx(float(weight[gap > 0].sum()), abs=0.01)


def in_turn(first: Grid, second: Grid, third: Grid) -> Grid:
    """How likely performances are in this order, at these strengths: by where the middle one is."""
    total = np.zeros_like(first)
    for x in np.linspace(-4, 4, 41):
        middle = second + x * BETA
        density = np.exp(-x * x / 2) / (2 * np.pi) ** 0.5 * 0.2
        total += density * _phi((first - middle) / BETA) * _phi((middle - third) / BETA)
    return total


@pytest.mark.parametrize("games", [["abc"] * 2, ["abc", "bca", "bac", "abc"], ["ab", "bc", "ca", "ab"], ["ab", "abc"]])
def test_of_three_bots_it_is_what_integration_gives(games: list[str]) -> None:
    grid = np.linspace(-36, 36, 49)
    ab, bc = np.meshgrid(grid, grid, indexing="ij")
    strengths = {"a": ab, "b": np.zeros_like(ab), "c": -bc}
    # The differences of three independent strengths: variance 2 each, covariance -1.
    logs = -(ab**2 + ab * bc + bc**2) / (3 * SIGMA**2)
    for game in games:
        at = [strengths[name] for name in game]
        logs += np.log(in_turn(*at) if len(at) == 3 else _phi((at[0] - at[1]) / (2**0.5 * BETA)))
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    level = sum(strengths.values()) / 3
    belief = posterior([ordered(*game) for game in games], 0.0)
    for number, name in enumerate("abc"):
        relative = strengths[name] - level
        mean = float((weight * relative).sum())
        spread = float((weight * (relative - mean) ** 2).sum()) ** 0.5
        assert belief.mean[number] - belief.mean.mean() == pytest.approx(mean, abs=0.05 * spread)
        assert belief.errors()[name] == pytest.approx(1.959964 * spread, rel=0.05)
    assert belief.better("a", "b") == pytest.approx(float(weight[ab > 0].sum() + weight[ab == 0].sum() / 2), abs=0.015)


# -- properties -------------------------------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(logs(), st.randoms(use_true_random=False))
def test_any_order_of_the_same_games_gives_the_same_bits(games: list[Game], random: Random) -> None:
    one = judged(games)
    shuffled = [restated(game, random) for game in random.sample(games, len(games))]
    other = judged(shuffled)
    assert one.names == other.names
    assert one.mean.tobytes() == other.mean.tobytes()
    assert one.covariance.tobytes() == other.covariance.tobytes()
    assert one.rank_shares() == other.rank_shares()


@settings(max_examples=20, deadline=None)
@given(logs())
def test_it_is_finite_and_its_means_are_those_of_the_fit(games: list[Game]) -> None:
    ratings = fit(games)
    belief = posterior(games, ratings.draw_probability)
    # Partners are believed together here, and each alone there: with them the means may differ more.
    alone = all(len(side) == 1 for game in games for side in game.sides)
    errors = belief.errors()
    for number, name in enumerate(belief.names):
        rating = ratings.ratings[name]
        assert belief.mean[number] == pytest.approx(rating.mu, abs=(0.4 if alone else 2.0) * rating.sigma)
        assert 0 < errors[name] < 3 * SIGMA


@settings(max_examples=20, deadline=None)
@given(logs())
def test_one_of_two_is_better_and_somebody_is_first(games: list[Game]) -> None:
    belief = judged(games)
    for one in belief.names:
        for other in belief.names:
            if one != other:
                assert belief.better(one, other) + belief.better(other, one) == pytest.approx(1.0)
    shares = belief.rank_shares()
    for place in range(len(belief.names)):
        assert sum(share[place] for share in shares.values()) == pytest.approx(1.0)
    assert all(sum(share) == pytest.approx(1.0) for share in shares.values())


def test_a_bot_that_nobody_met_is_not_there_and_changes_nothing() -> None:
    games = [ordered("a", "b"), ordered("b", "c"), ordered("a", "c")]
    scores = dict.fromkeys("abcz", 25.0)
    assert verdicts(judged(games), scores) == verdicts(judged(games), dict.fromkeys("abc", 25.0))
    assert "z" not in judged(games).names
    assert verdicts(judged([]), scores) == {}


@pytest.mark.parametrize("rungs", [2, 20])
def test_the_ends_of_a_ladder_stay_finite(rungs: int) -> None:
    names = "abcdefghijklmnopqrst"[:rungs]
    games = [ordered(upper, lower) for upper, lower in pairwise(names) for _ in range(1000)]
    belief = judged([*games, ordered(names[-1], names[0])])
    assert np.isfinite(belief.mean).all() and (np.diag(belief.covariance) > 0).all()
    assert belief.better(names[0], names[-1]) > 0.95


def test_where_all_pairs_are_drawn_all_share_the_first_rank() -> None:
    games = [drawn("a", "b"), drawn("b", "c"), drawn("a", "c")] * 5
    found = verdicts(judged(games), dict.fromkeys("abc", 20.0))
    assert [verdict.rank for verdict in found.values()] == [1, 1, 1]
    assert all(verdict.ranks == (1, 3) for verdict in found.values())
    assert all(verdict.first == pytest.approx(1 / 3, abs=0.02) for verdict in found.values())


# -- verdicts ---------------------------------------------------------------------------------------------------------


def test_who_cannot_be_told_apart_shares_a_rank_and_who_can_does_not() -> None:
    games = [mirrored_pair("a", "b", 2, 0)] * 30 + [mirrored_pair("b", "c", 1, 1)] * 30
    games += [mirrored_pair("a", "c", 2, 0)] * 30
    ratings = fit(games).ratings
    found = verdicts(judged(games), {name: rating.score for name, rating in ratings.items()})
    assert {name: verdict.rank for name, verdict in found.items()} == {"a": 1, "b": 2, "c": 2}
    assert {name: verdict.ranks for name, verdict in found.items()} == {"a": (1, 1), "b": (2, 3), "c": (2, 3)}
    assert found["a"].better_than_next is not None and found["a"].better_than_next > 0.999
    assert found["b"].better_than_next == pytest.approx(0.5)
    assert found["c"].better_than_next is None
    assert list(found) == ["a", "b", "c"]


def test_relative_to_a_reference_it_has_no_error_itself_and_the_others_have_that_of_the_difference() -> None:
    games = [ordered("a", "b"), ordered("b", "a")] * 3
    belief = judged(games)
    errors = belief.errors("b")
    assert errors["b"] == pytest.approx(0.0, abs=1e-9)
    assert errors["a"] == pytest.approx(2 * belief.errors()["a"])


# -- compared with the truth ------------------------------------------------------------------------------------------


def test_bars_and_rank_intervals_hold_the_truth_as_often_as_they_say() -> None:
    held, ranked, count, said, true, neighbours = 0, 0, 0, 0.0, 0, 0
    for seed in range(30):
        league = League.of(bots=10, luck=0.51, seed=seed)
        games, truth = league.games(pairs=10), league.limit()
        belief = judged(games)
        found = verdicts(belief, dict(zip(belief.names, belief.mean, strict=True)))
        level = sum(truth.values()) / len(truth)
        order = sorted(truth, key=lambda name: -truth[name])
        for number, name in enumerate(belief.names):
            off = (belief.mean[number] - belief.mean.mean()) - (truth[name] - level)
            held += abs(off) <= found[name].error
            best, worst = found[name].ranks
            ranked += best <= order.index(name) + 1 <= worst
            count += 1
        for name, following in pairwise(found):
            said += found[name].better_than_next or 0.0
            true += truth[name] > truth[following]
            neighbours += 1
    assert (count, neighbours) == (300, 270)
    assert 0.92 <= held / count <= 0.975
    assert ranked / count >= 0.95
    assert said / neighbours == pytest.approx(true / neighbours, abs=0.05)
