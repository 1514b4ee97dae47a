"""What `arena new` makes in each language plays, and is the bot that the other tests here try."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from arena.app.data import BUILDS
from arena.app.templates import Language
from arena.bots.manifest import BotSpec
from tests.languages.bots import language_of
from tests.languages.conftest import FOLDER

pytestmark = pytest.mark.timeout(1800)
"""Whichever test is the first builds all the bots."""


@pytest.mark.parametrize("bot", [language for language in Language if language is not Language.PYTHON], indirect=True)
def test_it_plays_from_an_empty_folder_as_it_was_built_for_the_other_tests(bot: BotSpec, tmp_path: Path) -> None:
    def arena(*words: str) -> str:
        command = [sys.executable, "-m", "arena", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    data = tmp_path / "data"
    data.mkdir()
    (data / BUILDS).symlink_to(FOLDER)
    made = arena("new", bot.name, "--lang", language_of(bot.name))
    assert f"arena play ./{bot.name} random" in made
    played = arena("play", f"./{bot.name}", "greedy", "--allow-build-network", "--data", str(data), "--no-timeouts")
    assert "wins 7-" in played
    assert "building" not in played and "fault" not in played
