"""A bot that a person starts: it tests itself, or serves where its command line says."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from arena.bot.keys import Keys, Place
from arena.bot.player import Player
from arena.errors import UsageError
from arena.wire.remote import is_local


def asked_for(player: Player) -> Place | None:
    """Where to serve; None once it has tested itself.  Ends the process with 1 if that found something wrong.

    Raises `UsageError` where nothing is asked for, or a place that is open to everybody.
    """
    script = Path(sys.argv[0])
    words = argparse.ArgumentParser(prog=script.name, add_help=False, allow_abbrev=False)
    words.add_argument("--self-test", nargs="*", metavar="PRESET")
    words.add_argument("--listen", metavar="HOST:PORT")
    words.add_argument("--keys", metavar="FOLDER", type=Path)
    words.add_argument("--plaintext", action="store_true")
    given, _ = words.parse_known_args()  # the others are the bot's own
    if given.self_test is not None:
        from arena.bot.self_test import self_test

        if not self_test(player, given.self_test, sys.stdout.write):
            sys.exit(1)
        return None
    if given.listen is None:
        raise UsageError(
            f"{script.name} is a bot, which an arena starts (ARENA_ADDRESS is not set); to try it: "
            f"arena play {script} random, or --self-test; to serve an arena elsewhere: --listen HOST:PORT --keys FOLDER"
        )
    if given.keys is not None:
        return Place(given.listen, Keys.of(given.keys))
    return Place(given.listen) if given.plaintext else in_plain_text(given.listen)


def in_plain_text(address: str) -> Place:
    """A place on this machine.  Raises `UsageError` where others can come."""
    if not is_local(address):
        raise UsageError(
            f"{address} is open to other machines, where nothing is said in plain text; serve with the keys that "
            "`arena certs` made: --keys FOLDER (or force it by --plaintext)"
        )
    return Place(address)
