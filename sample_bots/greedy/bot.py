"""Takes what it can get now, and never thinks of the next trick."""

from arena.bot import CLAIM, EXCHANGE, GO_ON, DECLARE, Action, Card, View, serve


def choose(view: View) -> Action | Card:
    if view.sure_of_claim and view.can(CLAIM):
        return CLAIM
    if view.can(EXCHANGE):
        return EXCHANGE
    if view.marriages:
        suit = view.trump if view.trump in view.marriages else view.marriages[0]
        return DECLARE[suit]
    if view.can(GO_ON):
        return GO_ON
    return follow(view) if view.table else lead(view)


def lead(view: View) -> Card:
    if view.must_follow_strictly:
        return max(view.plays, key=lambda card: (card.points, card))
    return cheapest(view)


def follow(view: View) -> Card:
    led = view.table[0]
    winners = [card for card in view.plays if view.takes(card)]
    in_suit = [card for card in winners if card.suit is led.suit]
    if in_suit:
        return max(in_suit)
    if winners and sum(card.points for card in view.table) >= 10:
        return min(winners)
    return cheapest(view)


def cheapest(view: View) -> Card:
    return min(view.plays, key=lambda card: (card.suit is view.trump, card.points, card))


if __name__ == "__main__":
    serve(choose, name="greedy", waives_before_draw=True)
