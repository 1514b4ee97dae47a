"""How busy the machine is, as the arena sees it: how late its own beats come, and how long bots wait for a core."""

from __future__ import annotations

from collections import Counter

from arena.match.lag import Lag
from arena.match.summary import Histogram, bucket_of

LATE_S = 0.020
"""The machine is overloaded when beats come as late as this on average ..."""
WAITING = 0.5
"""... or when bots wait for a core for as much of their time: there are twice as many at work as there are cores."""
CALM = 0.5
"""It is calm again once both are down to this part of it."""
AVERAGED = 100
"""Averages are over about so many beats: a second of them."""
WORST_S = 0.100
"""What a single beat can be late in its average: one long pause is no overload."""
LEAST_S = 0.2
"""Bots must have been at work for so long in that second, or their waiting tells nothing."""


class Load:
    """Counts over a session, and judges the last second of it."""

    __slots__ = (
        "_busy_s",
        "_late_s",
        "_lates",
        "_max_s",
        "_recent_busy_s",
        "_recent_waited_s",
        "_waited_s",
        "overloaded",
    )

    def __init__(self) -> None:
        self.overloaded = False
        self._lates: Counter[int] = Counter()
        self._max_s = 0.0
        self._late_s = 0.0
        self._busy_s = self._waited_s = 0.0
        self._recent_busy_s = self._recent_waited_s = 0.0

    def beat(self, late_s: float) -> None:
        """A beat has come, so late."""
        self._lates[bucket_of(round(late_s * 1e6))] += 1
        self._max_s = max(self._max_s, late_s)
        self._late_s += (min(late_s, WORST_S) - self._late_s) / AVERAGED
        self._recent_busy_s -= self._recent_busy_s / AVERAGED
        self._recent_waited_s -= self._recent_waited_s / AVERAGED
        bound = CALM if self.overloaded else 1.0
        self.overloaded = self._late_s > bound * LATE_S or self._waiting > bound * WAITING

    def worked(self, busy_s: float, waited_s: float) -> None:
        """A bot was at work for so long, and for so much of it it waited for a core."""
        self._busy_s += busy_s
        self._waited_s += waited_s
        self._recent_busy_s += busy_s
        self._recent_waited_s += waited_s

    @property
    def _waiting(self) -> float:
        """The part of their time that bots waited in the last second."""
        return self._recent_waited_s / self._recent_busy_s if self._recent_busy_s > LEAST_S else 0.0

    def lag(self, paused_s: float) -> Lag:
        """All of it as a value, with the pauses of the stopwatch."""
        return Lag(
            beats=Histogram(dict(self._lates)),
            max_us=round(self._max_s * 1e6),
            paused_us=round(paused_s * 1e6),
            busy_us=round(self._busy_s * 1e6),
            waited_us=round(self._waited_s * 1e6),
        )
