"""What millions of scheduled matches may take: memory for a block at a time, and a byte for each that is stored."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from itertools import islice

import pytest

from arena.match.absence import NOBODY
from arena.store import StoredPlaces
from arena.tournament.runner import Task, open_tasks
from arena.tournament.schedule import Schedule

A_FEW_BLOCKS = 400_000
"""Bytes, with what Python holds free: an object for each match would take more."""


def walk(schedule: Schedule, stored: StoredPlaces) -> Iterator[Task]:
    return open_tasks(schedule.blocks(), stored, NOBODY.leave_out)


def peak(bots: int, pairs: int, *, half_played: bool = False) -> tuple[int, int]:
    """The most bytes that planning and walking a round robin takes at a time, and its matches."""
    tracemalloc.start()
    schedule = Schedule(tuple(f"b{number:03}" for number in range(bots)), pairs)
    played = islice(schedule.blocks(), schedule.block_count // 2 if half_played else 0)
    stored = StoredPlaces((block.epoch, position) for block in played for position in block.positions)
    left = sum(len(task.keys) for task in walk(schedule, stored))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert left == schedule.match_count - len(stored)
    return most, schedule.match_count


@pytest.mark.parametrize(("bots", "pairs"), [(4, 5000), (16, 250), (64, 15)])
def test_a_schedule_takes_no_memory_for_its_matches(bots: int, pairs: int) -> None:
    most, matches = peak(bots, pairs)
    assert most < A_FEW_BLOCKS < 10 * matches


def test_what_was_played_takes_a_byte_a_match(bots: int = 16, pairs: int = 400) -> None:
    most, matches = peak(bots, pairs, half_played=True)
    assert most < A_FEW_BLOCKS + 1.25 * matches / 2


def test_the_first_task_is_made_before_the_schedule_is() -> None:
    names = tuple(f"b{number:03}" for number in range(200))
    schedule = Schedule(names, 1_000_000)
    assert schedule.match_count == 39_800_000_000
    assert len(next(walk(schedule, StoredPlaces())).keys) == 32
