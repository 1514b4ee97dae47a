"""The score between deals: who deals, what carries over, when it is over, who ranks where."""

from __future__ import annotations

import pytest

from arena.game.presets import preset
from arena.game.rules import Rules
from arena.game.scoring import Outcome, Termination
from arena.match.state import MAX_DEALS, MatchState


def won(*points: int, how: Termination = Termination.CLAIM) -> Outcome:
    return Outcome(how, points, (0,) * len(points), 0)


def drawn(sides: int = 2) -> Outcome:
    return won(*(0,) * sides, how=Termination.PLAYED_OUT)


def test_a_five_to_six_match_ends_at_eight_to_six_and_the_surplus_is_ignored() -> None:
    state = MatchState(preset("sixty-six"))
    for points in ((3, 0), (2, 0), (0, 3), (0, 3)):
        state.add(won(*points))
    assert state.score == (5, 6)
    assert not state.over
    state.add(won(3, 0))
    assert state.over
    assert state.score == (8, 6)
    assert state.final_points == (7, 6)
    assert state.ranks == (1, 2)


def test_the_deal_alternates_but_not_after_a_draw() -> None:
    state = MatchState(preset("santase").with_options({"deal_rotation": "alternate"}))
    assert state.dealer == 1
    state.add(won(1, 0))
    assert state.dealer == 0
    state.add(drawn())
    assert state.dealer == 0
    state.add(won(1, 0))
    assert state.dealer == 1


def test_with_winner_rotation_the_seat_that_scored_deals_next() -> None:
    state = MatchState(preset("pagat"))
    state.add(won(2, 0))
    assert state.dealer == 0
    state.add(won(2, 0))
    assert state.dealer == 0
    state.add(drawn())
    assert state.dealer == 0
    state.add(won(0, 1))
    assert state.dealer == 1


def test_draws_add_up_and_are_paid_to_the_next_winner() -> None:
    state = MatchState(preset("pagat").with_options({"tie": "draw_carry"}))
    state.add(drawn())
    state.add(drawn())
    assert state.carry == 2
    assert state.add(won(0, 1)) == (0, 3)
    assert state.carry == 0
    assert state.score == (0, 3)


def test_a_forfeit_counts_as_the_win_that_a_carry_is_paid_to() -> None:
    state = MatchState(preset("pagat").with_options({"tie": "draw_carry"}))
    state.add(drawn())
    assert state.add(won(2, 0, how=Termination.FORFEIT)) == (3, 0)


def test_a_plain_draw_carries_nothing() -> None:
    state = MatchState(preset("pagat"))
    state.add(drawn())
    assert state.carry == 0


def test_a_forfeited_match_sets_the_other_of_two_sides_to_the_target() -> None:
    state = MatchState(preset("sixty-six"))
    state.add(won(3, 0))
    state.forfeit(0)
    assert state.over
    assert state.final_points == (3, 7)
    assert state.ranks == (2, 1)


def test_who_forfeits_ranks_last_even_when_ahead() -> None:
    three = MatchState(
        Rules().with_options(
            {"seating": "free_for_all", "seats": 3, "deck": 32, "hand": 7, "deal_rotation": "clockwise"}
        )
    )
    three.add(won(3, 1, 0))
    three.forfeit(0)
    assert three.ranks == (3, 1, 2)
    assert three.final_points == (3, 1, 0)


def test_equal_capped_points_share_a_rank() -> None:
    state = MatchState(preset("sixty-six"))
    state.score = (9, 7)
    assert state.ranks == (1, 1)


def test_a_match_of_draws_ends_after_a_hundred_deals_as_it_stands() -> None:
    state = MatchState(preset("pagat"))
    for _ in range(MAX_DEALS):
        assert not state.over
        state.add(drawn())
    assert state.over
    assert state.ranks == (1, 1)


@pytest.mark.parametrize(("score", "over"), [((1000, 990), False), ((1001, 990), True), ((1010, 1010), False)])
def test_a_thousand_and_one_needs_the_higher_total(score: tuple[int, int], over: bool) -> None:
    rules = Rules().with_options(
        {
            "hand": 8,
            "trump_source": "marriage",
            "exchange": "off",
            "close": "off",
            "claim": "off",
            "score": "card_points",
            "match_target": 1001,
        }
    )
    state = MatchState(rules)
    state.score = score
    assert state.over is over
    assert state.final_points == score
