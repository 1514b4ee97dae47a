"""Tables of three and four, and 1001: what has no counterpart in the ordinary game for two."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.cards import CARD_POINTS, CLAIM, CLOSE, DECLARE, DISTINCT, EXCHANGE, Card, cards_of, format_cards, hand_cards
from arena.game.deal import Deal
from arena.game.scoring import Termination
from arena.game.views import DecisionPoint
from tests.game.tables import GAMES, any_policy, do, game, moments, shuffled, state

SEEDS = st.integers(0, 2**32 - 1)


def hand(deal: Deal, seat: int) -> str:
    return format_cards(hand_cards(deal.hands[seat]))


def result(deal: Deal) -> tuple[str, tuple[int, ...]]:
    assert deal.outcome is not None
    return str(deal.outcome.termination), deal.outcome.points


# -- who plays, who leads, who draws ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dealer", [0, 1, 2])
def test_of_three_the_dealer_sits_out_and_the_seat_left_of_it_leads(dealer: int) -> None:
    table = GAMES["three-handed"].table
    forehand = table.next_seat(dealer)
    other = table.next_seat(forehand)
    deal = GAMES["three-handed"].deal(GAMES["three-handed"].cards, dealer)
    assert (deal.to_act, deal.order) == (forehand, (forehand, other))
    assert [deal.hands[seat].bit_count() for seat in (dealer, forehand, other)] == [0, 6, 6]
    assert table.opponents[dealer][forehand] == (other,)


@given(seed=SEEDS)
def test_the_sitter_sees_public_facts_and_scores_nothing(seed: int) -> None:
    rng = random.Random(seed)
    deal = shuffled(GAMES["three-handed"], rng)
    sitter = deal.dealer
    for _ in moments(deal, any_policy(rng), rng):
        own, leaders = deal.view(sitter), deal.view(deal.leader)
        assert (own.hand, own.legal, own.point) == (0, 0, None)
        assert own == leaders._replace(seat=sitter, hand=0, legal=0, point=None)
    assert deal.outcome is not None
    assert (deal.outcome.points[sitter], deal.outcome.card_points[sitter]) == (0, 0)


THREE = """
dealer: 2
hand 0: AS 9H 8H 7H 9D 8D 7D
hand 1: TS KS QH KH QD KD 7C
hand 2: JS 9S 8S JH TH JD TD
talon: KC QC JC AH TC 9C 8C AD AC QS 7S
"""


def test_three_draw_one_each_clockwise_from_the_winner() -> None:
    deal = do(state(GAMES["sessantasei-3"], THREE), "9H KH TH")  # seat 2 wins and draws first
    assert (deal.to_act, deal.point) == (2, DecisionPoint.ON_LEAD)
    assert ["KC" in hand(deal, 2), "QC" in hand(deal, 0), "JC" in hand(deal, 1)] == [True] * 3
    do(deal, "TD 9D QD")  # seat 2 wins again
    assert ["AH" in hand(deal, 2), "TC" in hand(deal, 0), "9C" in hand(deal, 1)] == [True] * 3


def test_three_close_while_a_full_round_is_in_the_talon_and_two_cards_stay_dead() -> None:
    deal = state(GAMES["sessantasei-3"], THREE)
    closable = []
    for trick in ("9H KH TH", "TD 9D QD", "AH 8H QH", ""):
        closable.append((len(deal.talon), CLOSE in deal.legal_actions, deal.strict))
        do(deal, trick)
    assert closable == [(11, True, False), (8, True, False), (5, True, False), (2, False, True)]
    assert format_cards(Card(card) for card in deal.talon) == "QS 7S"
    assert deal.turn_up == Card.parse("7S")
    for seat in range(3):
        assert deal.view(seat).talon == 2


@given(seed=SEEDS)
def test_the_points_of_the_dead_cards_are_lost_to_all(seed: int) -> None:
    rng = random.Random(seed)
    deal = shuffled(game("sessantasei-3", close="off", close_needs_claim=False, claim="off"), rng)
    for _ in moments(deal, "uniform", rng):
        pass
    assert len(deal.talon) == 2
    assert sum(deal.points) == 120 - sum(CARD_POINTS[card] for card in deal.talon) + 10


def test_four_with_two_packs_draw_clockwise_and_the_last_takes_the_turn_up() -> None:
    text = """
        hand 0: AS 9S 9S 9D 9D JD JD
        hand 1: TS JS JS QD QD KD KD
        hand 2: KS KH KH TD TD AD AD
        hand 3: QS QH QH 9H 9H JH JH
        talon: 9C JC QC KC
        tricks: 2-2
        leader: 3
    """
    deal = do(state(GAMES["sessantasei-101"], text), "QS AS TS KS")  # seat 0 wins: 0, 1, 2 and then 3 draw
    assert [hand(deal, seat).split()[-1] for seat in range(4)] == ["9C", "JC", "QC", "KC"]
    assert (deal.to_act, deal.strict, deal.turn_up) == (0, True, 0)
    assert deal.view(1).known == (0, 0, 0, 1 << Card.parse("KC"))


# -- strict play with partners ----------------------------------------------------------------------------------------


def test_a_partner_must_be_beaten_and_over_trumped_like_anybody() -> None:
    hands = "hand 0: QS 9D\nhand 1: 9S 9C\nhand 2: KS JS\nhand 3: JD TC\n"
    deal = do(state(GAMES["four-handed"], f"{hands}turn-up: AH\ntricks: 4-0\nleader: 0\n"), "QS 9S")
    assert [str(action) for action in deal.legal_actions if action.card] == ["KS"]  # over the partner's queen
    hands = "hand 0: 9C TC\nhand 1: QS 9D\nhand 2: JH KD\nhand 3: AH 9H\n"
    deal = do(state(GAMES["four-handed"], f"{hands}turn-up: TH\ntricks: 2-2\nleader: 1\n"), "QS JH")
    assert [str(action) for action in deal.legal_actions if action.card] == ["AH"]
    hands = "hand 0: QH 9D\nhand 1: QS JD\nhand 2: KH KD\nhand 3: TD KC\n"
    deal = do(state(GAMES["four-handed"], f"{hands}turn-up: TH\ntricks: 2-2\nleader: 1\n"), "QS KH TD")
    assert [str(action) for action in deal.legal_actions if action.card] == ["QH"]  # under the partner's king


# -- four with the dealer's card --------------------------------------------------------------------------------------

FOUR = """
dealer: 3
hand 0: KS QS AS 9D QD QC
hand 1: TS JS KD AD AC TC
hand 2: 9S JH QH TD JD JC
hand 3: KH 9H AH TH KC 9C
turn-up: KH
"""


def test_the_dealers_card_is_known_to_all_until_it_is_played() -> None:
    deal = state(GAMES["four-handed"], FOUR)
    king = Card.parse("KH")
    for seat in range(4):
        assert deal.view(seat).known == (0, 0, 0, 1 << king)
    do(deal, "AS TS 9S 9H")  # trumped with another card
    assert deal.known == (0, 0, 0, 1 << king)
    do(deal, "AH QD AC QH")
    assert (deal.to_act, deal.known) == (3, (0, 0, 0, 1 << king))
    do(deal, "KH")
    assert deal.known == (0, 0, 0, 0)
    assert deal.trump == king.suit


def test_marriages_are_declared_on_any_lead_but_the_deals_first() -> None:
    deal = state(GAMES["four-handed"], FOUR)
    assert not set(DECLARE) & set(deal.legal_actions)
    hands = "hand 0: AS 9D\nhand 1: KS QS\nhand 2: 9C JC\nhand 3: TC QC\n"
    text = f"{hands}turn-up: TH\nleader: 1\npoints: 10-20\n"
    assert DECLARE[1] in state(GAMES["four-handed"], f"{text}tricks: 3-1\n").legal_actions
    assert do(state(GAMES["four-handed"], f"{text}tricks: 3-1\n"), "MS").points == [10, 40]


@given(seed=SEEDS)
def test_four_neither_close_nor_exchange_nor_draw(seed: int) -> None:
    rng = random.Random(seed)
    deal = shuffled(GAMES["four-handed"], rng)
    for _ in moments(deal, any_policy(rng), rng):
        assert not {CLOSE, EXCHANGE} & set(deal.legal_actions)
        assert deal.strict and not deal.talon
        assert deal.point in (DecisionPoint.ON_LEAD, DecisionPoint.FOLLOW)


def test_a_partner_claims_on_the_total_of_both() -> None:
    hands = "hand 0: AS\nhand 1: KS\nhand 2: TS\nhand 3: QS\n"
    text = f"{hands}turn-up: TH\ntricks: 3-2\npoints: 66-20\nleader: 1\n"
    assert result(do(state(GAMES["four-handed"], text), "KS claim")) == ("claim", (2, 0))


# -- two packs --------------------------------------------------------------------------------------------------------


@given(seed=SEEDS)
def test_of_two_identical_cards_the_legal_list_names_one(seed: int) -> None:
    rng = random.Random(seed)
    deal = shuffled(GAMES["sessantasei-101"], rng)
    for _ in moments(deal, "patient", rng):
        assert deal.to_act is not None
        plays = [action.card for action in deal.legal_actions if action.card]
        assert len(plays) == len(set(plays))
        if not deal.strict:
            assert set(plays) == set(hand_cards(deal.hands[deal.to_act]))


def test_the_second_of_two_identical_cards_stays_in_hand() -> None:
    hands = "hand 0: AS AS\nhand 1: TS 9S\nhand 2: KS 9D\nhand 3: QS JD\n"
    deal = state(GAMES["sessantasei-101"], f"{hands}trump: H\ntricks: 8-2\nleader: 0\n")
    do(deal, "AS")
    assert hand(deal, 0) == "AS"
    assert deal.hands[0] & DISTINCT == 1 << Card.parse("AS")
    do(deal, "TS KS QS AS")
    assert hand(deal, 0) == ""


def test_a_known_card_with_a_twin_in_hand_is_unknown_once_either_is_played() -> None:
    hands = "hand 0: KC 9S\nhand 1: 9D JD\nhand 2: TD 9D\nhand 3: QD AD\n"
    text = f"{hands}trump: C\ntricks: 8-2\nleader: 0\nknown 0: KC\n"
    deal = state(GAMES["sessantasei-101"], text.replace("9S", "KC"))
    assert deal.known[0] == 1 << Card.parse("KC")
    do(deal, "KC")
    assert (deal.known[0], hand(deal, 0)) == (0, "KC")


# -- 1001 -------------------------------------------------------------------------------------------------------------


def test_1001_has_no_trump_and_no_duty_at_first_then_eight_strict_tricks() -> None:
    rng = random.Random(1)
    deal = shuffled(GAMES["tausendeins"], rng)
    assert (deal.trump, deal.turn_up, len(deal.talon)) == (0, 0, 8)
    for action in moments(deal, "uniform", rng):
        assert not {CLOSE, EXCHANGE, CLAIM} & set(deal.legal_actions)
        drawing = len(deal.winners) < 4
        assert deal.strict is not drawing
        if deal.point is DecisionPoint.FOLLOW and drawing:
            assert deal.to_act is not None
            assert deal.legal_mask == deal.hands[deal.to_act], action
    assert len(deal.winners) == 12
    assert deal.outcome is not None and deal.outcome.termination is Termination.PLAYED_OUT
    assert deal.outcome.points == deal.outcome.card_points


def test_1001_a_pair_in_trumps_is_worth_no_more_and_a_lower_one_may_follow() -> None:
    hands = "hand 0: KC QC KD QD AS\nhand 1: 9S 9D 9C 9H JH\ntrump: C\ntricks: 7-0\n"
    deal = do(state(GAMES["tausendeins"], hands), "MC")
    assert (deal.points, deal.trump) == ([100, 0], 4)
    do(deal, "KC 9C MD")
    assert (deal.points, deal.trump) == ([144, 0], 3)
    do(deal, "KD 9D")
    assert [str(suit.card) for suit in deal.legal_actions] == ["AS", "QD", "QC"]


def test_1001_a_pair_is_declared_and_led_and_its_trumps_beat_at_once() -> None:
    hands = "hand 0: KH QH 9C 9S\nhand 1: AH 9D TD AC\ntricks: 4-4\n"
    deal = do(state(GAMES["tausendeins"], hands), "MH")
    assert cards_of(deal.bound) == (Card.parse("QH"), Card.parse("KH"))
    do(deal, "KH AH")
    assert (deal.leader, deal.points) == (1, [60, 15])
    do(deal, "AC 9C 9D")
    assert [str(action) for action in deal.legal_actions] == ["QH"]  # void in diamonds: must trump


# -- what each opponent is paid ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "tricks", "expected"),
    [
        ("60-40-10", "4-3-2", (0, 1, 1)),  # mirror: the right claim would have won one
        ("40-30-10", "4-3-2", (0, 2, 2)),
        ("20-40-10", "4-3-2", (0, 2, 2)),  # a right claim of seat 1 would have won two: it is never less
        ("20-40-40", "3-3-3", (0, 1, 1)),  # whoever of them claimed would have won one, by the other
        ("40-0-0", "9-0-0", (0, 3, 3)),
    ],
)
def test_at_three_a_false_claim_costs_the_mirror_and_no_less_than_an_opponents_claim(
    points: str, tricks: str, expected: tuple[int, ...]
) -> None:
    text = f"hand 0: AS\nhand 1: KS\nhand 2: QS\ntalon: 7D 7H\nleader: 0\npoints: {points}\ntricks: {tricks}\n"
    assert result(do(state(GAMES["sessantasei-3"], text), "claim")) == ("false-claim", expected)


@pytest.mark.parametrize(
    ("points", "tricks", "expected"),
    [
        ("20-40-10", "3-3-2", (0, 2, 2)),
        ("20-34-34", "3-3-2", (0, 1, 1)),
        ("0-30-29", "1-4-3", (0, 2, 2)),
    ],
)
def test_at_three_a_failed_close_costs_the_mirror_and_no_less_than_an_opponents_claim(
    points: str, tricks: str, expected: tuple[int, ...]
) -> None:
    text = f"""
        hand 0: 8S
        hand 1: JS
        hand 2: 9S
        talon: 8D 7D 9D JD 7H
        leader: 2
        points: {points}
        tricks: {tricks}
        closer: 0
        closed points: 0-16-0
        closed tricks: 1-1-0
    """
    assert result(do(state(GAMES["sessantasei-3"], text), "9S 8S JS go-on")) == ("close-failed", expected)
