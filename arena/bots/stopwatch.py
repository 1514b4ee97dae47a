"""Time as bots are charged for it: monotonic seconds in which the arena's own pauses do not pass.

A paused arena (a stopped process, a garbage collection, a machine out of breath) is nobody's thinking time.
"""

from __future__ import annotations

import asyncio
import time

BEAT_S = 0.010
PAUSE_S = 0.030
"""A gap between two looks at the clock that is longer than this was a pause of the arena."""


class Stopwatch:
    """A clock that stands still while the arena does; a heartbeat looks at it while nothing else happens."""

    __slots__ = ("_beat", "_seen", "latest", "paused_s")

    def __init__(self) -> None:
        self._seen = time.monotonic()
        self._beat: asyncio.TimerHandle | None = None
        self.paused_s = 0.0
        """Seconds of pauses so far."""
        self.latest = self._seen
        """What `now` last returned: close enough where nothing is charged."""

    def now(self) -> float:
        """Seconds on this clock."""
        seen = time.monotonic()
        gap = seen - self._seen
        self._seen = seen
        if gap > PAUSE_S:
            self.paused_s += gap - BEAT_S
        self.latest = seen - self.paused_s
        return self.latest

    def start(self) -> None:
        """Begin the heartbeat on the running loop."""
        self._seen = time.monotonic()
        self._tick()

    def stop(self) -> None:
        """End the heartbeat."""
        if self._beat is not None:
            self._beat.cancel()
            self._beat = None

    def _tick(self) -> None:
        self.now()
        self._beat = asyncio.get_running_loop().call_later(BEAT_S, self._tick)
