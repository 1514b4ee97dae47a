"""The runner with an engine that plays nothing: what is started, what is tried again, what its result says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from arena.match import record
from arena.match.record import MatchRecord, Status
from arena.match.summary import MatchKey
from arena.tournament.runner import MAX_ATTEMPTS, Played, Runner, Task, open_tasks
from arena.tournament.schedule import Schedule

BLOCKS = 4
SCHEDULE = Schedule(("anna", "bert"), pairs=BLOCKS, block=2)


def record_of(status: Status) -> MatchRecord:
    return MatchRecord(status, (), (), (0, 0), (1, 1), testimony=record.Testimony((), (), ("it failed",)))


def tasks() -> Iterator[Task]:
    return open_tasks(SCHEDULE.blocks(), Nothing(), lambda *_: False)


class Nothing:
    """Nothing was recorded before."""

    def missing(self, epoch: int, positions: range) -> range:
        return positions


class Engine:
    """Reports every match as played, or as void while `voids` names it; `before` is called with each task."""

    def __init__(self, voids: dict[MatchKey, int] | None = None) -> None:
        self.voids = voids or {}
        self.tasks: list[Task] = []
        self.recorded: list[Played] = []
        self.before: Callable[[Task], None] = lambda task: None

    async def play(self, task: Task, report: Callable[[Played], None]) -> None:
        self.tasks.append(task)
        self.before(task)
        for position, key in task.keys:
            await asyncio.sleep(0)
            left = self.voids.get(key, 0)
            self.voids[key] = left - 1
            status = Status.VOID if left > 0 else Status.PLAYED
            report(Played(position, key, task.block.seats, task.block.mirrored, record_of(status), task.attempt))

    async def record(self, played: Played) -> None:
        await asyncio.sleep(0)
        self.recorded.append(played)

    def run(self, jobs: int, *, drain_at: int | None = None) -> bool:
        runner = Runner(tasks(), self, self.record, jobs)

        def before(task: Task) -> None:
            if len(self.tasks) == drain_at:
                runner.drain()

        self.before = before
        return asyncio.run(runner.run())


def test_a_run_drained_in_its_last_block_is_complete() -> None:
    engine = Engine()
    assert engine.run(1, drain_at=BLOCKS)
    assert len(engine.recorded) == SCHEDULE.match_count


def test_a_run_drained_before_its_last_block_is_not_complete() -> None:
    for jobs in (1, 2, 9):
        engine = Engine()
        drained = engine.run(jobs, drain_at=1)
        assert drained is (len(engine.tasks) == BLOCKS)


def test_a_run_drained_with_a_match_to_try_again_is_not_complete() -> None:
    (_, key), *_ = next(SCHEDULE.blocks()).keys()
    assert not Engine({key: 1}).run(BLOCKS, drain_at=BLOCKS)


def test_a_void_match_is_tried_three_times_and_only_the_last_one_is_final() -> None:
    (_, key), *_ = next(SCHEDULE.blocks()).keys()
    engine = Engine({key: 99})
    assert engine.run(2)
    tries = [played for played in engine.recorded if played.key == key]
    assert [played.attempt for played in tries] == list(range(1, MAX_ATTEMPTS + 1))
    assert [played.final for played in tries] == [False, False, True]
    assert len(engine.recorded) == SCHEDULE.match_count + MAX_ATTEMPTS - 1


def test_a_match_that_cannot_be_recorded_ends_the_run_at_once() -> None:
    class Endless(Engine):
        async def play(self, task: Task, report: Callable[[Played], None]) -> None:
            await super().play(task, report)
            await asyncio.Event().wait()  # the block has no end of its own

        async def record(self, played: Played) -> None:
            raise OSError("no space")

    engine = Endless()
    with pytest.raises(ExceptionGroup) as failure:
        engine.run(2)
    assert failure.group_contains(OSError, match="no space")
    assert len(engine.tasks) == 2


def test_an_overloaded_machine_finishes_what_is_under_way_and_plays_on_one_by_one() -> None:
    engine = Engine()
    under_way: list[int] = []
    runner = Runner(tasks(), engine, engine.record, jobs=3, overloaded=lambda: True)
    engine.before = lambda task: under_way.append(len(runner.under_way))
    assert asyncio.run(runner.run())
    assert under_way == [1] * BLOCKS
    assert len(engine.recorded) == SCHEDULE.match_count


def test_what_is_under_way_is_known_from_its_start_with_the_matches_that_are_recorded_for_good() -> None:
    engine = Engine(voids={MatchKey(0, ("anna", "bert"), 0, 1): 1})
    runner = Runner(tasks(), engine, engine.record, jobs=1)
    seen: list[tuple[Task, int]] = []

    async def watched() -> None:
        running = asyncio.ensure_future(runner.run())
        while not running.done():
            seen.extend((each.task, each.recorded) for each in runner.under_way)
            await asyncio.sleep(0)

    asyncio.run(watched())
    assert list(dict.fromkeys(task for task, _ in seen)) == engine.tasks
    most = {task: max(recorded for each, recorded in seen if each is task) for task in engine.tasks}
    assert most[engine.tasks[0]] == 1 and sum(most.values()) == SCHEDULE.match_count
    assert {min(recorded for each, recorded in seen if each is task) for task in engine.tasks} == {0}
    assert runner.under_way == ()


def test_a_run_that_is_drained_while_its_machine_is_overloaded_ends() -> None:
    engine = Engine()
    runner = Runner(tasks(), engine, engine.record, jobs=3, overloaded=lambda: True)
    engine.before = lambda task: runner.drain()
    assert not asyncio.run(runner.run())
    assert len(engine.tasks) == 1
