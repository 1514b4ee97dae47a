"""Thinking time as numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.match.clock import Clock, TimeControl


def test_time_within_the_limit_is_free() -> None:
    clock = Clock(TimeControl(limit_ms=1000, bank_ms=500))
    assert clock.charge(1000.0)
    assert clock.bank_ms == 500
    assert clock.budget_ms == 1500


def test_time_beyond_the_limit_is_drawn_from_the_bank_and_never_refilled() -> None:
    clock = Clock(TimeControl(limit_ms=1000, bank_ms=500))
    assert clock.charge(1200.0)
    assert clock.bank_ms == 300
    assert clock.charge(10.0)
    assert clock.budget_ms == 1300


@pytest.mark.parametrize(("took", "in_time"), [(1500.0, True), (1500.1, False), (99_000.0, False)])
def test_a_decision_is_late_once_limit_and_bank_are_spent(took: float, in_time: bool) -> None:
    clock = Clock(TimeControl(limit_ms=1000, bank_ms=500))
    assert clock.charge(took) is in_time
    assert clock.bank_ms == 0


def test_without_a_limit_no_clock_runs() -> None:
    clock = Clock(TimeControl(limit_ms=0, bank_ms=500))
    assert clock.budget_ms is None
    assert clock.charge(1e9)
    assert clock.bank_ms == 500
    assert clock.last_took_ms == 1e9


@given(st.lists(st.floats(0, 3000), max_size=30))
def test_the_budget_never_grows_and_is_never_below_the_limit(times: list[float]) -> None:
    clock = Clock(TimeControl(limit_ms=1000, bank_ms=2000))
    before = clock.budget_ms
    for took in times:
        clock.charge(took)
        assert before is not None and clock.budget_ms is not None
        assert 1000 <= clock.budget_ms <= before
        before = clock.budget_ms
