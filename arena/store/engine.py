"""Connections to a store: the one place that knows SQLite from PostgreSQL, and that turns their errors into sentences.

Opening harms nothing: a file that is not a store of this version is refused before anything is written to it.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from sqlalchemy import (
    URL,
    BigInteger,
    Connection,
    Engine,
    Row,
    bindparam,
    create_engine,
    event,
    false,
    func,
    insert,
    inspect,
    make_url,
    select,
    update,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.pool import QueuePool
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from arena.errors import UsageError
from arena.store import schema
from arena.store.values import StoreError, Unreachable

SQLITE_VERSION = sqlite3.sqlite_version
BUSY_SECONDS = 30.0
"""How long a write waits for another process that is writing."""
STREAM_ROWS = 200
"""How many rows a streamed query holds at once."""

AnyRow: TypeAlias = "Row[*tuple[Any, ...]]"
"""A row of any query."""

_WRITERS = 66
"""The advisory locks that make PostgreSQL let in one writer of a tournament at a time."""
_WHOLE_STORE = 0
"""In place of a tournament's number: who makes tables or tournaments."""
_SHOWN_PARAMETERS = ("host", "port", "service", "sslmode")
"""Of an address; another one may be a password."""
_DRIVER = "postgresql+psycopg"
_CONNECTION = {"connect_timeout": "10", "keepalives_idle": "15", "tcp_user_timeout": "30000"}
"""What an address may set otherwise: a server that is gone is noticed within half a minute, where libpq takes hours."""
_SQLITE_HEADER = b"SQLite format 3\0"
NEW_STORE_MODE = 0o600
"""A store holds secrets that are not revealed yet: it is its owner's."""


class Database:
    """A connected store: `reading` and `writing` give transactions whose failures are sentences."""

    def __init__(self, engine: Engine, where: str, *, readonly: bool) -> None:
        self.engine = engine
        self.where = where
        """How sentences name it: its path, or its URL without the password."""
        self.readonly = readonly
        self.files: tuple[_File, ...] = ()
        """What must stay in its place while the store is open."""
        self._reader = engine.execution_options(yield_per=STREAM_ROWS)
        self._writer = engine.execution_options(writes=True)
        if engine.dialect.name == "postgresql":
            self._reader = self._reader.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            # Whatever the server's default is: who has waited for a turn must see what the one before has written.
            self._writer = self._writer.execution_options(isolation_level="READ COMMITTED")

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent look at the store; results are streamed and never block a writer."""
        with self.sentences(), self._reader.connect() as connection:
            yield connection

    @contextmanager
    def writing(self, tournament: int = _WHOLE_STORE) -> Iterator[Connection]:
        """One transaction: all of it is on disk when the block is left, or none of it.

        One writer of a tournament at a time; in a file one of all.
        """
        if self.readonly:
            raise StoreError(f"the store {self.where} was opened for reading; nothing can be written to it")
        self._check_files()
        with self.sentences(), self._writer.begin() as connection:
            if connection.dialect.name == "postgresql":
                _take_turns(connection, tournament)
            yield connection
        self._check_files()  # what was committed into a file that is gone is nowhere

    @contextmanager
    def sentences(self) -> Iterator[None]:
        """Turns an error of the database into a `UsageError`, a contradiction into a `StoreError`."""
        try:
            yield
        except IntegrityError as error:
            if getattr(error.orig, "sqlite_errorname", "") == "SQLITE_CONSTRAINT_TRIGGER":  # somebody else's trigger
                raise _refusal(error.orig or error, self.where) from error
            raise StoreError(
                f"the store {self.where} refuses a contradiction, nothing was written: {error.orig}"
            ) from error
        except DBAPIError as error:
            raise _refusal(error.orig or error, self.where) from error

    def _check_files(self) -> None:
        for file in self.files:
            if harm := file.harm():
                raise UsageError(
                    f"{file.path} was {harm} while the arena had it open, nothing more is written to the store; "
                    "put it back, or a copy of the store, then resume"
                )

    def close(self) -> None:
        self.engine.dispose()


class _File:
    """A file of a store as it was last seen: SQLite writes on, unawares, into one that is gone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen = path.stat()

    def harm(self) -> str | None:
        """What others have done to it; no file of an open store becomes another one, or shorter, by itself."""
        seen = self._seen  # before the look of now: another thread may see it grow in between
        try:
            now = self.path.stat()
        except OSError:
            return "removed"
        if not os.path.samestat(now, seen):
            return "replaced"
        if now.st_size < seen.st_size:
            return "cut off"
        self._seen = now
        return None


