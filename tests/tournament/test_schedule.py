"""The schedule: complete, each match once, balanced at any moment, and never in memory as a whole."""

from __future__ import annotations

import tracemalloc
from collections import Counter, deque
from dataclasses import replace
from itertools import chain, combinations, islice
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import UsageError
from arena.match.summary import MatchKey
from arena.tournament.pairings import MAX_DRAWN, Format, Pairing
from arena.tournament.schedule import Block, Schedule, seating


def keys(schedule: Schedule) -> list[MatchKey]:
    return [key for _, key in chain.from_iterable(map(Block.keys, schedule.blocks()))]


def indexes(schedule: Schedule) -> list[int]:
    return [index for index, _ in chain.from_iterable(map(Block.keys, schedule.blocks()))]


def field(size: int) -> tuple[str, ...]:
    return tuple(f"bot-{index}" for index in range(size))


TWO = [Format.ROUND_ROBIN, Format.GAUNTLET]


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    participants = field(draw(st.integers(2, 9)))
    champions: frozenset[str] = frozenset()
    format = draw(st.sampled_from(TWO))
    if format is Format.GAUNTLET:
        champions = draw(st.frozensets(st.sampled_from(participants), min_size=1, max_size=len(participants) - 1))
    return Schedule(
        participants=tuple(draw(st.permutations(participants))),
        pairs=draw(st.integers(1, 20)),
        format=format,
        champions=champions,
        block=draw(st.integers(1, 8)),
        untrusted=draw(st.frozensets(st.sampled_from(participants))),
    )


# --- completeness -------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(schedules())
def test_every_pairing_plays_every_list_in_both_seatings_once(schedule: Schedule) -> None:
    pairings = {
        pairing
        for pairing in combinations(sorted(schedule.participants), 2)
        if schedule.format is Format.ROUND_ROBIN or len(schedule.champions.intersection(pairing)) == 1
    }
    expected = {
        MatchKey(0, pairing, leg, number) for pairing in pairings for leg in (0, 1) for number in range(schedule.pairs)
    }
    planned = keys(schedule)
    assert len(planned) == len(expected) == schedule.match_count
    assert set(planned) == expected
    assert sorted(schedule.pairings()) == sorted(pairings)
    assert all(schedule.field.has(pairing) == (pairing in pairings) for pairing in combinations(field(10), 2))


@settings(deadline=None)
@given(schedules())
def test_positions_and_indexes_count_on_without_a_gap(schedule: Schedule) -> None:
    assert [block.position for block in schedule.blocks()] == list(range(schedule.block_count))
    assert indexes(schedule) == list(range(schedule.match_count))


@settings(deadline=None)
@given(schedules())
def test_a_block_is_one_pairing_in_one_seating_on_consecutive_lists(schedule: Schedule) -> None:
    for block in schedule.blocks():
        assert 1 <= len(block.numbers) <= schedule.block
        assert block.numbers.step == 1
        assert block.seats == (block.pairing if block.leg == 0 else block.pairing[::-1])
        assert block.mirrored == schedule.untrusted.isdisjoint(block.pairing)
        _, matches = zip(*block.keys(), strict=True)
        assert matches == tuple(MatchKey(0, block.pairing, block.leg, number) for number in block.numbers)


def test_a_gauntlet_is_each_champion_against_everyone_else() -> None:
    schedule = Schedule(("e", "a", "c", "b", "d"), 1, Format.GAUNTLET, champions=frozenset({"c", "e"}))
    assert sorted(schedule.pairings()) == [("a", "c"), ("a", "e"), ("b", "c"), ("b", "e"), ("c", "d"), ("d", "e")]


