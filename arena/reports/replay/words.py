"""What happens in a deal, in words: from what everybody sees alone, so that no caption tells a hidden card."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

from arena.cards import CARD_POINTS, CARDS, CLAIM, CLOSE, EXCHANGE, Action, Suit
from arena.game.scoring import Termination
from arena.game.table import Table
from arena.game.views import DecisionPoint, View
from arena.match.record import OpenDeal, Scene
from arena.reports.counting import counted
from arena.reports.foreign import printable

_SYMBOLS = {Suit.SPADES: "♠", Suit.HEARTS: "♥", Suit.DIAMONDS: "♦", Suit.CLUBS: "♣"}


@dataclass(frozen=True, slots=True)
class Cast:
    """What everybody is called, harmless on any terminal."""

    table: Table
    seats: tuple[str, ...]
    """By seat: its bot, with the seat where the bot has another one too."""
    sides: tuple[str, ...]
    """By side: its bots."""

    @classmethod
    def of(cls, bots: Sequence[str], table: Table) -> Cast:
        """The cast of a match, from the bot of each seat."""
        seats = tuple(
            printable(name) + (f" (seat {seat})" if bots.count(name) > 1 else "") for seat, name in enumerate(bots)
        )
        return cls(table, seats, tuple(_side(members, bots, seats) for members in table.members))

    def scored(self, points: Sequence[int]) -> str:
        """`greedy +2`, or that nobody scores."""
        scores = (f"{side} +{added}" for side, added in zip(self.sides, points, strict=True) if added)
        return ", ".join(scores) or "nobody scores"


def _side(members: Sequence[int], bots: Sequence[str], seats: Sequence[str]) -> str:
    """Partners of one bot are called as that, all others by their seats."""
    names = {bots[seat] for seat in members}
    return printable(*names) if len(names) == 1 < len(members) else " and ".join(seats[seat] for seat in members)


def card(number: int) -> str:
    """`10♠`."""
    return f"{CARDS[number].rank.replace('T', '10')}{_SYMBOLS[CARDS[number].suit]}"


def cards(numbers: Iterable[int]) -> str:
    """`A♠ 10♠`."""
    return " ".join(map(card, numbers))


def suit(trump: Suit) -> str:
    """`♠`."""
    return _SYMBOLS[trump]


def action(action: Action) -> str:
    """`10♠`, `marriage ♥`, `close`."""
    if action.card is not None:
        return card(action.card)
    return f"marriage {suit(action.marriage)}" if action.marriage is not None else str(action).replace("-", " ")


def dashed(numbers: Iterable[int]) -> str:
    """`41-7`."""
    return "-".join(map(str, numbers))


def reason(termination: Termination, seat: int | None, cast: Cast) -> str:
    """Why a deal ended."""
    who = "nobody" if seat is None else cast.seats[seat]
    match termination:
        case Termination.CLAIM:
            return f"{who} claims rightly"
        case Termination.REACHED:
            return f"{who} has reached the target"
        case Termination.FALSE_CLAIM:
            return f"{who} claims wrongly"
        case Termination.CLOSE_MADE:
            return f"{who} closed and made it"
        case Termination.CLOSE_FAILED:
            return f"{who} closed and failed"
        case Termination.PLAYED_OUT:
            return f"{who} takes the last trick"
        case Termination.FORFEIT:
            return f"{who} loses by a fault"
        case _:
            assert_never(termination)


def ending(deal: OpenDeal, cast: Cast) -> str:
    """`greedy claims rightly (66-31): greedy +2; the score is 4-1`."""
    outcome = deal.outcome
    why = reason(outcome.termination, outcome.seat, cast)
    return f"{why} ({dashed(outcome.card_points)}): {cast.scored(deal.points)}; the score is {dashed(deal.score)}"


def caption(scene: Scene, after: Scene, cast: Cast) -> str:
    """What the seat that is asked does, and what comes of it."""
    before = scene.asked
    assert before is not None, "nobody acts at the end of a deal"
    done = scene.action
    who, side = cast.seats[before.seat], cast.table.side_of[before.seat]
    now = after.views[before.seat]
    if done is None:
        return f"{who} fails to answer by the rules"
    if done.card is not None:
        return _play(before, done, now, cast) + _drawn(before, now, cast)
    if done.marriage is not None:
        return f"{who} declares the marriage in {suit(done.marriage)}: {_marriage(before, now, side)}"
    if done == EXCHANGE:
        return f"{who} takes {card(before.turn_up)} for {card(now.turn_up)}"
    if done == CLOSE:
        others = cast.table.opponents[before.dealer][side]
        tricks = ", ".join(f"{cast.sides[other]} has {_tricks(before.tricks[other])}" for other in others)
        return f"{who} closes with {counted(before.points[side], 'point')}; {tricks}"
    if done == CLAIM:
        return f"{who} claims with {counted(before.points[side], 'point')}"
    match before.point:
        case DecisionPoint.BEFORE_DRAW:
            return f"{who} leaves the talon open" + _drawn(before, now, cast)
        case DecisionPoint.ON_CLOSE:
            return f"{who} leaves the turn-up"
        case _:
            return f"{who} does not claim"


def _play(before: View, done: Action, now: View, cast: Cast) -> str:
    who, side = cast.seats[before.seat], cast.table.side_of[before.seat]
    if not before.table:
        led = f"{who} leads {action(done)}"
        declared = _total(now, side) - _total(before, side)
        return f"{led} and declares the marriage: {_marriage(before, now, side)}" if declared else led
    played = f"{who} plays {action(done)}"
    if len(now.winners) == len(before.winners):
        return played
    winner = now.winners[-1]
    taker = cast.table.side_of[winner]
    takes = f"{played} and takes" if winner == before.seat else f"{played}; {cast.seats[winner]} takes"
    points = sum(CARD_POINTS[each] for each in (*before.table, done))
    marriage = before.pending[taker] - now.pending[taker]
    last = now.points[taker] - before.points[taker] - points - marriage
    extra = f" and {marriage} for the marriage" if marriage else ""
    extra += f" and {last} for the last one" if last else ""
    return f"{takes} the trick, {counted(points, 'point')}{extra}"


def _marriage(before: View, now: View, side: int) -> str:
    value = f"{_total(now, side) - _total(before, side)} points"
    if now.pending[side] > before.pending[side]:
        value += ", which count with the lead" if now.tricks[side] else ", which count with the first trick"
    return f"{value}; {suit(Suit(now.trump))} is trump now" if now.trump != before.trump else value


def _total(view: View, side: int) -> int:
    return view.points[side] + view.pending[side]


def _drawn(before: View, now: View, cast: Cast) -> str:
    """That the last cards of the talon have been drawn."""
    each = len(cast.table.orders[before.dealer][before.leader])
    return "; the talon is used up" if now.talon < each <= before.talon else ""


def _tricks(count: int) -> str:
    return counted(count, "trick") if count else "no trick"
