"""The follow duty and the trick's winner: the worked rows, and a second implementation straight from the words."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.cards import DISTINCT, Card, Suit, cards_of, format_cards, mask_of, parse_cards
from arena.game.tricks import BEATS, strict_follow
from arena.game.views import DecisionPoint
from tests.game.tables import GAMES, any_policy, do, game, moments, shuffled, state

HEARTS = Suit.HEARTS
HIGH_TO_LOW = "ATKQJ987"


def beats(card: Card, other: Card, trump: Suit | None) -> bool:
    """`card`, played later, takes the trick from `other`."""
    if card.suit is other.suit:
        return HIGH_TO_LOW.index(card.rank) < HIGH_TO_LOW.index(other.rank)
    return card.suit is trump


def best_of(table: Sequence[Card], trump: Suit | None) -> Card:
    """The card that holds the trick so far."""
    best = table[0]
    for card in table[1:]:
        if beats(card, best, trump):
            best = card
    return best


def may_play(hand: Sequence[Card], table: Sequence[Card], trump: Suit | None) -> set[Card]:
    """Strict play as rules of the house, word for word."""
    led, best = table[0].suit, best_of(table, trump)
    of_the_suit = [card for card in hand if card.suit is led]
    if of_the_suit:
        trumped = best.suit is not led
        higher = [card for card in of_the_suit if not trumped and beats(card, best, trump)]
        return set(higher or of_the_suit)
    trumps = [card for card in hand if card.suit is trump]
    better = [card for card in trumps if best.suit is not trump or beats(card, best, trump)]
    return set(better or trumps or hand)


@pytest.mark.parametrize(
    ("hand", "led", "expected"),
    [
        ("AS JS KH 9D TC QC", "QS", "AS"),
        ("AS JS KH 9D TC QC", "9S", "AS JS"),
        ("AS JS KH 9D TC QC", "AC", "QC TC"),
        ("AS JS KH 9D TC QC", "KD", "9D"),
        ("AS JS KH 9D TC QC", "JH", "KH"),
        ("KH 9H AS TS JD 9C", "TH", "KH 9H"),
        ("KH 9H AS TS JD 9C", "QH", "KH"),
        ("KH QD", "9S", "KH"),
        ("JS 9S", "AC", "JS 9S"),
    ],
)
def test_the_worked_rows_of_the_follow_duty_hold(hand: str, led: str, expected: str) -> None:
    card = Card.parse(led)
    allowed = strict_follow(mask_of(parse_cards(hand)), card, card, HEARTS)
    assert set(cards_of(allowed)) == set(parse_cards(expected))


@pytest.mark.parametrize(
    ("hand", "table", "expected"),
    [
        ("AS JS 9H", "QS KS", "AS"),  # higher than every card of the suit so far
        ("JS 9S 9H", "QS KS", "JS 9S"),
        ("AS JS TH", "QS 9H", "AS JS"),  # the plain suit was trumped: follow with any card of it
        ("AH 9H TD", "QS JH", "AH"),  # over-trump
        ("TH 9H AD", "QS AH", "TH 9H"),  # under-trumping is forced
        ("TD 9C", "QS AH", "TD 9C"),
        ("AH 9H", "JH QH", "AH"),
        ("AS 9S", "AS", "AS 9S"),  # two packs: an identical card never beats
    ],
)
def test_with_more_seats_the_best_card_so_far_counts(hand: str, table: str, expected: str) -> None:
    cards = parse_cards(table)
    allowed = strict_follow(mask_of(parse_cards(hand)), cards[0], best_of(cards, HEARTS), HEARTS)
    assert set(cards_of(allowed)) == set(parse_cards(expected))


def test_without_a_trump_suit_nobody_can_trump() -> None:
    card = Card.parse("QS")
    hand = mask_of(parse_cards("AH 9D"))
    assert strict_follow(hand, card, card, 0) == hand
    assert not BEATS[0][card] & hand


@pytest.mark.parametrize("trump", [None, *Suit])
def test_one_card_beats_another_as_the_words_say(trump: Suit | None) -> None:
    cards = cards_of(DISTINCT)
    for best in cards:
        ours = set(cards_of(BEATS[trump or 0][best]))
        assert ours == {card for card in cards if beats(card, best, trump)}, best


@pytest.mark.parametrize("name", GAMES)
@given(seed=st.integers(0, 2**32 - 1))
def test_every_trick_of_a_random_deal_goes_as_the_words_say(name: str, seed: int) -> None:
    rng = random.Random(seed)
    deal = shuffled(GAMES[name], rng)
    for action in moments(deal, any_policy(rng), rng):
        if deal.point is not DecisionPoint.FOLLOW or action.card is None:
            continue
        table = [Card(card) for card in deal.table]
        hand = cards_of(deal.hands[deal.to_act or 0])
        trump = Suit(deal.trump) if deal.trump else None
        legal = {legal.card for legal in deal.legal_actions if legal.card is not None}
        drawing = deal.closer is None and len(deal.talon) >= len(deal.order)
        assert legal == (set(hand) if drawing else may_play(hand, table, trump)), format_cards(table)
        if len(table) + 1 == len(deal.order):
            table.append(action.card)
            winner = deal.order[table.index(best_of(table, trump))]
            after = deal.copy()
            after.apply(action)
            assert after.winners[-1] == winner
            side = deal.game.table.side_of[winner]
            assert after.tricks[side] == deal.tricks[side] + 1


# -- the worked tricks ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "more", "cards", "winner", "points"),
    [
        ("sessantasei-32", "tricks: 14-0", "8S 9S", 1, 0),
        ("sessantasei-32", "tricks: 14-0", "AS 7H", 1, 11),
        ("sessantasei-101", "tricks: 10-0", "AS TS AS 9S", 0, 32),
        ("sessantasei-101", "tricks: 10-0", "KS 9H AS 9H", 1, 15),
        ("sessantasei-3", "tricks: 8-0-0\ntalon: 7D 7H", "TS KS AS", 2, 25),
        ("four-handed", "tricks: 4-0\nturn-up: TH", "9C JH QH AC", 2, 16),
    ],
)
def test_the_worked_tricks_go_to_the_right_seat(preset: str, more: str, cards: str, winner: int, points: int) -> None:
    hands = zip(cards.split(), ("9D", "JD", "QD", "KD"), strict=False)
    lines = [f"hand {seat}: {card} {other}" for seat, (card, other) in enumerate(hands)]
    deal = do(state(GAMES[preset], "\n".join([*lines, more, "trump: H", "leader: 0"])), cards)
    assert list(deal.winners) == [winner]
    assert deal.leader == deal.to_act == winner
    assert sum(deal.points) == deal.points[GAMES[preset].table.side_of[winner]] == points


@pytest.mark.parametrize(
    ("name", "tricks", "dead"),
    [
        ("sixty-six", 12, 0),
        ("schnapsen", 10, 0),
        ("sessantasei-32", 16, 0),
        ("sessantasei-3", 10, 2),
        ("three-handed", 12, 0),
        ("four-handed", 6, 0),
        ("sessantasei-101", 12, 0),
        ("tausendeins", 12, 0),
    ],
)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_deal_played_to_the_last_card_has_all_its_tricks(name: str, tricks: int, dead: int, seed: int) -> None:
    rng = random.Random(seed)
    deal = shuffled(game(name, claim="off", close="off", close_needs_claim=False), rng)
    for _ in moments(deal, "uniform", rng):
        pass
    assert len(deal.winners) == sum(deal.tricks) == tricks
    assert len(deal.talon) == dead


def test_every_card_has_its_own_rank_though_three_are_worth_nothing() -> None:
    worthless = [Card.parse(f"{rank}S") for rank in "789"]
    assert [card.points for card in worthless] == [0, 0, 0]
    assert beats(worthless[2], worthless[1], None) and beats(worthless[1], worthless[0], None)
    assert BEATS[0][worthless[0]] >> worthless[1] & 1 and not BEATS[0][worthless[1]] >> worthless[0] & 1
