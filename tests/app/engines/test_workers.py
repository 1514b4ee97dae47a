"""Errors find their way out of worker processes, and those out of the way of others."""

from __future__ import annotations

import asyncio
import os
import pickle
import socket
import subprocess
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from arena.app import participants
from arena.app.engines.local import Job, Setting
from arena.app.engines.room import Room
from arena.app.engines.worker import Cancel, Ended, Link, News, Order, Service, command
from arena.app.engines.workers import Worker, WorkerDied, WorkersEngine, workers_engine
from arena.errors import UsageError
from arena.game.presets import preset
from arena.match.clock import TimeControl
from arena.match.lag import Lag
from arena.match.summary import Histogram
from arena.tournament.runner import Played, Task
from arena.tournament.schedule import Schedule

SPECS = participants.of_words(("greedy", "random"))
SECRET = bytes(32)


def setting() -> Setting:
    return Setting(preset("schnapsen"), "schnapsen", TimeControl(limit_ms=0), 60.0)


def task() -> Task:
    block = next(Schedule(tuple(SPECS), 2, block=2).blocks())
    return Task(block, tuple(block.keys()))


def engine_in(logs: Path, size: int = 1, how: Setting | None = None) -> AbstractAsyncContextManager[WorkersEngine]:
    return workers_engine(size, Job(how or setting(), SPECS, "arena-test", logs), {0: SECRET}, Room(4))


def test_what_a_worker_cannot_do_is_a_sentence_here_and_it_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    async def story() -> None:
        async with engine_in(tmp_path / "file" / "logs") as engine:
            for _ in range(2):  # the worker lives on
                with pytest.raises(UsageError, match="log"):
                    await engine.play(task(), lambda played: None)

    asyncio.run(story())


def test_what_the_listener_raises_ends_the_task_and_leaves_nobody_waiting(tmp_path: Path) -> None:
    def deaf(played: Played) -> None:
        raise ZeroDivisionError

    async def story() -> None:
        async with engine_in(tmp_path / "logs") as engine:
            with pytest.raises(ZeroDivisionError):
                await engine.play(task(), deaf)
            played: list[Played] = []
            await engine.play(task(), played.append)
            assert {match.key for match in played} == {key for _, key in task().keys}

    asyncio.run(story())


def test_who_is_cancelled_waits_until_nothing_of_it_is_left(tmp_path: Path) -> None:
    async def story() -> None:
        one_after_the_other = replace(setting(), isolate_matches=True)
        async with engine_in(tmp_path / "logs", 2, one_after_the_other) as engine:
            begun = asyncio.Event()
            playing = [asyncio.create_task(engine.play(task(), lambda played: begun.set())) for _ in range(2)]
            await begun.wait()
            for each in playing:
                each.cancel()
            ended = await asyncio.gather(*playing, return_exceptions=True)
            assert [type(each) for each in ended] == [asyncio.CancelledError] * 2
            played: list[Played] = []
            await engine.play(task(), played.append)
            assert len(played) == len(task().keys)

    asyncio.run(story())


def test_an_order_that_is_cancelled_before_it_begins_ends_all_the_same() -> None:
    async def story() -> None:
        ours, theirs = map(Link.over, socket.socketpair())
        link = await ours

        async def never(order: object, report: object) -> None:
            raise AssertionError("begun")

        service = Service(await theirs, never, lambda: News(Lag(Histogram({})), overloaded=False))
        link.send(Order(7, task(), SECRET))
        link.send(Cancel(7))
        serving = asyncio.create_task(service.serve())
        async for message in link:
            if isinstance(message, Ended):
                assert message.number == 7 and isinstance(message.error, asyncio.CancelledError)
                break
        link.close()
        await serving

    asyncio.run(story())


def test_a_link_ends_where_the_other_end_does_even_in_the_middle_of_a_message() -> None:
    async def story() -> None:
        ours, theirs = socket.socketpair()
        whole = pickle.dumps("whole")
        theirs.sendall(len(whole).to_bytes(4, "big") + whole + (1000).to_bytes(4, "big") + os.urandom(10))
        theirs.close()
        link = await Link.over(ours)
        assert [message async for message in link] == ["whole"]
        link.send("to nobody")
        link.close()

    asyncio.run(story())


def test_a_worker_whose_arena_is_gone_before_a_word_ends_in_silence() -> None:
    ours, theirs = socket.socketpair()
    ours.close()
    with theirs:
        done = subprocess.run(command(theirs.fileno()), pass_fds=[theirs.fileno()], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_machine_that_starts_no_process_is_a_sentence(tmp_path: Path) -> None:
    async def story() -> None:
        worker = Worker("job", lambda fd: [str(tmp_path / "nothing"), str(fd)], WorkerDied)
        with pytest.raises(UsageError, match="starts no worker process: No such file"):
            await worker.do(lambda number: Order(number, task(), SECRET), lambda played: None)
        await worker.close()

    asyncio.run(story())
