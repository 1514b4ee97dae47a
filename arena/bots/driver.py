"""Matches played by real bots: the referees' questions go out on the bots' streams, the answers come back.

A match is a generator (`arena.match.referee`); no task and no future belongs to it.  An answer that arrives runs its
match on to the next question at once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from arena.bots.bot import Bot
from arena.errors import ArenaError
from arena.game.game import Game
from arena.match.clock import TimeControl
from arena.match.record import DeckOf, MatchRecord, Status, Testimony
from arena.match.referee import (
    Ask,
    DealEnded,
    FaultRuled,
    MatchEnded,
    MatchStarted,
    NoReply,
    Referee,
    Reply,
    Tell,
    referee,
)
from arena.wire import codec

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MatchOrder:
    """A match to be played."""

    match_id: str
    """Opaque: the only name of the match that a bot sees."""
    seats: tuple[str, ...]
    """The participant of each seat."""
    deck_of: DeckOf
    bot_seeds: tuple[bytes, ...]
    """By seat, 32 bytes each."""


class MatchRun:
    """One match under way.  `done` is called once with its record; a void record tells of a fault of the arena."""

    __slots__ = ("_done", "_observer", "_over", "_referee", "_seat_bots", "_side_of", "_time", "order")

    def __init__(
        self,
        game: Game,
        order: MatchOrder,
        bots: Mapping[str, Bot],
        time: TimeControl,
        done: Callable[[MatchRun, MatchRecord], None],
        observer: Callable[[Tell], None] | None = None,
    ) -> None:
        self.order = order
        self._seat_bots: Sequence[Bot] = [bots[name] for name in order.seats]
        self._side_of = game.table.side_of
        self._time = time
        self._done = done
        self._over = False
        self._observer = observer
        waives = [bot.waives_before_draw for bot in self._seat_bots]
        self._referee: Referee = referee(game, order.deck_of, time, waives)

    def start(self) -> None:
        """Begin; everything else follows from the bots' answers."""
        self._advance(None)

    def void(self, error: Exception) -> None:
        """Give the match up: the arena failed.  Nothing happens if it is over."""
        if self._over:
            return
        traceback = None if isinstance(error, ArenaError) else error
        log.error("match %s: the arena failed: %s", self.order.match_id, error, exc_info=traceback)
        self._referee.close()
        self._finish(void_record(len(set(self._side_of)), f"{type(error).__name__}: {error}"))

    def _advance(self, answer: Reply | NoReply | None) -> None:
        if self._over:  # it has become void since the question was put
            return
        try:
            request = self._referee.send(answer)
            while not isinstance(request, Ask):
                request = self._referee.send(self._tell(request))
        except StopIteration as end:
            self._finish(end.value)
            return
        except Exception as error:
            self.void(error)
            return
        try:
            self._seat_bots[request.seat].ask(self, request)
        except Exception as error:
            if self._over:
                raise
            self.void(error)

    answered = _advance
    """What a bot calls with its reply to the open question."""

    def start_event(self, seat: int, resumed: bool) -> bytes:
        """The framed `MatchStarted` of a seat."""
        return codec.match_started(
            self.order.match_id,
            seat,
            self._side_of,
            self.order.bot_seeds[seat],
            self._time.limit_ms,
            self._time.bank_ms,
            resumed,
        )

    def _tell(self, telling: Tell) -> str | None:
        """Tell the bots; returns what a bot that is ruled against wrote last."""
        if self._observer is not None:
            self._observer(telling)
        match_id = self.order.match_id
        match telling:
            case MatchStarted():
                for seat, bot in enumerate(self._seat_bots):
                    bot.begin(self, seat)
            case FaultRuled(seat, fault, text, points, match_lost):
                bot = self._seat_bots[seat]
                bot.tell(codec.fault(match_id, bot.last_id(self), fault, text, points, match_lost))
                return bot.last_words(fault)
            case DealEnded(deal, _, _, outcome, points, score, past_seats, past_actions, seen):
                for seat, bot in enumerate(self._seat_bots):
                    bot.tell(
                        codec.deal_ended(
                            match_id,
                            deal,
                            outcome,
                            added=points,
                            score=score,
                            new_actions=past_actions[seen[seat] :],
                            new_seats=past_seats[seen[seat] :],
                        )
                    )
            case MatchEnded(score, ranks):
                for bot in self._seat_bots:
                    bot.tell(codec.match_ended(match_id, score, ranks))
        return None

    def _finish(self, record: MatchRecord) -> None:
        self._over = True
        for bot in self._seat_bots:
            bot.finish(self)
        self._done(self, record)


def void_record(sides: int, why: str) -> MatchRecord:
    """The record of a match that the arena failed to play."""
    return MatchRecord(
        status=Status.VOID,
        deals=(),
        faults=(),
        points=(0,) * sides,
        ranks=(1,) * sides,
        testimony=Testimony((), (), (why,)),
    )
