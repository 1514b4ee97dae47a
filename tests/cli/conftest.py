"""The real command line with real bots: in a process of its own, or (quicker) in that of the tests."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from arena.cli import run

Arena = Callable[..., "subprocess.CompletedProcess[str]"]


class Done(NamedTuple):
    """How a command ended that ran in the process of the tests."""

    code: int
    out: str
    err: str


Here = Callable[..., Done]

OURS = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TERM", "ARENA_DATA", "ARENA_STORE", "PYTHONIOENCODING")
"""What changes how programs print."""
COMMAND = (sys.executable, "-m", "arena")
BOT = """
from arena.bot import CLAIM, CLOSE, serve

def choose(view):
    if view.sure_of_claim and view.can(CLAIM):
        return CLAIM
    return view.rng.choice([action for action in view.legal if action not in (CLAIM, CLOSE)])

serve(choose, waives_before_draw=True)
"""
SLOW_BOT = """
import time
from arena.bot import serve

def choose(view):
    print("asked")
    time.sleep(0.5)
    return view.legal[0]

serve(choose)
"""
CONFIG = """
title = "Little cup"
pairs = {pairs}
block = 3
jobs = 1
trust_bots = true
[[bots]]
bot = "./bot.py"
name = '{one}'
[[bots]]
bot = "./bot.py"
name = '{two}'
"""


def environment(**changes: str) -> dict[str, str]:
    """That of the tests without what changes how programs print."""
    return {**{name: value for name, value in os.environ.items() if name not in OURS}, **changes}


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Here:
    """Run `arena WORDS...` in this process."""
    for name in OURS:
        monkeypatch.delenv(name, raising=False)

    def run_here(*words: str | Path) -> Done:
        code = run([str(word) for word in words])
        return Done(code, *capsys.readouterr())

    return run_here


@pytest.fixture(scope="session")
def arena() -> Arena:
    """Run `arena WORDS...` in a folder; returns its output as text."""

    def run_there(
        *words: str | Path, cwd: Path, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *map(str, words)],
            cwd=cwd,
            env=environment(**(env or {})),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
        )

    return run_there


def make_folder(folder: Path, *, pairs: int = 3, one: str = "one", two: str = "two", bot: str = BOT) -> Path:
    """A folder with a tournament of two bots."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bot.py").write_text(bot, encoding="utf-8")
    (folder / "tournament.toml").write_text(CONFIG.format(pairs=pairs, one=one, two=two), encoding="utf-8")
    return folder


def on_terminal(*words: str | Path, cwd: Path | None = None, **env: str) -> str:
    """Run `arena WORDS...`, which must succeed, on a terminal of 80 characters; returns all that it wrote there."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *map(str, words)],
        cwd=cwd,
        stdout=theirs,
        stderr=theirs,
        stdin=subprocess.DEVNULL,
        env=environment(**{"TERM": "xterm-256color", "COLUMNS": "80", **env}),
    ) as process:
        os.close(theirs)
        parts: list[bytes] = []
        try:
            while part := os.read(ours, 65536):
                parts.append(part)
        except OSError:
            pass  # how Linux says that the last writer has closed the terminal
        finally:
            os.close(ours)
        assert process.wait() == 0
    return b"".join(parts).decode()
