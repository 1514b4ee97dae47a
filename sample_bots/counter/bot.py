"""Counts cards: what a card is worth, when to close and how to end follow from the cards that are still hidden."""

from __future__ import annotations

from collections.abc import Sequence

from arena.bot import CLAIM, CLOSE, DECLARE, EXCHANGE, GO_ON, Action, Card, Suit, View, serve

# Found by trial: one number changed at a time, some thousand mirrored deals each (python -m bench.strength).
LIVES = 0.7
"""How often a plain card that nobody beats in its suit takes its trick; else it is ruffed."""
TRUMP = 10
"""Card points that any trump stands for beside its own: it can ruff an ace or a ten."""
PAIR, HALF = 0.5, 0.3
"""The part of a marriage that a king or queen stands for, with the other one in hand, or still hidden."""
LEAD = 10
"""Card points that the lead is worth with a pair to declare."""
DECIDES = 100
"""More than any trick: this one ends the deal."""
THROWN = 2
"""Card points that fall on a sure winner, on average."""
FOLLOWED = 3
"""With that many cards of a suit hidden, the other hand should hold one, and so cannot ruff."""
SOLVED = 6
"""With so many cards in hand all ways to go on can be tried in a few milliseconds."""


def choose(view: View) -> Action | Card:
    if view.sure_of_claim and view.can(CLAIM):
        return CLAIM
    if view.can(EXCHANGE):
        return EXCHANGE
    if view.must_follow_strictly and view.other_hand is not None and len(view.hand) <= SOLVED:
        return endgame(view)
    if view.marriages:
        return DECLARE[view.trump if view.trump in view.marriages else view.marriages[0]]
    if view.can(CLOSE) and can_close(view):
        return CLOSE
    if view.can(GO_ON):
        return GO_ON
    return best_card(view, view.plays)


def best_card(view: View, cards: Sequence[Card]) -> Card:
    """The best of these cards by our own judgement; of equals the one with the lowest number."""
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
    """The cards that other hands may hold: those that nobody has seen yet, and those that were shown."""

    def __init__(self, view: View) -> None:
        self.shown = [card for seat in view.others for card in view.known[seat]]
        self.hidden = sorted((*view.unseen, *self.shown))
        held = sum(view.facts.hand_sizes[seat] for seat in view.others) - len(self.shown)
        self._in_talon = 1 - held / max(1, len(view.unseen))
        """The chance that an unseen card is in no hand."""

    def of(self, suit: Suit | None) -> list[Card]:
        """The hidden cards of a suit, ascending."""
        return [card for card in self.hidden if card.suit is suit]

    def above(self, card: Card) -> list[Card]:
        """The hidden cards of its suit that beat it."""
        return [other for other in self.of(card.suit) if other > card]

    def chance_of_none(self, cards: Sequence[Card]) -> float:
        """How likely it is that no other hand holds any of these hidden cards."""
        return 0.0 if any(card in self.shown for card in cards) else self._in_talon ** len(cards)


# -- what a card is worth ----------------------------------------------------------------------------------------------
# A trick is worth its points to us or, lost, as much to the others.  The best card is the one that brings most now,
# less what it would bring later: so an ace takes a trick, but is not led while it can be ruffed.


def follow_value(view: View, count: Count, card: Card) -> float:
    """What the trick brings with this card, less what the card would be worth later."""
    points = card.points + sum(other.points for other in view.table)
    if not view.takes(card):
        lost = points + (DECIDES if view.their_points + points >= view.rules.target else 0)
        return -lost - worth(view, count, card)
    decides = points_with_a_trick(view) + points >= view.rules.target
    return points + lead_worth(view, card) + (DECIDES if decides else 0) - worth(view, count, card)


def lead_value(view: View, count: Count, card: Card) -> float:
    """What the card wins or loses when it is led, less what it would be worth later."""
    takes = count.chance_of_none(count.above(card))
    if card.points >= 10 and card.suit is not view.trump and not view.must_follow_strictly:
        # In open play nobody need follow suit, and an ace or a ten is worth a trump to anyone who has one.
        takes *= count.chance_of_none(count.of(view.trump))
    return (2 * takes - 1) * card.points - worth(view, count, card)


