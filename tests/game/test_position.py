"""Positions: from a deal to a value, to text, and back into play without a difference."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.cards import GO_ON, Card, parse_cards
from arena.errors import NotationError, UsageError
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.position import format_position, parse_position, position_of, resume
from arena.game.views import DecisionPoint, View
from tests.game.tables import GAMES, any_policy, at_random, do, game, mixed_rules, moments, shuffled, state

SEEDS = st.integers(0, 2**32 - 1)
EVERY_GAME = pytest.mark.parametrize("name", GAMES)


def seen(deal: Deal) -> list[View]:
    """What every seat sees but for the history, which starts anew at a position."""
    return [
        deal.view(seat)._replace(past_seats=b"", past_actions=b"", winners=b"") for seat in range(deal.game.rules.seats)
    ]


def resumes_everywhere(game: Game, rng: random.Random) -> None:
    """At every step of a random deal: out to text and back gives a deal that nobody can tell from the original."""
    deal = shuffled(game, rng)
    deal.score = tuple(rng.randrange(7) for _ in range(game.table.sides))
    deal.carry = rng.randrange(3)
    resumed: list[Deal] = []
    for action in moments(deal, any_policy(rng), rng):
        position = position_of(deal)
        assert parse_position(game, format_position(game, position)) == position
        resumed.append(resume(game, position, score=deal.score, carry=deal.carry))
        for other in resumed[-3:]:
            assert other.legal_actions == deal.legal_actions
            assert position_of(other) == position
            assert seen(other) == seen(deal)
        for other in resumed:
            other.apply(action)
    for other in resumed:
        assert other.outcome == deal.outcome
        assert seen(other) == seen(deal)


@EVERY_GAME
@given(seed=SEEDS)
def test_a_resumed_deal_cannot_be_told_from_the_original(name: str, seed: int) -> None:
    resumes_everywhere(GAMES[name], random.Random(seed))


@settings(max_examples=100)
@given(seed=SEEDS)
def test_the_same_holds_for_options_mixed_at_random(seed: int) -> None:
    rng = random.Random(seed)
    resumes_everywhere(Game(mixed_rules(rng)), rng)


def test_history_starts_anew_at_a_position() -> None:
    deal = do(shuffled(GAMES["schnapsen"], random.Random(1)), "")
    deal.apply(deal.legal_actions[0])
    resumed = resume(deal.game, position_of(deal))
    view = resumed.view(0)
    assert (view.past_seats, view.past_actions, view.winners) == (b"", b"", b"")
    assert deal.view(0).past_actions


def test_a_resumed_deal_shares_nothing_with_the_position() -> None:
    deal = at_random(GAMES["sixty-six"], random.Random(5))
    position = position_of(deal)
    first = resume(deal.game, position)
    for _ in moments(first, "uniform", random.Random(5)):
        pass
    assert seen(resume(deal.game, position)) == seen(deal)


def test_a_finished_deal_has_no_position() -> None:
    deal = do(shuffled(GAMES["sixty-six"], random.Random(1)), "claim")
    with pytest.raises(UsageError, match="finished"):
        position_of(deal)


# -- text -------------------------------------------------------------------------------------------------------------

OPENING = """\
dealer: 1
hand 0: TS KC QC AH AS KD
hand 1: 9C AC TH JD TC 9D
talon: KS QS JS 9S KH QH 9H AD TD QD JC JH
trump: H
"""

MIDDLE = """\
dealer: 1
hand 0: 9D KC QC JH QH
hand 1: 9C TC AC JD KD
talon: QS JS 9S KH AH 9H AD TD QD JC TH
trump: H
"""


def test_the_text_of_a_fresh_deal_says_only_who_has_which_cards() -> None:
    pair = GAMES["sixty-six"]
    position = parse_position(pair, OPENING)
    assert format_position(pair, position) == OPENING
    assert (position.leader, position.to_act, position.point) == (0, 0, DecisionPoint.ON_LEAD)
    assert position.turn_up == Card.parse("JH")
    assert position.hands[0] == parse_cards("TS KC QC AH AS KD")


def test_what_can_be_told_from_the_rest_may_be_left_out_and_remarks_are_skipped() -> None:
    text = "# a remark\n\n  hand 0 : TS KC QC AH AS KD # forehand\n" + "\n".join(OPENING.splitlines()[2:4])
    assert parse_position(GAMES["sixty-six"], text) == parse_position(GAMES["sixty-six"], OPENING)


def test_the_text_of_a_deal_under_way_says_what_has_happened() -> None:
    pagat = GAMES["pagat"]
    deal = state(pagat, OPENING)
    do(deal, "TS 9C close")
    assert (deal.to_act, deal.point) == (1, DecisionPoint.ON_CLOSE)
    assert format_position(pagat, position_of(deal)).splitlines() == [
        "dealer: 1",
        "hand 0: AS AH KD QC KC",
        "hand 1: TH 9D JD TC AC",
        "talon: KS QS JS 9S KH QH 9H AD TD QD JC JH",
        "trump: H",
        "asked: 1 on_close",
        "points: 10-0",
        "tricks: 1-0",
        "closer: 0",
        "closed points: 10-0",
        "closed tricks: 1-0",
    ]
    do(deal, "go-on AS")
    assert "table: AS\n" in format_position(pagat, position_of(deal))
    assert "asked" not in format_position(pagat, position_of(deal))


def test_an_endgame_is_stated_without_the_cards_that_were_won() -> None:
    deal = state(
        GAMES["schnapsen"],
        "hand 0: AS KC\nhand 1: TH QD\ntrump: H\npoints: 40-30\ntricks: 5-3\n",
    )
    assert deal.strict and deal.to_act == 0
    do(deal, "AS TH")
    assert deal.points == [40, 51]


@pytest.mark.parametrize(
    ("line", "text", "expected"),
    [
        (3, "hand 0: TS KC\nhand 1: 9C AC\nhand 1: TH", "line 3: hand 1 was already given in line 2"),
        (2, "dealer: 1\nhadn 0: TS", "line 2: unknown key 'hadn 0' .* did you mean 'hand 0'"),
        (1, "hand 2: TS", "line 1: unknown key 'hand 2' for a deal with 2 seats"),
        (1, "hand 0: TS 1C", "line 1: hand 0: '1C' is not a card"),
        (2, "# remark\nthe dealer is 1", "line 2: .* is not 'key: value'"),
        (1, "dealer: 2", "line 1: dealer: '2' is not a seat; seats are 0 to 1"),
        (1, "leader: -1", "line 1: leader: '-1' is not a seat"),
        (1, "trump: X", "line 1: trump: 'X' is not a suit"),
        (1, "turn-up: ", "line 1: turn-up: '' is not a card"),
        (1, "points: 10", "line 1: points: '10' is not a number for each of 2 sides"),
        (1, "points: 10-x", "line 1: points: .* is not a number for each"),
        (1, "asked: 0 now", "line 1: asked: '0 now' is no seat and question; .*on_lead"),
        (1, "asked: 7 on_lead", "line 1: asked: '7' is not a seat"),
    ],
)
def test_a_text_that_is_no_position_is_refused_with_its_line(line: int, text: str, expected: str) -> None:
    with pytest.raises(NotationError, match=expected):
        parse_position(GAMES["sixty-six"], text)
    with pytest.raises(NotationError, match=expected.replace(f"line {line}", f"line {line + 10}", 1)[:8]):
        parse_position(GAMES["sixty-six"], text, first_line=11)


# -- positions that cannot be -----------------------------------------------------------------------------------------

AFTER_A_TRICK = OPENING.replace("TS ", "").replace("9C ", "") + "asked: 0 before_draw\npoints: 10-0\ntricks: 1-0\n"
CLOSED = AFTER_A_TRICK.replace("asked: 0 before_draw\n", "") + "closer: 0\nclosed points: 10-0\nclosed tricks: 1-0\n"
DECLARED = OPENING.replace("TS", "KS").replace("talon: KS", "talon: TS") + "bound: KC QC\nknown 0: KC QC\n"


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        ("sixty-six", OPENING),
        ("sixty-six", AFTER_A_TRICK),
        ("sixty-six", CLOSED),
        ("pagat", CLOSED + "asked: 1 on_close\n"),
        ("pagat", DECLARED + "pending: 20-0\n"),
    ],
)
def test_the_positions_that_the_next_test_spoils_can_be(rules: str, text: str) -> None:
    assert state(GAMES[rules], text).legal_actions


@pytest.mark.parametrize(
    ("rules", "text", "found", "instead", "reason"),
    [
        ("sixty-six", OPENING, "TS KC", "TS AC", "AC stands in 2 places; the deck has it once"),
        ("sixty-six", OPENING, "TS KC", "7S KC", "7S is not in the deck of 24 cards"),
        ("sixty-six", OPENING, "TS KC", "KC", "seat 1 holds 6 cards; beside the others it would hold 5"),
        ("sixty-six", OPENING, "TS KC QC AH AS KD", "", "seat 1 holds 6 cards; beside the others it would hold 0"),
        ("sixty-six", OPENING, "KS QS JS ", "QS JS ", "the talon has 11 cards; 2 seats draw one each from 12"),
        ("sixty-six", OPENING, "KS QS JS ", "JS ", "tricks add up to 0, but the cards that are gone make 1"),
        ("sixty-six", OPENING, "trump: H", "trump: S", "the turn-up is JH, so trump is H, not S"),
        ("sixty-six", OPENING, "trump: H", "turn-up: JC", "the turn-up is JC, but the last card of the talon says JH"),
        ("sixty-six", OPENING, "trump: H", "leader: 1", "no trick has been won, so seat 0 leads"),
        ("sixty-six", OPENING, "trump: H", "points: 5-0", "side 0 has 5 card points but no trick"),
        ("sixty-six", OPENING, "trump: H", "tricks: 1-0", "tricks add up to 1, but .* make 0"),
        ("sixty-six", OPENING, "trump: H", "pending: 20-0", "without the trick that a declaration needs"),
        ("sixty-six", OPENING, "trump: H", "asked: 1 on_lead", "at on_lead seat 0 is asked, not 1"),
        ("sixty-six", OPENING, "trump: H", "asked: 0 follow", "nobody is asked follow here"),
        ("sixty-six", OPENING, "trump: H", "asked: 0 before_draw", "hands of 6 in open play; they would hold 5"),
        ("sixty-six", OPENING, "trump: H", "asked: 0 on_close", "nobody is asked on_close"),
        ("sixty-six", OPENING, "trump: H", "then asked: 1", "at on_lead seat 0 is asked, not 0 then 1"),
        ("sixty-six", OPENING, "trump: H", "known 0: JD", "JD is known to be in the hand of seat 0, but"),
        ("sixty-six", OPENING, "trump: H", "closer: 0", "points at the close are needed"),
        ("sixty-six", OPENING, "trump: H", "closed points: 0-0", "but no closer"),
        ("sixty-six", OPENING, "AS KD", "\ntable: AS KD", "2 cards lie on the table; a trick of 2 seats would be over"),
        ("sixty-six", AFTER_A_TRICK, "1-0\n", "0-1\n", "side 0 has 10 card points but no trick"),
        ("sixty-six", AFTER_A_TRICK, "10-0\ntricks: 1-0", "0-10\ntricks: 0-1", "seat 0 leads, so .* has no trick"),
        ("schnapsen", AFTER_A_TRICK, "", "", "not in the deck"),
        ("sesenta-y-seis", AFTER_A_TRICK, "", "", "nobody is asked before_draw"),
        ("sesenta-y-seis", CLOSED, "", "", "no seat could close after 1 tricks and 0 draws"),
        ("sixty-six", CLOSED, "closer: 0", "closer: 1", "seat 1 closed after winning a trick, but its side had none"),
        ("sixty-six", CLOSED, "closed tricks: 1-0", "closed tricks: 2-0", "had 2 tricks at the close and has 1 now"),
        ("sixty-six", CLOSED, "closed tricks: 1-0", "closed tricks: 0-0", "10 card points at the close but no trick"),
        ("sixty-six", CLOSED, "closed points: 10-0", "closed points: 10-3", "side 1 had 3 points at the close"),
        ("sixty-six", CLOSED, "closer: 0", "asked: 1 on_close\ncloser: 0", "nobody is asked on_close"),
        ("pagat", DECLARED + "pending: 20-0\n", "bound: KC QC", "bound: KC", "KC cannot be bound"),
        ("pagat", DECLARED + "pending: 20-0\n", "bound: KC QC", "bound: KC QS", "cannot be bound"),
        ("pagat", DECLARED + "pending: 20-0\n", "known 0: KC QC\n", "", "the pair QC KC was shown, so both"),
        ("pagat", DECLARED + "pending: 20-0\n", "bound: KC QC", "bound: AS TS", "cannot be bound"),
        ("sixty-six", DECLARED, "", "", "no marriage could be declared"),
        ("sessantasei-32", DECLARED, "", "", "tricks add up to 0, but the cards that are gone make 4"),
    ],
)
def test_a_position_that_cannot_arise_is_refused_with_the_reason(
    rules: str, text: str, found: str, instead: str, reason: str
) -> None:
    assert found in text
    with pytest.raises(UsageError, match=reason):
        state(GAMES[rules], text.replace(found, instead, 1))


def test_a_trick_that_could_not_be_played_so_is_refused() -> None:
    hands = "hand 0: 9D\nhand 1: AS 9S\nhand 2: JH JD\nhand 3: QD KD\nturn-up: TH\ntrump: H\nleader: 0\ntricks: 4-0\n"
    four = GAMES["four-handed"]
    assert state(four, hands.replace("hand 1: AS 9S", "hand 1: AS JS").replace("hand 0: 9D", "hand 0: 9D\ntable: QS"))
    with pytest.raises(UsageError, match="seat 1 could not play JC to this trick"):
        text = hands.replace("hand 1: AS 9S", "hand 1: AS").replace("JH JD", "JD JH")
        state(four, text.replace("leader: 0\n", "leader: 0\ntable: QS JC\n"))


@EVERY_GAME
@given(seed=SEEDS)
def test_a_position_with_two_cards_swapped_is_refused_or_plays_to_the_end(name: str, seed: int) -> None:
    rng = random.Random(seed)
    deal = at_random(GAMES[name], rng)
    position = position_of(deal)
    hands = [list(hand) for hand in position.hands]
    talon = list(position.talon)
    if not any(hands):
        return
    places = [(hand, number) for hand in (*hands, talon) for number in range(len(hand))]
    (one, i), (other, j) = rng.choice(places), rng.choice(places)
    one[i], other[j] = other[j], one[i]
    try:
        spoiled = resume(deal.game, replace(position, hands=tuple(map(tuple, hands)), talon=tuple(talon)))
    except UsageError:
        return
    for _ in moments(spoiled, any_policy(rng), rng):
        pass
    assert spoiled.outcome is not None


def test_at_more_than_two_seats_each_is_asked_about_the_close_in_turn() -> None:
    rules = game("sessantasei-3", exchange="on_lead", exchange_on_opponent_close=True)
    deal = at_first_close(rules)
    assert (deal.to_act, deal.point) == (1, DecisionPoint.ON_CLOSE)
    assert position_of(deal).to_ask == (2,)
    assert "then asked: 2\n" in format_position(rules, position_of(deal))
    resumed = resume(rules, position_of(deal))
    resumed.apply(GO_ON)
    assert (resumed.to_act, position_of(resumed).to_ask) == (2, ())
    resumed.apply(GO_ON)
    assert (resumed.to_act, resumed.point) == (0, DecisionPoint.ON_LEAD)


def at_first_close(game: Game) -> Deal:
    deck = list(game.cards)
    random.Random(0).shuffle(deck)
    return do(game.deal(deck), "close")
