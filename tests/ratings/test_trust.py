"""What the trust report rests on: published quantiles, circles that are found, and leagues without any that are not."""

from __future__ import annotations

import math

import pytest

from arena.ratings.base import Game, grouped, mirrored_pair
from arena.ratings.posterior import Posterior, Verdict, posterior, verdicts
from arena.ratings.statistics import fitted_draw_probability
from arena.ratings.trust import (
    Separation,
    Transitivity,
    absences,
    chi_squared_tail,
    head_to_head,
    separations,
    transitivity,
)
from bench.leagues import League
from tests.ratings.test_trueskill import drawn, ordered


def belief_in(games: list[Game]) -> tuple[Posterior, float]:
    draws = fitted_draw_probability(grouped(games))
    return posterior(games, draws), draws


def judged_by(belief: Posterior) -> dict[str, Verdict]:
    return verdicts(belief, dict(zip(belief.names, belief.mean, strict=True)))


def separated(games: list[Game]) -> tuple[Separation, ...]:
    belief, _ = belief_in(games)
    return separations(belief, judged_by(belief))


def examined(games: list[Game]) -> Transitivity | None:
    belief, draws = belief_in(games)
    return transitivity(head_to_head(games, belief, draws), len(belief.names), draws)


@pytest.mark.parametrize(
    ("x", "freedom", "tail"),
    [(3.841, 1, 0.05), (5.991, 2, 0.05), (7.815, 3, 0.05), (16.919, 9, 0.05), (18.307, 10, 0.05), (63.691, 40, 0.01)],
)
def test_the_tail_of_chi_squared_is_that_of_the_tables(x: float, freedom: int, tail: float) -> None:
    assert chi_squared_tail(x, freedom) == pytest.approx(tail, abs=2e-5)


def test_a_circle_is_found_and_its_pairings_stand_out() -> None:
    games = [ordered(*pair) for pair in ("ab", "bc", "ca") for _ in range(40)]
    games += [ordered(*pair) for pair in ("ba", "cb", "ac") for _ in range(10)]
    found = examined(games)
    assert found is not None and found.freedom == 1
    assert found.probability < 1e-6
    # Each was expected to be even, 80 of 100 were scored: 0.3 of a standard deviation of 0.5 / sqrt(50).
    assert {each.sides for each in found.outliers} == {(("a",), ("b",)), (("b",), ("c",)), (("a",), ("c",))}
    assert all(abs(each.z) == pytest.approx(0.3 / (0.5 / math.sqrt(50)), rel=0.01) for each in found.outliers)


def test_where_strengths_explain_everything_few_leagues_look_like_circles() -> None:
    found = [examined(League.of(bots=8, luck=0.51, seed=seed).games(pairs=20)) for seed in range(40)]
    alarms = sum(test is not None and test.probability < 0.05 for test in found)
    assert all(test is not None for test in found)
    assert alarms <= 6  # 2 are to be expected; more than 6 of 40 come once in a hundred


def test_more_than_two_sides_or_too_few_pairings_are_not_tested() -> None:
    assert examined([ordered("a", "b", "c")] * 20) is None
    assert examined([ordered("a", "b")] * 20) is None
    assert examined([ordered("a", "b"), drawn("b", "c"), drawn("a", "c")]) is None


def test_four_times_the_games_halve_the_doubt() -> None:
    once = [mirrored_pair("a", "b", 2, 0)] * 40 + [mirrored_pair("a", "b", 0, 2)] * 33
    (found,) = separated(once)
    assert (found.better, found.other) == ("a", "b")
    assert 0.6 < found.probability < 0.95
    enough = once * math.ceil(found.factor)
    (then,) = separated(enough)
    assert then.probability >= 0.945
    assert then.factor <= 1.05


def test_what_has_no_gap_is_never_told_apart() -> None:
    games = [ordered("a", "b"), ordered("b", "a")]
    (found,) = separated(games)
    assert found.probability == pytest.approx(0.5) and (math.isinf(found.factor) or found.factor > 1e6)


def test_a_bot_that_only_one_other_beats_makes_the_difference_between_them() -> None:
    # a and b are even with each other; only what they do to c tells them apart.
    games = [ordered("a", "b"), ordered("b", "a")] * 10 + [ordered("a", "c")] * 40
    games += [ordered("b", "c")] * 12 + [ordered("c", "b")] * 28
    belief, draws = belief_in(games)
    judged = judged_by(belief)
    assert {name: verdict.rank for name, verdict in judged.items()}["b"] == 2
    missing = {absence.name: absence.ranks for absence in absences(games, draws, judged)}
    assert missing["c"] == {"b": (2, 1)}
    assert list(missing) == list(judged)
