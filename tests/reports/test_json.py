"""JSON keeps to its published schema, and its play part says nothing of when, where or under which name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from arena.match.summary import Histogram
from arena.reports import Part
from arena.reports.json import Document, json_schema, render
from arena.reports.model import RunReport
from arena.store import State
from tests.reports.runs import EVIDENCE

SCHEMA = Path(__file__).parents[2] / "docs" / "show.schema.json"


def test_the_published_schema_is_that_of_the_code() -> None:
    """Write it anew with `json.dumps(json_schema(), indent=2)` and a newline at the end."""
    assert SCHEMA.read_text(encoding="utf-8") == json.dumps(json_schema(), indent=2) + "\n"


def test_both_parts_fit_the_schema(report: RunReport, unfinished: RunReport, nasty: RunReport) -> None:
    for each in (report, unfinished, nasty):
        for part in Part:
            Document.model_validate_json(render(each, part), strict=False)
    required = json_schema()["required"]
    assert set(required) <= set(json.loads(render(report, Part.PLAY)))


def test_everything_is_there_by_its_name(report: RunReport) -> None:
    data = json.loads(render(report, Part.ALL))
    assert data["schema_version"] == 1
    assert data["run"]["title"] == "Spring cup"
    assert data["run"]["matches_finished"] == 36
    assert [line["bot"] for line in data["standings"]] == [row.participant.name for row in report.rows]
    first, row = data["standings"][0], report.rows[0]
    assert first["score"] == round(row.rating.mu - 3 * row.rating.sigma, 4)
    assert first["matches"] == {"won": row.standing.matches.won, "drawn": 0, "lost": row.standing.matches.lost}
    assert sum(data["end_reasons"].values()) == sum(line["deals"] for line in data["standings"]) / 2
    assert len(data["crosstable"]) == 6
    assert [bot["bot"] for bot in data["bots"]] == [line["bot"] for line in data["standings"]]
    for bot, line in zip(data["bots"], data["standings"], strict=True):
        assert bot["deals"] == line["deals"] == sum(role["deals"] for role in bot["roles"].values())
        assert sum(end["won"] for end in bot["ends"].values()) == line["deals_won"]
        assert bot["times"]["median_ms"] == line["median_ms"]
    assert data["faults"][-1]["evidence"].endswith(EVIDENCE.replace("\ud800", "\\ud800"))


def test_the_secret_is_null_until_it_is_revealed(report: RunReport, unfinished: RunReport) -> None:
    assert json.loads(render(unfinished, Part.ALL))["run"]["epochs"][0]["secret"] is None
    assert len(json.loads(render(report, Part.ALL))["run"]["epochs"][0]["secret"]) == 64


def test_the_play_part_does_not_depend_on_testimony(report: RunReport) -> None:
    elsewhere = replace(
        report,
        run=replace(
            report.run,
            name="other",
            title="Other",
            state=State.INTERRUPTED,
            started="2030-01-01T00:00:00+00:00",
            sandbox="strong",
            arena_version="9.9",
        ),
        rows=tuple(replace(row, standing=replace(row.standing, times=Histogram({1: 5}))) for row in report.rows),
        faults=tuple(replace(fault, evidence="took 3 ms") for fault in report.faults),
        lost_bummerls={("Anna", "plain"): 1_000_000},
    )
    assert render(elsewhere, Part.PLAY) == render(report, Part.PLAY)
    assert render(elsewhere, Part.ALL) != render(report, Part.ALL)


def test_the_play_part_shows_any_other_play(report: RunReport) -> None:
    first = report.rows[0]
    other = replace(first, standing=replace(first.standing, deals_won=first.standing.deals_won + 1))
    assert render(replace(report, rows=(other, *report.rows[1:])), Part.PLAY) != render(report, Part.PLAY)


def test_nasty_names_come_out_in_ascii_and_parse_back(nasty: RunReport) -> None:
    text = render(nasty, Part.ALL)
    assert text.isascii() and "\x1b" not in text and "\x07" not in text
    bots = {line["bot"] for line in json.loads(text)["standings"]}
    assert {row.participant.name.replace("\ud800", "\\ud800") for row in nasty.rows} == bots
