"""The tails of the normal distribution, and the draw probability by maximum profile likelihood."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from random import Random

import numpy as np
import pytest
import trueskill
from numpy.typing import NDArray

from arena.ratings import statistics
from arena.ratings.base import BETA, MU, SIGMA, Game, grouped, mirrored_pair
from arena.ratings.statistics import cdf, encounter, fitted_draw_probability, pdf, pull, quantile, share


def log_cdf(x: float) -> float:
    return float(statistics.log_cdf(np.array([x]))[0])


@pytest.mark.parametrize("x", [-300.0, -60.0, -35.001, -34.999, -5.0, 0.0, 3.0, 50.0])
def test_the_pull_is_the_slope_of_the_log_probability(x: float) -> None:
    step = 1e-4
    slope = (log_cdf(x + step) - log_cdf(x - step)) / (2 * step)
    fall = (pull(x - step)[0] - pull(x + step)[0]) / (2 * step)
    assert pull(x) == pytest.approx((slope, fall), rel=1e-5, abs=1e-9)


def test_nothing_jumps_where_the_tail_series_takes_over() -> None:
    near, far = math.nextafter(-35.0, 0), -35.0
    assert log_cdf(far) == pytest.approx(log_cdf(near), rel=1e-8)
    assert pull(far) == pytest.approx(pull(near), rel=1e-5)


@pytest.mark.parametrize("tie", [False, True])
@pytest.mark.parametrize("gap", [-50.0, -36.5, -3.0, -0.2, 0.3, 2.0, 30.0, 34.6, 60.0])
@pytest.mark.parametrize("margin", [0.05, 0.7, 3.0])
def test_what_an_encounter_says_are_the_slopes_of_its_likelihood(gap: float, margin: float, tie: bool) -> None:
    step = 1e-4
    gaps = np.array([gap, gap + step, gap - step, gap, gap])
    margins = np.array([margin, margin, margin, margin + step, margin - step])
    said = encounter(gaps, margins, np.full(5, tie))

    def slopes(values: NDArray[np.float64]) -> tuple[float, float]:
        return (values[1] - values[2]) / (2 * step), (values[3] - values[4]) / (2 * step)

    expected = (*slopes(said.value), *slopes(said.by_gap), slopes(said.by_margin)[1])
    found = (said.by_gap[0], said.by_margin[0], said.by_gap_twice[0], said.by_both[0], said.by_margin_twice[0])
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_two_results_of_an_encounter_and_its_tie_are_all_there_is() -> None:
    gap, margin = np.array([0.0, 0.4, -2.5]), np.array([0.3, 1.0, 0.1])
    outcomes = (
        np.exp(encounter(gap, margin, np.full(3, False)).value)
        + np.exp(encounter(-gap, margin, np.full(3, False)).value)
        + np.exp(encounter(gap, margin, np.full(3, True)).value)
    )
    assert outcomes == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("gap", [-300.0, -35.001, -34.999, -5.0, 0.0, 3.0, 50.0])
def test_a_win_pulls_alone_as_among_others(gap: float) -> None:
    said = encounter(np.array([gap, 1.0]), np.zeros(2), np.full(2, False))
    assert (said.by_gap[0], -said.by_gap_twice[0]) == pytest.approx(pull(gap), rel=1e-12)


def test_a_tie_without_a_margin_cannot_be() -> None:
    with pytest.raises(FloatingPointError):
        encounter(np.array([0.5]), np.array([0.0]), np.array([True]))


@pytest.mark.parametrize("gap", [-4.0, -0.3, 0.2, 5.0])
@pytest.mark.parametrize("tie", [False, True])
def test_an_encounter_pulls_as_the_package_says(gap: float, tie: bool) -> None:
    package = trueskill.TrueSkill(backend=(cdf, pdf, quantile))  # its own is right to seven digits
    v, w = (package.v_draw, package.w_draw) if tie else (package.v_win, package.w_win)
    said = encounter(np.array([gap]), np.array([0.7]), np.array([tie]))
    assert (said.by_gap[0], -said.by_gap_twice[0]) == pytest.approx((v(gap, 0.7), w(gap, 0.7)), rel=1e-9)


def test_the_normal_distribution_has_its_known_values() -> None:
    assert pdf(0) == pytest.approx(0.3989422804)
    assert cdf(-1.96) == pytest.approx(0.0249978951)
    assert quantile(cdf(1.25)) == pytest.approx(1.25)


def test_equally_strong_bots_draw_as_often_as_they_did() -> None:
    pairs = [mirrored_pair("a", "b", *wins) for wins in [(2, 0)] * 3 + [(1, 1)] * 4 + [(0, 2)] * 3]
    assert fitted_draw_probability(grouped(pairs)) == pytest.approx(0.4, abs=1e-9)


def highest(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with one summit is highest, by ternary search."""
    for _ in range(80):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if function(left) < function(right):
            low = left
        else:
            high = right
    return (low + high) / 2


