"""Imagines where the hidden cards lie, plays every action out in what it imagines, and takes what comes out best.

That is PIMC, perfect information Monte Carlo: instead of one game with hidden cards, many in which every card is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from math import ceil, log2

from arena.bot import CLAIM, Action, Rules, View, serve
from arena.cards import ACTIONS, hand_mask
from arena.game.deal import Deal
from arena.game.quick import play_on, quick_action
from arena.game.sample import resume_world, world_with
from arena.game.solve import solve

PLAYOUTS = 100
"""How often a deal is played to its end for a decision: its time grows with it, and its strength, but slower."""
SOLVED = 16
"""How many deals of strict play are solved for a decision."""
DOUBT = 0.3
"""What the benefit of the doubt is worth to the action that quick play would choose, in game points: it is not bad, and
what looks a little better after so few deals may just have been lucky."""
CARD_POINT = 0.02
"""What a card point of lead at the end is worth, in game points: it decides where the game points do not."""


def choose(view: View) -> Action:
    if view.sure_of_claim and view.can(CLAIM):
        return CLAIM
    actions = [action for action in view.legal if action != CLAIM]  # to claim wrongly is never better
    if len(actions) == 1:
        return actions[0]
    return best_solved(view, actions) if view.must_follow_strictly else best_played(view, actions)


def imagined(view: View) -> Iterator[Deal]:
    """Deals without end that look the same from our seat, the hidden cards dealt by chance: no two need be alike."""
    for world in view.worlds():
        yield resume_world(view.rules, view.facts, world)


# -- open play: played to the end --------------------------------------------------------------------------------------


def best_played(view: View, actions: Sequence[Action]) -> Action:
    """The action that brings most, on average over imagined deals, when both sides go on quickly but sensibly.

    The worse half of the actions is dropped again and again, so that most deals are played for those that are hard to
    tell apart.  All actions are tried in the same deals: luck in the imagined cards then favours none of them.
    """
    deals = imagined(view)
    totals = dict.fromkeys(actions, 0.0)
    rounds = ceil(log2(len(actions)))
    for _ in range(rounds):
        for deal in islice(deals, PLAYOUTS // rounds // len(actions)):
            totals[ACTIONS[quick_action(deal)]] += DOUBT
            for action in actions:
                totals[action] += lead_after(deal, action, view.my_side)
        actions = sorted(actions, key=lambda action: -totals[action])[: ceil(len(actions) / 2)]
    return actions[0]


def lead_after(start: Deal, action: Action, side: int) -> float:
    """What that side is ahead by, in game points, once the deal is played on from that action."""
    deal = start.copy()
    deal.apply(action)
    outcome = play_on(deal)
    return lead(outcome.points, side) + CARD_POINT * lead(outcome.card_points, side)


def lead(by_side: Sequence[int], side: int) -> int:
    """How much more that side has than the other."""
    return 2 * by_side[side] - sum(by_side)


# -- strict play: solved -----------------------------------------------------------------------------------------------


def best_solved(view: View, actions: Sequence[Action]) -> Action:
    """The action of the highest value against the best play, on average over imagined deals.

    Where the other hand is known there is one deal, and the value is exact.  The other side may err, so of actions
    with equal values that is best which brings more in quick play.
    """
    if view.other_hand is None:
        deals: Iterator[Deal] = islice(imagined(view), SOLVED)
    else:
        world = world_with(view.rules, view.facts, hand_mask(view.other_hand))
        deals = iter([resume_world(view.rules, view.facts, world)])
    totals = dict.fromkeys(actions, 0.0)
    for deal in deals:
        values = solve(deal, all_actions=True).values
        for action in actions:
            totals[action] += values[action] + CARD_POINT * lead_after(deal, action, view.my_side)
    return max(actions, key=lambda action: totals[action])


def for_two(rules: Rules) -> bool:
    """Whether two seats play each deal: only for two there are exact values."""
    return rules.active_seats == 2


if __name__ == "__main__":
    # It thinks for some milliseconds, so it takes one question after another.
    serve(choose, name="pimc", plays=for_two, decisions_at_once=1)
