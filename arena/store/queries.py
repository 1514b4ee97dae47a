"""Reading the store: values for reports and pages.  Nothing here writes, and no secret leaves before it is revealed."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import count as every_number
from types import TracebackType
from typing import Any, Self

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, case, false, func, not_, null, or_, select

from arena.errors import ArenaError, UsageError
from arena.match.absence import Absences, Change, Exclusion, Place
from arena.match.endgame import VERSION as ENDGAME_VERSION
from arena.match.endgame import Judged
from arena.match.lag import Lag
from arena.match.record import MatchRecord, Status
from arena.match.rulings import Fault, Loss
from arena.match.summary import MatchKey, MatchSummary
from arena.store import locking, verify
from arena.store.chains import ChainHead, Participant, canonical, join
from arena.store.engine import AnyRow, Database, clock_ms
from arena.store.schema import (
    JOURNAL,
    KEY,
    endgames,
    epochs,
    exclusions,
    faults,
    locks,
    matches,
    participants,
    sessions,
    totals,
    tournaments,
    voids,
)
from arena.store.values import (
    Broken,
    DealOf,
    Endgames,
    Epoch,
    MatchResult,
    News,
    Session,
    State,
    StoredFault,
    StoredPlaces,
    Tally,
    Tournament,
    VoidAttempt,
    VoidMatch,
)

LAST = "last"
"""The word for the newest tournament; no tournament has it as its name."""

_KEY = tuple(matches.c[name] for name in KEY)
_ENDGAME_KEY = tuple(endgames.c[name] for name in KEY)
_SUMMARY = (*_KEY, matches.c.mirrored, matches.c.status, matches.c.summary)
_RESULT = (
    *_KEY,
    matches.c.position,
    matches.c.seats,
    matches.c.mirrored,
    matches.c.status,
    matches.c.summary,
    matches.c.play,
    matches.c.testimony,
)
LEFT_MS = (locks.c.expires_ms - clock_ms()).label("left_ms")
"""What is left of a lease."""
_TOURNAMENT = select(tournaments, locks.c.pid, locks.c.machine, locks.c.started_ms, LEFT_MS).outerjoin(
    locks, locks.c.tournament == tournaments.c.id
)


class Queries:
    """Read-only questions to a store.  All raise `UsageError` where the database fails or a row is damaged.

    Iterators stream: they hold a few hundred rows, whatever the size of the tournament, and see the store as it was
    when they began.  Matches come in schedule order, whoever finished first.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all connections."""
        self._database.close()

    # --- tournaments ----------------------------------------------------------------------------------------

    def tournament(self, name: str) -> Tournament:
        """The tournament of that name; `last` is the newest one, a play only where there is no other.

        Raises `UsageError`: no such tournament.
        """
        with self._database.reading() as connection:
            row = connection.execute(_TOURNAMENT.where(tournaments.c.name == name)).one_or_none()
            if row is not None:
                return _tournament(row)
            all_of_them = list(map(_tournament, connection.execute(_TOURNAMENT.order_by(tournaments.c.id))))
        if not all_of_them:
            raise UsageError("the store holds no tournament yet; play one first")
        if name == LAST:
            return max(all_of_them, key=lambda each: (not each.is_play, each.id))
        names = [each.name for each in all_of_them]
        near = get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"the last one is {names[-1]!r}"
        raise UsageError(f"the store holds no tournament {name!r}; {hint}")

    def newest(self) -> Tournament:
        """The one that was created last, be it a tournament or a play.  Raises `UsageError`: there is none."""
        with self._database.reading() as connection:
            row = connection.execute(_TOURNAMENT.order_by(tournaments.c.id.desc()).limit(1)).one_or_none()
        if row is None:
            raise UsageError("the store holds no match yet; play one first")
        return _tournament(row)

    def tournaments(self) -> tuple[Tally, ...]:
        """All tournaments with their sizes, in the order of their creation."""
        with self._database.reading() as connection:
            counted: dict[int, list[tuple[str, int]]] = {}
            sizes_by_status = select(matches.c.tournament, matches.c.status, func.count()).group_by(
                matches.c.tournament, matches.c.status
            )
            for some in _all_that_count(connection):
                for number, status, count in connection.execute(sizes_by_status.where(some)):
                    counted.setdefault(number, []).append((status, count))
            entered = select(participants.c.tournament, func.count()).group_by(participants.c.tournament)
            sizes = {row[0]: row[1] for row in connection.execute(entered)}
            rows = connection.execute(_TOURNAMENT.order_by(tournaments.c.id)).all()
            return tuple(
                Tally(_tournament(row), sizes.get(row.id, 0), _statuses(counted.get(row.id, ()))) for row in rows
            )

    def participants(self, tournament: Tournament) -> tuple[Participant, ...]:
        """Everybody who entered, in the order of entering."""
        with self._database.reading() as connection:
            return verify.participants_before(connection, tournament.id, None)

    def epochs(self, tournament: Tournament) -> tuple[Epoch, ...]:
        """The epochs by number; each with its secret only if that is revealed."""
        shown = case((epochs.c.revealed != 0, epochs.c.secret), else_=null())
        wanted = (
            select(epochs.c.serial, epochs.c.number, epochs.c.commitment, shown.label("secret"), epochs.c.config)
            .where(epochs.c.tournament == tournament.id)
            .order_by(epochs.c.number)
        )
        with self._database.reading() as connection:
            return tuple(
                _epoch(row, verify.participants_before(connection, tournament.id, row.serial))
                for row in connection.execute(wanted).all()
            )

    # --- matches --------------------------------------------------------------------------------------------

    def counts(self, tournament: Tournament) -> Mapping[Status, int]:
        """The matches that count (and those that are void) by status; no entry where there are none."""
        wanted = select(matches.c.status, func.count()).group_by(matches.c.status)
        with self._database.reading() as connection:
            found = connection.execute(wanted.where(_that_count(connection, tournament.id)))
            return _statuses((row[0], row[1]) for row in found)

    def news(self, tournament: Tournament, since: int = 0) -> News:
        """What `counts` has more than at the row `since` of the tournament's journal: reads nothing before it."""
        wanted = (
            select(matches.c.status, func.count(), func.max(matches.c.serial))
            .where(matches.c.serial > since)
            .group_by(matches.c.status)
        )
        with self._database.reading() as connection:
            found = connection.execute(wanted.where(_that_count(connection, tournament.id))).all()
        return News(
            row=max((last for _, _, last in found), default=since),
            counts=_statuses((status, count) for status, count, _ in found),
        )

    def played(self, tournament: Tournament) -> Mapping[tuple[str, ...], int]:
        """How many matches of each pairing there are, but for those that count for nobody since somebody is out."""
        wanted = select(matches.c.pairing, func.count()).group_by(matches.c.pairing).order_by(matches.c.pairing)
        with self._database.reading() as connection, _intact("a match"):
            found = connection.execute(wanted.where(_that_count(connection, tournament.id)))
            return {tuple(json.loads(pairing)): count for pairing, count in found}

    def stored(self, tournament: Tournament) -> StoredPlaces:
        """The places of all stored matches, those that stayed void and those that count for nobody included."""
        wanted = _in_schedule_order(select(matches.c.epoch, matches.c.position), tournament)
        with self._database.reading() as connection, _intact("a match"):
            return StoredPlaces((epoch, position) for epoch, position in connection.execute(wanted))

    def keys(self, tournament: Tournament) -> Iterator[MatchKey]:
        """The keys of all stored matches, those that stayed void and those that count for nobody included."""
        pairings: dict[str, tuple[str, ...]] = {}
        with self._database.reading() as connection:
            rows = connection.execute(_in_schedule_order(select(*_KEY), tournament))
            with _intact("a match"):
                for epoch, pairing, leg, number in rows:
                    yield MatchKey(epoch, _names(pairing, pairings), leg, number)

    def totals(self, tournament: Tournament) -> tuple[int, Any] | None:
        """What the matches up to a row of the journal add up to, and the serial of that row; None if nobody knows."""
        with self._database.reading() as connection, _intact("what the matches add up to"):
            kept = connection.execute(select(totals).where(totals.c.tournament == tournament.id)).one_or_none()
            if kept is None or kept.seal != _seal_at(connection, tournament, kept.serial):
                return None
            return kept.serial, json.loads(kept.totals)

    def summaries(self, tournament: Tournament) -> Iterator[MatchSummary]:
        """What tables need of each match, but for those that count for nobody since somebody is out."""
        wanted = _in_schedule_order(select(*_SUMMARY), tournament)
        pairings: dict[str, tuple[str, ...]] = {}
        with self._database.reading() as connection:
            for row in connection.execute(wanted.where(_that_count(connection, tournament.id))):
                yield _summary(row, pairings)

    def summaries_after(self, tournament: Tournament, row: int) -> Iterator[tuple[int, MatchSummary]]:
        """As `summaries`, but those stored after a row of the journal, in the order of commits, each with its row."""
        wanted = (
            select(*_SUMMARY, matches.c.serial)
            .where(matches.c.tournament == tournament.id, matches.c.serial > row)
            .order_by(matches.c.serial)
        )
        pairings: dict[str, tuple[str, ...]] = {}
        with self._database.reading() as connection:
            for found in connection.execute(wanted.where(_that_count(connection, tournament.id))):
                yield found.serial, _summary(found, pairings)

    def results(self, tournament: Tournament) -> Iterator[MatchResult]:
        """Each match whole, as it was recorded."""
        with self._database.reading() as connection:
            for row in connection.execute(_in_schedule_order(select(*_RESULT), tournament)):
                yield _result(row)

    def result(self, tournament: Tournament, key: MatchKey) -> MatchResult:
        """One match whole.  Raises `UsageError`: it is not stored."""
        wanted = select(*_RESULT).where(matches.c.tournament == tournament.id, _is(key))
        with self._database.reading() as connection:
            row = connection.execute(wanted).one_or_none()
        if row is None:
            raise UsageError(f"the tournament {tournament.name!r} holds no match {in_words(key)}")
        return _result(row)

    def result_at(self, tournament: Tournament, place: Place) -> MatchResult | None:
        """The match at a place of the schedule; None where it is not stored."""
        here = (matches.c.epoch == place.epoch) & (matches.c.position == place.position)
        wanted = select(*_RESULT).where(matches.c.tournament == tournament.id, here)
        with self._database.reading() as connection:
            row = connection.execute(wanted).one_or_none()
        return None if row is None else _result(row)

    def newest_summaries(self, tournament: Tournament, count: int = 1) -> list[MatchSummary]:
        """What tables need of the matches that were stored last, the newest first."""
        wanted = select(*_SUMMARY).where(matches.c.tournament == tournament.id).order_by(matches.c.serial.desc())
        pairings: dict[str, tuple[str, ...]] = {}
        with self._database.reading() as connection:
            return [_summary(row, pairings) for row in connection.execute(wanted.limit(count))]

    def count_of(
        self, tournament: Tournament, epoch: int, pairing: tuple[str, ...], leg: int, first: int, end: int
    ) -> int:
        """How many matches of a pairing's leg are stored, of the lists from `first` up to but not `end`."""
        wanted = (
            select(func.count())
            .select_from(matches)
            .where(
                matches.c.tournament == tournament.id,
                matches.c.epoch == epoch,
                matches.c.pairing == canonical(list(pairing)),
                matches.c.leg == leg,
                matches.c.number >= first,
                matches.c.number < end,
            )
        )
        with self._database.reading() as connection:
            return int(connection.execute(wanted).scalar_one())

    def match_record(self, tournament: Tournament, key: MatchKey) -> MatchRecord:
        """The record of one match.  Raises `UsageError`: it is not stored."""
        return self.result(tournament, key).record

    def faults(self, tournament: Tournament) -> Iterator[StoredFault]:
        """Every fault with its evidence, but for those in matches that count for nobody."""
        wanted = _in_schedule_order(
            select(
                *_KEY, *(column for column in faults.columns if column.name not in ("tournament", "serial"))
            ).join_from(
                faults,
                matches,
                (matches.c.tournament == faults.c.tournament) & (matches.c.serial == faults.c.match),
            ),
            tournament,
        ).order_by(faults.c.serial)
        with self._database.reading() as connection:
            for row in connection.execute(wanted.where(_that_count(connection, tournament.id))):
                yield _fault(row)

    def forfeiters(self, tournament: Tournament) -> Iterator[tuple[MatchKey, Collection[str] | None]]:
        """Who lost each stored match by a fault of their own, mostly nobody; None where it is void."""
        lost = select(faults.c.match, faults.c.participant).where(
            faults.c.tournament == tournament.id, faults.c.loss == Loss.MATCH.name.lower()
        )
        wanted = _in_schedule_order(select(*_KEY, matches.c.serial, matches.c.status), tournament)
        pairings: dict[str, tuple[str, ...]] = {}
        with self._database.reading() as connection:
            names: dict[int, list[str]] = {}
            for match, name in connection.execute(lost):
                names.setdefault(match, []).append(name)
            for epoch, pairing, leg, number, serial, status in connection.execute(wanted):
                key = MatchKey(epoch, _names(pairing, pairings), leg, number)
                yield key, None if status == Status.VOID else names.get(serial, ())

    def void_matches(self, tournament: Tournament) -> Iterator[VoidMatch]:
        """Every match that the arena failed to play, with the reason."""
        wanted = _in_schedule_order(select(*_KEY, matches.c.testimony), tournament)
        with self._database.reading() as connection:
            that_count = _that_count(connection, tournament.id)
            for row in connection.execute(wanted.where(that_count, matches.c.status == str(Status.VOID))):
                with _intact("a match"):
                    yield VoidMatch(_key(row), " ".join(json.loads(row.testimony)["evidence"]))

    # --- endgames -------------------------------------------------------------------------------------------

    def analysed(self, tournament: Tournament) -> Mapping[DealOf, int]:
        """The deals whose endgames were judged, and by which version of the analysis."""
        columns = endgames.c
        wanted = select(columns.participant, *_ENDGAME_KEY, columns.deal, columns.version)
        with self._database.reading() as connection, _intact("an endgame"):
            rows = connection.execute(wanted.where(columns.tournament == tournament.id))
            return {DealOf(row.participant, _key(row), row.deal): row.version for row in rows}

    def endgames(self, tournament: Tournament) -> Mapping[tuple[str, tuple[str, ...]], Endgames]:
        """By participant and pairing what was judged of it, but for matches that count for nobody."""
        columns = endgames.c
        reached = case((columns.choices > 0, 1), else_=0)
        totals = (
            func.coalesce(func.sum(each), 0)
            for each in (reached, columns.choices, columns.mistakes, columns.given_away)
        )
        wanted = (
            select(columns.participant, columns.pairing, func.count(columns.choices), *totals)
            .join(matches, (matches.c.tournament == columns.tournament) & _same_key(endgames))
            .where(_judged(tournament))
            .group_by(columns.participant, columns.pairing)
            .order_by(columns.participant, columns.pairing)
        )
        with self._database.reading() as connection, _intact("an endgame"):
            found = connection.execute(wanted.where(_that_count(connection, tournament.id)))
            return {(name, tuple(json.loads(pairing))): Endgames(*numbers) for name, pairing, *numbers in found}

    def judged(self, tournament: Tournament, key: MatchKey) -> Mapping[DealOf, tuple[Judged, ...]]:
        """The judged decisions of a match, by deal and participant; as its record does, they tell cards."""
        columns = endgames.c
        wanted = (
            select(endgames).where(_judged(tournament), _is(key, endgames)).order_by(columns.deal, columns.participant)
        )
        with self._database.reading() as connection, _intact("an endgame"):
            return {
                DealOf(row.participant, key, row.deal): tuple(map(Judged.from_json, json.loads(row.judged)))
                for row in connection.execute(wanted)
            }

    def dearest(self, tournament: Tournament, each: int) -> Mapping[DealOf, tuple[Judged, ...]]:
        """Of every participant those judged deals in which it gave most away, at most so many; they tell cards."""
        columns = endgames.c
        order = (columns.given_away.desc(), *_ENDGAME_KEY, columns.deal)
        place = func.row_number().over(partition_by=columns.participant, order_by=order).label("place")
        with self._database.reading() as connection, _intact("an endgame"):
            judged = (
                select(endgames, place)
                .join(matches, (matches.c.tournament == columns.tournament) & _same_key(endgames))
                .where(_judged(tournament), columns.given_away > 0, _that_count(connection, tournament.id))
                .subquery()
            )
            wanted = select(judged).where(judged.c.place <= each).order_by(judged.c.participant, judged.c.place)
            return {
                DealOf(row.participant, _key(row), row.deal): tuple(map(Judged.from_json, json.loads(row.judged)))
                for row in connection.execute(wanted)
            }

    # --- who is out -----------------------------------------------------------------------------------------

    def absences(self, tournament: Tournament) -> Absences:
        """Who is out, and the log that says so."""
        with self._database.reading() as connection:
            return absences_of(connection, tournament.id)

    def voids(self, tournament: Tournament) -> tuple[VoidAttempt, ...]:
        """Every attempt that the arena spoilt, in the order of events."""
        wanted = select(voids).where(voids.c.tournament == tournament.id).order_by(voids.c.serial)
        with self._database.reading() as connection:
            rows = connection.execute(wanted).all()
        with _intact("an attempt"):
            return tuple(VoidAttempt(_key(row), row.attempt, json.loads(row.text)) for row in rows)

    def sessions(self, tournament: Tournament) -> tuple[Session, ...]:
        """What the arenas that played it said of themselves, in the order of their ends."""
        wanted = select(sessions).where(sessions.c.tournament == tournament.id).order_by(sessions.c.serial)
        with self._database.reading() as connection:
            rows = connection.execute(wanted).all()
        with _intact("a session"):
            return tuple(Session(row.begun, row.jobs, Lag.from_json(json.loads(row.lag))) for row in rows)

    def lost_bummerls(self) -> Mapping[tuple[str, str], int]:
        """Career counts: matches lost by (author, bot name) over all versions and all rated tournaments.

        Every participant on a side that is not ranked first has lost; in a void match nobody has.
        """
        lost: dict[tuple[str, str], int] = {}
        rated = (tournaments.c.id == matches.c.tournament) & (tournaments.c.rated != 0)
        with self._database.reading() as connection, _intact("a match"):
            authors = {
                (row.tournament, row.name): row.author
                for row in connection.execute(
                    select(participants.c.tournament, participants.c.name, participants.c.author)
                )
            }
            lost_by = (
                select(matches.c.tournament, matches.c.losers, func.count())
                .join(tournaments, rated)
                .group_by(matches.c.tournament, matches.c.losers)
            )
            for some in _all_that_count(connection):
                for number, losers, count in connection.execute(lost_by.where(some)):
                    for name in json.loads(losers):
                        career = (authors[number, name], name)
                        lost[career] = lost.get(career, 0) + count
        return dict(sorted(lost.items()))

    # --- chains ---------------------------------------------------------------------------------------------

    def chain_head(
        self, tournament: Tournament, planned: Callable[[int], Iterable[int]] = lambda epoch: every_number()
    ) -> ChainHead:
        """The play chain's head over the complete prefix of each epoch's schedule, and how many matches that is.

        `planned` gives the positions of an epoch that are to be played, ascending: all but those that are left out.
        """
        with self._database.reading() as connection:
            return join(verify.chains(connection, tournament.id, planned))

    def verify_plays(self, tournament: Tournament) -> Broken | None:
        """Compute the hash of every play again from what is stored; the first difference, or None."""
        with self._database.reading() as connection:
            return verify.plays(connection, tournament.id)

    def verify_seals(self, tournament: Tournament) -> Broken | None:
        """Compute every seal again from what is stored; the first row that is not what was committed, or None."""
        with self._database.reading() as connection:
            return verify.seals(connection, tournament.id) or verify.indexes(connection)


