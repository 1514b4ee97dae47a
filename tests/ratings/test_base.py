"""Evidence: what makes a game, and when two games say the same."""

from __future__ import annotations

import pytest

from arena.ratings.base import Game, Rating, block, encounters, grouped, mirrored_pair


def test_a_score_is_three_standard_deviations_under_the_mean() -> None:
    assert Rating(25.0, 8.0).score == 1.0


@pytest.mark.parametrize(("wins_a", "wins_b", "ranks"), [(2, 0, (0, 1)), (1, 1, (0, 0)), (0, 2, (1, 0))])
def test_a_mirrored_pair_is_one_game(wins_a: int, wins_b: int, ranks: tuple[int, int]) -> None:
    assert mirrored_pair("a", "b", wins_a, wins_b) == Game((("a",), ("b",)), ranks)


@pytest.mark.parametrize(("wins_a", "wins_b"), [(1, 0), (0, 0), (2, 1), (3, -1)])
def test_half_a_pair_is_no_evidence(wins_a: int, wins_b: int) -> None:
    with pytest.raises(ValueError, match="two matches"):
        mirrored_pair("a", "b", wins_a, wins_b)


def test_a_block_ranks_its_sides_by_total_points() -> None:
    assert block([["a"], ["b"], ["c"]], [7, 21, 7]) == Game((("a",), ("b",), ("c",)), (1, 0, 1))


def test_a_block_of_partners_keeps_the_sides_together() -> None:
    assert block([["a", "b"], ["c", "d"]], [3, 9]).ranks == (1, 0)


@pytest.mark.parametrize(
    ("sides", "ranks"),
    [
        ((("a",),), (0,)),
        ((("a",), ()), (0, 1)),
        ((("a",), ("b",)), (0,)),
        ((("a",), ("a",)), (0, 1)),
        ((("a", "a"), ("b", "c")), (0, 1)),
    ],
)
def test_what_cannot_be_a_game_is_refused(sides: tuple[tuple[str, ...], ...], ranks: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="game"):
        Game(sides, ranks)


def test_games_that_say_the_same_are_one_group() -> None:
    said = [
        Game((("d", "c"), ("a", "b")), (5, 2)),
        Game((("b", "a"), ("c", "d")), (0, 1)),
        Game((("c", "d"), ("b", "a")), (9, -1)),
    ]
    assert list(grouped(said)) == [(Game((("a", "b"), ("c", "d")), (0, 1)), 3)]


def test_a_win_and_a_loss_are_two_groups_and_a_draw_is_a_third() -> None:
    pairs = [mirrored_pair("b", "a", *wins) for wins in ((2, 0), (1, 1), (0, 2))]
    assert [game.ranks for game, _ in grouped(pairs)] == [(0, 0), (0, 1), (0, 1)]
    assert [game.sides[0] for game, _ in grouped(pairs)] == [("a",), ("a",), ("b",)]


def test_a_free_for_all_counts_as_all_its_encounters() -> None:
    met = encounters(grouped([Game((("a",), ("b",), ("c",)), (0, 1, 1))] * 2))
    assert met == [
        ((("a",), ("b",), False), 2),
        ((("a",), ("c",), False), 2),
        ((("b",), ("c",), True), 2),
    ]
