"""Reading a large run: what a deal costs, and how much memory counting what bots did takes, or a whole report."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from arena.app.data import STORE
from arena.app.schedules import blocks_of, schedules_of
from arena.app.show import build_report
from arena.match.conduct import Conduct
from arena.store import MatchResult, Queries, open_queries, open_store
from arena.tournament import decks
from arena.tournament.schedule import Block
from bench.calibrate import pass_seconds

BOTS = ("random", "greedy")
PLAYED = 20
"""The pairs that are really played; all others are these again, under numbers of their own."""


def run(quick: bool) -> dict[str, dict[str, float]]:
    """By what is read: the deals, and for two sizes of a run `passes_per_deal` and the megabytes that it takes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _play(folder)
        sizes = (250, 1000) if quick else (1250, 5000)
        for pairs in sizes:
            _make(folder, pairs)
        return {f"{what}_{pairs}_pairs": _measured(folder, what, pairs) for what in READERS for pairs in sizes}


def _play(folder: Path) -> None:
    config = folder / "played.toml"
    bots = "".join(f'[[bots]]\nbot = "{bot}"\n' for bot in BOTS)
    config.write_text(f"pairs = {PLAYED}\ntrust_bots = true\nrated = false\n{bots}")
    words = ("tournament", str(config), "--seed", "1", "--data", str(folder), "--quiet", "--name", "played")
    subprocess.run([sys.executable, "-m", "arena", *words], check=True, stdout=subprocess.DEVNULL)


def _make(folder: Path, pairs: int) -> None:
    """A run of so many pairs, which is named by their number."""
    with open_store(folder / STORE) as store:
        played = store.tournament("played")
        results = {(result.key.leg, result.key.number): result for result in store.results(played)}
        (epoch,) = store.epochs(played)
        identity = {**epoch.config["identity"], "pairs": pairs}
        config = {**epoch.config, "identity": identity}
        secret = decks.secret_from_seed(pairs)
        made = store.create_tournament(
            *(str(pairs), identity, played.rules, store.participants(played), False, datetime.now(UTC)),
            about=played.about,
        )
        store.open_epoch(made, 0, secret, decks.commitment(secret), config=config)
        for block in blocks_of(schedules_of([replace(epoch, config=config)])):
            store.record(made, list(_again(block, results)))


def _again(block: Block, results: Mapping[tuple[int, int], MatchResult]) -> Iterator[MatchResult]:
    for position, key in iter(block.keys()):
        result = results[key.leg, key.number % PLAYED]
        yield replace(result, key=key, position=position, summary=replace(result.summary, key=key))


def _measured(folder: Path, what: str, pairs: int) -> dict[str, float]:
    with open_queries(folder / STORE) as queries:
        READERS[what](queries, "played")  # what is imported late is not measured
        unit = pass_seconds(1_000_000)
        start = time.process_time()
        deals = READERS[what](queries, str(pairs))
        passes = (time.process_time() - start) / unit / deals
        tracemalloc.start()
        READERS[what](queries, str(pairs))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return {"deals": deals, "passes_per_deal": round(passes, 1), "megabytes": round(most / 2**20, 1)}


def _conduct(queries: Queries, run: str) -> int:
    """Count what bots did, and nothing else; returns the number of deals."""
    total = Conduct()
    for match in queries.summaries(queries.tournament(run)):
        for side in match.sides:
            for conduct in side.conduct:
                total.add(conduct)
    return total.deals.total() // 2


def _report(queries: Queries, run: str) -> int:
    return build_report(queries, run).rows[0].conduct.deals.total()


READERS = {"conduct": _conduct, "report": _report}
