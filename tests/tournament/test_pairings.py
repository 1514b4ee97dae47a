"""Who meets whom where more than two meet: everybody who can, or a balanced part, drawn from what is public."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, combinations
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.tournament.pairings import MAX_DRAWN, Field, Pairing


def names(letter: str, size: int) -> tuple[str, ...]:
    return tuple(f"{letter}{index:03}" for index in range(size))


def three(*sizes: int) -> Field:
    return Field(tuple(names(letter, size) for letter, size in zip("ab", sizes, strict=False)), sides=3, members=1)


def mixed(size: int) -> Field:
    return Field((names("a", size),), sides=2, members=2)


def spread(pairings: Sequence[Pairing], group: Sequence[str]) -> int:
    """How many pairings more one of the group has than another."""
    counts = Counter(chain.from_iterable(pairings))
    return max(counts[name] for name in group) - min(counts[name] for name in group)


def worst_lead(pairings: Sequence[Pairing], group: Sequence[str]) -> int:
    """How many pairings one of the group is ahead of another at most, at any moment."""
    met = dict.fromkeys(group, 0)
    worst = 0
    for pairing in pairings:
        for name in pairing:
            if name in met:
                met[name] += 1
        worst = max(worst, max(met.values()) - min(met.values()))
    return worst


def is_canonical(pairing: Pairing, members: int) -> bool:
    sides = [pairing[start : start + members] for start in range(0, len(pairing), members)]
    return sides == sorted(sides) and all(tuple(sorted(side)) == side for side in sides)


def in_short(field: Field) -> str:
    return f"{' and '.join(str(len(group)) for group in field.groups)} by {field.members}"


# --- all of them ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [3, 4, 7, 12])
def test_every_three_meet_once(size: int) -> None:
    assert sorted(three(size).pairings()) == list(combinations(names("a", size), 3))


@pytest.mark.parametrize(("champions", "others"), [(1, 2), (2, 1), (1, 6), (3, 4)])
def test_a_gauntlet_of_three_sides_has_a_champion_and_another_in_each_pairing(champions: int, others: int) -> None:
    field = three(champions, others)
    expected = [
        trio
        for trio in combinations((*names("a", champions), *names("b", others)), 3)
        if len({name[0] for name in trio}) == 2
    ]
    assert sorted(field.pairings()) == expected
    assert all(field.has(trio) == (trio in expected) for trio in combinations(chain.from_iterable(field.groups), 3))


def test_four_partners_are_mixed_in_three_ways() -> None:
    assert sorted(mixed(4).pairings()) == [
        ("a000", "a001", "a002", "a003"),
        ("a000", "a002", "a001", "a003"),
        ("a000", "a003", "a001", "a002"),
    ]


@pytest.mark.parametrize("size", [5, 8])
def test_every_two_as_partners_meet_every_other_two_once(size: int) -> None:
    met = {frozenset({frozenset(pairing[:2]), frozenset(pairing[2:])}) for pairing in mixed(size).pairings()}
    teams = [frozenset(team) for team in combinations(names("a", size), 2)]
    assert met == {frozenset({one, other}) for one, other in combinations(teams, 2) if not one & other}
    assert len(list(mixed(size).pairings())) == 3 * comb(size, 4)


@pytest.mark.parametrize("field", [three(2), three(0, 5), three(5, 0), mixed(3)])
def test_where_too_few_are_there_nobody_meets(field: Field) -> None:
    assert list(field.pairings()) == []


# --- a part of them ------------------------------------------------------------------------------------------

LARGE = [three(24), three(25), three(90), three(700), three(1, 70), three(2, 60), three(40, 60), mixed(13), mixed(50)]


@pytest.mark.parametrize("field", LARGE, ids=in_short)
def test_of_too_many_a_balanced_part_meets(field: Field) -> None:
    pairings = list(field.pairings())
    assert len(set(pairings)) == len(pairings) == MAX_DRAWN
    for pairing in pairings:
        assert len(set(pairing)) == field.size
        assert is_canonical(pairing, field.members)
        assert all(any(name in group for name in pairing) for group in field.groups)
        assert field.has(pairing)
    for group in field.groups:
        assert spread(pairings, group) <= 1


def test_a_field_just_within_the_bound_meets_in_full() -> None:
    assert len(list(three(23).pairings())) == comb(23, 3) <= MAX_DRAWN < comb(24, 3)


FROZEN = [("a000", "a001", "a032"), ("a002", "a005", "a027"), ("a003", "a004", "a021")]


def test_the_draw_is_by_hashing_alone_and_the_same_for_ever() -> None:
    first = list(three(100).pairings())[:3]
    assert first == FROZEN


def test_another_field_draws_another_part() -> None:
    renamed = Field((tuple(name.replace("a", "z") for name in names("a", 100)),), sides=3, members=1)
    same = {tuple(name.replace("z", "a") for name in pairing) for pairing in renamed.pairings()}
    assert len(same & set(three(100).pairings())) < MAX_DRAWN / 10


# --- in which order ------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(st.one_of(st.builds(three, st.integers(3, 12)), st.builds(mixed, st.integers(4, 8))))
def test_at_any_moment_all_have_met_as_often_up_to_two(field: Field) -> None:
    assert worst_lead(list(field.pairings()), field.groups[0]) <= 2


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 6), st.integers(2, 7))
def test_at_any_moment_a_gauntlet_of_three_sides_is_fair_to_both_of_its_groups(champions: int, others: int) -> None:
    field = three(champions, others)
    for group in field.groups:
        assert worst_lead(list(field.pairings()), group) <= 3


@pytest.mark.parametrize("field", LARGE, ids=in_short)
def test_at_any_moment_of_a_drawn_part_nobody_is_more_than_four_meetings_ahead(field: Field) -> None:
    for group in field.groups:
        assert worst_lead(list(field.pairings()), group) <= 4
