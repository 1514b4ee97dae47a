"""Signals from outside: whatever stops the arena, what was committed stays, and the last line says how to go on."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.e2e.test_tournament import (
    ARENA,
    BOT,
    arena,
    config,
    place,
    play_part,
    read_until,
    refused,
    wait_until_nothing_is_left,
)

__all__ = ["place"]

pytestmark = pytest.mark.timeout(600)

SLOW_BOT = BOT.replace("    cards =", "    import time; time.sleep(0.2)\n    cards =")


@contextmanager
def running(place: Path, *words: str, **settings: object) -> Iterator[subprocess.Popen[str]]:
    """A tournament whose first match is announced, in a process group of its own."""
    config(place, block=1, **settings)
    with subprocess.Popen(
        [*ARENA, "tournament", "cup.toml", "--name", "cup", "-v", *words], cwd=place, stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL, text=True, process_group=0,
    ) as run:  # fmt: skip
        try:
            read_until(run, "epoch 0")
            yield run
        finally:
            run.kill()
    wait_until_nothing_is_left(place)


def goes_on(place: Path, line: str) -> None:
    """The way on that was told is one."""
    assert line.startswith("go on with: arena ")
    words = shlex.split(line)[4:]
    arena(place, *words)


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_end_stops_at_once_and_the_way_on_works(place: Path, stop: signal.Signals) -> None:
    with running(place, "--seed", "1", pairs=3) as run:
        run.send_signal(stop)
        _, told = run.communicate()
        assert run.returncode == 4 and "Error" not in told, told
    goes_on(place, told.splitlines()[-1])
    arena(place, "tournament", "cup.toml", "--name", "whole", "--seed", "1")
    assert play_part(place, "cup") == play_part(place, "whole")


def test_a_closed_terminal_stops_at_once(place: Path) -> None:
    config(place, pairs=2000, block=1)
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(place)
        os.execv(ARENA[0], [*ARENA, "tournament", "cup.toml", "--name", "cup", "-v"])
    seen = b""
    while b"epoch 0" not in seen:
        seen += os.read(terminal, 4096)
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) in (2, 4)  # 2: the report could be written nowhere
    wait_until_nothing_is_left(place)
    assert "interrupted" in arena(place, "runs").stdout


def test_under_nohup_a_closed_terminal_stops_nothing(place: Path) -> None:
    config(place, pairs=3, block=1)
    with subprocess.Popen(
        ["nohup", *ARENA, "tournament", "cup.toml", "-v"], cwd=place, stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL, text=True,
    ) as run:  # fmt: skip
        read_until(run, "epoch 0")
        run.send_signal(signal.SIGHUP)
        run.communicate()
    assert run.returncode == 0


def test_an_arena_that_is_suspended_charges_nobody(place: Path) -> None:
    with running(place, pairs=4, **{"clock.limit_ms": 2000, "clock.bank_ms": 0, "clock.start_ms": 60_000}) as run:
        run.send_signal(signal.SIGTSTP)  # what Ctrl-Z sends
        arena_process = psutil.Process(run.pid)
        while arena_process.status() != psutil.STATUS_STOPPED:
            time.sleep(0.01)
        time.sleep(5)  # longer than a bot may take
        run.send_signal(signal.SIGCONT)  # what fg sends
        _, told = run.communicate()
        assert run.returncode == 0, told
    assert json.loads(arena(place, "show", "cup", "--format", "json").stdout)["faults"] == []


def test_an_arena_that_is_suspended_while_a_bot_starts_charges_nobody(place: Path) -> None:
    (place / "bert.py").write_text("import time; time.sleep(1); print('up', flush=True); time.sleep(1)\n" + BOT)
    config(place, pairs=1, **{"clock.start_ms": 20_000})
    with subprocess.Popen(
        [*ARENA, "tournament", "cup.toml", "--name", "cup"], cwd=place, stderr=subprocess.PIPE, text=True,
        stdout=subprocess.DEVNULL,
    ) as run:  # fmt: skip
        while not any("up" in log.read_text() for log in place.glob("arena-data/runs/*/logs/bert.log")):
            time.sleep(0.01)
        run.send_signal(signal.SIGSTOP)
        time.sleep(22)  # longer than a bot may take to start
        run.send_signal(signal.SIGCONT)
        _, told = run.communicate()
    assert run.returncode == 0, told
    assert json.loads(arena(place, "show", "cup", "--format", "json").stdout)["faults"] == []


def test_stopped_before_anything_was_played_there_is_nothing_to_go_on_with(place: Path) -> None:
    (place / "bert.py").write_text("import time; time.sleep(600)")
    config(place, **{"clock.start_ms": 600_000})
    with subprocess.Popen(
        [*ARENA, "tournament", "cup.toml"], cwd=place, stderr=subprocess.PIPE, text=True, stdout=subprocess.DEVNULL
    ) as run:
        while not list(place.glob("arena-data/runs/*/logs/bert.log")):
            time.sleep(0.01)
        run.send_signal(signal.SIGTERM)
        _, told = run.communicate()
    assert (run.returncode, told.splitlines()[-1]) == (130, "nothing was played")
    wait_until_nothing_is_left(place)
    assert "no tournament" in refused(place, "show")


def test_a_report_that_cannot_be_written_still_says_how_to_go_on(place: Path) -> None:
    config(place, pairs=1)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*ARENA, "tournament", "cup.toml"], cwd=place, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-2:] == [
        "arena: stdout cannot be written: No space left on device", "see it again: arena show cup-1",
    ]  # fmt: skip
