"""Takes what it can get now and never thinks of the next trick.  README.md says the same as numbered rules."""

from arena.bot import CLAIM, DECLARE, EXCHANGE, GO_ON, Action, Card, View, serve


def choose(view: View) -> Action | Card:
    if view.sure_of_claim and view.can(CLAIM):
        return CLAIM
    if view.can(EXCHANGE):
        return EXCHANGE
    if view.marriages:
        # The royal marriage counts 40, any other 20.
        return DECLARE[view.trump if view.trump in view.marriages else view.marriages[0]]
    if view.can(GO_ON):
        return GO_ON
    return follow(view) if view.table else lead(view)


def lead(view: View) -> Card:
    """In open play anybody can ruff, so nothing of worth is led; in strict play the others have to follow suit."""
    if view.must_follow_strictly:
        return max(view.plays, key=lambda card: (card.points, card))
    return cheapest(view)


def follow(view: View) -> Card:
    """Take the trick high in its suit; ruff it low if an ace or a ten is in it; else throw away what costs least."""
    takers = [card for card in view.plays if view.takes(card)]
    in_suit = [card for card in takers if card.suit is view.table[0].suit]
    if in_suit:
        return max(in_suit)
    if takers and sum(card.points for card in view.table) >= 10:
        return min(takers)
    return cheapest(view)


def cheapest(view: View) -> Card:
    """Plain cards before trumps, then fewer points, then the lower number: every choice has one answer."""
    return min(view.plays, key=lambda card: (card.suit is view.trump, card.points, card))


if __name__ == "__main__":
    # It always goes on before the draw, so that it need not be asked there.
    serve(choose, name="greedy", waives_before_draw=True)
