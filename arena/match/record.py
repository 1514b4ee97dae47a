"""What a match leaves behind, in two parts: play (what happened, recomputable) and testimony (what was observed).

The play part is a pure function of decks, actions and faults: `replay` referees it again and compares.  The
testimony holds times and evidence, which are sealed but cannot be recomputed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import add
from typing import Any, NamedTuple

from arena.cards import ACTION_NAMES, CARDS, Action, Card
from arena.errors import IllegalAction, NotationError, RecordError
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.scoring import Outcome, Termination
from arena.game.solve import solve
from arena.game.views import View
from arena.match.rulings import Fault, Loss
from arena.match.state import MatchState

DeckOf = Callable[[int], Sequence[int]]
"""The deck of the k-th deal of a match, k from 1: 1-32 card numbers, top first."""

Solved = Mapping[tuple[int, int], Mapping[Action, int]]
"""By the number of a deal and of the actions before a decision: what every legal action was found to be worth."""


class Status(StrEnum):
    """How a match ended."""

    PLAYED = "played"
    """A side reached the target, or the deals were used up."""
    FORFEIT = "forfeit"
    """A fault lost the match."""
    WALKOVER = "walkover"
    """A fault lost the match before a single card was played."""
    VOID = "void"
    """The arena failed: nobody is charged, the match counts for nothing."""


class DealRecord(NamedTuple):
    """One deal of a match."""

    dealer: int
    actions: bytes
    """The actions in order, one byte each; the seats follow from the rules."""
    termination: Termination
    seat: int
    """The seat that claimed, closed, took the last trick or committed the fault."""
    points: tuple[int, ...]
    """What the deal added to the score, by side."""
    card_points: tuple[int, ...]
    closer: int | None
    """The seat that closed the talon."""
    marriages: tuple[tuple[int, int], ...]
    """The seat and the points of each declaration, in order."""

    @classmethod
    def of(cls, deal: Deal, points: tuple[int, ...]) -> DealRecord:
        """The record of a finished deal that added `points` to the score."""
        outcome = deal.outcome
        assert outcome is not None and outcome.seat is not None
        return cls(
            deal.dealer,
            deal.past_actions,
            outcome.termination,
            outcome.seat,
            points,
            outcome.card_points,
            deal.closer,
            deal.marriages,
        )


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """One fault and its ruling."""

    seat: int
    deal: int
    """The deal's number in the match, from 1."""
    decision: int
    """How many actions of the deal came before the faulty decision."""
    fault: Fault
    loss: Loss


class Spent(NamedTuple):
    """The times of one decision, in microseconds; see `arena.match.clock.Split`."""

    deal: int
    """The deal's number in the match, from 1."""
    took_us: int
    """Busy time: what the bot was charged."""
    think_us: int
    """What the bot said it thought, 0 if it did not say."""
    arena_us: int
    queue_us: int
    waited_us: int
    wire_us: int


_PARTS = ("arena_us", "queue_us", "waited_us", "wire_us")


