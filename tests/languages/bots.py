"""Greedy in every language, as `arena new` makes it: under a name of its own it is built once, for tests and bench."""

from __future__ import annotations

from pathlib import Path

from arena.app.new import new_bot
from arena.app.templates import Language

_PREFIX = "greedy_in_"


def made(language: Language, folder: Path) -> str:
    """How the bot is named to the arena, which was made in the folder; Python's is the sample bot."""
    if language is Language.PYTHON:
        return "greedy"
    bot = folder / f"{_PREFIX}{language}"
    new_bot(bot, language)
    return str(bot)


def language_of(name: str) -> Language:
    """The language of a bot that was made, by its name."""
    return Language(name.removeprefix(_PREFIX))
