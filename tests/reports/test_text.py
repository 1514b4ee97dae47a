"""Tables fit their terminal, cut names before figures, say what they leave out, and obey no foreign text."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType

from arena.match.record import Status
from arena.reports import Only, markdown, text
from arena.reports.columns import TABLE_COLUMNS, bot_tables, parse_columns
from arena.reports.counting import counted
from arena.reports.model import RunReport
from arena.store import Tally
from arena.store.values import State, Tournament
from tests.reports.runs import with_names

COLUMNS = parse_columns(TABLE_COLUMNS)


def shown(data: RenderableType, width: int = 100, *, terminal: bool = False) -> str:
    console = Console(
        file=io.StringIO(), width=width, force_terminal=terminal, markup=False, highlight=False, emoji=False
    )
    with console.capture() as captured:
        console.print(data)
    return captured.get()


def widest(page: str) -> int:
    return max(cell_len(line.rstrip()) for line in page.splitlines())


def test_three_bots_with_all_columns_fit_a_hundred_and_twenty_characters(report: RunReport) -> None:
    page = shown(text.render(report, COLUMNS, 120), 120)
    assert widest(page) <= 120
    assert "no room" not in page
    assert all(column.header in page for column in COLUMNS)


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120])
def test_no_figure_is_cut_at_any_width(report: RunReport, width: int) -> None:
    page = shown(text.ranking(report.rows, COLUMNS, width), width)
    table = page.split("no room")[0]
    assert widest(table) <= width
    for row in report.rows:
        line = next(line for line in table.splitlines() if line.startswith(f"{row.rank} "))
        assert f"{row.rating.score:.2f}" in line


def test_columns_are_left_out_from_the_right_and_named(report: RunReport) -> None:
    page = shown(text.ranking(report.rows, COLUMNS, 60), 200)
    left_out = page.split("no room for ")[1].split(":")[0].split(", ")
    assert left_out == [column.name for column in COLUMNS[-len(left_out) :]]


def test_a_long_name_is_cut_with_an_ellipsis_and_no_column_is_lost(report: RunReport) -> None:
    long = with_names(report, {"plain": "plain" * 12, "sound": "sound", "faulty": "漢字" * 30})
    page = shown(text.ranking(long.rows, COLUMNS, 124), 124)
    assert "…" in page and "no room" not in page
    assert widest(page) <= 124


def test_the_crosstable_shows_pairs_and_points_of_the_bot_in_the_line(report: RunReport) -> None:
    best, second, _ = (row.participant.name for row in report.rows)
    met = report.crosstable[best, second]
    lines = shown(text.crosstable(report, 100)).splitlines()
    assert lines[2].split()[:4] == ["1", best, "–", f"{met.pairs.won}-{met.pairs.drawn}-{met.pairs.lost}"]
    assert f"{(met.points_for - met.points_against) / met.matches.total:+.2f}" in lines[3]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_tables_of_bots_fit_and_have_a_line_a_bot(report: RunReport, width: int) -> None:
    page = shown(text.only_one(report, Only.BOTS, COLUMNS, width), width)
    assert widest(page) <= width
    for row in report.rows:
        assert sum(line.startswith(row.participant.name) for line in page.splitlines()) == len(bot_tables(report.rows))


def test_one_table_is_shown_alone(report: RunReport) -> None:
    whole = shown(text.render(report, COLUMNS, 120), 120)
    for only in (Only.RANKING, Only.CROSSTABLE):
        page = shown(text.only_one(report, only, COLUMNS, 120), 120)
        assert page.strip() in whole and len(page) < len(whole) / 2


def test_a_narrow_crosstable_shows_percents_and_a_hopeless_one_says_so(report: RunReport) -> None:
    met = report.crosstable[report.rows[0].participant.name, report.rows[1].participant.name]
    percent = 100 * (met.pairs.won + met.pairs.drawn / 2) / met.pairs.total
    assert f" {percent:.0f} " in shown(text.crosstable(report, 36))
    assert "no room for the crosstable of 3 bots" in shown(text.crosstable(report, 10))


def test_the_facts_under_the_tables(report: RunReport) -> None:
    page = shown(text.render(report, COLUMNS, 100), 160)
    deals = sum(report.end_reasons.values())
    reason, count = next(iter(report.end_reasons.items()))
    assert f"{reason} {count:,} ({count / deals:.0%})" in page
    assert report.run.epochs[0].commitment in page
    assert report.run.epochs[0].secret is not None and report.run.epochs[0].secret.hex() in page
    assert f"{report.run.chain_head} over 36 matches" in page
    assert "all mirrored" in page and "finished, rated" in page
    assert f"Faults         {report.fault_count}" in page


def test_an_unfinished_rehearsal_says_so(unfinished: RunReport) -> None:
    page = shown(text.render(unfinished, COLUMNS, 100), 160)
    assert "19 of 36 matches, 1 void" in page
    assert "revealed when the last deal is played" in page
    assert "7 (a rehearsal: anyone can predict its decks)" in page
    assert "interrupted, not rated" in page


def test_rare_ends_are_never_rounded_to_nothing(report: RunReport) -> None:
    page = shown(text.render(replace(report, end_reasons={"claim": 999, "late": 1}), COLUMNS, 100))
    assert "late 1 (<1%)" in page


def test_two_bots_of_one_name_are_told_apart_by_their_authors(report: RunReport) -> None:
    careers = {("Anna", "deep"): 5, ("", "deep"): 4, ("Bert", "blue"): 3}
    page = shown(text.render(replace(report, lost_bummerls=careers), COLUMNS, 100), 160)
    assert "deep by Anna 5, deep by nobody 4, blue 3 (in all rated tournaments)" in page


def test_no_foreign_text_is_obeyed(nasty: RunReport) -> None:
    page = shown(text.render(nasty, COLUMNS, 100), 200)
    assert all(line.isprintable() for line in page.splitlines())
    assert "[red]plain[/red]" in page
    assert r"\x1b[31m\x07\n\r\tnext" in page
    assert r"\u202eevil\ud800" in page
    assert ":smile:" in page


def test_on_a_terminal_only_our_own_escapes_come_out(nasty: RunReport) -> None:
    page = shown(text.render(nasty, COLUMNS, 100), 200, terminal=True)
    assert "\x1b[1m" in page  # the title is bold
    assert "\x1b[31m" not in page and "\x07" not in page and "\u202e" not in page


def test_the_list_of_runs_shows_each_with_its_state() -> None:
    run = Tournament(1, "cup-1", "2026-11-29T20:15:00+00:00", True, {}, {}, {"title": "Spring\x1b"}, State.FINISHED)
    page = shown(text.runs([Tally(run, 3, {Status.PLAYED: 1199, Status.VOID: 1})], 100))
    assert page.splitlines()[2].split() == [
        *("cup-1", "finished", "3", "1,200", "1", "yes", "2026-11-29", "20:15", "UTC", r"Spring\x1b")
    ]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_name_of_a_run_is_never_cut(width: int) -> None:
    name = "a-name-" * 7
    run = Tournament(1, name, "2026-11-29T20:15:00+00:00", True, {}, {}, {"title": "Spring" * 9}, State.FINISHED)
    page = shown(text.runs([Tally(run, 3, {})], width), width)
    assert name in page and "…" not in page
    assert widest(page) <= width and "no room for " in page


def test_the_end_of_the_evidence_is_shown_without_the_frames(report: RunReport) -> None:
    frames = "".join(f'  File "bot.py", line {line}, in choose\n    return deeper(view)\n' for line in range(9))
    traced = f"status 1; it wrote last: Traceback (most recent call last):\n{frames}ValueError: no idea"
    faults = [replace(report.faults[0], evidence=evidence) for evidence in (traced, "x" * 300 + "the end")]
    page = shown(text.render(replace(report, faults=tuple(faults), fault_count=2), COLUMNS, 100), 400)
    assert ": status 1; it wrote last: ValueError: no idea\n" in re.sub(" +\n", "\n", page)
    assert f": …{'x' * 192}the end" in page


def test_before_the_first_complete_pair_there_is_a_sentence_and_no_ranking(report: RunReport) -> None:
    run = replace(report.run, mirrored_pairs=0, unmirrored_pairs=0)
    begun = replace(report, run=run)
    for page in (shown(text.render(begun, COLUMNS, 100), 160), markdown.render(begun, COLUMNS)):
        assert "No pair of matches is complete yet: there is nothing to rank." in page
        assert "sigma" not in page and "TrueSkill" not in page and report.run.chain_head in page


def test_one_of_a_thing_is_in_the_singular() -> None:
    assert [counted(number, "match") for number in (0, 1, 1200)] == ["0 matches", "1 match", "1,200 matches"]
