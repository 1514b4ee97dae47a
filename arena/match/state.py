"""The score of a match between deals: who deals next, what a draw carries over, when it is over, who ranks where."""

from __future__ import annotations

from arena.game.rules import DealRotation, Rules, Score, Tie
from arena.game.scoring import Outcome, Termination
from arena.game.table import Table

MAX_DEALS = 100
"""A match that is not over after this many deals ends as it stands."""


class MatchState:
    """The running score of one match."""

    __slots__ = ("carry", "deal", "dealer", "forfeited_by", "rules", "score", "table")

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.table = Table.of(rules)
        self.dealer = self.table.first_dealer
        self.deal = 1
        self.carry = 0
        self.score: tuple[int, ...] = (0,) * self.table.sides
        self.forfeited_by: int | None = None
        """The side that lost the match by a fault."""

    @property
    def over(self) -> bool:
        """The target is reached (equal totals of 1001 play on), a side has forfeited, or the deals are used up."""
        if self.forfeited_by is not None or self.deal > MAX_DEALS:
            return True
        top = max(self.score)
        if top < self.rules.match_target:
            return False
        return self.rules.score is not Score.CARD_POINTS or self.score.count(top) == 1

    def add(self, outcome: Outcome) -> tuple[int, ...]:
        """Count a finished deal; returns what it added to the score by side, the carry included."""
        added = outcome.points
        rules = self.rules
        if outcome.drawn:
            if rules.tie is Tie.DRAW_CARRY and outcome.termination is Termination.PLAYED_OUT:
                self.carry += 1
        else:
            if self.carry:
                added = tuple(points + self.carry if points else 0 for points in added)
                self.carry = 0
            self.dealer = self._next_dealer(outcome)
        self.score = tuple(have + more for have, more in zip(self.score, added, strict=True))
        self.deal += 1
        return added

    def forfeit(self, side: int) -> None:
        """A fault of `side` loses the match; with two sides the other is set to the target."""
        self.forfeited_by = side
        if self.table.sides == 2:
            self.score = tuple(
                have if index == side else max(have, self.rules.match_target) for index, have in enumerate(self.score)
            )

    @property
    def final_points(self) -> tuple[int, ...]:
        """The score by side capped at the target: a surplus means nothing."""
        if self.rules.score is Score.CARD_POINTS:
            return self.score
        return tuple(min(points, self.rules.match_target) for points in self.score)

    @property
    def ranks(self) -> tuple[int, ...]:
        """The rank of each side, 1 is first; equal capped points share a rank; who forfeited ranks last."""
        keys = [
            (index != self.forfeited_by, points if index != self.forfeited_by else 0)
            for index, points in enumerate(self.final_points)
        ]
        return tuple(1 + sum(other > key for other in keys) for key in keys)

    def _next_dealer(self, outcome: Outcome) -> int:
        match self.rules.deal_rotation:
            case DealRotation.WINNER:
                winner = max(range(self.table.sides), key=lambda side: outcome.points[side])
                return self.table.members[winner][0]
            case DealRotation.ALTERNATE | DealRotation.CLOCKWISE:
                return self.table.next_seat(self.dealer)
