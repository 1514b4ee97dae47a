"""What blocks need: never promised twice on a node, and said where no node has it (any more)."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from arena.cli.exits import Exit
from tests.cluster.conftest import BIN, Cluster, Node, ended, until
from tests.cluster.test_cluster import BOT, write_bot, write_cup

pytestmark = pytest.mark.timeout(900)

HOLDS = """
import fcntl, os, time
from arena.bot import serve

FOLDER = {folder!r}
lock = open(FOLDER + "/lock")
first = True

def choose(view):
    global first
    if first:
        first = False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            open(FOLDER + "/two-at-once", "w").close()
        if not os.path.exists(FOLDER + "/at-the-gate"):
            open(FOLDER + "/at-the-gate", "w").close()
        while not os.path.exists(FOLDER + "/gate"):
            time.sleep(0.01)
    return view.legal[0]

serve(choose)
"""
"""Notes where a second one plays at the same time, and plays on once somebody makes the file `gate`."""


@pytest.fixture(scope="module")
def large(cluster: Cluster) -> Iterator[Node]:
    """A node that is larger than the others."""
    node = Node(cluster, cluster.host(4), "--address", cluster.address, "--num-cpus", "8", "--memory", "7000000000")
    node.start()
    yield node
    node.end()


@pytest.fixture
def common() -> Iterator[Path]:
    """A folder that bots can write to, whoever they are."""
    with TemporaryDirectory(prefix="common-") as folder:
        Path(folder).chmod(0o777)
        Path(folder, "lock").touch()
        yield Path(folder)


def demands(cluster: Cluster) -> str:
    """What Ray says that tasks wait for."""
    words = [str(BIN / "ray"), "status", "--address", cluster.address]
    said = subprocess.run(words, env=cluster.environment, capture_output=True, text=True, check=True).stdout
    return said.partition("Demands")[2]


def test_bots_that_no_node_can_hold_together_are_refused(cluster: Cluster, tmp_path: Path) -> None:
    needs = {"cores = 2": "3 cores", "memory_mb = 3000": "2 cores and 3,000 MB of memory"}
    playing = {}
    for more, need in needs.items():
        folder = tmp_path / need
        folder.mkdir()
        write_bot(folder / "wide", BOT, more=more)
        write_cup(folder, "./wide", "random", pairs=3, block=1)
        playing[need] = cluster.tournament(cwd=folder)
    has = f"{cluster.head.address} has 2 cores and 2,000 MB of memory, {cluster.other.address} has"
    for need, process in playing.items():
        code, said = ended(process)
        assert code == int(Exit.USAGE), said
        assert f"no node can hold a match of random - wide: it needs {need}, and {has}" in said
        assert "ask for less in the bot.toml of 'wide'" in said


def test_memory_is_never_promised_twice_and_what_no_node_has_any_more_is_said_once(
    cluster: Cluster, large: Node, common: Path, tmp_path: Path
) -> None:
    write_bot(tmp_path / "heavy", HOLDS.format(folder=str(common)), more="memory_mb = 4000")
    write_cup(tmp_path, "./heavy", "random", pairs=1, block=1, more='sandbox = "weak"\ntrust_bots = true')
    playing = cluster.tournament("--no-timeouts", cwd=tmp_path)
    until(lambda: (common / "at-the-gate").exists() or playing.poll() is not None)
    assert playing.poll() is None, ended(playing)
    until(lambda: "'memory': 4000000000" in demands(cluster))  # the other one waits, though there are cores for four

    large.kill_raylet()
    large.end()
    (common / "gate").touch()
    assert playing.stderr is not None
    heard = ""
    while "no node" not in heard:
        line = playing.stderr.readline()
        assert line, heard
        heard += line
    assert "no node can hold a match of " in heard
    assert f": it needs 2 cores and 4,000 MB of memory, and {cluster.head.address} has 2 cores" in heard
    assert f"(ray start --address {cluster.address})" in heard

    large.start()
    code, said = ended(playing)
    assert code == 0, said
    assert "2 of 2 matches" in said
    assert "no node" not in said
    assert not (common / "two-at-once").exists()
