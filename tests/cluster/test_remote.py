"""A remote bot is called by the nodes that play it, with the keys of the arena, which stay nowhere."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from arena.app.engines.cluster.engine import check_calls
from arena.app.engines.cluster.trip import Machine, Need
from arena.bots.manifest import resolve
from arena.errors import UsageError
from tests.bots.remotes import WITH_A_GATE, Remote, free_port, keys_for
from tests.cluster.conftest import Cluster, ended, until


def files_with(secrets: list[bytes], folder: Path) -> list[Path]:
    """Those below the folder that hold one of these."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if any(secret in path.read_bytes() for secret in secrets)]


@pytest.mark.timeout(900)
def test_nodes_call_a_remote_bot_keep_no_key_of_it_and_one_that_dies_costs_it_nothing(
    cluster: Cluster, tmp_path: Path
) -> None:
    port = free_port()
    keys = keys_for(tmp_path / "far", f"127.0.0.1:{port}")
    secrets = [(keys.arena / name).read_bytes().strip() for name in ("arena.key", "token")]
    bots = "".join(f'[[bots]]\nbot = "{bot}"\n' for bot in ("far/arena", "greedy"))
    (tmp_path / "cup.toml").write_text(f"pairs = 1\nblock = 1\n[rules]\nmatch_target = 1\n{bots}")
    with Remote(tmp_path / "bot", WITH_A_GATE, port=port, keys=keys.bot) as far:
        playing = cluster.tournament("--no-timeouts", cwd=tmp_path)
        until(lambda: len(far.asked()) == 3 or playing.poll() is not None)
        assert files_with(secrets, keys.arena)
        assert not files_with(secrets, cluster.folder)
        (worker,) = [process for node in cluster.nodes for process in node.at_play().values()]
        worker.kill()
        (far.folder / "gate").touch()
        code, said = ended(playing)
    assert code == 0, said
    assert "it is played again" in said
    assert "2 of 2 matches" in said
    assert "Faults       none" in said
    assert not files_with(secrets, cluster.folder)


def test_a_bot_that_is_known_by_an_address_of_this_machine_alone_is_called_from_no_other(tmp_path: Path) -> None:
    address = next(
        each.address for name in psutil.net_if_addrs().values() for each in name if each.address.count(".") == 3
    )
    here = [Machine("a", "127.0.0.9", Need(2, 0)), Machine("b", address, Need(2, 0))]
    near = resolve("127.0.0.1:6600", name="Near", base=tmp_path)
    keyed = resolve(str(keys_for(tmp_path / "far", "127.0.0.1:6600").arena), base=tmp_path)
    check_calls(here, [near, keyed])
    check_calls([*here, Machine("c", "203.0.113.7", Need(2, 0))], [keyed])
    with pytest.raises(
        UsageError, match=r"'Near' is known by nothing but 127\.0\.0\.1:6600, where node 203\.0\.113\.7"
    ):
        check_calls([*here, Machine("c", "203.0.113.7", Need(2, 0))], [near, keyed])
