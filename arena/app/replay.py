"""A stored match to be looked at; what a bot would do in it now; how it plays on from there.

Nothing is stored, nothing counts.  The cards of an epoch are shown once its secret is revealed, before that to an
operator alone: its decks are still being dealt.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from arena.app import participants
from arena.app.data import STORE
from arena.app.engines.local import LocalEngine, Setting, local_engine
from arena.app.sandboxes import chosen
from arena.app.times import clock_of, times_of
from arena.bots.driver import MatchOrder
from arena.cards import ACTIONS, GO_ON
from arena.errors import ArenaError, RecordError, UsageError
from arena.game.game import Game
from arena.game.rules import Rules
from arena.game.table import Table
from arena.game.views import DecisionPoint, View
from arena.match.absence import Place
from arena.match.clock import TimeControl
from arena.match.record import OpenDeal, Status, open_deal, replay_open
from arena.match.referee import Opening, Reply
from arena.reports.replay.model import Advice, DealReplay, MatchReplay
from arena.reports.times import DecisionTime
from arena.store import Epoch, MatchResult, Queries, Store, Tournament, open_queries, open_store
from arena.store.queries import LAST, in_words
from arena.tournament import decks
from arena.tournament.config import LeastSandbox

MARKER = "arena-replay"
START_S = 10.0


@dataclass(frozen=True, slots=True)
class Stored:
    """A match as it was found, with what is needed to deal it again."""

    tournament: Tournament
    epoch: Epoch
    secret: bytes
    result: MatchResult

    @property
    def rules(self) -> Rules:
        return _rules(self.tournament)

    @property
    def rules_name(self) -> str:
        return str(self.tournament.about["rules_name"])

    @property
    def time(self) -> TimeControl:
        return clock_of(self.epoch)


@dataclass(frozen=True, slots=True)
class Worst:
    """The deal that cost a bot most."""

    match: Stored
    bot: str
    deal: int
    lost: int
    """Game points that the best other side scored more."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A decision of a match."""

    match: Stored
    replay: MatchReplay
    deal: DealReplay
    step: int
    """From 1; not the end of the deal."""

    @property
    def view(self) -> View:
        """What the seat saw that was asked."""
        view = self.deal.open.scenes[self.step - 1].asked
        assert view is not None, "nobody is asked at the end of a deal"
        return view


# -- finding ----------------------------------------------------------------------------------------------------------


class Library:
    """The matches of a store whose cards may be seen; a context manager."""

    def __init__(self, data: Path, *, operator: bool = False) -> None:
        """Raises `UsageError` as `open_queries`; an operator sees the cards that are not revealed, too."""
        store = data / STORE
        self._queries: Queries = open_store(store, readonly=True) if operator else open_queries(store)

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self._queries.close()

    def match(self, run: str, name: str | None) -> Stored:
        """The match of a run by its place in the schedule (`17`, `EPOCH:17`) or its name in words; else the newest.

        Raises `UsageError`: no such run or match, or its cards are hidden yet.
        """
        tournament = self._tournament(run)
        result = self._newest(tournament) if name is None else self._named(tournament, name)
        if result is None:
            raise UsageError(f"no match of the run {tournament.name!r} was played yet; play one first")
        return self._opened(tournament, result)

    def listed(self, run: str, bot: str | None) -> Iterator[MatchResult]:
        """The matches of a run, or those of a bot in it, in the order of the schedule; their results are no secret.

        Raises `UsageError`: no such run, or nobody of that name in it.
        """
        tournament = self._tournament(run)
        wanted = None if bot is None else self._bot(tournament, bot)
        results = self._queries.results(tournament)
        return (result for result in results if wanted is None or wanted in result.seats)

    def worst(self, run: str, name: str | None, bot: str | None) -> Worst:
        """The deal in which a bot lost most game points, the first of those: in a match, or in the whole run.

        Without a name the bot is the first of two that entered.  Raises `UsageError`: as `match`, nobody of that name,
        or no deal was lost.
        """
        tournament = self._tournament(run)
        bot = self._bot(tournament, bot)
        worst: tuple[int, int, MatchResult] | None = None
        for result in self._visible(tournament) if name is None else [self.match(run, name).result]:
            for number, lost in _losses(Table.of(_rules(tournament)), result, bot):
                if lost > (worst[0] if worst else 0):
                    worst = lost, number, result
        if worst is None:
            raise UsageError(f"{bot!r} has lost no deal of {'this match' if name else f'the run {tournament.name!r}'}")
        lost, number, result = worst
        return Worst(self._opened(tournament, result), bot, number, lost)

    def _tournament(self, run: str) -> Tournament:
        """The last one may be a play here: who has just played wants to see that."""
        return self._queries.newest() if run == LAST else self._queries.tournament(run)

    def _newest(self, tournament: Tournament) -> MatchResult | None:
        newest = self._queries.newest_summaries(tournament)
        return self._queries.result(tournament, newest[0].key) if newest else None

    def _named(self, tournament: Tournament, name: str) -> MatchResult:
        result = None
        if place := re.fullmatch(r"(?:(\d{1,9}):)?(\d{1,9})", name):
            result = self._queries.result_at(tournament, Place(int(place[1] or 0), int(place[2])))
        elif key := next((key for key in self._queries.finished_keys(tournament) if in_words(key) == name), None):
            result = self._queries.result(tournament, key)
        if result is not None:
            return result
        newest = self._newest(tournament)
        played = f"the one played last is {newest.position}" if newest else "none was played yet"
        raise UsageError(
            f"the run {tournament.name!r} holds no match {name!r}; expected its place in the schedule, as in 17, "
            f"or in that of an epoch, as in 1:17, or its name as other commands write it; {played}"
        )

    def _visible(self, tournament: Tournament) -> Iterator[MatchResult]:
        """All matches whose cards may be seen.  Raises `UsageError` where none may."""
        visible = {
            epoch.number for epoch in self._queries.epochs(tournament) if self._secret(tournament, epoch) is not None
        }
        if not visible:
            raise _hidden(tournament)
        return (each for each in self._queries.results(tournament) if each.key.epoch in visible)

    def _opened(self, tournament: Tournament, result: MatchResult) -> Stored:
        epoch = next(each for each in self._queries.epochs(tournament) if each.number == result.key.epoch)
        secret = self._secret(tournament, epoch)
        if secret is None:
            raise _hidden(tournament)
        return Stored(tournament, epoch, secret, result)

    def _secret(self, tournament: Tournament, epoch: Epoch) -> bytes | None:
        """None where it is not for these eyes."""
        if isinstance(self._queries, Store):
            return self._queries.secret_of(tournament, epoch.number)
        return epoch.secret

    def _bot(self, tournament: Tournament, wanted: str | None) -> str:
        names = [participant.name for participant in self._queries.participants(tournament)]
        if wanted in names:
            return wanted
        if wanted is None and len(names) <= 2:
            return names[0]
        known = ", ".join(map(repr, names))
        if wanted is None:
            raise UsageError(f"the run {tournament.name!r} has {len(names)} bots; name one of them by --for: {known}")
        raise UsageError(f"nobody in the run {tournament.name!r} is called {wanted!r}; expected one of {known}")


