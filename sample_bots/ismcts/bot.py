"""Grows one tree of what both sides may do, whatever the hidden cards are, and walks it most where it does best.

That is ISMCTS, information set Monte Carlo tree search (Cowling, Powley and Whitehouse, 2012), by a single observer.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import repeat
from math import sqrt

from arena.bot import CLAIM, Action, Rules, View, serve
from arena.cards import ACTIONS, hand_mask
from arena.game.deal import Deal
from arena.game.quick import play_on, quick_action
from arena.game.sample import resume_world, world_with
from arena.game.solve import solve

BUDGET_MS = 50
"""What a decision may take, in CPU time of this thread: so what else the machine does makes it no weaker."""
CURIOSITY = 1.0
"""How much actions that were seldom tried are preferred."""
QUICK = 0.5
"""The part of the curiosity that goes to what quick play would do."""
CAUTION = 0.1
"""How much less than the others so far an action is expected to bring that was never tried."""
CARD_POINT = 0.02
"""What a card point of lead at the end is worth, in game points."""
MOST = 3
"""Game points that a deal can bring: rewards are divided by it, as `CURIOSITY` is for rewards around 1."""


class Node:
    """A place in the tree: what has been done since the root.  Which cards are hidden where is no part of it."""

    __slots__ = ("children", "possible", "total", "walks")

    def __init__(self) -> None:
        self.children: dict[Action, Node] = {}
        self.walks = 0
        """How many walks came through here."""
        self.total = 0.0
        """What they brought the side that chose to come here."""
        self.possible = 1
        """How many could have come here: in some worlds a seat does not hold the card, or may not play it."""


def choose(view: View, iterations: int = 0) -> Action:
    """`iterations` stand in for the time: then no clock is read, and the same decision is always answered alike."""
    if view.sure_of_claim and view.can(CLAIM):
        return CLAIM
    actions = [action for action in view.legal if action != CLAIM]  # to claim wrongly is never better
    if len(actions) == 1:
        return actions[0]
    if view.must_follow_strictly and view.other_hand is not None:
        return endgame(view, actions)
    root = Node()
    worlds = view.worlds()
    for _ in repeat(None, iterations) if iterations else until_time_is_up():
        # Each walk is in a world of its own.  What would be good in one world only does not last in the tree.
        walk(root, resume_world(view.rules, view.facts, next(worlds)))
    return max(root.children, key=lambda action: root.children[action].walks)


def until_time_is_up() -> Iterator[None]:
    """Again and again, as long as the budget lasts, and once at least."""
    end = time.thread_time() + BUDGET_MS / 1000
    yield
    while time.thread_time() < end:
        yield


def walk(root: Node, deal: Deal) -> None:
    """Follow what is promising to a new node, play on quickly from there, and tell all nodes on the way the result."""
    node = root
    path: list[tuple[Node, int]] = []
    is_new = False
    while deal.to_act is not None and not is_new:
        side = deal.game.side_of[deal.to_act]
        actions = candidates(deal, side)
        action = actions[0] if len(actions) == 1 else most_promising(node, deal, actions)
        is_new = action not in node.children
        node = node.children.setdefault(action, Node())
        path.append((node, side))
        deal.apply(action)
    play_on(deal)
    for node, side in path:
        node.walks += 1
        node.total += reward(deal, side)


def most_promising(node: Node, deal: Deal, actions: Sequence[Action]) -> Action:
    """The action that brought most on average, with something on top for what was seldom tried: PUCT.

    Half of the curiosity goes to what quick play would do, which is seldom bad, the rest to all others evenly.
    """
    quick = ACTIONS[quick_action(deal)]
    walks = sum(child.walks for child in node.children.values())
    average = sum(child.total for child in node.children.values()) / max(1, walks)

    def promise(action: Action) -> float:
        share = QUICK if action == quick else (1 - QUICK) / (len(actions) - 1)
        child = node.children.get(action)
        if child is None:
            return average - CAUTION + CURIOSITY * share * sqrt(walks + 1)
        return child.total / child.walks + CURIOSITY * share * sqrt(child.possible) / (1 + child.walks)

    for action in actions:
        if action in node.children:
            node.children[action].possible += 1
    return max(actions, key=promise)


def candidates(deal: Deal, side: int) -> Sequence[Action]:
    """The actions worth a thought: a claim that is right is the only one, one that is wrong is none."""
    legal = deal.legal_actions
    if CLAIM not in legal:
        return legal
    if deal.points[side] >= deal.game.rules.target:
        return (CLAIM,)
    return [action for action in legal if action != CLAIM]


def reward(deal: Deal, side: int) -> float:
    """What the finished deal brought that side more than the other: 1 is as much as can be."""
    assert deal.outcome is not None
    points, card_points = deal.outcome.points, deal.outcome.card_points
    return (lead(points, side) + CARD_POINT * lead(card_points, side)) / MOST


def lead(by_side: Sequence[int], side: int) -> int:
    """How much more that side has than the other."""
    return 2 * by_side[side] - sum(by_side)


def endgame(view: View, actions: Sequence[Action]) -> Action:
    """Nothing is hidden: the action of the highest exact value, of equals that which brings most in quick play."""
    assert view.other_hand is not None
    start = resume_world(view.rules, view.facts, world_with(view.rules, view.facts, hand_mask(view.other_hand)))
    values = solve(start, all_actions=True).values

    def quickly(action: Action) -> float:
        deal = start.copy()
        deal.apply(action)
        play_on(deal)
        return reward(deal, view.my_side)

    return max(actions, key=lambda action: (values[action], quickly(action)))


def for_two(rules: Rules) -> bool:
    """Whether two seats play each deal: only for two there are exact values."""
    return rules.active_seats == 2


if __name__ == "__main__":
    words = argparse.ArgumentParser(add_help=False)
    words.add_argument("--iterations", type=int, default=0)
    given, _ = words.parse_known_args()
    # It thinks for long, so it takes one question after another.
    serve(partial(choose, iterations=given.iterations), name="ismcts", plays=for_two, decisions_at_once=1)
