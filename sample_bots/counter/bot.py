"""Counts cards: what a card is worth, when to close and how to end follow from the cards that are still hidden.

Four ideas, one a section: what is hidden, what a card is worth, when to close, and the exact endgame.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.bot import CLAIM, CLOSE, DECLARE, EXCHANGE, GO_ON, Action, Card, Suit, View, serve

# Found by trial: each was changed while the others stayed, over some thousand mirrored deals (bench/strength.py).
LIVES = 0.67
"""How often a plain card that cannot be beaten in its suit takes its trick; else it is ruffed."""
CATCH = 4
"""Card points that a winner takes from the other hand."""
TRUMP = 5
"""What any trump is worth beside its points: it ruffs, and it stops the other side's long suit."""
PAIR, HALF = 0.5, 0.2
"""How much of a marriage a king or queen stands for, with the other one in hand, or hidden."""
THROWN = 2
"""Card points that a sure trick brings beside the card led."""
FOLLOWED = 3
"""With so many cards of a suit hidden, the other hand follows suit rather than ruffs."""
LEAD = 10
"""What it is worth to lead next with a pair to declare."""
DECIDES = 100
"""More than any trick: it ends the deal."""


def choose(view: View) -> Action | Card:
    if view.sure_of_claim and view.can(CLAIM):
        return CLAIM
    if view.can(EXCHANGE):
        return EXCHANGE
    if view.must_follow_strictly and view.other_hand is not None:
        return endgame(view)
    if view.marriages:
        return DECLARE[view.trump if view.trump in view.marriages else view.marriages[0]]
    if view.can(CLOSE) and can_close(view):
        return CLOSE
    if view.can(GO_ON):
        return GO_ON
    return best_card(view, view.plays)


def best_card(view: View, cards: Sequence[Card]) -> Card:
    count = Count(view)
    if view.table:
        return max(cards, key=lambda card: (follow_value(view, count, card), -card))
    if view.must_follow_strictly:
        for card in sure_tricks(view, count):
            if card in cards:
                return card
    return max(cards, key=lambda card: (lead_value(view, count, card), -card))


# -- what is hidden ----------------------------------------------------------------------------------------------------


class Count:
    """The cards that other hands may hold: those that lie anywhere out of sight, and those that were shown."""

    def __init__(self, view: View) -> None:
        self.trump = view.trump
        self.shown = [card for seat in view.others for card in view.known[seat]]
        self.hidden = sorted([*view.unseen, *self.shown])
        held = sum(view.facts.hand_sizes[seat] for seat in view.others) - len(self.shown)
        self.absent = 1 - held / max(1, len(view.unseen))
        """The chance that a card out of sight is in no hand but in the talon."""

    def of(self, suit: Suit | None) -> list[Card]:
        """The hidden cards of a suit."""
        return [card for card in self.hidden if card.suit is suit]

    def above(self, card: Card) -> list[Card]:
        """The hidden cards that are higher in its suit."""
        return [other for other in self.hidden if other.suit is card.suit and other > card]

    def chance_of_none(self, cards: Sequence[Card]) -> float:
        """How likely it is that no other hand holds any of these."""
        return 0.0 if any(card in self.shown for card in cards) else self.absent ** len(cards)


# -- what a card is worth ----------------------------------------------------------------------------------------------


def worth(view: View, count: Count, card: Card) -> float:
    """The card points that a card should bring if it is kept."""
    takes = count.chance_of_none(count.above(card))
    if card.suit is not view.trump:
        takes *= LIVES
    value = takes * (card.points + CATCH) - (1 - takes) * card.points
    if card.suit is view.trump:
        value += TRUMP
    return value + marriage_worth(view, count, card)


def marriage_worth(view: View, count: Count, card: Card) -> float:
    """The part of a marriage that would go with the card."""
    if card.rank not in "KQ" or not marriages_to_come(view):
        return 0
    marriage = 40 if card.suit is view.trump else 20
    partner = partner_of(card)
    if partner in view.hand:
        return PAIR * marriage
    return HALF * marriage if partner in count.hidden else 0


def marriages_to_come(view: View) -> bool:
    """Whether there will be another lead on which marriages are allowed."""
    if view.rules.marriage == "off":
        return False
    if view.rules.marriage_phase == "any":
        return True
    return not view.must_follow_strictly and view.talon >= 2 * view.rules.active_seats


def partner_of(card: Card) -> Card:
    """The queen to a king, the king to a queen."""
    return Card.parse(f"{'Q' if card.rank == 'K' else 'K'}{card.suit}")


def follow_value(view: View, count: Count, card: Card) -> float:
    """What the trick brings with this card, less what the card would be worth later."""
    points = card.points + sum(other.points for other in view.table)
    if not view.takes(card):
        if view.their_points + points >= view.rules.target:
            points += DECIDES
        return -points - worth(view, count, card)
    if view.my_points + points >= view.rules.target:
        points += DECIDES
    return points + lead_worth(view, card) - worth(view, count, card)


def lead_worth(view: View, card: Card) -> float:
    """What the lead is worth if that card is gone: on lead a pair can be declared."""
    kept = [other for other in view.hand if other != card]
    pair = any(other.rank == "K" and partner_of(other) in kept for other in kept)
    return LEAD if pair and marriages_to_come(view) else 0


def lead_value(view: View, count: Count, card: Card) -> float:
    """The points that a lead wins or loses, less what the card would be worth later."""
    takes = count.chance_of_none(count.above(card))
    # In open play anyone may ruff, and does so for an ace or a ten.
    if card.points >= 10 and card.suit is not view.trump and not view.must_follow_strictly:
        takes *= count.chance_of_none(count.of(view.trump))
    return takes * card.points - (1 - takes) * card.points - worth(view, count, card)


# -- when to close -----------------------------------------------------------------------------------------------------


def can_close(view: View) -> bool:
    """Whether the sure tricks alone reach the target in strict play."""
    tricks = sure_tricks(view, Count(view))
    if view.facts.bound and not any(view.can(card) for card in tricks):
        return False
    return view.my_points + sum(card.points + THROWN for card in tricks) >= view.rules.target


def sure_tricks(view: View, count: Count) -> list[Card]:
    """The cards that take a trick each when they are led in this order in strict play."""
    trumps = count.of(view.trump)
    tricks = run(view, view.trump, trumps)
    # While the other hand may have a trump left, a plain card counts only where it most likely has to follow suit.
    follows = FOLLOWED if len(trumps) > len(tricks) else 0
    for suit in Suit:
        if suit is not view.trump:
            tricks += run(view, suit, count.of(suit), follows)
    return tricks


def run(view: View, suit: Suit | None, theirs: list[Card], at_least: int = 0) -> list[Card]:
    """The winners of a suit from the top, while `theirs`, of which each takes one along, are `at_least` so many."""
    winners: list[Card] = []
    for card in reversed(view.hand):
        if card.suit is suit:
            left = theirs[len(winners):]
            if len(left) < at_least or (left and left[-1] > card):
                break
            winners.append(card)
    return winners


# -- the exact endgame -------------------------------------------------------------------------------------------------


def endgame(view: View) -> Action | Card:
    """The best action against the best play; among equals, which the other hand may get wrong, the usual one."""
    values = view.solve(all_actions=True).values
    best = [action for action in view.legal if action != CLAIM and values[action] == max(values.values())]
    if not best:
        return CLAIM
    cards = [card for action in best if (card := action.card) is not None]
    return best_card(view, cards) if len(cards) == len(best) > 1 else best[-1]


if __name__ == "__main__":
    serve(choose, name="counter")
