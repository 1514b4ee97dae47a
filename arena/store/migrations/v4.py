"""Version 4: who plays a tournament holds it by a lease, with a token.  Nobody plays during an upgrade."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    op.drop_table("locks")
    op.create_table(
        "locks",
        sa.Column("tournament", sa.Integer, sa.ForeignKey("tournaments.id"), primary_key=True),
        sa.Column("token", sa.Text, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("machine", sa.Text, nullable=False),
        sa.Column("started_ms", sa.BigInteger, nullable=False),
        sa.Column("acquired", sa.Text, nullable=False),
        sa.Column("expires_ms", sa.BigInteger, nullable=False),
    )
