"""Many deals at once: what learning needs most is many decisions, and arrays are fast only if they are long."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arena.errors import UsageError
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.notation import format_outcome
from arena.game.position import format_position, position_of
from arena.game.rules import Rules
from arena.rl.encoding import Encoder, Floats, Numbers, Observations


class Deals:
    """N deals in play; each that ends makes room for a new one.  The same `seed` deals the same cards."""

    def __init__(self, rules: Rules, count: int, *, seed: int) -> None:
        """Raises `UsageError` unless `count` is 1 or more."""
        if count < 1:
            raise UsageError(f"{count} deals at once are too few; expected 1 or more")
        self.encoder = Encoder(rules)
        self._rng = np.random.default_rng(seed)
        self.deals = [self._fresh() for _ in range(count)]

    @property
    def seats(self) -> Numbers:
        """[N]: the seats to act."""
        return np.array([deal.to_act for deal in self.deals])

    def observe(self) -> Observations:
        """What the seat to act sees in each deal."""
        return self.encoder.observe([deal.view(seat) for deal, seat in zip(self.deals, self.seats, strict=True)])

    def step(self, actions: Sequence[int] | Numbers) -> dict[int, Floats]:
        """Do one action, by number, in each deal.

        Returns, for each deal that ended, by its index, the seats' `returns` [P]; a new deal is there in its place.
        Raises `IllegalAction` where an action is not legal.
        """
        ended: dict[int, Floats] = {}
        for index, (deal, action) in enumerate(zip(self.deals, actions, strict=True)):
            deal.apply(int(action))
            if deal.outcome is not None:
                ended[index] = returns(deal)
                self.deals[index] = self._fresh()
        return ended

    def _fresh(self) -> Deal:
        return shuffled(self.encoder.game, self._rng)


def shuffled(game: Game, rng: np.random.Generator) -> Deal:
    """A new deal by any dealer."""
    deck = [game.cards[place] for place in rng.permutation(len(game.cards))]
    return game.deal(deck, dealer=int(rng.integers(game.table.seats)))


def returns(deal: Deal) -> Floats:
    """[P]: what each seat's side is ahead by when the deal is over: its points less the mean of its opponents'.

    They add up to 0 over the sides.  A seat that sits out gets 0.
    """
    assert deal.outcome is not None
    points = deal.outcome.points
    ahead = np.zeros(deal.game.table.seats, np.float32)
    for seat in deal.order:
        side = deal.game.side_of[seat]
        ahead[seat] = points[side] - np.mean([points[other] for other in deal.opponents(side)])
    return ahead


def as_text(deal: Deal) -> str:
    """The whole deal for people, hidden cards and all, or how it ended."""
    if deal.outcome is not None:
        return format_outcome(deal.outcome)
    return format_position(deal.game, position_of(deal))
