"""The rules engine alone: random deals with view, legal list and record on.

What a deal and a card of it cost is told in passes of the bare loop `x += i * i`, which is timed again before every
few hundred deals: a machine changes its pace.  Decks come to the engine shuffled, and are made beforehand.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterable, Sequence

from arena.cards import CLAIM, CLOSE, GO_ON, actions_of
from arena.game.deal import AFTER_LAST_TRICK_BITS
from arena.game.game import Game
from arena.game.presets import PRESETS
from arena.game.rules import Rules
from arena.game.views import DecisionPoint
from arena.match.record import DealRecord
from bench.calibrate import pass_seconds

BEFORE_DRAW = DecisionPoint.BEFORE_DRAW
CLAIM_BIT = 1 << CLAIM
CHANCES = ~(1 << CLOSE | CLAIM_BIT)
"""The actions that are left to chance."""


def measure(rules: Rules, deals: int, rounds: int = 25) -> dict[str, float]:
    """The medians over `rounds` of what a deal, and a card of it, costs under the policy of the sample bot `random`."""
    game = Game(rules)
    by_deal = []
    by_card = []
    for number in range(rounds):
        rng = random.Random(number)
        decks = [rng.sample(game.cards, rules.deck) for _ in range(deals)]
        unit = pass_seconds(100_000)
        start = time.process_time()
        records = _play(game, decks, rng)
        passes = (time.process_time() - start) / unit
        by_deal.append(passes / deals)
        by_card.append(passes / sum(action <= 32 for record in records for action in record.actions))
    return {
        "passes_per_deal": round(statistics.median(by_deal), 1),
        "passes_per_card": round(statistics.median(by_card), 1),
    }


def _play(game: Game, decks: Iterable[Sequence[int]], rng: random.Random) -> list[DealRecord]:
    target = game.rules.target
    side_of = game.table.side_of
    chance = rng.random
    records = []
    for number, deck in enumerate(decks):
        dealer = number % game.table.seats
        deal = game.deal(deck, dealer)
        while (seat := deal.to_act) is not None:
            if deal.point is BEFORE_DRAW:  # the bot waives it: the referee goes on without asking
                deal.apply(GO_ON)
                continue
            view = deal.view(seat)
            mask = view.legal
            legal = actions_of(mask)
            if mask & CLAIM_BIT and view.points[side_of[seat]] >= target:
                deal.apply(CLAIM)
            elif mask == AFTER_LAST_TRICK_BITS:
                deal.apply(GO_ON)
            else:  # closing and claiming come last, and are never chosen
                deal.apply(legal[int(chance() * (mask & CHANCES).bit_count())])
        outcome = deal.outcome
        assert outcome is not None
        records.append(DealRecord.of(deal, outcome.points))
    return records


def run(quick: bool) -> dict[str, dict[str, float]]:
    """`{preset: {"passes_per_deal": ..., "passes_per_card": ...}}` for every preset."""
    deals = 50 if quick else 400
    return {name: measure(rules, deals) for name, rules in PRESETS.items()}
