"""The bot behind the wire, without the wire: events go in, answers come out, the author's code is called in between.

Whatever the author's code does, a decision gets exactly one answer: an action, or the text of what went wrong.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol, assert_never

from arena.bot.match import DealResult, Match, MatchResult, Turn
from arena.bot.view import View
from arena.cards import ACTIONS, Action, Card
from arena.errors import RulesError, UsageError
from arena.game.rules import Rules
from arena.wire import codec
from arena.wire.codec import ArenaDescription, BotDescription
from arena.wire.stubs import MAX_ERROR_BYTES, PROTOCOL_MAJOR, PROTOCOL_MINOR

Choose = Callable[[View], Action | Card]


class Chooser(Protocol):
    """A bot with a memory.  It may also have `match_started(match)`, `deal_ended(result)`, `match_ended(result)`."""

    def choose(self, view: View, /) -> Action | Card:
        """The action for this decision: one of `view.legal`."""


Bot = Choose | Chooser | type[Chooser]
"""What `serve` takes: a function; an object that plays all matches; a class, made anew for every match."""


class Thinking(NamedTuple):
    """A decision that the author's code is at work on."""

    began_ns: int
    """By `time.perf_counter_ns`."""
    deal: int
    match: Match
    time_left_ms: int
    """0 where no clock runs."""


class Player:
    """One process's bot: what it says of itself, and its matches in play."""

    def __init__(
        self,
        bot: Bot,
        *,
        name: str,
        version: str,
        plays: Iterable[str] | Callable[[Rules], bool] | None,
        decisions_at_once: int,
        waives_before_draw: bool,
        streams: int = 1,
    ) -> None:
        """Raises `UsageError` if `bot` is none, `plays` names unknown rules or there are no `streams`."""
        if streams < 1:
            raise UsageError(f"serve was given streams={streams}; expected 1 or more")
        self._make = _maker(bot)
        self._name = name
        self._version = version
        self._plays = plays if plays is None or callable(plays) else _one_of(plays)
        self._decisions_at_once = decisions_at_once
        self._waives_before_draw = waives_before_draw
        self.streams = streams
        """How many arenas, or blocks of one, it plays for at once."""
        self._rules: Rules | None = None
        self._rules_name = ""
        self._seats: dict[str, _Seat] = {}
        self.logs_errors = True
        """Whether what goes wrong in a decision is written to the log, besides the answer."""
        self.thinking: Thinking | None = None
        """The decision that the author's code is at work on; read by the thread that watches the time."""

    def describe(self, request: bytes, *, busy: bool = False) -> bytes:
        """The `DescribeResponse` to a `DescribeRequest`; no other rules while it is busy.  Raises `codec.WireError`."""
        arena = codec.describe_request_of(request)
        refusal = self._refusal(arena)
        if busy and not refusal and arena.rules != self._rules:
            refusal = f"this bot is playing other rules just now ({self._rules_name})"
        if not refusal:
            self._rules = arena.rules
            self._rules_name = arena.name
        description = BotDescription(
            protocol_major=PROTOCOL_MAJOR,
            protocol_minor=PROTOCOL_MINOR,
            name=self._name,
            version=self._version,
            plays=not refusal,
            refusal=refusal,
            waives_before_draw=self._waives_before_draw,
            decisions_at_once=self._decisions_at_once,
            streams=self.streams,
        )
        return codec.describe_response_bytes(description)

    def take(self, event: codec.Event) -> bytes | None:
        """What happened, in order; the answer (a framed item) if it is a decision."""
        match event:
            case codec.Decision():
                return self._answer(event)
            case codec.MatchStarted():
                if not (event.resumed and event.match_id in self._seats):  # only the connection was lost
                    self._start(event)
            case codec.DealEnded():
                if seat := self._seats.get(event.match_id):
                    seat.tell("deal_ended", _deal_result(seat.match, event))
            case codec.MatchEnded():
                if seat := self._seats.pop(event.match_id, None):
                    seat.tell("match_ended", MatchResult(seat.match, event.score, event.ranks))
            case codec.FaultNotice():
                lost = "the match" if event.match_lost else f"the deal, {event.points} by side"
                # The first line: the rest is what this bot wrote itself, and would be quoted again and again.
                first_line = event.text.partition("\n")[0][:300]
                log(f"fault in match {event.match_id}: {first_line} (it lost {lost})")
            case codec.Withdrawn():
                pass
            case _:
                assert_never(event)
        return None

    def take_framed(self, items: bytes) -> bytes:
        """What came in one message; the answers, joined."""
        return b"".join(answer for event in codec.events(items) if (answer := self.take(event)) is not None)

    def _refusal(self, arena: ArenaDescription) -> str:
        if arena.protocol_major != PROTOCOL_MAJOR:
            return f"this bot speaks protocol {PROTOCOL_MAJOR}, the arena speaks {arena.protocol_major}"
        try:
            rules = arena.rules
            if self._plays is None or self._plays(rules):
                return ""
        except RulesError as error:
            return f"this bot does not know these rules: {error}"
        except Exception as error:
            return f"this bot could not say whether it plays these rules: {_last_line(error)}"
        if isinstance(self._plays, _OneOf):
            return f"this bot plays {', '.join(self._plays.names)} only, not these rules ({arena.name})"
        return f"this bot does not play these rules ({arena.name})"

    def _start(self, started: codec.MatchStarted) -> _Seat | None:
        if self._rules is None:
            log(f"match {started.match_id} began before the arena and this bot had agreed on the rules")
            return None
        match = Match(
            id=started.match_id,
            rules=self._rules,
            seat=started.seat,
            rules_name=self._rules_name,
            bot_seed=started.bot_seed,
            limit_ms=started.limit_ms,
            bank_ms=started.bank_ms,
            resumed=started.resumed,
        )
        self._seats[match.id] = seat = _Seat(match, self._make)
        return seat

    def _answer(self, decision: codec.Decision) -> bytes:
        began = time.perf_counter_ns()
        seat = self._seats.get(decision.match_id) or self._join(decision)
        if seat is None:
            action, error = 0, "a decision came before the arena and this bot had agreed on the rules"
        else:
            self.thinking = Thinking(began, decision.deal, seat.match, decision.time_left_ms)
            action, error = seat.choose(decision)
        self.thinking = None
        if error and self.logs_errors:
            log(error)
        think_us = (time.perf_counter_ns() - began) // 1000
        return codec.answer(decision.id, action, think_us, error)

    def _join(self, decision: codec.Decision) -> _Seat | None:
        """Begin a match at its first decision: a decision says all that is needed to answer it."""
        return self._start(codec.MatchStarted(decision.match_id, decision.view.seat, (), b"", 0, 0, True))


