"""Who plays a tournament: a process, known by its machine, number and start, for as long as it renews its lease.

A process that died is missed at once where it ran, elsewhere when its lease ends.  One that was only stopped for longer
than that finds its token replaced, and writes nothing more.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import psutil

from arena.errors import UsageError

LEASE_S = 60.0
"""How long a holder that says nothing is taken to live, by the clock of the database."""
RENEWALS = 4
"""How often a lease is renewed while it lasts."""
TRIES = 8
"""How often a renewal that fails is tried again until the next one."""
SPARE = 1 / 6
"""The part of a lease in which nothing is begun any more: a commit takes its time."""
_SAME_START_MS = 100
"""Two processes of one number never start this close; the clocks of one start never differ as much."""


class Holder(Protocol):
    """The columns of a row of `locks`, and what is left of its lease; all None where nobody holds the lock."""

    @property
    def pid(self) -> int | None: ...
    @property
    def machine(self) -> str | None: ...
    @property
    def started_ms(self) -> int | None: ...
    @property
    def left_ms(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Process:
    """This process, as it holds a lock."""

    token: str
    """Of this hold alone: who has lost the lock is known by it."""
    pid: int
    host: str
    """The name of its machine, for sentences."""
    machine: str
    started_ms: int
    acquired: str

    @classmethod
    def this(cls) -> Process:
        started = _started_ms(os.getpid())
        assert started is not None
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(secrets.token_hex(8), os.getpid(), socket.gethostname(), this_machine(), started, now)


def holds(holder: Holder) -> bool:
    """Whether the holder lives, as far as it can be known here."""
    if holder.pid is None or holder.started_ms is None or holder.left_ms is None or holder.left_ms <= 0:
        return False
    return holder.machine != this_machine() or lives(holder.pid, holder.started_ms)


def lives(pid: int, started_ms: int) -> bool:
    """Whether a process of this machine still runs; numbers are used again."""
    started = _started_ms(pid)
    return started is not None and abs(started - started_ms) < _SAME_START_MS


def this_machine() -> str:
    """Where process numbers mean the same: this start of this system, and its container if it is in one."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:  # no Linux
        return socket.gethostname()


@contextmanager
def renewed(renew: Callable[[], None], lease_s: float) -> Iterator[None]:
    """Call `renew` from a thread, again and again while the block lasts; one that fails is tried again."""
    over = threading.Event()

    def beat() -> None:
        pause_s = lease_s / RENEWALS
        while not over.wait(pause_s):
            pause_s = lease_s / RENEWALS / TRIES
            with suppress(UsageError):
                renew()
                pause_s = lease_s / RENEWALS

    thread = threading.Thread(target=beat, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


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
