"""Where the data lie: full disks, stores that are moved away, strange paths; and who else is at work on them."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

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


class SmallDisk(NamedTuple):
    """A folder that holds a few hundred kilobytes."""

    folder: Path
    before: tuple[str, ...]
    """What stands before a command that is held to them."""
    grow: Callable[[], object]
    """Afterwards there is room."""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A disk of its own; where none can be mounted, a limit on the size of files, which the store meets like one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "none", folder], capture_output=True).returncode:
        yield SmallDisk(folder, ("bash", "-c", 'ulimit -f 200; exec "$@"', "-"), lambda: None)
        return
    try:
        yield SmallDisk(folder, (), lambda: subprocess.run(["mount", "-o", "remount,size=40m", folder], check=True))
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_full_disk_ends_the_run_and_with_more_space_it_goes_on(place: Path, small_disk: SmallDisk) -> None:
    data = ("--data", str(small_disk.folder))
    config(place, pairs=20, block=10)
    words = [*small_disk.before, *ARENA, "tournament", "cup.toml", "--name", "cup", "--seed", "3", "-v", *data]
    run = subprocess.run(words, cwd=place, capture_output=True, text=True)
    assert run.returncode == 3, run.stderr
    *_, sentence, last = run.stderr.splitlines()
    assert "Traceback" not in run.stderr and "space" in sentence
    announced = sum(line.startswith("epoch 0") for line in run.stderr.splitlines())
    wait_until_nothing_is_left(place)
    shown = json.loads(arena(place, "show", "cup", "--format", "json", *data).stdout)["run"]
    assert announced == shown["matches_finished"] < 40
    assert "in order and chain" in arena(place, "verify", "cup", *data, expect=4).stdout
    small_disk.grow()
    arena(place, *shlex.split(last)[4:])
    arena(place, "tournament", "cup.toml", "--name", "whole", "--seed", "3")
    assert arena(place, "show", "cup", "--format", "json", "--part", "play", *data).stdout == play_part(place, "whole")
    assert arena(place, "verify", "cup", *data).stdout.startswith("identical: 40 matches")


def test_logs_on_a_full_disk_end_nothing(place: Path) -> None:
    (place / "bert.py").write_text("print('x' * 100_000)\n" + BOT)
    config(place, pairs=1)
    logs = place / "arena-data" / "runs" / "cup" / "logs"
    logs.mkdir(parents=True)
    (logs / "bert.log").symlink_to("/dev/full")
    arena(place, "tournament", "cup.toml", "--name", "cup")
    assert json.loads(arena(place, "show", "cup", "--format", "json").stdout)["faults"] == []


def test_a_store_that_is_moved_away_ends_the_run_and_put_back_it_goes_on(place: Path) -> None:
    config(place, pairs=3, block=1)
    store = place / "arena-data" / "arena.db"
    with subprocess.Popen(
        [*ARENA, "tournament", "cup.toml", "--name", "cup", "--seed", "3", "-v"], cwd=place, stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL, text=True,
    ) as run:  # fmt: skip
        read_until(run, "epoch 0")
        read_until(run, "epoch 0")
        store.rename(place / "moved.db")
        _, told = run.communicate()
    assert run.returncode == 3, told
    *_, sentence, last = told.splitlines()
    assert "arena.db was removed while the arena had it open, nothing more is written" in sentence
    wait_until_nothing_is_left(place)
    assert "no tournament was played in arena-data yet" in refused(place, "show", "cup")
    (place / "moved.db").rename(store)
    announced = 2 + sum(line.startswith("epoch 0") for line in told.splitlines())
    shown = json.loads(arena(place, "show", "cup", "--format", "json").stdout)["run"]
    assert announced <= shown["matches_finished"] <= announced + 1  # the last one may have been committed unheard
    arena(place, *shlex.split(last)[4:])
    arena(place, "tournament", "cup.toml", "--name", "whole", "--seed", "3")
    assert play_part(place, "cup") == play_part(place, "whole")
    assert arena(place, "verify", "cup").stdout.startswith("identical: 6 matches")


def test_the_second_arena_on_a_run_is_refused_and_the_first_is_unharmed(place: Path) -> None:
    config(place, pairs=3, block=1)
    words = [*ARENA, "tournament", "cup.toml", "--name", "cup", "--seed", "3", "-v"]
    with subprocess.Popen(words, cwd=place, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as first:
        read_until(first, "epoch 0")
        first.send_signal(signal.SIGSTOP)  # it stays where it is, and holds the run all the same
        told = refused(place, "tournament", "cup.toml", "--resume", "cup")
        assert f"'cup' is played by process {first.pid} on " in told
        assert "6 matches" in arena(place, "show", "cup").stdout
        first.send_signal(signal.SIGCONT)
        read_until(first, "epoch 0")
        first.send_signal(signal.SIGKILL)
    arena(place, "tournament", "cup.toml", "--resume", "cup")
    arena(place, "tournament", "cup.toml", "--name", "whole", "--seed", "3")
    assert play_part(place, "cup") == play_part(place, "whole")
    wait_until_nothing_is_left(place)


def test_every_command_that_is_told_works_on_a_path_with_blanks_and_signs(place: Path) -> None:
    config(place, "../anna.py", "../bert.py", pairs=3, block=1)
    (place / "köln's & más").mkdir()
    (place / "cup.toml").rename(place / "köln's & más" / "cup.toml")
    data = "Кубок #1?%20;$HOME"
    with subprocess.Popen(
        [*ARENA, "tournament", "köln's & más/cup.toml", "--data", data, "--name", "cup", "-v"], cwd=place,
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    ) as run:  # fmt: skip
        read_until(run, "epoch 0")
        run.terminate()
        _, told = run.communicate()
    assert run.returncode == 4, told
    shown = follow(place, told)
    follow(place, shown.stderr)
    exported = arena(place, "export", "cup", "--data", data)
    assert follow(place, exported.stderr).stdout.startswith("identical: 6 matches")
    assert (place / data / "runs" / "cup" / "export.jsonl").exists()


def follow(place: Path, told: str) -> subprocess.CompletedProcess[str]:
    """Give a shell the command that the last line tells."""
    command = told.splitlines()[-1].partition(": ")[2].replace("arena", shlex.join(ARENA), 1)
    done = subprocess.run(command, shell=True, cwd=place, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done
