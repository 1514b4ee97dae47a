"""Matches played by real bots: the referees' questions go out on the bots' streams, the answers come back.

A match is a generator (`arena.match.referee`); no task and no future belongs to it.  An answer that arrives runs its
match on to the next question at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

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
    Opening,
    Referee,
    Reply,
    Tell,
    play_on,
    referee,
)
from arena.match.rulings import Fault
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

    def start_event(self, table: Sequence[int], seat: int, time: TimeControl, resumed: bool) -> bytes:
        """The framed `MatchStarted` of a seat; `table` is the side of each seat."""
        return codec.match_started(
            self.match_id, seat, table, self.bot_seeds[seat], time.limit_ms, time.bank_ms, resumed
        )


class Player(Protocol):
    """Who sits on a seat: a bot (`arena.bots.bot.Bot`), or what stands in for one."""

    @property
    def waives_before_draw(self) -> bool: ...

    def begin(self, match: MatchRun, seat: int, /) -> None: ...

    def finish(self, match: MatchRun, /) -> None: ...

    def tell(self, event: bytes, /) -> None: ...

    def ask(self, match: MatchRun, ask: Ask, /) -> None: ...

    def last_words(self, fault: Fault, /) -> str: ...

    def last_id(self, match: MatchRun, /) -> int: ...


class MatchRun:
    """One match under way.  `done` is called once with its record; a void record tells of a fault of the arena.

    With an `opening` a recorded match is played on from there, to the end of that deal alone.
    """

    __slots__ = ("_done", "_observer", "_over", "_referee", "_resumed", "_seat_bots", "_side_of", "_time", "order")

    def __init__(
        self,
        game: Game,
        order: MatchOrder,
        bots: Mapping[str, Player],
        time: TimeControl,
        done: Callable[[MatchRun, MatchRecord], None],
        observer: Callable[[Ask | Tell], None] | None = None,
        opening: Opening | None = None,
    ) -> None:
        self.order = order
        self._seat_bots: Sequence[Player] = [bots[name] for name in order.seats]
        self._side_of = game.table.side_of
        self._time = time
        self._done = done
        self._over = False
        self._observer = observer
        waives = [bot.waives_before_draw for bot in self._seat_bots]
        self._resumed = opening is not None
        self._referee: Referee = (
            referee(game, order.deck_of, time, waives)
            if opening is None
            else play_on(game, order.deck_of, time, waives, opening)
        )

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
            if self._observer is not None:
                self._observer(request)
            self._seat_bots[request.seat].ask(self, request)
        except Exception as error:
            if self._over:
                raise
            self.void(error)

    answered = _advance
    """What a bot calls with its reply to the open question."""

    def start_event(self, seat: int, resumed: bool) -> bytes:
        """The framed `MatchStarted` of a seat."""
        return self.order.start_event(self._side_of, seat, self._time, resumed or self._resumed)

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


class Consultation:
    """One question of a recorded match, put to one bot alone; `answer` is its reply, and the fault if that is one."""

    def __init__(self, game: Game, order: MatchOrder, time: TimeControl, opening: Opening) -> None:
        self.order = order
        self.answer: asyncio.Future[tuple[Reply | NoReply, FaultRuled | None]]
        self.answer = asyncio.get_running_loop().create_future()
        self._side_of = game.table.side_of
        self._time = time
        self._referee = play_on(game, order.deck_of, time, (), opening)

    def put(self, bot: Bot) -> None:
        """Tell the bot that it joins a match under way, and ask it."""
        next(self._referee)
        ask = self._referee.send(None)
        assert isinstance(ask, Ask), "somebody is to act at an opening"
        bot.begin(self, ask.seat)
        bot.ask(self, ask)

    def start_event(self, seat: int, resumed: bool) -> bytes:
        """The framed `MatchStarted` of a seat."""
        return self.order.start_event(self._side_of, seat, self._time, resumed=True)

    def answered(self, answer: Reply | NoReply | None) -> None:
        """What the bot calls with its reply."""
        assert answer is not None
        ruled = self._referee.send(answer)
        self.answer.set_result((answer, ruled if isinstance(ruled, FaultRuled) else None))

    def void(self, error: Exception) -> None:
        """The arena failed."""
        if not self.answer.done():
            self.answer.set_exception(error)


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