def _hidden(tournament: Tournament) -> UsageError:
    return UsageError(
        f"the cards of the run {tournament.name!r} are hidden until its secret is revealed, for its decks are dealt "
        "again; replay it when it has ended (--operator shows them now)"
    )


def _rules(tournament: Tournament) -> Rules:
    return Rules().with_options(tournament.rules)


def _losses(table: Table, result: MatchResult, bot: str) -> Iterator[tuple[int, int]]:
    """Each deal by its number, with how much more the best other side scored than the bot."""
    for side, members in enumerate(table.members):
        if bot in (result.seats[seat] for seat in members):
            for number, deal in enumerate(result.record.deals, start=1):
                best = max(points for other, points in enumerate(deal.points) if other != side)
                yield number, best - deal.points[side]


# -- looking ----------------------------------------------------------------------------------------------------------


def build_replay(match: Stored) -> MatchReplay:
    """The whole match, step by step.  Raises `UsageError`: it is void, or its record does not replay."""
    result = match.result
    if result.record.status is Status.VOID:
        why = " ".join(result.record.testimony.evidence)
        raise UsageError(f"{in_words(result.key)} is void and has no deals: the arena failed to play it ({why})")
    game = Game(match.rules)
    list_id = decks.list_id(result.key.pairing, result.key.leg, result.key.number, result.mirrored)
    try:
        deals = list(
            replay_open(game, lambda number: decks.deck(match.secret, list_id, number, game.cards), result.record)
        )
    except RecordError as error:
        raise UsageError(
            f"the record of {in_words(result.key)} does not replay: {error}; "
            f"see `arena verify {match.tournament.name}` for what else was changed"
        ) from error
    return _replay(match, result, deals)


def _replay(match: Stored, result: MatchResult, deals: Sequence[OpenDeal], begun: int = 0) -> MatchReplay:
    """The replay of these deals; nobody was asked for the first `begun` actions of the first."""
    record = result.record
    times = [list(times_of(result, seat, match.time)) for seat in range(len(result.seats))]
    faults = {fault.deal: number for number, fault in enumerate(record.faults)}
    return MatchReplay(
        run=match.tournament.name,
        key=result.key,
        position=result.position,
        rules_name=match.rules_name,
        rules=match.rules,
        seats=result.seats,
        status=record.status,
        points=record.points,
        ranks=record.ranks,
        deals=tuple(
            DealReplay(
                open=deal,
                times=tuple(_times(deal, times, begun if deal is deals[0] else 0)),
                fault=record.faults[faults[deal.number]].fault.label if deal.number in faults else "",
                evidence=record.testimony.evidence[faults[deal.number]] if deal.number in faults else "",
            )
            for deal in deals
        ),
    )


