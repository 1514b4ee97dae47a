"""Markdown shows foreign text as it is: rendered by a real parser, no name becomes markup or leaves its cell."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from arena.reports import Only, markdown
from arena.reports.columns import TABLE_COLUMNS, parse_columns
from arena.reports.foreign import printable
from arena.reports.model import RunReport

COLUMNS = parse_columns(TABLE_COLUMNS)


class Page(HTMLParser):
    """The cells of the tables of a page, by line, and every tag in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.lines: list[list[str]] = []
        self._in_cell = False
        self.feed(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text))

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.lines.append([])
        elif tag in ("td", "th"):
            self.lines[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.lines[-1][-1] += data


def test_the_ranking_has_a_line_a_bot_and_its_columns(report: RunReport) -> None:
    ranking = Page(markdown.render(report, COLUMNS)).lines[:4]
    assert ranking[0] == [column.header for column in COLUMNS]
    assert [line[1] for line in ranking[1:]] == [row.participant.name for row in report.rows]
    assert ranking[1][2] == f"{report.rows[0].rating.score:.2f}"


def test_the_crosstable_has_pairs_and_points(report: RunReport) -> None:
    crosstable = Page(markdown.render(report, COLUMNS)).lines[4:]
    names = [row.participant.name for row in report.rows]
    assert crosstable[0] == ["", *names]
    met = report.crosstable[names[0], names[1]]
    margin = (met.points_for - met.points_against) / met.matches.total
    assert crosstable[1][2] == f"{met.pairs.won}-{met.pairs.drawn}-{met.pairs.lost}{margin:+.2f}"
    assert crosstable[1][1] == "–"


def test_each_table_stands_alone_and_in_the_whole_page(report: RunReport) -> None:
    whole = Page(markdown.render(report, COLUMNS)).lines
    for only in Only:
        lines = Page(markdown.only_one(report, only, COLUMNS)).lines
        assert lines and any(whole[start : start + len(lines)] == lines for start in range(len(whole))), only


def test_nasty_names_show_as_they_are(nasty: RunReport) -> None:
    page = Page(markdown.render(nasty, COLUMNS))
    shown = {line[1] for line in page.lines[1:4]}
    assert shown == {printable(row.participant.name) for row in nasty.rows}
    assert all(len(line) == len(COLUMNS) for line in page.lines[:4])


def test_nasty_names_make_no_markup(nasty: RunReport) -> None:
    ours = {"h1", "h2", "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "strong", "br"}
    assert Page(markdown.render(nasty, COLUMNS)).tags <= ours


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("@all", r"(?<!\\)@"),
        (":smile:", r"(?<!\\):smile:"),
        ("https://x.org", r"(?<!\\)://"),
        ("www.x.org", r"www\.x"),
        ("$x$", r"(?<!\\)\$"),
        ("#12", r"(?<!\\)#1"),
    ],
)
def test_what_github_adds_to_markdown_is_escaped_too(text: str, trouble: str) -> None:
    assert not re.search(trouble, markdown.escape(text))


def test_plain_words_are_left_alone() -> None:
    assert markdown.escape("deep-thought v1.2 (by Anna)") == "deep-thought v1.2 (by Anna)"


def test_a_secret_is_not_told_before_its_time(report: RunReport, unfinished: RunReport) -> None:
    assert "revealed when the last deal is played" in markdown.render(unfinished, COLUMNS)
    assert "revealed when" not in markdown.render(report, COLUMNS)
