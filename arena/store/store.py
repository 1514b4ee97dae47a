"""Writing the store: each method is one transaction, on disk when it returns and not begun when it raises.

Methods block on the disk: the arena calls those that write from one thread of its own, never from its event loop.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, bindparam, delete, insert, select, update

from arena.errors import UsageError
from arena.match.absence import Exclusion
from arena.match.endgame import VERSION as ENDGAME_VERSION
from arena.match.endgame import Judged
from arena.match.record import Status, Testimony
from arena.match.summary import MatchKey
from arena.store import locking
from arena.store.chains import Participant, canonical, canonical_numbers, first_seal, play_hash, seal
from arena.store.engine import AnyRow, Database, clock_ms, connect
from arena.store.queries import LAST, LEFT_MS, Queries, absences_of, in_words
from arena.store.schema import (
    JOURNAL,
    endgames,
    epochs,
    exclusions,
    faults,
    locks,
    matches,
    participants,
    sealed_columns,
    sessions,
    totals,
    tournaments,
    voids,
)
from arena.store.values import DealOf, MatchResult, NameTaken, Session, State, StoreError, TakenOver, Tournament
from arena.store.verify import participants_before

__all__ = ["MatchResult", "Store", "StoreError", "open_queries", "open_store"]

_NUMBERS_AT_ONCE = 1000
"""How many matches one question names: databases bound it."""


def open_store(where: Path | str, *, readonly: bool = False) -> Store:
    """Open the store at a path or URL (`postgresql://...`); make it where there is none, unless `readonly`.

    Raises `UsageError`: not a store, another version of it, not readable or writable, its folder missing.
    """
    return Store(connect(where, readonly=readonly))


def open_queries(where: Path | str) -> Queries:
    """Open a store for reports and pages: it cannot write, and has no word for a secret.  Raises as `open_store`."""
    return Queries(connect(where, readonly=True))


class Store(Queries):
    """The arena's own access.  Raises `StoreError` for a contradiction, which is a bug of the arena."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._holds: dict[int, _Hold] = {}
        """The tournaments that it holds, by their numbers."""
        self._entered: dict[int, dict[str, int]] = {}
        """By the numbers of tournaments: who has entered, in which row of the journal.  Nobody ever leaves it."""

    # --- tournaments ----------------------------------------------------------------------------------------

    def create_tournament(
        self,
        name: str,
        config: Mapping[str, Any],
        rules: Mapping[str, Any],
        participants: Sequence[Participant],
        rated: bool,
        created: datetime,
        *,
        about: Mapping[str, Any] | None = None,
    ) -> Tournament:
        """Enter a tournament and its participants; it has no epoch yet.

        `config` holds what decides its results and enters the play chain, as `rules` do; what decides nothing
        (title, jobs) goes into `about`.  `created` is aware of its zone.  Raises `NameTaken`, or
        `UsageError` for an impossible name.
        """
        if name == LAST or not name or not name.isprintable():
            raise UsageError(f"a tournament cannot be named {name!r}; choose another name")
        if created.tzinfo is None:
            raise ValueError("the time of creation has no zone")
        facts = {
            "name": name,
            "created": created.astimezone(UTC).isoformat(timespec="seconds"),
            "rated": int(rated),
            "config": canonical(config),
            "rules": canonical(rules),
            "about": canonical(about or {}),
        }
        start = first_seal([facts[column.name] for column in sealed_columns(tournaments)])
        with self._database.writing() as connection:
            taken = select(tournaments.c.created).where(tournaments.c.name == name)
            if (since := connection.execute(taken).scalar()) is not None:
                raise NameTaken(f"the tournament {name!r} exists since {since}; resume it, or choose another name")
            state = str(State.CREATED)
            number = connection.execute(
                insert(tournaments)
                .values(**facts, seal=start, state=state, rows=0, head=start)
                .returning(tournaments.c.id)
            ).scalar_one()
            journal = _Journal(connection, number)
            _enter(journal, participants)
            journal.write()
        return self.tournament(name)

    def add_participants(self, tournament: Tournament, added: Sequence[Participant]) -> None:
        """Enter more participants: they play in the epochs opened from now on.  Raises `UsageError`: name taken."""
        with self._changing(tournament) as journal:
            _enter(journal, added)

    def set_state(self, tournament: Tournament, state: State) -> None:
        """Say how far it is; `RUNNING` reads as `INTERRUPTED` as soon as no living process holds the lock."""
        with self._changing(tournament) as journal:
            journal.connection.execute(
                update(tournaments).where(tournaments.c.id == tournament.id).values(state=str(state))
            )

    # --- epochs ---------------------------------------------------------------------------------------------

    def open_epoch(
        self,
        tournament: Tournament,
        number: int,
        secret: bytes,
        commitment: str,
        *,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        """Keep an epoch's secret and commitment, before its first deal; all who have entered play in it.

        `config` is what its schedule follows from, if it is not that of the tournament any more.  Raises
        `StoreError`: the number is used; `UsageError`: the commitment is, so that the decks would come again.
        """
        with self._changing(tournament) as journal:
            for used in journal.connection.execute(select(epochs).where(epochs.c.tournament == tournament.id)):
                if used.number == number:
                    raise StoreError(f"epoch {number} of {tournament.name!r} is open already")
                if used.commitment == commitment or used.secret == secret.hex():
                    raise UsageError(
                        f"epoch {number} of {tournament.name!r} has the secret of epoch {used.number}; "
                        "a secret deals once, give another seed"
                    )
            config_text = canonical(tournament.config if config is None else config)
            journal.add(
                epochs,
                {"number": number, "commitment": commitment, "secret": secret.hex(), "config": config_text},
                {"revealed": 0},
            )

    def secret_of(self, tournament: Tournament, epoch: int) -> bytes:
        """An epoch's secret, revealed or not: for dealing, and for the operator."""
        wanted = select(epochs.c.secret).where(_epoch(tournament, epoch))
        with self._database.reading() as connection:
            secret = connection.execute(wanted).scalar()
        if secret is None:
            raise StoreError(f"{tournament.name!r} has no epoch {epoch}")
        return bytes.fromhex(secret)

    def reveal(self, tournament: Tournament, epoch: int) -> None:
        """Show an epoch's secret to readers from now on; no further match of it can be recorded."""
        with self._changing(tournament) as journal:
            revealed = journal.connection.execute(update(epochs).where(_epoch(tournament, epoch)).values(revealed=1))
            if not revealed.rowcount:
                raise StoreError(f"{tournament.name!r} has no epoch {epoch}")

    # --- matches --------------------------------------------------------------------------------------------

    def record(
        self, tournament: Tournament, results: Sequence[MatchResult], quarantined: Sequence[Exclusion] = ()
    ) -> int:
        """Commit a group of results, and who is quarantined by them, all or none; returns how many results are new.

        What is stored already is passed over, so that a group whose commit was never heard of can be recorded again.
        Raises `StoreError`: another play of a stored match, or a result that fits no epoch, participant or place in
        the schedule.
        """
        rows: dict[MatchKey, tuple[MatchResult, dict[str, Any]]] = {}
        for result in results:
            row = _row(result)
            if rows.setdefault(result.key, (result, row))[1]["play_hash"] != row["play_hash"]:
                raise _played_twice(result.key)
        try:
            self._record(tournament, rows, quarantined)
        except StoreError:  # seldom, so that it pays to ask only now what is stored already
            with self._database.reading() as connection:
                stored = dict(_stored(connection, tournament, list(rows)))
            if not stored:
                raise
            for key, play in stored.items():
                if rows.pop(key)[1]["play_hash"] != play:
                    raise _played_twice(key) from None
            self._record(tournament, rows, quarantined)
        return len(rows)

    def _record(
        self,
        tournament: Tournament,
        rows: Mapping[MatchKey, tuple[MatchResult, dict[str, Any]]],
        quarantined: Sequence[Exclusion],
    ) -> None:
        with self._changing(tournament) as journal:
            self._check(journal, tournament, [result for result, _ in rows.values()])
            for result, row in rows.values():
                serial = journal.add(matches, row)
                for fault in _fault_rows(result, serial):
                    journal.add(faults, fault)
            out = absences_of(journal.connection, tournament.id).out if quarantined else ()
            for entry in quarantined:
                if entry.participant not in out:
                    _log(journal, entry)

    def _check(self, journal: _Journal, tournament: Tournament, results: Sequence[MatchResult]) -> None:
        """A result is of an open epoch, and of participants who had entered when it was opened."""
        entered = self._entered.setdefault(tournament.id, {})
        if not all(name in entered for result in results for name in result.seats):
            found = journal.connection.execute(_ENTERED, {"tournament": tournament.id})
            entered.update(tuple(row) for row in found)
        for result in results:
            epoch = journal.epochs.get(result.key.epoch)
            if epoch is None:
                raise StoreError(f"the match {in_words(result.key)} is of an epoch that was never opened")
            if epoch.revealed:
                raise StoreError(f"the match {in_words(result.key)} came after the secret of its epoch was revealed")
            for name in result.seats:
                if entered.get(name, epoch.serial) >= epoch.serial:
                    raise StoreError(f"{name!r} had not entered when the epoch of {in_words(result.key)} was opened")

    def log_exclusion(self, tournament: Tournament, entry: Exclusion) -> None:
        """Enter who is out, or in again, by the organiser's will."""
        with self._changing(tournament) as journal:
            _log(journal, entry)

    def record_void(self, tournament: Tournament, key: MatchKey, text: str) -> int:
        """Note that the arena spoilt an attempt at a match that it will play again, and why.

        Returns the number of the attempt, from 1; counted on over restarts.  After the last attempt the match itself
        is recorded with the status void.
        """
        wanted = (
            select(voids.c.serial)
            .where(voids.c.tournament == tournament.id)
            .where(*(voids.c[name] == value for name, value in _key_row(key).items()))
        )
        with self._changing(tournament) as journal:
            attempt = 1 + len(journal.connection.execute(wanted).all())
            journal.add(voids, {**_key_row(key), "attempt": attempt, "text": canonical(text)})
        return attempt

    # --- endgames -------------------------------------------------------------------------------------------

    def add_endgames(
        self, tournament: Tournament, found: Mapping[DealOf, Sequence[Judged] | None], replaced: Iterable[DealOf] = ()
    ) -> None:
        """Keep what was judged of these deals (None: sat out), in place of what was known of them and of `replaced`."""
        rows = [
            {
                "tournament": tournament.id,
                "participant": deal.participant,
                **_key_row(deal.key),
                "deal": deal.deal,
                "version": ENDGAME_VERSION,
                "choices": None if judged is None else len(judged),
                "mistakes": None if judged is None else sum(each.given_away > 0 for each in judged),
                "given_away": None if judged is None else sum(each.given_away for each in judged),
                "judged": canonical([each.to_json() for each in judged or ()]),
            }
            for deal, judged in found.items()
        ]
        with self._database.writing(tournament.id) as connection:
            _forget(connection, tournament, [*found, *replaced])
            connection.execute(insert(endgames), rows)

    def forget_endgames(self, tournament: Tournament, deals: Iterable[DealOf]) -> None:
        """Drop what was judged of these deals."""
        with self._database.writing(tournament.id) as connection:
            _forget(connection, tournament, deals)

    # --- totals ---------------------------------------------------------------------------------------------

    def keep_totals(self, tournament: Tournament, sums: Mapping[str, Any]) -> None:
        """Keep what all stored matches add up to, so that readers need to count only what comes after."""
        with self._changing(tournament) as journal:
            kept = {"serial": journal.serial, "seal": journal.head, "totals": canonical(sums)}
            journal.connection.execute(delete(totals).where(totals.c.tournament == tournament.id))
            journal.connection.execute(insert(totals).values(tournament=tournament.id, **kept))

    # --- sessions -------------------------------------------------------------------------------------------

    def add_session(self, tournament: Tournament, session: Session) -> None:
        """Note what the arena that played says of itself."""
        with self._changing(tournament) as journal:
            lag = canonical(session.lag.to_json())
            journal.add(sessions, {"begun": session.begun, "jobs": session.jobs, "lag": lag})

    # --- the lock -------------------------------------------------------------------------------------------

    @contextmanager
    def lock(self, tournament: Tournament, *, lease_s: float = locking.LEASE_S) -> Iterator[None]:
        """Hold a tournament for this process: one arena at a time.

        Its lease is renewed while the block lasts.  What a dead process held is taken over, and what one elsewhere
        has not renewed in time; that one's writes then raise `TakenOver`.  Raises `UsageError`: another holds it.
        """
        this = locking.Process.this()
        hold = _Hold(this.token)
        mine = (locks.c.tournament == tournament.id) & (locks.c.token == this.token)
        expires = clock_ms() + round(1000 * lease_s)
        with hold.extended(lease_s), self._database.writing(tournament.id) as connection:
            wanted = select(locks, LEFT_MS).where(locks.c.tournament == tournament.id)
            holder = connection.execute(wanted).one_or_none()
            if holder is not None and locking.holds(holder):
                until = "wait for its end or stop it, then try again"
                if holder.machine != this.machine:
                    until += f"; if that machine is gone, the tournament is free in {1 + holder.left_ms // 1000} s"
                raise UsageError(
                    f"the tournament {tournament.name!r} is played by process {holder.pid} on {holder.host} since "
                    f"{holder.acquired}; {until}"
                )
            connection.execute(delete(locks).where(locks.c.tournament == tournament.id))
            connection.execute(insert(locks).values(tournament=tournament.id, **asdict(this), expires_ms=expires))

        def renew() -> None:
            with hold.extended(lease_s), self._database.writing(tournament.id) as connection:
                connection.execute(update(locks).where(mine).values(expires_ms=expires))

        self._holds[tournament.id] = hold
        try:
            with locking.renewed(renew, lease_s):
                yield
        finally:
            self._holds.pop(tournament.id, None)
            # A lock that a broken database keeps is void as soon as this process has ended.
            with suppress(UsageError), self._database.writing(tournament.id) as connection:
                connection.execute(delete(locks).where(mine))

    def patience_s(self, tournament: Tournament) -> float:
        """How long a tournament that this process holds surely stays its own, without a word from the database.

        Less what a last commit may take; negative where that is over.  0 where it holds none.
        """
        hold = self._holds.get(tournament.id)
        return hold.until - time.monotonic() if hold else 0.0

    @contextmanager
    def _changing(self, tournament: Tournament) -> Iterator[_Journal]:
        """One transaction on a tournament; what was added to its journal is written at its end.

        Raises `TakenOver`: another arena holds the tournament, or has held it since this one did.
        """
        with self._database.writing(tournament.id) as connection:
            hold = self._holds.get(tournament.id)
            journal = _Journal(connection, tournament.id, hold.token if hold else None)
            yield journal
            journal.write()


@dataclass(slots=True)
class _Hold:
    """A lock that this process has."""

    token: str
    until: float = 0.0
    """When nothing should be begun any more by it, by the clock of this process."""

    @contextmanager
    def extended(self, lease_s: float) -> Iterator[None]:
        """The block asks for a lease: if it succeeds, that lasts from its beginning at least."""
        until = time.monotonic() + (1 - locking.SPARE) * lease_s
        yield
        self.until = until


# --- the journal --------------------------------------------------------------------------------------------


# Every commit needs these; to make a statement costs several times what it costs to execute it.
_HEAD = (
    select(
        tournaments.c.rows, tournaments.c.head, tournaments.c.name,
        locks.c.token, locks.c.pid, locks.c.host, locks.c.acquired,
        epochs.c.number, epochs.c.serial, epochs.c.revealed,
    )
    .outerjoin(locks, locks.c.tournament == tournaments.c.id)
    .outerjoin(epochs, epochs.c.tournament == tournaments.c.id)
    .where(tournaments.c.id == bindparam("tournament"))
)  # fmt: skip
_NEW_HEAD = update(tournaments).where(tournaments.c.id == bindparam("tournament"))
_ADD = {table: insert(table) for table in JOURNAL}
_ENTERED = select(participants.c.name, participants.c.serial).where(
    participants.c.tournament == bindparam("tournament")
)


class _Journal:
    """The rows that one transaction adds to a tournament, numbered and sealed in the order of `add`."""

    def __init__(self, connection: Connection, tournament: int, token: str | None = None) -> None:
        """`token`: of the lock by which this arena holds the tournament; None: nobody is to hold it."""
        rows = connection.execute(_HEAD, {"tournament": tournament}).all()
        if not rows:
            raise StoreError(f"the store has no tournament number {tournament}")
        row = rows[0]
        if row.token != token:
            by = "another arena" if row.token is None else f"process {row.pid} on {row.host} since {row.acquired}"
            raise TakenOver(f"the tournament {row.name!r} was taken over by {by}; this arena writes nothing more to it")
        self.connection = connection
        self.epochs: Mapping[int, AnyRow] = {row.number: row for row in rows}
        """Those that are open, by their numbers: their `serial`, and whether they are `revealed`."""
        self._tournament = tournament
        self.serial: int = row.rows
        self.head: str = row.head
        self._rows: dict[Table, list[dict[str, Any]]] = {table: [] for table in JOURNAL}

    def entered(self) -> tuple[Participant, ...]:
        """The participants whose rows are written."""
        return participants_before(self.connection, self._tournament, None)

    def add(self, table: Table, sealed: dict[str, Any], changing: Mapping[str, Any] | None = None) -> int:
        """Seal a row; returns its serial."""
        self.serial += 1
        row = {"serial": self.serial, **sealed}
        self.head = seal(self.head, table.name, [row[column.name] for column in sealed_columns(table)])
        self._rows[table].append({**row, **(changing or {}), "tournament": self._tournament, "seal": self.head})
        return self.serial

    def write(self) -> None:
        """Hand all rows to the database, and the journal's new head with them."""
        rows_by_table = {table: rows for table, rows in self._rows.items() if rows}
        if not rows_by_table:
            return
        for table, rows in rows_by_table.items():
            self.connection.execute(_ADD[table], rows)
        head = {"rows": self.serial, "head": self.head}
        self.connection.execute(_NEW_HEAD, {"tournament": self._tournament, **head})


def _enter(journal: _Journal, entered: Sequence[Participant]) -> None:
    taken = {participant.name for participant in journal.entered()}
    for participant in entered:
        row = asdict(participant)
        for field, value in row.items():
            if not value.isprintable():
                raise UsageError(
                    f"the {field} {value!a} of a participant holds unprintable characters; expected printable ones"
                )
        if participant.name in taken:
            raise UsageError(f"the name {participant.name!r} is taken by another participant; give it another name")
        taken.add(participant.name)
        journal.add(participants, row)


def _log(journal: _Journal, entry: Exclusion) -> None:
    journal.add(
        exclusions,
        {
            "participant": entry.participant,
            "change": str(entry.change),
            "reason": entry.reason,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "epoch": entry.place.epoch,
            "position": entry.place.position,
        },
    )


def _forget(connection: Connection, tournament: Tournament, deals: Iterable[DealOf]) -> None:
    for deal in deals:
        place = {"participant": deal.participant, **_key_row(deal.key), "deal": deal.deal}
        here = [endgames.c[name] == value for name, value in place.items()]
        connection.execute(delete(endgames).where(endgames.c.tournament == tournament.id, *here))


# --- results to rows ----------------------------------------------------------------------------------------


def _row(result: MatchResult) -> dict[str, Any]:
    """The sealed columns of a match."""
    record, summary = result.record, result.summary
    if (summary.key, summary.mirrored, summary.status) != (result.key, result.mirrored, record.status):
        raise StoreError(f"the summary of {in_words(result.key)} is that of another match")
    key, seats, play = _key_row(result.key), canonical(result.seats), canonical(record.play_json())
    return {
        **key,
        "position": result.position,
        "seats": seats,
        "mirrored": int(result.mirrored),
        "status": str(record.status),
        "losers": canonical(_losers(result)),
        "play_hash": play_hash(**key, seats=seats, play=play),
        "summary": canonical(summary.to_json()),
        "play": play,
        "testimony": _testimony(record.testimony),
    }


def _testimony(testimony: Testimony) -> str:
    """It as canonical JSON: all of it but the evidence is numbers."""
    texts = {
        name: canonical(value) if name == "evidence" else canonical_numbers(value)
        for name, value in testimony.to_json().items()
    }
    return "{" + ",".join(f'"{name}":{text}' for name, text in sorted(texts.items())) + "}"


def _key_row(key: MatchKey) -> dict[str, Any]:
    return {"epoch": key.epoch, "pairing": canonical(key.pairing), "leg": key.leg, "number": key.number}


def _losers(result: MatchResult) -> list[str]:
    """Who lost a Bummerl: every participant on a side that is not ranked first; nobody in a void match."""
    if result.record.status is Status.VOID:
        return []
    behind = [side for side in result.summary.sides if side.rank > 1]
    return [name for side in behind for name in dict.fromkeys(side.participants)]  # one may sit on two seats


def _fault_rows(result: MatchResult, match: int) -> Iterator[dict[str, Any]]:
    """The sealed columns of the match's faults; evidence is one for one with them where there is any."""
    evidence = result.record.testimony.evidence
    for index, fault in enumerate(result.record.faults):
        yield {
            "match": match,
            "participant": result.seats[fault.seat],
            "seat": fault.seat,
            "deal": fault.deal,
            "decision": fault.decision,
            "kind": fault.fault.label,
            "loss": fault.loss.name.lower(),
            "evidence": canonical(evidence[index] if index < len(evidence) else ""),
        }


# --- parts of `record` --------------------------------------------------------------------------------------


def _epoch(tournament: Tournament, number: int) -> ColumnElement[bool]:
    return (epochs.c.tournament == tournament.id) & (epochs.c.number == number)


def _played_twice(key: MatchKey) -> StoreError:
    return StoreError(f"the match {in_words(key)} was played twice, with different plays; the first one stands")


def _stored(connection: Connection, tournament: Tournament, keys: Sequence[MatchKey]) -> Iterator[tuple[MatchKey, str]]:
    """The play hashes of those keys that are stored, asked for by pairing and leg as they come in blocks."""
    blocks: dict[tuple[int, tuple[str, ...], int], list[int]] = {}
    for key in keys:
        blocks.setdefault((key.epoch, key.pairing, key.leg), []).append(key.number)
    for (epoch, pairing, leg), numbers in blocks.items():
        block = select(matches.c.number, matches.c.play_hash).where(
            matches.c.tournament == tournament.id,
            matches.c.epoch == epoch,
            matches.c.pairing == canonical(pairing),
            matches.c.leg == leg,
        )
        for start in range(0, len(numbers), _NUMBERS_AT_ONCE):
            some = matches.c.number.in_(numbers[start : start + _NUMBERS_AT_ONCE])
            for row in connection.execute(block.where(some)):
                yield MatchKey(epoch, pairing, leg, row.number), row.play_hash
