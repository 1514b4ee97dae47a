"""A store of every released version can be brought forward, whole or not at all."""

from __future__ import annotations

import gzip
import os
import sqlite3
import stat
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection

from arena.app.data import Archive
from arena.app.verify import Verified, verify_run
from arena.errors import UsageError
from arena.store import State, locking, open_queries, open_store, schema
from arena.store import upgrade as upgrading
from arena.store.engine import reach
from arena.store.upgrade import migrations_from, upgrade
from tests.postgres import Server
from tests.store.behind import Where, change
from tests.store.samples import created, schedule

FIRST = Path(__file__).with_name("version-3.db.gz")
"""A store of version 3: the run `kept` is finished and its endgames are analysed, the arena of `killed` was killed."""
HEAD = "e6051150e1be141e2f10699fee91890219ca31ec355b0e6144a51d6ffbb37544"
"""Of `kept`, as its arena has shown it."""


def content(path: Path) -> list[str]:
    """All that a database holds, as SQL."""
    with closing(sqlite3.connect(path)) as raw:
        return list(raw.iterdump())


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "arena.db"
    path.write_bytes(gzip.decompress(FIRST.read_bytes()))
    return path


def test_the_revisions_lead_to_the_schema_of_this_arena(path: Where) -> None:
    with closing(reach(path, readonly=False)) as database, database.writing() as connection:
        migrations_from("base")(connection)
        assert differences(connection) == []
        connection.exec_driver_sql("ALTER TABLE sessions ADD COLUMN more TEXT")
        assert len(differences(connection)) == 1


def differences(connection: Connection) -> list[object]:
    """Between the tables that there are and those that this arena makes, as Alembic sees them."""
    return list(compare_metadata(MigrationContext.configure(connection), schema.metadata))


def test_the_first_store_comes_forward_with_all_that_it_holds(old: Path) -> None:
    before = content(old)
    for opened in (open_queries, open_store):
        with pytest.raises(UsageError, match=r"has version 3 of the schema, .* 5; bring it forward by arena upgrade"):
            opened(old)
    done = upgrade(old)
    assert (done.before, done.after, done.copy) == (3, schema.VERSION, old.with_name("arena-version-3.db"))
    assert done.copy is not None and content(done.copy) == before
    assert stat.S_IMODE(done.copy.stat().st_mode) == 0o600
    found = verify_run("kept", Archive(old.parent), HEAD)
    assert isinstance(found, Verified) and found.matches == 4
    with open_store(old) as store:
        kept, killed = store.tournament("kept"), store.tournament("killed")
        assert (kept.state, killed.state) == (State.FINISHED, State.INTERRUPTED)
        assert sum(each.deals for each in store.endgames(kept).values()) == 4
        assert sum(store.counts(killed).values()) == 16
        for run in (kept, killed):
            assert store.verify_seals(run) is None and store.verify_plays(run) is None
        with store.lock(killed):  # goes on where it was
            store.set_state(killed, State.RUNNING)
    again = upgrade(old)
    assert (again.before, again.after, again.copy) == (schema.VERSION, schema.VERSION, None)


def test_a_store_that_is_played_is_not_upgraded(old: Path) -> None:
    this = locking.Process.this()
    change(old, f"UPDATE locks SET pid = {this.pid}, started_ms = {this.started_ms}")
    before = old.read_bytes()
    with pytest.raises(UsageError, match=f"is played by process {os.getpid()}; wait for its end"):
        upgrade(old)
    assert old.read_bytes() == before and list(old.parent.iterdir()) == [old]


def test_an_upgrade_that_fails_has_changed_nothing(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = content(old)
    copy = old.with_name("arena-version-3.db")
    copy.touch()
    with pytest.raises(UsageError, match=r"the copy .*-version-3\.db cannot be made: File exists; make way for it"):
        upgrade(old)
    copy.unlink()

    def broken(version: str) -> object:
        def migrate(connection: object) -> None:
            migrations_from(version)(connection)  # type: ignore[arg-type]
            raise UsageError("in the middle")

        return migrate

    monkeypatch.setattr(upgrading, "migrations_from", broken)
    with pytest.raises(UsageError, match="in the middle"):
        upgrade(old)
    assert content(old) == before == content(copy)


def test_who_lacks_alembic_is_told_before_anything_is_done(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == "alembic"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "alembic", None)
    with pytest.raises(UsageError, match=r"needs alembic, .*; pip install 'sixtysix-arena\[postgres\]'"):
        upgrade(old)
    assert list(old.parent.iterdir()) == [old]


def test_nothing_and_the_future_are_not_upgraded(path: Where) -> None:
    with pytest.raises(UsageError, match="there is no store"):
        upgrade(path)
    with open_store(path) as store:
        store.record(created(store), schedule(1))
    change(path, "UPDATE arena_schema SET version = 2")
    with pytest.raises(UsageError, match="no arena was released with version 2 of the schema"):
        upgrade(path)
    change(path, "UPDATE arena_schema SET version = 6")
    with pytest.raises(UsageError, match=r"has version 6 of the schema, .* 5; use a newer arena"):
        upgrade(path)


def test_a_store_on_a_server_comes_forward(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    url = server.new()
    with closing(reach(url, readonly=False)) as database, database.writing() as connection:
        monkeypatch.setattr(schema, "VERSION", 3)
        migrations_from("base")(connection)
        monkeypatch.undo()
        connection.exec_driver_sql("INSERT INTO arena_schema VALUES (3)")
    with pytest.raises(UsageError, match="bring it forward by arena upgrade"):
        open_store(url)
    done = upgrade(url)
    assert (done.before, done.after, done.copy) == (3, schema.VERSION, None)
    with open_store(url) as store, store.lock(cup := created(store)):
        assert store.record(cup, schedule(3)) == 3
