"""Who is asked what, and when a claim, a close, an exchange and a marriage are on the list."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.cards import CLAIM, CLOSE, DECLARE, EXCHANGE, GO_ON, Action, hand_cards, parse_cards
from arena.errors import IllegalAction
from arena.game.deal import Deal
from arena.game.rules import Claim, Close
from arena.game.views import DecisionPoint
from tests.game.tables import GAMES, any_policy, do, game, has_reached, moments, shuffled, state

SEEDS = st.integers(0, 2**32 - 1)
EVERY_GAME = pytest.mark.parametrize("name", GAMES)

OPENING = """
hand 0: TS KC QC AH AS KD
hand 1: 9C AC 9H JD TC 9D
talon: KS QS JS 9S KH QH TH AD TD QD JC JH
"""


def opening(preset: str, text: str = OPENING, **options: object) -> Deal:
    """A deal of 24 cards under the preset's options; seat 0 holds the marriage of clubs, seat 1 the trump nine."""
    return state(game(preset, **{"deck": 24, "hand": 6, **options}), text)


def others(deal: Deal) -> str:
    """The legal actions that are no cards."""
    return " ".join(str(action) for action in deal.legal_actions if action.card is None)


def refused(deal: Deal, word: str) -> bool:
    try:
        deal.copy().apply(Action.parse(word))
    except IllegalAction:
        return True
    return False


# -- the first lead ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("sixty-six", "close claim"),  # a claim without a trick is accepted, and wrong
        ("sixty-six-strict", "close claim"),
        ("sesenta-y-seis", "MC close claim"),
        ("pagat", "MC close"),  # after_trick: nothing has been won or declared yet
        ("schnapsen", "MC close"),
        ("schnapsen-sharp", "close"),
        ("vu-schnapsen", "MC"),
        ("santase", ""),
        ("sessantasei-32", "close"),
    ],
)
def test_what_may_be_said_at_the_deals_first_lead(preset: str, expected: str) -> None:
    assert others(opening(preset)) == expected


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("sixty-six", True),
        ("schnapsen", True),
        ("vu-schnapsen", True),
        ("sesenta-y-seis", False),
        ("pagat", False),
        ("schnapsen-sharp", False),
        ("santase", False),
        ("sessantasei-32", False),
    ],
)
def test_the_trump_nine_may_be_exchanged_at_once_only_where_no_trick_is_needed(preset: str, expected: bool) -> None:
    swapped = OPENING.replace("TS", "9H").replace("9C AC 9H", "9C AC TS")
    assert (EXCHANGE in opening(preset, swapped).legal_actions) is expected


@pytest.mark.parametrize(
    ("preset", "with_two"),
    [("sixty-six", True), ("sesenta-y-seis", True), ("schnapsen-sharp", False), ("santase", False)],
)
def test_some_presets_want_four_cards_in_the_talon_for_exchange_and_close(preset: str, with_two: bool) -> None:
    two = """
        hand 0: 9H JS KD JD KC 9C
        hand 1: QD 9D JC QC TH KH
        talon: JH QH
        points: 44-14
        tricks: 4-1
    """
    four = two.replace("talon: ", "talon: AS TS ").replace("4-1", "3-1")
    for text, possible in ((two, with_two), (four, True)):
        legal = opening(preset, text).legal_actions
        assert (EXCHANGE in legal, CLOSE in legal) == (possible, possible)


def test_closing_at_the_first_lead_needs_only_its_own_option() -> None:
    for close in ("before_draw", "after_draw", "either"):
        assert CLOSE in opening("sixty-six", close=close).legal_actions
        assert CLOSE not in opening("sixty-six", close=close, close_first_lead=False).legal_actions


# -- before the draw --------------------------------------------------------------------------------------------------


