"""The worked example of the ratings page: its table follows from its results, digit by digit."""

from __future__ import annotations

import re

import pytest

from arena.app.show import ranking
from arena.ratings.base import Game, mirrored_pair
from arena.ratings.posterior import Posterior, posterior
from arena.ratings.statistics import quantile
from arena.ratings.trueskill import Fit, fit
from arena.ratings.trust import separations
from arena.reports.columns import parse_columns
from arena.store import Participant
from arena.tournament.standings import Standing
from tests.docs.pages import ROOT

COLUMNS = "rank,bot,score,mu,sigma,error,ranks,next,first"
TEXT = (
    (ROOT / "docs" / "ratings.md").read_text(encoding="utf-8").partition("## A worked example")[2].partition("\n## ")[0]
)
RESULTS, TABLE, *_ = [
    [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()]
    for table in re.findall(r"(?:^\|.*\n)+", TEXT, re.MULTILINE)
]


@pytest.fixture(scope="module")
def games() -> list[Game]:
    found = []
    for pairing, *counts in RESULTS[2:]:
        one, other = pairing.split(" - ")
        for wins, count in zip((2, 1, 0), map(int, counts), strict=True):
            found += [mirrored_pair(one, other, wins, 2 - wins)] * count
    return found


@pytest.fixture(scope="module")
def fitted(games: list[Game]) -> Fit:
    return fit(games)


@pytest.fixture(scope="module")
def belief(games: list[Game], fitted: Fit) -> Posterior:
    return posterior(games, fitted.draw_probability)


def test_the_table_follows_from_the_results(fitted: Fit, belief: Posterior) -> None:
    bots = [Participant(name=name, version="", digest="", kind="folder", author="") for name in fitted.ratings]
    columns = parse_columns(COLUMNS)
    rows = ranking(bots, fitted.ratings, belief, {name: Standing(name) for name in fitted.ratings}, {})
    assert TABLE[0] == [column.header for column in columns]
    assert TABLE[2:] == [[column.cell(row) for column in columns] for row in rows]


def test_what_the_text_says_follows_too(games: list[Game], fitted: Fit, belief: Posterior) -> None:
    assert f"{sum(game.drawn for game in games)} of the {len(games)} are drawn" in TEXT
    assert f"that of equals, is higher than 30/72: {fitted.draw_probability:.2f}" in TEXT.replace("\n", " ")
    mu = {name: rating.mu for name, rating in fitted.ratings.items()}
    assert f"{mu['anna'] - mu['bert']:.1f} points" in TEXT
    rows = {line[1]: line for line in TABLE[2:]}
    bar = float(rows["bert"][5])
    assert f"from {mu['bert'] - bar:.1f} to {mu['bert'] + bar:.1f}" in TEXT
    gap = belief.gap("bert", "cleo")
    separation = next(each for each in separations(belief, dict.fromkeys(rows)) if each.better == "bert")
    assert f"{rows['bert'][7]} is {gap:.2f} standard deviations".replace("0.", ".") in TEXT.replace("\n", " ")
    assert f"95% is {quantile(0.95):.2f}" in TEXT.replace("\n", " ")
    assert f"= {separation.factor:.1f} times as many" in TEXT.replace("\n", " ")
