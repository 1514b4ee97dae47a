"""`besieged.py LEVEL`: an arena whose bots attack it, each with one attack; prints what came of each as JSON.

The organiser did what invites trouble: the opponent's folder lies in that of the attacker, the store beside it.
An attack *succeeds*, is *limited* (it came to something, and then no further), or is *stopped*.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from arena.bots.launcher import BotProcess, LaunchError, Limits, arena_marker, launch, sweep
from arena.bots.manifest import BotKind, BotSpec
from arena.bots.sandbox import Level, Sandbox, at

ATTACKER = Path(__file__).parents[1] / "bad_bots" / "attacker.py"
DEADLINE = 90.0
MOST = {
    **{"fork_bomb": 400, "thread_bomb": 400, "memory": 50, "shared_memory": 50, "memory_in_files": 50},
    **{"memory_in_children": 6, "disk_fill": 50, "empty_files": 60_000},
}
"""What an attack comes to where nothing holds it; of the others any success is one."""
PLAIN = (
    *("opponents_process", "opponents_files", "opponents_socket", "arenas_socket", "network", "read_store"),
    *("change_store", "kill_arena", "nested_namespaces", "signal_by_locks", "strange_calls"),
)


@dataclass(frozen=True, slots=True)
class Siege:
    """One arena, its folder and its victims."""

    folder: Path
    sandbox: Sandbox
    marker: str
    victims: Mapping[str, str]

    @property
    def bots(self) -> Path:
        return self.folder / "bots"

    async def start(self, attack: str, cwd: Path, **env: str) -> BotProcess:
        spec = BotSpec(
            name=attack, kind=BotKind.FOLDER, digest="", run=(sys.executable, "-S", "bot.py", attack), cwd=cwd
        )
        return await launch(
            spec,
            socket="bot.0",
            env={**self.victims, **env},
            log=self.folder / "data" / f"{attack}.log",
            marker=self.marker,
            limits=Limits.of(spec, self.sandbox.level),
            sandbox=self.sandbox,
        )

    def said(self, attack: str) -> list[str]:
        return (self.folder / "data" / f"{attack}.log").read_text(encoding="utf-8").splitlines()

    async def hear(self, attack: str, lines: int) -> None:
        async with asyncio.timeout(DEADLINE):
            while len(self.said(attack)) < lines:
                await asyncio.sleep(0.01)

    async def attack(self, name: str) -> int:
        """How far it came."""
        process = await self.start(name, self.bots)
        try:
            async with asyncio.timeout(DEADLINE):
                status = await process.exited
            if name == "empty_files" and status == -signal.SIGKILL:
                return 1
            assert status == 0, (name, status, process.stderr_tail(20))
            return int(self.said(name)[-1])
        finally:
            await process.stop(0)


def judged(attack: str, came: int) -> str:
    most = MOST.get(attack)
    if came == 0:
        return "stopped"
    return "limited" if most is not None and came < most else "succeeds"


async def led_astray(siege: Siege, decoy: socket.socket) -> str:
    """Whether the arena can be sent to the place of another."""
    decoy.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            decoy.accept()[0].close()  # those of earlier attacks
    process = await siege.start("link_for_socket", siege.bots)
    try:
        await siege.hear("link_for_socket", 1)
        with contextlib.suppress(LaunchError, TimeoutError):
            await process.target(1.0)
            return "succeeds"
    finally:
        await process.stop(0)
    process = await siege.start("swap_socket", siege.bots)
    try:
        await siege.hear("swap_socket", 1)
        target = await process.target(DEADLINE)
        os.kill(process.pid, signal.SIGUSR1)
        await siege.hear("swap_socket", 2)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(target.removeprefix("unix:"))
        try:
            decoy.accept()
        except BlockingIOError:
            return "stopped"
        return "succeeds"
    finally:
        await process.stop(0)


async def unreapable(siege: Siege) -> str:
    """Whether a bot can be made that cannot be ended."""
    process = await siege.start("unreapable_child", siege.bots)
    await siege.hear("unreapable_child", 1)
    async with asyncio.timeout(DEADLINE):
        await process.stop(0)
    return "stopped"


async def killed_early(siege: Siege) -> str:
    """Whether a bot outlives an arena that is killed soon after it started the bot."""
    code = "import besieged; besieged.start_and_wait()"
    for step in range(10):
        arena = subprocess.Popen(
            [sys.executable, "-c", code, str(siege.sandbox.level), str(siege.folder), siege.marker],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parent,
        )
        assert arena.stdout is not None
        arena.stdout.readline()
        await asyncio.sleep(step * 0.003)
        arena.kill()
        arena.communicate()
    async with asyncio.timeout(DEADLINE):  # a keeper that has heard of it is at work
        while any("killed_early" in words for words in _command_lines()):
            sweep(siege.marker)
            await asyncio.sleep(0.01)
    return "stopped"


def start_and_wait() -> None:
    """An arena that starts a bot, and is going to be killed."""
    level, folder, marker = Level[sys.argv[1].upper()], Path(sys.argv[2]), sys.argv[3]
    sandbox = at(level)
    assert sandbox is not None

    async def run() -> None:
        siege = Siege(folder, sandbox, arena_marker(marker.partition(":")[0]), {})
        print("now", flush=True)
        process = await siege.start("killed_early", folder / "bots")
        await process.exited

    asyncio.run(run())


def _command_lines() -> list[list[str]]:
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(path.read_text(encoding="utf-8", errors="replace").split("\0"))
    return lines


def _listening(folder: Path, stack: contextlib.ExitStack) -> tuple[socket.socket, Mapping[str, str]]:
    """The arena's own sockets, open to everybody, and what an attacker knows of them."""
    path, name = str(folder / "arena.sock"), f"arena-test-{os.getpid()}"
    sockets = {
        address: stack.enter_context(socket.socket(socket.AF_UNIX, kind))
        for place in (path, f"\0{name}")
        for address, kind in ((place, socket.SOCK_STREAM), (f"{place}.datagram", socket.SOCK_DGRAM))
    }
    for address, listener in sockets.items():
        listener.bind(address)
        if listener.type is socket.SOCK_STREAM:
            listener.listen(64)
        if address[0] != "\0":
            os.chmod(address, 0o777)
    port = stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1]
    return sockets[path], {"ARENAS_SOCKET": path, "ARENAS_NAME": name, "ARENAS_PORT": str(port)}


