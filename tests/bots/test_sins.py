"""Each sin of a bot, committed by a real process: the right fault, the right cost, and nobody else pays."""

from __future__ import annotations

import pytest

from arena.match.clock import TimeControl
from arena.match.record import MatchRecord, Status
from arena.match.rulings import Fault, Loss
from tests.bots.conftest import Arena

QUICK = TimeControl(limit_ms=300, bank_ms=200)


def faults(record: MatchRecord) -> list[tuple[int, Fault, Loss]]:
    return [(fault.seat, fault.fault, fault.loss) for fault in record.faults]


def only_by_the_sinner(records: list[MatchRecord]) -> None:
    assert all(fault.seat == 0 for record in records for fault in record.faults)


def test_two_honest_bots_commit_no_fault(arena: Arena) -> None:
    records = arena.block("honest", matches=4)
    assert [record.status for record in records] == [Status.PLAYED] * 4
    assert not any(record.faults for record in records)


@pytest.mark.parametrize(
    ("sin", "fault", "evidence"),
    [
        ("illegal", Fault.ILLEGAL, "asked for one of"),
        ("unspecified", Fault.ILLEGAL, "answered unspecified"),
        ("unknown-number", Fault.ILLEGAL, "answered unknown action number 9999"),
        ("error", Fault.ERROR, "Traceback: I cannot go on"),
        ("garbage", Fault.MALFORMED, "malformed"),
    ],
)
def test_a_bad_answer_loses_one_deal(arena: Arena, sin: str, fault: Fault, evidence: str) -> None:
    records = arena.block(sin)
    sinned = [record for record in records if record.faults]
    assert [faults(record) for record in sinned] == [[(0, fault, Loss.DEAL)]]
    (record,) = sinned
    assert record.deals[record.faults[0].deal - 1].points[0] == 0
    assert record.deals[record.faults[0].deal - 1].points[1] >= 2
    assert evidence in record.testimony.evidence[0]
    assert all(record.status is Status.PLAYED for record in records)


@pytest.mark.parametrize("sin", ["twice", "foreign", "first-again 9", "empty", "chatter", "grandchild"])
def test_what_answers_nothing_is_dropped_and_costs_nothing(arena: Arena, sin: str) -> None:
    records = arena.block(sin)
    assert not any(record.faults for record in records)


def test_a_late_answer_loses_the_deal_and_is_dropped(arena: Arena) -> None:
    records = arena.block("late", matches=1, time=QUICK)
    assert faults(records[0]) == [(0, Fault.LATE, Loss.DEAL)]
    assert records[0].status is Status.PLAYED


def test_an_answer_just_in_time_is_played(arena: Arena) -> None:
    records = arena.block("slow", matches=1, time=TimeControl(limit_ms=300, bank_ms=600))
    assert faults(records[0]) == []
    assert max(records[0].testimony.took_us[0]) > 500_000


def test_a_bot_that_never_answers_again_loses_the_match(arena: Arena) -> None:
    records = arena.block("always-silent", matches=1, time=QUICK)
    assert records[0].status is Status.FORFEIT
    assert records[0].forfeited_by == 0
    assert {fault for _, fault, _ in faults(records[0])} <= {Fault.LATE, Fault.HUNG}


@pytest.mark.parametrize(
    ("sin", "evidence"),
    [
        ("leave", "status 0; it wrote last: I am leaving"),
        ("crash", "status 17; it wrote last: something broke"),
        ("kill", "signal 9"),
    ],
)
def test_a_death_loses_the_deals_that_wait_for_an_answer_and_the_bot_comes_back(
    arena: Arena, sin: str, evidence: str
) -> None:
    records = arena.block(sin, matches=4)
    only_by_the_sinner(records)
    all_faults = [fault for record in records for fault in faults(record)]
    assert all_faults
    assert {fault for _, fault, _ in all_faults} == {Fault.DIED}
    assert evidence in next(record for record in records if record.faults).testimony.evidence[0]


def test_the_third_death_forfeits_the_remaining_matches(arena: Arena) -> None:
    records = arena.block("crash 30", matches=12)  # else three lost deals end every match before the third death
    only_by_the_sinner(records)
    assert any(record.status is Status.FORFEIT and record.forfeited_by == 0 for record in records)
    assert any("3rd time" in text for record in records for text in record.testimony.evidence)


def test_a_closed_stream_is_no_death_but_loses_the_deal(arena: Arena) -> None:
    records = arena.block("close", matches=1)
    assert (0, Fault.STREAM_BROKEN, Loss.DEAL) in faults(records[0])


def test_a_stream_that_the_bot_cancels_is_broken_in_its_own_words(arena: Arena) -> None:
    records = arena.block("once-abort", matches=1)
    assert faults(records[0]) == [(0, Fault.STREAM_BROKEN, Loss.DEAL)]
    assert "I do not like it here" in records[0].testimony.evidence[0]