@dataclass(frozen=True, slots=True)
class Testimony:
    """What was observed: sealed with the record, never recomputed.  Lists are indexed by seat.

    The times of decisions are lists in order, one for one with `took_us`; those of `Split` are empty where nobody
    measured them, or where all are 0.
    """

    took_us: tuple[tuple[int, ...], ...]
    """Busy time of each decision in microseconds, in order."""
    think_us: tuple[tuple[int, ...], ...]
    """What the bot said it thought, in microseconds, 0 if it did not say."""
    evidence: tuple[str, ...] = ()
    """A text for each fault of the record, in order: what was asked and answered, the bot's last lines."""
    asked: tuple[tuple[int, ...], ...] = ()
    """How many decisions it was asked for in each deal, in order."""
    arena_us: tuple[tuple[int, ...], ...] = ()
    queue_us: tuple[tuple[int, ...], ...] = ()
    waited_us: tuple[tuple[int, ...], ...] = ()
    wire_us: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of(cls, spent: Sequence[Sequence[tuple[int, ...]]], deals: int, evidence: Sequence[str]) -> Testimony:
        """The testimony of a match of so many deals, from the decisions of each seat: the fields of `Spent`."""
        by_seat = [dict(zip(Spent._fields, zip(*each, strict=True), strict=False)) for each in spent]
        lists = {name: tuple(columns.get(name, ()) for columns in by_seat) for name in Spent._fields}
        asked = [Counter(deals_asked) for deals_asked in lists["deal"]]
        return cls(
            took_us=lists["took_us"],
            think_us=lists["think_us"],
            evidence=tuple(evidence),
            asked=tuple(tuple(counts[deal] for deal in range(1, deals + 1)) for counts in asked),
            **{part: lists[part] for part in _PARTS if any(map(any, lists[part]))},
        )

    def decisions(self, seat: int) -> Iterator[Spent]:
        """The times of a seat's decisions, in order; none where nobody was asked."""
        if not self.asked:
            return
        deals = [deal for deal, asked in enumerate(self.asked[seat], start=1) for _ in range(asked)]
        unknown = (0,) * len(deals)
        parts = [getattr(self, part)[seat] if getattr(self, part) else unknown for part in _PARTS]
        yield from map(Spent, deals, self.took_us[seat], self.think_us[seat], *parts)

    def to_json(self) -> dict[str, Any]:
        """Plain values for the store; no key for a list that is empty."""
        optional = {name: [list(numbers) for numbers in getattr(self, name)] for name in ("asked", *_PARTS)}
        return {
            "took_us": [list(times) for times in self.took_us],
            "think_us": [list(times) for times in self.think_us],
            "evidence": list(self.evidence),
            **{name: lists for name, lists in optional.items() if lists},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Testimony:
        """The inverse of `to_json`."""
        lists = {"took_us": data["took_us"], "think_us": data["think_us"]}
        lists |= {name: data.get(name, ()) for name in ("asked", *_PARTS)}
        return cls(
            evidence=tuple(data["evidence"]),
            **{name: tuple(tuple(numbers) for numbers in each) for name, each in lists.items()},
        )


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """A finished match."""

    status: Status
    deals: tuple[DealRecord, ...]
    faults: tuple[FaultRecord, ...]
    points: tuple[int, ...]
    """The final score by side, capped at the target."""
    ranks: tuple[int, ...]
    """The rank of each side, 1 is first; equal ranks are shared."""
    forfeited_by: int | None = None
    """The side that lost the match by a fault."""
    testimony: Testimony = field(default=Testimony((), ()), compare=False)

    def play_json(self) -> dict[str, Any]:
        """The play part as plain values: the same for the same decks, actions and faults, whenever it was played."""
        return {
            "status": str(self.status),
            "points": list(self.points),
            "ranks": list(self.ranks),
            "forfeited_by": self.forfeited_by,
            "deals": [
                {
                    "dealer": deal.dealer,
                    "actions": " ".join(map(ACTION_NAMES.__getitem__, deal.actions)),
                    "termination": str(deal.termination),
                    "seat": deal.seat,
                    "points": list(deal.points),
                    "card_points": list(deal.card_points),
                    "closer": deal.closer,
                    "marriages": [list(each) for each in deal.marriages],
                }
                for deal in self.deals
            ],
            "faults": [
                {
                    "seat": fault.seat,
                    "deal": fault.deal,
                    "decision": fault.decision,
                    "fault": fault.fault.label,
                    "loses": fault.loss.name.lower(),
                }
                for fault in self.faults
            ],
        }

    @classmethod
    def from_json(cls, play: Mapping[str, Any], testimony: Mapping[str, Any] | None = None) -> MatchRecord:
        """The inverse of `play_json` (and `Testimony.to_json`).  Raises `RecordError` for anything else."""
        try:
            return cls(
                status=Status(play["status"]),
                deals=tuple(
                    DealRecord(
                        dealer=deal["dealer"],
                        actions=bytes(map(Action.parse, deal["actions"].split())),
                        termination=Termination(deal["termination"]),
                        seat=deal["seat"],
                        points=tuple(deal["points"]),
                        card_points=tuple(deal["card_points"]),
                        closer=deal["closer"],
                        marriages=tuple((seat, points) for seat, points in deal["marriages"]),
                    )
                    for deal in play["deals"]
                ),
                faults=tuple(
                    FaultRecord(
                        seat=fault["seat"],
                        deal=fault["deal"],
                        decision=fault["decision"],
                        fault=Fault[fault["fault"].upper().replace("-", "_")],
                        loss=Loss[fault["loses"].upper()],
                    )
                    for fault in play["faults"]
                ),
                points=tuple(play["points"]),
                ranks=tuple(play["ranks"]),
                forfeited_by=play["forfeited_by"],
                testimony=Testimony.from_json(testimony) if testimony else Testimony((), ()),
            )
        except (KeyError, TypeError, ValueError, AttributeError, NotationError) as error:
            raise RecordError(f"this is not the record of a match: {error!r}") from error


@dataclass(frozen=True, slots=True)
class Step:
    """One decision of a replayed match, as the seat saw it."""

    deal: int
    seat: int
    view: View
    action: Action | None
    """What the seat did; None where it committed the fault that ended the deal."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A moment of a deal with all cards open: before one of its decisions, or its end."""

    views: tuple[View, ...]
    """What each seat may know, by seat; at most one of them is asked."""
    talon: tuple[Card, ...]
    """The undrawn cards, the next one first, the turn-up last."""
    action: Action | None
    """What the seat that is asked did; None where it committed the fault that ended the deal, and at the end."""
    values: Mapping[Action, int]
    """What every legal action is worth to the seat that is asked, as in `arena.game.solve`: both seats know all cards
    and play their best.  Empty in open play, and where more than two play."""

    @property
    def asked(self) -> View | None:
        """The view of the seat that is asked; None at the end."""
        return next((view for view in self.views if view.point is not None), None)


@dataclass(frozen=True, slots=True)
class OpenDeal:
    """One deal of a replayed match with all cards open."""

    number: int
    """In the match, from 1."""
    dealer: int
    scenes: tuple[Scene, ...]
    """One for each decision, waived ones included, and the end."""
    outcome: Outcome
    points: tuple[int, ...]
    """What it added to the score, by side."""

    @property
    def score(self) -> tuple[int, ...]:
        """The match score by side after it."""
        return tuple(map(add, self.scenes[0].views[0].score, self.points))


def replay(game: Game, deck_of: DeckOf, record: MatchRecord) -> Iterator[Step]:
    """Referee a record again, decision by decision; exhausting it proves the record.

    Raises `RecordError` naming the deal at the first difference: an illegal action, another outcome, another score.
    """
    for number, deal, actions, faulty in _deals(game, deck_of, record):
        yield from _steps(number, deal, actions, faulty)


def prove(game: Game, deck_of: DeckOf, record: MatchRecord) -> int:
    """As `replay`, for those who want no views: half the cost.  Returns the number of decisions."""
    decisions = 0
    for number, deal, actions, faulty in _deals(game, deck_of, record):
        try:
            for action in actions:
                deal.apply(action)
        except IllegalAction as error:
            raise _refused(number, deal, error) from error
        decisions += len(actions)
        if faulty is not None:
            _forfeit(number, deal, faulty)
            decisions += 1
    return decisions


def replay_open(game: Game, deck_of: DeckOf, record: MatchRecord, solved: Solved | None = None) -> Iterator[OpenDeal]:
    """As `replay`, deal by deal with all cards open: for those who look at a match from outside.

    What is not `solved` already is solved here.
    """
    for number, deal, actions, faulty in _deals(game, deck_of, record):
        yield _opened(number, deal, actions, faulty, record.deals[number - 1].points, solved or {})


def open_deal(
    game: Game, deck: Sequence[int], number: int, before: View, played: DealRecord, faulty: int | None
) -> OpenDeal:
    """One deal alone with all cards open; `before` is a view that has the score and the carry of it.

    Raises as `replay_deal`.
    """
    deal = game.deal(deck, played.dealer, before.score, before.carry)
    return _opened(number, deal, played.actions, faulty, played.points, {})


def replay_deal(
    game: Game,
    deck: Sequence[int],
    number: int,
    score: tuple[int, ...],
    carry: int,
    dealer: int,
    actions: bytes,
    faulty: int | None,
) -> Generator[Step, None, Outcome]:
    """Referee one deal again: its decisions as steps, its outcome as the generator's result.

    `faulty` is the seat whose fault ended the deal after the actions.  Raises `RecordError` where the rules differ.
    """
    deal = game.deal(deck, dealer, score, carry)
    yield from _steps(number, deal, actions, faulty)
    return _outcome(number, deal)


def _deals(game: Game, deck_of: DeckOf, record: MatchRecord) -> Iterator[tuple[int, Deal, bytes, int | None]]:
    """The deals of a record, each with its number, actions and faulty seat: to be played by the caller, then judged."""
    state = MatchState(game.rules)
    faults = {fault.deal: fault for fault in record.faults}
    for number, played in enumerate(record.deals, start=1):
        if state.over:
            raise RecordError(f"deal {number} was played after the match was over")
        if played.dealer != state.dealer:
            raise RecordError(f"deal {number}: seat {state.dealer} deals, the record says {played.dealer}")
        fault = faults.pop(number, None)
        if fault is not None and fault.decision != len(played.actions):
            raise RecordError(f"deal {number}: the fault is not at the end of the deal")
        deal = game.deal(deck_of(number), played.dealer, state.score, state.carry)
        yield number, deal, played.actions, None if fault is None else fault.seat
        outcome = _outcome(number, deal)
        _compare(number, DealRecord.of(deal, state.add(outcome)), played)
        if fault is not None and fault.loss is Loss.MATCH:
            state.forfeit(game.table.side_of[fault.seat])
    if faults:
        raise RecordError(f"deal {min(faults)}: a fault is recorded in a deal that was not played")
    if record.status is Status.VOID:
        return
    if not state.over:
        raise RecordError("the record stops before the match is over")
    for what, ours, theirs in (
        ("score", state.final_points, record.points),
        ("ranks", state.ranks, record.ranks),
        ("forfeit", state.forfeited_by, record.forfeited_by),
    ):
        if ours != theirs:
            raise RecordError(f"final {what}: replayed {ours}, recorded {theirs}")


def _steps(number: int, deal: Deal, actions: bytes, faulty: int | None) -> Iterator[Step]:
    """Play a deal as recorded, decision by decision."""
    for action in actions:
        if deal.to_act is not None:
            yield Step(number, deal.to_act, deal.view(deal.to_act), Action(action))
        try:
            deal.apply(action)
        except IllegalAction as error:
            raise _refused(number, deal, error) from error
    if faulty is not None:
        if deal.to_act is not None:
            yield Step(number, faulty, deal.view(faulty), None)
        _forfeit(number, deal, faulty)


def _opened(
    number: int,
    deal: Deal,
    actions: bytes,
    faulty: int | None,
    points: tuple[int, ...],
    solved: Solved,
) -> OpenDeal:
    """Play a deal as recorded, scene by scene."""
    scenes = []
    for action in actions:
        scenes.append(scene_of(deal, Action(action), solved.get((number, len(deal.past_actions)))))
        try:
            deal.apply(action)
        except IllegalAction as error:
            raise _refused(number, deal, error) from error
    if faulty is not None:
        scenes.append(scene_of(deal, None))
        _forfeit(number, deal, faulty)
    return OpenDeal(number, deal.dealer, (*scenes, scene_of(deal, None)), _outcome(number, deal), points)


def scene_of(deal: Deal, action: Action | None, values: Mapping[Action, int] | None = None) -> Scene:
    """A deal as it is now, before the seat to act does that; with its values, if they are known already."""
    solvable = deal.to_act is not None and deal.strict and len(deal.order) == 2
    return Scene(
        views=tuple(map(deal.view, range(deal.game.table.seats))),
        talon=tuple(CARDS[card] for card in deal.talon),
        action=action,
        values=values or (solve(deal, all_actions=True).values if solvable else {}),
    )


def _refused(number: int, deal: Deal, error: IllegalAction) -> RecordError:
    return RecordError(f"deal {number}, action {len(deal.past_actions) + 1}: {error}")


def _forfeit(number: int, deal: Deal, faulty: int) -> None:
    if deal.to_act != faulty:
        raise RecordError(f"deal {number}: the fault is not of the seat to act")
    deal.forfeit(faulty)


def _outcome(number: int, deal: Deal) -> Outcome:
    if deal.outcome is None:
        raise RecordError(f"deal {number}: the record stops before the deal is over")
    return deal.outcome


def _compare(number: int, replayed: DealRecord, played: DealRecord) -> None:
    for what, ours, theirs in (
        ("termination", str(replayed.termination), str(played.termination)),
        ("seat", replayed.seat, played.seat),
        ("points", replayed.points, played.points),
        ("card points", replayed.card_points, played.card_points),
        ("closer", replayed.closer, played.closer),
        ("marriages", replayed.marriages, played.marriages),
    ):
        if ours != theirs:
            raise RecordError(f"deal {number}: {what} replayed {ours}, recorded {theirs}")
