"""Chains and hashes computed from the stored bytes alone: what was changed after its commit is found and named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from typing import NamedTuple

from sqlalchemy import Connection, Table, select

from arena.store.chains import ChainHead, Participant, PlayChain, chain_start, first_seal, play_hash, seal
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


def chains(
    connection: Connection, tournament: int, planned: Callable[[int], Iterable[int]]
) -> Iterator[tuple[int, ChainHead]]:
    """The play chain of each epoch, by its number; `planned` gives the positions that are to be played of an epoch."""
    rules = connection.execute(select(tournaments.c.rules).where(tournaments.c.id == tournament)).scalar_one()
    opened = select(epochs).where(epochs.c.tournament == tournament).order_by(epochs.c.number)
    for epoch in connection.execute(opened).all():
        entered = participants_before(connection, tournament, epoch.serial)
        start = chain_start(rules, epoch.config, entered, epoch.number, epoch.commitment)
        chain = PlayChain(start, planned(epoch.number))
        played = (
            select(matches.c.position, matches.c.play_hash)
            .where(matches.c.tournament == tournament, matches.c.epoch == epoch.number)
            .order_by(matches.c.position)
        )
        for position, play in connection.execute(played):
            chain.add(position, play)
        yield epoch.number, chain.head


def plays(connection: Connection, tournament: int) -> Broken | None:
    """Compute the hash of every play again."""
    played = select(*_PLAYED).where(matches.c.tournament == tournament).order_by(matches.c.epoch, matches.c.position)
    for row in connection.execute(played):
        found = play_hash(row.epoch, row.pairing, row.leg, row.number, row.seats, row.play)
        if found != row.play_hash:
            return Broken(matches.name, row.serial, f"{_match(row)} was not played as stored")
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
