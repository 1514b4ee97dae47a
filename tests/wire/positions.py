"""Random deals of every kind of rules: every state in which a seat is asked."""

from __future__ import annotations

import random
from collections.abc import Iterator

from arena.cards import CLAIM
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.rules import Rules
from arena.game.views import View


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
