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

    __slots__ = ("bank_ms", "control", "last_took_ms")

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self.bank_ms: float = control.bank_ms
        self.last_took_ms: float = 0.0

    @property
    def budget_ms(self) -> float | None:
        """What the next decision may take: the limit and the rest of the bank; None where no clock runs."""
        return self.control.limit_ms + self.bank_ms if self.control.timed else None

    def charge(self, took_ms: float) -> bool:
        """Charge a decision; True if it was in time.  What exceeds the limit is drawn from the bank, never below 0."""
        self.last_took_ms = took_ms
        over = took_ms - self.control.limit_ms
        if not self.control.timed or over <= 0:
            return True
        in_time = over <= self.bank_ms
        self.bank_ms = max(0.0, self.bank_ms - over)
        return in_time
