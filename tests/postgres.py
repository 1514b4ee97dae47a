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


@dataclass(frozen=True, slots=True)
class Server:
    """A running server; whoever reaches its socket is let in, over the loopback only with the password."""

    folder: Path
    port: int
    _numbers: Iterator[int] = field(default_factory=count)

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


@contextmanager
def running(settings: Sequence[str] = FAST) -> Iterator[Server]:
    """A server for as long as the block lasts; it ends with the process of the tests, however that ends."""
    assert BINARIES is not None
    folder = Path(tempfile.mkdtemp(prefix="arena-postgres-"))
    become: list[str] = []
    if os.geteuid() == 0:  # which the server refuses to be
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
        become = ["--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "password").write_text(PASSWORD)
    (folder / "password").chmod(0o644)
    try:
        # Texts are compared as in a dictionary, not byte by byte: nothing may depend on that.
        subprocess.run(
            ["setpriv", *become, BINARIES / "initdb", "-D", folder / "data", "-U", OWNER, "--no-sync", "-E", "UTF8",
             "--locale-provider=icu", "--icu-locale=en-US", "--locale=C.UTF-8", "--pwfile", folder / "password",
             "--auth-local=trust", "--auth-host=scram-sha-256"],
            check=True, capture_output=True, cwd="/",
        )  # fmt: skip
        options = ["listen_addresses=127.0.0.1", f"unix_socket_directories={folder}", f"port={port}", *settings]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                ["setpriv", "--pdeathsig", "QUIT", *become, BINARIES / "postgres", "-D", folder / "data",
                 *(word for option in options for word in ("-c", option))],
                stdout=log, stderr=log, cwd="/",
            )  # fmt: skip
        try:
            _wait(server, folder, port)
            yield Server(folder, port)
        finally:
            server.send_signal(signal.SIGQUIT)
            server.wait()
    finally:
        shutil.rmtree(folder)


def _wait(server: subprocess.Popen[bytes], folder: Path, port: int) -> None:
    """Until it answers."""
    assert BINARIES is not None
    ready = [BINARIES / "pg_isready", "-q", "-h", folder, "-p", str(port), "-t", "1"]
    while subprocess.run(ready).returncode:
        assert server.poll() is None, (folder / "log").read_text()
