"""Quick play is legal everywhere, looks at nothing hidden, and is as sensible as it claims."""

from __future__ import annotations

import random

import pytest

from arena.cards import ACTIONS, CLAIM, CLOSE, Action
from arena.errors import IllegalAction
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.notation import replay
from arena.game.position import parse_position
from arena.game.presets import PRESETS, preset
from arena.game.quick import play_on, quick_action
from tests.game.tables import shuffled
from tests.game.worlds import other_world


def answer(position: str, actions: str = "", rules: str = "sixty-six") -> str:
    """What quick play does after the actions from the position on, whose lines may be separated by `;`."""
    game = Game(preset(rules))
    start = parse_position(game, position.replace(";", "\n"))
    return str(ACTIONS[quick_action(replay(game, start, [Action.parse(word) for word in actions.split()]))])


@pytest.mark.parametrize("rules", PRESETS)
def test_it_is_legal_in_every_state_and_ends_every_deal(rules: str) -> None:
    rng = random.Random(f"quick {rules}")
    game = Game(PRESETS[rules])
    for _ in range(40):
        deal = shuffled(game, rng)
        while deal.to_act is not None:
            assert play_on(deal.copy()).points is not None
            action = quick_action(deal)
            assert deal.legal_mask >> action & 1
            side = game.side_of[deal.to_act]
            assert action != CLAIM or deal.points[side] >= game.rules.target
            deal.apply(action if rng.random() < 0.5 else rng.choice(deal.legal_actions))


@pytest.mark.parametrize("rules", PRESETS)
def test_it_looks_at_nothing_that_the_seat_may_not_know(rules: str) -> None:
    rng = random.Random(f"quick worlds {rules}")
    game = Game(PRESETS[rules])
    compared = 0
    for _ in range(30):
        deal = shuffled(game, rng)
        while deal.to_act is not None:
            if worlds := other_world(deal, deal.to_act, rng):
                one, other = worlds
                assert quick_action(one) == quick_action(other)
                compared += 1
            deal.apply(rng.choice([action for action in deal.legal_actions if action != CLAIM] or deal.legal_actions))
    assert compared > 50


def test_a_deal_that_is_over_cannot_be_played_on() -> None:
    deal = shuffled(Game(preset("sixty-six")), random.Random(1))
    ended = play_on(deal)
    assert play_on(deal) is ended
    with pytest.raises(IllegalAction):
        deal.apply(CLAIM)


def test_a_sure_close_is_closed_and_led_from_the_top() -> None:
    hands = "hand 0: AC TC QC JH 9D 9S; hand 1: KC JC 9H QH KH TH"
    position = f"dealer: 1; {hands}; talon: AS TS KS QS JS AH AD 9C; trump: C; tricks: 2-0; points: 40-0"
    assert answer(position) == "close"
    assert answer(position, "close") == "AC"
    assert answer(position.replace("40-0", "24-0")) != "close"


def test_it_declares_claims_and_exchanges() -> None:
    hands = "hand 0: KH QH 9C JS 9S TD; hand 1: AS TS KS QS AH TH"
    position = f"dealer: 1; {hands}; talon: JH 9H AD KD QD JD 9D TC KC AC; trump: C; tricks: 1-0; points: 15-0"
    assert answer(position) == "exchange"
    assert answer(position, "exchange") == "MH"
    strict = "hand 0: KH 9C; hand 1: AS TS; known 1: AS TS; trump: C; tricks: 5-5; points: {}-20"
    assert answer(strict.format(66)) == "claim"
    assert answer(strict.format(65)) == "9C"


def test_it_beats_chance_by_far() -> None:
    """Mirrored, so that only the play counts."""
    rng = random.Random("quick strength")
    game = Game(preset("sixty-six"))
    won = 0
    for _ in range(150):
        deck = list(game.cards)
        rng.shuffle(deck)
        for quick in (0, 1):
            deal = game.deal(deck)
            while (seat := deal.to_act) is not None:
                deal.apply(quick_action(deal) if seat == quick else any_card(deal, rng))
            assert deal.outcome is not None
            won += deal.outcome.points[game.side_of[quick]] > 0
    assert won > 0.75 * 300


def any_card(deal: Deal, rng: random.Random) -> Action:
    """Any action but a close and a wrong claim."""
    assert deal.to_act is not None
    if CLAIM in deal.legal_actions and deal.points[deal.game.side_of[deal.to_act]] >= deal.game.rules.target:
        return ACTIONS[CLAIM]
    return rng.choice([action for action in deal.legal_actions if action not in (CLAIM, CLOSE)])