def worth(view: View, count: Count, card: Card) -> float:
    """The card points that the card should bring, won or lost, if it is kept."""
    takes = count.chance_of_none(count.above(card))
    if card.suit is view.trump:
        return (2 * takes - 1) * card.points + TRUMP + marriage_worth(view, count, card)
    return (2 * takes * LIVES - 1) * card.points + marriage_worth(view, count, card)


def marriage_worth(view: View, count: Count, card: Card) -> float:
    """What a marriage brings, times how much of it hangs on this card."""
    if card.rank not in "KQ" or not marriages_to_come(view):
        return 0
    marriage = 40 if card.suit is view.trump else 20
    if partner(card) in view.hand:
        return PAIR * marriage
    return HALF * marriage if partner(card) in count.hidden else 0


def lead_worth(view: View, card: Card) -> float:
    """What it is worth to lead next, once the card is played: a pair can be declared."""
    kept = [other for other in view.hand if other != card]
    pair = any(other.rank == "K" and partner(other) in kept for other in kept)
    return LEAD if pair and marriages_to_come(view) else 0


def marriages_to_come(view: View) -> bool:
    """Whether marriages can still be declared on a later lead."""
    if view.rules.marriage == "off":
        return False
    open_next = not view.must_follow_strictly and view.talon >= 2 * view.rules.active_seats
    return open_next or view.rules.marriage_phase == "any"


def partner(card: Card) -> Card:
    """The queen to a king, the king to a queen."""
    return Card.parse(f"{'Q' if card.rank == 'K' else 'K'}{card.suit}")


# -- when to close -----------------------------------------------------------------------------------------------------


def can_close(view: View) -> bool:
    """Whether sure tricks alone reach the target, the first of them now."""
    tricks = sure_tricks(view, Count(view))
    leads = view.plays or view.hand  # asked before the draw no card can be played yet, but then every one can
    if not any(card in leads for card in tricks):
        return False
    return points_with_a_trick(view) + sum(card.points + THROWN for card in tricks) >= view.rules.target


def points_with_a_trick(view: View) -> int:
    """Our card points as they count once we take a trick."""
    return view.my_points + view.pending[view.my_side]


def sure_tricks(view: View, count: Count) -> list[Card]:
    """The cards that take a trick each when they are led in this order in strict play.

    Trumps are sure against any hand: all that are hidden may be in one.  A plain ace among many hidden cards of its
    suit is nearly sure; once all trumps are drawn, any winner is.
    """
    trumps = count.of(view.trump)
    tricks = winners(view, view.trump, trumps)
    needed = 0 if len(tricks) >= len(trumps) else FOLLOWED
    for suit in Suit:
        if suit is not view.trump:
            tricks += winners(view, suit, count.of(suit), needed)
    return tricks


def winners(view: View, suit: Suit | None, theirs: Sequence[Card], needed: int = 0) -> list[Card]:
    """Our cards of the suit, from the top, that beat what is left of `theirs`: each takes the lowest of them along.

    It ends where fewer than `needed` of them are left.
    """
    found: list[Card] = []
    for card in reversed([card for card in view.hand if card.suit is suit]):
        left = theirs[len(found) :]
        if len(left) < needed or (left and left[-1] > card):
            break
        found.append(card)
    return found


# -- the exact endgame -------------------------------------------------------------------------------------------------


def endgame(view: View) -> Action | Card:
    """An action of the highest value, found by trying everything: every card is known.

    The value counts on perfect play of the other hand.  Among equals our own judgement chooses: it may err.
    """
    values = view.solve(all_actions=True).values
    highest = max(values.values())
    best = [action for action in view.legal if values[action] == highest and action != CLAIM]
    if not best:
        return CLAIM  # a false claim, where it costs less than playing on
    if best[-1].card is None:
        return best[-1]
    return best_card(view, [card for action in best if (card := action.card)])


if __name__ == "__main__":
    serve(choose, name="counter")
