"""Pairs of matches that a seat must not be able to tell apart: other hidden cards in the midst of a deal, else alike.

Nothing here looks at a view to decide what is public, but to draw the other world from it: an action is common to
both worlds if it is legal in both, shows no pair in one only, and lets the seat draw the same cards.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arena.cards import CARDS, EXCHANGE, Action, Card, cards_of, hand_cards
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.rules import TrumpSource
from arena.game.sample import worlds
from arena.match.state import MatchState
from tests.game.tables import any_policy, choose, declares_by_itself

FAULT = 0
"""An answer that is no action: it loses the deal."""
PACKETS = {5: (3, 2), 6: (3, 3), 7: (3, 4), 8: (3, 3, 2)}
"""How the rules pages deal hands of that size."""
TRIES = 20
"""How many worlds are drawn for a moment before it is given up."""

Deck = tuple[Card, ...]
DeckOf = Callable[[int], Deck]


@dataclass(frozen=True, slots=True)
class Pair:
    """One match in two worlds; every seat gives the same answers in both."""

    match_id: str
    seat: int
    """Who must not be able to tell the worlds apart."""
    decks: tuple[DeckOf, DeckOf]
    """By world: alike but for one deal."""
    script: Script
    split: int
    """The deal that is not alike."""
    later: int
    """How many events the seat is sent in that deal once the worlds have parted, its end not counted."""


class Script:
    """What the seats of a match answer, and the kinds of events that they are sent."""

    def __init__(self, seats: int) -> None:
        self.answers: list[list[int]] = [[] for _ in range(seats)]
        """By seat, in order: actions and faults."""
        self.events: list[list[str]] = [["match_started"] for _ in range(seats)]
        """By seat, in order: the kinds."""

    def answer(self, seat: int, answer: int) -> None:
        self.answers[seat].append(answer)
        self.events[seat] += ["decision", "fault"] if answer == FAULT else ["decision"]

    def tell_all(self, event: str) -> None:
        for events in self.events:
            events.append(event)


def pairs(game: Game, number: int, name: str) -> list[Pair]:
    """So many pairs, the same for the same name."""
    rng = random.Random(name)
    found: list[Pair] = []
    while len(found) < number:
        pair = _pair(game, f"{rng.getrandbits(64):016x}", rng)
        if pair is not None:
            found.append(pair)
    return found


def _pair(game: Game, match_id: str, rng: random.Random) -> Pair | None:
    """None where chance leads to no other world."""
    seat = 0
    script = Script(game.rules.seats)

    def deck_of(number: int) -> Deck:
        return tuple(_shuffled(game.cards, random.Random(f"{match_id} {number}")))

    split = rng.randrange(1, 4)
    other: Deck | None = None
    state = MatchState(game.rules)
    while not state.over:
        number = state.deal
        deal = game.deal(deck_of(number), state.dealer, state.score, state.carry)
        if number == split:
            actions, asked = _some_actions(deal.copy(), rng)
            seat = asked if rng.random() < 0.9 else rng.randrange(game.rules.seats)  # who sits out is told things, too
            found = _other_deck(game, deal, deck_of(number), actions, seat, rng)
            if found is None:
                return None
            other, twin = found
            for action in actions:
                _act((deal, twin), action, script)
            before = len(script.events[seat])
            _play_alike(deal, twin, seat, script, rng)
            assert deal.outcome == twin.outcome
            later = len(script.events[seat]) - before
        else:
            for action in _some_actions(deal.copy(), rng)[0]:
                _act((deal,), action, script)
            if deal.to_act is not None:
                _act((deal,), FAULT, script)
        assert deal.outcome is not None
        state.add(deal.outcome)
        script.tell_all("deal_ended")
    script.tell_all("match_ended")
    if other is None:
        return None
    dealt = other
    worlds_of = deck_of, lambda number: dealt if number == split else deck_of(number)
    return Pair(match_id, seat, worlds_of, script, split, later)


def _shuffled(cards: Sequence[Card], rng: random.Random) -> list[Card]:
    return rng.sample(cards, len(cards))


def _some_actions(deal: Deal, rng: random.Random) -> tuple[list[Action], int]:
    """How the deal may begin, up to a moment at which it still goes on, and the seat that is asked then."""
    moments: list[tuple[Action, int]] = []
    policy = any_policy(rng)
    while deal.to_act is not None:
        seat = deal.to_act
        action = choose(deal, policy, rng)
        moments.append((action, seat))
        deal.apply(action)
    number = rng.randrange(len(moments))
    return [action for action, _ in moments[:number]], moments[number][1]


def _act(deals: Sequence[Deal], answer: int, script: Script) -> None:
    seat = deals[0].to_act
    assert seat is not None
    script.answer(seat, answer)
    for deal in deals:
        if answer == FAULT:
            deal.forfeit(seat)
        else:
            deal.apply(answer)


def _play_alike(one: Deal, other: Deal, seat: int, script: Script, rng: random.Random) -> None:
    """Play both to the same end: by actions common to both, and by a fault once there is none."""
    policy = any_policy(rng)
    while one.outcome is None:
        assert (one.to_act, one.point) == (other.to_act, other.point)
        common = [action for action in one.legal_actions if _alike(one, other, action, seat)]
        action = choose(one, policy, rng)
        _act((one, other), action if action in common else rng.choice(common) if common else FAULT, script)


def _alike(one: Deal, other: Deal, action: Action, seat: int) -> bool:
    if action not in other.legal_actions or declares_by_itself(one, action) != declares_by_itself(other, action):
        return False
    after = one.copy(), other.copy()
    for deal in after:
        deal.apply(action)
    return after[0].hands[seat] == after[1].hands[seat]


# -- the other world ---------------------------------------------------------------------------------------------------


def _other_deck(
    game: Game, deal: Deal, deck: Deck, actions: Sequence[Action], seat: int, rng: random.Random
) -> tuple[Deck, Deal] | None:
    """Another deck that leads the seat by these actions to the same view; with its deal, freshly dealt.

    The hidden cards are drawn evenly from what the view does not contradict, or two of them have changed places.  Who
    was dealt which of the cards of a hand first is hidden too, in the own hand as well.
    """
    now = deal.copy()
    for action in actions:
        now.apply(action)
    view = now.view(seat)
    slots = _Slots(game, deck, deal.dealer)
    slots.follow(deal.copy(), actions)
    others = [other for other in range(game.rules.seats) if other != seat]
    lies = bool(view.turn_up) and game.rules.trump_source is TrumpSource.TURN_UP
    places = [_hidden(slots.hands[other], deck, view.known[other]) for other in others]
    places.append(slots.talon[: len(slots.talon) - lies])
    drawn = worlds(game, view, rng)
    for _ in range(TRIES):
        changed = list(deck)
        if rng.random() < 0.5:
            world = next(drawn)
            for other, place in zip(others, places, strict=False):
                cards = list(hand_cards(world.hands[other]))
                for known in cards_of(view.known[other]):
                    cards.remove(known)
                _fill(changed, place, _shuffled([CARDS[card] for card in cards], rng))
            _fill(changed, places[-1], world.talon[: len(places[-1])])
        elif sum(map(len, places)) >= 2:
            one, other = rng.sample([slot for place in places for slot in place], 2)
            changed[one], changed[other] = changed[other], changed[one]
        for dealt in slots.dealt:
            _fill(changed, dealt, _shuffled([changed[slot] for slot in dealt], rng))
        twin = game.deal(changed, deal.dealer, deal.score, deal.carry)
        after = twin.copy()
        if twin.turn_up != deal.turn_up or not _leads_here(deal.copy(), after, actions, seat):
            continue  # a pair that shows itself, or one of two identical cards of which only one is hidden
        if (after.hands, after.talon) != (now.hands, now.talon):
            return tuple(changed), twin
    return None


def _fill(deck: list[Card], slots: Sequence[int], cards: Sequence[Card]) -> None:
    for slot, card in zip(slots, cards, strict=True):
        deck[slot] = card


def _hidden(hand: Sequence[int], deck: Deck, known: int) -> list[int]:
    """The slots whose cards nobody else knows to be in the hand."""
    slots = list(hand)
    for card in cards_of(known):
        slots.remove(next(slot for slot in slots if deck[slot] == card))
    return slots


def _leads_here(one: Deal, other: Deal, actions: Sequence[Action], seat: int) -> bool:
    """Whether the seat saw the same in both deals; plays both."""
    for action in actions:
        if one.hands[seat] != other.hands[seat] or not _alike(one, other, action, seat):
            return False
        one.apply(action)
        other.apply(action)
    return one.hands[seat] == other.hands[seat]


class _Slots:
    """Where the cards of a deck lie, by their places in the deck, as a deal goes on."""

    def __init__(self, game: Game, deck: Deck, dealer: int) -> None:
        table = game.table
        self.game = game
        self.deck = deck
        self.hands: list[list[int]] = [[] for _ in range(table.seats)]
        slots = iter(range(len(deck)))
        for packet in PACKETS[game.rules.hand]:
            for seat in table.orders[dealer][table.forehand(dealer)]:
                self.hands[seat] += [next(slots) for _ in range(packet)]
        self.talon = list(slots)
        public: set[int] = set()
        match game.rules.trump_source:
            case TrumpSource.TURN_UP:
                self.talon.append(self.talon.pop(0))
            case TrumpSource.DEALER_CARD:
                public = {len(deck) - 1}
            case TrumpSource.MARRIAGE:
                pass
        self.dealt = [[slot for slot in hand if slot not in public] for hand in self.hands]
        """By seat, the cards that it was dealt in an order that nobody sees."""

    def follow(self, deal: Deal, actions: Sequence[Action]) -> None:
        for action in actions:
            assert deal.to_act is not None
            hand = self.hands[deal.to_act]
            if action <= 32:
                hand.remove(self._slot(hand, action))
            elif action == EXCHANGE:
                given = self._slot(hand, self.game.lowest_trump[deal.trump])
                hand[hand.index(given)], self.talon[-1] = self.talon[-1], given
            left = len(deal.talon)
            deal.apply(action)
            for seat in deal.order[: left - len(deal.talon)]:
                self.hands[seat].append(self.talon.pop(0))

    def _slot(self, hand: Sequence[int], card: int) -> int:
        return next(slot for slot in hand if self.deck[slot] == card)
