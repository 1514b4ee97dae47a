"""`arena trust`."""

from __future__ import annotations

from typing import assert_never

from arena.cli import screen
from arena.cli.options import DATA, Data, ReportFormat, Run, Store, archive_of
from arena.cli.screen import emit
from arena.cli.stored import queries_of
from arena.errors import UsageError
from arena.reports import Format


def trust(run: Run = "last", data: Data = DATA, store: Store = None, format: ReportFormat = Format.TABLE) -> None:
    """Say how far the ranking can be trusted, and why.

    Luck, neighbours that cannot be told apart, circles, faults, and what the table would be without each bot.
    """
    if format is Format.CSV:
        raise UsageError("the trust report is no table, so there is no csv of it: choose --format table, json or md")
    from arena.app.show import find_run
    from arena.app.trust import build_trust
    from arena.reports import trust as report

    archive, name = find_run(run, archive_of(data, store))
    with queries_of(archive) as queries:
        found = build_trust(queries, name)
    match format:
        case Format.TABLE:
            console = screen.stdout()
            emit(screen.rendered(report.render(found, console.width), console))
        case Format.JSON:
            emit(report.as_json(found))
        case Format.MD:
            emit(report.markdown(found))
        case _:
            assert_never(format)
