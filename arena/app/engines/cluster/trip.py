"""What the arena and the process that speaks with Ray say to each other, beside the orders that every worker gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.app.engines.cluster.node import Luggage
from arena.bots.manifest import BotSpec
from arena.bots.parcel import Parcel
from arena.reports.counting import counted

AUTO = "auto"
"""The address of whatever cluster this machine is part of."""
NODES_SHOWN = 4
"""Of a large cluster, in a sentence."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a block needs, or what a node has."""

    cores: int
    memory: int
    """Bytes."""

    @classmethod
    def of(cls, specs: Iterable[BotSpec]) -> Need:
        """Of a block with these bots, one for each seat; the arena's own part needs a core where no bot does."""
        local = [spec for spec in specs if spec.address is None]
        return cls(
            cores=max(1, sum(spec.cores for spec in local)),
            memory=sum(spec.memory_mb or 0 for spec in local) * 1_000_000,
        )

    def fits(self, has: Need) -> bool:
        """Whether a node that has so much can play it."""
        return self.cores <= has.cores and self.memory <= has.memory

    def options(self) -> dict[str, Any]:
        """As Ray is asked for it."""
        return {"num_cpus": self.cores, "memory": self.memory or None}

    def __str__(self) -> str:
        memory = f" and {self.memory // 1_000_000:,} MB of memory" if self.memory else ""
        return counted(self.cores, "core") + memory


@dataclass(frozen=True, slots=True)
class Trip:
    """The first message: where to, and with what."""

    address: str
    luggage: Luggage
    """Without parcels: these become objects of Ray's."""
    parcels: Mapping[str, Parcel]
    """By name of a bot."""
    logs: Path
    """Where the arena keeps what bots print."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The first order: connect, and say what the cluster has, a `Machine` for each node that plays."""

    number: int


@dataclass(frozen=True, slots=True)
class TryOut:
    """An order to start bots once on every node; brings one `TriedOut`."""

    number: int
    names: Sequence[str]
    seats: int


@dataclass(frozen=True, slots=True)
class Machine:
    """A node that can play."""

    id: str
    address: str
    has: Need


def unheld(seats: Sequence[str], need: Need, machines: Sequence[Machine]) -> str:
    """What is wrong where none of these nodes can hold a block."""
    has = ", ".join(f"{each.address} has {each.has}" for each in machines[:NODES_SHOWN])
    more = len(machines) - NODES_SHOWN
    has += f", and {counted(more, 'more node')} too little, too" if more > 0 else ""
    return (
        f"no node can hold a match of {' - '.join(seats)}: it needs {need}, and {has or 'there is no node with a core'}"
    )
