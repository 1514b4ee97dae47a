"""What an epoch's stored config plans: the one place that reads it, for playing and for showing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.game.rules import Rules
from arena.game.table import Table
from arena.store.values import Epoch
from arena.tournament.pairings import Format
from arena.tournament.schedule import Schedule


def schedules_of(epochs: Sequence[Epoch]) -> tuple[Schedule, ...]:
    """The schedule of each epoch, in their order; a later one adds what the earlier ones lack."""
    schedules: list[Schedule] = []
    for epoch in epochs:
        schedules.append(
            schedule_of(
                epoch.config["identity"],
                epoch.participants,
                frozenset(epoch.config["untrusted"]),
                previous=schedules[-1] if schedules else None,
            )
        )
    return tuple(schedules)


def schedule_of(
    identity: Mapping[str, Any], names: tuple[str, ...], untrusted: frozenset[str], previous: Schedule | None
) -> Schedule:
    """The schedule that the identity of a config (`TournamentConfig.identity`) asks for, between these participants."""
    table = Table.of(Rules().with_options(identity["rules"]))
    return Schedule(
        participants=names,
        pairs=identity["pairs"],
        format=Format(identity["format"]),
        champions=frozenset(identity["champions"]),
        block=identity["block"],
        sides=table.sides,
        seats=table.seats,
        untrusted=untrusted,
        previous=previous,
    )
