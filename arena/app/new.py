"""A new bot: a copy of a template, a small bot that already plays, under a name of its own."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from arena.app.templates import TEMPLATES, Language
from arena.bots.manifest import NAME_LENGTH, builtin_names, resolve, shipped, sources
from arena.errors import UsageError

_NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_-]{{0,{NAME_LENGTH - 1}}}")


def new_bot(folder: Path, language: Language) -> tuple[Path, ...]:
    """Make the folder, with a bot that is called like it; returns its files, sorted.

    Raises `UsageError`: something is there already, the name is of no use, or the disk takes no files.
    """
    name = folder.name
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"a bot cannot be called {name!r}; expected a letter, and then letters, digits, - and _ "
            f"({NAME_LENGTH} in all at most), such as mybot"
        )
    if name in builtin_names():
        raise UsageError(f"{name!r} is the name of a sample bot; choose another name for yours")
    template = shipped(TEMPLATES[language])
    old = resolve(f"{template}/", base=template).name
    try:
        folder.mkdir(parents=True)
        return tuple(sorted(_copy(path, folder / path.relative_to(template), old, name) for path in sources(template)))
    except FileExistsError:
        raise UsageError(f"{folder} is there already; choose another name, or remove it first") from None
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror}") from None


def _copy(source: Path, target: Path, old: str, new: str) -> Path:
    """Copy a file, whose mode it keeps, with the new name in the place of the old one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    data = source.read_bytes()
    target.write_bytes(data.replace(old.encode(), new.encode()))
    shutil.copymode(source, target)
    return target
