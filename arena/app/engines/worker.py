"""A process that plays the tasks it is sent, and ends with the arena that started it, however that ends.

Pickles go both ways, through a socket that only these two processes hold.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import socket
import struct
import sys
import traceback
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.app.engines.local import LocalEngine, Setting, local_engine
from arena.bots.manifest import BotSpec
from arena.errors import ArenaError
from arena.match.lag import Lag
from arena.tournament.runner import Played, Task

NEWS_S = 1.0
"""How often a worker says how late it is."""
_LENGTH = struct.Struct("!I")
_PLACE = Path(__file__).resolve().parents[3]
"""The folder of the package `arena`."""


@dataclass(frozen=True, slots=True)
class Job:
    """What all tasks of a run have in common: the first message to a worker."""

    setting: Setting
    specs: Mapping[str, BotSpec]
    run: str
    """What the markers of its bots begin with."""
    logs: Path


@dataclass(frozen=True, slots=True)
class Order:
    """A task to be played."""

    number: int
    """Of the order, among those to this worker."""
    task: Task
    secret: bytes
    """Of the task's epoch."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """What is under way for an order is to be stopped."""

    number: int


@dataclass(frozen=True, slots=True)
class Reported:
    """A match of an order has been played."""

    number: int
    played: Played


@dataclass(frozen=True, slots=True)
class Ended:
    """Nothing runs for an order any more."""

    number: int
    error: BaseException | None


@dataclass(frozen=True, slots=True)
class News:
    """How a worker fares."""

    lag: Lag
    overloaded: bool


class Link:
    """One end of the socket; iterate over it for what comes, until the other end is gone."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def over(cls, sock: socket.socket) -> Link:
        return cls(*await asyncio.open_connection(sock=sock))

    def send(self, message: object) -> None:
        """Returns at once; what the other end is no longer there for is lost."""
        content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        self._writer.write(_LENGTH.pack(len(content)) + content)

    async def __aiter__(self) -> AsyncIterator[Any]:
        try:
            while True:
                (length,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
                yield pickle.loads(await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            return

    def close(self) -> None:
        self._writer.close()


class _Worker:
    """Plays orders side by side."""

    def __init__(self, link: Link, engine: LocalEngine, secrets: dict[int, bytes]) -> None:
        self._link = link
        self._engine = engine
        self._secrets = secrets
        self._playing: dict[int, asyncio.Task[None]] = {}

    async def serve(self) -> None:
        """Do what comes until the arena is gone; nothing is left running then."""
        telling = asyncio.create_task(self._tell())
        try:
            async for message in self._link:
                match message:
                    case Order(number):
                        self._playing[number] = asyncio.create_task(self._play(message))
                    case Cancel(number) if number in self._playing:
                        self._playing[number].cancel()
        finally:
            telling.cancel()
            for playing in self._playing.values():
                playing.cancel()
            await asyncio.gather(*self._playing.values(), return_exceptions=True)

    async def _play(self, order: Order) -> None:
        error: BaseException | None = None
        self._secrets[order.task.block.epoch] = order.secret
        try:
            await self._engine.play_now(order.task, lambda played: self._link.send(Reported(order.number, played)))
        except asyncio.CancelledError as cancelled:
            error = cancelled
        except Exception as failure:
            error = _sendable(failure)
        self._send_news()
        self._link.send(Ended(order.number, error))
        del self._playing[order.number]

    async def _tell(self) -> None:
        while True:
            self._send_news()
            await asyncio.sleep(NEWS_S)

    def _send_news(self) -> None:
        self._link.send(News(self._engine.lag, self._engine.overloaded))


def _sendable(error: Exception) -> Exception:
    """An error that survives the way: where it was raised does not, so a bug takes that along as a note."""
    if not isinstance(error, ArenaError):
        error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError("".join(traceback.format_exception(error)))
    return error


def command(fd: int) -> list[str]:
    """Starts a worker with the end of the socket that it inherits; it finds this very package wherever it starts."""
    code = f"import sys; sys.path.append({str(_PLACE)!r}); from {__name__} import main; main({fd})"
    return [sys.executable, "-P", "-c", code]


def main(fd: int) -> None:
    """What a worker process does."""
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    os.set_inheritable(fd, False)
    asyncio.run(_serve(socket.socket(fileno=fd)))


async def _serve(sock: socket.socket) -> None:
    link = await Link.over(sock)
    async for job in link:
        secrets: dict[int, bytes] = {}
        async with local_engine(job.setting, job.specs, secrets, job.run, job.logs) as engine:
            await _Worker(link, engine, secrets).serve()
