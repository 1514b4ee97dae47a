"""`arena report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import DATA, Data, Quiet, Run, Store, archive_of
from arena.cli.screen import emit, say
from arena.cli.stored import queries_of


def report(
    run: Run = "last",
    data: Data = DATA,
    store: Store = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write the pages here, not into the run's folder.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write the report of a run as pages, to look at and to publish.

    They need no server and ask nothing of anybody: open the first page, send the folder, or copy it to any web space.
    """
    from arena.app.report import write_site
    from arena.app.show import find_run

    archive, name = find_run(run, archive_of(data, store))
    with queries_of(archive) as queries:
        if not quiet:
            say(f"writing the report of {name} ...")
        emit(f"{write_site(queries, name, archive, out)}\n")
