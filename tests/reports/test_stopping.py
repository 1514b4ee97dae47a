"""Why a run with a stop rule is over, or until when it plays on: in words, and in every format."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from arena.cli import screen
from arena.ratings.trust import Separation
from arena.reports import Part, markdown, text, words
from arena.reports.columns import TABLE_COLUMNS, parse_columns
from arena.reports.json import render as as_json
from arena.reports.model import RunReport, Stopping

BERT = Separation("bert", "cleo", 0.81, 4.0)
DORA = Separation("cleo", "dora", 0.9049, 2.0)
SPENT = Stopping(separated=0.95, asked=0.95, max_pairs=50, pairs=50.0, ranked=4, open=(BERT,), over=True)


@pytest.mark.parametrize(
    ("stopping", "label", "said"),
    [
        (SPENT, "Stopped", "the budget of 50 pairs a pairing is spent: bert and cleo (81%) are not separated at 95%"),
        (
            replace(SPENT, open=(BERT, DORA)),
            "Stopped",
            "the budget of 50 pairs a pairing is spent: bert and cleo (81%) and cleo and dora (90%) "
            "are not separated at 95%",
        ),
        (
            replace(SPENT, pairs=24.0, open=()),
            "Stopped",
            "after 24 of at most 50 pairs a pairing: every two neighbours are separated at 95%",
        ),
        (
            replace(SPENT, pairs=31.28, open=(), separated=0.995),
            "Stopped",
            "after 31.28 of at most 50 pairs a pairing: every two neighbours are separated at 99.5%",
        ),
        (
            replace(SPENT, open=()),
            "Stopped",
            "after 50 of at most 50 pairs a pairing: every two neighbours are separated at 95%",
        ),
        (
            replace(SPENT, pairs=0.0, ranked=1, open=()),
            "Stopped",
            "after 0 of at most 50 pairs a pairing: there are no two bots to tell apart",
        ),
        (
            replace(SPENT, asked=0.99, pairs=20.0, over=False),
            "Stops",
            "once every two neighbours are separated at 95%, at the latest after 50 pairs a pairing; "
            "so far bert and cleo (81%) are not separated at 99%, which looks ask for before the end",
        ),
        (
            replace(SPENT, pairs=20.0, ranked=0, open=(), over=False),
            "Stops",
            "once every two neighbours are separated at 95%, at the latest after 50 pairs a pairing",
        ),
    ],
)
def test_in_words(report: RunReport, stopping: Stopping, label: str, said: str) -> None:
    assert list(words.stopping(replace(report.run, stopping=stopping))) == [(label, said)]


def test_of_many_neighbours_a_few_are_named(report: RunReport) -> None:
    many = tuple(Separation(f"b{number}", f"b{number + 1}", 0.5, 9.0) for number in range(20))
    said = words.open_in_words(replace(SPENT, ranked=21, open=many))
    assert said.startswith("b0 and b1 (50%), ") and said.endswith(" and 16 more are not separated at 95%")


def test_what_falls_short_by_a_hair_is_not_said_to_be_enough() -> None:
    near = replace(SPENT, open=(Separation("bert", "cleo", 0.9499, 1.0),))
    assert words.open_in_words(near) == "bert and cleo (94%) are not separated at 95%"


def test_a_fixed_number_of_pairs_needs_no_words(report: RunReport) -> None:
    assert list(words.stopping(report.run)) == []
    assert json.loads(as_json(report, Part.PLAY))["run"]["stopping"] is None


def test_every_format_has_it(report: RunReport) -> None:
    run = replace(report, run=replace(report.run, stopping=SPENT))
    assert json.loads(as_json(run, Part.PLAY))["run"]["stopping"] == {
        "separated": 0.95,
        "asked": 0.95,
        "max_pairs": 50,
        "pairs": 50.0,
        "open": [{"better": "bert", "other": "cleo", "probability": 0.81}],
        "over": True,
        "spent": True,
    }
    columns = parse_columns(TABLE_COLUMNS)
    expected = "the budget of 50 pairs a pairing is spent: bert and cleo (81%) are not separated at 95%"
    assert expected in markdown.render(run, columns)
    assert expected in " ".join(screen.rendered(text.render(run, columns, 200), screen.plain()).split())
