"""Both chains computed again from the stored bytes alone: what was changed after its commit is found and named."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from typing import NamedTuple

from sqlalchemy import Connection, Table, select

from arena.store.chains import Participant, chain_start, first_seal, link, play_hash, seal
from arena.store.engine import AnyRow, self_check
from arena.store.schema import JOURNAL, KEY, epochs, matches, participants, sealed_columns, tournaments
from arena.store.values import Broken

_PLAYED = (
    matches.c.serial,
    *(matches.c[name] for name in KEY),
    matches.c.position,
    matches.c.seats,
    matches.c.play_hash,
    matches.c.play,
)


def participants_before(connection: Connection, tournament: int, serial: int | None) -> tuple[Participant, ...]:
    """Those who had entered before a row of the journal (an epoch's opening), or all; in the order of entering."""
    columns = participants.c
    wanted = (
        select(columns.name, columns.version, columns.digest, columns.kind, columns.author)
        .where(columns.tournament == tournament)
        .order_by(columns.serial)
    )
    if serial is not None:
        wanted = wanted.where(columns.serial < serial)
    return tuple(Participant(*row) for row in connection.execute(wanted))


def chain(connection: Connection, tournament: int) -> Broken | None:
    """Compute the play chain of each epoch again, and every play hash, those beyond the complete prefix too."""
    rules = connection.execute(select(tournaments.c.rules).where(tournaments.c.id == tournament)).scalar_one()
    opened = select(epochs).where(epochs.c.tournament == tournament).order_by(epochs.c.number)
    for epoch in connection.execute(opened).all():
        entered = participants_before(connection, tournament, epoch.serial)
        head, length = chain_start(rules, epoch.config, entered, epoch.number, epoch.commitment), 0
        played = (
            select(*_PLAYED)
            .where(matches.c.tournament == tournament, matches.c.epoch == epoch.number)
            .order_by(matches.c.position)
        )
        for row in connection.execute(played):
            found = play_hash(row.epoch, row.pairing, row.leg, row.number, row.seats, row.play)
            if found != row.play_hash:
                return Broken(matches.name, row.serial, f"{_match(row)} was not played as stored")
            if row.position == length:
                head, length = link(head, row.play_hash), length + 1
        if (head, length) != (epoch.chain_head, epoch.chain_length):
            return Broken(
                epochs.name,
                epoch.serial,
                f"the chain of epoch {epoch.number} ends after {length} matches in {head}, "
                f"stored are {epoch.chain_length} matches and {epoch.chain_head}",
            )
    return None


def seals(connection: Connection, tournament: int) -> Broken | None:
    """Compute the seal of every row again, in the order of commits."""
    whole = connection.execute(select(tournaments).where(tournaments.c.id == tournament)).one()
    head = first_seal(_sealed(tournaments, whole))
    if head != whole.seal:
        return Broken(tournaments.name, 0, "the facts of the tournament are not those it was created with")
    expected = 0
    for place in merge(*(_places(connection, table, tournament) for table in JOURNAL), key=_order):
        expected += 1
        table, row = place
        if row.serial != expected:
            return Broken(table.name, expected, f"row {expected} is missing, row {row.serial} comes instead")
        head = seal(head, table.name, _sealed(table, row))
        if row.seal != head:
            what = _match(row) if table is matches else f"this row of {table.name}"
            return Broken(table.name, expected, f"{what} is not what was committed")
    if (expected, head) != (whole.rows, whole.head):
        return Broken(tournaments.name, 0, f"{whole.rows} rows were committed, the last ones are not here")
    return None


def indexes(connection: Connection) -> Broken | None:
    """Have the database compare its indexes, which answer for the rows, with the rows."""
    damage = self_check(connection)
    return None if damage is None else Broken(tournaments.name, 0, f"the database is damaged: {damage}")


class _Place(NamedTuple):
    table: Table
    row: AnyRow


def _places(connection: Connection, table: Table, tournament: int) -> Iterator[_Place]:
    wanted = select(table).where(table.c.tournament == tournament).order_by(table.c.serial)
    for row in connection.execute(wanted):
        yield _Place(table, row)


def _order(place: _Place) -> float:
    serial = place.row.serial
    return serial if isinstance(serial, int) else float("inf")  # SQLite keeps any value in any column


def _sealed(table: Table, row: AnyRow) -> list[object]:
    return [row._mapping[column] for column in sealed_columns(table)]


def _match(row: AnyRow) -> str:
    return f"the match {row.pairing!a} (epoch {row.epoch!a}, leg {row.leg!a}, number {row.number!a})"