def test_the_default_tournament_in_full() -> None:
    schedule = Schedule(("random", "greedy", "counter"), pairs=3, block=2)
    assert [(" ".join(block.seats), list(block.numbers)) for block in schedule.blocks()] == [
        ("greedy random", [0, 1]),
        ("random greedy", [0, 1]),
        ("counter random", [0, 1]),
        ("random counter", [0, 1]),
        ("counter greedy", [0, 1]),
        ("greedy counter", [0, 1]),
        ("greedy random", [2]),
        ("random greedy", [2]),
        ("counter random", [2]),
        ("random counter", [2]),
        ("counter greedy", [2]),
        ("greedy counter", [2]),
    ]


# --- order --------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(schedules(), st.randoms())
def test_the_order_in_which_participants_joined_changes_nothing(schedule: Schedule, shuffle: Random) -> None:
    joined = list(schedule.participants)
    shuffle.shuffle(joined)
    other = Schedule(
        tuple(joined),
        schedule.pairs,
        schedule.format,
        schedule.champions,
        schedule.block,
        untrusted=schedule.untrusted,
    )
    assert list(other.blocks()) == list(schedule.blocks())


@settings(deadline=None)
@given(schedules())
def test_the_legs_of_a_block_are_neighbours(schedule: Schedule) -> None:
    blocks = list(schedule.blocks())
    for first, second in zip(blocks[::2], blocks[1::2], strict=True):
        assert (first.leg, second.leg) == (0, 1)
        assert (first.pairing, first.numbers) == (second.pairing, second.numbers)


@settings(deadline=None)
@given(schedules())
def test_at_any_moment_no_pairing_is_more_than_one_block_a_leg_ahead(schedule: Schedule) -> None:
    played: Counter[tuple[Pairing, int]] = Counter(
        {(pairing, leg): 0 for pairing in schedule.pairings() for leg in (0, 1)}
    )
    for block in schedule.blocks():
        played[block.pairing, block.leg] += 1
        assert max(played.values()) - min(played.values()) <= 1


@settings(deadline=None)
@given(st.integers(2, 12), st.integers(1, 12))
def test_at_any_moment_all_participants_have_met_as_many_opponents_up_to_one_or_two(size: int, pairs: int) -> None:
    schedule = Schedule(field(size), pairs, block=4)
    met = Counter(dict.fromkeys(schedule.participants, 0))
    for block in schedule.blocks():
        if block.leg == 1:
            met.update(block.pairing)
            assert max(met.values()) - min(met.values()) <= (2 if size % 2 else 1)


@settings(deadline=None)
@given(st.integers(2, 12), st.data())
def test_at_any_moment_a_gauntlet_is_fair_to_both_of_its_sides(size: int, data: st.DataObject) -> None:
    champions = frozenset(field(data.draw(st.integers(1, size - 1))))
    schedule = Schedule(field(size), 8, Format.GAUNTLET, champions, block=4)
    met = Counter(dict.fromkeys(schedule.participants, 0))
    for block in schedule.blocks():
        if block.leg == 1:
            met.update(block.pairing)
            for side in (champions, set(field(size)) - champions):
                assert max(met[name] for name in side) - min(met[name] for name in side) <= 1


# --- epochs -------------------------------------------------------------------------------------------------


def test_more_pairs_come_in_a_new_epoch_that_adds_what_is_missing() -> None:
    first = Schedule(("a", "b"), pairs=5, block=2)
    second = Schedule(("a", "b"), pairs=8, block=2, previous=first)
    assert (first.epoch, second.epoch) == (0, 1)
    assert keys(second) == [
        MatchKey(1, ("a", "b"), leg, number) for numbers in ((0, 1), (2,)) for leg in (0, 1) for number in numbers
    ]
    assert indexes(first) == list(range(2 * 5))
    assert indexes(second) == list(range(2 * 3))
    assert [block.position for block in second.blocks()] == [0, 1, 2, 3]


