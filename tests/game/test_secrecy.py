"""A seat's view shows what it may know, and nothing else: two worlds that it cannot tell apart look the same to it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.game.deal import Deal
from arena.game.game import Game
from tests.game.tables import GAMES, at_random, mixed_rules, shuffled
from tests.game.worlds import Window, indistinguishable, other_world, view_of

SEEDS = st.integers(0, 2**32 - 1)


def compare(game: Game, rng: random.Random, window: Window = view_of) -> int:
    """Every seat in a world from the start and in one from mid-deal; returns how many views were compared."""
    compared = 0
    for deal in (shuffled(game, rng), at_random(game, rng)):
        for seat in range(game.rules.seats):
            worlds = other_world(deal, seat, rng)
            if worlds is not None:
                compared += indistinguishable(worlds, seat, window, rng)
    return compared


@pytest.mark.parametrize("name", GAMES)
@settings(max_examples=30)
@given(seed=SEEDS)
def test_views_of_two_worlds_are_equal_until_the_difference_becomes_public(name: str, seed: int) -> None:
    compare(GAMES[name], random.Random(seed))


@settings(max_examples=100)
@given(seed=SEEDS)
def test_the_same_holds_for_options_mixed_at_random(seed: int) -> None:
    rng = random.Random(seed)
    compare(Game(mixed_rules(rng)), rng)


@pytest.mark.parametrize("name", GAMES)
def test_the_worlds_stay_alike_long_enough_to_mean_something(name: str) -> None:
    rng = random.Random(name)
    rounds = 20
    compared = sum(compare(GAMES[name], rng) for _ in range(rounds))
    assert compared > 10 * rounds


def _next_card(deal: Deal, seat: int) -> object:
    return deal.view(seat), deal.talon[:1]


def _other_hand(deal: Deal, seat: int) -> object:
    return deal.view(seat)._replace(known=tuple(deal.hands))


def _number_of_choices(deal: Deal, seat: int) -> object:
    return deal.view(seat), len(deal.legal_actions)


def _whether_the_other_may_exchange(deal: Deal, seat: int) -> object:
    return deal.view(seat), deal.legal_mask >> 37 & 1


def _unsorted_hands(deal: Deal, seat: int) -> object:
    return deal.view(seat), min(deal.hands[other] for other in range(len(deal.hands)) if other != seat)


@pytest.mark.parametrize(
    "leak",
    [_next_card, _other_hand, _number_of_choices, _whether_the_other_may_exchange, _unsorted_hands],
)
def test_a_planted_leak_is_seen(leak: Window) -> None:
    rng = random.Random(1)
    with pytest.raises(AssertionError):
        for _ in range(200):
            compare(GAMES["pagat"], rng, leak)


@pytest.mark.parametrize("name", GAMES)
@given(seed=SEEDS)
def test_the_view_of_a_seat_not_asked_has_no_question(name: str, seed: int) -> None:
    deal = at_random(GAMES[name], random.Random(seed))
    for seat in range(deal.game.rules.seats):
        view = deal.view(seat)
        asked = seat == deal.to_act
        assert (view.point is not None, view.legal != 0) == (asked, asked)
        assert view.hand == deal.hands[seat]


@pytest.mark.parametrize("name", GAMES)
@given(seed=SEEDS)
def test_all_but_hand_and_question_is_the_same_for_every_seat(name: str, seed: int) -> None:
    deal = at_random(GAMES[name], random.Random(seed))
    public = {deal.view(seat)._replace(seat=0, hand=0, point=None, legal=0) for seat in range(deal.game.rules.seats)}
    assert len(public) == 1
    view = public.pop()
    for seat, known in enumerate(view.known):
        assert known & ~deal.hands[seat] == 0
