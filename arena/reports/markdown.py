"""A report as GitHub Markdown: the same tables, complete, for a page or an issue.

Foreign text is escaped, so that it is neither markup nor a link, and never leaves its cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from arena.reports import Only, words
from arena.reports.columns import NOTHING, Column, bot_tables, margin, marked, won_drawn_lost, worded
from arena.reports.foreign import printable
from arena.reports.model import Row, RunReport

_MARKUP = re.compile(r"[\\`*_\[\]|~$@]|:(?=//|[\w+-]+:)|#(?=\d|\s*$)|(?<=www)\.", re.IGNORECASE)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def render(report: RunReport, columns: Sequence[Column]) -> str:
    """The whole report."""
    return "\n".join(_lines(report, columns)) + "\n"


def only_one(report: RunReport, only: Only, columns: Sequence[Column]) -> str:
    """One table of the report; `columns` are those of the ranking."""
    match only:
        case Only.RANKING:
            lines = _ranking(report.rows, worded(columns, report.run.unit))
        case Only.CROSSTABLE:
            lines = _crosstable(report)
        case Only.BOTS:
            lines = _bots(report.rows)
        case _:
            assert_never(only)
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Foreign text as Markdown that shows just that, in one line: no markup, HTML, link, mention, emoji or formula."""
    escaped = _MARKUP.sub(r"\\\g<0>", printable(text))
    return "".join(_ENTITIES.get(char, char) for char in escaped)


_LEGENDS = {
    "pairs": "Pairs won-drawn-lost of the bot in the line, and its game points a match.",
    "blocks": "Blocks ahead-level-behind of the bot in the line, and its game points a match.",
}
"""What a cell of the crosstable holds, by what the evidence is called."""


def _lines(report: RunReport, columns: Sequence[Column]) -> Iterator[str]:
    columns = worded(columns, report.run.unit)
    yield f"# {escape(report.run.title)}"
    yield ""
    yield escape(words.size(report.run))
    yield ""
    if report.run.pairs_finished:
        yield escape(words.verdict(report))
        yield ""
        yield from _ranking(report.rows, columns)
        yield ""
        yield from _list((column.header, column.about) for column in columns)
        yield ""
        yield "## Crosstable"
        yield ""
        yield from _crosstable(report)
        yield ""
        yield _LEGENDS[report.run.unit]
        yield ""
        yield "## What each bot did"
        yield ""
        yield from _bots(report.rows)
    else:
        yield words.nothing_to_rank(report.run)
    yield ""
    yield from _list(
        [
            *words.absences(report),
            *words.results(report),
            ("Faults", f"{report.fault_count:,}" if report.fault_count else "none"),
        ]
    )
    yield ""
    if report.faults:
        yield "## The last faults"
        yield ""
        yield from (f"- {escape(words.fault_in_words(fault))}" for fault in report.faults)
        yield ""
    if report.voids:
        yield "## The last void matches"
        yield ""
        yield from (f"- {escape(': '.join(words.void_in_words(void)))}" for void in report.voids)
        yield ""
    yield "## The run"
    yield ""
    yield from _list(words.provenance(report.run))


def _ranking(rows: Sequence[Row], columns: Sequence[Column]) -> Iterator[str]:
    yield _line(column.header for column in columns)
    yield _line(":---" if column.text else "---:" for column in columns)
    for row in rows:
        yield _line(_cell(column, row) for column in columns)


def _cell(column: Column, row: Row) -> str:
    value = column.value(row)
    text = escape(value) if isinstance(value, str) else column.cell(row)
    return marked(row, text) if column.name == "bot" else text


def _bots(rows: Sequence[Row]) -> Iterator[str]:
    for number, (title, columns) in enumerate(bot_tables(rows).items()):
        if number:
            yield ""
        yield f"### {title}"
        yield ""
        yield from _ranking(rows, columns)
        yield ""
        yield from _list((column.header, column.about) for column in columns)


def _crosstable(report: RunReport) -> Iterator[str]:
    names = [row.participant.name for row in report.rows]
    yield _line(["", *map(escape, names)])
    yield _line([":---", *("---:" for _ in names)])
    for name in names:
        met = [report.crosstable.get((name, other)) for other in names]
        cells = (f"{won_drawn_lost(each.pairs)}<br>{margin(each)}" if each else NOTHING for each in met)
        yield _line([escape(name), *cells])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _list(facts: Iterable[words.Fact]) -> Iterator[str]:
    yield from (f"- **{label}** {escape(text)}" for label, text in facts)
