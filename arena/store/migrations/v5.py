"""Version 5: what the matches of a tournament add up to is kept beside them; it is made when the arena plays next."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"


def upgrade() -> None:
    op.create_table(
        "totals",
        sa.Column("tournament", sa.Integer, sa.ForeignKey("tournaments.id"), primary_key=True),
        sa.Column("serial", sa.Integer, nullable=False),
        sa.Column("seal", sa.Text, nullable=False),
        sa.Column("totals", sa.Text, nullable=False),
    )
