"""A recorded match step by step: what an onlooker sees of each moment, with all cards open or from one seat.

`sight` is the only window.  From a seat it reads that seat's view of the moment and no other hidden thing, so that two
deals which differ only in what the seat cannot know are the same to look at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from arena.cards import CARDS, Action, Card, Suit, actions_of, hand_cards
from arena.game.rules import Rules
from arena.game.sample import view_is_open
from arena.game.scoring import Outcome
from arena.game.table import Table
from arena.game.views import DecisionPoint, View
from arena.match.record import OpenDeal, Scene, Status
from arena.match.summary import MatchKey
from arena.reports.replay import words
from arena.reports.replay.words import Cast
from arena.reports.times import DecisionTime


@dataclass(frozen=True, slots=True)
class DealReplay:
    """A deal, and what was observed of its decisions."""

    open: OpenDeal
    times: tuple[DecisionTime | None, ...]
    """One for each decision; None where the seat was not asked (it had waived that) or nobody measured."""
    fault: str = ""
    """The label of the fault that ended it, if one did."""
    evidence: str = ""
    """Of that fault."""

    @property
    def steps(self) -> int:
        """Its decisions, and its end."""
        return len(self.open.scenes)


@dataclass(frozen=True, slots=True)
class MatchReplay:
    """A match to be looked at."""

    run: str
    key: MatchKey
    position: int
    """Its place in the schedule of its epoch, from 0."""
    rules_name: str
    rules: Rules
    seats: tuple[str, ...]
    """The bot of each seat."""
    status: Status
    points: tuple[int, ...]
    """The final score by side."""
    ranks: tuple[int, ...]
    deals: tuple[DealReplay, ...]

    @property
    def table(self) -> Table:
        return Table.of(self.rules)

    @property
    def cast(self) -> Cast:
        """What everybody is called."""
        return Cast.of(self.seats, self.table)


@dataclass(frozen=True, slots=True)
class Hand:
    """The cards of a seat, as far as they are seen."""

    cards: tuple[Card, ...]
    hidden: int
    """How many more there are, face down."""


@dataclass(frozen=True, slots=True)
class Played:
    """A card on the table."""

    seat: int
    card: Card


@dataclass(frozen=True, slots=True)
class Trick:
    """A finished trick."""

    cards: tuple[Played, ...]
    """In the order played."""
    winner: int


@dataclass(frozen=True, slots=True)
class Choice:
    """An action that was legal."""

    action: Action
    chosen: bool
    value: int | None
    """What it is worth to the seat in game points where both play their best with all cards open; None: unknown."""


@dataclass(frozen=True, slots=True)
class Sight:
    """One moment of a deal, before a decision or at the end: everything that a picture of it needs."""

    deal: int
    """The deal's number in the match, from 1."""
    step: int
    """Which moment of the deal, from 1; the last one is its end."""
    steps: int
    """How many the deal has."""
    viewer: int | None
    """The seat whose point of view it is; None where all cards are open."""
    dealer: int
    order: tuple[int, ...]
    """The seats that play this deal, clockwise from the leader of the trick."""
    asked: int | None
    """The seat that is asked; None at the end."""
    point: DecisionPoint | None
    """What it is asked; None where that is not seen."""
    choices: tuple[Choice, ...]
    """The legal actions; empty where they are not seen."""
    action: Action | None
    """What the seat then did; None where it failed, and at the end."""
    hands: tuple[Hand, ...]
    """By seat."""
    talon: tuple[Card | None, ...]
    """The undrawn cards, the next one first; None is a card face down."""
    turn_up: Card | None
    trump: Suit | None
    table: tuple[Played, ...]
    """The trick in play."""
    tricks: tuple[Trick, ...]
    """The finished tricks of the deal, in order."""
    points: tuple[int, ...]
    """Card points by side."""
    pending: tuple[int, ...]
    """Marriage points by side that do not count yet."""
    tricks_won: tuple[int, ...]
    """By side."""
    closer: int | None
    score: tuple[int, ...]
    """The match score by side before the deal."""
    carry: int
    """What earlier draws add for the winner of the deal."""
    outcome: Outcome | None
    """None before the end."""
    time: DecisionTime | None
    fault: str
    """The label of the fault that the decision was; empty if it was none, and for eyes that may not know."""
    evidence: str
    """Of that fault."""
    caption: str
    """What happens now, in words."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What a bot would do now at a decision of the match."""

    bot: str
    action: Action | None
    """None where its answer is a fault."""
    took_ms: float
    """What it was charged."""
    fault: str
    """The label of the fault; empty if it is none."""
    evidence: str
    """Of the fault."""
    output: str
    """All that the bot wrote."""


