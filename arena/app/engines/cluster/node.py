"""What one of Ray's processes does on a node: it plays a block, with an event loop, bots and a sandbox of its own.

What a bot needs has travelled with the run, and is laid out and built once a node.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import platform
import queue
import shutil
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import psutil

from arena import __version__
from arena.app.data import BUILDS, cache_folder
from arena.app.engines.local import LocalEngine, Setting, local_engine
from arena.app.engines.room import Room
from arena.bots.bot import log_of
from arena.bots.certificates import Keys
from arena.bots.launcher import sweep
from arena.bots.manifest import BotSpec, digest_of_files
from arena.bots.parcel import Parcel, unpacked
from arena.bots.sandbox import Level, Sandbox, at, lacking, weakest
from arena.bots.shelf import KEPT_BYTES, trim
from arena.errors import UsageError
from arena.match.lag import Lag
from arena.match.rulings import Fault
from arena.tournament.runner import Played, Task

T = TypeVar("T")
_PACKAGE = Path(__file__).resolve().parents[3]
_BOTS = "bots"
_LOGS = "logs"


@dataclass(frozen=True, slots=True)
class Luggage:
    """What all tasks of a run need on a node."""

    arena: str
    """The driver's own arena, see `this_arena`."""
    run: str
    """What the markers of its bots begin with."""
    setting: Setting
    specs: Mapping[str, BotSpec]
    """As they travel, remote ones without their keys: these go only to those who play them."""
    parcels: Mapping[str, tuple[str, Callable[[], Parcel]]]
    """By name of a bot that is started on the node: the key of its parcel, and what fetches it."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A block is played from now on."""

    address: str
    """Of the node."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the arena there has to say: that it builds a bot, or what it logs."""

    text: str
    """One or several lines."""


@dataclass(frozen=True, slots=True)
class Printed:
    """What a bot has printed in a block."""

    name: str
    text: bytes


@dataclass(frozen=True, slots=True)
class TriedOut:
    """What came of starting bots once."""

    failures: Mapping[str, tuple[Fault, str]]
    """By name: the fault and its evidence."""
    streams: Mapping[str, int]
    """By address of a remote bot: how many it takes at once."""


@cache
def this_arena() -> str:
    """The arena that runs here, and its Python: two that are called alike play alike."""
    digest = digest_of_files(_PACKAGE, _PACKAGE.rglob("*.py"))
    return f"arena {__version__} ({digest[:12]}) on Python {platform.python_version()}"


def play(
    luggage: Luggage, task: Task, secret: bytes, keys: Mapping[str, Keys]
) -> Iterator[Begun | Said | Played | Lag | Printed]:
    """Play a task; every match is told as soon as it ends, and at the end how late the node was and what bots printed.

    `keys` are those of its remote bots, by name.  Raises `UsageError` where this node cannot play.
    """
    yield Begun(_address())
    seats = frozenset(task.block.seats)
    with _logs() as logs:

        async def playing(tell: Callable[[Said | Played | Lag], None]) -> None:
            async with _engine(luggage, seats, {task.block.epoch: secret}, keys, logs, tell) as engine:
                await engine.play_now(task, tell)
                tell(engine.lag)

        yield from _told(playing)
        for name in sorted(seats):
            with contextlib.suppress(FileNotFoundError):
                yield Printed(name, log_of(name, logs).read_bytes())


def _address() -> str:
    """Of this node, as the cluster knows it."""
    import ray.util

    util: Any = ray.util  # without types
    address: str = util.get_node_ip_address()
    return address


def try_out(luggage: Luggage, names: Iterable[str], seats: int, keys: Mapping[str, Keys]) -> Iterator[Said | TriedOut]:
    """Start these bots once, as `LocalEngine.preflight` does; what came of it is told last.

    Raises as `play`.
    """
    room = Room()
    with _logs() as logs:

        async def trying(tell: Callable[[Said | TriedOut], None]) -> None:
            trim(cache_folder() / _BOTS, KEPT_BYTES)
            async with _engine(luggage, names, {}, keys, logs, tell, room) as engine:
                failures = await engine.preflight(names, seats)
            tell(TriedOut({name: (each.fault, each.evidence) for name, each in failures.items()}, room.streams))

        yield from _told(trying)


