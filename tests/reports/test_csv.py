"""CSV parses back to the values, and holds no formula."""

from __future__ import annotations

import csv
from dataclasses import replace
from itertools import permutations

import pytest

from arena.reports import csv as csv_report
from arena.reports.columns import BOT_CSV_COLUMNS, CSV_COLUMNS, parse_columns
from arena.reports.model import RunReport

COLUMNS = parse_columns(CSV_COLUMNS)


def parsed(report: RunReport) -> list[dict[str, str]]:
    return list(csv.DictReader(csv_report.render(report.rows, COLUMNS).splitlines(keepends=True)))


def test_there_is_one_header_and_one_line_a_bot(report: RunReport) -> None:
    lines = csv_report.render(report.rows, COLUMNS).split("\n")
    assert lines[0] == CSV_COLUMNS
    assert len(lines) == 1 + 3 + 1 and lines[-1] == ""


def test_the_values_parse_back(report: RunReport) -> None:
    for line, row in zip(parsed(report), report.rows, strict=True):
        assert line["bot"] == row.participant.name
        assert float(line["mu"]) == round(row.rating.mu, 4)
        assert int(line["won"]) == row.standing.matches.won
        assert int(line["pairs-drawn"]) == row.standing.pairs.drawn
        assert float(line["points"]) == pytest.approx(row.standing.margin, abs=1e-4)


def test_the_crosstable_has_a_line_for_each_bot_against_each_other(report: RunReport) -> None:
    lines = list(csv.DictReader(csv_report.crosstable(report).splitlines()))
    assert [(line["bot"], line["opponent"]) for line in lines] == [
        (one.participant.name, other.participant.name) for one, other in permutations(report.rows, 2)
    ]
    for line in lines:
        met = report.crosstable[line["bot"], line["opponent"]]
        assert int(line["pairs-won"]) == met.pairs.won and int(line["lost"]) == met.matches.lost
        assert float(line["points"]) == pytest.approx(
            (int(line["points-for"]) - int(line["points-against"])) / met.matches.total, abs=1e-4
        )


def test_the_statistics_have_a_line_a_bot_and_hang_together(report: RunReport) -> None:
    text = csv_report.render(report.rows, parse_columns(BOT_CSV_COLUMNS))
    for line, row in zip(csv.DictReader(text.splitlines()), report.rows, strict=True):
        numbers = {name: int(value) for name, value in line.items() if value.isdecimal()}
        assert line["bot"] == row.participant.name
        assert numbers["deals-in"] == row.standing.deals
        assert sum(count for name, count in numbers.items() if name.startswith("won-by-")) == row.standing.deals_won
        assert numbers["closed"] == numbers["closed-won"] + numbers["closed-failed"]
        assert numbers["lost-by-fault"] == sum(row.standing.faults.values())


def test_nasty_names_stay_in_their_line_and_are_no_formulas(nasty: RunReport) -> None:
    lines = parsed(nasty)
    assert len(lines) == 3
    names = {line["bot"] for line in lines}
    assert any(name.startswith("'=HYPERLINK") for name in names)
    assert all(name.isprintable() for name in names)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "  =", "＝"])
def test_what_begins_like_a_formula_is_prefixed(report: RunReport, start: str) -> None:
    first = report.rows[0]
    evil = replace(first, participant=replace(first.participant, name=f"{start}1+1"))
    assert csv_report.render([evil], parse_columns("bot,points")).splitlines()[1].startswith(f"'{start}1+1")


def test_negative_numbers_are_numbers(report: RunReport) -> None:
    last = report.rows[-1]
    assert csv_report.render([last], parse_columns("points")).splitlines()[1].startswith("-")