def test_the_fit_is_the_summit_of_the_profile_likelihood() -> None:
    wins, draws, losses = 12, 5, 2

    def log_likelihood(gap: float, margin: float) -> float:
        z = gap / (BETA * math.sqrt(2))
        tie = cdf(margin - z) - cdf(-margin - z)
        prior = -2 * (gap / 2) ** 2 / (2 * SIGMA**2)
        return wins * log_cdf(z - margin) + draws * math.log(tie) + losses * log_cdf(-z - margin) + prior

    def profile(margin: float) -> float:
        return log_likelihood(highest(lambda gap: log_likelihood(gap, margin), 0, 15), margin)

    expected = 2 * cdf(highest(profile, 0.01, 2)) - 1
    log = [(2, 0)] * wins + [(1, 1)] * draws + [(0, 2)] * losses
    pairs = [mirrored_pair("a", "b", *result) for result in log]
    assert fitted_draw_probability(grouped(pairs)) == pytest.approx(expected, abs=1e-6)
    assert expected > draws / len(pairs)


def simulated(sides: list[tuple[str, ...]], strength: dict[str, float], margin: float, random: Random) -> Game:
    """One game whose neighbours in the order of performances are tied when they are within the margin."""
    performance = [sum(random.gauss(strength[name], BETA) for name in side) for side in sides]
    order = sorted(range(len(sides)), key=performance.__getitem__, reverse=True)
    ranks = {order[0]: 0}
    for above, below in pairwise(order):
        ranks[below] = ranks[above] + (performance[above] - performance[below] > margin)
    return Game(tuple(sides), tuple(ranks[place] for place in range(len(sides))))


@pytest.mark.parametrize(
    ("shape", "truth"),
    [((1, 1), 0.05), ((1, 1), 0.3), ((1, 1), 0.8), ((2, 2), 0.3), ((1, 1, 1), 0.05)],
)
def test_the_fit_finds_the_draw_probability_behind_a_log(shape: tuple[int, ...], truth: float) -> None:
    random = Random(7)
    strength = {name: random.gauss(MU, 3.0) for name in "abcdefgh"}
    margin = quantile((1 + truth) / 2) * BETA * math.sqrt(sum(shape[:2]))
    games = []
    for _ in range(6000):
        names = iter(random.sample(sorted(strength), sum(shape)))
        sides = [tuple(next(names) for _ in range(size)) for size in shape]
        games.append(simulated(sides, strength, margin, random))
    assert fitted_draw_probability(grouped(games)) == pytest.approx(truth, abs=0.025)


def test_one_strong_bot_against_two_weak_ones_is_an_even_game() -> None:
    random = Random(7)
    strength = {"a": 2 * MU - 12, "b": MU - 6, "c": MU - 6}
    margin = quantile((1 + 0.3) / 2) * BETA * math.sqrt(3)
    games = [simulated([("a",), ("b", "c")], strength, margin, random) for _ in range(3000)]
    assert fitted_draw_probability(grouped(games)) == pytest.approx(0.3, abs=0.025)


def test_without_a_drawn_game_the_draw_probability_is_nought() -> None:
    assert fitted_draw_probability([]) == 0
    assert fitted_draw_probability(grouped([mirrored_pair("a", "b", 2, 0)] * 9)) == 0


def test_the_draw_probability_has_a_ceiling() -> None:
    drawn = [mirrored_pair("a", "b", 1, 1)] * 1000
    assert fitted_draw_probability(grouped(drawn)) == 0.98
    assert fitted_draw_probability(grouped([*drawn, mirrored_pair("a", "b", 2, 0)])) == 0.98


def test_one_draw_between_the_ends_of_a_ladder_can_be_fitted() -> None:
    names = [f"bot{number:02}" for number in range(20)]
    games = [
        mirrored_pair(better, worse, 2, 0)
        for place, better in enumerate(names)
        for worse in names[place + 1 :]
        for _ in range(1000)
    ]
    fitted = fitted_draw_probability(grouped([*games, mirrored_pair(names[0], names[-1], 1, 1)]))
    assert 0 < fitted < 0.001


def test_the_error_of_a_share_is_that_between_groups() -> None:
    assert share([(3, 4), (1, 4)]).share == 0.5
    assert share([(3, 4), (1, 4)]).error == pytest.approx(1.96 * math.sqrt(2 * (1 + 1)) / 8, rel=1e-4)
    assert share([(2, 4), (3, 6)]).error == 0  # both groups agree, however the trials within them fell
    assert (share([]).share, share([(3, 4)]).error) == (0.5, 0.5)


def test_the_interval_of_a_share_holds_the_true_one_19_times_of_20() -> None:
    random = Random(66)

    def estimated() -> float:
        groups = []
        for _ in range(60):
            chance = random.choice((0.3, 0.7))  # what is common to a group: both legs of a pair have the same decks
            trials = random.randrange(8, 14)
            groups.append((float(sum(random.random() < chance for _ in range(trials))), trials))
        found = share(groups)
        return abs(found.share - 0.5) <= found.error

    assert 0.93 <= sum(estimated() for _ in range(1000)) / 1000 <= 0.97
