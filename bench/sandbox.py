"""What the sandbox costs at each level: a start of a bot until it listens, and a decision, all levels interleaved.

CPU is that of the arena, the keeper, what makes the sandbox and the bot together.
"""

from __future__ import annotations

import asyncio
import resource
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from arena.app.participants import of_words
from arena.bots.launcher import Limits, arena_marker, launch
from arena.bots.sandbox import Level, Sandbox, at
from bench import decisions

Figures = Mapping[str, list[float]]


def run(quick: bool) -> dict[str, dict[str, float]]:
    """By level the medians of `start_wall_ms`, `start_cpu_ms`, `decision_cpu_us`, and how much more than at weak."""
    starts, rounds, count = (10, 2, 5_000) if quick else (40, 5, 20_000)
    held = {level: sandbox for level in Level if (sandbox := at(level)) is not None}
    figures: dict[Level, Figures] = {
        level: {"start_wall_ms": [], "start_cpu_ms": [], "decision_cpu_us": []} for level in held
    }
    for _ in range(starts):
        for level, sandbox in held.items():
            before = _cpu()
            figures[level]["start_wall_ms"].append(asyncio.run(_start(sandbox)) * 1000)
            figures[level]["start_cpu_ms"].append((_cpu() - before) * 1000)
    for _ in range(rounds):
        for level, sandbox in held.items():
            before = _cpu()
            made, _, _ = asyncio.run(decisions.arena(count, sandbox))
            starting = 2 * statistics.median(figures[level]["start_cpu_ms"]) / 1000
            figures[level]["decision_cpu_us"].append((_cpu() - before - starting) / made * 1e6)
    medians = {level: {name: statistics.median(of) for name, of in each.items()} for level, each in figures.items()}
    return {
        str(level): {
            part: round(value, 1)
            for name, median in each.items()
            for part, value in ((name, median), (f"{name}_more", median - medians[Level.WEAK][name]))
        }
        for level, each in medians.items()
    }


async def _start(sandbox: Sandbox) -> float:
    """Seconds from the launch of a sample bot until it listens; it is ended at once."""
    (spec,) = of_words(("greedy",)).values()
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        process = await launch(
            spec,
            socket="bot.0",
            env={},
            log=Path(folder) / "log",
            marker=arena_marker("bench"),
            limits=Limits.of(spec, sandbox.level),
            sandbox=sandbox,
        )
        await process.target(60.0)
        seconds = time.perf_counter() - start
        await process.stop(0)
    return seconds


def _cpu() -> float:
    """CPU seconds of this process and of all its descendants that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
