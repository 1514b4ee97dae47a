"""Who is quarantined, and from where on: by the matches in schedule order, whoever finished them first."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pytest

from arena.match.absence import NOBODY, Absences, Change, Exclusion, Place
from arena.match.summary import MatchKey
from arena.tournament.quarantine import Quarantine
from arena.tournament.schedule import Block, Schedule

TWO = Schedule(("a", "b"), pairs=40, block=4)
THREE = Schedule(("a", "b", "c"), pairs=12, block=2)
Forfeits = Callable[[int, MatchKey], Iterable[str] | None]


def judged(
    forfeits: Forfeits,
    schedule: Schedule = TWO,
    absences: Absences = NOBODY,
    *,
    order: random.Random | None = None,
    without: Sequence[int] = (),
) -> list[Exclusion]:
    """What is found when these matches finish, in schedule order or any other; some do not finish at all."""
    matches = [item for block in schedule.blocks() for item in iter(block.keys()) if item[0] not in without]
    if order is not None:
        order.shuffle(matches)
    quarantine = Quarantine(schedule.blocks(), absences)
    found: list[Exclusion] = []
    for position, key in matches:
        names = forfeits(position, key)
        quarantine.add(key, None if names is None else frozenset(names))
        found += quarantine.judge()
    assert quarantine.absences.log == (*absences.log, *found)
    return found


def at(*positions: int, name: str = "b") -> Forfeits:
    return lambda position, key: [name] if position in positions else []


def quarantined(name: str, position: int, reason: str) -> Exclusion:
    return Exclusion(name, Change.QUARANTINED, reason, Place(0, position))


IN_A_ROW = "3 matches forfeited in a row"


def test_three_forfeited_in_a_row_are_too_many_from_the_end_of_their_block_on() -> None:
    assert judged(at(0, 1, 2)) == [quarantined("b", 4, IN_A_ROW)]
    assert judged(at(2, 3, 4)) == [quarantined("b", 8, IN_A_ROW)]


def test_three_that_are_not_in_a_row_are_not() -> None:
    assert judged(at(20, 21, 23)) == []


@pytest.mark.parametrize(("positions", "found"), [((0, 5), "2 of 10 matches forfeited"), ((0, 11), None)])
def test_a_fifth_of_ten_is_too_much(positions: Sequence[int], found: str | None) -> None:
    assert [entry.reason for entry in judged(at(*positions))] == ([found] if found else [])


def test_a_fifth_later_on_is_too_much_as_well() -> None:
    assert judged(at(10, 12, 15, 17)) == [quarantined("b", 20, "4 of 18 matches forfeited")]


def test_nobody_is_judged_by_a_fifth_of_less_than_ten() -> None:
    short = Schedule(("a", "b"), pairs=4, block=4)
    assert judged(at(0, 2, 4, 6), short) == []


def test_void_matches_are_neither_forfeited_nor_between_those_that_are() -> None:
    def forfeits(position: int, key: MatchKey) -> Iterable[str] | None:
        return None if position in (1, 2) else ["b"] if position in (0, 3, 4) else []

    assert judged(forfeits) == [quarantined("b", 8, IN_A_ROW)]


def _always(name: str) -> Forfeits:
    return lambda position, key: [name] if name in key.pairing else []


def test_what_is_left_out_by_one_bot_is_no_merit_and_no_fault_of_the_other() -> None:
    (entry,) = judged(_always("c"), THREE)
    blocks = [block for block in THREE.blocks() if "c" in block.pairing]
    assert entry == quarantined("c", blocks[1].first + 2, IN_A_ROW)

    def both(position: int, key: MatchKey) -> Iterable[str]:
        return ["c"] if "c" in key.pairing and position < entry.place.position else _of_a_against_c(key)

    assert judged(both, THREE) == [entry]  # what a forfeited against c since does not count


def _of_a_against_c(key: MatchKey) -> Iterable[str]:
    return ["a"] if key.pairing == ("a", "c") else []


@pytest.mark.parametrize("seed", range(20))
def test_the_order_in_which_matches_finish_is_of_no_matter(seed: int) -> None:
    chance = random.Random(seed)
    share = chance.choice([0.05, 0.1, 0.2, 0.5])

    def forfeits(position: int, key: MatchKey) -> Iterable[str] | None:
        luck = random.Random(f"{seed} {position}")
        if luck.random() < 0.05:
            return None
        return [name for name in key.pairing if name != "a" and luck.random() < share]

    assert judged(forfeits, THREE, order=chance) == judged(forfeits, THREE)


def test_nothing_beyond_a_match_that_is_still_to_be_finished_is_judged() -> None:
    assert judged(at(4, 5, 6), without=[1]) == []
    assert judged(at(4, 5, 6), without=[8]) == [quarantined("b", 8, IN_A_ROW)]


def test_a_match_that_is_left_out_is_not_waited_for() -> None:
    out = Absences.of([Exclusion("c", Change.EXCLUDED, "", Place(0, 0))])
    missing = [position for block in THREE.blocks() if "c" in block.pairing for position, _ in iter(block.keys())]
    (entry,) = judged(_always("b"), THREE, out, without=missing)
    assert (entry.participant, entry.reason) == ("b", IN_A_ROW)


def test_what_a_bot_did_before_it_was_included_again_is_forgiven() -> None:
    first = quarantined("b", 4, IN_A_ROW)
    log = Absences.of([first, replace(first, change=Change.INCLUDED)])
    assert judged(at(0, 1, 2, 3), absences=log) == []
    assert judged(at(0, 1, 2, 3, 6, 7, 8), absences=log) == [quarantined("b", 12, IN_A_ROW)]


def test_of_partners_only_the_one_at_fault_is_judged() -> None:
    tables = [
        Block(number, number * 3, 0, ("a", "b", "c", "d"), number, range(3), ("a", "c", "b", "d"), True)
        for number in range(4)
    ]
    quarantine = Quarantine(tables, NOBODY)
    for block in tables:
        for _, key in iter(block.keys()):
            quarantine.add(key, frozenset("d"))
    assert quarantine.judge() == [quarantined("d", 3, IN_A_ROW)]