def sight(replay: MatchReplay, deal: DealReplay, step: int, viewer: int | None = None) -> Sight:
    """What is seen at a step of a deal, from 1; `viewer` is a seat, or None for all cards open."""
    scene = deal.open.scenes[step - 1]
    over = step == deal.steps
    asked = scene.asked
    eyes = scene.views[0 if viewer is None else viewer]
    open_to_eyes = asked is not None and viewer in (None, asked.seat)
    failed = open_to_eyes and scene.action is None
    order = replay.table.orders[eyes.dealer][eyes.leader]
    cast = replay.cast
    return Sight(
        deal=deal.open.number,
        step=step,
        steps=deal.steps,
        viewer=viewer,
        dealer=eyes.dealer,
        order=order,
        asked=None if asked is None else asked.seat,
        point=asked.point if asked is not None and open_to_eyes else None,
        choices=_choices(replay.rules, scene, asked, viewer) if asked is not None and open_to_eyes else (),
        action=scene.action,
        hands=hands(scene, viewer),
        talon=scene.talon if viewer is None else _face_down(eyes),
        turn_up=CARDS[eyes.turn_up] if eyes.turn_up else None,
        trump=Suit(eyes.trump) if eyes.trump else None,
        table=tuple(Played(seat, CARDS[card]) for seat, card in zip(order, eyes.table, strict=False)),
        tricks=tuple(_tricks(eyes, len(order))),
        points=eyes.points,
        pending=eyes.pending,
        tricks_won=eyes.tricks,
        closer=eyes.closer,
        score=eyes.score,
        carry=eyes.carry,
        outcome=deal.open.outcome if over else None,
        time=None if over else deal.times[step - 1],
        fault=deal.fault if failed else "",
        evidence=deal.evidence if failed else "",
        caption=words.ending(deal.open, cast) if over else words.caption(scene, deal.open.scenes[step], cast),
    )


def _choices(rules: Rules, scene: Scene, asked: View, viewer: int | None) -> tuple[Choice, ...]:
    """The legal actions; their values only for eyes that know all cards."""
    values = scene.values if viewer is None or (scene.values and view_is_open(rules, asked)) else {}
    return tuple(Choice(action, action == scene.action, values.get(action)) for action in actions_of(asked.legal))


def hands(scene: Scene, viewer: int | None = None) -> tuple[Hand, ...]:
    """The hand of each seat, as far as `viewer` sees it."""
    return tuple(_hand(scene, seat, viewer) for seat in range(len(scene.views)))


def _hand(scene: Scene, seat: int, viewer: int | None) -> Hand:
    if viewer in (None, seat):
        return Hand(hand_cards(scene.views[seat].hand), 0)
    eyes = scene.views[viewer]
    known = hand_cards(eyes.known[seat])
    return Hand(known, eyes.hand_sizes[seat] - len(known))


def _face_down(eyes: View) -> tuple[Card | None, ...]:
    """The talon as it lies there: the turn-up is its last card."""
    turned_up = bool(eyes.talon and eyes.turn_up)
    return (*(None for _ in range(eyes.talon - turned_up)), *((CARDS[eyes.turn_up],) if turned_up else ()))


def _tricks(eyes: View, size: int) -> Iterator[Trick]:
    plays = [
        Played(seat, CARDS[action])
        for seat, action in zip(eyes.past_seats, eyes.past_actions, strict=True)
        if action < len(CARDS)
    ]
    for number, winner in enumerate(eyes.winners):
        yield Trick(tuple(plays[number * size : (number + 1) * size]), winner)
