"""How long a bot waited for a core, by the kernel's own count: a bot does not pay for a machine that is too busy.

Of a stretch of busy time the waiting of the threads that were at work is free, but never more than what the stretch
exceeds the CPU time of the bot.  So who had a core all the time has not waited, and further threads buy no time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass

FAMILY_S = 1.0
"""How long it is remembered which processes a bot has."""
AT_WORK = 0.0003
"""A thread that had a core for less of a stretch than this slept: what it waited at its wake-ups held up nobody."""


@dataclass(frozen=True, slots=True)
class Look:
    """What the kernel has counted so far, in seconds."""

    processes: dict[int, float]
    """The CPU time of each process, threads that have ended included."""
    threads: dict[int, tuple[float, float]]
    """The CPU time of each thread, and how long it was ready to run and had no core."""


class Cores:
    """Looks at all processes of one bot: the descendants of its keeper.  Where the kernel tells nothing, all is 0."""

    def __init__(self, keeper: int) -> None:
        self._keeper = keeper
        self._family: list[int] = []
        self._found = -FAMILY_S

    def look(self) -> Look:
        """What they got and what they waited so far."""
        now = time.monotonic()
        if now - self._found > FAMILY_S:
            self._family = list(_descendants(self._keeper))
            self._found = now
        look = Look({}, {})
        for pid in self._family:
            try:
                look.processes[pid] = time.clock_gettime(_cpu_clock(pid))
                for thread in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{thread}/schedstat", "rb") as schedstat:
                        cpu_ns, waited_ns, _ = schedstat.read().split()
                    look.threads[int(thread)] = int(cpu_ns) / 1e9, int(waited_ns) / 1e9
            except (OSError, ValueError):  # it has just ended, or nothing is counted here
                continue
        return look


def free_s(before: Look, after: Look, elapsed_s: float) -> float:
    """Seconds of a stretch of time that passed without a core, for a bot looked at before and after it."""
    cpu_s = sum(used - before.processes.get(pid, 0.0) for pid, used in after.processes.items())
    waiting_s = 0.0
    for thread, (used, waited) in after.threads.items():
        used_before, waited_before = before.threads.get(thread, (0.0, 0.0))
        if used - used_before >= AT_WORK * elapsed_s:
            waiting_s += waited - waited_before
    return max(0.0, min(waiting_s, elapsed_s - cpu_s))


def _cpu_clock(pid: int) -> int:
    """Linux's number for the clock of what a process has used, as clock_getcpuclockid(3) computes it."""
    return ~pid << 3 | 2


def _descendants(pid: int) -> Iterator[int]:
    """The processes that descend from one, by Linux's own lists of children; none elsewhere."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as children:
                found = [int(child) for child in children.read().split()]
        except OSError:
            continue
        for child in found:
            yield child
            yield from _descendants(child)
