"""A Ray cluster of two nodes on this machine, with token authentication, at addresses of its own."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from arena.app.tournament import MARKER
from tests.bots.remotes import free_port

BIN = Path(sys.executable).parent
PATIENCE_S = 300.0
"""Nothing is measured against it: it only ends a test that hangs."""


def until(holds: Callable[[], object]) -> None:
    """Wait for something that is going to happen."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.05)


TASKS = ("ray::block", "ray::try_out")
"""How workers are called while they play and while they start bots."""


class Node:
    """A raylet with what belongs to it, at an address and with a cache of its own."""

    def __init__(self, cluster: Cluster, address: str, *words: str) -> None:
        self.address = address
        self.cache = cluster.folder / f"cache-{address}"
        self._temp = cluster.folder / address
        self._cluster = cluster
        self._words = words

    def start(self) -> None:
        """Returns when it is part of the cluster."""
        self.begin()
        self.join()

    def begin(self) -> None:
        """Start it, without waiting for it."""
        log = self._cluster.folder / f"{self.address}.log"
        words = [str(BIN / "ray"), "start", "--node-ip-address", self.address, "--temp-dir", str(self._temp)]
        words += ["--object-store-memory", "80000000", "--num-cpus", "2", "--memory", "2000000000", *self._words]
        environment = {**self._cluster.environment, "ARENA_CACHE": str(self.cache)}
        with log.open("ab") as out:
            self._starting = subprocess.Popen(words, env=environment, stdout=out, stderr=out)

    def join(self) -> None:
        """Returns when it is part of the cluster, if it was begun."""
        assert self._starting.wait(PATIENCE_S) == 0

    def processes(self) -> list[psutil.Process]:
        """All that belongs to it and lives, known by the logs that it has open; bots do not."""
        found = []
        for process in psutil.process_iter():
            with suppress(OSError):
                if any(fd.readlink().is_relative_to(self._temp) for fd in Path(f"/proc/{process.pid}/fd").iterdir()):
                    found.append(process)
        return found

    def kill_raylet(self) -> None:
        """As if the machine had broken down: its workers see it and go, too."""
        workers = self.at_play().values()
        for process in self.processes():
            with suppress(psutil.Error):
                if process.name() == "raylet":
                    process.kill()
        psutil.wait_procs(workers, timeout=PATIENCE_S)

    def at_play(self) -> dict[int, psutil.Process]:
        """Its workers that have bots, by pid: its raylet's children at a task of ours that have children."""
        processes = {process.pid: process for process in psutil.process_iter(["name", "ppid"])}
        found = {}
        for parent in {process.info["ppid"] for process in processes.values()} & processes.keys():
            worker = processes[parent]
            raylet = processes.get(worker.info["ppid"])
            if raylet is None or raylet.info["name"] != "raylet":
                continue
            with suppress(psutil.Error):
                mine = any(str(self._temp) in word for word in raylet.cmdline())
                if mine and "".join(worker.cmdline()).startswith(TASKS):
                    found[parent] = worker
        return found

    def end(self) -> None:
        """End all of it."""
        while left := self.processes():
            for process in left:
                with suppress(psutil.Error):
                    process.kill()
            psutil.wait_procs(left, timeout=PATIENCE_S)


class Cluster:
    """Its nodes, the first of which is the head."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.token = secrets.token_hex(32)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")} | {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": self.token,
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_enable_open_telemetry": "0",
        }
        port = free_port()
        self.address = f"{self.host(2)}:{port}"
        self.head = Node(self, self.host(2), "--head", "--port", str(port), "--include-dashboard", "false")
        self.other = Node(self, self.host(3), "--address", self.address)
        self.nodes = (self.head, self.other)

    @staticmethod
    def host(number: int) -> str:
        """An address that nodes of clusters beside this one do not have."""
        return f"127.{os.getpid() // 256 % 256}.{os.getpid() % 256}.{number}"

    def __enter__(self) -> Cluster:
        self.head.begin()
        until(lambda: _listens(self.address))
        self.other.begin()
        for node in self.nodes:
            node.join()
        return self

    def __exit__(self, *_: object) -> None:
        for node in reversed(self.nodes):
            node.end()

    def arena(self, *words: str, cwd: Path, **changed: str) -> subprocess.Popen[str]:
        """A command of the arena, as somebody who has the cluster's token runs it."""
        return subprocess.Popen(
            [str(BIN / "arena"), *words],
            cwd=cwd,
            env={**self.environment, **changed},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def tournament(self, *words: str, cwd: Path, **changed: str) -> subprocess.Popen[str]:
        """`arena tournament cup.toml` on the cluster."""
        words = ("tournament", "cup.toml", "--engine", "ray", "--ray-address", self.address, "--no-pages", *words)
        return self.arena(*words, cwd=cwd, **changed)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="cluster-"))  # short: sockets lie in it
    try:
        with Cluster(folder) as cluster:
            yield cluster
    finally:
        shutil.rmtree(folder)


def _listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    with socket.socket() as knocking:
        return knocking.connect_ex((host, int(port))) == 0


def arenas_of_bots() -> set[int]:
    """The processes for which all the bots of tournaments on this machine play, whether or not they live."""
    found = set()
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            run, pid, *_ = process.environ().get("ARENA_MARKER", ":").split(":")
            if run == MARKER:
                found.add(int(pid))
    return found


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Its exit code, and all that it said."""
    out, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out + err


def play_part(cluster: Cluster, run: str, folder: Path) -> dict[str, object]:
    """What was played, without times: the same for the same secret."""
    code, said = ended(cluster.arena("show", run, "--format", "json", "--part", "play", cwd=folder))
    assert code == 0, said
    shown: dict[str, object] = json.loads(said)
    return shown
