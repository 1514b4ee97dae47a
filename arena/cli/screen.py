"""The two ways out: data goes to stdout by `emit`, all else to stderr by `say`; a reader who has left is no error."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

PIPE_WIDTH = 160
"""How wide a table may be where there is no terminal."""


def emit(data: str) -> None:
    """Write data to stdout."""
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
    """What `console` would print, as a text."""
    with console.capture() as captured:
        console.print(data)
    return captured.get()


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
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        # Whatever is still written, at exit too, goes nowhere and fails no more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
