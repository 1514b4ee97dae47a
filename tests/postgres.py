"""A PostgreSQL server of the tests' own, in a temporary folder, with a place for whoever asks."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import psycopg

BINARIES = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)
"""Where Debian puts them: not in PATH."""
OWNER = "arena"
PASSWORD = "s3cret%word"
FAST = ("fsync=off", "full_page_writes=off", "shared_buffers=16MB", "max_connections=60", "jit=off")
"""No test cuts the power."""


@dataclass(slots=True)
class Server:
    """A server; whoever reaches its socket is let in, over the loopback only with the password."""

    folder: Path
    port: int
    _settings: Sequence[str]
    _numbers: Iterator[int] = field(default_factory=count)
    _process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What libpq needs to find it."""
        return {"PGHOST": str(self.folder), "PGPORT": str(self.port), "PGUSER": OWNER}

    def url(self, database: str = "postgres") -> str:
        """The address of a database, by the socket."""
        return f"postgresql://{OWNER}@/{database}?host={self.folder}&port={self.port}"

    def loopback(self, database: str = "postgres", *, user: str = OWNER, password: str = "s3cret%25word") -> str:
        """The same by the network, with a password as addresses write it."""
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def new(self) -> str:
        """An address where there is nothing yet: a schema of its own, which is made faster than a database."""
        name = f"test_{next(self._numbers)}"
        self.execute(f"CREATE SCHEMA {name}")
        return f"{self.url()}&options=-csearch_path%3D{name}"

    def execute(self, statement: str) -> None:
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(statement)

    def value(self, query: str) -> int:
        """The number that a query finds."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            (found,) = connection.execute(query).fetchone() or (0,)
        return int(found)

    def start(self) -> None:
        """Returns once it answers; it ends with this process, however that ends."""
        assert BINARIES is not None
        options = [f"unix_socket_directories={self.folder}", f"port={self.port}", *self._settings]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "QUIT", *_become(), BINARIES / "postgres", "-D", self.folder / "data",
                 "-c", "listen_addresses=127.0.0.1", *(word for option in options for word in ("-c", option))],
                stdout=log, stderr=log, cwd="/",
            )  # fmt: skip
        ready = [BINARIES / "pg_isready", "-q", "-h", self.folder, "-p", str(self.port), "-t", "1"]
        while subprocess.run(ready).returncode:
            assert self._process.poll() is None, (self.folder / "log").read_text()

    @contextmanager
    def standby(self) -> Iterator[Server]:
        """A server that follows this one and can only be read, for as long as the block lasts."""
        assert BINARIES is not None
        with _place() as (folder, port):
            subprocess.run(
                ["setpriv", *_become(), BINARIES / "pg_basebackup", "-D", folder / "data", "-h", self.folder,
                 "-p", str(self.port), "-U", OWNER, "--write-recovery-conf", "--checkpoint=fast", "--no-sync"],
                check=True, capture_output=True, cwd="/",
            )  # fmt: skip
            with Server(folder, port, self._settings)._started() as standby:
                yield standby

    @contextmanager
    def _started(self) -> Iterator[Server]:
        try:
            self.start()
            yield self
        finally:
            self.stop(signal.SIGQUIT)

    def stop(self, how: signal.Signals) -> None:
        """`SIGINT`: throw all clients out, as a restart does; `SIGQUIT`: as if it had crashed."""
        assert self._process is not None
        self._process.send_signal(how)
        self._process.wait()


def _become() -> list[str]:
    """What makes another user of root, which the server refuses to be."""
    if os.geteuid():
        return []
    return ["--reuid", "postgres", "--regid", "postgres", "--clear-groups"]


@contextmanager
def _place() -> Iterator[tuple[Path, int]]:
    """A folder that a server may write, and a port that is free."""
    folder = Path(tempfile.mkdtemp(prefix="arena-postgres-"))
    if not os.geteuid():
        os.chown(folder, pwd.getpwnam("postgres").pw_uid, -1)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    try:
        yield folder, port
    finally:
        shutil.rmtree(folder)


@contextmanager
def running(settings: Sequence[str] = FAST) -> Iterator[Server]:
    """A server for as long as the block lasts."""
    assert BINARIES is not None
    with _place() as (folder, port):
        (folder / "password").write_text(PASSWORD)
        (folder / "password").chmod(0o644)
        # Texts are compared as in a dictionary, not byte by byte: nothing may depend on that.
        subprocess.run(
            ["setpriv", *_become(), BINARIES / "initdb", "-D", folder / "data", "-U", OWNER, "--no-sync", "-E", "UTF8",
             "--locale-provider=icu", "--icu-locale=en-US", "--locale=C.UTF-8", "--pwfile", folder / "password",
             "--auth-local=trust", "--auth-host=scram-sha-256"],
            check=True, capture_output=True, cwd="/",
        )  # fmt: skip
        with Server(folder, port, settings)._started() as server:
            yield server
