"""`arena web`, and the same beside a tournament."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import DATA, Data, Quiet, Run
from arena.cli.screen import say
from arena.cli.stored import queries_of
from arena.errors import UsageError

LISTEN = "127.0.0.1:8066"
Delay = Annotated[
    float, typer.Option("--delay", min=0, metavar="SECONDS", help="Show everything that much later than it happened.")
]


def web(
    run: Run = "last",
    data: Data = DATA,
    listen: Annotated[
        str, typer.Option("--listen", metavar="ADDRESS", help="Where: an address of this machine, and a port.")
    ] = LISTEN,
    delay: Delay = 0.0,
    quiet: Quiet = False,
    until_eof: Annotated[bool, typer.Option("--until-eof", hidden=True)] = False,
) -> None:
    """Show a run as pages while it is played, to anybody with a browser, until Ctrl-C.

    They only read the store.  Whoever can reach the address can look; nobody can change anything.
    """
    import asyncio

    from arena.app.show import find_run

    host, port = parsed(listen)
    folder, name = find_run(run, data)
    with queries_of(folder) as queries:
        name = queries.tournament(name).name
    try:
        from arena.web.server import serve
        from arena.web.watch import Watch
    except ImportError as error:
        raise UsageError(f"the live pages need {error.name}; pip install 'sixtysix-arena[web]'") from None
    check_free(listen)
    if not quiet:
        say(f"{name} is shown at {url(host, port)} until Ctrl-C")

    async def served() -> None:
        end = asyncio.to_thread(sys.stdin.read) if until_eof else None
        await serve(Watch(folder, name, delay), host, port, end)

    asyncio.run(served())


@contextlib.contextmanager
def beside(run: str, data: Path, listen: str, delay: float) -> Iterator[None]:
    """The live pages of a run in a process of their own, which ends with this one, however that ends."""
    words = ["web", run, "--data", str(data), "--listen", listen, "--delay", str(delay), "--quiet", "--until-eof"]
    child = subprocess.Popen(
        [sys.executable, "-m", "arena", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for the arena alone
    )
    try:
        yield
    finally:
        assert child.stdin is not None
        child.stdin.close()
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def parsed(listen: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`; a host of IPv6 in brackets.  Raises `UsageError`."""
    host, colon, port = listen.rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise UsageError(f"{listen!r} is no address; expected a host and a port, as in {LISTEN}")
    return host.strip("[]"), int(port)


def url(host: str, port: int) -> str:
    """What to type into a browser."""
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def check_free(listen: str) -> None:
    """Raises `UsageError`: nobody can listen there."""
    host, port = parsed(listen)
    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
            pass
    except OSError as error:
        raise UsageError(f"{listen} cannot be listened on: {error.strerror}; choose another address or port") from None
