"""mybot: a bot for Sixty-Six.  `choose` is asked for every action; change it as you like."""

from arena.bot import CLAIM, DECLARE, EXCHANGE, GO_ON, Action, Card, View, serve


def choose(view: View) -> Action | Card:
    """One of `view.legal`.  Your editor lists what a view knows after `view.`."""
    if view.sure_of_claim and view.can(CLAIM):
        return CLAIM
    if view.can(EXCHANGE):
        return EXCHANGE
    if view.marriages:
        return DECLARE[view.marriages[0]]
    if view.can(GO_ON):
        return GO_ON
    if view.table:
        takers = [card for card in view.plays if view.takes(card)]
        if takers and sum(card.points for card in view.table) >= 10:
            return min(takers, key=cost)
    return min(view.plays, key=cost)


def cost(card: Card) -> tuple[int, Card]:
    """Fewer points first; of equals the lower card."""
    return card.points, card


if __name__ == "__main__":
    serve(choose, name="mybot", version="0.1")
