"""Who is out from where on, as the log says: its last word on each participant holds."""

from __future__ import annotations

from arena.match.absence import NOBODY, START, Absences, Change, Exclusion, Place
from arena.match.summary import MatchKey


def entry(name: str, change: Change, epoch: int, position: int) -> Exclusion:
    return Exclusion(name, change, "because", Place(epoch, position))


def left_out(absences: Absences, *names: str, epoch: int = 0, last: int = 10) -> list[int]:
    """The positions of an epoch at which a match of these is left out."""
    key = MatchKey(epoch, names, 0, 0)
    return [position for position in range(last) if absences.leave_out(key, position)]


def test_from_its_place_on_all_matches_of_who_is_out_are_left_out_and_no_others() -> None:
    absences = Absences.of([entry("b", Change.QUARANTINED, 0, 6)])
    assert left_out(absences, "a", "b") == [6, 7, 8, 9]
    assert left_out(absences, "a", "c") == []
    assert left_out(absences, "a", "b", epoch=1) == list(range(10))
    assert absences.out.keys() == {"b"}


def test_who_is_included_from_the_same_place_on_has_never_been_out() -> None:
    absences = Absences.of([entry("b", Change.EXCLUDED, 0, 6), entry("b", Change.INCLUDED, 0, 6)])
    assert left_out(absences, "a", "b") == []
    assert not absences.out
    assert (absences.since("b"), absences.since("a")) == (Place(0, 6), START)


def test_who_is_included_from_a_later_epoch_on_stays_out_in_between() -> None:
    absences = Absences.of([entry("b", Change.QUARANTINED, 0, 6), entry("b", Change.INCLUDED, 1, 0)])
    assert left_out(absences, "a", "b") == [6, 7, 8, 9] == left_out(absences.over, "a", "b")
    assert left_out(absences, "a", "b", epoch=1) == []


def test_what_may_still_be_undone_is_not_over() -> None:
    absences = Absences.of([entry("b", Change.QUARANTINED, 0, 6)])
    assert left_out(absences.over, "a", "b") == []


def test_a_match_is_left_out_by_any_of_its_participants() -> None:
    log = [entry("b", Change.QUARANTINED, 0, 6), entry("c", Change.EXCLUDED, 0, 3), entry("b", Change.INCLUDED, 0, 6)]
    assert left_out(Absences.of(log), "a", "b", "c") == [3, 4, 5, 6, 7, 8, 9]
    assert left_out(NOBODY, "a", "b", "c") == []
