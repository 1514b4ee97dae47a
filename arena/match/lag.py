"""How late the arena itself was, as numbers: what a run's times are worth can be judged by them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from arena.match.summary import Histogram


@dataclass(frozen=True, slots=True)
class Lag:
    """How late the arena's heartbeat came, and what bots had to wait, in one or more sessions; sessions are added."""

    beats: Histogram
    """By how much each beat was late."""
    max_us: int = 0
    """The latest beat of all."""
    paused_us: int = 0
    """Time that passed for nobody, because the arena did not get to look at its clock."""
    busy_us: int = 0
    """Work of bots that was looked at (those that take more than a few milliseconds), waiting included ..."""
    waited_us: int = 0
    """... and how much of it they waited for a core."""

    def __add__(self, other: Lag) -> Lag:
        return Lag(
            beats=self.beats + other.beats,
            max_us=max(self.max_us, other.max_us),
            paused_us=self.paused_us + other.paused_us,
            busy_us=self.busy_us + other.busy_us,
            waited_us=self.waited_us + other.waited_us,
        )

    @property
    def median_ms(self) -> float | None:
        """None before the first beat."""
        return self.beats.quantile_ms(0.5)

    @property
    def p99_ms(self) -> float | None:
        """None before the first beat."""
        return self.beats.quantile_ms(0.99)

    @property
    def max_ms(self) -> float:
        return self.max_us / 1000

    @property
    def paused_s(self) -> float:
        return self.paused_us / 1e6

    @property
    def waiting(self) -> float | None:
        """The part of their time that bots waited for a core, 0 to 1; None where no work was looked at."""
        return self.waited_us / self.busy_us if self.busy_us else None

    @property
    def figures(self) -> dict[str, float | None]:
        """What reports say of it, by name."""
        return {
            "median_ms": self.median_ms,
            "p99_ms": self.p99_ms,
            "max_ms": self.max_ms,
            "paused_s": self.paused_s,
            "waiting": self.waiting,
        }

    def to_json(self) -> dict[str, Any]:
        """Plain values for the store."""
        return {**asdict(self), "beats": self.beats.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Lag:
        """The inverse of `to_json`."""
        return cls(**{**data, "beats": Histogram.from_json(data["beats"])})