def _times(deal: OpenDeal, times: Sequence[Sequence[DecisionTime]], begun: int) -> Iterator[DecisionTime | None]:
    """The time of each decision of a deal.  Who waives the question before a draw was not asked it."""
    views = [scene.asked for scene in deal.scenes if scene.asked is not None]
    mine = [[each for each in seats if each.spent.deal == deal.number] for seats in times]
    waives = [len(each) < sum(view.seat == seat for view in views[begun:]) for seat, each in enumerate(mine)]
    left = [iter(each) for each in mine]
    for number, (view, scene) in enumerate(zip(views, deal.scenes, strict=False)):
        waived = waives[view.seat] and view.point is DecisionPoint.BEFORE_DRAW and scene.action == GO_ON
        yield None if number < begun or waived else next(left[view.seat], None)


# -- asking again -----------------------------------------------------------------------------------------------------


async def ask_again(moment: Moment, bot: str, *, timed: bool = True) -> Advice:
    """What a bot would do at a decision: asked as it was, with the same view, bot seed and time that is left.

    Raises `UsageError`: the bot does not start.
    """
    async with _engine(moment.match, (bot,), timed) as (engine, (name,), logs):
        answer, ruled = await engine.consult(_order(engine, moment, moment.replay.seats), name, _opening(moment))
        return Advice(
            bot=name,
            action=ACTIONS[answer.action] if isinstance(answer, Reply) and ruled is None else None,
            took_ms=answer.took_ms,
            fault="" if ruled is None else ruled.fault.label,
            evidence="" if ruled is None else ruled.text,
            output=_written(logs),
        )


async def play_on(moment: Moment, bot: str, against: str | None, *, timed: bool = True) -> MatchReplay:
    """The deal with another end: from the decision on the bot plays the side that was asked, `against` the others.

    Without `against` the bot plays every side.  The replay holds this deal alone.  Raises as `ask_again`.
    """
    match, replay, deal = moment.match, moment.replay, moment.deal
    side = replay.table.members[replay.table.side_of[moment.view.seat]]
    words = (bot,) if against is None else (bot, against)
    async with _engine(match, words, timed) as (engine, names, _):
        seats = tuple(names[0] if seat in side else names[-1] for seat in range(replay.table.seats))
        order = _order(engine, moment, seats)
        record = await engine.play_one(order, seats, None, _opening(moment))
    if record.status is Status.VOID:
        raise ArenaError(f"the arena failed to play on: {' '.join(record.testimony.evidence)}")
    number = deal.open.number
    faulty = record.faults[0].seat if record.faults else None
    opened = open_deal(Game(match.rules), order.deck_of(number), number, moment.view, record.deals[0], faulty)
    return _replay(match, replace(match.result, seats=seats, record=record), [opened], begun=moment.step - 1)


def _opening(moment: Moment) -> Opening:
    view = moment.view
    spent_ms = tuple(tuple(_spent_ms(moment, seat)) for seat in range(len(moment.replay.seats)))
    return Opening(moment.deal.open.number, view.dealer, view.score, view.carry, view.past_actions, spent_ms)


def _spent_ms(moment: Moment, seat: int) -> Iterator[float]:
    """What the decisions of a seat before that moment were charged."""
    for deal in moment.replay.deals:
        times = deal.times[: moment.step - 1] if deal is moment.deal else deal.times
        yield from (time.spent.took_us / 1000 for time in times if time is not None and time.seat == seat)
        if deal is moment.deal:
            return


def _order(engine: LocalEngine, moment: Moment, seats: tuple[str, ...]) -> MatchOrder:
    return engine.order(moment.match.result.key, seats, moment.match.result.mirrored)


def _written(logs: Path) -> str:
    """All that a bot wrote."""
    return "".join(log.read_text(encoding="utf-8", errors="backslashreplace") for log in logs.glob("*.log"))


@asynccontextmanager
async def _engine(
    match: Stored, words: tuple[str, ...], timed: bool
) -> AsyncIterator[tuple[LocalEngine, tuple[str, ...], Path]]:
    """An engine for these bots under the rules of the match; with their names, and where their output goes."""
    specs = participants.of_words(words)
    sandbox = await asyncio.to_thread(chosen, LeastSandbox.AUTO, "arena replay", specs, None)
    time = match.time if timed else TimeControl(limit_ms=0)
    setting = Setting(match.rules, match.rules_name, time, START_S, sandbox=sandbox)
    with tempfile.TemporaryDirectory(prefix="arena-replay-") as logs:
        async with local_engine(setting, specs, {match.result.key.epoch: match.secret}, MARKER, Path(logs)) as engine:
            yield engine, tuple(specs), Path(logs)
