"""What recording costs: the same matches into a file and into a PostgreSQL server of its own, in turns.

CPU is that of the arena's thread alone; a server's is its own affair.  Both stores sync each commit to the disk.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from statistics import median

from arena.app.data import STORE
from arena.store import MatchResult, Participant, open_queries, open_store
from arena.tournament import decks
from bench import inprocess

GROUPS = (4, 64)
"""Matches committed together: as they come of two busy cores, and as they come of many."""
BOTS = 4
NO_SERVER = "no PostgreSQL is installed here"

Taken = tuple[float, float]
"""Wall and CPU seconds of a match."""


def run(quick: bool) -> Mapping[str, object]:
    """`matches_per_s` and `cpu_us_a_match` by store and size of a commit; of a server that is missing it is said."""
    rounds = 3 if quick else 7
    with tempfile.TemporaryDirectory() as name, ExitStack() as servers:
        folder = Path(name)
        results, entered = _played(folder, matches=256 if quick else 1024)
        stores: dict[str, Path | str] = {"sqlite": folder / "recorded.db"}
        if server := _server(servers):
            stores["postgresql"] = server
        taken: dict[str, list[Taken]] = {f"{store}_by_{group}": [] for store in stores for group in GROUPS}
        names = map("run-{}".format, count())
        for _ in range(rounds):
            for store, where in stores.items():
                for group in GROUPS:
                    taken[f"{store}_by_{group}"].append(_recorded(where, next(names), results, entered, group))
    figures: dict[str, object] = {form: _figures(each) for form, each in taken.items()}
    return figures if server else figures | {"postgresql": NO_SERVER}


def _played(folder: Path, matches: int) -> tuple[Sequence[MatchResult], Sequence[Participant]]:
    """So many matches, or a few more, in the order of the schedule, and who plays them."""
    inprocess.play(inprocess.write_config(folder, BOTS, pairs=matches), matches)
    with open_queries(folder / STORE) as queries:
        run = queries.tournament(inprocess.NAME)
        return list(queries.results(run)), queries.participants(run)


def _server(servers: ExitStack) -> str | None:
    """The address of a database, for as long as `servers` is open."""
    try:
        from tests import postgres
    except ImportError:  # the driver comes with an extra
        return None
    if postgres.BINARIES is None:
        return None
    return servers.enter_context(postgres.running(settings=())).url()


def _recorded(
    where: Path | str, name: str, results: Sequence[MatchResult], entered: Sequence[Participant], group: int
) -> Taken:
    secret = decks.secret_from_seed(name)
    with open_store(where) as store:
        run = store.create_tournament(name, {}, {}, entered, False, datetime.now(UTC))
        store.open_epoch(run, 0, secret, decks.commitment(secret))
        with store.lock(run):
            wall, cpu = time.perf_counter(), time.thread_time()
            for some in _in_groups(results, group):
                store.record(run, some)
            return (time.perf_counter() - wall) / len(results), (time.thread_time() - cpu) / len(results)


def _in_groups(results: Sequence[MatchResult], size: int) -> Iterator[Sequence[MatchResult]]:
    for start in range(0, len(results), size):
        yield results[start : start + size]


def _figures(taken: Sequence[Taken]) -> Mapping[str, float]:
    wall_s, cpu_s = map(median, zip(*taken, strict=True))
    return {"matches_per_s": round(1 / wall_s), "cpu_us_a_match": round(cpu_s * 1e6, 1)}
