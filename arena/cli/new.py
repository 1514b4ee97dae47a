"""`arena new`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena.app.templates import Language
from arena.cli.screen import emit, say


def new(
    folder: Annotated[Path, typer.Argument(metavar="NAME", help="The bot's name: a folder of that name is made.")],
    lang: Annotated[Language, typer.Option("--lang", help="The language that it is written in.")] = Language.PYTHON,
) -> None:
    """Make a folder with a small bot that already plays, to be changed into yours."""
    from arena.app.new import new_bot

    for path in new_bot(folder, lang):
        emit(f"{path}\n")
    bot = folder if folder.is_absolute() else f"./{folder}"
    say(f"it plays already: arena play {bot} random --watch")
