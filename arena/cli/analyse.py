"""`arena analyse`."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from arena.cli.exits import Exit
from arena.cli.options import DATA, Data, Quiet, ReportFormat, Run, Store, archive_of, command_line
from arena.cli.screen import emit, say
from arena.cli.stored import report_of, shown, with_store
from arena.errors import UsageError
from arena.reports import Format, Only
from arena.reports.columns import ENDGAME_COLUMNS
from arena.reports.counting import counted

SAY_EVERY_S = 5.0
"""How often it says how far it is."""


def analyse(
    run: Run = "last",
    data: Data = DATA,
    store: Store = None,
    deals: Annotated[int, typer.Option(min=1, metavar="N", help="Analyse so many deals of each bot.")] = 200,
    bot: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this bot; may be given again.")] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Use so many processes.", show_default="one a core")
    ] = None,
    format: ReportFormat = Format.TABLE,
    quiet: Quiet = False,
) -> None:
    """Compare what bots did in endgames with the exact solution.

    Judged is every choice at which the bot itself could work out all hands, in a sample of its deals.  What was judged
    is kept in the store: stopped, it goes on where it was, and arena show --only bots shows it.
    """
    from arena.app.analyse import AnalyseOptions
    from arena.app.analyse import analyse as judge_endgames
    from arena.app.show import find_run
    from arena.tournament.config import cores_here

    if format is Format.JSON:
        raise UsageError("there is no json of the endgames alone; arena show --format json has them, too")
    archive, name = find_run(run, archive_of(data, store))
    options = AnalyseOptions(deals, tuple(bot or ()), jobs or cores_here())
    progress = _Progress(quiet)
    try:
        judge_endgames(name, with_store(archive), options, progress)
    except KeyboardInterrupt:
        say(f"stopped: {progress}; go on with {command_line('analyse', run, archive=archive)}")
        raise typer.Exit(Exit.STOPPED) from None
    emit(shown(report_of(name, archive), format, only=Only.RANKING, columns=ENDGAME_COLUMNS))
    if not quiet:
        say(str(progress))


class _Progress:
    """Is told how many deals are analysed, and says so now and then."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._begun: tuple[float, int] | None = None
        self._said = time.monotonic()
        self._words = "nothing is analysed yet"

    def __call__(self, done: int, total: int) -> None:
        from arena.cli.progress import duration

        now = time.monotonic()
        begun, before = self._begun = self._begun or (now, done)
        self._words = f"{done:,} of {counted(total, 'deal')} analysed"
        if self._quiet or done == total or now - self._said < SAY_EVERY_S:
            return
        self._said = now
        if done > before:
            rate = (done - before) / (now - begun)
            say(f"{self._words}, {rate:.1f}/s, {duration((total - done) / rate)} left")

    def __str__(self) -> str:
        return self._words
