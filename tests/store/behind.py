"""Changes behind the store's back, in a file and on a server."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg

Where = Path | str
"""A file, or the address of a database."""


def change(where: Where, *statements: str) -> None:
    """Execute statements that each must change something; no foreign key keeps them from it."""
    if isinstance(where, str):
        with psycopg.connect(where, autocommit=True) as connection:
            connection.execute("SET session_replication_role = replica")
            for statement in statements:
                assert connection.execute(statement.encode()).rowcount, statement
        return
    with closing(sqlite3.connect(where, isolation_level=None)) as raw:
        raw.execute("PRAGMA foreign_keys = OFF")
        for statement in statements:
            assert raw.execute(statement).rowcount, statement
