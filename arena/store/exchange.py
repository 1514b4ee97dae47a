"""A run as lines: a header, every row of its journal, and what it came to; written as a file, they are canonical.

A file has one JSON object a line (keys sorted, no spaces, ASCII).  Rows come as participants, epochs, exclusions,
matches in the order of the schedule (each with its faults behind it), voids and sessions; the last line is the SHA-256
of all bytes before it.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, select

from arena.errors import ArenaError, UsageError
from arena.store.chains import ChainHead, canonical, first_seal, join, seal
from arena.store.engine import AnyRow, connect
from arena.store.queries import Queries
from arena.store.schema import (
    epochs,
    exclusions,
    faults,
    matches,
    participants,
    sealed_columns,
    sessions,
    tournaments,
    voids,
)
from arena.store.values import Tournament

FORMAT = "arena-run/3"
"""Of a file: its name and version."""
LONGEST = 1 << 24
"""The most bytes that a line may have."""

_ROWS: Mapping[str, Table] = {
    table.name: table for table in (matches, faults, voids, exclusions, epochs, participants, sessions)
}
_JSON = frozenset(
    (
        "about",
        "config",
        "evidence",
        "lag",
        "losers",
        "pairing",
        "play",
        "rules",
        "seats",
        "summary",
        "testimony",
        "text",
    )
)
"""The columns, of any table, that hold JSON: they stand in a line as plain values."""
_SECRET = frozenset(("secret", "play", "testimony", "evidence", "text"))
"""The columns that tell cards: null in a line as long as the secret of their epoch is not revealed."""
_ROW_BEGINS, _ROW_GOES_ON, _ROW_ENDS = '{"previous":', ',"row":{', '},"seal":'
"""How the line of a row begins, goes on behind the seal before it, and goes on behind its columns."""
_decode = json.JSONDecoder().raw_decode
_MALFORMED = (ArenaError, ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""What a line may raise that no export wrote."""


class ExportError(ArenaError):
    """A file is not what an export wrote: says in which line."""


@dataclass(frozen=True, slots=True)
class Header:
    """What never changes of a tournament: name, created, rated, config, rules, about."""

    facts: Mapping[str, Any]

    @property
    def seal(self) -> str:
        """The seal before the first row."""
        texts = _texts(self.facts)
        return first_seal([texts[column.name] for column in sealed_columns(tournaments)])

    @property
    def text(self) -> str:
        """Its line."""
        return canonical({"format": FORMAT, "tournament": self.facts})


@dataclass(frozen=True, slots=True)
class SealedRow:
    """One row of the journal."""

    table: str
    serial: int
    """Its place in the order of commits, from 1."""
    previous: str
    """The seal of the row before it in that order."""
    seal: str
    values: Mapping[str, Any]
    """Its other sealed columns by name, JSON as plain values; None where a secret is not revealed."""
    texts: Mapping[str, Any]
    """The same as they are sealed, JSON as text."""

    @property
    def hidden(self) -> bool:
        """Whether it lacks what must not be told yet (and nothing else), so that its seal cannot be computed."""
        lacking = {name for name, value in self.values.items() if value is None}
        return bool(lacking) and lacking == _SECRET & self.values.keys()

    @property
    def computed_seal(self) -> str:
        """What its seal must be."""
        table = _ROWS[self.table]
        texts = {**self.texts, "serial": self.serial}
        return seal(self.previous, table.name, [texts[column.name] for column in sealed_columns(table)])

    @property
    def text(self) -> str:
        """Its line: canonical JSON, put together from texts that are canonical already."""
        row = ",".join(
            f'"{name}":{value if name in _JSON and value is not None else canonical(value)}'
            for name, value in sorted(self.texts.items())
        )
        return f"{_ROW_BEGINS}{canonical(self.previous)}{_ROW_GOES_ON}{row}{self.end}"

    @property
    def end(self) -> str:
        """How its line ends, behind its columns."""
        return f"}},{canonical({'seal': self.seal, 'serial': self.serial, 'table': self.table})[1:]}"


@dataclass(frozen=True, slots=True)
class End:
    """What the rows before it add up to."""

    rows: int
    seal: str
    """Of the last row in the order of commits."""
    matches: int
    chains: tuple[ChainHead, ...]
    """The play chain of each epoch."""
    draw_probability: float
    figures: Mapping[str, Mapping[str, float]]
    """Each participant's, by their names."""

    @property
    def head(self) -> str:
        """The play chain's head of the whole tournament."""
        return join(enumerate(self.chains)).head

    @property
    def text(self) -> str:
        """Its line."""
        return canonical(
            {
                "rows": self.rows,
                "seal": self.seal,
                "matches": self.matches,
                "chains": self.chains,
                "head": self.head,
                "draw_probability": self.draw_probability,
                "figures": self.figures,
            }
        )


