"""The live pages beside a tournament: what 200 spectators cost, and that the arena does not notice them.

The same tournament is played twice, alone and with everybody listening to every change and taking every new page, as
a browser does.  Spectators are sockets of another process, so that their own CPU time counts for nobody.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

SPECTATORS = 200
PAIRS, QUICK_PAIRS = 600, 150
START_S = 10.0
"""In which the web process starts, everybody comes, and the first pages are made."""
BOTS = ("random", "greedy", "counter")


def run(quick: bool) -> Mapping[str, Any]:
    """CPU seconds of the web process over those of the arena with its bots, and of both runs of the arena."""
    pairs = QUICK_PAIRS if quick else PAIRS
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "bench.toml"
        bots = "".join(f'[[bots]]\nbot = "{bot}"\n' for bot in BOTS)
        config.write_text(f"pairs = {pairs}\ntrust_bots = true\nrated = false\n{bots}")
        alone = _play(config, "alone")
        port = _free_port()
        crowd = multiprocessing.get_context("spawn").Process(target=_crowd, args=(port,), daemon=True)
        crowd.start()
        watched = _play(config, "watched", "--web", f"127.0.0.1:{port}")
        crowd.terminate()
    return {
        "spectators": SPECTATORS,
        "matches": 2 * pairs * 3,
        "arena_cpu_s": {"alone": round(alone["arena"], 1), "watched": round(watched["arena"], 1)},
        "watched_over_alone": round(watched["arena"] / alone["arena"], 3),
        "web_cpu_s": round(watched["web"], 2),
        "web_cpu_s_at_start": round(watched["web at start"], 2),
        "web_over_run": round(watched["web"] / (watched["arena"] + watched["bots"]), 4),
        "seconds": round(watched["seconds"], 1),
    }


def _play(config: Path, name: str, *words: str) -> Mapping[str, float]:
    """CPU seconds by who spent them, looked at until the end."""
    command = [sys.executable, "-m", "arena", "tournament", str(config), "--name", name, "--seed", "1", "--quiet"]
    begun = time.monotonic()
    process = psutil.Popen([*command, "--no-pages", "--data", str(config.parent), *words], stdout=subprocess.DEVNULL)
    kinds: dict[tuple[int, float], str] = {}
    spent: dict[tuple[int, float], tuple[str, float]] = {}
    at_start = 0.0
    while process.poll() is None:
        for each in [process, *_descendants(process)]:
            try:
                which, used = (each.pid, each.create_time()), each.cpu_times()
                kind = kinds.get(which) or _kind(each, process)
                kinds[which] = kind  # of one that is about to go nothing more can be read
                spent[which] = (kind, used.user + used.system)
                if kind == "web" and time.time() - each.create_time() < START_S:
                    at_start = used.user + used.system
            except psutil.Error:
                continue
        time.sleep(0.2)
    assert process.returncode == 0, "the tournament failed"
    totals = {"arena": 0.0, "web": 0.0, "bots": 0.0, "web at start": at_start, "seconds": time.monotonic() - begun}
    for kind, cpu in spent.values():
        totals[kind] += cpu
    return totals


def _kind(process: psutil.Process, arena: psutil.Process) -> str:
    return "arena" if process == arena else "web" if "--beside" in process.cmdline() else "bots"


def _descendants(process: psutil.Process) -> Sequence[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def _crowd(port: int) -> None:
    asyncio.run(_watch_all(port))


async def _watch_all(port: int) -> None:
    await asyncio.gather(*(_watch(port) for _ in range(SPECTATORS)))


async def _watch(port: int) -> None:
    """Listen for ever, from when somebody answers, and take the first page anew whenever it is another one."""
    version = b""
    while True:
        try:
            reader, _ = await _ask(port, "/events")
            while event := await reader.read(1 << 16):
                if found := re.search(rb'"version": (\d+)', event):
                    version, before = found[1], version
                    if version != before:
                        await _get(port, "/")
        except OSError:
            await asyncio.sleep(0.5)


async def _get(port: int, path: str) -> None:
    reader, writer = await _ask(port, path, "Connection: close\r\n")
    await reader.read(-1)
    writer.close()


async def _ask(port: int, path: str, header: str = "") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{header}\r\n".encode())
    return reader, writer


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
