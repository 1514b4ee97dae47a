"""What TLS costs the arena: the same matches between two bots at ports of this machine, by TLS and in plain text.

The two run in turn; figures are medians over the rounds, CPU is that of this process alone.
"""

from __future__ import annotations

import asyncio
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from arena.app.certs import make_keys
from arena.app.engines.local import Setting, local_engine
from arena.bots.manifest import BotSpec, resolve
from arena.game.presets import preset
from arena.match.clock import TimeControl
from arena.tournament.runner import Played, Task
from arena.tournament.schedule import Block

BOT = Path(__file__).parent / "servers" / "instant.py"
NAMES = ("one", "two")
RULES = "sixty-six"


def run(quick: bool) -> dict[str, float]:
    """`plain_cpu_us` and `tls_cpu_us` of the arena for each decision, 32 matches at once, and their ratio."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        forms = {
            form: {bot: stack.enter_context(_bot(folder / form / bot, tls=form == "tls")) for bot in NAMES}
            for form in ("plain", "tls")
        }
        rounds = [asyncio.run(_round(forms, folder)) for _ in range(3 if quick else 9)]
    result = {f"{form}_cpu_us": round(statistics.median(costs[form] for costs in rounds), 1) for form in forms}
    ratio = statistics.median(costs["tls"] / costs["plain"] for costs in rounds)
    return {**result, "tls_over_plain": round(ratio, 3)}


async def _round(forms: Mapping[str, Mapping[str, BotSpec]], folder: Path) -> dict[str, float]:
    """CPU microseconds a decision of a block in each form, whose bots are at play already."""
    setting = Setting(preset(RULES), RULES, TimeControl(), 30.0)
    costs = {}
    for form, specs in forms.items():
        block = Block(0, 0, 0, NAMES, 0, range(32), NAMES, mirrored=False)
        played: list[Played] = []
        async with local_engine(setting, specs, {0: bytes(32)}, "arena-bench", folder / "logs") as engine:
            start = time.process_time()
            await engine.play(Task(block, tuple(block.keys())), played.append)
            spent = time.process_time() - start
        decisions = sum(len(times) for match in played for times in match.record.testimony.took_us)
        costs[form] = spent / decisions * 1e6
    return costs


@contextmanager
def _bot(folder: Path, *, tls: bool) -> Iterator[BotSpec]:
    """A bot that serves at a free port for as long as this lasts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    made = make_keys(folder, folder.name, address, days=1)
    keys = ["--keys", str(made.bot)] if tls else []
    environment = {name: value for name, value in os.environ.items() if name != "ARENA_ADDRESS"}
    process = subprocess.Popen([sys.executable, str(BOT), "--listen", address, *keys], env=environment)
    try:
        yield resolve(str(made.arena) if tls else address, name=folder.name, base=folder)
    finally:
        process.kill()
        process.wait()
