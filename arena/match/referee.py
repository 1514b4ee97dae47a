"""The referee: a generator without I/O that is told what happened and says what to do next.

It yields `Ask` and is sent `Reply` or `NoReply`; it yields tellings (`MatchStarted`, `FaultRuled`, `DealEnded`,
`MatchEnded`) and is sent None, after `FaultRuled` also what the offender wrote last; it returns a `MatchRecord`.  It
judges; whoever drives it measures and delivers.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from arena.cards import ACTION_NAMES, ACTIONS, GO_ON, actions_of
from arena.errors import IllegalAction
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.scoring import Outcome
from arena.game.views import DecisionPoint, View
from arena.match.clock import UNSPLIT, Clock, Split, TimeControl
from arena.match.record import DealRecord, DeckOf, FaultRecord, MatchRecord, Status, Testimony
from arena.match.rulings import SHARED_COUNT, Fault, Loss, loss_of
from arena.match.state import MatchState

MAX_EVIDENCE = 4000
"""Characters of foreign words that are kept with a fault."""
LAST_WORDS = "; it wrote last: "
"""In evidence, what stands before the end of what the bot wrote to stderr."""


class Ask(NamedTuple):
    """Ask this seat for an action."""

    seat: int
    view: View
    deal: int
    """The deal's number in the match, from 1."""
    budget_ms: float | None
    """What the answer may take, bank included; None where no clock runs."""
    last_took_ms: float
    """What the seat's previous decision was charged."""


class Reply(NamedTuple):
    """The seat answered."""

    action: int
    took_ms: float
    """Busy time: what counts against the budget."""
    think_us: int = 0
    """What the bot says it thought."""
    split: Split = UNSPLIT


class NoReply(NamedTuple):
    """The seat did not answer, or not with an action."""

    fault: Fault
    took_ms: float
    evidence: str = ""
    whole_match: bool = False
    """True where the fault loses the match whatever the ruling table says (a bot that is gone for good)."""
    split: Split = UNSPLIT


@dataclass(frozen=True, slots=True)
class MatchStarted:
    """Tell every seat that the match begins."""


@dataclass(frozen=True, slots=True)
class FaultRuled:
    """Tell the offender, and nobody else, what it did and what it cost."""

    seat: int
    fault: Fault
    text: str
    points: tuple[int, ...]
    match_lost: bool


@dataclass(frozen=True, slots=True)
class DealEnded:
    """Tell every seat that a deal is over."""

    deal: int
    dealer: int
    carry: int
    """What earlier draws added to the points of this deal's winner."""
    outcome: Outcome
    points: tuple[int, ...]
    """What the deal added to the score by side, carry included."""
    score: tuple[int, ...]
    past_seats: bytes
    past_actions: bytes
    seen: tuple[int, ...]
    """By seat, how many actions it had seen when it was last asked."""


@dataclass(frozen=True, slots=True)
class MatchEnded:
    """Tell every seat that the match is over."""

    score: tuple[int, ...]
    ranks: tuple[int, ...]


Tell = MatchStarted | FaultRuled | DealEnded | MatchEnded
Referee = Generator[Ask | Tell, Reply | NoReply | str | None, MatchRecord]


def referee(game: Game, deck_of: DeckOf, time: TimeControl, waives_before_draw: Sequence[bool] = ()) -> Referee:
    """Play one match to its end.

    `deck_of(k)` is the deck of the k-th deal; `waives_before_draw[seat]` says that the seat goes on at every
    `BEFORE_DRAW` without being asked.  Every end has a reason; the record replays (`arena.match.record.replay`).
    """
    return _Match(game, deck_of, time, waives_before_draw).play()


@dataclass(frozen=True, slots=True)
class Opening:
    """A point within a deal of a match, from which it can be played on."""

    deal: int
    """The deal's number in the match, from 1."""
    dealer: int
    score: tuple[int, ...]
    """The match score by side before the deal."""
    carry: int
    actions: bytes
    """The actions of the deal so far."""
    spent_ms: tuple[tuple[float, ...], ...]
    """By seat, what its decisions of the match so far were charged."""


def play_on(
    game: Game, deck_of: DeckOf, time: TimeControl, waives_before_draw: Sequence[bool], opening: Opening
) -> Referee:
    """Play one deal of a match from within to its end and nothing after it; the record holds that deal alone.

    Raises `IllegalAction` for actions that the rules refuse.
    """
    return _Match(game, deck_of, time, waives_before_draw).play_on(opening)


