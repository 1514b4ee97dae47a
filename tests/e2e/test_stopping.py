"""Tournaments that a stop rule ends, by the command line: the same whatever the jobs, topped up, proved afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.app.data import Archive
from arena.app.export import export
from arena.app.runs import RunOptions
from arena.app.show import build_report
from arena.app.tournament import dry_run
from arena.app.verify import Difference, Verified, verify_file, verify_run
from arena.reports import Part
from arena.reports.json import render as as_json
from arena.store import open_queries
from arena.tournament import decks
from tests.app.test_verify import lines_of, resealed, rows, written

SINNER = Path(__file__).parent.parent / "bad_bots" / "sinner.py"
ARENA = [sys.executable, "-m", "arena"]
pytestmark = pytest.mark.timeout(600)
TWINS = """
[[bots]]
bot = "greedy"
[[bots]]
bot = "greedy"
name = "twin"
"""
"""Two that draw every pair, since they play alike and draw nothing from their seeds."""
WORSE = '[[bots]]\nbot = "random"\n'


def config(place: Path, *, pairs: int = 4, stop: str = "{max_pairs = 7}", bots: str = TWINS + WORSE) -> None:
    rule = f"stop = {stop}\n" if stop else ""
    (place / "cup.toml").write_text(
        f"pairs = {pairs}\nblock = 4\ntrust_bots = true\n{rule}[clock]\nlimit_ms = 0\n{bots}"
    )


def arena(place: Path, *words: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([*ARENA, *words], cwd=place, capture_output=True, text=True, timeout=300)
    assert done.returncode == expect, done.stdout + done.stderr
    return done


def play_part(place: Path, run: str) -> str:
    with open_queries(place / "arena-data" / "arena.db") as queries:
        return as_json(build_report(queries, run), Part.PLAY)


def shown(place: Path, run: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(play_part(place, run))
    return found


def proved(place: Path, run: str, head: str | None = None) -> int:
    """The matches of a run that verifies from the store and from its file."""
    archive, file = Archive(place / "arena-data"), place / f"{run}.jsonl"
    file.unlink(missing_ok=True)
    export(run, archive, file)
    found = verify_run(run, archive, head)
    assert isinstance(found, Verified) and found == verify_file(file, head), found
    return found.matches


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run `one` whose budget is spent, and its export."""
    place = tmp_path_factory.mktemp("stopping")
    config(place)
    done = arena(place, "tournament", "cup.toml", "--seed", "7", "--name", "one")
    (place / "said").write_text(done.stderr)
    (place / "report").write_text(done.stdout)
    assert proved(place, "one") == 42
    return place


def test_the_remainder_goes_to_those_that_cannot_be_told_apart(played: Path) -> None:
    met = {(each["bot"], each["opponent"]): each["pairs"] for each in shown(played, "one")["crosstable"]}
    assert sum(met["greedy", "twin"].values()) == 4 + 9
    assert sum(met["greedy", "random"].values()) == sum(met["random", "twin"].values()) == 4


def test_the_report_says_why_it_stopped(played: Path) -> None:
    stopping = shown(played, "one")["run"]["stopping"]
    (neighbours,) = stopping.pop("open")
    assert {neighbours["better"], neighbours["other"]} == {"greedy", "twin"}
    assert stopping == {"separated": 0.95, "asked": 0.95, "max_pairs": 7, "pairs": 7.0, "over": True, "spent": True}
    text = " ".join((played / "report").read_text().split())
    assert "the budget of 7 pairs a pairing is spent: greedy and twin (50%) are not separated at 95%" in text


def test_one_commitment_binds_all_epochs_of_a_run(played: Path) -> None:
    epochs = shown(played, "one")["run"]["epochs"]
    assert [epoch["derived"] for epoch in epochs] == [False, True, True]
    said = (played / "said").read_text()
    assert said.count("commitment") == said.count("secret") == 1
    assert epochs[0]["commitment"] in said and epochs[0]["secret"] in said


def test_progress_counts_to_the_budget_and_names_who_is_not_separated(played: Path) -> None:
    said = (played / "said").read_text()
    assert "0 of at most 42 matches" in said
    assert "after 24 matches" in said and "are not separated at 99%" in said


def test_other_jobs_play_and_end_the_same(played: Path) -> None:
    arena(played, "tournament", "cup.toml", "--seed", "7", "--name", "four", "--jobs", "4", "--cores", "8")
    assert play_part(played, "four") == play_part(played, "one")


def test_a_run_that_has_stopped_has_nothing_more_to_play(played: Path) -> None:
    before = play_part(played, "one")
    arena(played, "tournament", "cup.toml", "--seed", "7", "--resume", "one")
    assert play_part(played, "one") == before
    _, tasks = dry_run(RunOptions(played / "cup.toml", Archive(played / "arena-data"), resume="one"))
    assert list(tasks) == []


def test_who_is_separated_ends_the_tournament_before_its_budget(tmp_path: Path) -> None:
    config(tmp_path, pairs=12, stop="{max_pairs = 400}", bots='[[bots]]\nbot = "greedy"\n[[bots]]\nbot = "random"\n')
    text = arena(tmp_path, "tournament", "cup.toml", "--seed", "1", "--name", "one").stdout
    assert "after 12 of at most 400 pairs a pairing: every two neighbours are separated at 95%" in " ".join(
        text.split()
    )
    assert proved(tmp_path, "one") == 24


# -- topping up -------------------------------------------------------------------------------------------------------


