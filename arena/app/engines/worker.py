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
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.app.engines.local import Job, local_engine
from arena.errors import ArenaError
from arena.match.lag import Lag
from arena.tournament.runner import Task

NEWS_S = 1.0
"""How often a worker says how late it is."""
_LENGTH = struct.Struct("!I")
_PLACE = Path(__file__).resolve().parents[3]
"""The folder of the package `arena`."""


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
    """What an order has brought, such as a match that has been played."""

    number: int
    result: Any


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


@dataclass(frozen=True, slots=True)
class Noted:
    """Something that the organiser should know."""

    sentence: str


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


class Service:
    """Does orders side by side."""

    def __init__(
        self,
        link: Link,
        do: Callable[[Any, Callable[[object], None]], Coroutine[Any, Any, None]],
        news: Callable[[], News],
    ) -> None:
        """`do` is given an order, and what hears its results."""
        self._link = link
        self._do = do
        self._news = news
        self._doing: dict[int, asyncio.Task[None]] = {}

    async def serve(self) -> None:
        """Do what comes until the arena is gone; nothing is left running then."""
        telling = asyncio.create_task(self._tell())
        try:
            async for message in self._link:
                if not isinstance(message, Cancel):
                    self._begin(message)
                elif message.number in self._doing:
                    self._doing[message.number].cancel()
        finally:
            telling.cancel()
            for doing in self._doing.values():
                doing.cancel()
            await asyncio.gather(*self._doing.values(), return_exceptions=True)

    def _begin(self, order: Any) -> None:
        number = order.number
        doing = asyncio.create_task(self._do(order, lambda result: self._link.send(Reported(number, result))))
        self._doing[number] = doing
        doing.add_done_callback(lambda _: self._end(number))  # comes also where it is cancelled before it runs

    def _end(self, number: int) -> None:
        doing = self._doing.pop(number)
        error = asyncio.CancelledError() if doing.cancelled() else doing.exception()
        self._link.send(self._news())
        self._link.send(Ended(number, _sendable(error) if isinstance(error, Exception) else error))

    async def _tell(self) -> None:
        while True:
            self._link.send(self._news())
            await asyncio.sleep(NEWS_S)


def _sendable(error: Exception) -> Exception:
    """An error that survives the way: where it was raised does not, so a bug takes that along as a note."""
    if not isinstance(error, ArenaError):
        error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError("".join(traceback.format_exception(error)))
    return error


def command(fd: int, module: str = __name__) -> list[str]:
    """Starts a process, the `main` of that module, with the end of the socket that it inherits.

    It finds this very package wherever it starts.
    """
    code = f"import sys; sys.path.append({str(_PLACE)!r}); from {module} import main; main({fd})"
    return [sys.executable, "-P", "-c", code]


def main(fd: int) -> None:
    """What a worker process does."""
    serve_at(fd, _serve)


def serve_at(fd: int, serve: Callable[[Link, Any], Coroutine[Any, Any, None]]) -> None:
    """Be a process of the arena that serves the other end of a socket, whose first message says what for."""
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    os.set_inheritable(fd, False)

    async def serving() -> None:
        link = await Link.over(socket.socket(fileno=fd))
        async for first in link:  # an arena that is killed at once sends none
            await serve(link, first)

    asyncio.run(serving())


async def _serve(link: Link, job: Job) -> None:
    secrets: dict[int, bytes] = {}
    async with local_engine(job.setting, job.specs, secrets, job.run, job.logs) as engine:

        async def play(order: Order, report: Callable[[object], None]) -> None:
            secrets[order.task.block.epoch] = order.secret
            await engine.play_now(order.task, report)

        await Service(link, play, lambda: News(engine.lag, engine.overloaded)).serve()
