"""What a bot costs in each language, by those that `arena new` makes: start, call, decision, memory.

They are built first, if they were not before; one whose tools are missing is left out.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from arena.app.engines.local import Building
from arena.app.templates import Language
from arena.bots.build import Builds
from arena.bots.launcher import arena_marker
from arena.bots.manifest import BotSpec, resolve
from arena.bots.sandbox import Sandbox, best
from arena.errors import UsageError
from arena.game.presets import preset
from bench.solo import MARKER, Stream, running
from tests.languages.bots import made
from tests.languages.recorded import of_preset

RULES = "sixty-six"
BATCH = 64


def run(quick: bool) -> dict[str, dict[str, float]]:
    """By language: `start_ms` (until Describe is answered) and `start_cpu_ms`, `call_us` (one decision at a time, there
    and back), `decision_cpu_us` (of the bot, 64 at a time), `memory_mb` (what it shares with nobody, after that)."""
    starts, calls, decisions = (3, 200, 6_400) if quick else (10, 2_000, 64_000)
    return asyncio.run(_measured(starts, calls, decisions))


async def _measured(starts: int, calls: int, decisions: int) -> dict[str, dict[str, float]]:
    sandbox = best()
    builds = Builds(Building().folder, sandbox, arena_marker(MARKER), network=True)
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        for language in Language:
            try:
                spec = await builds.built(resolve(made(language, Path(folder)), base=Path(folder)))
            except UsageError:
                continue
            figures[language] = await _of(spec, sandbox, starts, calls, decisions)
    return figures


async def _of(spec: BotSpec, sandbox: Sandbox, starts: int, calls: int, decisions: int) -> dict[str, float]:
    walls, cpus = [], []
    for _ in range(starts):
        begun = time.perf_counter()
        async with running(spec, sandbox) as bot:
            await bot.describe(preset(RULES), RULES)
            walls.append(time.perf_counter() - begun)
            cpus.append(bot.process.cpu_seconds())
    async with running(spec, sandbox) as bot:
        await bot.describe(preset(RULES), RULES)
        asked = of_preset(RULES, BATCH)
        questions = [each.question for each in asked]
        stream = bot.play()
        await stream.send(each.started for each in asked)
        seconds = [await _answered(stream, [questions[call % BATCH]]) for call in range(calls)]
        cpu_s = 0.0
        for _ in range(2):  # in the first round it gets warm: what is compiled at run time is compiled then
            before = bot.process.cpu_seconds()
            for _ in range(decisions // BATCH):
                await _answered(stream, questions)
            cpu_s = bot.process.cpu_seconds() - before
        memory = sum(process.memory_full_info().uss for process in bot.process.processes())
    return {
        "start_ms": round(statistics.median(walls) * 1e3, 1),
        "start_cpu_ms": round(statistics.median(cpus) * 1e3, 1),
        "call_us": round(statistics.median(seconds) * 1e6, 1),
        "decision_cpu_us": round(cpu_s / (decisions // BATCH * BATCH) * 1e6, 1),
        "memory_mb": round(memory / 1e6, 1),
    }


async def _answered(stream: Stream, questions: Sequence[bytes]) -> float:
    """Seconds until all are answered."""
    begun = time.perf_counter()
    await stream.send(questions)
    await stream.answers(len(questions))
    return time.perf_counter() - begun
