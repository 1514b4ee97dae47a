"""What lies in a store, for the commands that look at it."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from arena.cli import screen
from arena.errors import UsageError
from arena.reports import Format, Only, Part
from arena.reports.columns import BOT_CSV_COLUMNS, CSV_COLUMNS, TABLE_COLUMNS, parse_columns

if TYPE_CHECKING:
    from arena.app.data import Archive
    from arena.reports.model import RunReport
    from arena.store import Queries


def report_of(run: str, archive: Archive, *, operator: bool = False, one_pass: bool = False) -> RunReport:
    """The report of a run, by its name or folder or `last`."""
    from arena.app.show import build_report, find_run

    archive, name = find_run(run, archive)
    with queries_of(archive) as queries:
        return build_report(queries, name, operator=operator, one_pass=one_pass)


def queries_of(archive: Archive) -> Queries:
    """The store, to be read only."""
    from arena.store import open_queries

    return open_queries(with_store(archive).store)


def with_store(archive: Archive) -> Archive:
    """The archive, which must have a store."""
    from arena.store import has_store

    if not has_store(archive.store):
        raise UsageError(
            f"no tournament was played in {archive} yet; play one first, or name another place by --data or --store"
        )
    return archive


def shown(
    report: RunReport,
    format: Format,
    *,
    part: Part = Part.ALL,
    only: Only | None = None,
    columns: str | None = None,
    to_file: bool = False,
) -> str:
    """The report (or one table of it) in the wanted form; a table is as wide as where it goes to."""
    from arena.reports import csv, json, markdown, text

    ranking = parse_columns(TABLE_COLUMNS if columns is None else columns)
    match format:
        case Format.TABLE:
            console = screen.plain() if to_file else screen.stdout()
            if only is None:
                return screen.rendered(text.render(report, ranking, console.width), console)
            return screen.rendered(text.only_one(report, only, ranking, console.width), console)
        case Format.JSON:
            return json.render(report, part)
        case Format.CSV if only is Only.CROSSTABLE:
            return csv.crosstable(report)
        case Format.CSV:
            default = BOT_CSV_COLUMNS if only is Only.BOTS else CSV_COLUMNS
            return csv.render(report.rows, parse_columns(default if columns is None else columns))
        case Format.MD:
            return markdown.render(report, ranking) if only is None else markdown.only_one(report, only, ranking)
        case _:
            assert_never(format)
