"""What several commands take: their options, and how a command line is quoted back."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.errors import UsageError
from arena.reports import Format
from arena.reports.foreign import printable

if TYPE_CHECKING:
    from arena.app.data import Archive

STORE_VARIABLE = "ARENA_STORE"
Data = Annotated[
    Path,
    typer.Option("--data", envvar="ARENA_DATA", metavar="DIR", help="The folder of the store, logs and built bots."),
]
Store = Annotated[
    str | None,
    typer.Option("--store", envvar=STORE_VARIABLE, metavar="URL", help="A store on a server, not in that folder."),
]
ReportFormat = Annotated[Format, typer.Option("--format", help="In what form the report is written to stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on stderr but what went wrong.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="A line for each match.")]
NoTimeouts = Annotated[
    bool, typer.Option("--no-timeouts", help="Let no clock run, for debugging a bot; such a run is never rated.")
]
AllowBuildNetwork = Annotated[
    bool, typer.Option("--allow-build-network", help="Let builds of bots use the network, if they ask for it.")
]
Run = Annotated[str, typer.Argument(metavar="RUN", help="A run's name or folder, or last.")]
DATA = Path("arena-data")


def building_in_words(name: str) -> str:
    return f"building {printable(name)} ..."


def check_seed(seed: str | None) -> None:
    """Raises `UsageError` for a seed of nothing but spaces."""
    if seed is not None and not seed.strip():
        raise UsageError(f"--seed is {seed!r}; expected a word or a number, or leave it out for decks that none knows")


def archive_of(data: Path, store: str | None) -> Archive:
    """What `--data` and `--store` name.  Raises `UsageError` for what is no address, without showing it."""
    from arena.app.data import Archive

    if store is not None and "://" not in store:
        raise UsageError("--store is no address of a store; expected one as in postgresql://USER@HOST/DATABASE")
    return Archive(data, store)


def command_line(*words: str, archive: Archive | None = None) -> str:
    """A command line for a shell, without a password and what the environment says already."""
    where: list[str] = []
    if archive is not None and archive.folder != DATA:
        where += ["--data", str(archive.folder)]
    if archive is not None and archive.url not in (None, os.environ.get(STORE_VARIABLE)):
        where += ["--store", str(archive)]
    return shlex.join(["arena", *words, *where])
