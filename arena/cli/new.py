"""`arena new`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena.app.templates import Language
from arena.cli.screen import emit, say


def _list_langs(wanted: bool) -> None:
    if wanted:
        from arena.app.new import tools_of

        for lang in Language:
            emit(f"{lang:<8}{tools_of(lang) or 'nothing but the arena'}\n")
        raise typer.Exit


def new(
    folder: Annotated[Path, typer.Argument(metavar="NAME", help="The bot's name: a folder of that name is made.")],
    lang: Annotated[Language, typer.Option("--lang", help="The language that it is written in.")] = Language.PYTHON,
    list_langs: Annotated[
        bool,
        typer.Option("--list-langs", callback=_list_langs, is_eager=True, help="Show what each language takes."),
    ] = False,
) -> None:
    """Make a folder with a small bot that already plays, to be changed into yours."""
    from arena.app.new import new_bot

    made = new_bot(folder, lang)
    for path in made.files:
        emit(f"{path}\n")
    if made.needs:
        say(f"it needs what is not in PATH: {made.needs}")
    bot = folder if folder.is_absolute() else f"./{folder}"
    say(f"it plays already: arena play {bot} random --watch{' --allow-build-network' if made.build_network else ''}")