@pytest.mark.parametrize("sin", ["huge", "hundred-megabytes", "bomb", "flood"])
def test_a_flood_ends_the_stream(arena: Arena, sin: str) -> None:
    records = arena.block(f"once-{sin}", matches=1, time=TimeControl(limit_ms=10_000, bank_ms=0))
    assert faults(records[0]) == [(0, Fault.FLOOD, Loss.DEAL)]


@pytest.mark.parametrize(
    ("sin", "fault", "evidence"),
    [
        ("not-starting", Fault.NOT_STARTED, "status 3 before it answered; it wrote last: no such model file"),
        ("other-version", Fault.REFUSED, "it speaks protocol 2.0, the arena speaks 1.0"),
        ("refuse", Fault.REFUSED, "only on Sundays"),
        ("silent-describe", Fault.NOT_STARTED, "did not answer Describe within 2 s"),
        ("slow-start 20", Fault.NOT_STARTED, "did not answer Describe within 2 s"),
        ("no-http", Fault.NOT_STARTED, "did not answer Describe within 2 s"),
    ],
)
def test_who_does_not_start_loses_by_walkover(arena: Arena, sin: str, fault: Fault, evidence: str) -> None:
    records = arena.block(sin, start_s=2.0)
    assert [record.status for record in records] == [Status.WALKOVER] * 2
    assert [faults(record) for record in records] == [[(0, fault, Loss.MATCH)]] * 2
    assert evidence in records[0].testimony.evidence[0]
    assert records[0].points == (0, 7)


def test_a_slow_start_costs_nothing_where_it_is_granted(arena: Arena) -> None:
    records = arena.block("slow-start 1", matches=1, start_s=10.0)
    assert not records[0].faults


@pytest.mark.parametrize("sin", ["last-first", "in-one-message"])
def test_answers_may_come_in_any_order_and_together(arena: Arena, sin: str) -> None:
    records = arena.block(sin, matches=8)
    assert not any(record.faults for record in records)
    honest = arena.block("honest", matches=8)
    assert records == honest


@pytest.mark.parametrize("sin", ["heartbeat", "freeze"])
def test_signs_of_life_or_none_are_no_answer(arena: Arena, sin: str) -> None:
    records = arena.block(sin, matches=1, time=QUICK)
    only_by_the_sinner(records)
    assert faults(records[0])[0] == (0, Fault.LATE, Loss.DEAL)
    assert {fault for _, fault, _ in faults(records[0])} <= {Fault.LATE, Fault.HUNG}


def test_a_bot_that_answers_too_late_again_and_again_is_not_hung(arena: Arena) -> None:
    records = arena.block("overtime 1", matches=3, time=TimeControl(limit_ms=800, bank_ms=0))
    late = [(0, Fault.LATE, Loss.DEAL)]
    assert [faults(record) for record in records] == [late, late, []]


def test_a_death_charges_no_decision_that_the_bot_was_never_sent(arena: Arena) -> None:
    # While it thinks about the fourth match, the next decision of the third one waits in the arena.
    records = arena.block("once-think-and-crash 4", matches=4)
    assert faults(records[3]) == [(0, Fault.DIED, Loss.DEAL)]
    assert faults(records[2]) == []


def test_the_time_before_a_death_is_charged_once(arena: Arena) -> None:
    records = arena.block("once-think-and-crash 1", matches=4)
    assert [faults(record) for record in records] == [[(0, Fault.DIED, Loss.DEAL)]] * 4
    spent_us = [record.testimony.took_us[0][0] for record in records]
    assert max(spent_us) >= 400_000
    assert sum(spent_us) < 1.5 * max(spent_us)


def test_a_bot_that_dies_right_after_its_answer_is_charged_once_a_match_at_most(arena: Arena) -> None:
    records = arena.block("once-answer-and-leave 2", matches=3)
    for record in records:
        assert faults(record) in ([], [(0, Fault.DIED, Loss.DEAL)])


@pytest.mark.parametrize(("sin", "kept"), [("wordy-crash", "and this is why"), ("long-error", "it began so")])
def test_what_a_bot_says_of_its_fault_is_kept_in_part_only(arena: Arena, sin: str, kept: str) -> None:
    records = arena.block(f"once-{sin}", matches=1)
    (evidence,) = records[0].testimony.evidence
    assert kept in evidence
    assert len(evidence) < 5000


@pytest.mark.parametrize("sin", ["once-crash", "once-close", "once-abort"])
def test_without_a_clock_a_lost_bot_is_noticed_all_the_same(arena: Arena, sin: str) -> None:
    records = arena.block(sin, time=TimeControl(limit_ms=0))
    assert all(record.status is Status.PLAYED for record in records)
    assert any(record.faults for record in records)
    only_by_the_sinner(records)


def test_a_bot_that_ignores_sigterm_is_ended_all_the_same(arena: Arena) -> None:
    records = arena.block("ignore-term")
    assert not any(record.faults for record in records)
