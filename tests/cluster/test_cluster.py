"""A tournament on two nodes: what is played is what one machine plays, and what a node lacks is said in a sentence."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
from pathlib import Path

import pytest

from arena.app.engines.cluster.engine import checked
from arena.bots.shelf import KEPT_BYTES
from arena.cli.exits import Exit
from arena.errors import UsageError
from tests.cluster.conftest import Cluster, arenas_of_bots, ended, play_part, until

pytestmark = pytest.mark.timeout(900)

BOT = """
import sys
from arena.bot import serve

print("ready to play", file=sys.stderr)

def choose(view):
    return view.legal[0]

serve(choose)
"""
SLOW = BOT.replace("return", "import time; time.sleep(0.02); return")
BUILT = """
import sys
from arena.bot import serve
import made

serve(lambda view: view.legal[made.NUMBER])
"""


def write_bot(folder: Path, source: str, *, more: str = "") -> None:
    folder.mkdir()
    (folder / "bot.py").write_text(source)
    (folder / "bot.toml").write_text(f'name = "{folder.name}"\n{more}\n[run]\ncommand = ["python3", "bot.py"]\n')


def write_cup(folder: Path, *bots: str, pairs: int = 4, block: int = 2, more: str = "") -> None:
    tables = "".join(f'[[bots]]\nbot = "{bot}"\n' for bot in bots)
    (folder / "cup.toml").write_text(f"pairs = {pairs}\nblock = {block}\n{more}\n[rules]\nmatch_target = 1\n{tables}")


def test_two_nodes_play_what_one_machine_plays_and_tell_what_bots_printed(cluster: Cluster, tmp_path: Path) -> None:
    write_bot(tmp_path / "talker", BOT)
    write_cup(tmp_path, "./talker", "random", "greedy")
    there = cluster.tournament("--seed", "7", "--name", "there", cwd=tmp_path)
    here = cluster.arena("tournament", "cup.toml", "--seed", "7", "--name", "here", "--no-pages", cwd=tmp_path)
    most = dict.fromkeys(cluster.nodes, 0)

    def done() -> bool:
        for node in cluster.nodes:
            most[node] = max(most[node], len(node.at_play()))
        return there.poll() is not None

    until(done)
    code, said = ended(there)
    assert code == 0, said
    assert most == dict.fromkeys(cluster.nodes, 1)  # two bots of a core each on two cores
    code, said = ended(here)
    assert code == 0, said
    assert play_part(cluster, "there", tmp_path) == play_part(cluster, "here", tmp_path)
    assert "ready to play" in (tmp_path / "arena-data" / "runs" / "there" / "logs" / "talker.log").read_text()
    assert not any(node.at_play() for node in cluster.nodes)


def test_a_bot_is_built_once_a_node_and_what_is_old_and_too_much_there_goes(cluster: Cluster, tmp_path: Path) -> None:
    write_bot(tmp_path / "built", BUILT, more='[build]\ncommand = ["sh", "-c", "echo NUMBER = 0 > made.py"]')
    write_cup(tmp_path, "./built", "random", pairs=2, block=1)
    too_much = [place for node in cluster.nodes for place in (node.cache / "bots/old", node.cache / "builds/old")]
    for place in too_much:
        place.mkdir(parents=True)
        with (place / "large").open("wb") as large:
            large.truncate(KEPT_BYTES + 1)  # takes no room
        os.utime(place, (0, 0))
    code, said = ended(cluster.tournament(cwd=tmp_path))
    assert code == 0, said
    assert "by a fault" not in said
    assert [said.count(f"on node {node.address}: building built ...\n") for node in cluster.nodes] == [1, 1]
    assert [len(list(node.cache.glob("builds/*/done"))) for node in cluster.nodes] == [1, 1]
    assert not any(place.exists() for place in too_much)


def test_a_cluster_that_cannot_be_entered_is_said_in_a_sentence(cluster: Cluster, tmp_path: Path) -> None:
    write_cup(tmp_path, "greedy", "random")
    wrong = {
        "there is no Ray cluster at 127.0.0.1:1: Connection refused": ("127.0.0.1:1", cluster.token),
        "expected HOST:PORT such as 10.0.0.1:6379": ("ray://127.0.0.1:1", cluster.token),
        "does not take this driver; see that its token is there": (cluster.address, "b" * 64),
    }
    playing = {
        words: cluster.tournament(
            "--ray-address", address, "-q", cwd=tmp_path, RAY_NUM_REDIS_GET_RETRIES="2", RAY_AUTH_TOKEN=token
        )
        for words, (address, token) in wrong.items()
    }
    for words, process in playing.items():
        code, said = ended(process)
        assert code == int(Exit.USAGE), said
        assert said.startswith("arena: ") and said.count("\n") == 1
        assert words in said


def test_without_ray_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'sixtysix-arena\[cluster\]'"):
        checked("auto")


def begun(playing: subprocess.Popen[str]) -> None:
    """Wait until its first match is committed."""
    assert playing.stderr is not None
    while "epoch 0" not in (line := playing.stderr.readline()):
        assert line, "it ended before its first match"


def test_a_first_interrupt_drains_and_the_run_goes_on_on_one_machine(cluster: Cluster, tmp_path: Path) -> None:
    write_cup(tmp_path, "greedy", "random", pairs=12)
    playing = cluster.tournament("--seed", "7", "--name", "cup", "-v", cwd=tmp_path)
    begun(playing)
    playing.send_signal(signal.SIGINT)
    code, said = ended(playing)
    assert code == int(Exit.STOPPED), said
    assert not any(node.at_play() for node in cluster.nodes)
    code, said = ended(cluster.arena("tournament", "cup.toml", "--resume", "cup", "--no-pages", cwd=tmp_path))
    assert code == 0, said
    assert "24 of 24 matches" in said


def test_a_second_interrupt_stops_and_leaves_no_bot(cluster: Cluster, tmp_path: Path) -> None:
    write_bot(tmp_path / "slow", SLOW)
    write_cup(tmp_path, "./slow", "random", pairs=200, block=8)
    playing = cluster.tournament("--name", "cup", "-v", cwd=tmp_path)
    begun(playing)
    at_play = {pid for node in cluster.nodes for pid in node.at_play()}
    playing.send_signal(signal.SIGINT)
    playing.send_signal(signal.SIGTERM)
    code, said = ended(playing)
    assert code == int(Exit.STOPPED), said
    assert at_play
    until(lambda: not at_play & arenas_of_bots())
