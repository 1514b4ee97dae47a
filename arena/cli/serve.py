"""`arena serve`."""

from __future__ import annotations

from typing import Annotated

import typer

from arena.cli.options import DATA, AllowBuildNetwork, Data, building_in_words
from arena.cli.screen import say
from arena.reports.foreign import printable


def serve(
    bot: Annotated[str, typer.Argument(metavar="BOT", help="A sample bot's name, a folder, a file or a command.")],
    address: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where: HOST:PORT of this machine, or unix:PATH.")
    ] = "127.0.0.1:6600",
    data: Data = DATA,
    allow_build_network: AllowBuildNetwork = False,
) -> None:
    """Run a bot by itself, so that calls to it can be tried by hand; until Ctrl-C."""
    import asyncio

    from arena.app.serve import ServeOptions
    from arena.app.serve import serve as run

    options = ServeOptions(bot, address, data, allow_build_network)
    asyncio.run(
        run(
            options,
            lambda name, where: say(f"{printable(name)} serves at {where}; end it by Ctrl-C"),
            lambda name: say(building_in_words(name)),
        )
    )
