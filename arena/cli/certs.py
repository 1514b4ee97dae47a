"""`arena certs`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import command_line
from arena.cli.screen import emit


def certs(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the two folders, bot and arena, are made.")],
    name: Annotated[str, typer.Option(metavar="BOT", help="What the bot is called.")],
    address: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where the bot will listen, as the arena reaches it.")
    ] = "127.0.0.1:6600",
    days: Annotated[int, typer.Option(metavar="N", help="For how long the certificates hold.")] = 90,
) -> None:
    """Make the keys by which a remote bot and the arena know each other."""
    from arena.app.certs import make_keys

    made = make_keys(folder, name, address, days)
    serving = ["python", "bot.py", "--listen", f"0.0.0.0:{address.rpartition(':')[2]}", "--keys", str(made.bot)]
    emit(
        f"{made.bot} goes to the bot's machine: {shlex.join(serving)}\n"
        f"{made.arena} stays here and names the bot: {command_line('play', str(made.arena), 'random')}\n"
        f"Both hold secrets, for {days} days. The bot's certificate has the SHA-256 {made.fingerprint}\n"
    )