def connect(where: Path | str, *, readonly: bool) -> Database:
    """Connect to the store at a path or URL; one that is not there yet is made, unless it is only to be read.

    Raises `UsageError`: not a store, another version of it, not readable or writable, its folder missing.
    """
    database = reach(where, readonly=readonly)
    try:
        _prepare(database)
    except BaseException:
        database.close()
        raise
    return database


def reach(where: Path | str, *, readonly: bool) -> Database:
    """Connect to whatever is at a path or URL.  Raises `UsageError`: what can never be a store."""
    match _place(where):
        case Path() as path:
            _look_at(path, readonly=readonly)
            return _file(path, readonly=readonly)
        case URL() as url:
            return _server(url, readonly=readonly)


class NoStore(UsageError):
    """There is nothing yet where a store was to be read."""


def has_store(where: Path | str) -> bool:
    """Whether anything was stored at a path or URL.  Raises as `connect`."""
    match _place(where):
        case Path() as path:
            return path.exists()
        case URL():
            try:
                connect(where, readonly=True).close()
            except NoStore:
                return False
            return True


def named(where: Path | str) -> str:
    """How sentences name a store: its path, or its address without what must not be seen."""
    match _place(where):
        case Path() as path:
            return str(path)
        case URL() as url:
            return _address(url)


def _place(where: Path | str) -> Path | URL:
    """The file that is meant, or the address of a server."""
    if isinstance(where, Path) or "://" not in where:
        return Path(where)
    try:
        url = make_url(where)
    except (ArgumentError, ValueError):  # which hold all of it, the password too
        raise _no_address() from None
    if "@" in (url.host or ""):
        raise _no_address()
    if url.get_backend_name() != "sqlite":
        return url
    if not url.database or url.database == ":memory:":
        raise UsageError(f"{where!r} names no file; a store is kept in a file, as in sqlite:///arena.db")
    return Path(url.database)


def _no_address() -> UsageError:
    return UsageError(
        "what is given is no address of a store; expected one as in postgresql://USER@HOST/DATABASE, "
        "with %40 for an @ in a name or password"
    )


def _prepare(database: Database) -> None:
    """Check what is there; make the tables where there is nothing at all."""
    with database.reading() as connection:
        found = version_of(connection, database.where)
    if found is None and database.readonly:
        raise NoStore(f"there is no store in {database.where} yet; play a tournament first")
    if found is None:
        with database.writing() as connection:
            found = version_of(connection, database.where)  # another process may have been quicker
            if found is None:
                schema.metadata.create_all(connection, checkfirst=False)
                connection.execute(insert(schema.schema_version).values(version=schema.VERSION))
                found = schema.VERSION
    if found != schema.VERSION:
        raise another_version(database.where, found)
    if database.readonly:
        return
    if database.engine.dialect.name == "sqlite":
        _log_ahead(database)
    with database.writing() as connection:  # says now, rather than after the first match, that nobody may write
        connection.execute(update(schema.schema_version).where(false()).values(version=schema.VERSION))
    if database.engine.dialect.name == "sqlite":
        path = Path(database.where)
        database.files = (_File(path), _File(path.with_name(f"{path.name}-wal")))


def another_version(where: str, found: int) -> UsageError:
    """What is to be said of a store that this arena cannot use as it is."""
    way = "bring it forward by arena upgrade" if found < schema.VERSION else "use a newer arena"
    return UsageError(
        f"the store {where} has version {found} of the schema, this arena expects version {schema.VERSION}; {way}"
    )


