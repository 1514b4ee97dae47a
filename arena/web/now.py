"""A block that is being played, as spectators see it: who, which lists, since when, and how far; never a card."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from arena.reports.foreign import isolated, printable

if TYPE_CHECKING:
    from arena.tournament.runner import UnderWay


@dataclass(frozen=True, slots=True)
class OnNow:
    """A block under way."""

    pairing: tuple[str, ...]
    leg: int
    first: int
    """Its first list."""
    lists: int
    """How many it has; each is a match."""
    played: int
    """How many of them are played."""
    since: float | None
    """Seconds since 1970; None where nobody says."""

    @classmethod
    def of(cls, under_way: UnderWay) -> OnNow:
        """What the arena tells of it."""
        block, left = under_way.task.block, len(under_way.task.keys) - under_way.recorded
        lists = len(block.numbers)
        return cls(block.pairing, block.leg, block.numbers.start, lists, lists - left, under_way.since)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> OnNow:
        """The inverse of `to_json`."""
        return cls(**{**data, "pairing": tuple(data["pairing"])})

    def __str__(self) -> str:
        lists = f"list {self.first}" if self.lists == 1 else f"lists {self.first} to {self.first + self.lists - 1}"
        since = "" if self.since is None else f", since {time.strftime('%H:%M:%S', time.gmtime(self.since))} UTC"
        names = isolated(printable(" - ".join(self.pairing)))
        return f"{names}, leg {self.leg}, {lists}: {self.played} of {self.lists} played{since}"
