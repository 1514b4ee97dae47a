"""Proving a run from its file alone: what a decision costs, in passes of the bare loop `x += i * i`."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from arena.app.verify import Verified, verify_file
from bench.calibrate import pass_seconds

BOTS = ("random", "greedy")
RULES = ("sixty-six", "schnapsen")
"""Deals of six cards, and of five: the shorter a match, the more its frame counts."""


def run(quick: bool) -> dict[str, dict[str, float]]:
    """By rules `passes_per_decision`, and what it was measured over: a small run of sample bots."""
    return {rules: _measured(rules, pairs=16 if quick else 64) for rules in RULES}


def _measured(rules: str, pairs: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "bench.toml"
        bots = "".join(f'[[bots]]\nbot = "{bot}"\n' for bot in BOTS)
        config.write_text(f'rules = "{rules}"\npairs = {pairs}\ntrust_bots = true\nrated = false\n{bots}')
        file = Path(folder) / "export.jsonl"
        _arena("tournament", str(config), "--seed", "1", "--data", folder, "--quiet")
        _arena("export", "--data", folder, "--output", str(file), "--quiet")
        found = verify_file(file)  # what is imported late is not measured
        assert isinstance(found, Verified)
        passes = []
        for _ in range(5):
            unit = pass_seconds(1_000_000)
            start = time.process_time()
            verify_file(file)
            passes.append((time.process_time() - start) / unit / found.decisions)
    return {"decisions": found.decisions, "passes_per_decision": round(statistics.median(passes), 1)}


def _arena(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "arena", *words], check=True, stdout=subprocess.DEVNULL)