def version_of(connection: Connection, where: str) -> int | None:
    """The version of the schema; None in an empty database.  Raises `UsageError` where other tables live."""
    tables = inspect(connection).get_table_names()
    if not tables:
        return None
    version: int | None = None
    if schema.schema_version.name in tables:
        version = connection.execute(select(schema.schema_version.c.version)).scalar()
    if version is None:
        raise UsageError(
            f"{where} is a database, but not a store of the arena (it has the table {tables[0]!r}); "
            "name another one, or one that does not exist yet"
        )
    return version


# --- PostgreSQL ---------------------------------------------------------------------------------------------


def _address(url: URL) -> str:
    """As it may be seen."""
    seen = {name: value for name, value in url.query.items() if name in _SHOWN_PARAMETERS}
    return url.set(query=seen).render_as_string(hide_password=True)


def _server(url: URL, *, readonly: bool) -> Database:
    where = _address(url)
    if url.drivername not in ("postgresql", _DRIVER):
        raise UsageError(f"the store {where} is on an unknown kind of server; expected postgresql://...")
    try:
        engine = create_engine(url.set(drivername=_DRIVER, query={**_CONNECTION, **url.query}), pool_pre_ping=True)
    except ImportError:
        raise UsageError(
            f"the store {where} needs a driver that is not installed; pip install 'sixtysix-arena[postgres]'"
        ) from None
    return Database(engine, where, readonly=readonly)


_SETTINGS = select(
    func.set_config("lock_timeout", bindparam("lock"), True),
    func.set_config("idle_in_transaction_session_timeout", bindparam("idle"), True),
    func.set_config("synchronous_commit", "on", True),
).cte()
_TURN = select(func.pg_advisory_xact_lock(_WRITERS, bindparam("tournament"))).select_from(_SETTINGS)
"""One way to the server and back; there the settings come first, since the lock is asked for by what they return."""


def _take_turns(connection: Connection, tournament: int) -> None:
    """Wait for the other writers; one that stops in mid-transaction is thrown out by the server."""
    patience = {"lock": f"{1000 * BUSY_SECONDS:.0f}ms", "idle": f"{1000 * BUSY_SECONDS / 3:.0f}ms"}
    connection.execute(_TURN, {"tournament": tournament, **patience})


# --- SQLite -------------------------------------------------------------------------------------------------


def _look_at(path: Path, *, readonly: bool) -> None:
    """Refuse what can never be a store, and make the file of a new one, readable by its owner only."""
    if path.is_dir():
        raise UsageError(f"the store {path} is a folder; expected a file, as in {path / 'arena.db'}")
    if not path.parent.is_dir():
        raise UsageError(f"the folder {path.parent} of the store {path.name} does not exist; create it first")
    try:
        if not readonly and not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, NEW_STORE_MODE))
        with path.open("rb") as file:
            start = file.read(len(_SQLITE_HEADER))
    except FileNotFoundError:
        raise NoStore(f"there is no store at {path}; play a tournament first, or name another file") from None
    except OSError as error:
        raise UsageError(f"the store {path} cannot be opened: {error.strerror}") from None
    if start and start != _SQLITE_HEADER:
        raise UsageError(
            f"{path} is not a store of the arena (it is no SQLite file); "
            "name another file, or one that does not exist yet"
        )


def _file(path: Path, *, readonly: bool) -> Database:
    mode = "rw"
    if readonly:
        # In a folder that cannot be written (an archive, a read-only disk) SQLite reads only what it is told
        # nobody changes; with a write-ahead log beside it that would be untrue.
        fixed = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
        mode = "ro&immutable=1" if fixed else "ro"
    uri = f"file:{quote(str(path.absolute()))}?mode={mode}"

    def dial() -> sqlite3.Connection:
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.text_factory = _decode
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    engine = create_engine("sqlite://", creator=dial, poolclass=QueuePool, max_overflow=-1)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that will write takes the lock at once: one that began by reading could not wait for it.
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return Database(engine, str(path), readonly=readonly)


def _decode(text: bytes) -> str:
    """What is no UTF-8 must reach the check of the seals, not stop it."""
    return text.decode("utf-8", "surrogateescape")


