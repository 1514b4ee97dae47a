"""What this machine is to an arena: each finding with its value, and what to do where it could be better."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import resource
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from arena.bots.launcher import abandoned
from arena.bots.sandbox import Level, at, is_root, lacking
from arena.store import SQLITE_VERSION
from arena.tournament.config import cores_here

MARKERS = "arena-"
"""What the markers of all arenas begin with."""
LEAST_FILES = 1024
LEAST_DISK = 1 << 30
LEAST_MEMORY = 2 << 30
MOST_LAG_MS = 30.0
"""A pause of the arena beyond this is taken off the bots' clocks."""
_NAPS = 100
_NAP_S = 0.001


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    value: str
    cure: str = ""
    """What to do about it; empty where all is well."""


def examine(data: Path) -> list[Finding]:
    """All findings, in the order of interest; `data` is the folder of the store.  Takes a second or two."""
    return [*_sandbox(), *_software(), *_machine(data), _leftovers()]


def _sandbox() -> Iterator[Finding]:
    better = False
    for level in sorted(Level, reverse=True):
        found = at(level)
        if found is None:
            cure = "" if better else f"get level {level}: see docs/sandbox.md"
            yield Finding(f"sandbox {level}", f"not to be had: {lacking(level)}", cure)
            continue
        if is_root() and not found.own_uids:
            why = lacking(level, own_uids=True)
            yield Finding(
                f"sandbox {level}",
                f"to be had, but bots share the arena's uid: {why}",
                "" if better else "run the arena as an ordinary user, or where root may do everything",
            )
        else:
            uids = ", each bot with a uid of its own" if found.own_uids else ""
            yield Finding(f"sandbox {level}", f"to be had{uids}")
        better = True


def _software() -> Iterator[Finding]:
    yield Finding("Python", f"{platform.python_version()} ({platform.python_implementation()})")
    yield Finding("grpcio", importlib.metadata.version("grpcio"))
    yield Finding("SQLite", SQLITE_VERSION)
    yield Finding("system", f"{platform.system()} {platform.release()} {platform.machine()}")


def _machine(data: Path) -> Iterator[Finding]:
    cores = cores_here()
    load = os.getloadavg()[0]
    yield Finding(
        "cores",
        f"{cores}, with a load of {load:.1f}",
        f"let other work end: bots wait for a core, and more than {cores} are asked for" if load > cores else "",
    )
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    few = files != resource.RLIM_INFINITY and files < LEAST_FILES
    yield Finding("open files", _limit(files), f"raise the limit: ulimit -n {LEAST_FILES}" if few else "")
    yield Finding("processes", _limit(resource.getrlimit(resource.RLIMIT_NPROC)[0]))
    memory = psutil.virtual_memory().available
    yield Finding(
        "memory",
        f"{_gigabytes(memory)} to be had",
        "a bot may take 2 GB: free some, or play fewer blocks at a time (jobs)" if memory < LEAST_MEMORY else "",
    )
    place = data.resolve()
    while not place.exists():
        place = place.parent
    disk = shutil.disk_usage(place).free
    yield Finding(
        "disk",
        f"{_gigabytes(disk)} free in {place}",
        "free some, or choose another folder by --data" if disk < LEAST_DISK else "",
    )
    lag_ms = max(_lags_ms())
    yield Finding(
        "timer",
        f"{lag_ms:.1f} ms late at most, in {_NAPS} naps",
        "let other work end: pauses are taken off the bots' clocks, but cost time" if lag_ms > MOST_LAG_MS else "",
    )


def _lags_ms() -> Iterator[float]:
    """How much longer than asked for this process sleeps."""
    for _ in range(_NAPS):
        start = time.monotonic()
        time.sleep(_NAP_S)
        yield (time.monotonic() - start - _NAP_S) * 1000


def _leftovers() -> Finding:
    left = abandoned(MARKERS)
    if not left:
        return Finding("leftovers", "no processes of arenas that have ended")
    pids = ", ".join(str(process.pid) for process in left)
    return Finding("leftovers", f"processes of arenas that have ended: {pids}", "the next tournament ends them")


def _limit(limit: int) -> str:
    return "no limit" if limit == resource.RLIM_INFINITY else f"{limit:,}"


def _gigabytes(size: int) -> str:
    return f"{size / (1 << 30):,.1f} GB"