def in_words(key: MatchKey) -> str:
    """A match's key for a sentence."""
    return f"{' - '.join(key.pairing)} (epoch {key.epoch}, leg {key.leg}, number {key.number})"


# --- what counts --------------------------------------------------------------------------------------------


def absences_of(connection: Connection, tournament: int) -> Absences:
    """Who is out, as the log says."""
    columns = exclusions.c
    wanted = (
        select(columns.participant, columns.change, columns.reason, columns.epoch, columns.position, columns.created)
        .where(columns.tournament == tournament)
        .order_by(columns.serial)
    )
    with _intact("an exclusion"):
        return Absences.of(
            Exclusion(row.participant, Change(row.change), row.reason, Place(row.epoch, row.position), row.created)
            for row in connection.execute(wanted)
        )


def _that_count(connection: Connection, tournament: int) -> ColumnElement[bool]:
    """Of the matches of a tournament all but those that are left out since somebody is out of it."""
    spans = absences_of(connection, tournament).spans
    mine = matches.c.tournament == tournament
    if not spans:
        return mine
    left_out: list[ColumnElement[bool]] = []
    met = connection.execute(select(matches.c.pairing).where(mine).distinct()).scalars().all()
    for name, each in spans.items():
        pairings = [pairing for pairing in met if name in json.loads(pairing)]
        for start, end in each:
            before = false() if end is None else _from(end)
            left_out.append(matches.c.pairing.in_(pairings) & _from(start) & not_(before))
    return mine & not_(or_(*left_out))


