"""Plays in worker processes of this machine, each with an event loop, bots and a sandbox of its own.

A worker that dies is nobody's fault: what it had not reported yet is played by another one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from functools import reduce
from itertools import count
from operator import add
from typing import Any

from arena.app.engines.local import Job, Setting, local_engine
from arena.app.engines.room import Room
from arena.app.engines.worker import Cancel, Ended, Link, News, Noted, Order, Reported, command
from arena.bots.bot import BotFailed
from arena.errors import ArenaError, UsageError
from arena.match.lag import Lag
from arena.match.summary import Histogram
from arena.tournament.runner import Played, Task

MAX_DEATHS = 10
"""A task that so many workers died of, one after the other and without a result, is not given to another one."""
LEAVE_S = 20.0
"""How long a worker may take to end its bots and itself."""

log = logging.getLogger(__name__)


class WorkerDied(Exception):
    """A worker process has ended while it had orders."""


class WorkersEngine:
    """Gives each task to the worker that has the fewest.  Use it as an async context manager: `workers_engine`."""

    def __init__(self, size: int, job: Job, secrets: Mapping[int, bytes], room: Room) -> None:
        self._job = job
        self._secrets = secrets
        self._room = room
        sent = replace(job, setting=silent(job.setting))
        self._workers = [Worker(sent, command, WorkerDied) for _ in range(size)]

    @property
    def lag(self) -> Lag:
        """How late the workers have been so far, all together."""
        return reduce(add, (worker.lag for worker in self._workers))

    @property
    def overloaded(self) -> bool:
        """Whether the machine cannot keep up."""
        return any(worker.overloaded for worker in self._workers)

    async def preflight(self, names: Iterable[str], seats: int = 1) -> Mapping[str, BotFailed]:
        """As `LocalEngine.preflight`, in this process: what is built is there for all, what is learnt is known here."""
        job = self._job
        async with local_engine(job.setting, job.specs, {}, job.run, job.logs, room=self._room) as engine:
            return await engine.preflight(names, seats)

    async def play(self, task: Task, report: Callable[[Played], None]) -> None:
        """Play the task's matches, whatever happens to workers.  Raises `ArenaError` where that comes to nothing."""
        secret = self._secrets[task.block.epoch]

        async def play(task: Task, report: Callable[[Played], None]) -> None:
            worker = min(self._workers, key=lambda each: each.under_way)
            await worker.do(lambda number: Order(number, task, secret), report)

        async with self._room.taken(self._job.specs[name] for name in task.block.seats):
            await until_played(task, play, report)

    async def close(self) -> None:
        """End all workers."""
        await asyncio.gather(*(worker.close() for worker in self._workers))


async def until_played(
    task: Task,
    play: Callable[[Task, Callable[[Played], None]], Awaitable[None]],
    report: Callable[[Played], None],
) -> None:
    """Play what of the task is not reported yet, again for each `WorkerDied`.

    Raises `ArenaError` where that comes to nothing.
    """
    open_keys = {key: position for position, key in task.keys}
    deaths = 0

    def reported(played: Played) -> None:
        nonlocal deaths
        deaths = 0
        del open_keys[played.key]
        report(played)

    while open_keys:
        keys = tuple((position, key) for key, position in open_keys.items())
        try:
            await play(replace(task, keys=keys), reported)
        except WorkerDied as died:
            deaths += 1
            if deaths == MAX_DEATHS:
                raise ArenaError(f"{died}, as did {deaths - 1} before it; see what ends them, and resume") from None
            log.warning("%s; it is played again", died)


def silent(setting: Setting) -> Setting:
    """As a worker needs it: what must be built has been built before."""
    return replace(setting, building=replace(setting.building, told=_silently))


def _silently(text: str) -> None:
    """Hear it, and say nothing."""


