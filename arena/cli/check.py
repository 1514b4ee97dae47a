"""`arena check`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from arena.cli.exits import Exit
from arena.cli.options import DATA, AllowBuildNetwork, Data, building_in_words
from arena.cli.screen import emit, rendered, say, stderr, stdout
from arena.errors import UsageError


class CheckFormat(StrEnum):
    """In what form the findings are written."""

    TABLE = "table"
    JSON = "json"


def check(
    bot: Annotated[
        str | None,
        typer.Argument(metavar="BOT", help="A sample bot's name, a folder, a file, a command or an address."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="NAME", help="This check only; may be given again.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Name all checks, and try nothing.")] = False,
    format: Annotated[
        CheckFormat, typer.Option("--format", help="In what form the findings are written to stdout.")
    ] = CheckFormat.TABLE,
    data: Data = DATA,
    allow_build_network: AllowBuildNetwork = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show more of equal troubles, and what was not tried.")
    ] = False,
) -> None:
    """Examine a bot: is it started, asked and ended as the protocol says, whatever comes?

    Green holds, yellow is worth knowing, red loses deals, grey could not be tried; exit code 1 if any is red.
    """
    import asyncio

    from arena.cli import checking

    if listed:
        emit(rendered(checking.checks(), stdout()))
        return
    if bot is None:
        raise UsageError("no bot is named; expected one to examine, as in: arena check ./mybot")
    from arena.app.check import CheckOptions, check_bot
    from arena.app.data import BUILDS
    from arena.app.engines.local import Building
    from arena.reports.check import render

    building = Building(data / BUILDS, allow_build_network, told=lambda name: say(building_in_words(name)))
    options = CheckOptions(bot, tuple(only or ()), building=building)
    with stderr().status("") as status:
        found = asyncio.run(check_bot(options, status.update))
    match format:
        case CheckFormat.TABLE:
            emit(rendered(checking.examination(found, verbose=verbose), stdout()))
        case CheckFormat.JSON:
            emit(render(found))
    if not found.passed:
        raise typer.Exit(Exit.WRONG)
