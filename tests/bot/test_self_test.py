"""`python bot.py --self-test`: the bot plays itself by hand, and what goes wrong is said with the position."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from arena.bot import View
from arena.game.presets import PRESETS

HEAD = "from arena.bot import *\n\ndef choose(view):\n"
TAIL = "\n    return view.legal[0]\n\nserve(choose{})\n"


def tried(folder: Path, body: str, *words: str, options: str = "") -> subprocess.CompletedProcess[str]:
    """Run the self-test of a bot whose `choose` begins with `body`."""
    script = folder / "anna.py"
    script.write_text(f"{HEAD}    {body}{TAIL.format(options)}", encoding="utf-8")
    return subprocess.run(
        [sys.executable, str(script), "--self-test", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_sound_bot_plays_all_presets(tmp_path: Path) -> None:
    done = tried(tmp_path, "pass")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[:3] for line in done.stdout.splitlines()] == [[name, "8", "deals,"] for name in PRESETS]


def test_only_the_presets_that_it_plays_are_tried_and_at_least_one(tmp_path: Path) -> None:
    one = tried(tmp_path, "pass", "schnapsen", "pagat", options=", plays='pagat', waives_before_draw=True")
    assert one.returncode == 0
    assert one.stdout.startswith("pagat ") and "\nnot played  schnapsen: this bot plays pagat only" in one.stdout
    assert tried(tmp_path, "pass", "schnapsen", options=", plays='pagat'").returncode == 1


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("if view.table and view.must_follow_strictly: return max(view.hand)", "which is not legal"),
        ("if view.my_tricks: return view.trik", "AttributeError: 'View' object has no attribute 'trik'"),
        ("if view.my_tricks: return None", "choose returned None; return one of view.legal"),
        ("if view.table: return CLOSE", "it answered close, which is not legal"),
    ],
)
def test_what_goes_wrong_is_said_with_a_position_that_shows_it_again(tmp_path: Path, body: str, says: str) -> None:
    done = tried(tmp_path, body, "sixty-six")
    assert done.returncode == 1 and says in done.stdout and done.stderr == ""
    head, _, position = done.stdout.partition(" in this position (see View.at):\n")
    asked = head.rpartition("asked for one of ")[2]
    assert " ".join(map(str, View.at(position).legal)) == asked


def test_callbacks_are_told_of_everything(tmp_path: Path) -> None:
    script = tmp_path / "bea.py"
    script.write_text(
        """
from arena.bot import serve

class Bea:
    def match_started(self, match):
        self.seen = 0
        assert len(match.bot_seed) == 32 and match.limit_ms == 1000
    def choose(self, view):
        self.seen = len(view.history)
        return view.rng.choice(view.plays or view.legal)
    def deal_ended(self, result):
        assert sum(result.points) and result.new_turns
        print("ended", result.match.seat)
    def match_ended(self, result):
        assert result.my_rank in (1, 2)

serve(Bea)
""",
        encoding="utf-8",
    )
    command = [sys.executable, str(script), "--self-test", "schnapsen"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert [done.stdout.count(f"ended {seat}") for seat in (0, 1)] == [8, 8]


def test_an_unknown_preset_is_a_sentence(tmp_path: Path) -> None:
    done = tried(tmp_path, "pass", "schnapsn")
    assert (done.returncode, done.stdout) == (2, "") and "did you mean 'schnapsen'" in done.stderr