async def besieged(sandbox: Sandbox, folder: Path) -> dict[str, str]:
    """What comes of every attack."""
    bots, data, opponents = folder / "bots", folder / "data", folder / "bots" / "opponent"
    opponents.mkdir(parents=True)
    data.mkdir()
    for place in (bots, opponents):
        shutil.copy(ATTACKER, place / "bot.py")
    (data / "arena.db").touch(0o600)
    sandbox = Sandbox(sandbox.level, sandbox.own_uids, frozenset((data, bots, opponents)))
    with contextlib.ExitStack() as stack:
        decoy, known = _listening(folder, stack)
        arena = stack.enter_context(subprocess.Popen(["sleep", "600"]))
        stack.callback(arena.kill)
        marker = arena_marker(f"besieged-{os.getpid()}")
        siege = Siege(folder, sandbox, marker, {})
        opponent = await siege.start("wait", opponents, SECRET="OPPONENTS_SECRET")
        await siege.hear("wait", 1)
        victims = {
            **known,
            "ARENA_PID": str(arena.pid),
            "NOTE": f"arena-note-{os.getpid()}",
            "NOTE_KEY": str(os.getpid()),
            "STORE": str(data / "arena.db"),
            "OPPONENT_PID": str(opponent.pid),
            "OPPONENT_ADDRESS": Path(f"/proc/{opponent.pid}/maps").read_text(encoding="ascii").partition("-")[0],
            "OPPONENT_FOLDER": str(opponents),
            "OPPONENT_SOCKET": str(opponent._place.seen_from_here(opponent.pid)),
        }
        siege = Siege(folder, sandbox, marker, victims)
        results = {attack: judged(attack, await siege.attack(attack)) for attack in (*MOST, *PLAIN)}
        await siege.attack("leave_note")
        results["leave_note"] = judged("leave_note", await siege.attack("find_note"))
        for place in ("/tmp", "/var/tmp", "/dev/shm", "/dev", "/run"):
            with contextlib.suppress(OSError):
                Path(place, victims["NOTE"]).unlink()
        subprocess.run(["ipcrm", "-M", victims["NOTE_KEY"]], stderr=subprocess.DEVNULL, check=False)
        results["link_for_socket"] = await led_astray(siege, decoy)
        await opponent.stop(0)
        results["unreapable_child"] = await unreapable(siege)
        results["killed_early"] = await killed_early(siege)
        return results


def main() -> None:
    """A place of its own, as an organiser's would be, and not pytest's, which is closed to others."""
    level = Level[sys.argv[1].upper()]
    sandbox = at(level)
    if sandbox is None:
        print(json.dumps(None))
        return
    with tempfile.TemporaryDirectory(prefix="arena-siege-", dir="/tmp") as name:
        os.chmod(name, 0o755)
        print(json.dumps(asyncio.run(besieged(sandbox, Path(name)))))


if __name__ == "__main__":
    main()
