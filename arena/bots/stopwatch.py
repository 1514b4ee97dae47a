"""Time as bots are charged for it: monotonic seconds in which the arena's own pauses do not pass.

A paused arena (a stopped process, a garbage collection, a machine out of breath) is nobody's thinking time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from arena.bots.load import Load
from arena.match.lag import Lag

BEAT_S = 0.010
PAUSE_S = 0.030
"""A gap between two looks at the clock that is longer than this was a pause of the arena, and no more than this passes
between two beats: later beats mean that the arena does not get to what has arrived."""


class Stopwatch:
    """A clock that stands still while the arena does; a heartbeat looks at it while nothing else happens."""

    __slots__ = ("_beat", "_due", "latest", "load", "paused_s", "seen", "watchers")

    def __init__(self) -> None:
        self.seen = time.monotonic()
        """When the clock was last looked at, in monotonic seconds that pass for everybody."""
        self.paused_s = 0.0
        """Seconds of pauses so far."""
        self.latest = self.seen
        """What `now` last returned: close enough where nothing is charged."""
        self.watchers: set[Callable[[], None]] = set()
        """Called at every beat."""
        self.load = Load()
        self._beat: asyncio.TimerHandle | None = None
        self._due = float("inf")
        """When the next beat is to come, as `seen` counts."""

    def now(self) -> float:
        """Seconds on this clock."""
        seen = time.monotonic()
        gap = seen - self.seen
        passes = min(gap if gap <= PAUSE_S else BEAT_S, max(0.0, self._due + PAUSE_S - self.seen))
        self.paused_s += gap - passes
        self.seen = seen
        self.latest = seen - self.paused_s
        return self.latest

    @property
    def lag(self) -> Lag:
        """How late the arena has been so far."""
        return self.load.lag(self.paused_s)

    def start(self) -> None:
        """Begin the heartbeat on the running loop."""
        self.seen = self._due = time.monotonic()
        self._beat = asyncio.get_running_loop().call_later(0, self._tick)

    def stop(self) -> None:
        """End the heartbeat."""
        if self._beat is not None:
            self._beat.cancel()
            self._beat = None
            self._due = float("inf")

    def _tick(self) -> None:
        self.now()
        self.load.beat(self.seen - self._due)
        for watcher in tuple(self.watchers):
            watcher()
        self._due = self.seen + BEAT_S
        self._beat = asyncio.get_running_loop().call_later(BEAT_S, self._tick)
