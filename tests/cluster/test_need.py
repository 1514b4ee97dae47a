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
    node = Node(cluster, "127.0.0.4", "--address", cluster.address, "--num-cpus", "8", "--memory", "7000000000")
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


@pytest.mark.parametrize(
    ("more", "need"),
    [("cores = 2", "it needs 3 cores, and 127.0.0.2 has 2 cores and "), ("memory_mb = 900000", " and 900,000 MB of m")],
)
def test_bots_that_no_node_can_hold_together_are_refused(
    more: str, need: str, cluster: Cluster, tmp_path: Path
) -> None:
    write_bot(tmp_path / "wide", BOT, more=more)
    write_cup(tmp_path, "./wide", "random", pairs=3, block=1)
    code, said = ended(cluster.tournament(cwd=tmp_path))
    assert code == int(Exit.USAGE), said
    assert "no node can hold a match of random - wide: it needs " in said
    assert need in said
    assert "ask for less in the bot.toml of 'wide'" in said


def test_memory_is_never_promised_twice_and_what_no_node_has_any_more_is_said_once(
    cluster: Cluster, large: Node, common: Path, tmp_path: Path
) -> None:
    write_bot(tmp_path / "heavy", HOLDS.format(folder=str(common)), more="memory_mb = 4000")
    write_cup(tmp_path, "./heavy", "random", pairs=2, block=1, more='sandbox = "weak"\ntrust_bots = true')
    playing = cluster.tournament("--no-timeouts", cwd=tmp_path)
    until(lambda: (common / "at-the-gate").exists() or playing.poll() is not None)
    assert playing.poll() is None, ended(playing)
    until(lambda: "'memory': 4000000000" in demands(cluster))  # the next one waits, though there are cores for four

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
    assert ": it needs 2 cores and 4,000 MB of memory, and 127.0.0.2 has 2 cores and 2,000 MB of memory" in heard
    assert f"(ray start --address {cluster.address})" in heard

    large.start()
    code, said = ended(playing)
    assert code == 0, said
    assert "4 of 4 matches" in said
    assert "no node" not in said
    assert not (common / "two-at-once").exists()
