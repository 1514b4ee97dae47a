"""A bot without any thought: always the same action, whatever is asked."""

from arena.bot import View, serve
from arena.cards import ACTIONS, Action


def choose(view: View) -> Action:
    return ACTIONS[8]


serve(choose)
