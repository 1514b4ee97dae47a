"""A bot that answers at once: its lowest card, and "go on" where no card is asked for."""

from arena.bot import View, serve
from arena.cards import Action


def choose(view: View) -> Action:
    first = view.legal[0]
    return first if first.card else view.legal[-1]


serve(choose)
