"""TrueSkill: known answers, any order, any log, and the same as an independent implementation."""

from __future__ import annotations

import os
import subprocess
import sys
from random import Random

import pytest
import trueskill
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import UsageError
from arena.ratings.base import BETA, MU, SIGMA, Game, Rating, mirrored_pair
from arena.ratings.trueskill import Fit, fit, online

few = settings(max_examples=20, deadline=None)


def ordered(*sides: str) -> Game:
    """A game without ties, best side first; `"ab"` is the side of the participants a and b."""
    return Game(tuple(map(tuple, sides)), tuple(range(len(sides))))


def drawn(*sides: str) -> Game:
    return Game(tuple(map(tuple, sides)), (0,) * len(sides))


def check(found: Fit, expected: dict[str, tuple[float, float]], tolerance: float) -> None:
    for name, (mu, sigma) in expected.items():
        assert found.ratings[name].mu == pytest.approx(mu, abs=tolerance), name
        assert found.ratings[name].sigma == pytest.approx(sigma, abs=tolerance), name


@st.composite
def logs(draw: st.DrawFn, names: str = "abcdef") -> list[Game]:
    """Up to a dozen different games of all shapes, each played up to many times."""
    games: list[Game] = []
    for _ in range(draw(st.integers(0, 12))):
        shape = draw(st.sampled_from([(1, 1), (1, 1), (2, 2), (1, 2), (1, 1, 1), (1, 1, 1, 1)]))
        players = iter(draw(st.permutations(names)))
        sides = tuple(tuple(next(players) for _ in range(size)) for size in shape)
        ranks = tuple(draw(st.integers(0, 2)) for _ in shape)
        games += [Game(sides, ranks)] * draw(st.sampled_from([1, 1, 2, 5, 100]))
    return games


def restated(game: Game, random: Random) -> Game:
    """The same game, its sides and their members in another order."""
    order = random.sample(range(len(game.sides)), len(game.sides))
    sides = tuple(tuple(random.sample(game.sides[place], len(game.sides[place]))) for place in order)
    return Game(sides, tuple(3 * game.ranks[place] for place in order))


# --- Known answers ---

DEFAULTS = [
    ([ordered("a", "b")], {"a": (29.395832, 7.171476), "b": (20.604168, 7.171476)}),
    ([drawn("a", "b")], {"a": (25.0, 6.457520), "b": (25.0, 6.457520)}),
    (
        [ordered("a", "b", "c")],
        {"a": (31.675352, 6.655985), "b": (25.0, 6.207897), "c": (18.324648, 6.655985)},
    ),
    (
        [ordered("ab", "cd")],
        {"a": (28.108, 7.774), "b": (28.108, 7.774), "c": (21.892, 7.774), "d": (21.892, 7.774)},
    ),
    ([ordered(*"abcdefgh")], {"a": (36.771, 5.749), "b": (32.242, 5.133), "h": (13.229, 5.749)}),
]


@pytest.mark.parametrize(("games", "expected"), DEFAULTS)
def test_one_pass_gives_the_known_answers_of_the_defaults(
    games: list[Game], expected: dict[str, tuple[float, float]]
) -> None:
    check(online(games), expected, 1e-3)


@few
@given(logs())
def test_one_pass_is_the_package_played_game_by_game(games: list[Game]) -> None:
    stock = trueskill.TrueSkill()
    ratings = {name: stock.create_rating() for name in "abcdef"}
    for game in games:
        before = [{name: ratings[name] for name in side} for side in game.sides]
        for side in stock.rate(before, game.ranks):
            ratings |= side
    check(online(games, "abcdef"), {name: tuple(rating) for name, rating in ratings.items()}, 1e-3)


def test_one_pass_goes_on_from_given_ratings() -> None:
    start = {"a": Rating(20, 8), "b": Rating(25, 6), "c": Rating(35, 7), "d": Rating(40, 5)}
    expected = {"a": (29.698, 7.008), "b": (30.455, 5.594), "c": (27.575, 6.346), "d": (36.211, 4.768)}
    check(online([ordered("ab", "cd")], start=start), expected, 1e-3)


CONVERGED = [
    ([ordered("a", "b")], {"a": (29.205221, 7.194481), "b": (20.794779, 7.194481)}),
    (
        [ordered("a", "b", "c")],
        {"a": (31.311358, 6.698819), "b": (25.0, 6.238470), "c": (18.688642, 6.698819)},
    ),
    (
        [ordered("ab", "cd")],
        {"a": (27.973540, 7.784761), "b": (27.973540, 7.784761), "d": (22.026460, 7.784761)},
    ),
    ([ordered("a", "b"), ordered("b", "a")], {"a": (25.0, 5.4192), "b": (25.0, 5.4192)}),
    (
        [ordered("a", "b"), ordered("b", "c"), ordered("c", "a")],
        {"a": (25.0, 5.4192), "b": (25.0, 5.4192), "c": (25.0, 5.4192)},
    ),
    ([ordered("a", "b")] * 3, {"a": (31.2603, 6.2231), "b": (18.7397, 6.2231)}),
    (
        [ordered("a", "b"), ordered("b", "c"), ordered("a", "c")],
        {"a": (31.7490, 6.4448), "b": (25.0, 6.1542), "c": (18.2510, 6.4448)},
    ),
]


