"""The traps that broke other engines, one test each (some have more in the tests of questions and scoring)."""

from __future__ import annotations

import random

import pytest

from arena.cards import CLAIM, DECLARE, EXCHANGE, Action, Card, cards_of, format_cards, hand_cards
from arena.errors import IllegalAction
from arena.game.deal import Deal
from arena.game.scoring import FORFEITED_CARD_POINTS
from arena.game.views import DecisionPoint
from tests.game.tables import GAMES, do, game, moments, shuffled, state

SIXTY_SIX = GAMES["sixty-six"]

OPENING = """
hand 0: 9H TS KC QC KS QS
hand 1: 9C AC QH JD TC 9D
talon: KD JS AH 9S KH AS TH AD TD QD JC JH
"""


def hand(deal: Deal, seat: int) -> str:
    return format_cards(hand_cards(deal.hands[seat]))


def test_the_king_or_the_queen_of_a_marriage_can_decide_the_deal() -> None:
    text = """
        hand 0: KC QC 9C 9D JD QD
        hand 1: JC TH AH 9H KH QS
        talon: JH JS TC TD AC QH
        points: 40-0
        tricks: 3-0
    """
    for preset in ("sixty-six", "pagat"):
        for lead, points, termination, scored in (("KC", 66, "claim", (3, 0)), ("QC", 65, "false-claim", (0, 2))):
            deal = do(state(GAMES[preset], text), f"MC {lead} JC")
            assert deal.points == [points, 0]
            do(deal, "claim")
            assert deal.outcome is not None
            assert (deal.outcome.termination, deal.outcome.points) == (termination, scored)


def test_ten_for_the_last_trick_never_counts_after_a_close_and_can_lift_the_loser() -> None:
    closed = """
        hand 0: AS
        hand 1: TS
        talon: AD TD KD JH
        points: 44-40
        tricks: 5-4
        closer: 0
        closed points: 20-20
        closed tricks: 2-2
    """
    deal = do(state(SIXTY_SIX, closed), "AS TS")  # 65, and not 75
    assert deal.outcome is not None
    assert (deal.outcome.points, deal.outcome.card_points) == ((0, 2), (65, 40))
    opened = "hand 0: AS\nhand 1: TS\ntrump: H\npoints: 2-80\ntricks: 5-6\n"
    deal = do(state(SIXTY_SIX, opened), "AS TS")  # 2 + 21 + 10 = 33: the winner loses a class
    assert deal.outcome is not None
    assert (deal.outcome.points, deal.outcome.card_points) == ((0, 1), (33, 80))


def test_pending_marriage_points_do_not_enter_the_closing_snapshot() -> None:
    deal = do(state(game("schnapsen", deck=24, hand=6), OPENING), "MC close")
    assert (deal.pending, deal.closed_points, deal.closed_tricks) == ((20, 0), (0, 0), (0, 0))


def test_pending_marriage_points_never_count_for_a_side_without_a_trick() -> None:
    text = """
        hand 0: KC QC
        hand 1: AC TC
        trump: H
        leader: 1
        points: 0-40
        pending: 20-0
        tricks: 0-10
    """
    deal = do(state(game("schnapsen", deck=24, hand=6, last_trick="plus10", tie="draw"), text), "AC QC TC KC go-on")
    assert deal.outcome is not None
    assert deal.outcome.card_points == (0, 78)
    assert deal.outcome.points == (0, 3)  # trickless, and under the line without its 20


def test_one_marriage_a_lead_and_only_its_cards_may_be_led() -> None:
    deal = do(state(SIXTY_SIX, OPENING), "KS 9C go-on")
    assert {DECLARE[4]} == set(deal.legal_actions) & set(DECLARE)
    both = do(state(game("schnapsen", deck=24, hand=6), OPENING), "MS")
    assert set(both.legal_actions) & set(DECLARE) == set()
    assert [str(action) for action in both.legal_actions if action.card] == ["QS", "KS"]
    with pytest.raises(IllegalAction):
        both.apply(Action.parse("TS"))
    with pytest.raises(IllegalAction):
        both.apply(DECLARE[4])


def test_an_exchange_shows_both_cards_to_everybody() -> None:
    deal = do(state(SIXTY_SIX, OPENING), "exchange")
    nine, jack = Card.parse("9H"), Card.parse("JH")
    assert hand(deal, 0) == "QS KS TS JH QC KC"
    for seat in (0, 1):
        view = deal.view(seat)
        assert view.turn_up == nine
        assert cards_of(view.known[0]) == (jack,)
        assert view.past_actions == bytes([EXCHANGE])
    do(deal, "JH QH")
    assert deal.view(1).known == (0, 0)