@EVERY_GAME
@given(seed=SEEDS)
def test_the_winner_is_asked_before_the_draw_exactly_when_closing_is_legal_then(name: str, seed: int) -> None:
    rules = GAMES[name].rules
    rng = random.Random(seed)
    deal = shuffled(GAMES[name], rng)
    for action in moments(deal, any_policy(rng), rng):
        after = deal.copy()
        after.apply(action)
        trick_won = len(after.winners) > len(deal.winners) and after.outcome is None
        closable = rules.close in (Close.BEFORE_DRAW, Close.EITHER) and deal.closer is None
        enough = len(deal.talon) >= max(rules.close_min_talon, len(deal.order))
        asked = after.point is DecisionPoint.BEFORE_DRAW
        assert asked == (trick_won and closable and enough)
        assert not asked or after.to_act == after.winners[-1]


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("sixty-six", "close claim go-on"),
        ("pagat", "close claim go-on"),
        ("sixty-six-strict", "close claim go-on"),
    ],
)
def test_before_the_draw_there_is_no_marriage_and_no_exchange(preset: str, expected: str) -> None:
    swapped = OPENING.replace("AS KD", "9H KD").replace("9C AC 9H", "9C AC AS")
    deal = do(opening(preset, swapped), "TS 9C")
    assert deal.point is DecisionPoint.BEFORE_DRAW
    assert " ".join(map(str, deal.legal_actions)) == expected
    do(deal, "go-on")
    assert {DECLARE[4], EXCHANGE, CLOSE, CLAIM} <= set(deal.legal_actions)


@pytest.mark.parametrize("claim", ["auto", "off"])
def test_before_the_draw_nobody_claims_where_nobody_ever_does(claim: str) -> None:
    deal = do(opening("sixty-six", claim=claim), "TS 9C")
    assert others(deal) == "close go-on"


def test_the_last_two_cards_of_the_talon_may_be_closed_before_the_draw() -> None:
    text = """
        hand 0: KS JS KD JD KC QC
        hand 1: QD 9D JC 9C TH KH
        talon: JH 9H
        points: 66-14
        tricks: 4-1
    """
    deal = do(opening("sixty-six", text), "KD QD")
    assert (deal.point, len(deal.talon)) == (DecisionPoint.BEFORE_DRAW, 2)
    do(deal, "close")
    assert (deal.closer, deal.closed_points, deal.closed_tricks) == (0, (73, 14), (5, 1))
    assert [len(hand_cards(hand)) for hand in deal.hands] == [5, 5] and len(deal.talon) == 2
    four = opening("sixty-six", text, close_min_talon=4)
    assert CLOSE not in four.legal_actions
    assert do(four, "KD QD").point is DecisionPoint.ON_LEAD  # nobody is asked, the cards are drawn


def test_after_a_close_before_the_draw_the_same_seat_leads_a_card_short() -> None:
    deal = do(opening("sixty-six"), "TS 9C close")
    assert (deal.to_act, deal.point, deal.strict) == (0, DecisionPoint.ON_LEAD, True)
    assert [len(hand_cards(hand)) for hand in deal.hands] == [5, 5]
    assert len(deal.talon) == 12
    assert others(deal) == "claim"
    do(deal, "AS")
    assert [action for action in deal.legal_actions if action.card] == [Action.parse("9H")]  # void: it must trump
    do(deal, "9H")
    assert len(deal.talon) == 12 and deal.to_act == 1


# -- on the opponent's close ------------------------------------------------------------------------------------------


def test_straight_after_a_close_the_other_seat_may_take_the_turn_up() -> None:
    deal = do(opening("pagat"), "close")
    assert (deal.to_act, deal.point) == (1, DecisionPoint.ON_CLOSE)
    assert deal.legal_actions == (EXCHANGE, GO_ON)
    do(deal, "exchange")
    assert (deal.turn_up, deal.talon[-1]) == (parse_cards("9H")[0],) * 2
    assert parse_cards("JH")[0] in hand_cards(deal.hands[1])
    assert deal.view(0).known == (0, 1 << parse_cards("JH")[0])
    assert (deal.to_act, deal.point) == (0, DecisionPoint.ON_LEAD)


def test_on_the_opponents_close_a_seat_is_asked_though_it_has_nothing_to_take() -> None:
    without = OPENING.replace("9C AC 9H", "9C AC QH").replace("KH QH", "KH 9H")
    deal = do(opening("pagat", without), "close")
    assert (deal.to_act, deal.point, deal.legal_actions) == (1, DecisionPoint.ON_CLOSE, (GO_ON,))
    lowest = OPENING.replace("9C AC 9H", "9C AC JH").replace("JC JH", "JC 9H")
    assert do(opening("pagat", lowest), "close").legal_actions == (GO_ON,)


def test_the_chance_on_the_opponents_close_does_not_return() -> None:
    deal = do(opening("pagat"), "close go-on KC AC")
    assert deal.to_act == 1 and parse_cards("9H")[0] in hand_cards(deal.hands[1])
    while deal.outcome is None:
        assert EXCHANGE not in deal.legal_actions
        deal.apply(deal.legal_actions[0])


