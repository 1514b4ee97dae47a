"""Version 3, the first that was released."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = None

KEY = ("epoch", "pairing", "leg", "number")


def text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False)


def key() -> tuple[sa.Column[int], sa.Column[str], sa.Column[int], sa.Column[int]]:
    return (number("epoch"), text("pairing"), number("leg"), number("number"))


def journal(name: str, *content: sa.Column[str] | sa.Column[int] | sa.Constraint) -> None:
    op.create_table(
        name,
        sa.Column("tournament", sa.Integer, sa.ForeignKey("tournaments.id"), primary_key=True),
        sa.Column("serial", sa.Integer, primary_key=True, autoincrement=False),
        text("seal"),
        *content,
    )


def upgrade() -> None:
    op.create_table("arena_schema", sa.Column("version", sa.Integer, primary_key=True))
    op.create_table(
        "tournaments",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        text("created"),
        number("rated"),
        text("config"),
        text("rules"),
        text("about"),
        text("seal"),
        text("state"),
        number("rows"),
        text("head"),
    )
    journal(
        "participants",
        text("name"),
        text("version"),
        text("digest"),
        text("kind"),
        text("author"),
        sa.UniqueConstraint("tournament", "name"),
    )
    journal(
        "epochs",
        number("number"),
        text("commitment"),
        text("secret"),
        text("config"),
        number("revealed"),
        sa.UniqueConstraint("tournament", "number"),
        sa.UniqueConstraint("tournament", "commitment"),
    )
    journal(
        "exclusions",
        text("participant"),
        text("change"),
        text("reason"),
        text("created"),
        number("epoch"),
        number("position"),
        sa.ForeignKeyConstraint(["tournament", "participant"], ["participants.tournament", "participants.name"]),
    )
    journal(
        "matches",
        *key(),
        number("position"),
        text("seats"),
        number("mirrored"),
        text("status"),
        text("losers"),
        text("play_hash"),
        text("summary"),
        text("play"),
        text("testimony"),
        sa.ForeignKeyConstraint(["tournament", "epoch"], ["epochs.tournament", "epochs.number"]),
        sa.UniqueConstraint("tournament", *KEY),
        sa.UniqueConstraint("tournament", "epoch", "position"),
    )
    op.create_index("matches_counted", "matches", ["tournament", "status", "losers"])
    journal(
        "faults",
        number("match"),
        text("participant"),
        number("seat"),
        number("deal"),
        number("decision"),
        text("kind"),
        text("loss"),
        text("evidence"),
        sa.ForeignKeyConstraint(["tournament", "match"], ["matches.tournament", "matches.serial"]),
    )
    journal(
        "voids",
        *key(),
        number("attempt"),
        text("text"),
        sa.ForeignKeyConstraint(["tournament", "epoch"], ["epochs.tournament", "epochs.number"]),
        sa.UniqueConstraint("tournament", *KEY, "attempt"),
    )
    journal("sessions", text("begun"), number("jobs"), text("lag"))
    op.create_table(
        "locks",
        sa.Column("tournament", sa.Integer, sa.ForeignKey("tournaments.id"), primary_key=True),
        number("pid"),
        text("host"),
        sa.Column("started_ms", sa.BigInteger, nullable=False),
        text("acquired"),
    )
    op.create_table(
        "endgames",
        sa.Column("tournament", sa.Integer, sa.ForeignKey("tournaments.id"), primary_key=True),
        sa.Column("participant", sa.Text, primary_key=True),
        *(sa.Column(column.name, column.type, primary_key=True) for column in key()),
        sa.Column("deal", sa.Integer, primary_key=True),
        number("version"),
        sa.Column("choices", sa.Integer),
        sa.Column("mistakes", sa.Integer),
        sa.Column("given_away", sa.Integer),
        text("judged"),
        sa.ForeignKeyConstraint(["tournament", *KEY], [f"matches.{name}" for name in ("tournament", *KEY)]),
    )
