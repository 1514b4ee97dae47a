"""What each level of the sandbox stops: real attacks, as root and as an ordinary user, compared with the page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.bots.sandbox import Level, at, is_root
from tests.docs.pages import table

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
PAGE = ROOT / "docs" / "sandbox.md"
COLUMNS = {"weak": 2, "weak, root": 3, "medium": 4, "strong": 5}
LEVELS = [level for level in Level if at(level) is not None]
"""Those to be had here; of the others the page's word has to do."""


def promised(level: Level, *, root: bool) -> dict[str, str]:
    column = COLUMNS["weak, root" if root and level is Level.WEAK else str(level)]
    return {row[0].strip("`"): row[column] for row in table(PAGE, "attack")}


def python(folder: Path, *words: str, root: bool) -> str:
    """Runs Python in a folder, as an ordinary user if it must not be as root; what it prints."""
    as_user = [] if root or not is_root() else [sys.executable, str(HERE / "as_user.py"), str(folder)]
    done = subprocess.run(
        [*as_user, sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


WHO = [pytest.param(True, id="root"), pytest.param(False, id="user")] if is_root() else [pytest.param(False, id="user")]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("root", WHO)
@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_of_each_attack_comes_what_the_page_says(tmp_path: Path, level: Level, root: bool) -> None:
    came = json.loads(python(tmp_path, str(HERE / "besieged.py"), str(level), root=root))
    assert came == promised(level, root=root)