class _Match:
    """The state of one refereed match."""

    def __init__(self, game: Game, deck_of: DeckOf, time: TimeControl, waives_before_draw: Sequence[bool]) -> None:
        self.game = game
        self.deck_of = deck_of
        self.waives = tuple(waives_before_draw) or (False,) * game.table.seats
        self.state = MatchState(game.rules)
        self.clocks = [Clock(time) for _ in range(game.table.seats)]
        self.faults: list[FaultRecord] = []
        self.evidence: list[str] = []
        self.counts: list[dict[Fault, int]] = [{} for _ in range(game.table.seats)]
        self.spent: list[list[tuple[int, ...]]] = [[] for _ in range(game.table.seats)]
        self.deals: list[DealRecord] = []

    def play(self) -> Referee:
        state = self.state
        yield MatchStarted()
        while not state.over:
            deal = self.game.deal(self.deck_of(state.deal), state.dealer, state.score, state.carry)
            yield from self._play_deal(deal, state.deal)
        yield MatchEnded(state.final_points, state.ranks)
        return self._record()

    def play_on(self, opening: Opening) -> Referee:
        state = self.state
        state.deal, state.dealer = opening.deal, opening.dealer
        state.score, state.carry = opening.score, opening.carry
        deal = self.game.deal(self.deck_of(state.deal), state.dealer, state.score, state.carry)
        for action in opening.actions:
            deal.apply(action)
        for clock, spent_ms in zip(self.clocks, opening.spent_ms, strict=True):
            for took_ms in spent_ms:
                clock.charge(took_ms)
        yield MatchStarted()
        yield from self._play_deal(deal, state.deal)
        yield MatchEnded(state.final_points, state.ranks)
        return self._record()

    def _play_deal(self, deal: Deal, number: int) -> Generator[Ask | Tell, Reply | NoReply | str | None, None]:
        self._seen = [0] * self.game.table.seats
        ruled: FaultRuled | None = None
        while (seat := deal.to_act) is not None:
            if deal.point is DecisionPoint.BEFORE_DRAW and self.waives[seat]:
                deal.apply(GO_ON)
                continue
            clock = self.clocks[seat]
            budget_ms = clock.budget_ms
            self._seen[seat] = len(deal.past_actions)
            answer = yield Ask(seat, deal.view(seat), number, budget_ms, clock.last_took_ms)
            if type(answer) is Reply:
                self._note_time(seat, number, answer.took_ms, answer.think_us, answer.split)
                if clock.charge(answer.took_ms):
                    try:
                        deal.apply(answer.action)
                        continue
                    except IllegalAction:
                        answer = NoReply(Fault.ILLEGAL, answer.took_ms, f"answered {action_name(answer.action)}")
                else:
                    answer = NoReply(Fault.LATE, answer.took_ms)
            else:
                assert type(answer) is NoReply
                self._note_time(seat, number, answer.took_ms, 0, answer.split)
                clock.charge(answer.took_ms)
            ruled = self._rule(deal, number, seat, answer, budget_ms)
        outcome = deal.outcome
        assert outcome is not None
        points = self.state.add(outcome)
        if ruled is not None:
            if ruled.match_lost:
                self.state.forfeit(self.game.table.side_of[ruled.seat])
            if words := (yield ruled):
                self.evidence[-1] += f"{LAST_WORDS}{words}"
        self.deals.append(DealRecord.of(deal, points))
        yield DealEnded(
            number,
            deal.dealer,
            deal.carry,
            outcome,
            points,
            self.state.score,
            deal.past_seats,
            deal.past_actions,
            tuple(self._seen),
        )

    def _note_time(self, seat: int, deal: int, took_ms: float, think_us: int, split: Split) -> None:
        self.spent[seat].append((deal, round(took_ms * 1000), think_us, *split))

    def _rule(self, deal: Deal, number: int, seat: int, no: NoReply, budget_ms: float | None) -> FaultRuled:
        loss = Loss.MATCH if no.whole_match else loss_of(no.fault, self.counts[seat])
        self.counts[seat][no.fault] = self.counts[seat].get(no.fault, 0) + 1
        self.faults.append(FaultRecord(seat, number, len(deal.past_actions), no.fault, loss))
        legal = " ".join(map(str, actions_of(deal.legal_mask)))
        text = f"{no.fault.label}: deal {number}, after {len(deal.past_actions)} actions, asked for one of {legal}"
        if no.fault in SHARED_COUNT and no.took_ms and budget_ms is not None:
            text += f"; it took {no.took_ms:.1f} ms of the {budget_ms:.1f} ms that were left"
        if no.evidence:
            text += f"; {no.evidence[:MAX_EVIDENCE]}"
        self.evidence.append(text)
        outcome = deal.forfeit(seat)
        return FaultRuled(seat, no.fault, text, outcome.points, loss is Loss.MATCH)

    def _record(self) -> MatchRecord:
        state = self.state
        status = Status.PLAYED
        if state.forfeited_by is not None:
            played = any(deal.actions for deal in self.deals)
            status = Status.FORFEIT if played else Status.WALKOVER
        return MatchRecord(
            status=status,
            deals=tuple(self.deals),
            faults=tuple(self.faults),
            points=state.final_points,
            ranks=state.ranks,
            forfeited_by=state.forfeited_by,
            testimony=Testimony.of(self.spent, state.deal - 1, self.evidence),
        )


def action_name(action: int) -> str:
    """What an answer is called in evidence, whatever number a bot sent."""
    if 0 <= action < len(ACTIONS):
        return ACTION_NAMES[action]
    return f"unknown action number {action}"
