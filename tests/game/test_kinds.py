"""Kinds of questions: each question of a deal is of the kind that its legal actions and its cards say."""

from __future__ import annotations

from random import Random

import pytest

from arena.bot.view import View as BotView
from arena.cards import CLAIM, CLOSE, DISTINCT, EXCHANGE, SECOND, SUIT_MASKS, SUIT_OF, cards_of, hand_cards
from arena.game.game import Game
from arena.game.presets import PRESETS
from arena.game.questions import Kind, position_text, questions, random_deals
from arena.game.tricks import BEATS
from arena.game.views import DecisionPoint, View

STRICT = (Kind.FOLLOW_SUIT, Kind.MUST_BEAT, Kind.TRUMP_DUTY)


def found(name: str, each: int = 20) -> dict[Kind, list[View]]:
    return questions(Game(PRESETS[name]), Random(name), each=each, deals=150)


def test_all_kinds_come_up_under_the_presets_together() -> None:
    assert {kind for name in PRESETS for kind, views in found(name, each=1).items() if views} == set(Kind)


@pytest.mark.parametrize("name", PRESETS)
def test_where_a_duty_binds_the_cards_say_which(name: str) -> None:
    for kind, views in found(name).items():
        for view in views:
            hand = (view.hand | view.hand >> SECOND) & DISTINCT
            cards = view.legal & DISTINCT
            if view.point is not DecisionPoint.FOLLOW:
                assert kind not in (*STRICT, Kind.FREE_FOLLOW, Kind.LAST_CARD)
                continue
            suit = SUIT_OF[view.table[0]]
            match kind:
                case Kind.FREE_FOLLOW:
                    assert cards == hand
                    assert len(hand_cards(view.hand)) > 1
                case Kind.LAST_CARD:
                    assert cards == hand
                    assert len(hand_cards(view.hand)) == 1
                case Kind.FOLLOW_SUIT:
                    assert {card.suit for card in cards_of(cards)} == {suit}
                    assert cards != hand
                case Kind.MUST_BEAT:
                    assert {card.suit for card in cards_of(cards)} == {suit}
                    assert any(BEATS[view.trump][card] & cards == cards for card in view.table)
                    assert hand & SUIT_MASKS[suit] & ~cards
                case Kind.TRUMP_DUTY:
                    assert {int(card.suit) for card in cards_of(cards)} == {view.trump}
                    assert not hand & SUIT_MASKS[suit]


@pytest.mark.parametrize("name", PRESETS)
def test_on_lead_the_rarest_of_what_may_be_done_names_the_kind(name: str) -> None:
    for kind, views in found(name).items():
        for view in views:
            if view.point is DecisionPoint.ON_LEAD:
                others = {action for action in (EXCHANGE, CLOSE, CLAIM) if view.legal >> action & 1}
                match kind:
                    case Kind.LEAD:
                        assert view.legal <= DISTINCT
                    case Kind.DECLARED_PAIR:
                        assert view.legal & DISTINCT & ~view.bound == 0
                    case Kind.EXCHANGE:
                        assert EXCHANGE in others
                    case Kind.CLOSE:
                        assert CLOSE in others - {EXCHANGE}
                    case Kind.CLAIM:
                        assert others == {CLAIM}


@pytest.mark.parametrize("name", PRESETS)
def test_a_position_as_text_asks_the_same(name: str) -> None:
    for views in found(name, each=5).values():
        for view in views:
            again = BotView.at(position_text(Game(PRESETS[name]), view, Random(1)), name).facts
            assert (again.seat, again.point, again.legal, again.hand, again.table) == (
                *(view.seat, view.point, view.legal, view.hand, view.table),
            )


def test_the_same_randomness_gives_the_same_deals_and_each_comes_to_its_end() -> None:
    game = Game(PRESETS["pagat"])
    one, other = (random_deals(game, Random(7)) for _ in range(2))
    for _ in range(30):
        deal = next(one)
        assert deal == next(other)
        assert deal.views
        assert len(deal.past_seats) == len(deal.past_actions)