def test_a_finished_run_is_topped_up_again_and_again(tmp_path: Path) -> None:
    """By more pairs, by a stop rule that is new, by one that asks for more: all is pooled, and all is proved."""
    config(tmp_path, pairs=2, stop="", bots=TWINS)
    arena(tmp_path, "tournament", "cup.toml", "--name", "one")
    arena(tmp_path, "tournament", "cup.toml", "--resume", "one", "--pairs", "3")
    refused = arena(tmp_path, "tournament", "cup.toml", "--resume", "one", expect=2).stderr
    assert "pairs was 3, is now 2; it can only grow" in refused
    config(tmp_path, pairs=3, stop="{max_pairs = 4}", bots=TWINS)
    planned, tasks = dry_run(RunOptions(tmp_path / "cup.toml", Archive(tmp_path / "arena-data"), resume="one"))
    assert {task.block.epoch for task in tasks} == {2} and planned.most == 8
    arena(tmp_path, "tournament", "cup.toml", "--resume", "one")
    config(tmp_path, pairs=3, stop="{max_pairs = 6}", bots=TWINS)
    arena(tmp_path, "tournament", "cup.toml", "--resume", "one")
    run = shown(tmp_path, "one")["run"]
    assert run["matches_finished"] == 12 and run["pairs_finished"] == 6
    fresh = [epoch["number"] for epoch in run["epochs"] if not epoch["derived"]]
    assert fresh[:3] == [0, 1, 2] and len(fresh) == 4, "what is revealed never deals again"
    assert len({epoch["secret"] for epoch in run["epochs"]}) == len(run["epochs"])
    assert proved(tmp_path, "one", run["chain_head"]) == 12
    assert "greedy" in arena(tmp_path, "trust", "one").stdout


def test_more_pairs_than_the_budget_are_refused(tmp_path: Path) -> None:
    config(tmp_path)
    said = arena(tmp_path, "tournament", "cup.toml", "--pairs", "8", expect=2).stderr
    assert "stop.max_pairs is 7, but pairs is 8" in said and "Traceback" not in said


# -- who is out -------------------------------------------------------------------------------------------------------


def test_who_is_out_is_asked_for_no_more_and_comes_back_with_what_it_missed(tmp_path: Path) -> None:
    """A bot that never starts is quarantined, then let in again when all decks are known, and out again."""
    settings = 'pairs = 4\nblock = 4\ntrust_bots = true\non_broken_bot = "walkover"\nstop.max_pairs = 5\n'
    broken = f'[[bots]]\nbot = "{sys.executable} {SINNER} not-starting"\nname = "broken"\n'
    (tmp_path / "cup.toml").write_text(settings + TWINS + broken)
    said = arena(tmp_path, "tournament", "cup.toml", "--name", "one", "--jobs", "2", "--cores", "4").stderr
    assert "broken is quarantined" in said
    report = shown(tmp_path, "one")
    met = {(each["bot"], each["opponent"]): sum(each["pairs"].values()) for each in report["crosstable"]}
    assert met["greedy", "twin"] == 5 and [each["other"] for each in report["run"]["stopping"]["open"]] == ["twin"]
    first = proved(tmp_path, "one")
    arena(tmp_path, "include", "one", "broken")
    arena(tmp_path, "tournament", "cup.toml", "--resume", "one")
    assert proved(tmp_path, "one") > first


# -- what verification finds ------------------------------------------------------------------------------------------


def other_remainder(lines: list[dict[str, Any]]) -> str:
    """The epoch's lists for a pairing that the rule did not choose."""
    (_, second, *_) = rows(lines, "epochs")
    second["row"]["config"]["remainder"] = [[["greedy", "random"], 3]]
    return "it is missing"


def other_amount(lines: list[dict[str, Any]]) -> str:
    """A smaller rule: the last epoch was asked for by nobody."""
    for row in rows(lines, "epochs"):
        row["row"]["config"]["identity"]["stop"]["max_pairs"] = 6
    lines[0]["tournament"]["config"]["stop"]["max_pairs"] = 6
    return "what the stop rule asks for"


def ended_early(lines: list[dict[str, Any]]) -> str:
    """A larger rule: it would have gone on."""
    for row in rows(lines, "epochs"):
        row["row"]["config"]["identity"]["stop"]["max_pairs"] = 9
    lines[0]["tournament"]["config"]["stop"]["max_pairs"] = 9
    return "what the stop rule asks for"


def no_rule(lines: list[dict[str, Any]]) -> str:
    for row in rows(lines, "epochs")[1:]:
        row["row"]["config"]["identity"]["stop"] = None
    return "it has a remainder, but no stop rule"


def another_secret(lines: list[dict[str, Any]]) -> str:
    """Chosen after the results of the first epoch were known."""
    secret = decks.secret_from_seed("lucky")
    row = rows(lines, "epochs")[1]["row"]
    row["secret"], row["commitment"] = secret.hex(), decks.commitment(secret)
    return "secret that follows from the one before"


@pytest.mark.parametrize("change", [other_remainder, other_amount, ended_early, no_rule, another_secret])
def test_a_tournament_that_its_rule_did_not_end_is_found(
    played: Path, tmp_path: Path, change: Callable[[list[dict[str, Any]]], str]
) -> None:
    """Even where all seals are right again."""
    lines = lines_of(played / "one.jsonl")
    expected = change(lines)
    found = verify_file(written(tmp_path, resealed(lines)))
    assert isinstance(found, Difference) and expected in found.what, found
