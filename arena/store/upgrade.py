"""Bringing a store of an earlier arena forward: in one transaction, and of a file there is a copy first."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, text, update

from arena.errors import UsageError
from arena.store import locking, schema
from arena.store.engine import NEW_STORE_MODE, Database, NoStore, another_version, reach, version_of

_MIGRATIONS = Path(__file__).parent / "migrations"


@dataclass(frozen=True, slots=True)
class Upgraded:
    """What became of a store."""

    where: str
    before: int
    """The version that it had."""
    after: int
    copy: Path | None
    """What it was before, where it is a file."""


def upgrade(where: Path | str) -> Upgraded:
    """Give a store the schema of this arena.

    Raises `UsageError`: no store, one of a newer arena, one that is in use, or Alembic is missing.
    """
    with closing(reach(where, readonly=True)) as database, database.reading() as connection:
        before = version_of(connection, database.where)
    if before is None:
        raise NoStore(f"there is no store in {database.where} yet, so there is nothing to upgrade")
    if before == schema.VERSION:
        return Upgraded(database.where, before, before, None)
    if before > schema.VERSION:
        raise another_version(database.where, before)
    migrations = migrations_from(str(before))
    with closing(reach(where, readonly=False)) as database, database.writing() as connection:
        stored = update(schema.schema_version).where(schema.schema_version.c.version == before)
        if not connection.execute(stored.values(version=schema.VERSION)).rowcount:
            raise UsageError(f"another process has just upgraded the store {database.where}; go on with it")
        _check_idle(connection, database.where)
        copy = _copied(database, before)
        migrations(connection)
    return Upgraded(database.where, before, schema.VERSION, copy)


def migrations_from(version: str) -> Callable[[Connection], None]:
    """What leads from a version (`base`: from nothing) to that of this arena.  Raises `UsageError`: no Alembic."""
    try:
        from alembic.operations import Operations
        from alembic.runtime.migration import MigrationContext
        from alembic.script import ScriptDirectory
        from alembic.script.revision import RevisionError
    except ImportError:
        raise UsageError(
            "an upgrade of the store needs alembic, which is not installed; pip install 'sixtysix-arena[postgres]'"
        ) from None
    script = ScriptDirectory(str(_MIGRATIONS), version_locations=[str(_MIGRATIONS)])
    try:
        newest_first = list(script.iterate_revisions(str(schema.VERSION), version))
    except RevisionError:
        raise UsageError(f"no arena was released with version {version} of the schema; name another store") from None

    def migrate(connection: Connection) -> None:
        with Operations.context(MigrationContext.configure(connection)):
            for revision in reversed(newest_first):
                revision.module.upgrade()

    return migrate


def _check_idle(connection: Connection, where: str) -> None:
    """Raise `UsageError` where a process of this machine plays: it would go on as if nothing had happened."""
    for pid, started_ms in connection.execute(text("SELECT pid, started_ms FROM locks")):
        if locking.lives(pid, started_ms):
            raise UsageError(f"a tournament in {where} is played by process {pid}; wait for its end or stop it first")


def _copied(database: Database, version: int) -> Path | None:
    """Copy a file to one beside it; what a server keeps is its keeper's to copy."""
    if database.engine.dialect.name != "sqlite":
        return None
    path = Path(database.where)
    copy = path.with_name(f"{path.stem}-version-{version}{path.suffix}")
    try:
        os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, NEW_STORE_MODE))
    except OSError as error:
        raise UsageError(f"the copy {copy} cannot be made: {error.strerror}; make way for it, then try again") from None
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
    except sqlite3.Error as error:
        copy.unlink()
        raise UsageError(f"the copy {copy} cannot be made: {error}; see that there is space for it") from None
    return copy