def test_a_late_bot_plays_all_its_pairs_and_the_others_nothing_again() -> None:
    first = Schedule(("a", "c"), pairs=4)
    second = Schedule(("a", "b", "c"), pairs=4, previous=first)
    assert {key.pairing for key in keys(second)} == {("a", "b"), ("b", "c")}
    assert second.match_count == 2 * 2 * 4
    assert second.block_count == 4


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 7)), min_size=1, max_size=4), st.sampled_from(TWO))
def test_however_a_tournament_grew_each_pairing_has_played_its_pairs(
    growth: list[tuple[int, int]], format: Format
) -> None:
    size, pairs = 3, 2
    epochs = [Schedule(field(size), pairs, format, _champion(format), block=3)]
    for joined, more in growth:
        size, pairs = size + joined, pairs + more
        epochs.append(Schedule(field(size), pairs, format, _champion(format), block=3, previous=epochs[-1]))
    planned = [key for epoch in epochs for key in keys(epoch)]
    assert len(set(planned)) == len(planned)
    assert Counter((key.pairing, key.leg) for key in planned) == {
        (pairing, leg): pairs for pairing in epochs[-1].pairings() for leg in (0, 1)
    }
    assert all(indexes(epoch) == list(range(epoch.match_count)) for epoch in epochs)


def _champion(format: Format) -> frozenset[str]:
    return frozenset({"bot-1"}) if format is Format.GAUNTLET else frozenset()


@pytest.mark.parametrize(
    "later",
    [
        {"participants": ("a", "b", "d"), "pairs": 5},
        {"participants": ("a", "b", "c"), "pairs": 4},
        {
            "participants": ("a", "b", "c"),
            "pairs": 5,
            "format": Format.GAUNTLET,
            "champions": frozenset({"a"}),
        },
    ],
)
def test_a_later_epoch_cannot_take_anything_back(later: dict[str, object]) -> None:
    first = Schedule(("a", "b", "c"), pairs=5)
    with pytest.raises(UsageError, match="can only add participants and pairs"):
        Schedule(**later, previous=first)  # type: ignore[arg-type]


