"""The duel's test: its likelihoods against a search, and its error rates against games whose truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from arena.ratings.duel import LEAST_PAIRS, Answer, Pairs, _likelihood, judge
from bench.leagues import play_pairs


@pytest.mark.parametrize("mean", [0.5, 0.55, 0.3])
@pytest.mark.parametrize("counts", [(3.5, 10.5, 7.5), (0.5, 20.5, 0.5), (30.5, 0.5, 2.5)])
def test_the_likelihood_is_the_greatest_that_a_search_finds(counts: tuple[float, float, float], mean: float) -> None:
    won = np.linspace(1e-6, mean - 1e-6, 200_001)
    drawn = 2 * (mean - won)
    lost = 1 - won - drawn
    inside = lost > 0
    logs = sum(count * np.log(p[inside]) for count, p in zip(counts, (lost, drawn, won), strict=True))
    assert _likelihood(counts, mean) == pytest.approx(float(np.max(logs)), abs=1e-4)


def test_at_the_mean_that_the_counts_have_it_is_that_of_their_shares() -> None:
    counts = (5.0, 10.0, 5.0)
    assert _likelihood(counts, 0.5) == pytest.approx(sum(c * math.log(c / 20) for c in counts))


def test_nothing_is_decided_before_sixteen_pairs() -> None:
    assert judge(Pairs(won=LEAST_PAIRS - 1)).answer is Answer.OPEN
    assert judge(Pairs(won=60)).answer is Answer.BETTER
    assert (
        judge(Pairs(lost=LEAST_PAIRS)).answer is Answer.OPEN
    )  # nearly as strange for an equal bot as for a better one
    assert judge(Pairs(lost=40)).answer is Answer.NOT_BETTER


def test_who_wins_more_is_better_and_who_wins_as_many_is_not() -> None:
    assert judge(Pairs(lost=10, drawn=60, won=60)).answer is Answer.BETTER
    assert judge(Pairs(lost=300, drawn=600, won=300)).answer is Answer.NOT_BETTER
    assert judge(Pairs(lost=10, drawn=20, won=12)).answer is Answer.OPEN


def test_the_share_counts_draws_by_half_and_its_error_shrinks_with_the_root() -> None:
    few, many = Pairs(10, 20, 20), Pairs(1000, 2000, 2000)
    assert few.share == many.share == 0.6
    assert few.error / many.error == pytest.approx(10, rel=0.02)
    assert Pairs().share == 0.5


@pytest.mark.parametrize(("edge", "level"), [(0.0, 0.05), (0.5, 0.05), (0.1, 0.5), (0.1, 0.0)])
def test_edges_and_levels_out_of_range_are_refused(edge: float, level: float) -> None:
    with pytest.raises(ValueError, match=r"lie between 0 and 0\.5"):
        judge(Pairs(), edge, level)


def test_equal_bots_are_seldom_called_better_and_better_ones_seldom_not() -> None:
    rng = np.random.default_rng(5)
    answers: dict[float, list[Answer]] = {0.0: [], 0.3: []}
    for edge, found in answers.items():
        for _ in range(60):
            won = play_pairs(edge, 0.51, 400, rng)[:, 0]
            answer = Answer.OPEN
            for stop in range(16, 401, 8):
                lost, drawn, better = np.bincount(won[:stop], minlength=3)
                answer = judge(Pairs(int(lost), int(drawn), int(better)), edge=0.1).answer
                if answer is not Answer.OPEN:
                    break
            found.append(answer)
    # At nominal rates of 5% at most 8 errors of 60 are to be expected, once in a hundred.
    assert answers[0.0].count(Answer.BETTER) <= 8
    assert answers[0.3].count(Answer.NOT_BETTER) == 0
    assert answers[0.3].count(Answer.BETTER) == 60
