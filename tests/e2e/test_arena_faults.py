"""Faults injected into real arenas: what fails inside them is said, costs no bot anything, and a resume mends it."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_tournament import arena, config, place, play_part, wait_until_nothing_is_left

__all__ = ["place"]


TWO = ("--jobs", "2", "--cores", "4")


def sabotaged(place: Path, sabotage: str, *words: str, expect: int) -> subprocess.CompletedProcess[str]:
    """An arena in a process of its own, in which some code runs before its first command."""
    code = f"import sys\nfrom arena.cli import run\n{sabotage}\nsys.exit(run())"
    done = subprocess.run(
        [sys.executable, "-c", code, *words, "--workers", "1"], cwd=place, capture_output=True, text=True, timeout=200
    )  # fmt: skip
    assert done.returncode == expect, done.stdout + done.stderr
    return done


def rows(place: Path, question: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(place / "arena-data" / "arena.db")) as store:
        return store.execute(question).fetchall()


def shown(place: Path, run: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(arena(place, "show", run, "--format", "json").stdout)
    return report


# -- faults in the middle of a match -----------------------------------------------------------------------------------

ONCE = """
failed = []
def failing(*args, **kwargs):
    if len(failed) < {times}:
        failed.append(None)
        raise ZeroDivisionError("injected")
    return whole(*args, **kwargs)
"""
PLACES = {
    "referee": "from arena.game import deal as room\nwhole = room.Deal.apply\nroom.Deal.apply = lambda *a: failing(*a)",
    "driver": "from arena.bots.driver import MatchRun as Run\nwhole = Run._tell\nRun._tell = lambda *a: failing(*a)",
    "codec": "from arena.wire import codec as room\nwhole, room.deal_ended = room.deal_ended, failing",
}


@pytest.mark.parametrize("fault", PLACES)
def test_a_fault_of_the_arena_is_nobodys_and_the_match_is_replayed(place: Path, fault: str) -> None:
    config(place, pairs=2)
    arena(place, "tournament", "cup.toml", "--seed", "3", "--name", "whole")
    sabotage = ONCE.format(times=1) + PLACES[fault]
    done = sabotaged(place, sabotage, "tournament", "cup.toml", "--seed", "3", "--name", "broken", expect=0)
    assert "the arena failed: injected" in done.stderr
    assert len(rows(place, "select * from voids")) == 1
    assert play_part(place, "broken") == play_part(place, "whole")
    assert not rows(place, "select * from faults")
    wait_until_nothing_is_left(place)


def test_a_fault_that_stays_leaves_void_matches_which_are_shown_with_their_reason(place: Path) -> None:
    config(place, pairs=1)
    sabotage = ONCE.format(times=10**9) + PLACES["referee"]
    done = sabotaged(place, sabotage, "tournament", "cup.toml", "--name", "broken", expect=1)
    assert "2 matches void, which the arena failed to play: nobody is charged" in done.stderr
    assert re.search(r"^Void +anna - bert \(.*\): ZeroDivisionError: injected$", done.stdout, re.MULTILINE)
    report = shown(place, "broken")
    assert (report["run"]["matches_void"], report["fault_count"]) == (2, 0)
    assert [row["faults"] for row in report["standings"]] == [{}, {}]
    assert not report["lost_bummerls"]
    wait_until_nothing_is_left(place)


# -- a store that fails ------------------------------------------------------------------------------------------------

GATE = """
import logging, sqlite3
from pathlib import Path
from arena.app import writer
from arena.store import Store
writer.WAITS_S = (0.1, 0.1, 0.1)

created = Store.set_state
def set_state(store, tournament, state):
    created(store, tournament, state)
    database = sqlite3.connect("arena-data/arena.db")
    database.executescript(
        "CREATE TABLE IF NOT EXISTS gate (open);"
        "CREATE TRIGGER IF NOT EXISTS shut BEFORE INSERT ON matches"
        "  WHEN (SELECT count(*) FROM gate) = 0 AND NEW.position >= {first}"
        "  BEGIN SELECT RAISE(ABORT, 'injected'); END;"
    )
    database.close()
Store.set_state = set_state
"""
OPENED = """
class Open(logging.StreamHandler):
    def emit(self, record):
        super().emit(record)
        database = sqlite3.connect("arena-data/arena.db")
        with database:
            database.execute("INSERT INTO gate VALUES (1)")
        database.close()
logging.getLogger("arena").addHandler(Open())
"""


def test_a_commit_that_fails_once_is_tried_again_and_said(place: Path) -> None:
    config(place, pairs=2)
    arena(place, "tournament", "cup.toml", "--seed", "3", "--name", "whole")
    sabotage = GATE.format(first=0) + OPENED
    done = sabotaged(place, sabotage, "tournament", "cup.toml", "--seed", "3", "--name", "broken", expect=0)
    assert "injected (the arena tries again for 0.3 s)" in done.stderr
    assert play_part(place, "broken") == play_part(place, "whole")


def test_a_store_that_takes_nothing_more_ends_the_run_at_once_and_a_resume_goes_on(place: Path) -> None:
    config(place, pairs=40, block=4)
    sabotage = GATE.format(first=8)
    done = sabotaged(place, sabotage, "tournament", "cup.toml", "--name", "broken", *TWO, expect=3)
    *_, sentence, way_on = done.stderr.splitlines()
    assert sentence.startswith("arena: the store ") and "injected" in sentence
    assert way_on == "go on with: arena tournament cup.toml --resume broken"
    assert "Traceback" not in done.stderr
    wait_until_nothing_is_left(place)
    ((kept, last),) = rows(place, "select count(*), max(position) from matches")
    assert 0 < kept <= 8 and last < 8
    with closing(sqlite3.connect(place / "arena-data" / "arena.db")) as store, store:
        store.execute("DROP TRIGGER shut")
        store.execute("DROP TABLE gate")
    arena(place, "tournament", "cup.toml", "--resume", "broken")
    assert rows(place, "select count(*) from matches") == [(80,)]
    assert "identical" in arena(place, "verify", "broken").stdout


def test_a_store_that_another_program_locks_ends_the_run_with_a_sentence(place: Path) -> None:
    config(place, pairs=40, block=4)
    sabotage = """
import sqlite3
from arena.app import writer
from arena.store import Store, engine
writer.WAITS_S = (0.1,)
engine.BUSY_SECONDS = 0.5

whole, lockers = Store.record, []
def record(store, *arguments, **named):
    if not lockers:
        lockers.append(sqlite3.connect("arena-data/arena.db", check_same_thread=False, isolation_level=None))
        lockers[0].execute("BEGIN IMMEDIATE")
    return whole(store, *arguments, **named)
Store.record = record
"""
    done = sabotaged(place, sabotage, "tournament", "cup.toml", "--name", "broken", expect=3)
    assert "was locked by another program" in done.stderr
    assert done.stderr.splitlines()[-1] == "go on with: arena tournament cup.toml --resume broken"
    assert "Traceback" not in done.stderr
    wait_until_nothing_is_left(place)
