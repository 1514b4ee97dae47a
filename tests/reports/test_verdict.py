"""The sentence above the table, for fields of every shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from arena.app.show import build_report, ranking
from arena.ratings.base import Game, mirrored_pair
from arena.ratings.posterior import posterior
from arena.ratings.trueskill import fit
from arena.reports import words
from arena.reports.model import RunReport
from arena.store import open_queries
from arena.tournament.standings import Standing
from tests.reports.runs import bot, play_run


@pytest.fixture(scope="module")
def any_report(tmp_path_factory: pytest.TempPathFactory) -> RunReport:
    with open_queries(play_run(tmp_path_factory.mktemp("data"), pairs=1)) as queries:
        return build_report(queries, "cup")


def sentence(report: RunReport, games: Sequence[Game], out: Sequence[str] = ()) -> str:
    names = sorted({name for game in games for name in game.participants})
    fitted = fit(games, names)
    belief = posterior(games, fitted.draw_probability).of([name for name in names if name not in out])
    rows = ranking(list(map(bot, names)), fitted.ratings, belief, {name: Standing(name) for name in names}, {})
    return words.verdict(replace(report, rows=rows, run=replace(report.run, mirrored_pairs=len(games))))


def won(one: str, other: str, times: int = 1) -> list[Game]:
    return [mirrored_pair(one, other, 2, 0)] * times


def drawn(one: str, other: str, times: int = 1) -> list[Game]:
    return [mirrored_pair(one, other, 1, 1)] * times


def test_a_clear_winner_and_those_that_are_tied_behind_it(any_report: RunReport) -> None:
    games = [game for other in "bcd" for game in won("a", other, 30)]
    games += drawn("b", "c", 20) + drawn("c", "d", 20) + drawn("b", "d", 20)
    assert sentence(any_report, games) == "a is first with >99%; b, c and d are tied."


def test_a_clear_order_says_who_is_first(any_report: RunReport) -> None:
    assert sentence(any_report, won("a", "b", 30) + won("b", "c", 30)) == "a is first with >99%."


def test_where_nobody_can_be_told_apart_it_says_so_with_what_is_known_of_the_first(any_report: RunReport) -> None:
    assert sentence(any_report, drawn("a", "b", 50)) == "a and b cannot be told apart: a is first with 50%."
    # One won pair, sigma / beta = 2: the angle between prior and likelihood gives 1/2 + atan(2) / pi = 85%.
    assert sentence(any_report, won("a", "b")) == "a and b cannot be told apart: a is first with 85%."


def test_of_many_that_are_tied_four_are_named(any_report: RunReport) -> None:
    games = [game for one in "abcdefg" for other in "abcdefg" if one < other for game in drawn(one, other, 5)]
    assert sentence(any_report, games).startswith("a, b, c, d and 3 more cannot be told apart: a is first with 1")


def test_who_is_left_alone_is_first(any_report: RunReport) -> None:
    assert sentence(any_report, won("a", "b", 30), out=["a"]) == "b is alone in the ranking."
    assert sentence(any_report, drawn("a", "b"), out=["b"]) == "a is alone in the ranking."


def test_without_a_pair_there_is_nothing_to_rank(any_report: RunReport) -> None:
    assert sentence(any_report, []) == "No pair of matches is complete yet: there is nothing to rank."