Line = Header | SealedRow | End


# --- from the store -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sealed:
    """How many rows the journal has, and the seal of the last."""

    rows: int
    seal: str


class Journal(Queries):
    """A store that can also be read row by row, as it was sealed; secrets that are not revealed stay in it."""

    def lines(self, tournament: Tournament) -> Iterator[Header | SealedRow | Sealed]:
        """The header, every row, and the end of the seals, all of one moment; streams."""
        with self._database.reading() as connection:
            facts = connection.execute(select(tournaments).where(tournaments.c.id == tournament.id)).one()
            revealed = frozenset(
                connection.execute(
                    select(epochs.c.number).where(epochs.c.tournament == tournament.id, epochs.c.revealed != 0)
                ).scalars()
            )
            yield Header(_plain(tournaments.name, _sealed(tournaments, facts)))
            yield from _rows(connection, _Seals(connection, tournament.id, facts.seal), tournament.id, revealed)
            yield Sealed(facts.rows, facts.head)


def open_journal(where: Path | str) -> Journal:
    """Open a store for exports; raises as `open_queries`."""
    return Journal(connect(where, readonly=True))


def _rows(connection: Connection, seals: _Seals, tournament: int, revealed: frozenset[int]) -> Iterator[SealedRow]:
    entered = select(participants).where(participants.c.tournament == tournament)
    for row in connection.execute(entered.order_by(participants.c.serial)):
        yield seals.row(participants, row, shown=True)
    opened = select(epochs).where(epochs.c.tournament == tournament)
    for row in connection.execute(opened.order_by(epochs.c.number)):
        yield seals.row(epochs, row, shown=row.number in revealed)
    logged = select(exclusions).where(exclusions.c.tournament == tournament)
    for row in connection.execute(logged.order_by(exclusions.c.serial)):
        yield seals.row(exclusions, row, shown=True)
    in_order = (matches.c.epoch, matches.c.position)
    charged = (
        select(faults)
        .join(matches, (matches.c.tournament == faults.c.tournament) & (matches.c.serial == faults.c.match))
        .where(faults.c.tournament == tournament)
        .order_by(*in_order, faults.c.serial)
    )
    following = iter(connection.execute(charged))
    fault = next(following, None)
    played = select(matches).where(matches.c.tournament == tournament)
    for row in connection.execute(played.order_by(*in_order)):
        shown = row.epoch in revealed
        yield seals.row(matches, row, shown)
        while fault is not None and fault.match == row.serial:
            yield seals.row(faults, fault, shown)
            fault = next(following, None)
    spoilt = select(voids).where(voids.c.tournament == tournament)
    for row in connection.execute(spoilt.order_by(voids.c.serial)):
        yield seals.row(voids, row, shown=row.epoch in revealed)
    told = select(sessions).where(sessions.c.tournament == tournament)
    for row in connection.execute(told.order_by(sessions.c.serial)):
        yield seals.row(sessions, row, shown=True)


class _Seals:
    """Knows the seal before each row."""

    def __init__(self, connection: Connection, tournament: int, first: str) -> None:
        self._connection = connection
        self._tournament = tournament
        self._first = first
        self._last = (0, first)

    def row(self, table: Table, row: AnyRow, shown: bool) -> SealedRow:
        previous = self._before(row.serial)
        self._last = (row.serial, row.seal)
        texts = _sealed(table, row)
        del texts["serial"]
        if not shown:
            texts |= dict.fromkeys(_SECRET & texts.keys())
        return SealedRow(table.name, row.serial, previous, row.seal, _plain(table.name, texts), texts)

    def _before(self, serial: int) -> str:
        """Mostly that of the row that was read last; else it is looked up, by the primary keys."""
        if self._last[0] == serial - 1:
            return self._last[1]
        for table in _ROWS.values():
            wanted = select(table.c.seal).where(table.c.tournament == self._tournament, table.c.serial == serial - 1)
            found: str | None = self._connection.execute(wanted).scalar()
            if found is not None:
                return found
        return self._first


def _sealed(table: Table, row: AnyRow) -> dict[str, Any]:
    return {column.name: row._mapping[column] for column in sealed_columns(table)}


def _plain(table: str, texts: Mapping[str, Any]) -> dict[str, Any]:
    """Sealed columns with their JSON as plain values."""
    try:
        return {name: json.loads(text) if name in _JSON and text is not None else text for name, text in texts.items()}
    except (ValueError, TypeError, RecursionError) as error:
        raise UsageError(
            f"a row of {table} in the store is damaged ({error}); verify the run to see where, and go on with a copy"
        ) from error


