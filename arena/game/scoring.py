"""What the end of a deal is worth: pure functions that read a deal, every value in game points.

"Class" is the ordinary 1, 2 or 3 of a win: by the losers' card points (the line) and tricks, never by a test for
0 points (a trick can be worth 0).  Card points are points from tricks plus *credited* marriages; pending marriage
points enter neither a class nor the closing snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from arena.game.rules import CloseBeaten, CloseFail, CloseSnapshot, FalseClaim, IllegalPlay, Score

if TYPE_CHECKING:
    from arena.game.deal import Deal


class Termination(StrEnum):
    """How a deal ended."""

    CLAIM = "claim"
    """A seat claimed rightly."""
    REACHED = "reached"
    """The arena noticed that a side had reached the target (`claim = auto`)."""
    FALSE_CLAIM = "false-claim"
    """A seat claimed wrongly."""
    CLOSE_MADE = "close-made"
    """The cards ran out and the closer had reached the target without saying so."""
    CLOSE_FAILED = "close-failed"
    """The cards ran out and the closer had not reached the target (or had to say so and did not)."""
    PLAYED_OUT = "played-out"
    """The cards ran out with an open talon and nobody claimed."""
    FORFEIT = "forfeit"
    """A fault of a bot lost the deal."""


class Outcome(NamedTuple):
    """The result of a deal."""

    termination: Termination
    points: tuple[int, ...]
    """By side: what the deal adds to the match score; all 0 in a draw."""
    card_points: tuple[int, ...]
    """By side: the totals that decided, +10 for the last trick included where it counted."""
    seat: int | None
    """The seat that claimed, closed, took the last trick or committed the fault; see `termination`."""

    @property
    def drawn(self) -> bool:
        """Nobody scored."""
        return not any(self.points)


FORFEITED_CARD_POINTS = 400
"""What a forfeited deal gives to every other side where deals score card points: 120 + 280, the most one holds."""


def class_of(points: Sequence[int], tricks: Sequence[int], losers: Iterable[int], line: int) -> int:
    """1 if any losing side has `line` card points, else 2 if any has a trick, else 3.  [000 "Punteggio" 1-3]

    With several losers the better placed one decides.
    """
    best = 3
    for side in losers:
        if points[side] >= line:
            return 1
        if tricks[side]:
            best = 2
    return best


def claim_value(deal: Deal, side: int) -> int:
    """What a right claim by `side` scores now."""
    rules = deal.game.rules
    losers = deal.opponents(side)
    if deal.closer is None:
        return class_of(deal.points, deal.tricks, losers, rules.class_line)
    if deal.game.table.side_of[deal.closer] == side:
        if rules.close_snapshot is CloseSnapshot.CLOSING:  # [000 "Punteggio" 5]
            return class_of(deal.closed_points, deal.closed_tricks, losers, rules.class_line)
        return class_of(deal.points, deal.tricks, losers, rules.class_line)
    if rules.close_beaten is CloseBeaten.FLAT_2:
        return 2
    return close_fail_value(deal)


def close_fail_value(deal: Deal) -> int:
    """What a failed close scores for each opponent of the closer.  [000 "Punteggio" 6; mirror: 002 "Serratura"]"""
    assert deal.closer is not None
    rules = deal.game.rules
    closing_side = deal.game.table.side_of[deal.closer]
    opponents = deal.opponents(closing_side)
    match rules.close_fail:
        case CloseFail.FLAT_3:
            return 3
        case CloseFail.TWO_OR_THREE:
            return 2 if any(deal.closed_tricks[side] for side in opponents) else 3
        case CloseFail.MIRROR:
            mirrored = class_of(deal.points, deal.tricks, opponents, rules.class_line)
            return max(mirrored, _floor(deal, closing_side))


def false_claim_value(deal: Deal, side: int) -> int:
    """What a false claim by `side` scores for each opponent.  [000 "Punteggio" 4; mirror: 002 "Un giocatore …"]"""
    rules = deal.game.rules
    match rules.false_claim:
        case FalseClaim.CLAIMANT:
            value = 2 if deal.tricks[side] else 3
        case FalseClaim.OPPONENT:
            value = 2 if any(deal.tricks[other] for other in deal.opponents(side)) else 3
        case FalseClaim.FLAT_2:
            value = 2
        case FalseClaim.MIRROR:
            value = max(claim_value(deal, side), _floor(deal, side))
    if deal.closer is not None and deal.game.table.side_of[deal.closer] == side:
        return max(value, close_fail_value(deal))
    if rules.close_snapshot is CloseSnapshot.CLOSING and rules.false_claim is not FalseClaim.FLAT_2:
        return max(value, _floor(deal, side))
    return value


def forfeit_value(deal: Deal, side: int) -> int:
    """What a fault of `side` scores for each opponent: never less than losing in another way would have."""
    rules = deal.game.rules
    value = 3 if rules.illegal_play is IllegalPlay.FORFEIT_3 or not deal.tricks[side] else 2
    value = max(value, _floor(deal, side))
    if deal.closer is not None and deal.game.table.side_of[deal.closer] == side:
        return max(value, close_fail_value(deal))
    return value


def _floor(deal: Deal, side: int) -> int:
    """The most that a right claim of an opponent would score, after a close by the snapshot.

    Losing on purpose must not pay.
    """
    rules = deal.game.rules
    if deal.closer is not None and rules.close_snapshot is CloseSnapshot.CLOSING:
        points, tricks = deal.closed_points, deal.closed_tricks
    else:
        points, tricks = tuple(deal.points), tuple(deal.tricks)
    line = rules.class_line
    return max(class_of(points, tricks, deal.opponents(other), line) for other in deal.opponents(side))


def pay(deal: Deal, winners: Iterable[int], value: int) -> tuple[int, ...]:
    """The points by side when each of `winners` scores `value`."""
    points = [0] * deal.game.table.sides
    for side in winners:
        points[side] = value
    return tuple(points)


def forfeit_points(deal: Deal, side: int) -> tuple[int, ...]:
    """The points by side when a fault of `side` loses the deal."""
    scores_cards = deal.game.rules.score is Score.CARD_POINTS
    value = FORFEITED_CARD_POINTS if scores_cards else forfeit_value(deal, side)
    return pay(deal, deal.opponents(side), value)
