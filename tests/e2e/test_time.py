"""Whole tournaments whose arena, disk or machine takes its time: nobody is charged for it, and it is told."""

from __future__ import annotations

import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_tournament import ARENA, SINNER, arena, place, read_until, wait_until_nothing_is_left

__all__ = ["place"]
THINKER = SINNER.with_name("thinker.py")
PAUSE_S = 10


def cup(place: Path, *bots: str, limit_ms: int = 500, bank_ms: int = 0, **settings: object) -> None:
    """A tournament of Schnapsen between thinkers (or sinners), each named by its way (or sin)."""
    values = {"pairs": 1, "block": 1, "trust_bots": True, "rules": "schnapsen", **settings}
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    lines += ["[clock]", f"limit_ms = {limit_ms}", f"bank_ms = {bank_ms}", "start_ms = 60000"]
    for name, way in zip(("anna", "bert"), bots, strict=True):
        program = THINKER if way.split()[0] in ("burn", "nap", "over") else SINNER
        lines += ["[[bots]]", f'name = "{name}"', f'bot = "{sys.executable} {program} {way}"']
    (place / "cup.toml").write_text("\n".join(lines) + "\n")


def shown(place: Path, run: str = "last") -> dict[str, Any]:
    report: dict[str, Any] = json.loads(arena(place, "show", run, "--format", "json").stdout)
    return report


def times(place: Path, bot: str, *words: str) -> list[dict[str, str]]:
    return list(csv.DictReader(arena(place, "times", bot, "--format", "csv", *words).stdout.splitlines()))


# -- the arena, the disk, the machine ----------------------------------------------------------------------------------


