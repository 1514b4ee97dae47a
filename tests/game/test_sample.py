"""Worlds: what a seat cannot see is dealt evenly, what it can see stays, and what duty told it is believed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, islice
from typing import NamedTuple, TypeVar

import pytest

from arena.cards import CARDS, Card, hand_cards, hand_mask, parse_cards
from arena.errors import UsageError
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.position import position_of, resume
from arena.game.rules import MarriageValues
from arena.game.sample import World, resume_world, sample_world, unseen, view_is_open, world_with, worlds
from arena.game.tricks import strict_follow
from arena.game.views import View
from tests.game.tables import GAMES, any_policy, at_random, do, game, mixed_rules, moments, shuffled, state

T = TypeVar("T")
EVERY_GAME = pytest.mark.parametrize("name", GAMES)


class Duty(NamedTuple):
    """A card that a seat played under the duties of strict play."""

    seat: int
    card: int
    led: int
    best: int
    trump: int


def played_out(game: Game, rng: random.Random) -> Iterator[tuple[Deal, list[Duty]]]:
    """Every moment of a random deal, with what was played in strict play until then."""
    return played_on(shuffled(game, rng), rng)


def played_on(deal: Deal, rng: random.Random) -> Iterator[tuple[Deal, list[Duty]]]:
    """The same from some moment on, without what was played to the trick that lies on the table then."""
    duties: list[Duty] = []
    begun = bool(deal.table)
    for action in moments(deal, any_policy(rng), rng):
        yield deal, duties
        begun = begun and bool(deal.table)
        if deal.strict and deal.table and not begun and action.card is not None and deal.to_act is not None:
            duties.append(Duty(deal.to_act, action, deal.table[0], deal.best, deal.trump))


def dutiful(world: World, duties: list[Duty]) -> bool:
    """With these hands every card in strict play was a legal one."""
    hands = [list(hand_cards(hand)) for hand in world.hands]
    for duty in reversed(duties):
        hands[duty.seat].append(CARDS[duty.card])
        hand = hand_mask(sorted(set(hands[duty.seat])))
        if not strict_follow(hand, duty.led, duty.best, duty.trump) >> duty.card & 1:
            return False
    return True


def truth(deal: Deal) -> World:
    return World(tuple(deal.hands), tuple(CARDS[card] for card in deal.talon))


def hidden(deal: Deal, seat: int) -> Counter[Card]:
    """What the seat cannot see, taken from the deal itself."""
    cards = Counter(CARDS[card] for card in deal.talon)
    if deal.turn_up and deal.talon:
        cards[CARDS[deal.turn_up]] -= 1
    for other, hand in enumerate(deal.hands):
        if other != seat:
            cards.update(hand_cards(hand))
            cards.subtract(hand_cards(deal.known[other]))
    return +cards


# -- what the seat sees, stays ----------------------------------------------------------------------------------------


@EVERY_GAME
def test_a_seat_sees_the_same_in_every_sampled_world(name: str) -> None:
    rng = random.Random(f"same {name}")
    for _ in range(6):
        for deal, duties in played_out(GAMES[name], rng):
            for seat in range(deal.game.rules.seats):
                view = deal.view(seat)
                world = sample_world(deal.game, view, rng)
                resumed = resume_world(deal.game, view, world)
                assert resumed.view(seat) == view
                assert (resumed.to_act, resumed.point) == (deal.to_act, deal.point)
                assert dutiful(world, duties)


@pytest.mark.parametrize("seed", range(4))
def test_a_seat_sees_the_same_under_mixed_rules(seed: int) -> None:
    rng = random.Random(f"mixed {seed}")
    for _ in range(15):
        for deal, duties in played_out(Game(mixed_rules(rng)), rng):
            view = deal.view(rng.randrange(deal.game.rules.seats))
            world = sample_world(deal.game, view, rng)
            assert resume_world(deal.game, view, world).view(view.seat) == view
            assert deal.game.rules.marriage_values is MarriageValues.BY_SUIT or dutiful(world, duties)


@EVERY_GAME
def test_a_seat_sees_the_same_after_a_position_whose_past_is_unknown(name: str) -> None:
    rng = random.Random(f"resumed {name}")
    for _ in range(8):
        start = resume(GAMES[name], position_of(at_random(GAMES[name], rng)))
        for deal, duties in played_on(start, rng):
            assert deal.to_act is not None
            view = deal.view(deal.to_act)
            world = sample_world(deal.game, view, rng)
            assert resume_world(deal.game, view, world).view(view.seat) == view
            assert deal.game.rules.marriage_values is MarriageValues.BY_SUIT or dutiful(world, duties)


@EVERY_GAME
def test_the_true_world_is_one_of_them_and_goes_on_as_the_deal(name: str) -> None:
    rng = random.Random(f"true {name}")
    for _ in range(4):
        for deal, duties in played_out(GAMES[name], rng):
            assert dutiful(truth(deal), duties)
            for seat in range(deal.game.rules.seats):
                view = deal.view(seat)
                resumed = resume_world(deal.game, view, truth(deal))
                assert (resumed.hands, resumed.talon) == (deal.hands, deal.talon)
                assert [resumed.view(other) for other in range(deal.game.rules.seats)] == [
                    deal.view(other) for other in range(deal.game.rules.seats)
                ]


@EVERY_GAME
def test_unseen_are_the_other_hands_and_the_talon_but_for_what_was_shown(name: str) -> None:
    rng = random.Random(f"unseen {name}")
    for _ in range(4):
        for deal, _ in played_out(GAMES[name], rng):
            for seat in range(deal.game.rules.seats):
                assert Counter(hand_cards(unseen(deal.game, deal.view(seat)))) == hidden(deal, seat)


OPENING = """
hand 0: TS KC QC AH AS KD
hand 1: 9C AC 9H JD TC 9D
talon: KS QS JS 9S KH QH TH AD TD QD JC JH
"""


def test_exchanged_and_declared_cards_are_located() -> None:
    deal = do(state(GAMES["sixty-six"], OPENING), "TS 9D go-on MC KC AC go-on exchange")
    by_seat = [{*hand_cards(unseen(deal.game, deal.view(seat)))} for seat in range(2)]
    public = {*parse_cards("TS 9D KC AC QC JH 9H")}  # played, shown in the marriage, taken and left by the exchange
    assert not public & by_seat[0] and not public & by_seat[1]
    assert {*parse_cards("AH AS KD")} <= by_seat[1]
    queen, jack = hand_mask(parse_cards("QC")), hand_mask(parse_cards("JH"))
    for world in islice(worlds(deal.game, deal.view(0), random.Random(1)), 50):
        assert world.hands[1] & jack and world.talon[-1] == Card.parse("9H")
    for world in islice(worlds(deal.game, deal.view(1), random.Random(1)), 50):
        assert world.hands[0] & queen


def test_the_sitter_sees_worlds_of_two_hands_and_none_of_its_own() -> None:
    deal = shuffled(GAMES["three-handed"], random.Random(1))
    world = sample_world(deal.game, deal.view(deal.dealer), random.Random(2))
    assert sorted(hand.bit_count() for hand in world.hands) == [0, 6, 6]
    assert world.hands[deal.dealer] == 0


def test_the_same_seed_gives_the_same_worlds() -> None:
    deal = shuffled(GAMES["sixty-six"], random.Random(1))
    view = deal.view(0)
    first, second = (list(islice(worlds(deal.game, view, random.Random(7)), 5)) for _ in range(2))
    assert first == second and len(set(first)) == 5


def test_rules_may_stand_for_the_game() -> None:
    deal = shuffled(GAMES["pagat"], random.Random(1))
    view = deal.view(0)
    assert unseen(deal.game.rules, view) == unseen(deal.game, view)
    by_rules = sample_world(deal.game.rules, view, random.Random(3))
    assert by_rules == sample_world(deal.game, view, random.Random(3))


# -- evenly -----------------------------------------------------------------------------------------------------------


def every_world(game: Game, view: View, duties: list[Duty]) -> Counter[tuple[int, ...]]:
    """The hands of every world that the view and the duties allow, with the number of ways to deal them."""
    found: Counter[tuple[int, ...]] = Counter()
    seats = [seat for seat in range(game.rules.seats) if seat != view.seat]

    def deal_out(hands: dict[int, int], left: tuple[Card, ...]) -> None:
        if len(hands) == len(seats):
            world = World(tuple(view.hand if s == view.seat else hands[s] for s in range(game.rules.seats)), ())
            found[world.hands] += dutiful(world, duties)
            return
        seat = seats[len(hands)]
        known = hand_cards(view.known[seat])
        for chosen in combinations(range(len(left)), view.hand_sizes[seat] - len(known)):
            hand = hand_mask(sorted([*known, *(left[index] for index in chosen)]))
            rest = tuple(card for index, card in enumerate(left) if index not in chosen)
            deal_out({**hands, seat: hand}, rest)

    deal_out({}, hand_cards(unseen(game, view)))
    return +found


def is_even(drawn: Counter[T], expected: Counter[T]) -> bool:
    """Chi-squared, five standard deviations wide; the draws are repeatable."""
    scale = sum(drawn.values()) / sum(expected.values())
    distance = sum((drawn[key] - ways * scale) ** 2 / (ways * scale) for key, ways in expected.items())
    freedom = len(expected) - 1
    return drawn.keys() <= expected.keys() and abs(distance - freedom) < 5 * (2 * freedom) ** 0.5


@pytest.mark.parametrize("name", ["sixty-six", "three-handed", "sessantasei-3", "four-handed", "sessantasei-101"])
def test_worlds_are_drawn_evenly_from_all_that_duty_allows(name: str) -> None:
    rng = random.Random(f"even {name}")
    tried = told = 0
    while tried < 4:
        for deal, duties in played_out(GAMES[name], rng):
            seat = rng.choice(deal.order)
            view = deal.view(seat)
            free = sum(view.hand_sizes) - view.hand_sizes[seat]
            hidden_cards = unseen(deal.game, view).bit_count()
            if not duties or free > 8 or hidden_cards > 11 or rng.random() < 0.5:
                continue
            expected = every_world(deal.game, view, duties)
            if 4 <= len(expected) <= 200:
                count = 30 * len(expected)
                drawn = Counter(world.hands for world in islice(worlds(deal.game, view, rng), count))
                assert is_even(drawn, expected), (view, drawn, expected)
                tried += 1
                told += len(expected) < len(every_world(deal.game, view, []))
                break
    assert told, "no duty told anything: the test is too weak"


def test_the_talon_is_shuffled_over_the_turn_up() -> None:
    deal = shuffled(GAMES["schnapsen"], random.Random(1))
    view = deal.view(0)
    drawn = list(islice(worlds(deal.game, view, random.Random(2)), 2800))
    places = len(drawn[0].talon) - 1
    for place in range(places):
        expected = Counter(hand_cards(unseen(deal.game, view)))
        assert is_even(Counter(world.talon[place] for world in drawn), expected)
    assert {world.talon[-1] for world in drawn} == {CARDS[deal.turn_up]}


def test_a_seat_that_trumped_is_not_given_the_suit_led() -> None:
    deal = state(
        GAMES["sixty-six"],
        """
        hand 0: AS KD QD JD 9D TC
        hand 1: 9H TH AC KC QC JC
        talon: TS KS QS JS 9S AD TD 9C AH KH QH JH
        """,
    )
    do(deal, "close AS 9H")  # seat 1 has no spade
    drawn = list(islice(worlds(deal.game, deal.view(0), random.Random(1)), 1000))
    spades = parse_cards("TS KS QS JS 9S")
    assert not any(world.hands[1] & hand_mask(spades) for world in drawn)
    assert any(world.hands[1] & hand_mask(parse_cards("AD")) for world in drawn)
    places = Counter(world.talon.index(card) for world in drawn for card in spades)
    assert is_even(places, Counter(range(11)))


# -- what does not fit ------------------------------------------------------------------------------------------------


def test_a_view_of_other_rules_is_refused() -> None:
    view = shuffled(GAMES["sixty-six"], random.Random(1)).view(0)
    with pytest.raises(UsageError, match="give the rules that the view was made under"):
        sample_world(GAMES["schnapsen"], view, random.Random(1))
    nine = state(GAMES["sixty-six"], OPENING).view(1)
    with pytest.raises(UsageError, match="9H stands in the view more often than in a deck of 20 cards"):
        unseen(GAMES["schnapsen"], nine)


def test_the_other_hand_is_worked_out_once_the_talon_is_empty() -> None:
    rng = random.Random("open")
    for deal, _ in played_out(game("sixty-six", close="off"), rng):
        for seat in range(2):
            view = deal.view(seat)
            assert view_is_open(deal.game, view) == (not deal.talon)
            if not deal.talon:
                assert world_with(deal.game, view).hands == tuple(deal.hands)


def test_more_than_one_other_hand_is_never_worked_out() -> None:
    deal = shuffled(GAMES["four-handed"], random.Random(1))
    assert not view_is_open(deal.game, deal.view(0))
    with pytest.raises(UsageError, match="3 other seats"):
        world_with(deal.game, deal.view(0))


def test_a_hand_without_its_known_cards_is_refused() -> None:
    deal = do(state(GAMES["sixty-six"], OPENING), "TS 9D go-on MC KC AC go-on")
    other = hand_mask(parse_cards("AH AS KD KS TD JC"))
    with pytest.raises(UsageError, match="it holds 6 cards, known QC"):
        world_with(deal.game, deal.view(1), other)
