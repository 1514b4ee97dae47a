"""What is left of a budget goes where it tells most: to open orders, near and far, and never to what is settled."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import pytest

from arena.ratings.base import Game, grouped, mirrored_pair
from arena.ratings.posterior import posterior
from arena.ratings.remainder import Meeting, share_out
from arena.ratings.statistics import fitted_draw_probability


def beats(one: str, other: str, won: int, drawn: int, lost: int) -> list[Game]:
    return [
        *[mirrored_pair(one, other, 2, 0)] * won,
        *[mirrored_pair(one, other, 1, 1)] * drawn,
        *[mirrored_pair(one, other, 0, 2)] * lost,
    ]


def shared(games: Sequence[Game], meetings: Sequence[Meeting], count: int) -> Mapping[Meeting, int]:
    draw_probability = fitted_draw_probability(grouped(games))
    return share_out(posterior(games, draw_probability), draw_probability, meetings, count)


def everyone(*names: str) -> list[Meeting]:
    return [((one,), (other,)) for one, other in combinations(names, 2)]


LADDER = [
    *beats("anna", "bert", 20, 9, 1), *beats("anna", "cleo", 28, 2, 0), *beats("anna", "dora", 29, 1, 0),
    *beats("bert", "cleo", 11, 10, 9), *beats("bert", "dora", 20, 9, 1), *beats("cleo", "dora", 20, 8, 2),
]  # fmt: skip
"""Everything is settled but the order of bert and cleo."""


def test_two_that_cannot_be_told_apart_meet_each_other() -> None:
    given = shared(LADDER, everyone("anna", "bert", "cleo", "dora"), 100)
    assert sum(given.values()) == 100
    assert given[("bert",), ("cleo",)] > 90


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1000])
def test_all_is_given_out(count: int) -> None:
    given = shared(LADDER, everyone("anna", "bert", "cleo", "dora"), count)
    assert sum(given.values()) == count
    assert all(given.values())


def test_nobody_meets_where_there_are_no_meetings() -> None:
    assert shared(LADDER, [], 10) == {}


def test_the_same_for_any_order_of_the_games() -> None:
    log = LADDER * 2
    expected = shared(log, everyone("anna", "bert", "cleo", "dora"), 100)
    random.Random(66).shuffle(log)
    assert shared(log, everyone("anna", "bert", "cleo", "dora"), 100) == expected


def test_equals_share_evenly_whatever_they_are_called() -> None:
    games = [game for one, other in combinations("abcd", 2) for game in beats(one, other, 5, 10, 5)]
    assert set(shared(games, everyone(*"abcd"), 60).values()) == {10}


def test_all_draws_are_no_trouble() -> None:
    games = [game for one, other in combinations("abc", 2) for game in beats(one, other, 0, 10, 0)]
    assert set(shared(games, everyone(*"abc"), 30).values()) == {10}


def test_who_never_meets_is_told_apart_by_way_of_a_third() -> None:
    """In a gauntlet two may be neighbours and yet meet only the champion: both play it."""
    games = [*beats("champion", "x", 10, 10, 4), *beats("champion", "y", 10, 10, 5), *beats("champion", "z", 24, 0, 0)]
    given = shared(games, [(("champion",), (name,)) for name in "xyz"], 60)
    assert given[("champion",), ("x",)] + given[("champion",), ("y",)] > 55
    assert min(given[("champion",), ("x",)], given[("champion",), ("y",)]) > 20


def test_three_that_meet_are_chosen_for_all_their_orders() -> None:
    def met(names: str, copies: int) -> list[Game]:
        return [Game(tuple((name,) for name in names), (0, 1, 2))] * copies

    games = [*met("abc", 20), *met("abd", 10), *met("adb", 10), *met("acd", 20), *met("bcd", 5), *met("dcb", 5)]
    meetings: list[Meeting] = [tuple((name,) for name in names) for names in combinations("abcd", 3)]
    given = Counter(shared(games, meetings, 64))
    both = [meeting for meeting in meetings if {("b",), ("d",)} <= set(meeting)]
    assert sum(given[meeting] for meeting in both) > 50


def test_partners_are_believed_of_one_by_one() -> None:
    games = [
        *[Game((("a", "b"), ("c", "d")), (0, 1))] * 12,
        *[Game((("a", "c"), ("b", "d")), (0, 1))] * 12,
        *[Game((("a", "d"), ("b", "c")), (0, 1))] * 6,
        *[Game((("b", "c"), ("a", "d")), (0, 1))] * 6,
    ]
    meetings: list[Meeting] = [(("a", "b"), ("c", "d")), (("a", "c"), ("b", "d")), (("a", "d"), ("b", "c"))]
    given = shared(games, meetings, 64)
    assert sum(given.values()) == 64
    # Of b and c nothing is known; where they are partners nothing of that can be learnt.
    assert given.get(meetings[2], 0) < min(given[meetings[0]], given[meetings[1]])
