"""A stored match to be looked at.

The cards of an epoch are shown once its secret is revealed, before that to an operator alone: its decks are still being
dealt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from arena.app.data import Archive
from arena.app.times import clock_of, times_of
from arena.cards import GO_ON
from arena.errors import RecordError, UsageError
from arena.game.game import Game
from arena.game.rules import Rules
from arena.game.table import Table
from arena.game.views import DecisionPoint
from arena.match.absence import Place
from arena.match.clock import TimeControl
from arena.match.endgame import Judged
from arena.match.record import OpenDeal, Status, replay_open
from arena.reports.replay.model import DealReplay, MatchReplay
from arena.reports.times import DecisionTime
from arena.store import DealOf, Epoch, MatchResult, Queries, Store, Tournament, open_queries, open_store
from arena.store.queries import LAST, in_words
from arena.tournament import decks


@dataclass(frozen=True, slots=True)
class Stored:
    """A match as it was found, with what is needed to deal it again."""

    tournament: Tournament
    epoch: Epoch
    secret: bytes
    result: MatchResult
    judged: Mapping[DealOf, Sequence[Judged]]
    """What `arena analyse` has found in it."""

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


# -- finding ----------------------------------------------------------------------------------------------------------


class Library:
    """The matches of a store whose cards may be seen; a context manager."""

    def __init__(self, archive: Archive, *, operator: bool = False) -> None:
        """Raises `UsageError` as `open_queries`; an operator sees the cards that are not revealed, too."""
        where = archive.store
        self._queries: Queries = open_store(where, readonly=True) if operator else open_queries(where)

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
        elif key := next((key for key in self._queries.keys(tournament) if in_words(key) == name), None):
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
        return Stored(tournament, epoch, secret, result, self._queries.judged(tournament, result.key))

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
    solved = {(of.deal, each.decision): each.values for of, judged in match.judged.items() for each in judged}

    def deck_of(number: int) -> Sequence[int]:
        return decks.deck(match.secret, list_id, number, game.cards)

    try:
        deals = list(replay_open(game, deck_of, result.record, solved))
    except RecordError as error:
        raise UsageError(
            f"the record of {in_words(result.key)} does not replay: {error}; "
            f"see `arena verify {match.tournament.name}` for what else was changed"
        ) from error
    return replay_of(match, result, deals)


def replay_of(match: Stored, result: MatchResult, deals: Sequence[OpenDeal], begun: int = 0) -> MatchReplay:
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
