"""`arena web`, and the same beside a tournament."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import DATA, STORE_VARIABLE, Data, Quiet, Run, Store, archive_of
from arena.cli.screen import say
from arena.cli.stored import queries_of
from arena.errors import UsageError
from arena.match.lag import Lag
from arena.web.now import OnNow

if TYPE_CHECKING:
    from arena.app.data import Archive
    from arena.tournament.runner import UnderWay

LISTEN = "127.0.0.1:8066"
Delay = Annotated[
    float, typer.Option("--delay", min=0, metavar="SECONDS", help="Show everything that much later than it happened.")
]


def web(
    run: Run = "last",
    data: Data = DATA,
    store: Store = None,
    listen: Annotated[
        str, typer.Option("--listen", metavar="ADDRESS", help="Where: an address of this machine, and a port.")
    ] = LISTEN,
    delay: Delay = 0.0,
    quiet: Quiet = False,
    beside: Annotated[bool, typer.Option("--beside", hidden=True)] = False,
) -> None:
    """Show a run as pages while it is played, to anybody with a browser, until Ctrl-C.

    They only read the store.  Whoever can reach the address can look; nobody can change anything.
    """
    import asyncio

    from arena.app.show import find_run

    host, port = parsed(listen)
    archive, name = find_run(run, archive_of(data, store))
    if not beside:  # there the run is known by its name
        with queries_of(archive) as queries:
            name = queries.tournament(name).name
    check_servable(listen)
    from arena.web.server import serve
    from arena.web.watch import Watch

    if not quiet:
        say(f"{name} is shown at {url(host, port)} until Ctrl-C")

    watch = Watch(archive, name, delay)

    def listen_to_arena() -> None:
        for line in sys.stdin:
            told = json.loads(line)
            watch.hear(Lag.from_json(told["lag"]), tuple(map(OnNow.from_json, told["now"])))

    async def served() -> None:
        await serve(watch, host, port, asyncio.to_thread(listen_to_arena) if beside else None)

    asyncio.run(served())


class Beside:
    """The live pages of a run in a process of their own, which ends with this one, however that ends.

    It reads the store, and is told by its stdin what is not there yet: how late the arena is, and what it plays.
    """

    def __init__(self, archive: Archive, listen: str, delay: float) -> None:
        """Nothing is started yet.  Raises `UsageError`: a package is missing, or nobody can listen there."""
        check_servable(listen)
        self.address = url(*parsed(listen))
        self._words = ["--data", str(archive.folder), "--listen", listen, "--delay", str(delay), "--quiet", "--beside"]
        # In the environment, since whoever may list processes reads their command lines.
        self._environment = {**os.environ, **({STORE_VARIABLE: archive.url} if archive.url else {})}
        self._child: subprocess.Popen[bytes] | None = None
        self._begun = b""
        """The rest of a line that the pipe did not take whole."""

    def begun(self, run: str) -> None:
        """Show this run from now on."""
        self._child = subprocess.Popen(
            [sys.executable, "-m", "arena", "web", run, *self._words],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=self._environment,
            start_new_session=True,  # Ctrl-C is for the arena alone
        )
        os.set_blocking(self._stdin, False)

    def tell(self, lag: Lag, under_way: Sequence[UnderWay]) -> None:
        """Pass it on, if the pages are there to take it: the arena never waits for them."""
        if self._child is None:
            return
        told = {"lag": lag.to_json(), "now": [OnNow.of(each).to_json() for each in under_way]}
        line = self._begun or json.dumps(told).encode() + b"\n"  # what was begun is ended; the next look is newer
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            self._begun = line[os.write(self._stdin, line) :]

    def close(self) -> None:
        """End it, gently at first."""
        if self._child is None:
            return
        assert self._child.stdin is not None
        self._child.stdin.close()
        try:
            self._child.wait(5)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    @property
    def _stdin(self) -> int:
        assert self._child is not None and self._child.stdin is not None
        return self._child.stdin.fileno()


def parsed(listen: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`; a host of IPv6 in brackets.  Raises `UsageError`."""
    host, colon, port = listen.rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise UsageError(f"{listen!r} is no address; expected a host and a port, as in {LISTEN}")
    return host.strip("[]"), int(port)


def url(host: str, port: int) -> str:
    """What to type into a browser."""
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def check_servable(listen: str) -> None:
    """Raises `UsageError`: a package is missing, or nobody can listen there."""
    for package in ("starlette", "uvicorn", "prometheus_client"):
        if importlib.util.find_spec(package) is None:
            raise UsageError(f"the live pages need {package}; pip install 'sixtysix-arena[web]'")
    host, port = parsed(listen)
    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
            pass
    except OSError as error:
        raise UsageError(f"{listen} cannot be listened on: {error.strerror}; choose another address or port") from None