class _Seat:
    """The author's bot in one match."""

    def __init__(self, match: Match, make: Callable[[], Any]) -> None:
        self.match = match
        self._failed = ""
        """Why the bot cannot play this match: it failed at its beginning."""
        try:
            self._bot = make()
            if callback := getattr(self._bot, "match_started", None):
                callback(match)
        except Exception as error:
            self._failed = _traceback(error)
            log(self._failed)

    def choose(self, decision: codec.Decision) -> tuple[int, str]:
        """(action, "") or (0, what went wrong)."""
        if self._failed:
            return 0, self._failed
        try:
            chosen = self._bot.choose(View(self.match, decision))
        except Exception as error:
            return 0, _traceback(error)
        # True and False are numbers too, but nobody means an action by them.
        if isinstance(chosen, int) and 0 < chosen < len(ACTIONS) and not isinstance(chosen, bool):
            return chosen, ""
        return 0, f"choose returned {_shown(chosen)}; return one of view.legal"

    def tell(self, callback: str, news: DealResult | MatchResult) -> None:
        """Call what the bot has under that name; a failure there costs nothing but a word in the log."""
        if self._failed or (listener := getattr(self._bot, callback, None)) is None:
            return
        try:
            listener(news)
        except Exception as error:
            log(_traceback(error))


class _Function:
    """A function as a bot."""

    def __init__(self, choose: Choose) -> None:
        self.choose = choose


class _OneOf:
    """Whether rules are one of the named presets."""

    def __init__(self, names: tuple[str, ...], presets: tuple[Rules, ...]) -> None:
        self.names = names
        self._presets = presets

    def __call__(self, rules: Rules) -> bool:
        return rules in self._presets


def _one_of(plays: Iterable[str]) -> _OneOf:
    # Imported here: most bots play all rules and start sooner without.
    from arena.game.presets import preset

    names = (plays,) if isinstance(plays, str) else tuple(plays)
    return _OneOf(names, tuple(map(preset, names)))


def _maker(bot: Bot) -> Callable[[], Any]:
    if callable(getattr(bot, "choose", None)):
        return bot if isinstance(bot, type) else lambda: bot
    if callable(bot) and not isinstance(bot, type):
        function = _Function(bot)
        return lambda: function
    raise UsageError(
        f"serve was given {_shown(bot)}; give it a function choose(view), or a class or an object with one"
    )


def _deal_result(match: Match, ended: codec.DealEnded) -> DealResult:
    turns = zip(ended.new_seats, ended.new_actions, strict=True)
    return DealResult(
        match=match,
        deal=ended.deal,
        termination=ended.termination,
        seat=ended.seat,
        points=ended.points,
        card_points=ended.card_points,
        score=ended.score,
        new_turns=tuple([Turn(seat, ACTIONS[action]) for seat, action in turns]),
    )


def log(text: str) -> None:
    """One line more in the bot's log: its standard error, which the arena keeps."""
    sys.stderr.write(f"{text.rstrip()}\n")
    sys.stderr.flush()


def _shown(thing: object) -> str:
    """A thing in few words, whatever it is."""
    if isinstance(thing, type):
        return f"the class {thing.__name__}"
    if thing is None or isinstance(thing, bool | int | float | str):
        text = repr(thing)
        return text if len(text) <= 80 else f"{text[:80]}..."
    return f"a {type(thing).__name__}"


def _last_line(error: Exception) -> str:
    import traceback

    return traceback.format_exception_only(error)[-1].strip()


def _traceback(error: Exception) -> str:
    """The traceback from the author's code on; of a long one the end, which says most."""
    # Imported here: it is needed only when something goes wrong.
    import traceback

    below = error.__traceback__.tb_next if error.__traceback__ else None
    text = "".join(traceback.format_exception(type(error), error, below)).strip()
    data = text.encode("utf-8", "replace")
    return data[-MAX_ERROR_BYTES:].decode("utf-8", "ignore")
