"""What to do is told from what was said, and nothing is told where nothing is known."""

from __future__ import annotations

import pytest

from arena.reports.advice import advice

SAID = {
    "/usr/bin/env: 'python3\\r': No such file or directory": "as on Windows",
    "bot 'x' did not start: its program './x' cannot be executed in /b: No such file or directory": "first line",
    "setpriv: failed to execute ./x: No such file or directory": "first line",
    "its program './x' cannot be executed in /b: Permission denied": "chmod +x",
    "its program './x' cannot be executed in /b: Exec format error": "begin it with #!",
    "  File 'bot.py', line 3\n    x ==\n       ^\nSyntaxError: invalid syntax": "it is no Python",
    "Traceback ...\nModuleNotFoundError: No module named 'torch'": "install what is missing",
    "it did not listen at ARENA_ADDRESS within 10 s (does it call serve?)": "call serve",
    "its process ended with status 0 before it answered (does it call serve?)": "came to its end",
    "error: choose returned None; return one of view.legal": "every way through choose",
    "error: choose returned 'AH'; return one of view.legal": "return one of view.legal",
    "PermissionError: [Errno 13] Permission denied: '/etc/x'": "HOME and TMPDIR",
    "OSError: [Errno 30] Read-only file system: 'log.txt'": "HOME and TMPDIR",
    "late": "answer sooner",
    "hung: two decisions in a row ran out of time": "answer sooner",
}


@pytest.mark.parametrize("said", SAID)
def test_what_is_known_is_told(said: str) -> None:
    assert SAID[said] in advice(said)


@pytest.mark.parametrize("said", ["", "JS", "ValueError: I cannot", "its process ended with signal 11"])
def test_where_nothing_is_known_nothing_is_told(said: str) -> None:
    assert advice(said) == ""


def test_what_says_most_counts_first() -> None:
    assert "install what" in advice("error: ModuleNotFoundError\nx\nModuleNotFoundError: no module x")
    assert "HOME" in advice("error: deal 1; PermissionError: Permission denied")
