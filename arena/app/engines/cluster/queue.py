"""Blocks that Ray has not begun yet: whoever waits for a node that is not there is said once, until there is one.

Waiting for nodes that are busy is no news.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from arena.app.engines.cluster.trip import Machine, Need, unheld

WAIT_S = 10.0
"""How long a block waits before it is asked what for."""


@dataclass(frozen=True, slots=True)
class Queued:
    """A block that Ray has been given."""

    seats: tuple[str, ...]
    need: Need
    since: float = field(default_factory=time.monotonic)


class Queue:
    """What waits at Ray, by the number of its order."""

    def __init__(self) -> None:
        self._waiting: dict[int, Queued] = {}
        self._said: set[Need] = set()

    def join(self, number: int, block: Queued) -> None:
        """Ray has been given a block."""
        self._waiting[number] = block

    def leave(self, number: int) -> None:
        """It has begun, or never will."""
        self._waiting.pop(number, None)

    def overdue(self) -> list[Queued]:
        """Those that have waited for a while."""
        now = time.monotonic()
        return [each for each in self._waiting.values() if now - each.since >= WAIT_S]

    def complaints(self, overdue: Sequence[Queued], machines: Sequence[Machine], address: str) -> Iterator[str]:
        """A sentence for what no node can hold, where none was said yet; nodes join the cluster at this address."""
        self._said = {need for need in self._said if not any(need.fits(machine.has) for machine in machines)}
        for block in overdue:
            if block.need not in self._said and not any(block.need.fits(machine.has) for machine in machines):
                self._said.add(block.need)
                yield (
                    f"{unheld(block.seats, block.need, machines)}; start a node that can, which all such matches wait "
                    f"for (ray start --address {address}), or stop by Ctrl-C twice and go on elsewhere by --resume"
                )
