"""What to do about a bot that fails, told from what it wrote and how it ended: the same words in every command."""

from __future__ import annotations

import re

_UNIX_LINES = "sed -i 's/\\r$//' FILE"
_ADVICE = tuple(
    (re.compile(pattern, re.MULTILINE), sentence)
    for pattern, sentence in (
        (r"\\r\W{1,3}No such file", f"its lines end as on Windows: {_UNIX_LINES}"),
        (
            r"(?:cannot be executed|failed to execute|execvp) .*No such file",
            "the interpreter in its first line is not there; if its lines end as on Windows, that is why: "
            f"{_UNIX_LINES}",
        ),
        (r"(?:cannot be executed|failed to execute|execvp) .*Permission denied", "make it executable: chmod +x FILE"),
        (r"(?:cannot be executed|failed to execute|execvp) .*Exec format", "begin it with #! and its interpreter"),
        (r"^(?:SyntaxError|IndentationError|TabError)\b", "mend the line that is named: it is no Python"),
        (
            r"^(?:ModuleNotFoundError|ImportError)\b",
            "install what is missing for the Python that runs it: the arena's own, unless its command names another",
        ),
        (r"^MemoryError\b|Cannot allocate memory", "let it have more by memory_mb in its bot.toml, or need less"),
        (
            r"Read-only file system|Permission denied",
            "it may write to the folders in HOME and TMPDIR only, and read its own: see docs/sandbox.md",
        ),
        (
            r"did not listen at ARENA_ADDRESS within",
            "call serve; what takes long to import or to load has to wait until serve was called",
        ),
        (r"ended with status 0 before it answered", "call serve: the program came to its end without"),
        (r"choose returned None", "return an action at the end of every way through choose"),
        (r"choose returned", "return one of view.legal, or a card of view.plays"),
        (r"^illegal\b", "return one of view.legal; view.plays are the cards that may be played now"),
        (r"^error\b", "mend what is named; what else goes wrong, python bot.py --self-test says sooner"),
        (r"^(?:late|hung)\b", "answer sooner: view.time_left_ms says how long there is"),
    )
)


def advice(said: str) -> str:
    """What to do, in a sentence; empty where nothing in the text tells."""
    return next((sentence for pattern, sentence in _ADVICE if pattern.search(said)), "")
