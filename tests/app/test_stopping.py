"""When a stop rule has enough, and what it asks for until then: from games alone, without any bot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import pytest

from arena.app.stopping import GROWTH, ask, lists_left, stopping_of
from arena.match.absence import NOBODY, Absences, Change, Exclusion, Place
from arena.ratings.base import Game, mirrored_pair
from arena.tournament.pairings import Format, Pairing
from arena.tournament.schedule import Schedule
from arena.tournament.stop import StopRule
from bench.leagues import League
from bench.stopping import believed, play

RULE = StopRule(separated=0.95, max_pairs=100)


def games(results: Mapping[tuple[str, str], tuple[int, int, int]]) -> list[Game]:
    """Won, drawn and lost pairs of the first."""
    return [
        mirrored_pair(one, other, matches, 2 - matches)
        for (one, other), tally in results.items()
        for matches, count in zip((2, 1, 0), tally, strict=True)
        for _ in range(count)
    ]


CLEAR = games({("a", "b"): (18, 2, 0), ("b", "c"): (18, 2, 0), ("a", "c"): (20, 0, 0)})
OPEN = games({("a", "b"): (18, 2, 0), ("b", "c"): (6, 8, 6), ("a", "c"): (18, 2, 0)})
PLAYED = (Schedule(("a", "b", "c"), pairs=20),)


def out(*names: str) -> Absences:
    return Absences.of(Exclusion(name, Change.EXCLUDED, "asked", Place(9, 0)) for name in names)


def test_it_is_over_once_every_two_neighbours_are_separated() -> None:
    stopping, further = ask(RULE, PLAYED, NOBODY, CLEAR)
    assert further == {} and stopping.open == () and stopping.ranked == 3 and not stopping.spent


def test_who_is_separated_at_one_level_may_not_be_at_another() -> None:
    less = games({("a", "b"): (12, 7, 1), ("b", "c"): (20, 0, 0), ("a", "c"): (20, 0, 0)})
    assert ask(RULE, PLAYED, NOBODY, less)[1] == {}
    assert ask(replace(RULE, separated=0.999), PLAYED, NOBODY, less)[1] != {}


def test_the_open_order_gets_half_of_what_was_played() -> None:
    stopping, further = ask(RULE, PLAYED, NOBODY, OPEN)
    assert [(each.better, each.other) for each in stopping.open] in ([("b", "c")], [("c", "b")])
    assert sum(further.values()) == 3 * 20 // GROWTH
    assert further["b", "c"] >= 26


def test_a_look_before_the_end_asks_for_more() -> None:
    """96% would be enough at the end; but who looks often sees 96% once even of equals."""
    near = games({("a", "b"): (9, 8, 3), ("b", "c"): (20, 0, 0), ("a", "c"): (20, 0, 0)})
    stopping, further = ask(RULE, PLAYED, NOBODY, near)
    (neighbours,) = stopping.open
    assert 0.95 < neighbours.probability < stopping.asked == pytest.approx(0.99) and further
    belief = believed(near)
    means = dict(zip(belief.names, belief.mean.tolist(), strict=True))
    assert stopping_of(RULE, PLAYED, NOBODY, belief, means, over=True).open == ()


def test_the_order_of_the_evidence_changes_nothing() -> None:
    assert ask(RULE, PLAYED, NOBODY, OPEN[::-1]) == ask(RULE, PLAYED, NOBODY, OPEN)


def test_the_budget_bounds_what_is_asked_for_and_ends_it() -> None:
    assert sum(ask(replace(RULE, max_pairs=22), PLAYED, NOBODY, OPEN)[1].values()) == 6
    stopping, further = ask(replace(RULE, max_pairs=20), PLAYED, NOBODY, OPEN)
    assert further == {} and stopping.spent and stopping.open


def test_what_earlier_remainders_took_counts() -> None:
    schedules = (*PLAYED, Schedule(("a", "b", "c"), 20, previous=PLAYED[0], remainder={("b", "c"): 12}))
    stopping, further = ask(RULE, schedules, NOBODY, OPEN)
    assert stopping.pairs == 24 and sum(further.values()) == 72 // GROWTH
    assert lists_left(RULE, schedules, NOBODY) == 300 - 72
    grown = (*schedules, Schedule(("a", "b", "c", "d"), 30, previous=schedules[-1]))
    assert lists_left(RULE, grown, NOBODY) == 600 - 6 * 30 - 12


def test_lists_that_were_missed_and_made_up_for_count_once() -> None:
    schedules = (*PLAYED, Schedule(("a", "b", "c"), 20, previous=PLAYED[0], missed={("b", "c"): 12}))
    assert lists_left(RULE, schedules, NOBODY) == 300 - 60


@pytest.mark.parametrize("games", [OPEN, CLEAR])
def test_who_is_out_is_told_apart_from_nobody(games: Sequence[Game]) -> None:
    stopping, further = ask(RULE, PLAYED, out("c"), games)
    assert further == {} and stopping.ranked == 2 and stopping.open == ()
    assert lists_left(RULE, PLAYED, out("c")) == 80


def test_one_or_nobody_left_has_nothing_to_settle() -> None:
    for absences, left in ((out("a", "b"), 1), (out("a", "b", "c"), 0)):
        stopping, further = ask(RULE, PLAYED, absences, OPEN)
        assert (further, stopping.ranked, stopping.open, stopping.pairs) == ({}, left, (), 0.0)


def test_without_evidence_it_is_over() -> None:
    """Every match was void: playing on would not help."""
    stopping, further = ask(RULE, PLAYED, NOBODY, [])
    assert further == {} and stopping.ranked == 0


def test_who_has_no_complete_pair_is_left_alone() -> None:
    some = games({("a", "b"): (6, 8, 6)})
    _, further = ask(RULE, PLAYED, NOBODY, some)
    assert set(further) == {("a", "b")}


def test_all_draws_go_on_until_the_budget_is_spent() -> None:
    drawn = games(dict.fromkeys(combinations("abc", 2), (0, 20, 0)))
    stopping, further = ask(RULE, PLAYED, NOBODY, drawn)
    assert len(stopping.open) == 2 and set(further.values()) == {10}
    assert ask(replace(RULE, max_pairs=20), PLAYED, NOBODY, drawn)[1] == {}


def test_two_are_a_field() -> None:
    schedules = (Schedule(("a", "b"), pairs=20),)
    assert ask(RULE, schedules, NOBODY, games({("a", "b"): (6, 8, 6)}))[1] == {("a", "b"): 10}
    assert ask(RULE, schedules, NOBODY, games({("a", "b"): (16, 4, 0)}))[1] == {}


def test_one_list_is_the_least_that_is_asked_for() -> None:
    schedules = (Schedule(("a", "b"), pairs=1),)
    assert ask(RULE, schedules, NOBODY, games({("a", "b"): (0, 1, 0)}))[1] == {("a", "b"): 1}


@pytest.mark.parametrize(
    ("schedule", "met"),
    [
        (Schedule(("a", "b", "c"), 8, Format.GAUNTLET, frozenset({"a"})), [("a", "b"), ("a", "c")]),
        (Schedule(("a", "b", "c", "d"), 8, sides=3, seats=3), list(combinations("abcd", 3))),
    ],
)
def test_other_formats_play_only_their_own_pairings(schedule: Schedule, met: list[Pairing]) -> None:
    level = [Game(tuple((name,) for name in pairing), (0,) * len(pairing)) for pairing in met] * 8
    _, further = ask(RULE, (schedule,), NOBODY, level)
    assert set(further) <= set(met) and sum(further.values()) == len(met) * 8 // GROWTH


def test_mixed_partners_play_their_own_pairings() -> None:
    schedule = Schedule(("a", "b", "c", "d"), 8, Format.MIXED_PARTNERS, seats=4)
    level = [Game(schedule.sides_of(pairing), (0, 0)) for pairing in schedule.pairings()] * 8
    _, further = ask(RULE, (schedule,), NOBODY, level)
    assert set(further) <= set(schedule.pairings()) and sum(further.values()) == 3 * 8 // GROWTH


# -- leagues whose strengths are known --------------------------------------------------------------------------------


def test_a_league_of_known_strengths_stops_in_the_right_order() -> None:
    league = League.of(4, 0.86, seed=0)
    league = replace(league, strengths={"a": 150.0, "b": 50.0, "c": -50.0, "d": -150.0})
    stopping, evidence = play(league, 10, StopRule(0.95, 400))
    assert stopping.open == () and 10 <= stopping.pairs < 200
    assert 6 * 10 <= len(evidence) == round(stopping.pairs * 6)


def test_equals_never_stop_before_the_budget_unless_chance_will_have_it() -> None:
    stopped = 0
    for seed in range(20):
        league = replace(League.of(2, 0.86, seed), strengths={"a": 0.0, "b": 0.0})
        stopping, evidence = play(league, 16, StopRule(0.999, 60))
        stopped += not stopping.open
        assert stopping.open == () or len(evidence) == 60
    assert stopped <= 2
