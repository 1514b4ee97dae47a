"""Opening: what is not a store, cannot be read or cannot be written is a sentence, and nothing is harmed."""

from __future__ import annotations

import os
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url
from sqlalchemy.schema import CreateTable

from arena.errors import UsageError
from arena.store import StoreError, engine, open_queries, open_store, schema
from tests.store import workers
from tests.store.samples import bots, created, schedule


def opened_for(readonly: bool, path: Path) -> None:
    open_store(path, readonly=readonly).close()


def _text(path: Path) -> None:
    path.write_text("[tournament]\nname = 'cup'\n")


def _noise(path: Path) -> None:
    path.write_bytes(os.urandom(5000))


def _other_database(path: Path) -> None:
    with sqlite3.connect(path) as raw:
        raw.execute("CREATE TABLE games (result TEXT)")
        raw.execute("INSERT INTO games VALUES ('1-0')")
    raw.close()


def _newer_store(path: Path) -> None:
    with open_store(path) as store:
        created(store)
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE arena_schema SET version = 7")
    raw.close()


@pytest.mark.parametrize("readonly", [False, True], ids=["write", "read"])
@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (_text, "is not a store of the arena .*name another file"),
        (_noise, "is not a store of the arena"),
        (_other_database, "not a store of the arena .*has the table 'games'"),
        (_newer_store, "has version 7 of the schema, this arena expects version 5; use a newer arena"),
    ],
)
def test_what_is_not_a_store_is_refused_and_not_harmed(
    tmp_path: Path, make: Callable[[Path], None], sentence: str, readonly: bool
) -> None:
    path = tmp_path / "arena.db"
    make(path)
    before = path.read_bytes()
    with pytest.raises(UsageError, match=sentence):
        opened_for(readonly, path)
    assert path.read_bytes() == before
    assert {file.name for file in tmp_path.iterdir() if file.stat().st_size} <= {"arena.db", "arena.db-shm"}


@pytest.mark.parametrize("readonly", [False, True], ids=["write", "read"])
def test_a_folder_and_a_missing_folder_are_named(tmp_path: Path, readonly: bool) -> None:
    with pytest.raises(UsageError, match=r"is a folder; expected a file, as in .*arena\.db"):
        opened_for(readonly, tmp_path)
    with pytest.raises(UsageError, match=r"the folder .*nowhere of the store arena\.db does not exist"):
        opened_for(readonly, tmp_path / "nowhere" / "arena.db")
    assert list(tmp_path.iterdir()) == []


def test_reading_makes_no_store(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no store at .*play a tournament first"):
        open_queries(tmp_path / "arena.db")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "empty.db").touch()
    with pytest.raises(UsageError, match=r"there is no store in .*empty\.db yet"):
        open_queries(tmp_path / "empty.db")
    assert (tmp_path / "empty.db").read_bytes() == b""


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    path.touch()
    with open_store(path) as store:
        created(store)


def test_a_path_with_every_odd_character_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "what? 100% #1 & täst=ro.db"
    with open_store(path) as store:
        created(store)
    with open_queries(path) as queries:
        assert queries.tournament("last").name == "cup"
    assert path.exists()


def test_a_url_names_the_same_file_as_its_path(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/arena.db") as store:
        created(store)
    with open_queries(str(tmp_path / "arena.db")) as queries:
        assert queries.tournament("last").name == "cup"


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("mysql://host/arena", "unknown kind of server; expected postgresql"),
        ("://", "is no address of a store"),
    ],
)
def test_an_address_that_is_no_store_is_refused(url: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        open_store(url)


def test_a_new_store_is_for_its_owner_only_and_syncs_every_commit(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    with open_store(path) as store:
        created(store)
        for file in tmp_path.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
        with store._database.reading() as connection:
            pragmas = {
                name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
                for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
            }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 30_000}
    assert [file.name for file in tmp_path.iterdir()] == ["arena.db"]


# --- reading only -----------------------------------------------------------------------------------------------


def test_a_store_opened_for_reading_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    with open_store(path) as store:
        created(store)
    before = path.read_bytes()
    with open_store(path, readonly=True) as store:
        cup = store.tournament("cup")
        for write in (
            lambda: store.record(cup, schedule(1)),
            lambda: store.record_void(cup, schedule(1)[0].key, "x"),
            lambda: created(store, "other"),
            lambda: store.add_participants(cup, bots("D")),
            lambda: store.open_epoch(cup, 2, b"x", "c2"),
            lambda: store.reveal(cup, 1),
            lambda: store.lock(cup).__enter__(),
        ):
            with pytest.raises(StoreError, match="opened for reading"):
                write()
        with pytest.raises(UsageError, match="cannot be written"), store._database.reading() as connection:
            connection.exec_driver_sql("DELETE FROM locks")
    assert path.read_bytes() == before


def test_a_reader_sees_what_the_writer_commits(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    with open_store(path) as store:
        cup = created(store)
        with open_queries(path) as queries:
            store.record(cup, schedule(3))
            assert sum(queries.counts(cup).values()) == 3
            store.record(cup, schedule(5))
            assert sum(queries.counts(cup).values()) == 5


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user can enter."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_store_in_a_folder_that_cannot_be_written_is_read_and_not_written(shared: Path) -> None:
    path = shared / "arena.db"
    with open_store(path) as store:
        created(store)
    path.chmod(0o644)
    _, said = workers.start(workers.read_as_nobody, path)
    assert said.recv() == "cup"
    assert "cannot be written; make the file and its folder writable" in said.recv()
    path.chmod(0o600)
    _, said = workers.start(workers.read_as_nobody, path)
    assert "cannot be opened: Permission denied" in said.recv()
    assert "cannot be opened: Permission denied" in said.recv()
    _, said = workers.start(workers.read_as_nobody, shared / "new.db")
    assert "there is no store at" in said.recv()
    assert "cannot be opened: Permission denied" in said.recv()


# --- others at the same file --------------------------------------------------------------------------------------


def test_a_program_that_locks_the_store_is_waited_for_and_then_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BUSY_SECONDS", 0.05)
    path = tmp_path / "arena.db"
    with open_store(path) as store:
        cup = created(store)
        store.record(cup, schedule(1))
        raw = sqlite3.connect(path, isolation_level=None)
        raw.execute("BEGIN IMMEDIATE")
        with pytest.raises(UsageError, match="locked by another program"):
            store.record(cup, schedule(2))
        assert sum(store.counts(cup).values()) == 1
        raw.execute("ROLLBACK")
        raw.close()
        assert store.record(cup, schedule(2)) == 1


def test_the_schema_is_plain_enough_for_postgresql() -> None:
    dialect = make_url("postgresql+psycopg://").get_dialect()()
    for table in schema.metadata.sorted_tables:
        text = str(CreateTable(table).compile(dialect=dialect))
        types = {line.split()[1].rstrip(",") for line in text.splitlines() if line.startswith("\t") and "(" not in line}
        assert types <= {"INTEGER", "BIGINT", "TEXT", "SERIAL"}, text
