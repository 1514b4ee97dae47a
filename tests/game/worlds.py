"""Two worlds that a seat cannot tell apart: the same public facts and the same own hand, other hidden cards."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from arena.cards import Action, Card
from arena.errors import UsageError
from arena.game.deal import Deal
from arena.game.position import Position, position_of, resume
from arena.game.views import View
from tests.game.tables import any_policy, choose, declares_by_itself

Window = Callable[[Deal, int], object]
"""What a seat is shown of a deal; equal for two worlds unless it leaks."""


def other_world(deal: Deal, seat: int, rng: random.Random) -> tuple[Deal, Deal] | None:
    """The deal, and one that differs only in what the seat may not know; both go on from the same position.

    Some hidden cards change places: cards in other hands that nobody has shown, and the talon above the turn-up.
    None where the shuffle gives no other position that the rules can lead to.
    """
    position = position_of(deal)
    hands = [list(cards) for cards in position.hands]
    talon = list(position.talon)
    hidden: list[tuple[list[Card], int]] = []
    for other, cards in enumerate(hands):
        shown = list(position.known[other])
        for index, card in enumerate(cards):
            if card in shown:
                shown.remove(card)
            elif other != seat:
                hidden.append((cards, index))
    turn_up_lies = position.turn_up is not None and position.talon[-1:] == (position.turn_up,)
    hidden += [(talon, index) for index in range(len(talon) - turn_up_lies)]
    for _ in range(rng.choice([1, 2, 20])):
        if len(hidden) >= 2:
            (one, i), (other_cards, j) = rng.sample(hidden, 2)
            one[i], other_cards[j] = other_cards[j], one[i]
    changed = replace(position, hands=tuple(tuple(sorted(cards)) for cards in hands), talon=tuple(talon))
    if _same(changed, position):
        return None
    try:
        return tuple(resume(deal.game, each, score=deal.score, carry=deal.carry) for each in (position, changed))  # type: ignore[return-value]
    except UsageError:
        return None


def _same(one: Position, other: Position) -> bool:
    return one.talon == other.talon and [*map(sorted, one.hands)] == [*map(sorted, other.hands)]


def indistinguishable(worlds: tuple[Deal, Deal], seat: int, window: Window, rng: random.Random) -> int:
    """Play both worlds alike while the seat cannot tell them apart; returns how many views were compared.

    Raises `AssertionError` when the window shows the seat a difference before it has become public: by an action that
    is legal in one world only, by a lead that shows a pair in one only, or by what the seat itself draws.
    """
    one, other = worlds
    policy = any_policy(rng)
    compared = 0
    while one.hands[seat] == other.hands[seat]:
        assert window(one, seat) == window(other, seat)
        compared += 1
        if one.outcome is not None:
            assert one.outcome == other.outcome
            break
        assert (one.to_act, one.point) == (other.to_act, other.point)
        action = choose(one, policy, rng)
        if action not in other.legal_actions:
            common = [each for each in one.legal_actions if each in other.legal_actions]
            if not common:
                break
            action = Action(rng.choice(common))
        if declares_by_itself(one, action) != declares_by_itself(other, action):
            break
        one.apply(action)
        other.apply(action)
    return compared


def view_of(deal: Deal, seat: int) -> View:
    """The window of the arena."""
    return deal.view(seat)