def _log_ahead(database: Database) -> None:
    """Set write-ahead logging: readers and the writer then never wait for each other; the file remembers it."""
    with database.sentences():
        connection = database.engine.raw_connection()
    deadline = time.monotonic() + BUSY_SECONDS
    try:
        while True:
            try:
                connection.cursor().execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.Error as error:  # where several set it at once, SQLite lets none of them wait
                busy = getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")
                if not busy or time.monotonic() > deadline:
                    raise _refusal(error, database.where) from error
                time.sleep(0.01)
    finally:
        connection.close()


def self_check(connection: Connection) -> str | None:
    """What the database finds wrong with its own file; None where nothing is, or where a server looks after it."""
    if connection.dialect.name != "sqlite":
        return None
    found: str = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one()
    return None if found == "ok" else found


# --- the clock ----------------------------------------------------------------------------------------------


class clock_ms(FunctionElement[int]):
    """The clock of the database, in milliseconds since 1970: the only one that several machines share."""

    type = BigInteger()
    inherit_cache = True


@compiles(clock_ms, "sqlite")
def _clock_of_sqlite(element: clock_ms, compiler: SQLCompiler, **_: Any) -> str:
    return "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"


@compiles(clock_ms, "postgresql")
def _clock_of_postgresql(element: clock_ms, compiler: SQLCompiler, **_: Any) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"  # now() is when the transaction began


# --- sentences ----------------------------------------------------------------------------------------------


def _refusal(error: BaseException, where: str) -> UsageError:
    """What the database says, for the user: what happened, and what to do."""
    return UsageError(_of_file(error, where)) if isinstance(error, sqlite3.Error) else _of_server(error, where)


def _of_file(error: sqlite3.Error, where: str) -> str:
    name = getattr(error, "sqlite_errorname", "")
    match name.split("_")[1:2]:
        case ["FULL"]:
            return f"the disk of the store {where} is full, nothing was written; free some space and resume"
        case ["NOTADB"] | ["CORRUPT"]:
            return f"the store {where} is damaged ({error}); go on with a copy of it"
        case ["CANTOPEN"]:
            return f"the store {where} cannot be opened; make the file and its folder accessible"
        case ["READONLY"] | ["PERM"] | ["AUTH"]:
            return f"the store {where} cannot be written; make the file and its folder writable"
        case ["BUSY"] | ["LOCKED"]:
            return f"the store {where} was locked by another program for {BUSY_SECONDS:.0f} s; end that first"
        case ["IOERR"]:
            return (
                f"the store {where} cannot be read or written ({error}), nothing was written; "
                "see that its disk is there and has space, and resume"
            )
        case _:
            return f"the store {where} cannot be used: {error}"


def _of_server(error: BaseException, where: str) -> UsageError:
    first, *_ = str(error).splitlines()
    said = " ".join(first.rpartition(" failed: ")[2].split())
    match getattr(error, "sqlstate", None):
        case "42501":
            sentence = f"the store {where} may not be used so ({said}); log in as its owner, or ask for the right"
        case "25006" | "0A000":  # a standby will write, too, once it has been promoted
            return Unreachable(f"the store {where} can only be read there ({said}); name the server that writes it")
        case "53100":
            sentence = f"the disk of the store {where} is full, nothing was written; free some space and resume"
        case "55P03":
            sentence = f"the store {where} was locked by another program for {BUSY_SECONDS:.0f} s; end that first"
        case None if 'database "' in said:
            sentence = f"the store {where} cannot be opened: {said}; make the database by createdb, or name another"
        case None if any(word in said for word in ("password", "authentication", "role", "pg_hba")):
            sentence = (
                f"the server of the store {where} refuses the login: {said}; "
                "name another user, or give the password by ~/.pgpass or PGPASSWORD"
            )
        case None | "57P01" | "57P02" | "57P03":
            return Unreachable(
                f"the server of the store {where} cannot be reached: {said}; see that it runs there, then try again"
            )
        case _:
            sentence = f"the store {where} cannot be used: {said}"
    return UsageError(sentence)
