"""The score between deals: who deals, what carries over, when it is over, who ranks where."""

from __future__ import annotations

import pytest

from arena.game.presets import preset
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
    three = MatchState(preset("sessantasei-3"))
    three.add(won(3, 1, 0))
    three.forfeit(0)
    assert three.ranks == (3, 1, 2)
    assert three.final_points == (3, 1, 0)


def test_at_three_the_deal_goes_round_but_not_after_a_draw() -> None:
    state = MatchState(preset("sessantasei-3"))
    dealers = []
    for outcome in (won(2, 0, 0), drawn(3), won(0, 1, 1), won(0, 0, 3), won(1, 0, 0)):
        dealers.append(state.dealer)
        state.add(outcome)
    assert dealers == [2, 0, 0, 1, 2]


def test_at_three_a_match_ends_with_the_first_at_the_target_and_two_may_share_the_rank() -> None:
    state = MatchState(preset("sessantasei-3"))
    for points in ((3, 3, 0), (2, 2, 0)):
        state.add(won(*points))
        assert not state.over
    state.add(won(3, 2, 0))
    assert state.over
    assert (state.score, state.final_points, state.ranks) == ((8, 7, 0), (7, 7, 0), (1, 1, 3))


def test_partners_have_one_score() -> None:
    state = MatchState(preset("four-handed"))
    assert (state.score, state.dealer) == ((0, 0), 3)
    state.add(won(0, 3))
    assert (state.score, state.dealer) == ((0, 3), 0)
    state.forfeit(1)
    assert (state.final_points, state.ranks) == ((7, 3), (1, 2))


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


@pytest.mark.parametrize(
    ("score", "over", "ranks"),
    [
        ((1000, 990), False, (1, 2)),
        ((1001, 990), True, (1, 2)),
        ((1015, 1025), True, (2, 1)),
        ((1010, 1010), False, (1, 1)),
    ],
)
def test_a_thousand_and_one_needs_the_higher_total(score: tuple[int, int], over: bool, ranks: tuple[int, int]) -> None:
    state = MatchState(preset("tausendeins"))
    state.score = score
    assert state.over is over
    assert (state.final_points, state.ranks) == (score, ranks)


def test_deals_of_1001_add_their_card_points_and_the_deal_alternates() -> None:
    state = MatchState(preset("tausendeins"))
    state.add(won(97, 243, how=Termination.PLAYED_OUT))
    assert (state.score, state.dealer, state.over) == ((97, 243), 0, False)
    state.add(won(400, 0, how=Termination.FORFEIT))
    assert (state.score, state.dealer) == ((497, 243), 1)
