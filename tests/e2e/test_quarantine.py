"""A bot that keeps forfeiting, in whole tournaments with real processes: found, left out, shown, let in again."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_tournament import ARENA, BOT, arena, config, place, play_part, wait_until_nothing_is_left

__all__ = ["place"]

MOODY = """
import pathlib, sys
if not pathlib.Path({ready!r}).exists():
    sys.exit("no such model")
"""


@pytest.fixture
def cup(place: Path) -> Path:
    """A cup with a third bot that does not start unless there is a file `ready`."""
    (place / "moody.py").write_text(MOODY.format(ready=str(place / "ready")) + BOT)
    settings = {"pairs": 4, "block": 2, "on_broken_bot": "walkover"}
    config(place, "anna.py", "bert.py", "moody.py", **settings)
    return place


def shown(place: Path, run: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(arena(place, "show", run, "--format", "json").stdout)
    return report


def killed_when_it_says(place: Path, what: str, *words: str) -> None:
    """Play a run, and kill the arena at the first line with that."""
    run = subprocess.Popen([*ARENA, *words], cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert run.stderr is not None
    for line in run.stderr:
        if what in line:
            break
    else:
        raise AssertionError(f"it never said {what!r}")
    run.kill()
    run.communicate()
    wait_until_nothing_is_left(place)


def test_who_is_quarantined_is_said_shown_and_the_same_for_any_jobs(cup: Path) -> None:
    words = ("tournament", "cup.toml", "--seed", "8")
    done = arena(cup, *words, "--name", "one", "--jobs", "1")
    assert done.stderr.count("moody is quarantined: 3 matches forfeited in a row; it plays no more\n") == 1
    assert re.search(r"^– +moody † ", done.stdout, re.MULTILINE)
    fact = "moody: 3 matches forfeited in a row; played 4 of 16 matches, less than half"
    assert fact in " ".join(done.stdout.split())
    report = shown(cup, "one")
    *others, last = report["standings"]
    assert (last["bot"], last["absence"]["change"], last["absence"]["withdrawn"]) == ("moody", "quarantined", True)
    assert [sum(row["pairs"].values()) for row in others] == [4, 4]
    assert (report["run"]["state"], report["run"]["matches_left_out"]) == ("finished", 12)

    arena(cup, *words, "--name", "four", "--jobs", "4", "--cores", "8")
    assert play_part(cup, "four") == play_part(cup, "one")
    assert arena(cup, "verify", "four").stdout.startswith("identical: ")


def test_who_is_quarantined_is_the_same_after_a_kill_and_plays_on_once_it_is_included(cup: Path) -> None:
    words = ("tournament", "cup.toml", "--seed", "8")
    arena(cup, *words, "--name", "whole", "--jobs", "1")
    killed_when_it_says(cup, "(walkover, ", *words, "--name", "killed", "--jobs", "2", "--cores", "4", "-v")
    arena(cup, *words, "--resume", "killed")
    assert play_part(cup, "killed") == play_part(cup, "whole")

    (cup / "ready").touch()
    told = arena(cup, "include", "killed", "moody").stderr
    assert told.splitlines()[-1] == "12 matches to be played: resume the run by --resume killed"
    assert "epoch 1, block 0: " in arena(cup, *words, "--resume", "killed", "--dry-run").stdout
    arena(cup, *words, "--resume", "killed")
    report = shown(cup, "killed")
    assert [epoch["number"] for epoch in report["run"]["epochs"]] == [0, 1]
    assert [row["absence"] for row in report["standings"]] == [None] * 3
    assert report["run"]["pairs_finished"] == 12
    assert [entry["change"] for entry in report["exclusions"]] == ["quarantined", "included"]
    assert arena(cup, "verify", "killed").stdout.startswith("identical: ")
    wait_until_nothing_is_left(cup)


def test_what_was_left_out_of_an_interrupted_run_is_played_in_its_own_epoch(cup: Path) -> None:
    words = ("tournament", "cup.toml", "--seed", "8")
    killed_when_it_says(cup, "moody is quarantined", *words, "--name", "late", "--jobs", "1")
    (cup / "ready").touch()
    arena(cup, "include", "late", "moody", "--reason", "its model is there now")
    arena(cup, *words, "--resume", "late")
    report = shown(cup, "late")
    assert len(report["run"]["epochs"]) == 1
    assert (report["run"]["matches_finished"], report["run"]["matches_left_out"]) == (24, 0)
    assert arena(cup, "verify", "late").stdout.startswith("identical: 24 matches")


def test_who_is_excluded_is_not_even_started(cup: Path) -> None:
    config(cup, "anna.py", "bert.py", pairs=2)
    arena(cup, "tournament", "cup.toml", "--name", "by-hand")
    config(cup, "anna.py", "bert.py", "moody.py", pairs=2)
    assert "no such model" in arena(cup, "tournament", "cup.toml", "--resume", "by-hand", expect=2).stderr
    (cup / "ready").touch()
    arena(cup, "tournament", "cup.toml", "--resume", "by-hand")
    (cup / "ready").unlink()
    arena(cup, "exclude", "by-hand", "moody", "--reason", "its author asked")
    config(cup, "anna.py", "bert.py", "moody.py", pairs=3)
    arena(cup, "tournament", "cup.toml", "--resume", "by-hand")
    report = shown(cup, "by-hand")
    assert report["standings"][-1]["absence"]["reason"] == "its author asked"
    assert (report["run"]["matches_finished"], report["run"]["matches_left_out"]) == (14, 4)
    assert arena(cup, "verify", "by-hand").stdout.startswith("identical: 14 matches")


def test_quarantine_can_be_switched_off(cup: Path) -> None:
    config(cup, "anna.py", "moody.py", pairs=4, block=2, on_broken_bot="walkover", quarantine=False)
    done = arena(cup, "tournament", "cup.toml", "--name", "off")
    assert "quarantined" not in done.stderr
    assert shown(cup, "off")["run"]["matches_finished"] == 8
    assert arena(cup, "verify", "off").stdout.startswith("identical: 8 matches")