class Worker:
    """A worker process as the arena sees it: started when there is something to do, and again if it died."""

    def __init__(
        self,
        job: object,
        command: Callable[[int], list[str]],
        died: Callable[[str], Exception],
        noted: Callable[[str], None] = _silently,
    ) -> None:
        """`job` is the first message to it, `died` what those hear whose orders it had when it ended.

        `noted` hears what else it has to say.
        """
        self.under_way = 0
        """Orders that it has."""
        self._job = job
        self._command = command
        self._died = died
        self._noted = noted
        self._numbers = count()
        self._starting = asyncio.Lock()
        self._link: Link | None = None
        self._listening: asyncio.Task[None] | None = None
        self._orders: dict[int, tuple[Callable[[Any], None], asyncio.Future[None]]] = {}
        self._former = Lag(Histogram({}))
        """Of those processes that died."""
        self._news = News(Lag(Histogram({})), False)

    @property
    def lag(self) -> Lag:
        return self._former + self._news.lag

    @property
    def overloaded(self) -> bool:
        return self._news.overloaded

    async def do(self, order: Callable[[int], object], report: Callable[[Any], None]) -> None:
        """Have an order done, which gets a number; `report` hears what it brings.

        Cancelled, it returns when nothing of it is left.  Raises what the order raised, or that the worker died.
        """
        self.under_way += 1
        try:
            async with self._starting:
                if self._link is None:
                    await self._start()
            assert self._link is not None
            number = next(self._numbers)
            ended = asyncio.get_running_loop().create_future()
            self._orders[number] = report, ended
            self._link.send(order(number))
            try:
                await asyncio.shield(ended)
            except asyncio.CancelledError:
                if self._link is not None:
                    self._link.send(Cancel(number))
                await asyncio.wait([ended])
                ended.exception()  # is of no interest any more
                raise
        finally:
            self.under_way -= 1

    async def _start(self) -> None:
        if self._listening is not None:
            await self._listening  # the orders of the one that died are no orders of this one
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                process = await asyncio.create_subprocess_exec(
                    *self._command(theirs.fileno()),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,  # what a terminal signals is for the arena alone
                )
            except OSError as error:
                ours.close()
                raise UsageError(
                    f"this machine starts no worker process: {error.strerror}; end other work on it, or ask for "
                    "fewer workers"
                ) from None
        self._link = await Link.over(ours)
        self._link.send(self._job)
        self._listening = asyncio.create_task(self._listen(process, self._link))

    async def _listen(self, process: asyncio.subprocess.Process, link: Link) -> None:
        """Take what comes until the process is gone; nobody waits for it any longer then."""
        bug: Exception | None = None
        try:
            async for message in link:
                self._take(message)
        except Exception as error:
            bug = error
        self._link = None
        link.close()
        code = await _ended(process)
        self._former, self._news = self.lag, News(Lag(Histogram({})), False)
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        died = self._died(f"a worker process (pid {process.pid}) {how} while it played")
        orders, self._orders = self._orders, {}
        for _, ended in orders.values():
            ended.set_exception(bug or died)

    def _take(self, message: object) -> None:
        match message:
            case Reported(number, result):
                report, _ = self._orders[number]
                report(result)
            case Ended(number, error):
                _, ended = self._orders.pop(number)
                if error is None:
                    ended.set_result(None)
                else:
                    ended.set_exception(error)
            case News():
                self._news = message
            case Noted(sentence):
                self._noted(sentence)

    async def close(self) -> None:
        """End it: it ends its bots and itself when the link closes."""
        if self._link is not None:
            self._link.close()
        if self._listening is not None:
            await self._listening


async def _ended(process: asyncio.subprocess.Process) -> int:
    """The exit code of a worker whose link is closed; one that does not leave by itself is made to."""
    try:
        return await asyncio.wait_for(process.wait(), LEAVE_S)
    except TimeoutError:
        process.kill()
        return await process.wait()


@contextlib.asynccontextmanager
async def workers_engine(size: int, job: Job, secrets: Mapping[int, bytes], room: Room) -> AsyncIterator[WorkersEngine]:
    """An engine of so many workers."""
    engine = WorkersEngine(size, job, secrets, room)
    try:
        yield engine
    finally:
        await engine.close()
