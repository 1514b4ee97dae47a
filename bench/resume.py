"""`python -m bench.resume CONFIG`: go on with a run until a match of it is durable; prints the CPU time as JSON.

A process of its own, whose time counts from its start.  The bots' processes count apart.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from arena.app.data import Archive
from arena.app.runs import RunOptions
from arena.app.tournament import Listener, Plan, run_tournament
from arena.match.summary import MatchSummary
from bench.inprocess import NAME


class _Watch(Listener):
    """Notes what was spent until all is known that was played, and until the first match."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    def planned(self, plan: Plan) -> None:
        self.spent["planned_cpu_s"] = round(time.process_time(), 2)

    def committed(self, summaries: Sequence[MatchSummary]) -> None:
        if "first_match_cpu_s" not in self.spent:
            self.spent["first_match_cpu_s"] = round(time.process_time(), 2)
            os.kill(os.getpid(), signal.SIGTERM)


def main(config: Path) -> None:
    watch = _Watch()
    options = RunOptions(config=config, archive=Archive(config.parent), resume=NAME, jobs=1, workers=1)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run_tournament(options, watch))
    bots = resource.getrusage(resource.RUSAGE_CHILDREN)
    watch.spent["bots_cpu_s"] = round(bots.ru_utime + bots.ru_stime, 2)
    json.dump(watch.spent, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