def test_an_exchange_is_never_made_before_the_draw() -> None:
    deal = do(state(SIXTY_SIX, OPENING), "TS 9C")
    assert (deal.to_act, deal.point) == (0, DecisionPoint.BEFORE_DRAW)
    assert EXCHANGE not in deal.legal_actions and "9H" in hand(deal, 0)
    assert EXCHANGE in do(deal, "go-on").legal_actions


@pytest.mark.parametrize(("winner", "trick"), [(0, "AS 9C go-on"), (1, "9S TS go-on")])
def test_with_two_left_in_the_talon_the_loser_of_the_trick_draws_the_exchanged_nine(winner: int, trick: str) -> None:
    text = """
        hand 0: 9H AS 9S KC QC KS
        hand 1: 9C TS QH JD TC 9D
        talon: KD JH
        points: 30-10
        tricks: 4-1
    """
    deal = do(state(SIXTY_SIX, text), f"exchange {trick}")
    loser = SIXTY_SIX.table.next_seat(winner)
    assert "KD" in hand(deal, winner) and "9H" in hand(deal, loser)
    assert deal.turn_up == 0 and deal.talon == [] and deal.strict
    assert deal.view(winner).known[loser] >> Card.parse("9H") & 1  # drawn open


def test_closing_with_five_cards_keeps_the_talon_and_plays_five_strict_tricks() -> None:
    deal = do(state(SIXTY_SIX, OPENING), "TS 9C close")
    assert [len(hand_cards(cards)) for cards in deal.hands] == [5, 5]
    assert len(deal.talon) == 12
    for _ in moments(deal, "patient", random.Random(0)):
        assert deal.strict and len(deal.talon) == 12
    assert len(deal.winners) == 6
    assert deal.outcome is not None and deal.outcome.termination in ("close-made", "close-failed")


def test_leading_and_winning_go_by_the_order_of_play_not_by_the_number_of_the_seat() -> None:
    hands = ("9C AD", "JH KS", "QH TS", "AC AS")
    text = "".join(f"hand {seat}: {cards}\n" for seat, cards in enumerate(hands))
    deal = state(GAMES["four-handed"], text + "turn-up: TH\ntricks: 0-4\nleader: 3\n")
    do(deal, "AC 9C JH QH")  # seats 3 0 1 2
    assert list(deal.past_seats) == [3, 0, 1, 2]
    assert (deal.leader, deal.to_act, list(deal.winners)) == (2, 2, [2])
    assert deal.points == [11 + 0 + 2 + 3, 0]
    do(deal, "TS AS AD KS")
    assert list(deal.past_seats[4:]) == [2, 3, 0, 1]
    assert list(deal.winners) == [2, 3]


def test_the_dealer_who_sits_out_is_passed_over() -> None:
    deal = shuffled(GAMES["three-handed"], random.Random(2))
    sitter = deal.dealer
    assert deal.hands[sitter] == 0 and sitter not in deal.order
    for _ in moments(deal, "patient", random.Random(2)):
        assert deal.to_act != sitter
        view = deal.view(sitter)
        assert (view.hand, view.legal, view.point) == (0, 0, None)


def test_no_trick_is_a_count_of_tricks_and_not_of_points() -> None:
    text = "hand 0: AS KS\nhand 1: TS QS\ntrump: H\npoints: 66-0\n"
    for tricks, scored in (("9-1", 2), ("10-0", 3)):
        deal = do(state(SIXTY_SIX, f"{text}tricks: {tricks}\n"), "claim")
        assert deal.outcome is not None and deal.outcome.points == (scored, 0)


def test_a_pending_marriage_is_redeemed_by_a_worthless_trick() -> None:
    text = """
        hand 0: KC QC 9H JD QS JS
        hand 1: AC TC 9S TS AD TD
        talon: AH TH KH QH 9D KD QD KS AS JC 9C JH
    """
    for preset in ("sesenta-y-seis", "schnapsen"):
        deal = do(state(game(preset, deck=24, hand=6), text), "MC QC AC 9S 9H")
        assert (deal.points, deal.pending, deal.tricks) == ([20, 14], (0, 0), [1, 1])


def test_66_lapses_where_claims_follow_tricks_until_the_seat_wins_again() -> None:
    text = """
        hand 0: KS JS KD JD KC QC
        hand 1: QD 9D JC 9C TH KH
        talon: JH 9H
        points: 66-14
        tricks: 4-1
    """
    deal = do(state(GAMES["pagat"], text), "JD QD go-on KH")
    assert deal.to_act == 0 and CLAIM not in deal.legal_actions
    own = do(state(SIXTY_SIX, text), "JD QD go-on KH claim")
    assert own.outcome is not None and own.outcome.points == (2, 0)


def test_one_pack_of_1001_holds_no_more_than_a_forfeit_pays() -> None:
    everything = sum(card.points for card in GAMES["tausendeins"].cards) + 100 + 80 + 60 + 40
    assert everything == FORFEITED_CARD_POINTS
