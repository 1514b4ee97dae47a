"""Recorded decisions: every question of seeded deals, and how the Python greedy answers it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from arena.bot import Match, View
from arena.cards import ACTIONS, CLAIM, Action
from arena.game.game import Game
from arena.game.presets import PRESETS
from arena.wire import codec
from bench.strength import load

TOTAL = 10_000
_greedy = load("greedy")


@dataclass(frozen=True, slots=True)
class Recorded:
    """One question of a deal, as it goes over the wire, and the answer to it."""

    id: int
    started: bytes
    """The framed start of its match, which tells whose side the seat is on."""
    question: bytes
    """The framed decision."""
    answer: Action
    shown: str
    """The view in words, for whoever has to find out why another answer came."""


def of_preset(name: str, count: int = -(-TOTAL // len(PRESETS))) -> list[Recorded]:
    """So many decisions of one preset, always the same.  Greedy and chance play the deals on in turn: all that can be
    asked comes up, claims and closed talons among it, and no deal is as tame as greedy alone would play it."""
    decisions = _decisions(name, random.Random(f"languages {name}"))
    return [next(decisions) for _ in range(count)]


def _decisions(name: str, rng: random.Random) -> Iterator[Recorded]:
    rules = PRESETS[name]
    game = Game(rules)
    number = id = 0
    while True:
        number += 1
        deck = list(game.cards)
        rng.shuffle(deck)
        score = tuple(rng.randrange(rules.match_target) for _ in range(game.table.sides))
        deal = game.deal(deck, dealer=rng.randrange(rules.seats), score=score, carry=number % 3)
        while deal.to_act is not None:
            id += 1
            seat = deal.to_act
            facts = deal.view(seat)
            match_id = f"{number}/{seat}"
            view = View.of(Match(id=match_id, rules=rules, seat=seat), facts)
            answer = ACTIONS[_greedy(view)]
            yield Recorded(
                id,
                codec.match_started(match_id, seat, game.side_of, rng.randbytes(32), limit_ms=0, bank_ms=0),
                codec.decision(facts, match_id=match_id, id=id, deal=1, time_left_ms=0, last_took_ms=0),
                answer,
                repr(view),
            )
            # A claim ends the deal: by chance it comes seldom, so that most deals reach their end.
            by_chance = rng.choice([action for action in view.legal if action != CLAIM or rng.random() < 0.02])
            deal.apply(rng.choice((answer, by_chance)))
