"""How far one machine goes: schedules of millions, a hundred thousand matches, resuming and showing them, workers.

Players are inside the arena (`bench.inprocess`) but where processes are what is measured.  The unit of costs is a pass
of the loop of `bench.calibrate`, measured in between: a busy machine is slow for both.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from arena.app.data import STORE
from bench import inprocess
from bench.calibrate import pass_seconds
from bench.crew import tournament

BOTS, QUICK_BOTS = (4, 16, 64, 200), (4, 16)
SMALL, LARGE, QUICK_LARGE = 20_000, 2_000_000, 100_000
"""Matches of schedules that are walked; a field that is too large for the small one has one pair a pairing."""
PLAYED, QUICK_PLAYED = 100_000, 2_000
"""Matches that are played."""
WORKERS, QUICK_WORKERS = (1, 2, 4, 8), (1, 2)
CREW_PAIRS, QUICK_CREW_PAIRS = 128, 16
"""Pairs a pairing of a tournament that is played by real bots."""
PASSES = 1_000_000
"""Of the loop, timed before each part."""
AT_ENDS = 9
"""Of so many parts at the start and at the end of a run the median counts: of a thousand matches, if it has enough."""


def run(quick: bool) -> Mapping[str, Any]:
    """By what is measured; docs/scale.md says more."""
    bots = QUICK_BOTS if quick else BOTS
    found: dict[str, Any] = {
        "schedules": {str(size): _schedules(size, QUICK_LARGE if quick else LARGE) for size in bots},
        "workers": {
            str(workers): tournament(QUICK_CREW_PAIRS if quick else CREW_PAIRS, workers).figures()
            for workers in (QUICK_WORKERS if quick else WORKERS)
        },
        "matches": {},
        "reports": {},
    }
    for size in bots:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            matches = QUICK_PLAYED if quick else PLAYED
            planned = pairs_for(size, matches + matches // 4) + 1  # parts end with a block, and something must be left
            config = inprocess.write_config(folder, size, planned)
            found["matches"][str(size)] = asyncio.run(_played(config, matches))
            found["reports"][str(size)] = _reported(config)
    return found


def pairs_for(bots: int, matches: int) -> int:
    """Pairs a pairing of a round robin that has about so many matches."""
    return max(1, round(matches / (bots * (bots - 1))))


# -- schedules --------------------------------------------------------------------------------------------------------


def _schedules(bots: int, large: int) -> Mapping[str, Any]:
    """Walks of a small and a large schedule, from the start and from the middle."""
    walks = {
        f"{matches}_{'from_middle' if played else 'whole'}": _walk(bots, pairs_for(bots, matches), played)
        for matches in (SMALL, large)
        for played in (0.0, 0.5)
    }
    peaks = [walk["peak_mb"] for walk in walks.values()]
    return {**walks, "most_over_least_memory": round(max(peaks) / min(peaks), 3)}


def _walk(bots: int, pairs: int, played: float) -> Mapping[str, float]:
    walked: dict[str, float] = json.loads(_output("bench.walk", str(bots), str(pairs), str(played)))
    return walked


# -- matches ----------------------------------------------------------------------------------------------------------


async def _played(config: Path, matches: int) -> Mapping[str, float]:
    """Play so many matches: what each costs at the start and at the end, and its bytes in the store.

    The last matches are played in turns with the first ones of a second run like it: a machine changes its pace.
    """
    part = min(1000, matches // (2 * AT_ENDS))
    with tempfile.TemporaryDirectory() as name, inprocess.begun(config) as run:
        fresh_config = Path(name) / config.name
        fresh_config.write_text(config.read_text())
        spent = time.process_time()
        played = await run.play(matches - AT_ENDS * part)
        spent = time.process_time() - spent
        cpu_ms = spent / played * 1000
        first, last = [], []
        with inprocess.begun(fresh_config) as fresh:
            for _ in range(AT_ENDS):
                first.append((await _cost(fresh, part))[1])
                more, cost = await _cost(run, part)
                last.append(cost)
                played += more
    return {
        "matches": played,
        "cpu_ms_a_match": round(cpu_ms, 3),
        "passes_a_match_first": round(median(first)),
        "passes_a_match_last": round(median(last)),
        "last_over_first": round(median(late / early for early, late in zip(first, last, strict=True)), 3),
        "store_bytes_a_match": round((config.parent / STORE).stat().st_size / played),
    }


async def _cost(run: inprocess.Begun, matches: int) -> tuple[int, float]:
    """The number of the next matches, about so many, and the passes of each."""
    unit_s = pass_seconds(PASSES)
    begun = time.process_time()
    played = await run.play(matches)
    return played, (time.process_time() - begun) / played / unit_s


# -- a large run ------------------------------------------------------------------------------------------------------


def _reported(config: Path) -> Mapping[str, Mapping[str, float]]:
    """What it takes to show the run that was played, and to go on with it."""
    folder = config.parent
    run = (inprocess.NAME, "--data", str(folder))
    return {
        "show": _spent("arena", "show", *run, "--format", "json"),
        "show_bots": _spent("arena", "show", *run, "--only", "bots"),
        "dry_run": _spent("arena", "tournament", str(config), "--dry-run", "--resume", *run),
        "resume": json.loads(_output("bench.resume", str(config))),
    }


def _spent(module: str, *words: str) -> Mapping[str, float]:
    """CPU and wall seconds of a command, its start included."""
    begun = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", module, *words], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"{module} {words[0]} failed"
    return {"cpu_s": round(usage.ru_utime + usage.ru_stime, 2), "wall_s": round(time.monotonic() - begun, 2)}


def _output(module: str, *words: str) -> str:
    """What another process prints."""
    command = [sys.executable, "-m", module, *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
