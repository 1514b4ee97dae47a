"""The rules engine alone: random deals with view, legal list and record on.

What a deal and a card of it cost is told in passes of the bare loop `x += i * i`.
"""

from __future__ import annotations

import random
import statistics
import time

from arena.cards import CLAIM, CLOSE, GO_ON, actions_of
from arena.game.game import Game
from arena.game.presets import PRESETS
from arena.game.rules import Rules
from arena.game.views import DecisionPoint
from arena.match.record import DealRecord
from bench.calibrate import pass_seconds


def measure(rules: Rules, deals: int, rounds: int = 5) -> dict[str, float]:
    """The medians over `rounds` of what a deal, and a card of it, costs under the policy of the sample bot `random`."""
    by_deal = []
    by_card = []
    for number in range(rounds):
        unit = pass_seconds(1_000_000)
        start = time.process_time()
        records = _play(Game(rules), deals, random.Random(number))
        passes = (time.process_time() - start) / unit
        by_deal.append(passes / deals)
        by_card.append(passes / sum(action <= 32 for record in records for action in record.actions))
    return {
        "passes_per_deal": round(statistics.median(by_deal), 1),
        "passes_per_card": round(statistics.median(by_card), 1),
    }


def _play(game: Game, deals: int, rng: random.Random) -> list[DealRecord]:
    cards = list(game.cards)
    target = game.rules.target
    side_of = game.table.side_of
    records = []
    for number in range(deals):
        rng.shuffle(cards)
        dealer = number % game.table.seats
        deal = game.deal(cards, dealer)
        while (seat := deal.to_act) is not None:
            if deal.point is DecisionPoint.BEFORE_DRAW:  # the bot waives it: the referee goes on without asking
                deal.apply(GO_ON)
                continue
            view = deal.view(seat)
            legal = actions_of(view.legal)
            if view.legal >> CLAIM & 1 and view.points[side_of[seat]] >= target:
                deal.apply(CLAIM)
            elif legal[-1] is GO_ON and legal[0] is CLAIM:
                deal.apply(GO_ON)
            else:  # closing and claiming come last, and are never chosen
                count = len(legal) - (view.legal >> CLOSE & 3).bit_count()
                deal.apply(legal[int(rng.random() * count)])
        outcome = deal.outcome
        assert outcome is not None and outcome.seat is not None
        records.append(
            DealRecord(
                dealer,
                deal.past_actions,
                outcome.termination,
                outcome.seat,
                outcome.points,
                outcome.card_points,
            )
        )
    return records


def run(quick: bool) -> dict[str, dict[str, float]]:
    """`{preset: {"passes_per_deal": ..., "passes_per_card": ...}}` for every preset."""
    deals = 200 if quick else 2000
    return {name: measure(rules, deals) for name, rules in PRESETS.items()}
