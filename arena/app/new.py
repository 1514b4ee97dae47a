"""A new bot: a copy of a template, a small bot that already plays, under a name of its own."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from arena.app.templates import TEMPLATES, Language
from arena.bots.manifest import (
    NAME_LENGTH,
    BotSpec,
    builtin_names,
    missing_tools,
    read_folder,
    shipped,
    sources,
    tools_in_words,
)
from arena.errors import UsageError

_NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_-]{{0,{NAME_LENGTH - 1}}}")


@dataclass(frozen=True, slots=True)
class NewBot:
    """A bot that was made."""

    files: tuple[Path, ...]
    """Sorted."""
    build_network: bool
    """Whether its build takes the network."""
    needs: str
    """The tools that it takes and that are not here, and how to get them; empty: all are."""


def new_bot(folder: Path, language: Language) -> NewBot:
    """Make the folder, with a bot that is called like it.

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
    template = _template(language)
    try:
        folder.mkdir(parents=True)
        files = sorted(_copied(template, folder, {template.name: name, template.author: ""}))
    except FileExistsError:
        raise UsageError(f"{folder} is there already; choose another name, or remove it first") from None
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror}") from None
    missing = missing_tools(template)
    return NewBot(tuple(files), template.build_network, tools_in_words(missing) if missing else "")


def tools_of(language: Language) -> str:
    """The tools that a bot of this language takes, and how to get them; empty: none."""
    tools = _template(language).tools
    return tools_in_words(tools) if tools else ""


def _template(language: Language) -> BotSpec:
    return read_folder(shipped(TEMPLATES[language]))


def _copied(template: BotSpec, folder: Path, words: Mapping[str, str]) -> Iterator[Path]:
    """Copy the files of a template, with its words replaced, and what it is generated from if it is built."""
    for source in sources(template.cwd):
        target = folder / source.relative_to(template.cwd)
        data = source.read_bytes()
        for old, new in words.items():
            data = data.replace(old.encode(), new.encode()) if old else data
        yield _written(target, data, source)
    if template.build:
        proto = shipped("proto")
        for source in proto.rglob("*.proto"):
            yield _written(folder / "proto" / source.relative_to(proto), source.read_bytes(), source)


def _written(target: Path, data: bytes, source: Path) -> Path:
    """Write a file, with the mode of its source."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    shutil.copymode(source, target)
    return target
