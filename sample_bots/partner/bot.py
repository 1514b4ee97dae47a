"""Plays for its side: tries what it can do on imagined deals, played on by partners, and adds up what the side gets."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from arena.bot import CLAIM, DECLARE, EXCHANGE, GO_ON, Action, Card, Rules, View, serve
from arena.cards import CARDS
from arena.game.deal import Deal
from arena.game.sample import resume_world

WORLDS = 20
"""Deals imagined for a decision: the time grows with them; half as many are hardly weaker."""
CARD_POINT = 0.02
"""What a card point of lead at the end is worth, in game points: it decides where the game points do not."""


def choose(view: View) -> Action:
    if view.sure_of_claim and view.can(CLAIM):
        return CLAIM  # whoever of the side won the points
    actions = [action for action in view.legal if action != CLAIM]
    return actions[0] if len(actions) == 1 else best_for_the_side(view, actions)


def best_for_the_side(view: View, actions: Sequence[Action]) -> Action:
    """The action after which our side gets the most, in all imagined deals together; of equals the first."""
    totals = dict.fromkeys(actions, 0.0)
    # A world fits what everybody has shown: a seat that trumped a suit holds none of it, and a card shown in a
    # marriage is still there.  So trumps are counted, and a partner's known strength is led to.
    for world in islice(view.worlds(), WORLDS):
        start = resume_world(view.rules, view.facts, world)
        for action in actions:
            totals[action] += lead_after(start, action, view.my_side)
    return max(actions, key=lambda action: totals[action])


def lead_after(start: Deal, action: Action, side: int) -> float:
    """What the deal brings the side more than the other one, once everybody has played on as partners do."""
    deal = start.copy()
    deal.apply(action)
    while deal.to_act is not None:
        deal.apply(as_a_partner(deal, deal.to_act))
    assert deal.outcome is not None
    return lead(deal.outcome.points, side) + CARD_POINT * lead(deal.outcome.card_points, side)


def lead(by_side: Sequence[int], side: int) -> int:
    """How much more that side has than the other."""
    return 2 * by_side[side] - sum(by_side)


# -- how partners play -------------------------------------------------------------------------------------------------
# Quick rules that look at one trick.  They play imagined deals only, but all four hands of them.


def as_a_partner(deal: Deal, seat: int) -> Action | Card:
    """What that seat does: like greedy, but a trick of its partner's is a trick of its own."""
    legal = deal.legal_actions
    side = deal.game.table.side_of[seat]
    if CLAIM in legal and deal.points[side] >= deal.game.rules.target:
        return CLAIM
    if GO_ON in legal:
        return GO_ON
    if EXCHANGE in legal:
        return EXCHANGE
    marriages = [action for action in legal if action.marriage]
    if marriages:
        return DECLARE[deal.trump] if DECLARE[deal.trump] in marriages else marriages[0]
    cards = [card for action in legal if (card := action.card)]
    if not deal.table:
        # After a declaration either card of the pair does; in open play nothing of worth is led, as it can be ruffed.
        return dearest(cards) if deal.strict and not deal.bound else cheapest(deal, cards)
    if deal.game.table.side_of[deal.best_seat] == side:
        is_last = len(deal.table) == len(deal.order) - 1
        return smear(deal, cards) if is_last else cheapest(deal, cards)
    return take(deal, cards)


def smear(deal: Deal, cards: Sequence[Card]) -> Card:
    """On a trick that is ours: the plain card with the most points; trumps are kept, the high ones longest."""
    return max(cards, key=lambda card: (card.suit != deal.trump, -card if card.suit == deal.trump else card.points))


def take(deal: Deal, cards: Sequence[Card]) -> Card:
    """Take their trick as high as can be in its suit, or with the lowest trump that does; else give little."""
    led, best = CARDS[deal.table[0]], CARDS[deal.best]
    in_suit = [card for card in cards if card.suit is led.suit and best.suit is led.suit and card > best]
    if in_suit:
        return max(in_suit)
    trumps = [card for card in cards if card.suit == deal.trump and (card > best or best.suit != deal.trump)]
    worth_it = deal.strict or sum(CARDS[card].points for card in deal.table) >= 10
    return min(trumps) if trumps and worth_it else cheapest(deal, cards)


def dearest(cards: Sequence[Card]) -> Card:
    return max(cards, key=lambda card: (card.points, card))


def cheapest(deal: Deal, cards: Sequence[Card]) -> Card:
    """Plain cards before trumps, then fewer points."""
    return min(cards, key=lambda card: (card.suit == deal.trump, card.points, card))


def has_partners(rules: Rules) -> bool:
    return rules.seating == "partners"


if __name__ == "__main__":
    serve(choose, name="partner", plays=has_partners)
