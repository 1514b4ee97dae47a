"""A tournament of the sample bots, and whose CPU time it took: the driver's, its workers', the bots'."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import psutil

from arena.app.data import STORE
from arena.app.engines import worker
from arena.match.lag import Lag
from arena.store import open_queries
from arena.tournament.runner import Played

BOTS = ("random", "greedy", "counter")
RUN = "crew"
LOOK_S = 0.2
"""Between two looks at the CPU times of processes."""


@dataclass(frozen=True, slots=True)
class Crew:
    """What a tournament took, in CPU seconds."""

    matches: int
    blocks: int
    driver_s: float
    """The arena's first process, its start included: it plans and stores, and where it is the only worker it plays."""
    workers_s: float
    bots_s: float
    """With their keepers and sandboxes, starts included."""
    wall_s: float
    steal: float
    """The part of the machine's time that other machines took, 0 to 1."""
    lag: Lag
    store_bytes: int
    decisions: int
    report_bytes: float
    """Of the message in which a worker tells of a match, on average."""

    def figures(self) -> Mapping[str, float | None]:
        """For the bench."""
        return {
            "matches_per_s": round(self.matches / self.wall_s, 2),
            "driver_cpu_ms_a_match": round(self.driver_s / self.matches * 1000, 2),
            "workers_cpu_ms_a_match": round(self.workers_s / self.matches * 1000, 2),
            "bots_cpu_ms_a_match": round(self.bots_s / self.matches * 1000, 2),
            "steal": round(self.steal, 3),
            "lag_median_ms": self.lag.median_ms,
            "lag_p99_ms": self.lag.p99_ms,
            "bots_waiting": None if self.lag.waiting is None else round(self.lag.waiting, 3),
        }


def tournament(pairs: int, workers: int, block: int = 32) -> Crew:
    """Play a round robin of `BOTS`, on all cores."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = folder / "crew.toml"
        entries = "".join(f'[[bots]]\nbot = "{bot}"\n' for bot in BOTS)
        config.write_text(f"pairs = {pairs}\nblock = {block}\ntrust_bots = true\nrated = false\n{entries}")
        words = [str(config), "--seed", "1", "--name", RUN, "--data", name, "--quiet", "--no-pages"]
        jobs = ["--workers", str(workers), "--jobs", str(2 * workers), "--cores", str(2 * workers * len(BOTS))]
        before, begun = psutil.cpu_times(), time.monotonic()
        process = psutil.Popen([sys.executable, "-m", "arena", "tournament", *words, *jobs], stdout=subprocess.DEVNULL)
        seen: dict[int, float] = {}
        while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
            seen.update(_looked_at(process))
            time.sleep(LOOK_S)
        after, wall_s = psutil.cpu_times(), time.monotonic() - begun
        _, status, usage = ended
        assert os.waitstatus_to_exitcode(status) == 0, "the tournament failed"
        driver_s = seen.pop(process.pid)
        workers_s = sum(seen.values())
        steal = getattr(after, "steal", 0.0) - getattr(before, "steal", 0.0)
        with open_queries(folder / STORE) as queries:
            run = queries.tournament(RUN)
            results = list(queries.results(run))
            (session,) = queries.sessions(run)
        played = [
            Played(each.position, each.key, each.seats, each.mirrored, each.record, attempt=1) for each in results
        ]
        return Crew(
            matches=len(results),
            blocks=len({(each.key.pairing, each.key.leg, each.key.number // block) for each in results}),
            driver_s=driver_s,
            workers_s=workers_s,
            bots_s=usage.ru_utime + usage.ru_stime - driver_s - workers_s,
            wall_s=wall_s,
            steal=steal / (sum(after) - sum(before)),
            lag=session.lag,
            store_bytes=(folder / STORE).stat().st_size,
            decisions=sum(sum(map(len, each.record.testimony.took_us)) for each in results),
            report_bytes=mean(len(pickle.dumps(worker.Reported(0, each))) for each in played),
        )


def _looked_at(process: psutil.Process) -> Mapping[int, float]:
    """CPU seconds so far of the arena's first process and of its workers, by their pids."""
    spent: dict[int, float] = {}
    try:
        for each in (process, *process.children()):
            if each == process or any(worker.__name__ in word for word in each.cmdline()):
                used = each.cpu_times()
                spent[each.pid] = used.user + used.system
    except psutil.Error:
        pass
    return spent
