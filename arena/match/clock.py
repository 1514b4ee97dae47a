"""Thinking time as numbers: a limit that is free on each decision and a bank for the whole match.

All times are milliseconds and handed in; nobody reads a clock here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TimeControl:
    """The time of one match for each seat.  A `limit_ms` of 0 means that no clock runs."""

    limit_ms: int = 1000
    bank_ms: int = 10000

    @property
    def timed(self) -> bool:
        return self.limit_ms > 0


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
