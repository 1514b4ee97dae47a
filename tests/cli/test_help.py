"""Help comes at once, names every command and every exit code, and goes to stdout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from arena import __version__
from arena.cli.exits import MEANINGS, Exit
from arena.reports.columns import COLUMNS
from tests.cli.conftest import Arena, Here, environment

COMMANDS = ("tournament", "show", "runs", "times", "play", "export", "verify")
SLOW = {"asyncio", "grpc", "google.protobuf", "numpy", "pydantic", "rich.table", "sqlalchemy", "trueskill"}


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_names_every_command_and_exit_code(arena: Arena, tmp_path: Path, word: str) -> None:
    done = arena(word, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(f"\n  {command} " in done.stdout for command in COMMANDS)
    assert all(f"{code.value} " in done.stdout and meaning in done.stdout for code, meaning in MEANINGS.items())
    assert set(MEANINGS) == set(Exit)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(here: Here, command: str) -> None:
    code, out, err = here(command, "-h")
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: arena {command} ")


def test_the_help_of_show_explains_every_column(here: Here) -> None:
    text = here("show", "--help").out
    assert all(f"\n    {column.name} " in text and column.about in text for column in COLUMNS)


def test_help_imports_nothing_slow() -> None:
    code = "import sys; from arena.cli import run; run(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True)
    assert not SLOW & set(done.stdout.splitlines()[-1].split())


def test_the_version_is_told(here: Here) -> None:
    assert here("--version") == (0, f"arena {__version__}\n", "")


def test_no_command_at_all_shows_the_help_as_a_mistake(here: Here) -> None:
    code, out, err = here()
    assert code == Exit.USAGE
    assert "\n  tournament " in out + err
