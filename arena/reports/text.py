"""A report for a terminal: calm tables that fit its width, and under them what makes them trustworthy.

Makes Rich renderables and prints nothing.  All foreign text goes through `printable` into `Text`, never into markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from arena.match.record import Status
from arena.match.referee import LAST_WORDS
from arena.reports import Only, words
from arena.reports.columns import NOTHING, Column, bot_tables, margin, marked, won_drawn_lost, worded
from arena.reports.counting import counted
from arena.reports.foreign import printable
from arena.reports.model import Row, RunFacts, RunReport
from arena.store.values import Tally
from arena.tournament.standings import Encounter

GAP = 2
"""Blanks between two columns."""
NAME_WIDTH = 24
"""What foreign text may take in a table."""
SHORT_NAME_WIDTH = 10
"""What it is cut to before whole columns are left out."""
TITLE_WIDTH = 40
FAULTS_SHOWN = 3
FAULT_WIDTH = 200
"""What the evidence of a fault may take, half of it the bot's last words: of longer ones the end says most."""
_EVIDENCE = {
    "pairs": "pairs are won-drawn-lost; points are game points a match, a bot's own less the others'",
    "blocks": "blocks are first-shared-not first, in the crosstable ahead-level-behind; "
    "points are game points a match, a bot's own less the mean of the others'",
}
"""What is said of the evidence, by what it is called."""


def how_to_read(unit: str) -> str:
    """The ranking and the crosstable in one sentence."""
    return (
        "who cannot be told apart at 95% shares a rank; score is mu - 3 sigma; ±95% is relative to the field; "
        f"> next and first are probabilities; {_EVIDENCE[unit]}; ms is the median time of a decision"
    )


def render(report: RunReport, columns: Sequence[Column], width: int) -> RenderableType:
    """The whole report, for a terminal of `width` characters."""
    unit = report.run.unit
    legend = f"{how_to_read(unit)}; what each bot did: arena show --only bots; all columns: arena show --help"
    facts = [
        *words.absences(report),
        *words.results(report),
        *_faults(report),
        *_voids(report),
        *words.provenance(report.run),
    ]
    if not report.run.pairs_finished:
        return Group(heading(report.run), "", Text(words.nothing_to_rank(report.run)), "", facts_table(facts))
    return Group(
        heading(report.run),
        Text(printable(words.verdict(report))),
        "",
        ranking(report.rows, worded(columns, unit), width),
        "",
        crosstable(report, width),
        "",
        facts_table([*facts, ("Columns", legend)]),
    )


def only_one(report: RunReport, only: Only, columns: Sequence[Column], width: int) -> RenderableType:
    """One table of the report; `columns` are those of the ranking."""
    match only:
        case Only.RANKING:
            return ranking(report.rows, worded(columns, report.run.unit), width)
        case Only.CROSSTABLE:
            return crosstable(report, width)
        case Only.BOTS:
            return bots(report.rows, width)
        case _:
            assert_never(only)


def bots(rows: Sequence[Row], width: int) -> RenderableType:
    """What each bot did: tables below their titles."""
    parts: list[RenderableType] = []
    for title, columns in bot_tables(rows).items():
        parts += ["", Text(title, style="bold"), ranking(rows, columns, width)]
    return Group(*parts[1:])


def heading(run: RunFacts) -> RenderableType:
    """Title, rules and size of a run, in two lines."""
    return Group(Text(printable(run.title), style="bold"), Text(printable(words.size(run))))


def ranking(rows: Sequence[Row], columns: Sequence[Column], width: int) -> RenderableType:
    """The ranking table.  Where it does not fit `width`, names are cut, then columns left out from the right."""

    def grid(shown: int, name_width: int) -> _Grid:
        chosen = columns[:shown]
        return _Grid(
            headers=[column.header for column in chosen],
            texts=[column.text for column in chosen],
            lines=[[_cell(column, row, name_width) for column in chosen] for row in rows],
        )

    fitting = _fitting(grid, len(columns), NAME_WIDTH, width)
    left_out = columns[len(fitting.headers) :]
    if not left_out:
        return fitting.table()
    names = ", ".join(column.name for column in left_out)
    return Group(fitting.table(), Text(f"no room for {names}: widen the terminal, or choose by --columns", style="dim"))


def _fitting(grid: Callable[[int, int], _Grid], columns: int, text_width: int, width: int) -> _Grid:
    """The first that fits `width` of `grid(columns shown, width of text)`: text is cut, then columns left out."""

    def narrower_and_narrower() -> Iterator[_Grid]:
        for shown_width in range(text_width, SHORT_NAME_WIDTH, -1):
            yield grid(columns, shown_width)
        for shown in range(columns, 1, -1):
            yield grid(shown, SHORT_NAME_WIDTH)

    return next((each for each in narrower_and_narrower() if each.width <= width), grid(1, SHORT_NAME_WIDTH))


def crosstable(report: RunReport, width: int) -> RenderableType:
    """Each bot (a line) against each other, in the order of the ranking, as detailed as `width` allows."""
    names = [row.participant.name for row in report.rows]
    places = [str(place) for place in range(1, len(names) + 1)]
    labels = [
        f"{place} {marked(row, _cut(printable(row.participant.name), NAME_WIDTH))}"
        for place, row in zip(places, report.rows, strict=True)
    ]
    met = [[report.crosstable.get((name, other)) for other in names] for name in names]
    texts = [True, *(False for _ in names)]
    detailed = _Grid(
        headers=[f"{report.run.unit} and points", *(_cut(printable(name), SHORT_NAME_WIDTH) for name in names)],
        texts=texts,
        lines=[[label, *map(_pairs_and_points, line)] for label, line in zip(labels, met, strict=True)],
    )
    short = _Grid(
        headers=[f"% of {report.run.unit}", *places],
        texts=texts,
        lines=[[label, *map(_percent, line)] for label, line in zip(labels, met, strict=True)],
    )
    for grid in (detailed, short):
        if grid.width <= width:
            return grid.table()
    return Text(f"no room for the crosstable of {counted(len(names), 'bot')}: see --format md or json", style="dim")


