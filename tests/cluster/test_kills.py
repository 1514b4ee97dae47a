"""Whatever dies while a tournament is played on a cluster is nobody's fault: no match is lost, none counts twice."""

from __future__ import annotations

import random
import sqlite3
import subprocess
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.cluster.conftest import Cluster, arenas_of_bots, ended, play_part, until
from tests.cluster.test_cluster import SLOW, write_bot, write_cup

pytestmark = pytest.mark.timeout(1500)

KILLS = {"worker": 24, "raylet": 4, "driver": 1, "arena": 1}
"""A process that plays a block; a node; the process that speaks with Ray; the arena itself."""


def committed(folder: Path) -> int:
    with suppress(sqlite3.OperationalError), sqlite3.connect(folder / "arena-data" / "arena.db") as store:
        count: int = store.execute("select count(*) from matches").fetchone()[0]
        return count
    return 0


def start(cluster: Cluster, folder: Path, *, resume: bool) -> subprocess.Popen[str]:
    return cluster.tournament("--seed", "3", "--resume" if resume else "--name", "cup", "-q", cwd=folder)


def wait_for_matches(arena: subprocess.Popen[str], folder: Path, many: int) -> None:
    def there() -> bool:
        assert arena.poll() is None, ended(arena)
        return committed(folder) >= many

    until(there)


def test_thirty_kills_lose_no_match_and_count_none_twice(cluster: Cluster, tmp_path: Path) -> None:
    one_machine = tmp_path / "one-machine"
    one_machine.mkdir()
    for folder in (tmp_path, one_machine):
        write_bot(folder / "slow", SLOW)
        write_cup(folder, "greedy", "random", "./slow", pairs=30, block=6)
    here = cluster.arena("tournament", "--seed", "3", "--name", "cup", "-q", "--no-pages", "cup.toml", cwd=one_machine)
    chance = random.Random(5)
    kills = [what for what, times in KILLS.items() for _ in range(times)]
    chance.shuffle(kills)
    arenas: set[int] = set()
    arena = start(cluster, tmp_path, resume=False)
    wait_for_matches(arena, tmp_path, 1)
    for what in kills:
        wait_for_matches(arena, tmp_path, committed(tmp_path) + chance.randrange(2))
        at_play: list[psutil.Process] = []
        while not at_play:
            assert arena.poll() is None, ended(arena)
            at_play = [worker for node in cluster.nodes for worker in node.at_play().values()]
        arenas |= {worker.pid for worker in at_play}
        match what:
            case "worker":
                with suppress(psutil.NoSuchProcess):
                    chance.choice(at_play).kill()
            case "raylet":
                cluster.other.join()
                cluster.other.kill_raylet()
                cluster.other.end()
                cluster.other.begin()
            case "driver":
                for child in psutil.Process(arena.pid).children():
                    if any("cluster.driver" in word for word in child.cmdline()):
                        child.kill()
            case "arena":
                arena.kill()
        if what in ("driver", "arena"):
            code, said = ended(arena)
            assert code in (3, -9), said
            before = committed(tmp_path)
            arena = start(cluster, tmp_path, resume=True)
            wait_for_matches(arena, tmp_path, before + 1)
    code, said = ended(arena)
    assert code == 0, said
    cluster.other.join()
    code, said = ended(cluster.arena("verify", "cup", cwd=tmp_path))
    assert code == 0, said
    assert said.startswith("identical: 180 matches")
    code, said = ended(here)
    assert code == 0, said
    assert play_part(cluster, "cup", tmp_path) == play_part(cluster, "cup", one_machine)
    until(lambda: not arenas & arenas_of_bots())
