"""Thinking time as numbers: a limit that is free on each decision and a bank for the whole match.

All times are milliseconds and handed in; nobody reads a clock here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class TimeControl:
    """The time of one match for each seat.  A `limit_ms` of 0 means that no clock runs."""

    limit_ms: int = 1000
    bank_ms: int = 10000

    @property
    def timed(self) -> bool:
        return self.limit_ms > 0


class Split(NamedTuple):
    """Where the time between a question and its answer went, in microseconds.

    `arena`, `queue` and `waited` are charged to nobody: with what the bot was charged they are the whole time from the
    referee's question to its answer.  `wire` is a part of what the bot was charged.
    """

    arena_us: int
    """Until the question was sent to a bot that was free, and whatever pauses the arena made."""
    queue_us: int
    """Asked, while the bot was charged for other decisions, or was not running."""
    waited_us: int
    """Sent, while the bot waited for a core."""
    wire_us: int
    """Charged, but by the bot's own word not thought: both ways through the sockets, and what its library does.

    0 where the bot does not say what it thought.
    """


UNSPLIT = Split(0, 0, 0, 0)


class Clock:
    """One seat's time in one match: what a decision may take and what the bank still holds."""

    __slots__ = ("_limit_ms", "bank_ms", "budget_ms", "last_took_ms")

    def __init__(self, control: TimeControl) -> None:
        timed = control.timed
        self._limit_ms = control.limit_ms if timed else float("inf")
        self.bank_ms: float = control.bank_ms
        self.budget_ms: float | None = control.limit_ms + control.bank_ms if timed else None
        """What the next decision may take: the limit and the rest of the bank; None where no clock runs."""
        self.last_took_ms: float = 0.0

    def charge(self, took_ms: float) -> bool:
        """Charge a decision; True if it was in time.  What exceeds the limit is drawn from the bank, never below 0."""
        self.last_took_ms = took_ms
        if took_ms <= self._limit_ms:
            return True
        over = took_ms - self._limit_ms
        in_time = over <= self.bank_ms
        self.bank_ms = max(0.0, self.bank_ms - over)
        self.budget_ms = self._limit_ms + self.bank_ms
        return in_time