def _all_that_count(connection: Connection) -> Iterator[ColumnElement[bool]]:
    """The matches of all tournaments that count, a part at a time: few tournaments leave any out."""
    logged = connection.execute(select(exclusions.c.tournament).distinct()).scalars().all()
    yield matches.c.tournament.not_in(logged)
    for tournament in logged:
        yield _that_count(connection, tournament)


def _from(place: Place) -> ColumnElement[bool]:
    return (matches.c.epoch > place.epoch) | ((matches.c.epoch == place.epoch) & (matches.c.position >= place.position))


# --- rows to values -----------------------------------------------------------------------------------------


@contextmanager
def _intact(what: str) -> Iterator[None]:
    """Whatever cannot be read back was changed after its commit."""
    try:
        yield
    except UsageError:
        raise
    except (ArenaError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(
            f"{what} in the store is damaged ({error}); verify the tournament to see where, and go on with a copy"
        ) from error


def _seal_at(connection: Connection, tournament: Tournament, serial: int) -> str | None:
    """The seal of a row of the journal; None where there is no such row."""
    for table in JOURNAL:
        wanted = select(table.c.seal).where(table.c.tournament == tournament.id, table.c.serial == serial)
        if (found := connection.execute(wanted).scalar()) is not None:
            return str(found)
    return None


def _in_schedule_order(wanted: Select[Any], tournament: Tournament) -> Select[Any]:
    return wanted.where(matches.c.tournament == tournament.id).order_by(matches.c.epoch, matches.c.position)


def _statuses(counted: Iterable[tuple[str, int]]) -> dict[Status, int]:
    with _intact("a match"):
        found = {Status(status): count for status, count in counted}
    return {status: found[status] for status in Status if status in found}


def _judged(tournament: Tournament) -> ColumnElement[bool]:
    """The endgames that this version of the analysis has judged."""
    return (endgames.c.tournament == tournament.id) & (endgames.c.version == ENDGAME_VERSION)


def _same_key(table: Table) -> ColumnElement[bool]:
    return and_(*(table.c[name] == matches.c[name] for name in KEY))


def _is(key: MatchKey, table: Table = matches) -> ColumnElement[bool]:
    epoch, pairing, leg, number = (table.c[name] for name in KEY)
    return (epoch == key.epoch) & (pairing == canonical(key.pairing)) & (leg == key.leg) & (number == key.number)


def _names(text: str, known: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The names in a JSON list; equal lists are one tuple, so that a million keys share a few."""
    names = known.get(text)
    if names is None:
        names = known[text] = tuple(json.loads(text))
    return names


def _key(row: AnyRow) -> MatchKey:
    return MatchKey(row.epoch, tuple(json.loads(row.pairing)), row.leg, row.number)


def _tournament(row: AnyRow) -> Tournament:
    with _intact(f"the tournament {row.name!r}"):
        state = State(row.state)
        if state is State.RUNNING and not locking.holds(row):
            state = State.INTERRUPTED  # its process died and could not say so
        return Tournament(
            id=row.id,
            name=row.name,
            created=row.created,
            rated=bool(row.rated),
            config=json.loads(row.config),
            rules=json.loads(row.rules),
            about=json.loads(row.about),
            state=state,
        )


def _epoch(row: AnyRow, entered: Sequence[Participant]) -> Epoch:
    with _intact(f"the epoch {row.number}"):
        return Epoch(
            number=row.number,
            commitment=row.commitment,
            secret=None if row.secret is None else bytes.fromhex(row.secret),
            config=json.loads(row.config),
            participants=tuple(sorted(participant.name for participant in entered)),
        )


def _summary(row: AnyRow, pairings: dict[str, tuple[str, ...]]) -> MatchSummary:
    with _intact("a match"):
        key = MatchKey(row.epoch, _names(row.pairing, pairings), row.leg, row.number)
        return MatchSummary.from_json(key, Status(row.status), bool(row.mirrored), json.loads(row.summary))


def _result(row: AnyRow) -> MatchResult:
    with _intact("a match"):
        summary = _summary(row, {})
        return MatchResult(
            key=summary.key,
            position=row.position,
            seats=tuple(json.loads(row.seats)),
            mirrored=summary.mirrored,
            record=MatchRecord.from_json(json.loads(row.play), json.loads(row.testimony)),
            summary=summary,
        )


def _fault(row: AnyRow) -> StoredFault:
    with _intact("a fault"):
        return StoredFault(
            key=_key(row),
            participant=row.participant,
            seat=row.seat,
            deal=row.deal,
            decision=row.decision,
            fault=Fault[row.kind.upper().replace("-", "_")],
            loss=Loss[row.loss.upper()],
            evidence=json.loads(row.evidence),
        )
