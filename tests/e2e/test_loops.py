"""On uvloop everything is as on the loop that comes with Python; elsewhere these tests run on that one."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.test_tournament import ARENA, arena, config, place, play_part, read_until, wait_until_nothing_is_left

__all__ = ["place"]

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(autouse=True)
def uvloop(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    pytest.importorskip("uvloop", reason="there is no uvloop for this system")
    monkeypatch.delenv("ARENA_LOOP", raising=False)
    yield


def test_uvloop_is_what_plays_where_it_is_installed_and_nobody_says_otherwise(place: Path) -> None:
    code = "import asyncio\nfrom arena.bots.loop import run\nasync def on(): print(type(asyncio.get_running_loop()))\n"
    for loop, expected in ((None, "uvloop.Loop"), ("asyncio", "asyncio.")):
        environment = os.environ | ({"ARENA_LOOP": loop} if loop else {})
        done = subprocess.run(
            [ARENA[0], "-c", code + "run(on())"], env=environment, capture_output=True, text=True, check=True
        )
        assert expected in done.stdout


@pytest.mark.parametrize("workers", [1, 2])
def test_it_plays_the_same_and_leaves_nothing(place: Path, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    config(place, pairs=4, block=2)
    words = ("tournament", "cup.toml", "--seed", "5", "--jobs", "2", "--workers", str(workers), "--cores", "4")
    arena(place, *words, "--name", "uvloop")
    arena(place, "verify", "uvloop")
    monkeypatch.setenv("ARENA_LOOP", "asyncio")
    arena(place, *words, "--name", "asyncio")
    assert play_part(place, "uvloop") == play_part(place, "asyncio")
    wait_until_nothing_is_left(place)


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("stops", [[signal.SIGINT], [signal.SIGINT, signal.SIGINT], [signal.SIGTERM]])
def test_it_stops_and_goes_on(place: Path, workers: str, stops: list[signal.Signals]) -> None:
    config(place, pairs=2000, block=1)
    words = ("--workers", workers, "--jobs", "2", "--cores", "4", "-v")
    with subprocess.Popen(
        [*ARENA, "tournament", "cup.toml", "--name", "cup", *words], cwd=place, text=True, stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as run:  # fmt: skip
        read_until(run, "epoch 0")
        for number, stop in enumerate(stops):
            if number:
                read_until(run, "Ctrl-C")
            run.send_signal(stop)
        _, said = run.communicate(timeout=100)
    assert run.returncode == 4, said
    assert "go on with: arena tournament cup.toml --resume cup" in said and "Traceback" not in said
    wait_until_nothing_is_left(place)
