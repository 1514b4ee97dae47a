"""`arena times`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import DATA, Data, ReportFormat, Run, Store, archive_of
from arena.cli.screen import emit
from arena.cli.stored import queries_of
from arena.errors import UsageError
from arena.reports import Format


def times(
    bot: Annotated[str, typer.Argument(metavar="BOT", help="The bot's name in the run.")],
    run: Run = "last",
    data: Data = DATA,
    store: Store = None,
    format: ReportFormat = Format.TABLE,
    slowest: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Only the N decisions that were charged most, the worst first."),
    ] = None,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write to this file instead of stdout.")] = None,
) -> None:
    """List where the time of each decision of a bot went.

    In milliseconds: charged is bot and wire; waited, queue and arena are charged to nobody.
    """
    import heapq

    from arena.app.show import find_run
    from arena.app.times import decision_times
    from arena.reports.times import render

    archive, name = find_run(run, archive_of(data, store))
    with queries_of(archive) as queries:
        wanted = decision_times(queries, name, bot)
        if slowest is not None:
            wanted = iter(heapq.nlargest(slowest, wanted, key=lambda each: each.spent.took_us))
        _write(render(wanted, format), output)


def _write(pieces: Iterable[str], output: Path | None) -> None:
    if output is None:
        for piece in pieces:
            emit(piece)
        return
    try:
        with output.open("w", encoding="utf-8") as file:
            file.writelines(pieces)
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}; choose another --output") from None