def matrix(
    title: str, names: Sequence[str], cells: Sequence[Sequence[str | None]], width: int
) -> RenderableType | None:
    """Each name (a line) against each other; None where that does not fit `width`."""
    grid = _Grid(
        headers=[title, *(_cut(printable(name), SHORT_NAME_WIDTH) for name in names)],
        texts=[True, *(False for _ in names)],
        lines=[
            [_cut(printable(name), NAME_WIDTH), *(cell or NOTHING for cell in line)]
            for name, line in zip(names, cells, strict=True)
        ],
    )
    return grid.table() if grid.width <= width else None


def runs(tallies: Sequence[Tally], width: int) -> RenderableType:
    """The list of all runs.  Where it does not fit `width`, titles are cut, then columns left out from the right."""
    headers = ["run", "state", "bots", "matches", "void", "rated", "begun", "title"]
    texts = [True, True, False, False, False, True, True, True]

    def grid(shown: int, title_width: int) -> _Grid:
        return _Grid(headers[:shown], texts[:shown], [_run(tally, title_width)[:shown] for tally in tallies])

    fitting = _fitting(grid, len(headers), TITLE_WIDTH, width)
    left_out = headers[len(fitting.headers) :]
    if not left_out:
        return fitting.table()
    return Group(fitting.table(), Text(f"no room for {', '.join(left_out)}: widen the terminal", style="dim"))


def _run(tally: Tally, title_width: int) -> Sequence[str]:
    """The cells of a run; its name is whole, since other commands are told it."""
    return [
        tally.tournament.name,
        str(tally.tournament.state),
        f"{tally.participants:,}",
        f"{sum(tally.matches.values()):,}",
        f"{tally.matches.get(Status.VOID, 0):,}",
        "yes" if tally.tournament.rated else "no",
        words.moment(tally.tournament.created),
        _cut(printable(tally.tournament.about.get("title", "")), title_width),
    ]


def facts_table(facts: Sequence[words.Fact]) -> RenderableType:
    """Labels and their texts, side by side."""
    table = Table.grid(padding=(0, GAP, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in facts:
        table.add_row(label, Text(printable(text)))
    return table


def _faults(report: RunReport) -> Iterator[words.Fact]:
    last = f", the last {FAULTS_SHOWN}:" if report.fault_count > FAULTS_SHOWN else ""
    yield "Faults", f"{report.fault_count:,}{last}" if report.fault_count else "none"
    for fault in report.faults[-FAULTS_SHOWN:]:
        place, evidence = words.fault_in_short(fault)
        reason, before, words_of_bot = evidence.partition(LAST_WORDS)
        said = f"{before}{_end(words_of_bot, FAULT_WIDTH // 2)}"
        yield "", f"{place}: {_end(reason, FAULT_WIDTH - len(said))}{said}"


def _voids(report: RunReport) -> Iterator[words.Fact]:
    for number, void in enumerate(report.voids[-FAULTS_SHOWN:]):
        place, reason = words.void_in_words(void)
        yield "" if number else "Void", f"{place}: {_end(reason, FAULT_WIDTH)}"


def _cell(column: Column, row: Row, name_width: int) -> str:
    text = column.cell(row)
    text = _cut(text, name_width) if column.text else text
    return marked(row, text) if column.name == "bot" else text


def _pairs_and_points(met: Encounter | None) -> str:
    """Two lines: `60-30-10` and `+1.24`, the game points a match."""
    if met is None:
        return NOTHING
    return f"{won_drawn_lost(met.pairs)}\n{margin(met)}"


def _percent(met: Encounter | None) -> str:
    """The share of the pairs, a draw as half a pair: `62`."""
    if met is None or not met.pairs.total:
        return NOTHING
    return f"{100 * (met.pairs.won + met.pairs.drawn / 2) / met.pairs.total:.0f}"


def _cut(text: str, width: int) -> str:
    """The text in at most `width` cells of a terminal, an ellipsis where something is missing."""
    return text if cell_len(text) <= width else set_cell_size(text, width - 1).rstrip() + "…"


def _end(text: str, width: int) -> str:
    """The end of the text in at most `width` characters, an ellipsis where something is missing."""
    return text if len(text) <= width else "…" + text[1 - width :].lstrip()


@dataclass(frozen=True, slots=True)
class _Grid:
    """A table as texts, so that its width is known before it is made."""

    headers: Sequence[str]
    texts: Sequence[bool]
    """By column, whether it is aligned to the left."""
    lines: Sequence[Sequence[str]]

    @property
    def width(self) -> int:
        """In cells of a terminal."""
        columns = zip(self.headers, *self.lines, strict=True)
        widths = [max(cell_len(part) for cell in column for part in cell.split("\n")) for column in columns]
        return sum(widths) + GAP * (len(widths) - 1)

    def table(self) -> Table:
        """The table itself: one rule under its header, no frame."""
        table = Table(
            box=box.SIMPLE_HEAD,
            padding=(0, GAP - 1, 0, 0),  # the box's own divider is one blank more
            pad_edge=False,
            show_edge=False,
            header_style="dim",
            border_style="dim",
        )
        for header, text in zip(self.headers, self.texts, strict=True):
            table.add_column(Text(header), justify="left" if text else "right", no_wrap=True)
        for line in self.lines:
            table.add_row(*map(Text, line))
        return table
