"""`python -m bench.walk BOTS PAIRS PLAYED`: plan a round robin, resume it, walk it to its end; prints JSON.

A process of its own, so that its memory is nobody else's.  PLAYED is the share of the blocks that were played before.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import islice
from pathlib import Path

from arena.match.absence import NOBODY
from arena.store import StoredPlaces
from arena.tournament.runner import open_tasks
from arena.tournament.schedule import Schedule


def main(bots: int, pairs: int, played: float) -> None:
    schedule = Schedule(tuple(f"b{number:03}" for number in range(bots)), pairs)
    begun = time.process_time()
    blocks = islice(schedule.blocks(), round(schedule.block_count * played))
    stored = StoredPlaces((block.epoch, position) for block in blocks for position in block.positions)
    known = time.process_time()
    tasks = open_tasks(schedule.blocks(), stored, NOBODY.leave_out)
    left = len(next(tasks).keys)
    first = time.process_time()
    left += sum(len(task.keys) for task in tasks)
    end = time.process_time()
    json.dump(
        {
            "matches": schedule.match_count,
            "left": left,
            "peak_mb": round(peak_kb() / 1024, 1),
            "stored_cpu_s": round(known - begun, 3),
            "first_task_cpu_s": round(first - known, 4),
            "walk_cpu_us_a_match": round((end - first) / left * 1e6, 2),
        },
        sys.stdout,
    )


def peak_kb() -> int:
    """The most memory that this process has had; `ru_maxrss` would know its parent's, too."""
    return next(
        int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
