"""`arena show` and `arena runs`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena.app.files import whole_file
from arena.cli import screen
from arena.cli.options import DATA, Data, ReportFormat, Store, archive_of
from arena.cli.screen import emit
from arena.cli.stored import queries_of, report_of, shown
from arena.errors import UsageError
from arena.reports import Format, Only, Part
from arena.reports.columns import COLUMNS, CSV_COLUMNS, STATISTICS, TABLE_COLUMNS, parse_columns

COLUMN_LIST = "\b\nColumns:\n" + "\n".join(f"  {column.name:<22}{column.about}" for column in (*COLUMNS, *STATISTICS))


def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's name or folder, or last.")] = "last",
    data: Data = DATA,
    store: Store = None,
    format: ReportFormat = Format.TABLE,
    part: Annotated[
        Part, typer.Option(help="In JSON: all, or only what is the same for the same seed to the byte.")
    ] = Part.ALL,
    only: Annotated[Only | None, typer.Option(help="Show one table, not the whole report.")] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="NAMES", help="The columns of the ranking, with commas between them.")
    ] = None,
    operator: Annotated[
        bool, typer.Option("--operator", help="Show evidence before the secret is revealed: it names hidden cards.")
    ] = False,
    online: Annotated[
        bool, typer.Option("--online", help="Show, too, what one pass of TrueSkill would say: it depends on the order.")
    ] = False,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write to this file instead of stdout.")] = None,
) -> None:
    """Show the ranking, the crosstable and what they rest on.

    Everything is computed again from what the store holds.
    """
    if part is Part.PLAY and format is not Format.JSON:
        raise UsageError(f"--part play is of JSON, but the format is {format}; add --format json")
    if columns is not None and format is Format.JSON:
        raise UsageError("--columns is of tables, but the format is json; JSON always holds everything")
    if only is not None and format is Format.JSON:
        raise UsageError("--only is of tables, but the format is json; JSON always holds everything")
    if columns is not None and only in (Only.CROSSTABLE, Only.BOTS):
        raise UsageError(f"--columns chooses those of the ranking, but --only is {only}; leave out one of the two")
    if columns is not None:
        parse_columns(columns)  # a mistake in them comes before the work
    if online and format is not Format.JSON:
        columns = f"{columns or (CSV_COLUMNS if format is Format.CSV else TABLE_COLUMNS)},one-pass"
    report = report_of(run, archive_of(data, store), operator=operator, one_pass=online)
    text = shown(report, format, part=part, only=only, columns=columns, to_file=output is not None)
    if output is None:
        emit(text)
        return
    with whole_file(output) as file:
        file.write(text)


def runs(
    data: Data = DATA,
    store: Store = None,
    plays: Annotated[bool, typer.Option("--plays", help="List, too, what arena play has played.")] = False,
) -> None:
    """List the runs in the store, the newest last."""
    from arena.reports import text

    with queries_of(archive_of(data, store)) as queries:
        tallies = [tally for tally in queries.tournaments() if plays or not tally.tournament.is_play]
    console = screen.stdout()
    emit(screen.rendered(text.runs(tallies, console.width), console))
