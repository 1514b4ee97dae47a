"""What the page on learning shows does learn: after a few thousand deals it beats `random` beyond doubt."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from math import sqrt
from pathlib import Path

import pytest

from arena.game.game import Game
from arena.game.presets import preset
from bench.strength import Player, compare, load, load_file
from tests.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "authors" / "learning.md"
DEALS, PAIRS = 6000, 150
SIGMAS = 4
"""Won by chance in less than one of 30,000 trainings; and the seed is fixed."""


@pytest.mark.timeout(300)
def test_a_bot_that_learned_from_few_deals_beats_random(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for block in blocks(PAGE):
        if block.name.endswith(".py"):
            (tmp_path / block.name).write_text(block.text, encoding="utf-8")
    command = [sys.executable, "train.py", str(DEALS)]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # so small arrays gain nothing by more
    trained = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert trained.returncode == 0, trained.stderr
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    learned = Player("learned", load_file(tmp_path / "learned.py"))
    ahead = compare(learned, Player("random", load("random")), Game(preset("sixty-six")), PAIRS, "learned").points
    assert statistics.fmean(ahead) > SIGMAS * statistics.stdev(ahead) / sqrt(PAIRS)