# --- mistakes and seats -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schedule", "sentence"),
    [
        ({"participants": ("a", "b", "a")}, "each name must be there once"),
        ({"participants": ("a",)}, "nobody who meets"),
        ({"participants": ("a", "b"), "untrusted": frozenset({"z"})}, r"\['z'\] are no participants"),
        ({"participants": ("a", "b"), "format": Format.GAUNTLET}, "a gauntlet of .* has nobody who meets"),
        (
            {"participants": ("a", "b"), "format": Format.GAUNTLET, "champions": frozenset("ab")},
            "a gauntlet of .* has nobody who meets",
        ),
    ],
)
def test_what_cannot_be_a_tournament_is_refused(schedule: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        Schedule(pairs=1, **schedule)  # type: ignore[arg-type]


def test_names_take_the_seats_in_turn_and_partners_sit_opposite() -> None:
    assert [seating(("a", "b"), leg, 2, 2) for leg in (0, 1)] == [("a", "b"), ("b", "a")]
    assert [seating(("a", "b"), leg, 2, 4) for leg in (0, 1)] == [("a", "b", "a", "b"), ("b", "a", "b", "a")]
    assert [seating(("a", "b", "c"), leg, 3, 3) for leg in (0, 1, 2)] == [
        ("a", "b", "c"),
        ("b", "c", "a"),
        ("c", "a", "b"),
    ]
    assert [seating(("a", "d", "b", "c"), leg, 2, 4) for leg in range(4)] == [
        ("a", "b", "d", "c"),
        ("b", "d", "c", "a"),
        ("d", "c", "a", "b"),
        ("c", "a", "b", "d"),
    ]


# --- tables of three and four -------------------------------------------------------------------------------

TABLES = [
    (3, 3, Format.ROUND_ROBIN),
    (3, 3, Format.GAUNTLET),
    (2, 4, Format.ROUND_ROBIN),
    (2, 4, Format.MIXED_PARTNERS),
]
"""Sides, seats and format."""


@st.composite
def larger(draw: st.DrawFn) -> Schedule:
    sides, seats, format = draw(st.sampled_from(TABLES))
    participants = field(draw(st.integers(4, 8)))
    champions: frozenset[str] = frozenset()
    if format is Format.GAUNTLET:
        champions = draw(st.frozensets(st.sampled_from(participants), min_size=1, max_size=len(participants) - 1))
    return Schedule(
        participants=tuple(draw(st.permutations(participants))),
        pairs=draw(st.integers(1, 6)),
        format=format,
        champions=champions,
        block=draw(st.integers(1, 4)),
        sides=sides,
        seats=seats,
        untrusted=draw(st.frozensets(st.sampled_from(participants), max_size=2)),
    )


@settings(deadline=None)
@given(larger())
def test_a_larger_pairing_plays_every_list_once_in_each_seating(schedule: Schedule) -> None:
    expected = {
        MatchKey(0, pairing, leg, number)
        for pairing in schedule.pairings()
        for leg in range(len(pairing))
        for number in range(schedule.pairs)
    }
    planned = keys(schedule)
    assert len(planned) == len(expected) == schedule.match_count
    assert set(planned) == expected
    assert indexes(schedule) == list(range(schedule.match_count))
    assert [block.position for block in schedule.blocks()] == list(range(schedule.block_count))


@settings(deadline=None)
@given(larger())
def test_over_the_legs_everyone_has_every_seat_as_often_on_the_same_lists(schedule: Schedule) -> None:
    sat: Counter[tuple[Pairing, range, str, int]] = Counter()
    for block in schedule.blocks():
        assert block.mirrored == schedule.untrusted.isdisjoint(block.pairing)
        assert len(block.seats) == schedule.seats
        for seat, name in enumerate(block.seats):
            sat[block.pairing, block.numbers, name, seat] += 1
    assert set(sat.values()) == {1}
    assert len(sat) == schedule.block_count * schedule.seats


@settings(deadline=None)
@given(larger())
def test_the_legs_of_a_larger_pairing_are_neighbours_and_none_is_a_block_ahead(schedule: Schedule) -> None:
    blocks = list(schedule.blocks())
    size = len(blocks[0].pairing)
    for start in range(0, len(blocks), size):
        legs = blocks[start : start + size]
        assert [block.leg for block in legs] == list(range(size))
        assert len({(block.pairing, block.numbers) for block in legs}) == 1
    played: Counter[Pairing] = Counter(dict.fromkeys(schedule.pairings(), 0))
    for block in blocks[::size]:
        played[block.pairing] += 1
        assert max(played.values()) - min(played.values()) <= 1


@settings(deadline=None)
@given(larger(), st.randoms())
def test_who_joined_first_changes_nothing_at_larger_tables_either(schedule: Schedule, shuffle: Random) -> None:
    joined = list(schedule.participants)
    shuffle.shuffle(joined)
    assert list(replace(schedule, participants=tuple(joined)).blocks()) == list(schedule.blocks())


@pytest.mark.parametrize(("sides", "seats", "format"), TABLES)
def test_however_a_larger_table_grew_each_pairing_has_played_its_pairs(sides: int, seats: int, format: Format) -> None:
    epochs: list[Schedule] = []
    for size, pairs in [(4, 2), (4, 3), (6, 3), (7, 5)]:
        previous = epochs[-1] if epochs else None
        champions = _champion(format)
        epochs.append(
            Schedule(field(size), pairs, format, champions, block=2, sides=sides, seats=seats, previous=previous)
        )
    planned = [key for epoch in epochs for key in keys(epoch)]
    assert len(set(planned)) == len(planned)
    assert Counter((key.pairing, key.leg) for key in planned) == {
        (pairing, leg): 5 for pairing in epochs[-1].pairings() for leg in range(len(pairing))
    }


def test_a_field_that_outgrows_the_bound_draws_anew_and_still_plays_no_match_twice() -> None:
    first = Schedule(field(23), 2, sides=3, seats=3)
    second = Schedule(field(25), 2, sides=3, seats=3, previous=first)
    third = Schedule(field(25), 5, sides=3, seats=3, previous=second)
    assert first.match_count == 3 * 2 * 1771
    met = set(first.pairings()) & set(second.pairings())
    assert second.match_count == 3 * 2 * (MAX_DRAWN - len(met))
    assert third.match_count == 3 * 3 * MAX_DRAWN
    totals = Counter(
        pairing for epoch in (first, second, third) for pairing in epoch.pairings() for _ in range(epoch.lists(pairing))
    )
    assert {totals[pairing] for pairing in third.pairings()} == {5}
    assert {totals[pairing] for pairing in set(first.pairings()) - met} == {2}


@pytest.mark.parametrize(
    ("schedule", "sentence"),
    [
        ({"participants": ("a", "b"), "sides": 3, "seats": 3}, "a round-robin of .* has nobody who meets"),
        ({"participants": tuple("abc"), "seats": 4, "format": Format.MIXED_PARTNERS}, "mixed-partners of .* nobody"),
    ],
)
def test_too_few_for_a_larger_table_are_refused(schedule: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        Schedule(pairs=1, **schedule)  # type: ignore[arg-type]


# --- size ---------------------------------------------------------------------------------------------------


def test_a_schedule_of_forty_million_matches_is_counted_and_walked_in_constant_memory() -> None:
    tracemalloc.start()
    try:
        schedule = Schedule(field(200), pairs=1000)
        assert schedule.match_count == 2 * 1000 * 200 * 199 // 2
        assert schedule.block_count == 2 * 32 * 200 * 199 // 2
        (last,) = deque(islice(schedule.blocks(), 45_000), maxlen=1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert last.numbers == range(32, 64)
    assert peak < 200_000


# --- the remainder of a budget ------------------------------------------------------------------------------


def test_a_remainder_is_played_by_its_pairings_alone_in_both_seatings() -> None:
    first = Schedule(("a", "b", "c"), pairs=2, block=2)
    second = Schedule(("a", "b", "c"), pairs=2, block=2, previous=first, remainder={("a", "c"): 5, ("b", "c"): 1})
    assert Counter((key.pairing, key.leg, key.number) for key in keys(second)) == Counter(
        (pairing, leg, number)
        for pairing, lists in ((("a", "c"), 5), (("b", "c"), 1))
        for leg in (0, 1)
        for number in range(lists)
    )
    assert second.match_count == 12 and second.block_count == 8
    assert indexes(second) == list(range(12))


def test_what_a_remainder_played_is_beyond_the_pairs_of_later_epochs() -> None:
    first = Schedule(("a", "b", "c"), pairs=2)
    second = Schedule(("a", "b", "c"), pairs=2, previous=first, remainder={("a", "c"): 50})
    third = Schedule(("a", "b", "c", "d"), pairs=3, previous=second)
    assert {pairing: third.lists(pairing) for pairing in third.pairings()} == {
        ("a", "b"): 1, ("a", "c"): 1, ("b", "c"): 1, ("a", "d"): 3, ("b", "d"): 3, ("c", "d"): 3,
    }  # fmt: skip
    assert third.match_count == 24


@pytest.mark.parametrize(
    ("schedule", "pairing", "sides"),
    [
        (Schedule(("a", "b"), 1), ("a", "b"), (("a",), ("b",))),
        (Schedule(("a", "b", "c"), 1, sides=3, seats=3), ("a", "b", "c"), (("a",), ("b",), ("c",))),
        (
            Schedule(("a", "b", "c", "d"), 1, Format.MIXED_PARTNERS, seats=4),
            ("a", "d", "b", "c"),
            (("a", "d"), ("b", "c")),
        ),
    ],
)
def test_the_sides_of_a_pairing(schedule: Schedule, pairing: Pairing, sides: tuple[tuple[str, ...], ...]) -> None:
    assert schedule.sides_of(pairing) == sides
