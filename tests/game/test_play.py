"""What holds at every step of every deal, whatever the rules and whoever plays."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.cards import ACTIONS, CARD_POINTS, CARDS, Action, hand_cards
from arena.errors import IllegalAction, UsageError
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.rules import LastTrick, MarriageValues
from arena.game.scoring import Termination
from arena.game.views import DecisionPoint
from tests.game.tables import GAMES, any_policy, at_random, declares_by_itself, mixed_rules, moments, shuffled

SEEDS = st.integers(0, 2**32 - 1)
EVERY_GAME = pytest.mark.parametrize("name", GAMES)


class Ledger:
    """What an onlooker who sees every card writes down: the cards played, the marriages declared, the tricks."""

    def __init__(self, deal: Deal) -> None:
        self.deck: Counter[int] = Counter(deal.game.cards)
        self.marriages = 0
        self.seen = 0
        self.check(deal)

    def note(self, before: Deal, action: Action) -> None:
        """Read the action off the deal before it."""
        suit = action.marriage
        if action.card is not None:
            self.seen += 1
            if declares_by_itself(before, action):
                suit = action.card.suit
        if suit is not None and before.game.rules.marriage_values is MarriageValues.BY_SUIT:
            self.marriages += {"C": 100, "S": 80, "H": 60, "D": 40}[str(suit)]
        elif suit is not None:
            self.marriages += 40 if suit == before.trump else 20

    def check(self, deal: Deal) -> None:
        """Every card is in one place; the points are those of the tricks and the marriages."""
        places: Counter[int] = Counter(card for hand in deal.hands for card in hand_cards(hand))
        places.update(deal.talon)
        places.update(deal.table)
        gone = self.deck - places
        assert places + gone == self.deck
        assert gone.total() == sum(deal.tricks) * len(deal.order)
        assert self.seen == gone.total() + len(deal.table)
        points = sum(CARD_POINTS[card] * times for card, times in gone.items())
        last = 0
        if deal.outcome is not None and deal.outcome.termination is Termination.PLAYED_OUT:
            last = 10 if deal.game.rules.last_trick in (LastTrick.PLUS_10, LastTrick.PLUS_10_WINS) else 0
        assert sum(deal.points) + sum(deal.pending) == points + self.marriages + last


def play_and_check(game: Game, rng: random.Random) -> Deal:
    """Play a random deal out; check at each step what must hold there."""
    deal = shuffled(game, rng)
    ledger = Ledger(deal)
    for action in moments(deal, any_policy(rng), rng):
        assert deal.outcome is None
        assert deal.legal_actions and action in deal.legal_actions
        assert deal.to_act in deal.order
        following = deal.copy()
        following.apply(action)
        ledger.note(deal, action)
        ledger.check(following)
    return deal


@EVERY_GAME
@given(seed=SEEDS)
def test_cards_are_conserved_and_points_add_up_at_every_step(name: str, seed: int) -> None:
    play_and_check(GAMES[name], random.Random(seed))


@settings(max_examples=150)
@given(seed=SEEDS)
def test_the_same_holds_for_options_mixed_at_random(seed: int) -> None:
    rng = random.Random(seed)
    play_and_check(Game(mixed_rules(rng)), rng)


@EVERY_GAME
@given(seed=SEEDS)
def test_a_finished_deal_asks_nobody_and_pays_those_who_played_it(name: str, seed: int) -> None:
    rng = random.Random(seed)
    deal = play_and_check(GAMES[name], rng)
    outcome = deal.outcome
    assert outcome is not None
    assert (deal.to_act, deal.point, deal.legal_actions) == (None, None, ())
    for action in ACTIONS:
        with pytest.raises(IllegalAction, match="over"):
            deal.apply(action)
    assert deal.outcome is outcome
    for seat in range(deal.game.rules.seats):
        view = deal.view(seat)
        assert (view.point, view.legal) == (None, 0)
    assert outcome.card_points == tuple(deal.points)
    playing = {deal.game.table.side_of[seat] for seat in deal.order}
    for side, points in enumerate(outcome.points):
        assert points == 0 or side in playing
    if deal.game.rules.score == "game_points":
        winners = [points for points in outcome.points if points]
        assert all(1 <= points <= 3 for points in winners) and len(set(winners)) <= 1


@EVERY_GAME
@given(seed=SEEDS)
def test_what_is_not_legal_is_refused_and_changes_nothing(name: str, seed: int) -> None:
    deal = at_random(GAMES[name], random.Random(seed))
    before = snapshot(deal)
    legal = set(deal.legal_actions)
    for action in (-1, 0, *range(1, 41), 41, 10**6):
        if action not in legal:
            with pytest.raises(IllegalAction):
                deal.apply(action)
            assert snapshot(deal) == before
    for action in legal:
        deal.copy().apply(action)


@EVERY_GAME
@given(seed=SEEDS)
def test_a_copy_goes_its_own_way(name: str, seed: int) -> None:
    rng = random.Random(seed)
    deal = at_random(GAMES[name], rng)
    before = snapshot(deal)
    twin = deal.copy()
    assert snapshot(twin) == before
    for _ in moments(twin, any_policy(rng), rng):
        assert snapshot(deal) == before
    assert snapshot(deal) == before and deal.outcome is None
    kept = snapshot(twin)
    for _ in moments(deal, any_policy(rng), rng):
        pass
    assert snapshot(twin) == kept


@EVERY_GAME
@given(seed=SEEDS)
def test_the_same_actions_on_the_same_deck_give_the_same_deal(name: str, seed: int) -> None:
    game = GAMES[name]
    rng = random.Random(seed)
    deck = list(game.cards)
    rng.shuffle(deck)
    deal = game.deal(deck, game.table.first_dealer)
    for _ in moments(deal, any_policy(rng), rng):
        pass
    again = game.deal(deck)
    for seat, action in zip(deal.past_seats, deal.past_actions, strict=True):
        assert again.to_act == seat
        again.apply(action)
    assert snapshot(again) == snapshot(deal)


def snapshot(deal: Deal) -> dict[str, Any]:
    """Everything that a deal holds, as values that later changes do not reach."""
    values = {name: getattr(deal, name) for name in Deal.__slots__}
    mutable = {name: tuple(value) for name, value in values.items() if isinstance(value, list | bytearray)}
    return {**values, **mutable}


# -- the deal ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "dealer", "packets"),
    [
        ("sixty-six", 1, {0: [0, 1, 2, 6, 7, 8], 1: [3, 4, 5, 9, 10, 11]}),
        ("sixty-six", 0, {1: [0, 1, 2, 6, 7, 8], 0: [3, 4, 5, 9, 10, 11]}),
        ("schnapsen", 1, {0: [0, 1, 2, 6, 7], 1: [3, 4, 5, 8, 9]}),
        ("tausendeins", 1, {0: [0, 1, 2, 6, 7, 8, 12, 13], 1: [3, 4, 5, 9, 10, 11, 14, 15]}),
        (
            "sessantasei-3",
            0,
            {1: [0, 1, 2, 9, 10, 11, 12], 2: [3, 4, 5, 13, 14, 15, 16], 0: [6, 7, 8, 17, 18, 19, 20]},
        ),
        ("three-handed", 1, {2: [0, 1, 2, 6, 7, 8], 0: [3, 4, 5, 9, 10, 11], 1: []}),
    ],
)
def test_packets_go_round_from_the_seat_left_of_the_dealer(
    name: str, dealer: int, packets: dict[int, list[int]]
) -> None:
    game = GAMES[name]
    deck = list(game.cards)
    random.Random(name).shuffle(deck)
    deal = game.deal(deck, dealer)
    for seat, places in packets.items():
        assert set(hand_cards(deal.hands[seat])) == {deck[place] for place in places}
    dealt = sum(map(len, packets.values()))
    if name == "tausendeins":
        assert (deal.talon, deal.turn_up, deal.trump) == (deck[dealt:], 0, 0)
    else:
        assert deal.turn_up == deck[dealt]
        assert deal.talon == [*deck[dealt + 1 :], deck[dealt]]
        assert deal.trump == deck[dealt].suit
    assert deal.to_act == deal.leader == next(iter(packets))
    assert deal.point is DecisionPoint.ON_LEAD


def test_at_four_the_dealers_last_card_is_shown_and_makes_trump() -> None:
    game = GAMES["four-handed"]
    deck = list(game.cards)
    random.Random(4).shuffle(deck)
    deal = game.deal(deck)
    shown = deck[23]
    assert (deal.dealer, deal.turn_up, deal.trump) == (3, shown, shown.suit)
    assert shown in hand_cards(deal.hands[3])
    assert deal.talon == [] and deal.strict
    for seat in range(4):
        assert deal.view(seat).known == (0, 0, 0, 1 << shown)
    assert deal.to_act == 0


def test_in_the_first_deal_the_highest_seat_deals_and_seat_0_leads() -> None:
    for game in GAMES.values():
        deal = game.deal(game.cards)
        assert deal.dealer == game.rules.seats - 1
        assert deal.to_act == 0


@pytest.mark.parametrize("change", ["short", "double", "foreign"])
def test_another_deck_is_refused(change: str) -> None:
    game = GAMES["schnapsen"]
    deck = list(game.cards)
    match change:
        case "short":
            deck.pop()
        case "double":
            deck[0] = deck[1]
        case _:
            deck[0] = CARDS[1]
    with pytest.raises(UsageError, match="20 cards"):
        game.deal(deck)
