"""The ruling table, a row a test."""

from __future__ import annotations

import pytest

from arena.match.rulings import RULINGS, Fault, Loss, loss_of

# What the first, second, third and fourth fault of a kind in a match loses.
DEAL, MATCH = Loss.DEAL, Loss.MATCH
EXPECTED = {
    Fault.ILLEGAL: [DEAL, DEAL, DEAL, DEAL],
    Fault.MALFORMED: [DEAL, DEAL, DEAL, DEAL],
    Fault.ERROR: [DEAL, DEAL, DEAL, DEAL],
    Fault.LATE: [DEAL, DEAL, MATCH, MATCH],
    Fault.HUNG: [DEAL, DEAL, MATCH, MATCH],
    Fault.DIED: [DEAL, DEAL, DEAL, DEAL],
    Fault.STREAM_BROKEN: [DEAL, DEAL, DEAL, DEAL],
    Fault.FLOOD: [DEAL, DEAL, DEAL, DEAL],
    Fault.NOT_STARTED: [MATCH, MATCH, MATCH, MATCH],
    Fault.REFUSED: [MATCH, MATCH, MATCH, MATCH],
}


def test_every_fault_has_a_ruling() -> None:
    assert set(RULINGS) == set(Fault) == set(EXPECTED)


@pytest.mark.parametrize("fault", list(Fault), ids=lambda fault: fault.label)
def test_the_ruling_of(fault: Fault) -> None:
    assert [loss_of(fault, {fault: earlier}) for earlier in range(4)] == EXPECTED[fault]


def test_late_and_hung_share_one_count() -> None:
    assert loss_of(Fault.HUNG, {Fault.LATE: 2}) is Loss.MATCH
    assert loss_of(Fault.LATE, {Fault.LATE: 1, Fault.HUNG: 1}) is Loss.MATCH
    assert loss_of(Fault.LATE, {Fault.ILLEGAL: 9}) is Loss.DEAL