def test_after_a_close_before_the_draw_the_other_seat_is_asked_too() -> None:
    deal = do(opening("pagat"), "TS 9C close")
    assert (deal.to_act, deal.legal_actions) == (1, (EXCHANGE, GO_ON))
    do(deal, "exchange")
    assert (deal.to_act, deal.point) == (0, DecisionPoint.ON_LEAD)


@pytest.mark.parametrize("name", [name for name in GAMES if name != "pagat"])
@given(seed=SEEDS)
def test_elsewhere_nobody_is_asked_about_a_close(name: str, seed: int) -> None:
    rng = random.Random(seed)
    deal = shuffled(GAMES[name], rng)
    for _ in moments(deal, "busy", rng):
        assert deal.point is not DecisionPoint.ON_CLOSE


def test_without_any_exchange_there_is_nothing_to_take_on_a_close() -> None:
    deal = do(opening("pagat", exchange="off"), "close")
    assert deal.legal_actions == (GO_ON,)


# -- claim windows ----------------------------------------------------------------------------------------------------


@EVERY_GAME
@given(seed=SEEDS)
def test_claims_are_on_the_list_in_their_windows_only(name: str, seed: int) -> None:
    rng = random.Random(seed)
    deal = shuffled(GAMES[name], rng)
    window = deal.game.rules.claim
    for _ in moments(deal, any_policy(rng), rng):
        match deal.point:
            case DecisionPoint.ON_LEAD:
                just_won = len(deal.winners) > 0 and deal.winners[-1] == deal.to_act
                after_trick = just_won or deal.bound != 0
                own_turn = True
            case DecisionPoint.FOLLOW:
                after_trick, own_turn = False, True
            case DecisionPoint.BEFORE_DRAW:
                after_trick, own_turn = True, True
            case DecisionPoint.ON_CLOSE:
                after_trick, own_turn = False, False
            case _:
                assert window is Claim.AFTER_TRICK
                after_trick, own_turn = True, False
        expected = {Claim.OWN_TURN: own_turn, Claim.AFTER_TRICK: after_trick}.get(window, False)
        assert (CLAIM in deal.legal_actions) is expected


def test_a_claim_after_a_trick_stays_open_whatever_was_said_since_on_that_lead() -> None:
    deal = opening("schnapsen")
    do(deal, "MC")
    assert CLAIM in deal.legal_actions
    do(deal, "close")
    assert CLAIM in deal.legal_actions
    do(deal, "KC")
    assert CLAIM not in deal.legal_actions
    swapped = OPENING.replace("AS KD", "9H KD").replace("9C AC 9H", "9C AC AS")
    deal = do(opening("schnapsen", swapped), "TS 9C exchange close")
    assert CLAIM in deal.legal_actions


@EVERY_GAME
@given(seed=SEEDS)
def test_after_the_last_trick_its_winner_is_asked_only_where_claims_follow_tricks(name: str, seed: int) -> None:
    rng = random.Random(seed)
    deal = shuffled(GAMES[name], rng)
    asked = 0
    for _ in moments(deal, "patient", rng):
        if deal.point is DecisionPoint.AFTER_LAST_TRICK:
            asked += 1
            assert deal.legal_actions == (CLAIM, GO_ON)
            assert not any(deal.hands) and deal.to_act == deal.winners[-1]
    ran_out = not any(deal.hands)
    assert asked == (ran_out and deal.game.rules.claim is Claim.AFTER_TRICK)


@pytest.mark.parametrize("name", ["santase", "vu-schnapsen"])
@given(seed=SEEDS)
def test_where_the_arena_notices_a_deal_never_goes_on_with_66(name: str, seed: int) -> None:
    rng = random.Random(seed)
    deal = shuffled(GAMES[name], rng)
    for _ in moments(deal, any_policy(rng), rng):
        assert not any(has_reached(deal, seat) for seat in range(2))


def test_a_led_marriage_that_declares_itself_can_end_the_deal_unanswered() -> None:
    text = "hand 0: KC QC\nhand 1: AC TC\ntrump: H\npoints: 46-33\ntricks: 6-4\n"
    for lead in ("KC", "QC"):
        deal = do(state(GAMES["santase"], text), lead)
        assert deal.outcome is not None
        assert (deal.outcome.termination, deal.outcome.points) == ("reached", (1, 0))
        assert deal.table == parse_cards(lead)[:1]
    deal = do(state(GAMES["santase"], text.replace("46", "45")), "KC")
    assert (deal.to_act, deal.points) == (1, [65, 33])
    assert deal.view(1).known == (1 << parse_cards("QC")[0], 0)


