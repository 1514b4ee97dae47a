"""What several commands take: their options, and how a command line is quoted back."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from arena.errors import UsageError
from arena.reports import Format
from arena.reports.foreign import printable

Data = Annotated[
    Path,
    typer.Option("--data", envvar="ARENA_DATA", metavar="DIR", help="The folder of the store, logs and built bots."),
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


def command_line(*words: str, data: Path = DATA) -> str:
    """A command line for a shell."""
    return shlex.join(["arena", *words, *(["--data", str(data)] if data != DATA else [])])
