"""Tournaments that worker processes play: as one process would, and whatever happens to them."""

from __future__ import annotations

import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from tests.e2e.test_tournament import ARENA, arena, config, place, play_part, read_until, wait_until_nothing_is_left

__all__ = ["place"]

pytestmark = pytest.mark.timeout(600)

FOUR = ("--jobs", "4", "--workers", "4", "--cores", "8")


def workers_of(run: psutil.Popen | subprocess.Popen[str]) -> list[psutil.Process]:
    """The worker processes of a tournament, none once it has ended."""
    found = []
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(run.pid).children():
            with suppress(psutil.NoSuchProcess):
                if any("engines.worker" in word for word in child.cmdline()):
                    found.append(child)
    return found


@contextmanager
def running(place: Path, *words: str, resume: bool = False) -> Iterator[subprocess.Popen[str]]:
    """A tournament by four workers, whose first match is announced; nothing of it is left afterwards."""
    with subprocess.Popen(
        [*ARENA, "tournament", "cup.toml", "--resume" if resume else "--name", "cup", "--seed", "5", "-v", *words],
        cwd=place, text=True,
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
    ) as run:  # fmt: skip
        try:
            read_until(run, "epoch 0")
            yield run
        finally:
            run.kill()
    wait_until_nothing_is_left(place)


def test_one_two_and_four_workers_play_the_same(place: Path) -> None:
    config(place, pairs=4, block=2)
    for number in (1, 2, 4):
        name, words = f"by-{number}", ("--jobs", "4", "--workers", str(number), "--cores", "8")
        said = arena(place, "tournament", "cup.toml", "--seed", "5", "--name", name, *words).stderr
        by = {1: "one process", 2: "2 processes", 4: "4 processes"}[number]
        assert f"4 blocks at a time by {by}, their bots on 8 cores" in said
        arena(place, "verify", name)
    assert play_part(place, "by-1") == play_part(place, "by-2") == play_part(place, "by-4")
    wait_until_nothing_is_left(place)


def test_killed_workers_cost_nothing_and_nobody(place: Path) -> None:
    config(place, pairs=16, block=1)
    chance = random.Random(66)
    killed: set[int] = set()
    with running(place, *FOUR) as run:
        said: list[str] = []
        assert run.stderr is not None
        for line in run.stderr:  # a kill now and then, as results come in
            said.append(line)
            if chance.random() < 0.4 and (workers := workers_of(run)):
                victim = chance.choice(workers)
                victim.kill()
                killed.add(victim.pid)
        assert run.wait() == 0, said
    assert len(killed) >= 8, said
    assert any("was killed by signal 9" in line and "played again" in line for line in said)
    arena(place, "verify", "cup")
    arena(place, "tournament", "cup.toml", "--seed", "5", "--name", "whole")
    assert play_part(place, "cup") == play_part(place, "whole")


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGTERM])
def test_when_the_arena_ends_its_workers_and_their_bots_end(place: Path, stop: signal.Signals) -> None:
    config(place, pairs=2000, block=2)
    with running(place, *FOUR) as run:
        workers = workers_of(run)
        run.send_signal(stop)
        _, said = run.communicate()
        assert run.returncode == (-9 if stop is signal.SIGKILL else 4), said
        _, left = psutil.wait_procs(workers, timeout=60)
        assert workers and not left


def test_the_first_ctrl_c_lets_the_blocks_of_all_workers_end_and_the_second_does_not(place: Path) -> None:
    config(place, pairs=2000, block=2)
    with running(place, *FOUR) as run:
        run.send_signal(signal.SIGINT)
        read_until(run, "Ctrl-C")
        run.send_signal(signal.SIGINT)
        _, said = run.communicate()
        assert run.returncode == 4, said
    with running(place, *FOUR, resume=True) as run:
        run.send_signal(signal.SIGINT)
        _, said = run.communicate()
        assert run.returncode == 4, said
        assert "go on with: arena tournament cup.toml --resume cup" in said
    assert "in order and chain" in arena(place, "verify", "cup", expect=4).stdout  # its secret is not revealed yet


def test_a_task_that_kills_every_worker_ends_the_run_with_a_sentence(place: Path) -> None:
    config(place, pairs=1, block=1)
    words = ("--jobs", "2", "--workers", "2", "--name", "cup")
    with subprocess.Popen(
        [*ARENA, "tournament", "cup.toml", *words], cwd=place, text=True, stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as run:  # fmt: skip
        ended = threading.Event()

        def kill_all() -> None:
            while not ended.is_set():
                for worker in workers_of(run):
                    worker.kill()
                time.sleep(0.01)

        killer = threading.Thread(target=kill_all)
        killer.start()
        try:
            _, said = run.communicate(timeout=300)
        finally:
            ended.set()
            killer.join()
    assert run.returncode == 3, said
    assert "as did 9 before it; see what ends them, and resume" in said
    assert "Traceback" not in said
    arena(place, "tournament", "cup.toml", "--resume", "cup")
    wait_until_nothing_is_left(place)
