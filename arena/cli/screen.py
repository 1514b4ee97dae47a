"""The two ways out: data goes to stdout by `emit`, all else to stderr by `say`; a reader who has left is no error."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, TextIO

from arena.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

PIPE_WIDTH = 160
"""How wide a table may be where there is no terminal."""


def settle() -> None:
    """Once, at the start: a stream that the caller has closed takes nothing, but no file of ours takes its place."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)  # gets the lowest number that is free: this one
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a name is no error


def emit(data: str) -> None:
    """Write data to stdout.  Raises `UsageError` where it takes none: the disk is full."""
    _write(sys.stdout, data)


def say(text: str) -> None:
    """Write a line to stderr."""
    _write(sys.stderr, f"{text}\n")


def stdout() -> Console:
    """A console for what goes to stdout, as wide as its terminal."""
    return _console(sys.stdout)


def stderr() -> Console:
    """A console for what goes to stderr."""
    return _console(sys.stderr)


def plain() -> Console:
    """A console for what goes to a file: without styles, whatever is asked for on the screen."""
    return _console(io.StringIO(), styled=False)


def rendered(data: RenderableType, console: Console) -> str:
    """What `console` would print, as a text; only a terminal gets the blanks that fill a table's lines."""
    with writing(console.file), console.capture() as captured:  # Rich writes nothing, but even that may fail
        console.print(data)
    text = captured.get()
    return text if console.is_terminal else re.sub(r" +$", "", text, flags=re.MULTILINE)


def _console(file: TextIO, *, styled: bool = True) -> Console:
    from rich.console import Console

    # Without a terminal, or COLUMNS from the user, Rich would squeeze everything into 80 characters.
    width = None if file.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return Console(
        file=file,
        width=width,
        color_system="auto" if styled else None,
        force_terminal=None if styled else False,
        markup=False,
        highlight=False,
        emoji=False,
    )


def _write(stream: TextIO, text: str) -> None:
    with writing(stream):
        stream.write(text)
        stream.flush()


@contextmanager
def writing(stream: IO[str]) -> Iterator[None]:
    """A reader who has left, or a full disk below stderr, is passed over; a full disk below stdout is told."""
    try:
        yield
    except OSError as error:
        failure = unwritable(stream, error)
        if stream is sys.stdout and not isinstance(error, BrokenPipeError):
            raise failure from None


def unwritable(stream: IO[str], error: OSError) -> UsageError:
    """What to say of a stream that took no data; whatever is still written, at exit too, goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return UsageError(f"stdout cannot be written: {error.strerror}")
