"""The whole thing: a tournament of the sample bots, processes, sandbox and store included, in Bummerls a CPU second."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

BOTS = ("random", "greedy", "counter")


def run(quick: bool) -> dict[str, float]:
    """`bummerls_per_cpu_s`, and what it was measured over: CPU of the arena, the keepers and all bots."""
    pairs = 32 if quick else 256
    pairings = len(BOTS) * (len(BOTS) - 1) // 2
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "bench.toml"
        bots = "".join(f'[[bots]]\nbot = "{bot}"\n' for bot in BOTS)
        config.write_text(f"pairs = {pairs}\ntrust_bots = true\nrated = false\n{bots}")
        before = _cpu()
        subprocess.run(
            [
                sys.executable,
                "-m",
                "arena",
                "tournament",
                str(config),
                "--seed",
                "1",
                "--data",
                folder,
                "--quiet",
                "--no-pages",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        spent = _cpu() - before
    matches = 2 * pairs * pairings
    return {"bummerls": matches, "cpu_s": round(spent, 2), "bummerls_per_cpu_s": round(matches / spent, 2)}


def _cpu() -> float:
    """CPU seconds of all descendants that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
