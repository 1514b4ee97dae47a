"""What an epoch's stored config plans: the one place that reads it, for playing and for showing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from arena.game.rules import Rules
from arena.game.table import Table
from arena.match.absence import Absences
from arena.store.values import Epoch
from arena.tournament.pairings import Format, Pairing
from arena.tournament.schedule import Block, Schedule


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
                missed=_lists(epoch.config["missed"]),
                remainder=_lists(epoch.config.get("remainder", ())),  # what an earlier version stored lacks it
            )
        )
    return tuple(schedules)


def _lists(stored: Iterable[tuple[Sequence[str], int]]) -> dict[Pairing, int]:
    return {tuple(pairing): lists for pairing, lists in stored}


def blocks_of(schedules: Iterable[Schedule]) -> Iterator[Block]:
    """All blocks of all epochs, in their order."""
    for schedule in schedules:
        yield from schedule.blocks()


def planned(schedule: Schedule, absences: Absences) -> Iterator[int]:
    """The positions of an epoch that are to be played, ascending: all but those that are left out."""
    for block in schedule.blocks():
        if absences.spans.keys().isdisjoint(block.pairing):
            yield from block.positions
        else:
            yield from (position for position, key in iter(block.keys()) if not absences.leave_out(key, position))


def left_out(schedules: Iterable[Schedule], absences: Absences) -> int:
    """How many matches are not to be played."""
    if not absences.spans:
        return 0
    return sum(
        absences.leave_out(key, position) for block in blocks_of(schedules) for position, key in iter(block.keys())
    )


def matches_of_those_out(schedules: Iterable[Schedule], absences: Absences) -> dict[str, int]:
    """How many matches are scheduled for each participant that is out, but for what it missed for good earlier."""
    scheduled = Counter(dict.fromkeys(absences.out, 0))
    over = absences.over
    for block in blocks_of(schedules) if scheduled else ():
        out = scheduled.keys() & block.pairing
        if out:
            matches = sum(not over.leave_out(key, position) for position, key in iter(block.keys()))
            scheduled.update(dict.fromkeys(out, matches))
    return dict(scheduled)


def missed_lists(schedules: Iterable[Schedule], absences: Absences) -> dict[Pairing, int]:
    """How many lists each pairing has missed for good while one of them was out, and has yet to play elsewhere.

    Their decks are known by now, so a new epoch deals others.  A pairing of which somebody is out still waits.
    """
    missed: Counter[Pairing] = Counter()
    over = absences.over
    if not any(over.spans.values()):
        return {}
    for schedule in schedules:
        lists = {
            (key.pairing, key.number)
            for block in schedule.blocks()
            for position, key in iter(block.keys())
            if over.leave_out(key, position)
        }
        missed.update(pairing for pairing, _ in lists)
        missed.subtract(schedule.missed)
    return {
        pairing: count
        for pairing, count in sorted(missed.items())
        if count > 0 and absences.out.keys().isdisjoint(pairing)
    }


def schedule_of(
    identity: Mapping[str, Any],
    names: tuple[str, ...],
    untrusted: frozenset[str],
    previous: Schedule | None,
    missed: Mapping[Pairing, int],
    remainder: Mapping[Pairing, int],
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
        missed=missed,
        remainder=remainder,
    )