@pytest.mark.timeout(300)
def test_an_arena_that_is_stopped_for_ten_seconds_charges_nobody(place: Path) -> None:
    cup(place, "nap 5", "nap 5", pairs=2, block=2)
    with subprocess.Popen(
        [*ARENA, "tournament", "cup.toml", "--verbose", "--workers", "1"], cwd=place, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as run:  # fmt: skip
        read_until(run, "(played")  # the first match of a block: others are under way
        run.send_signal(signal.SIGSTOP)
        time.sleep(PAUSE_S)
        run.send_signal(signal.SIGCONT)
        _, err = run.communicate(timeout=200)
        assert run.returncode == 0, err
    report = shown(place)
    assert report["fault_count"] == 0
    assert report["run"]["lag"]["max_ms"] > 1000 * PAUSE_S - 1000
    assert report["run"]["lag"]["paused_s"] > PAUSE_S - 1
    slowest = max(float(each["charged_ms"]) for bot in ("anna", "bert") for each in times(place, bot))
    assert slowest < 500
    wait_until_nothing_is_left(place)


@pytest.mark.timeout(300)
def test_a_disk_that_takes_seconds_for_a_commit_charges_nobody_and_keeps_no_bot_waiting(place: Path) -> None:
    """Another writer holds the store for three seconds, so that a commit of the arena takes as long."""
    cup(place, "nap 1", "nap 1", pairs=4, block=4)
    arena(place, "tournament", "cup.toml", "--dry-run")
    with subprocess.Popen(
        [*ARENA, "tournament", "cup.toml", "--verbose"], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    ) as run:  # fmt: skip
        read_until(run, "commitment")
        held = threading.Event()

        def hold() -> None:
            with closing(sqlite3.connect(place / "arena-data" / "arena.db", timeout=60, isolation_level=None)) as store:
                store.execute("BEGIN IMMEDIATE")
                held.set()
                time.sleep(3)
                store.execute("ROLLBACK")

        holder = threading.Thread(target=hold)
        holder.start()
        assert held.wait(60)
        _, err = run.communicate(timeout=200)
        holder.join()
        assert run.returncode == 0, err
    report = shown(place)
    assert (report["run"]["matches_finished"], report["fault_count"]) == (8, 0)
    wait_until_nothing_is_left(place)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("load", [2, 4])
def test_more_thinkers_than_cores_lose_nothing_on_time_and_the_arena_says_that_it_slows_down(
    place: Path, load: int
) -> None:
    jobs = load * len(os.sched_getaffinity(0))
    cup(place, "burn 10", "burn 10", limit_ms=500, pairs=jobs // 2 + 1)
    done = arena(place, "tournament", "cup.toml", "--jobs", str(jobs), "--cores", str(2 * jobs))
    report = shown(place)
    assert (report["run"]["matches_finished"], report["fault_count"]) == (jobs + 2, 0)
    assert f"fewer --jobs than {jobs}" in done.stderr
    (lag_line,) = [line for line in done.stderr.splitlines() if line.startswith("lag  ")]
    assert "bots at work waited for a core" in lag_line
    lag = report["run"]["lag"]
    assert 0 < lag["median_ms"] <= lag["p99_ms"]
    assert lag["waiting"] > 0.3
    waited = [float(each["waited_ms"]) for each in times(place, "anna")]
    assert sum(waited) > 0


# -- an author's own times ---------------------------------------------------------------------------------------------


def test_an_author_lists_each_decision_with_its_parts_and_finds_the_late_one(place: Path) -> None:
    cup(place, "over 100", "nap 1", limit_ms=400)
    arena(place, "tournament", "cup.toml", "--seed", "3")
    listed = times(place, "anna")
    faults = shown(place)["faults"]
    assert faults and {fault["bot"] for fault in faults} == {"anna"}
    late = [each for each in listed if each["fault"]]
    assert [(each["fault"], int(each["leg"]), int(each["deal"])) for each in late] == [
        (fault["fault"], fault["leg"], fault["deal"]) for fault in faults
    ]
    for each in listed:
        assert float(each["charged_ms"]) == pytest.approx(float(each["bot_ms"]) + float(each["wire_ms"]), abs=0.01)
        assert (float(each["charged_ms"]) > 400) == (each["fault"] == "late")
        assert each["budget_ms"] == "400"
    places = [tuple(int(each[key]) for key in ("leg", "deal", "decision")) for each in listed]
    assert len(set(places)) == len(places)
    slowest = times(place, "anna", "--slowest", str(len(late) + 2))
    assert [each["fault"] for each in slowest] == ["late"] * len(late) + ["", ""]


def test_the_same_list_in_every_form(place: Path) -> None:
    cup(place, "nap 0", "nap 0")
    arena(place, "tournament", "cup.toml", "--seed", "3")
    listed = times(place, "bert")
    plain = json.loads(arena(place, "times", "bert", "--format", "json").stdout)
    assert [list(map(str, each.values())) for each in plain] == [list(each.values()) for each in listed]
    text = arena(place, "times", "bert").stdout.splitlines()
    page = arena(place, "times", "bert", "last", "--format", "md").stdout.splitlines()
    assert (len(text), len(page)) == (len(listed) + 1, len(listed) + 2)
    assert "charged" in text[0] and text[1].endswith("anna - bert")
    arena(place, "times", "bert", "--output", "bert.txt")
    assert (place / "bert.txt").read_text().splitlines() == text
    assert "did you mean 'bert'?" in arena(place, "times", "berta", expect=2).stderr


# -- no clock ----------------------------------------------------------------------------------------------------------


def test_without_timeouts_nobody_is_late_and_the_run_is_not_rated(place: Path) -> None:
    cup(place, "nap 20", "nap 0", limit_ms=1)
    done = arena(place, "tournament", "cup.toml", "--no-timeouts", "--name", "slow")
    assert "no clock runs" in done.stderr
    report = shown(place)
    assert (report["fault_count"], report["run"]["rated"]) == (0, False)
    assert {each["budget_ms"] for each in times(place, "anna")} == {""}
    refused = arena(place, "tournament", "cup.toml", "--resume", "slow", expect=2).stderr
    assert "clock.limit_ms was 0, is now 1" in refused and "rated was" in refused
    assert arena(place, "tournament", "cup.toml", "--resume", "slow", "--no-timeouts").returncode == 0


def test_without_timeouts_a_bot_that_dies_is_noticed_all_the_same(place: Path) -> None:
    cup(place, "once-crash", "honest")
    arena(place, "tournament", "cup.toml", "--no-timeouts")
    report = shown(place)
    assert {fault["fault"] for fault in report["faults"]} == {"died"}
    assert report["run"]["matches_finished"] == 2


def test_a_match_without_timeouts_is_played_again_by_the_line_that_it_prints(place: Path) -> None:
    bots = [f"{sys.executable} {THINKER} nap 0"] * 2
    done = arena(place, "play", *bots, "--rules", "schnapsen", "--no-timeouts")
    assert done.stderr.splitlines()[-1].endswith("--no-timeouts")