@pytest.mark.parametrize(("games", "expected"), CONVERGED)
def test_the_fit_gives_the_known_answers(games: list[Game], expected: dict[str, tuple[float, float]]) -> None:
    found = fit(games)
    assert found.converged
    assert found.games == len(games)
    check(found, expected, 1e-4)


def test_mirrored_results_give_equal_ratings() -> None:
    found = fit([mirrored_pair("a", "b", 1, 1), mirrored_pair("b", "a", 2, 0), mirrored_pair("b", "a", 0, 2)])
    assert found.ratings["a"].mu == pytest.approx(found.ratings["b"].mu, abs=1e-6)
    assert found.ratings["a"].sigma == pytest.approx(found.ratings["b"].sigma, abs=1e-6)


# --- Any order ---


@few
@given(logs(), st.randoms(use_true_random=False))
def test_any_order_of_games_sides_and_members_gives_equal_bits(games: list[Game], random: Random) -> None:
    other = [restated(game, random) for game in random.sample(games, len(games))]
    assert repr(fit(other)) == repr(fit(games))


def test_another_process_with_other_hashes_gives_equal_bits() -> None:
    program = (
        "from arena.ratings.base import Game; from arena.ratings.trueskill import fit\n"
        "games = [Game(((x,), (y,), (z,)), (0, 1, 1)) for x in 'abc' for y in 'def' for z in 'ghi']\n"
        "print(repr(fit(games, {'j', 'k', 'l'})))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert "'l': Rating(mu=25.0" in outputs.pop()


def test_one_pass_depends_on_the_order() -> None:
    games = [ordered("a", "b"), ordered("b", "a")]
    assert online(games).ratings["a"].mu == pytest.approx(23.36, abs=0.005)
    assert online(games[::-1]).ratings["a"].mu == pytest.approx(26.64, abs=0.005)


# --- Any log ---


@few
@given(logs())
def test_any_log_gives_finite_ratings_that_know_more_than_before(games: list[Game]) -> None:
    found = fit(games)
    assert found.converged
    assert 0 <= found.draw_probability <= 0.98
    for rating in found.ratings.values():
        assert -1000 < rating.mu < 1000
        assert 0 < rating.sigma <= SIGMA + 1e-9


@few
@given(logs(names="abcd"))
def test_a_participant_that_nobody_met_changes_nothing(games: list[Game]) -> None:
    alone, joined = fit(games), fit(games, ["z", "0", "bb"])
    assert {name: repr(joined.ratings[name]) for name in alone.ratings} == {
        name: repr(rating) for name, rating in alone.ratings.items()
    }
    assert joined.ratings["z"] == joined.ratings["0"] == joined.ratings["bb"] == Rating(MU, SIGMA)
    assert list(joined.ratings) == sorted(joined.ratings)


def test_without_games_everybody_stays_at_the_prior() -> None:
    assert fit([]) == Fit({}, 0.0, 0, 0)
    assert fit([], ["b", "a"]) == Fit({"a": Rating(MU, SIGMA), "b": Rating(MU, SIGMA)}, 0.0, 0, 0)
    assert online([], ["a"]).ratings == {"a": Rating(MU, SIGMA)}


@pytest.mark.parametrize("copies", [1, 30, 1000, 100_000])
def test_winning_always_stays_finite_and_says_more_with_more_games(copies: int) -> None:
    once, found = fit([ordered("a", "b")]), fit([ordered("a", "b")] * copies)
    assert found.converged
    assert once.ratings["a"].score <= found.ratings["a"].score < 100
    assert found.ratings["a"].mu + found.ratings["b"].mu == pytest.approx(2 * MU, abs=1e-5)


@pytest.mark.parametrize("copies", [1, 30, 10_000])
def test_drawing_always_leaves_all_equal_and_surer(copies: int) -> None:
    found = fit([drawn("a", "b"), drawn("b", "c"), drawn("c", "a")] * copies)
    assert found.converged
    assert found.draw_probability == 0.98
    for rating in found.ratings.values():
        assert rating.mu == pytest.approx(MU, abs=1e-5)
        assert rating.sigma < SIGMA


LADDER = [f"bot{number:02}" for number in range(20)]


def ladder(copies: int) -> list[Game]:
    """Twenty bots in a strict order: the better one wins every game."""
    return [
        mirrored_pair(better, worse, 2, 0)
        for place, better in enumerate(LADDER)
        for worse in LADDER[place + 1 :]
        for _ in range(copies)
    ]


@pytest.mark.parametrize("extra", [[], [(0, 2)], [(1, 1)]])
def test_a_strict_ladder_is_rated_even_with_an_upset_between_its_ends(extra: list[tuple[int, int]]) -> None:
    upset = [mirrored_pair(LADDER[0], LADDER[-1], *wins) for wins in extra]
    found = fit([*ladder(200), *upset])
    assert found.converged
    assert sorted(LADDER, key=lambda name: -found.ratings[name].mu) == LADDER
    assert found.ratings[LADDER[0]].mu - found.ratings[LADDER[-1]].mu > 100


def league(pairs: int) -> list[Game]:
    """Twenty bots with strengths one point apart, a round robin of so many mirrored pairs a pairing."""
    random = Random(2)
    log = []
    for place, better in enumerate(LADDER):
        for distance, worse in enumerate(LADDER[place + 1 :], 1):
            for _ in range(pairs):
                wins = sum(random.gauss(distance, BETA * 2**0.5) > 0 for _ in range(2))
                log.append(mirrored_pair(better, worse, wins, 2 - wins))
    return log


def test_the_work_does_not_grow_with_the_number_of_games() -> None:
    few_games, many_games = fit(league(5)), fit(league(100))
    assert many_games.games == 20 * few_games.games == 19_000
    assert few_games.sweeps <= 20
    assert many_games.sweeps <= 20


def test_the_rating_finds_the_strengths_behind_a_league() -> None:
    found = fit(league(100)).ratings
    centre = sum(rating.mu for rating in found.values()) / len(found)
    assert centre == pytest.approx(MU, abs=1e-6)
    assert found[LADDER[0]].sigma < 0.5
    assert sorted(LADDER, key=lambda name: -found[name].mu) == LADDER


def test_fields_that_never_met_do_not_touch_each_other() -> None:
    first, second = [ordered("a", "b")] * 3, [ordered("x", "y"), ordered("y", "z")]
    both, alone = fit(first + second, draw_probability=0), fit(first, draw_probability=0)
    assert both.ratings["a"].mu == pytest.approx(alone.ratings["a"].mu, abs=1e-6)
    assert both.ratings["a"].sigma == pytest.approx(alone.ratings["a"].sigma, abs=1e-6)


# --- Draws ---


def test_a_drawn_game_is_refused_where_draws_cannot_be() -> None:
    with pytest.raises(UsageError, match="a, b was drawn, but the draw probability is 0"):
        fit([ordered("a", "c"), drawn("b", "a")], draw_probability=0)


@pytest.mark.parametrize("wrong", [-0.1, 1e-9, 0.99, 1.0, float("nan")])
def test_an_impossible_draw_probability_is_refused(wrong: float) -> None:
    with pytest.raises(UsageError, match="draw probability"):
        fit([ordered("a", "b")], draw_probability=wrong)


def test_a_win_says_more_where_draws_are_common() -> None:
    games = [ordered("a", "b"), drawn("a", "b")]
    seldom, often = fit(games, draw_probability=0.02), fit(games, draw_probability=0.6)
    assert (seldom.draw_probability, often.draw_probability) == (0.02, 0.6)
    assert seldom.ratings["a"].mu + 0.5 < often.ratings["a"].mu


# --- An independent implementation ---


def through_time(games: list[Game], draw_probability: float) -> dict[str, tuple[float, float]]:
    """TrueSkill Through Time with strengths that do not change, which is the same model."""
    ttt = pytest.importorskip("trueskillthroughtime")
    plain = [game.canonical() for game in games]
    history = ttt.History(
        [[list(side) for side in game.sides] for game in plain],
        [[-rank for rank in game.ranks] for game in plain],
        mu=MU,
        sigma=SIGMA,
        beta=BETA,
        gamma=0,
        p_draw=draw_probability,
    )
    history.convergence(epsilon=1e-6, iterations=500, verbose=False)
    return {name: (curve[-1][1].mu, curve[-1][1].sigma) for name, curve in history.learning_curves().items()}


@st.composite
def small_logs(draw: st.DrawFn, ties: bool) -> list[Game]:
    """One to eight games of one shape; every game may be another."""
    shape = draw(st.sampled_from([(1, 1), (2, 2), (1, 2), (1, 1, 1)]))
    games = []
    for _ in range(draw(st.integers(1, 8))):
        players = iter(draw(st.permutations("abcde")))
        sides = tuple(tuple(next(players) for _ in range(size)) for size in shape)
        places = draw(st.permutations(range(len(shape))))
        games.append(Game(sides, tuple(place // 2 if ties else place for place in places)))
    return games


@few
@given(small_logs(ties=False))
def test_the_fit_agrees_with_trueskill_through_time(games: list[Game]) -> None:
    check(fit(games), through_time(games, 0.0), 1e-3)


@few
@given(small_logs(ties=True))
def test_the_fit_agrees_with_trueskill_through_time_where_games_are_drawn(games: list[Game]) -> None:
    check(fit(games, draw_probability=0.2), through_time(games, 0.2), 1e-3)
