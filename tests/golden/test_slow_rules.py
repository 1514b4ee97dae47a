"""Whole random deals, played in the engine and by the slow interpreter side by side: every step is the same in both."""

from __future__ import annotations

import random

import pytest

from arena.cards import CARD_NAMES, hand_cards
from arena.game.deal import Deal
from arena.game.game import Game
from tests.game.tables import GAMES, any_policy, choose, mixed_rules
from tests.golden.slow_rules import SlowDeal

DEALS = 250
MIXED = 1000


def agree(deal: Deal, slow: SlowDeal) -> None:
    """Both are in the same state, and ask the same seat for one of the same actions."""
    if deal.outcome is not None:
        assert slow.result is not None and slow.question is None
        outcome, result = deal.outcome, slow.result
        assert (str(outcome.termination), outcome.seat) == (result.how, result.seat)
        assert (outcome.points, outcome.card_points) == (result.points, result.totals)
        return
    assert deal.point is not None and slow.result is None
    assert (deal.point.name.lower(), deal.to_act) == slow.question
    assert sorted(map(str, deal.legal_actions)) == sorted(slow.legal())
    assert [sorted(map(str, hand_cards(hand))) for hand in deal.hands] == [sorted(hand) for hand in slow.hands]
    assert [CARD_NAMES[card] for card in deal.talon] == slow.talon
    assert [CARD_NAMES[card] for card in deal.table] == [card for _, card in slow.trick]
    assert (list(deal.points), list(deal.pending), list(deal.tricks)) == (slow.totals(), slow.waiting, slow.tricks)
    assert " SHDC"[deal.trump].strip() == (slow.trump or "")


def play_both(game: Game, rng: random.Random) -> Deal:
    """Deal a shuffled deck, play it out in both, and compare at each step; now and then a fault ends it."""
    deck = list(game.cards)
    rng.shuffle(deck)
    dealer = rng.randrange(game.table.seats)
    deal = game.deal(deck, dealer)
    slow = SlowDeal.dealt(game.rules.options(), [str(card) for card in deck], dealer)
    policy = any_policy(rng)
    fault_after = rng.randrange(40) if rng.random() < 0.1 else None
    agree(deal, slow)
    while (seat := deal.to_act) is not None:
        if len(deal.past_actions) == fault_after:
            deal.forfeit(seat)
            slow.forfeit(seat)
        else:
            action = choose(deal, policy, rng)
            deal.apply(action)
            slow.do(str(action))
        agree(deal, slow)
    return deal


@pytest.mark.parametrize("name", GAMES)
def test_engine_and_slow_interpreter_agree_at_every_step(name: str) -> None:
    rng = random.Random(name)
    game = GAMES[name]
    ends = {str(play_both(game, rng).outcome.termination) for _ in range(DEALS)}  # type: ignore[union-attr]
    expected = {"forfeit", "played-out"}
    if game.rules.claim in ("own_turn", "after_trick"):
        expected |= {"claim", "false-claim"}
    if game.rules.close != "off":
        expected |= {"close-failed"}
    assert ends >= expected


def test_they_agree_under_options_mixed_at_random() -> None:
    rng = random.Random(66)
    for _ in range(MIXED):
        play_both(Game(mixed_rules(rng)), rng)


def test_a_fault_planted_in_the_interpreter_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.golden.slow_rules.LOW_TO_HIGH", "789JQTKA")  # ten and king change places
    rng = random.Random(1)
    with pytest.raises(AssertionError):
        for _ in range(20):
            play_both(GAMES["four-handed"], rng)