@contextlib.asynccontextmanager
async def _engine(
    luggage: Luggage,
    names: Iterable[str],
    secrets: Mapping[int, bytes],
    keys: Mapping[str, Keys],
    logs: Path,
    tell: Callable[[Said], None],
    room: Room | None = None,
) -> AsyncIterator[LocalEngine]:
    """What plays these bots here, as the run says; first what an earlier process has left is ended."""
    if this_arena() != luggage.arena:
        raise UsageError(
            f"node {socket.gethostname()} has {this_arena()}, and the run has {luggage.arena}; "
            "install the same on all nodes"
        )
    sweep(luggage.run)
    folder = cache_folder()
    specs = dict(luggage.specs)
    setting = replace(
        luggage.setting,
        sandbox=replace(_sandbox(luggage.setting.sandbox.level), hidden=frozenset({folder})),
        building=replace(
            luggage.setting.building, folder=folder / BUILDS, told=lambda name: tell(Said(f"building {name} ..."))
        ),
    )
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(_heard(tell))
        for name in names:
            if name in luggage.parcels:
                bot = unpacked(specs[name], *luggage.parcels[name], folder / _BOTS)
                specs[name] = await stack.enter_async_context(bot)
            elif name in keys:
                specs[name] = replace(specs[name], keys=keys[name])
        yield await stack.enter_async_context(local_engine(setting, specs, secrets, luggage.run, logs, room=room))


class _Teller(logging.Handler):
    """Tells what is logged, as it would be shown on the arena's own machine."""

    def __init__(self, tell: Callable[[Said], None]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        self._tell(Said(self.format(record)))


@contextlib.contextmanager
def _heard(tell: Callable[[Said], None]) -> Iterator[None]:
    teller, arena = _Teller(tell), logging.getLogger("arena")
    arena.addHandler(teller)
    try:
        yield
    finally:
        arena.removeHandler(teller)


def _sandbox(level: Level) -> Sandbox:
    sandbox = weakest() if level is Level.WEAK else at(level)
    if sandbox is None:
        raise UsageError(
            f"node {socket.gethostname()} cannot hold bots at level {level}, as the run does: {lacking(level)}; "
            "see `arena doctor` there, or ask for less"
        )
    return sandbox


@contextlib.contextmanager
def _logs() -> Iterator[Path]:
    """A folder for what bots print, of this process alone; those of processes that were killed are removed."""
    host = socket.gethostname()
    folder = cache_folder() / _LOGS
    for left in folder.glob(f"{host}-*"):
        pid = left.name.rpartition("-")[2]
        if not psutil.pid_exists(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    mine = folder / f"{host}-{os.getpid()}"
    try:
        mine.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{mine} cannot be made on node {host}: {error.strerror}; set ARENA_CACHE there") from None
    try:
        yield mine
    finally:
        shutil.rmtree(mine, ignore_errors=True)


def _told(work: Callable[[Callable[[T], None]], Coroutine[Any, Any, None]]) -> Iterator[T]:
    """What the work tells, as soon as it does.  It runs on an event loop beside, and has ended when this has."""
    told: queue.SimpleQueue[T | None] = queue.SimpleQueue()
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = Future()

    async def working() -> None:
        begun.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        await work(told.put)

    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(asyncio.run, working())
        done.add_done_callback(lambda _: told.put(None))
        try:
            while (event := told.get()) is not None:
                yield event
        except BaseException:  # Ray interrupts a task that is cancelled
            loop, task = begun.result()
            assert task is not None
            with contextlib.suppress(RuntimeError):  # it has ended by itself
                loop.call_soon_threadsafe(task.cancel)
            raise
        done.result()
