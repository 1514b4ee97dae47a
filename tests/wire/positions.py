"""Random deals of every kind of rules: every state in which a seat is asked."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from arena.cards import CLAIM
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.presets import PRESETS
from arena.game.rules import Rules
from arena.game.views import View

TABLES: Mapping[str, Rules] = {
    "three seats, the dealer out": Rules().with_options(
        {"seating": "dealer_out", "seats": 3, "deal_rotation": "clockwise"}
    ),
    "three seats, each for itself": PRESETS["sessantasei-32"].with_options(
        {"seating": "free_for_all", "seats": 3, "hand": 7, "deal_rotation": "clockwise", "close_min_talon": 5}
    ),
    "partners, the dealer's card": Rules().with_options(
        {
            "seating": "partners",
            "seats": 4,
            "trump_source": "dealer_card",
            "deal_rotation": "clockwise",
            "exchange": "off",
            "close": "off",
            "marriage_phase": "any",
        }
    ),
    "partners, two packs": PRESETS["sessantasei-32"].with_options(
        {
            "deck": 48,
            "hand": 7,
            "seating": "partners",
            "seats": 4,
            "deal_rotation": "clockwise",
            "target": 101,
            "class_line": 51,
            "close_min_talon": 4,
        }
    ),
    "1001, no trump at first": Rules().with_options(
        {
            "hand": 8,
            "trump_source": "marriage",
            "exchange": "off",
            "close": "off",
            "claim": "off",
            "marriage": "pending",
            "marriage_phase": "any",
            "marriage_values": "by_suit",
            "last_trick": "none",
            "score": "card_points",
            "match_target": 1001,
        }
    ),
}
RULES: Mapping[str, Rules] = {**PRESETS, **TABLES}


def asked(rules: Rules, deals: int, seed: int = 1) -> Iterator[Deal]:
    """Every state of some random deals in which a seat is asked; the deals are played on by whoever iterates."""
    rng = random.Random(seed)
    game = Game(rules)
    sides = game.table.sides
    for number in range(deals):
        deck = list(game.cards)
        rng.shuffle(deck)
        score = tuple(rng.randrange(rules.match_target) for _ in range(sides))
        deal = game.deal(deck, dealer=rng.randrange(rules.seats), score=score, carry=number % 3)
        while deal.to_act is not None:
            yield deal
            # A claim ends the deal: seldom, so that most deals reach their end.
            legal = [a for a in deal.legal_actions if a != CLAIM or rng.random() < 0.02]
            deal.apply(rng.choice(legal))


def questions(rules: Rules, deals: int, seed: int = 1) -> Iterator[View]:
    """The views of the seats that are asked."""
    for deal in asked(rules, deals, seed):
        assert deal.to_act is not None
        yield deal.view(deal.to_act)