# -- marriages --------------------------------------------------------------------------------------------------------


def test_after_a_declaration_exchange_close_and_claim_stay_open_and_the_lead_is_bound() -> None:
    swapped = OPENING.replace("AS KD", "9H KD").replace("9C AC 9H", "9C AC AS")
    deal = do(opening("sixty-six", swapped), "TS 9C go-on MC")
    assert " ".join(map(str, deal.legal_actions)) == "QC KC exchange close claim"
    do(deal, "exchange")
    assert " ".join(map(str, deal.legal_actions)) == "QC KC close claim"
    do(deal, "close")
    assert " ".join(map(str, deal.legal_actions)) == "QC KC claim"
    assert deal.closed_points == (30, 0)
    do(deal, "QC")
    assert deal.bound == 0 and deal.to_act == 1


def test_where_only_the_king_is_led_a_queen_may_still_be_led_without_a_word() -> None:
    deal = opening("vu-schnapsen")
    assert not refused(deal, "QC") and not refused(deal, "KC")
    do(deal, "MC")
    assert " ".join(map(str, deal.legal_actions)) == "KC"


@pytest.mark.parametrize(
    ("preset", "after_close", "talon_gone"),
    [
        ("sixty-six", False, False),
        ("sesenta-y-seis", False, False),
        ("pagat", False, False),
        ("schnapsen", True, True),
        ("santase", True, True),
    ],
)
def test_marriages_in_strict_play_depend_on_the_phase(preset: str, after_close: bool, talon_gone: bool) -> None:
    deal = do(opening(preset), "TS 9C")
    if deal.point is DecisionPoint.BEFORE_DRAW:
        do(deal, "go-on")
    do(deal, "close")
    while deal.point is DecisionPoint.ON_CLOSE:
        do(deal, "go-on")
    assert (DECLARE[4] in deal.legal_actions) is after_close
    late = opening(preset, "hand 0: KC QC\nhand 1: AC TC\ntrump: H\npoints: 10-0\ntricks: 9-1\n")
    assert (DECLARE[4] in late.legal_actions) is talon_gone


def test_credit_comes_when_declared_when_led_or_with_the_next_trick() -> None:
    text = "hand 0: KC QC 9S\nhand 1: AC JS TC\ntrump: H\npoints: 10-5\ntricks: 8-1\n"
    for credit, after_word, after_lead, after_loss in (
        ("declared", [30, 5], [30, 5], [30, 19]),
        ("led", [10, 5], [30, 5], [30, 19]),
        ("next_trick", [10, 5], [10, 5], [10, 19]),
    ):
        deal = do(state(game("schnapsen", deck=24, hand=6, marriage_credit=credit), text), "MC")
        assert deal.points == after_word and sum(deal.points) + sum(deal.pending) == 35
        assert do(deal, "QC").points == after_lead
        assert do(deal, "AC").points == after_loss
    assert deal.pending == (20, 0)
    assert do(deal, "JS 9S TC KC").pending == (20, 0)  # it never wins again: the points count nowhere
    assert deal.outcome is None and deal.points[0] == 10
    assert do(deal, "go-on").outcome is not None and deal.points[0] == 10


def test_a_strict_marriage_covers_a_claim_only_once_it_is_led() -> None:
    text = "hand 0: KC QC 9S 9D JD QD\nhand 1: AC JS TC AD TD KD\ntalon: QH JH\npoints: 46-5\ntricks: 4-1\n"
    rules = GAMES["sixty-six-strict"]
    early = do(state(rules, text), "MC claim")
    assert early.outcome is not None and early.outcome.termination == "false-claim"
    late = do(state(rules, text), "MC KC AC go-on")
    assert late.points == [66, 20]


def test_a_marriage_led_by_itself_is_credited_when_led_too() -> None:
    rules = game("santase", marriage_credit="led")
    text = "hand 0: KC QC 9S\nhand 1: AC JS TC\ntrump: H\npoints: 10-5\ntricks: 8-1\n"
    deal = do(state(rules, text), "KC")
    assert (deal.points, deal.pending) == ([30, 5], (0, 0))


def test_seats_act_once_an_answer() -> None:
    """Each action is by the seat that was asked, and the next question is a new one."""
    rng = random.Random(8)
    for each in GAMES.values():
        deal = shuffled(each, rng)
        asked: list[int] = []
        for _ in moments(deal, "busy", rng):
            assert deal.to_act is not None
            asked.append(deal.to_act)
        assert list(deal.past_seats) == asked
