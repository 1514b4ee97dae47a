"""A bot as a process: where it serves, and what it says when it cannot."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from arena.bot.keys import Keys, Place
from arena.bot.player import Bot, Player
from arena.errors import UsageError
from arena.game.rules import Rules
from arena.wire.remote import is_local


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

    Started by a person, `SCRIPT --listen HOST:PORT --keys FOLDER` plays for an arena elsewhere that has the other
    folder of `arena certs`, until the process is told to end; `streams` is how many blocks it then plays at once.
    Without keys (in plain text) it listens on this machine only, unless forced by `--plaintext`.

    Ends the process with exit code 2 and one sentence if it cannot serve or was given no bot.
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
            streams=streams,
        )
        place = _place(script)
        # Before gRPC is imported: its fork support breaks bots that start processes of their own.
        os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
        from arena.bot.server import Server

        Server(player, place).run()
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)


def _place(script: Path) -> Place:
    """Where to serve: where the arena that started this process says, else where its command line says."""
    if address := os.environ.get("ARENA_ADDRESS"):
        place, plaintext = Place(address), False
    else:
        import argparse  # most bots are started by an arena, and sooner without

        words = argparse.ArgumentParser(prog=script.name, add_help=False, allow_abbrev=False)
        words.add_argument("--listen", metavar="HOST:PORT")
        words.add_argument("--keys", metavar="FOLDER", type=Path)
        words.add_argument("--plaintext", action="store_true")
        given, _ = words.parse_known_args()  # the others are the bot's own
        if given.listen is None:
            raise UsageError(
                f"{script.name} is a bot, which an arena starts (ARENA_ADDRESS is not set); to try it: "
                f"arena play {script} random; to serve an arena elsewhere: --listen HOST:PORT --keys FOLDER"
            )
        place = Place(given.listen, None if given.keys is None else Keys.of(given.keys))
        plaintext = given.plaintext
    if place.keys is None and not plaintext and not is_local(place.address):
        raise UsageError(
            f"{place.address} is open to other machines, where nothing is said in plain text; serve with the keys that "
            "`arena certs` made: --keys FOLDER (or force it by --plaintext)"
        )
    return place
