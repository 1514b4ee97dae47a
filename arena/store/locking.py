"""Who plays a tournament: a process is known by its host, its number and its start, for numbers are used again."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

import psutil

_SAME_START_MS = 100
"""Two processes of one number never start this close; the clocks of one start never differ as much."""


class Holder(Protocol):
    """The columns of a row of `locks`; all None where nobody holds the lock."""

    @property
    def pid(self) -> int | None: ...
    @property
    def host(self) -> str | None: ...
    @property
    def started_ms(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Process:
    """This process, as it holds a lock."""

    pid: int
    host: str
    started_ms: int
    acquired: str

    @classmethod
    def this(cls) -> Process:
        started = _started_ms(os.getpid())
        assert started is not None
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(os.getpid(), socket.gethostname(), started, now)


def holds(holder: Holder) -> bool:
    """Whether the holder lives; on another host nobody can tell, so it is taken to live."""
    if holder.pid is None or holder.started_ms is None:
        return False
    if holder.host != socket.gethostname():
        return True
    started = _started_ms(holder.pid)
    return started is not None and abs(started - holder.started_ms) < _SAME_START_MS


def _started_ms(pid: int) -> int | None:
    """Milliseconds from the start of the machine to that of the process, None if it has ended.

    Counted from there because a clock that is set moves the dates of both.
    """
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return round((process.create_time() - psutil.boot_time()) * 1000)
    except psutil.NoSuchProcess:
        return None
