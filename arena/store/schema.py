"""The tables, one schema for SQLite and PostgreSQL.  A tournament is a journal: its rows are numbered and sealed.

Every row of a journal table has its place in the order of commits (`serial`, 1, 2, ... over all tables of a tournament)
and a seal over the row before it and all its own values, but for the columns marked as changing.  Values are texts and
whole numbers: JSON is canonical text, a time is UTC in ISO 8601, a flag is 0 or 1, a hash is hex.  Big texts come last,
so that what reads only small columns need not walk over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

VERSION = 5
"""Of the schema: a store of another one is refused; `migrations` lead from the first to this one."""

metadata = MetaData()


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False)


def _number(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False)


def _changing(column: Column[Any]) -> Column[Any]:
    """A column that later writes change: no seal covers it."""
    column.info["changing"] = True
    return column


def _journal(name: str, *content: Column[Any] | ForeignKeyConstraint | UniqueConstraint | Index) -> Table:
    return Table(
        name,
        metadata,
        Column("tournament", ForeignKey("tournaments.id"), primary_key=True),
        Column("serial", Integer, primary_key=True, autoincrement=False),
        _changing(_text("seal")),
        *content,
    )


def _key() -> tuple[Column[Any], ...]:
    """The columns of a `MatchKey`; `pairing` is a JSON list of names."""
    return (_number("epoch"), _text("pairing"), _number("leg"), _number("number"))


KEY = ("epoch", "pairing", "leg", "number")

schema_version = Table("arena_schema", metadata, Column("version", Integer, primary_key=True))

tournaments = Table(
    "tournaments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    _text("created"),
    _number("rated"),
    _text("config"),
    _text("rules"),
    _text("about"),
    _changing(_text("seal")),
    _changing(_text("state")),
    _changing(_number("rows")),
    _changing(_text("head")),
)
"""`rows` and `head`: how many rows the journal has, and the seal of the last."""

participants = _journal(
    "participants",
    _text("name"),
    _text("version"),
    _text("digest"),
    _text("kind"),
    _text("author"),
    UniqueConstraint("tournament", "name"),
)

epochs = _journal(
    "epochs",
    _number("number"),
    _text("commitment"),
    _text("secret"),
    _text("config"),
    _changing(_number("revealed")),
    UniqueConstraint("tournament", "number"),
    UniqueConstraint("tournament", "commitment"),
)

exclusions = _journal(
    "exclusions",
    _text("participant"),
    _text("change"),
    _text("reason"),
    _text("created"),
    _number("epoch"),
    _number("position"),
    ForeignKeyConstraint(["tournament", "participant"], ["participants.tournament", "participants.name"]),
)
"""The log of who is out and who is in again, from which match of the schedule on."""

matches = _journal(
    "matches",
    *_key(),
    _number("position"),
    _text("seats"),
    _number("mirrored"),
    _text("status"),
    _text("losers"),
    _text("play_hash"),
    _text("summary"),
    _text("play"),
    _text("testimony"),
    ForeignKeyConstraint(["tournament", "epoch"], ["epochs.tournament", "epochs.number"]),
    UniqueConstraint("tournament", *KEY),
    UniqueConstraint("tournament", "epoch", "position"),
    Index("matches_counted", "tournament", "status", "losers"),
)
"""`losers`: the participants on the sides that are not ranked first, nobody in a void match."""

faults = _journal(
    "faults",
    _number("match"),
    _text("participant"),
    _number("seat"),
    _number("deal"),
    _number("decision"),
    _text("kind"),
    _text("loss"),
    _text("evidence"),
    ForeignKeyConstraint(["tournament", "match"], ["matches.tournament", "matches.serial"]),
)
"""`match` is the serial of the match; `evidence` is a JSON text."""

voids = _journal(
    "voids",
    *_key(),
    _number("attempt"),
    _text("text"),
    ForeignKeyConstraint(["tournament", "epoch"], ["epochs.tournament", "epochs.number"]),
    UniqueConstraint("tournament", *KEY, "attempt"),
)
"""Attempts that are played again; a match that stays void is a row of `matches`.  `text` is a JSON text."""

sessions = _journal(
    "sessions",
    _text("begun"),
    _number("jobs"),
    _text("lag"),
)
"""What arenas that played the tournament say of themselves at the end; one that was killed says nothing."""

locks = Table(
    "locks",
    metadata,
    Column("tournament", ForeignKey("tournaments.id"), primary_key=True),
    _text("token"),
    _number("pid"),
    _text("host"),
    _text("machine"),
    Column("started_ms", BigInteger, nullable=False),
    _text("acquired"),
    Column("expires_ms", BigInteger, nullable=False),
)
"""Who plays a tournament now; `started_ms` counts from the start of the machine, `expires_ms` is by `clock_ms`."""

endgames = Table(
    "endgames",
    metadata,
    Column("tournament", ForeignKey("tournaments.id"), primary_key=True),
    Column("participant", Text, primary_key=True),
    *(Column(column.name, column.type, primary_key=True) for column in _key()),
    Column("deal", Integer, primary_key=True),
    _number("version"),
    Column("choices", Integer),
    Column("mistakes", Integer),
    Column("given_away", Integer),
    _text("judged"),
    ForeignKeyConstraint(["tournament", *KEY], [f"matches.{name}" for name in ("tournament", *KEY)]),
)
"""What a bot gave away in the endgame of a deal: derived, so no seal covers it, and it can be made again at any time.

`version` is that of the analysis; `judged` is a JSON list of the decisions, the numbers before it what they come to.
These are null in a deal that the bot sat out.
"""

totals = Table(
    "totals",
    metadata,
    Column("tournament", ForeignKey("tournaments.id"), primary_key=True),
    _number("serial"),
    _text("seal"),
    _text("totals"),
)
"""What all matches up to a row of the journal add up to: derived, so no seal covers it, and who reads can do without.

`serial` and `seal` are those of that row; `totals` is JSON.
"""

JOURNAL: Sequence[Table] = (participants, epochs, exclusions, matches, faults, voids, sessions)
"""The sealed tables; each refers only to those before it."""


@cache
def sealed_columns(table: Table) -> tuple[Column[Any], ...]:
    """The columns that a seal covers, in its order; the tournament's number is this store's own affair."""
    return tuple(
        column
        for column in table.columns
        if not column.info.get("changing") and column.name not in ("id", "tournament")
    )
