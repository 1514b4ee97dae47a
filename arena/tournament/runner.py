"""A tournament under way: tasks from the schedule, as many at once as there are jobs, results to one place.

The runner knows neither processes nor stores: an engine plays tasks, `record` takes what was played.  What has been
recorded before is no task, which is all there is to resuming.  A void match is played again in fresh processes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from arena.match.record import MatchRecord, Status
from arena.match.summary import MatchKey
from arena.tournament.schedule import Block

MAX_ATTEMPTS = 3
"""A match that was void this often is left void, and shown."""

LOOK_AGAIN_S = 0.1
"""How often an overloaded machine is looked at again."""


@dataclass(frozen=True, slots=True)
class Task:
    """The matches of a block that are still to be played."""

    block: Block
    keys: tuple[tuple[int, MatchKey], ...]
    """Schedule position and identity of each match."""
    attempt: int = 1


@dataclass(slots=True)
class UnderWay:
    """A task that is being played."""

    task: Task
    since: float
    """Seconds since 1970."""
    recorded: int = 0
    """How many of its matches are recorded by now, without those that are played again."""


@dataclass(frozen=True, slots=True)
class Played:
    """A match that has been played (or was void)."""

    position: int
    key: MatchKey
    seats: tuple[str, ...]
    mirrored: bool
    record: MatchRecord
    attempt: int

    @property
    def final(self) -> bool:
        """False where a void match is going to be played again."""
        return self.record.status is not Status.VOID or self.attempt >= MAX_ATTEMPTS


class Engine(Protocol):
    """Plays tasks."""

    async def play(self, task: Task, report: Callable[[Played], None]) -> None:
        """Play the task's matches, reporting each as it ends; cancelled, it leaves nothing running."""


class Recorded(Protocol):
    """What has been recorded before."""

    def missing(self, epoch: int, positions: range, /) -> Iterable[int]:
        """Those of the positions of an epoch whose match is still to be played, ascending."""


class Runner:
    """Runs blocks to their end.  `drain` lets what is under way finish and starts nothing more.

    No further block is begun while the machine is `overloaded`: that changes when matches are played, never how.
    """

    def __init__(
        self,
        tasks: Iterator[Task],
        engine: Engine,
        record: Callable[[Played], Awaitable[None]],
        jobs: int,
        overloaded: Callable[[], bool] = lambda: False,
    ) -> None:
        self._tasks = tasks
        self._again: list[Task] = []
        self._engine = engine
        self._record = record
        self._jobs = jobs
        self._overloaded = overloaded
        self._draining = False
        self._under_way: list[UnderWay] = []

    @property
    def draining(self) -> bool:
        return self._draining

    @property
    def under_way(self) -> Sequence[UnderWay]:
        """The tasks that are being played."""
        return tuple(self._under_way)

    def drain(self) -> None:
        """Start nothing more."""
        self._draining = True

    async def run(self) -> bool:
        """Play everything; returns False if it was drained before the schedule was done."""
        async with asyncio.TaskGroup() as group:
            workers = [group.create_task(self._work()) for _ in range(self._jobs)]
        return all(worker.result() for worker in workers)

    async def _may_start(self) -> bool:
        """Whether to begin another block; while the machine is overloaded what is under way goes on alone first."""
        while self._under_way and self._overloaded() and not self._draining:
            await asyncio.sleep(LOOK_AGAIN_S)
        return not self._draining

    async def _work(self) -> bool:
        while await self._may_start():
            task = self._again.pop(0) if self._again else next(self._tasks, None)
            if task is None:
                return True
            under_way = UnderWay(task, time.time())
            self._under_way.append(under_way)
            try:
                played = await self._play(under_way)
            finally:
                self._under_way.remove(under_way)
            void = {match.key for match in played if not match.final}
            if void:
                keys = tuple(item for item in task.keys if item[1] in void)
                self._again.append(Task(task.block, keys, task.attempt + 1))
        return not self._again and next(self._tasks, None) is None

    async def _play(self, under_way: UnderWay) -> Sequence[Played]:
        """Play a task and have its matches recorded; what cannot be recorded ends it at once."""
        played: list[Played] = []
        recording: list[asyncio.Future[None]] = []

        async def record(match: Played) -> None:
            await self._record(match)
            under_way.recorded += match.final

        def report(match: Played) -> None:
            played.append(match)
            recorded = asyncio.ensure_future(record(match))
            recorded.add_done_callback(stop_if_failed)
            recording.append(recorded)

        def stop_if_failed(recorded: asyncio.Future[None]) -> None:
            if not recorded.cancelled() and recorded.exception() is not None:
                playing.cancel()

        playing = asyncio.ensure_future(self._engine.play(under_way.task, report))
        try:
            await playing
        finally:
            await asyncio.gather(*recording)  # its failure is the reason where playing was stopped
        return played


def open_tasks(
    blocks: Iterable[Block], recorded: Recorded, left_out: Callable[[MatchKey, int], bool]
) -> Iterator[Task]:
    """What is left of the blocks, in their order; each is looked at when it is its turn.

    `left_out` tells of a match and its schedule position whether it is not to be played at all.
    """
    for block in blocks:
        open_keys = ((position, block.key(position)) for position in recorded.missing(block.epoch, block.positions))
        keys = tuple((position, key) for position, key in open_keys if not left_out(key, position))
        if keys:
            yield Task(block, keys)
