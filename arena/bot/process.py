"""A bot as a process: where it serves, and what it says when it cannot."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from arena.bot.player import Bot, Player
from arena.errors import UsageError
from arena.game.rules import Rules


def serve(
    bot: Bot,
    *,
    name: str | None = None,
    version: str = "",
    plays: Iterable[str] | Callable[[Rules], bool] | None = None,
    decisions_at_once: int = 0,
    waives_before_draw: bool = False,
) -> None:
    """Play for the arena that started this process; returns when it is done.

    `bot` is a function `choose(view)`, an object with a method of that name (it plays all matches), or a class with
    one (made anew for each match).  Objects and classes may also have `match_started(match)`, `deal_ended(result)`
    and `match_ended(result)`.  All of it is called on the thread that called `serve`, one call after another.

    `name` and `version` are for people; the name of the script stands in for a missing name.  `plays` is the presets
    that the bot knows, or a function that says whether it plays the rules it is given; by default it plays all.
    `decisions_at_once` is how many decisions of different matches the bot wants open at once: 0 is any number, slow
    thinkers say 1.  With `waives_before_draw` the bot is not asked at BEFORE_DRAW: it always goes on there.

    Ends the process with exit code 2 and one sentence if it was not started by an arena or was given no bot.
    """
    script = Path(sys.argv[0])
    try:
        player = Player(
            bot,
            name=script.stem or "bot" if name is None else name,
            version=version,
            plays=plays,
            decisions_at_once=decisions_at_once,
            waives_before_draw=waives_before_draw,
        )
        address = os.environ.get("ARENA_ADDRESS")
        if not address:
            raise UsageError(
                f"{script.name} is a bot, which an arena starts (ARENA_ADDRESS is not set); to try it: "
                f"arena play {script} random"
            )
        # Before gRPC is imported: its fork support breaks bots that start processes of their own.
        os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
        from arena.bot.server import Server

        Server(player, address).run()
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
