"""A bot as a process: where it serves, and what it says when it cannot."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable

from arena.bot.keys import Place
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
    streams: int = 1,
) -> None:
    """Play for the arena that started this process; returns when it is done.

    `bot` is a function `choose(view)`, an object with a method of that name (it plays all matches), or a class with
    one (made anew for each match).  Objects and classes may also have `match_started(match)`, `deal_ended(result)`
    and `match_ended(result)`.  All of it is called on the thread that called `serve`, one call after another.

    `name` and `version` are for people; the name of the script stands in for a missing name.  `plays` is the presets
    that the bot knows, or a function that says whether it plays the rules it is given; by default it plays all.
    `decisions_at_once` is how many decisions of different matches the bot wants open at once: 0 is any number, slow
    thinkers say 1.  With `waives_before_draw` the bot is not asked at BEFORE_DRAW: it always goes on there.

    Started by a person, `SCRIPT --self-test` plays a few deals against itself under all rules that it plays, and says
    what goes wrong.  `SCRIPT --listen HOST:PORT --keys FOLDER` plays for an arena elsewhere that has the other folder
    of `arena certs`, until the process is told to end; `streams` is how many blocks it then plays at once.  Without
    keys (in plain text) it listens on this machine only, unless forced by `--plaintext`.

    Ends the process with exit code 2 and one sentence if it cannot serve or was given no bot.
    """
    script = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    try:
        player = Player(
            bot,
            name=script or "bot" if name is None else name,
            version=version,
            plays=plays,
            decisions_at_once=decisions_at_once,
            waives_before_draw=waives_before_draw,
            streams=streams,
        )
        address = os.environ.get("ARENA_ADDRESS", "")
        if address.startswith("unix:"):
            place: Place | None = Place(address)
        else:
            # Imported here, as elsewhere in this package: a bot that an arena starts does without, and starts sooner.
            from arena.bot.command_line import asked_for, in_plain_text

            place = in_plain_text(address) if address else asked_for(player)
        if place is None:
            return
        # Before gRPC is imported: its fork support breaks bots that start processes of their own.
        os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
        gc.disable()  # what a start makes is kept: to look through it for garbage is in vain, now and later
        from arena.bot.server import Server

        gc.freeze()
        gc.enable()
        Server(player, place).run()
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
