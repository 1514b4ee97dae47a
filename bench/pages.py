"""The pages of a large run: twenty bots, and what `arena report` takes for them in CPU time, memory and bytes.

The run is refereed without bot processes: a hundred thousand deals of them would take an hour.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from arena.store import open_queries
from tests.reports.runs import plain, play_run, sound

BOTS = 20
PAIRS, QUICK_PAIRS = (16, 65), (1, 4)
"""Two sizes of a run, in pairs a pairing; the largest has about 100,000 deals."""


def run(quick: bool) -> Mapping[str, Mapping[str, float]]:
    """By the size of the run: deals, CPU seconds and peak memory of the command, the first page and all pages."""
    found = {}
    for pairs in QUICK_PAIRS if quick else PAIRS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            bots = {f"bot-{number:02}": sound if number % 2 else plain for number in range(BOTS)}
            play_run(folder, "large", bots, pairs=pairs)
            with open_queries(folder / "arena.db") as queries:
                deals = sum(summary.deals for summary in queries.summaries(queries.tournament("large")))
            found[f"{deals}_deals"] = _report(folder)
    return found


REPORT = """
from arena.cli import run
from bench.walk import peak_kb
assert not run()
print(peak_kb())
"""
"""`arena report`, and at its end what memory it has had."""


def _report(folder: Path) -> Mapping[str, float]:
    site = folder / "site"
    process = subprocess.Popen(
        [sys.executable, "-c", REPORT, "report", "large", "--data", str(folder), "--out", str(site), "--quiet"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    *_, peak_kb = process.stdout.read().split()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, "the report failed"
    pages = [path for path in site.rglob("*") if path.is_file()]
    return {
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_mb": round(int(peak_kb) / 1024),
        "index_kb": round((site / "index.html").stat().st_size / 1000),
        "files": len(pages),
        "all_mb": round(sum(path.stat().st_size for path in pages) / 1e6, 1),
    }
