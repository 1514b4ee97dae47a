"""What the arena's exit codes mean: part of its interface."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """How a command ended."""

    DONE = 0
    WRONG = 1
    USAGE = 2
    BUG = 3
    STOPPED = 4
    INTERRUPTED = 130


MEANINGS = {
    Exit.DONE: "done",
    Exit.WRONG: "finished, but something is wrong (a void match, a record that differs, a finding of doctor or check)",
    Exit.USAGE: "a mistake in the command line, a file or a bot",
    Exit.BUG: "the arena failed: a bug, or a store that takes no more results",
    Exit.STOPPED: "stopped early; --resume goes on",
    Exit.INTERRUPTED: "interrupted",
}