def _texts(values: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of `_plain`."""
    return {name: canonical(value) if name in _JSON and value is not None else value for name, value in values.items()}


# --- to and from a file -------------------------------------------------------------------------------------


def write(lines: Iterable[Line], out: Callable[[str], object]) -> None:
    """Hand the file to `out`, a line at a time."""
    whole = hashlib.sha256()
    for line in lines:
        text = f"{line.text}\n"
        whole.update(text.encode("ascii"))
        out(text)
    out(_last_line(whole.hexdigest()))


def read(path: Path) -> Iterator[Line]:
    """The lines of a file, which may be packed by gzip; streams.

    Raises `UsageError`: the file cannot be read or is no export; `ExportError`: it is one that was changed.
    """
    try:
        with path.open("rb") as file:
            packed = file.peek(2).startswith(b"\x1f\x8b")
            yield from _lines(gzip.GzipFile(fileobj=file) if packed else file, path)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ExportError(f"it cannot be unpacked: {error}") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; name a run or the file of its export") from None


def _lines(file: io.BufferedIOBase, path: Path) -> Iterator[Line]:
    name, _, version = FORMAT.partition("/")
    start = file.readline(LONGEST)
    if not start.startswith(f'{{"format":"{name}/'.encode()):
        raise UsageError(f"{path} is no export of a run; expected what `arena export RUN` writes")
    if not start.startswith(f'{{"format":"{FORMAT}",'.encode()):
        raise UsageError(f"{path} is an export of another version; this arena reads version {version}")
    whole = hashlib.sha256()
    number = 1
    line = start
    while line.endswith(b"\n") and not line.startswith(b'{"sha256"'):
        yield _line(line, number)
        whole.update(line)
        line = file.readline(LONGEST)
        number += 1
    if not line.startswith(b'{"sha256"'):
        raise ExportError(f"line {number}: the file ends here; the line with the SHA-256 of all others is missing")
    if line != _last_line(whole.hexdigest()).encode():
        raise ExportError(f"line {number}: expected the SHA-256 of all lines before it, {whole.hexdigest()}")
    if file.read(1):
        raise ExportError(f"line {number + 1}: the file goes on after its last line")


def _last_line(sha256: str) -> str:
    return f"{canonical({'sha256': sha256})}\n"


def _line(line: bytes, number: int) -> Line:
    try:
        text = line.decode("ascii")
        if text.startswith(_ROW_BEGINS):
            return _row(text)
        found = _header_or_end(json.loads(text))
        if f"{found.text}\n" == text:
            return found
    except _MALFORMED:
        pass
    raise ExportError(f"line {number}: this is no line of an export; it was changed")


def _row(text: str) -> SealedRow:
    """The row of a line.  JSON columns are taken as they stand: whether that was committed is for the seal to tell.

    Raises `ValueError` where anything else is not as `SealedRow.text` writes it.
    """
    _, begin, end = text.rpartition(_ROW_ENDS)
    about = json.loads(f"{{{begin[2:]}{end}")
    previous, at = _decode(text, len(_ROW_BEGINS))
    values: dict[str, Any] = {}
    texts: dict[str, Any] = {}
    for name, key in _keys(about["table"]):
        if not text.startswith(key, at):
            raise ValueError(f"there is no {name}")
        start = at + len(key)
        value, at = _decode(text, start)
        values[name] = value
        texts[name] = text[start:at] if name in _JSON and value is not None else value
        if texts[name] is value and text[start:at] != canonical(value):
            raise ValueError(f"{name} is written in another way")
    row = SealedRow(about["table"], about["serial"], previous, about["seal"], values, texts)
    if text[at:] != f"{row.end}\n" or not text.startswith(canonical(previous), len(_ROW_BEGINS)):
        raise ValueError("the seals are written in another way")
    return row


@cache
def _keys(table: str) -> list[tuple[str, str]]:
    """The columns of a row, and how each begins in its line."""
    names = sorted(column.name for column in sealed_columns(_ROWS[table]) if column.name != "serial")
    return [(name, f'{"," if index else _ROW_GOES_ON}"{name}":') for index, name in enumerate(names)]


def _header_or_end(data: Mapping[str, Any]) -> Header | End:
    if "format" in data:
        if data["tournament"].keys() != {column.name for column in sealed_columns(tournaments)}:
            raise ValueError("these are not the columns of a tournament")
        return Header(data["tournament"])
    return End(
        rows=data["rows"],
        seal=data["seal"],
        matches=data["matches"],
        chains=tuple(ChainHead(head, length) for head, length in data["chains"]),
        draw_probability=data["draw_probability"],
        figures=data["figures"],
    )
