"""What the tests of the store run in processes of their own, which may be killed at any moment.

The processes come from a fork server: it has the store imported, and no thread of the test runner.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from arena.errors import ArenaError
from arena.store import open_queries, open_store
from arena.store.locking import LEASE_S
from tests.store.behind import Where
from tests.store.samples import created, small

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.store.workers"])


def start(work: Callable[..., None], *arguments: Any) -> tuple[ForkServerProcess, Connection]:
    """Run `work(connection, *arguments)` in another process; returns it and our end of the connection."""
    ours, theirs = _context.Pipe()
    process = _context.Process(target=work, args=(theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def record_all(to: Connection, path: Where, name: str, matches: int, group: int) -> None:
    """Record what the store lacks of `small(matches)`; tell the positions of each group once it is committed."""
    with open_store(path) as store:
        cup = store.tournament(name)
        with store.lock(cup):
            finished = set(store.keys(cup))
            missing = [one for one in small(matches) if one.key not in finished]
            to.send([])
            while missing:
                some, missing = missing[:group], missing[group:]
                store.record(cup, some)
                to.send([one.position for one in some])


def record_some(to: Connection, path: Where, name: str, first: int) -> None:
    """Record every fourth match of 80 alone, in turn with others, without holding the tournament."""
    with open_store(path) as store:
        for one in small(80)[first::4]:
            store.record(store.tournament(name), [one])


def create(to: Connection, path: Where, name: str) -> None:
    """Create a tournament in a store that may not be there yet; tell what came of it."""

    def make() -> str:
        with open_store(path) as store:
            created(store, name, "AB")
        return "created"

    to.send(_told(make))


def hold(to: Connection, path: Where, lease_s: float = LEASE_S) -> None:
    """Hold the lock of the cup; record as many more of its matches as is told, until that is none."""
    with open_store(path) as store:
        cup = store.tournament("cup")
        with store.lock(cup, lease_s=lease_s):
            to.send("held")
            while matches := to.recv():
                to.send(_told(lambda: store.record(cup, small(matches))))
        to.send("released")


def _told(work: Callable[[], object]) -> str:
    """What came of it, or the arena's sentence."""
    try:
        return str(work())
    except ArenaError as error:
        return f"{type(error).__name__}: {error}"


def read_as_nobody(to: Connection, path: Where) -> None:
    """Read a store, and try to write to it, as a user who may only read it."""
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "arena.db"):
        pass  # all that this imports: that user may not be allowed to see the checkout
    os.setgid(65534)
    os.setuid(65534)
    try:
        with open_queries(path) as queries:
            to.send(queries.tournament("cup").name)
    except ArenaError as error:
        to.send(str(error))
    try:
        open_store(path).close()
        to.send("opened for writing")
    except ArenaError as error:
        to.send(str(error))
