"""Whole tournaments at tables of three and four, and of 1001, by the command line with real bot processes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tomllib
from math import comb
from pathlib import Path
from typing import Any

import pytest

from arena.game.presets import PRESETS
from arena.game.table import Table
from arena.reports.json import Document

ARENA = [sys.executable, "-m", "arena"]
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
MATCHES = {
    "three-handed": 3,
    "sessantasei-3": 3 * 3,
    "four-handed": 3 * 2,
    "sessantasei-101": 3 * 4,
    "tausendeins": 2,
}
"""Matches of each example where a pairing plays a single list: pairings times legs."""

BOT = """
from arena.bot import serve

seats = {}

def choose(view):
    if seats.setdefault(view.match_id, view.seat) != view.seat:
        raise ValueError("one process is asked for two seats of a match")
    cards = [action for action in view.legal if action.card]
    return view.rng.choice(cards) if cards else view.legal[-1]

serve(choose)
"""
FAULTY = BOT.replace("    cards =", '    raise ValueError("no idea")\n    cards =')


def arena(place: Path, *words: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([*ARENA, *words], cwd=place, capture_output=True, text=True, timeout=110)
    assert done.returncode == expect, done.stdout + done.stderr
    return done


def shown(place: Path, run: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(arena(place, "show", run, "--format", "json").stdout)
    return report


def play_part(place: Path, run: str) -> str:
    return arena(place, "show", run, "--format", "json", "--part", "play").stdout


def config(place: Path, rules: str, *bots: str, **settings: object) -> None:
    """A tournament of `cup.toml` between bots that each have a file of their own there."""
    keys = {"rules": rules, "pairs": 1, "trust_bots": True, **settings}
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    for bot in bots:
        (place / f"{bot}.py").write_text(FAULTY if bot == "faulty" else BOT)
        lines += ["[[bots]]", f'bot = "{bot}.py"']
    (place / "cup.toml").write_text("\n".join(lines) + "\n")


# --- the examples --------------------------------------------------------------------------------------------


def test_there_is_an_example_of_every_game_of_its_own() -> None:
    games = {tomllib.loads(path.read_text(encoding="utf-8"))["rules"]: path.stem for path in EXAMPLES.glob("*.toml")}
    assert games == {name: name for name in MATCHES}
    assert {name for name, rules in PRESETS.items() if rules.seats > 2} <= set(games)


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples, of one list a pairing."""
    place = tmp_path_factory.mktemp("examples")
    for path in EXAMPLES.glob("*.toml"):
        text, changed = re.subn(r"^pairs = \d+$", "pairs = 1", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert changed == 1
        (place / path.name).write_text(text, encoding="utf-8")
    return place


@pytest.mark.timeout(300)
@pytest.mark.parametrize("game", MATCHES)
def test_an_example_is_played_rated_and_the_same_for_the_same_seed(examples: Path, game: str) -> None:
    for name, jobs in (("one", "1"), ("two", "2")):
        arena(
            examples,
            "tournament",
            f"{game}.toml",
            "--seed",
            "4",
            "--name",
            f"{game}-{name}",
            "--jobs",
            jobs,
            "--cores",
            "8",
        )
    report = shown(examples, f"{game}-one")
    Document.model_validate(report, strict=False)
    run = report["run"]
    assert run["matches_finished"] == run["matches_planned"] == MATCHES[game]
    assert run["pairs_finished"] == run["pairs_planned"] == run["mirrored_pairs"]
    assert report["fault_count"] == 0
    for line in report["standings"]:
        assert line["sigma"] < 25 / 3, "its rating is still the prior"
        assert sum(line["pairs"].values()) > 0
    assert play_part(examples, f"{game}-one") == play_part(examples, f"{game}-two")
    assert arena(examples, "show", f"{game}-one", "--format", "csv").stdout.count("\n") == 1 + len(report["standings"])
    unit = "pairs" if PRESETS[game].seats == 2 else "blocks"
    assert f"| {unit} |" in arena(examples, "show", f"{game}-one", "--format", "md").stdout
    table = arena(examples, "show", f"{game}-one").stdout
    counted = f"1 {unit.removesuffix('s')}" if run["pairs_finished"] == 1 else f"{run['pairs_finished']} {unit}"
    assert f"{unit} and points" in table and f"over {counted} of matches, all mirrored" in table


# --- formats, partners and faults ----------------------------------------------------------------------------


def test_partners_of_one_bot_play_in_processes_of_their_own(tmp_path: Path) -> None:
    config(tmp_path, "four-handed", "anna", "bert", pairs=2)
    arena(tmp_path, "tournament", "cup.toml")
    report = shown(tmp_path, "last")
    assert report["fault_count"] == 0
    assert report["run"]["matches_finished"] == 2 * 2


def test_mixed_partners_are_rated_and_charged_each_for_itself(tmp_path: Path) -> None:
    config(tmp_path, "four-handed", "anna", "bert", "carl", "faulty", format="mixed-partners")
    arena(tmp_path, "tournament", "cup.toml", "--seed", "3")
    report = shown(tmp_path, "last")
    assert report["run"]["matches_finished"] == 3 * comb(4, 4) * 4
    faults = {line["bot"]: sum(line["faults"].values()) for line in report["standings"]}
    assert faults.pop("faulty") == report["fault_count"] > 0
    assert set(faults.values()) == {0}
    assert report["standings"][-1]["bot"] == "faulty"
    assert {frozenset((met["bot"], met["opponent"])) for met in report["crosstable"]} == {
        frozenset((one["bot"], other["bot"]))
        for one in report["standings"]
        for other in report["standings"]
        if one is not other
    }


def test_a_bot_of_three_that_always_fails_is_last_and_its_sitting_out_is_no_fault(tmp_path: Path) -> None:
    config(tmp_path, "three-handed", "anna", "bert", "faulty")
    arena(tmp_path, "tournament", "cup.toml", "--seed", "3")
    report = shown(tmp_path, "last")
    assert [line["bot"] for line in report["standings"]][-1] == "faulty"
    faulty = report["standings"][-1]
    assert faulty["faults"] == {"error": report["fault_count"]}
    assert faulty["matches"] == {"won": 0, "drawn": 0, "lost": 3}
    assert report["fault_count"] < faulty["deals"], "it is charged only for the deals that it plays"


def test_three_bots_of_a_gauntlet_always_have_a_champion_among_them(tmp_path: Path) -> None:
    config(tmp_path, "sessantasei-3", "anna", "bert", "carl", "dora", format="gauntlet", champions=["dora"])
    plan = arena(tmp_path, "tournament", "cup.toml", "--dry-run").stdout
    blocks = [line for line in plan.splitlines() if line.startswith("block ")]
    assert len(blocks) == 3 * 3
    assert all("dora" in line and "mirrored" in line for line in blocks)
    assert "9 matches in 3 blocks" in plan


@pytest.mark.parametrize(
    ("rules", "format", "bots", "sentence"),
    [
        ("three-handed", "round-robin", ["anna", "bert"], "[[bots]] lists 2 bots; expected at least the 3"),
        ("four-handed", "mixed-partners", ["anna", "bert", "carl"], "[[bots]] lists 3 bots; expected at least the 4"),
        ("three-handed", "mixed-partners", ["anna", "bert", "carl"], "rules.seating is dealer_out"),
    ],
)
def test_too_few_bots_or_no_partners_are_named(
    tmp_path: Path, rules: str, format: str, bots: list[str], sentence: str
) -> None:
    config(tmp_path, rules, *bots, format=format)
    assert sentence in arena(tmp_path, "tournament", "cup.toml", expect=2).stderr


# --- resuming ------------------------------------------------------------------------------------------------


def test_a_run_of_three_seats_that_is_killed_resumes_with_nothing_lost_and_nothing_twice(tmp_path: Path) -> None:
    config(tmp_path, "sessantasei-3", "anna", "bert", "carl", pairs=2, block=1)
    arena(tmp_path, "tournament", "cup.toml", "--seed", "5", "--name", "whole")
    run = subprocess.Popen(
        [*ARENA, "tournament", "cup.toml", "--seed", "5", "--name", "broken", "--verbose", "--jobs", "1"],
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert run.stderr is not None
    for line in run.stderr:
        if "(played, " in line:
            break
    run.send_signal(signal.SIGKILL)
    run.communicate(timeout=30)
    finished = shown(tmp_path, "broken")["run"]["matches_finished"]
    assert 1 <= finished < 3 * 2
    arena(tmp_path, "tournament", "cup.toml", "--seed", "5", "--resume", "broken")
    assert play_part(tmp_path, "broken") == play_part(tmp_path, "whole")


# --- one match to watch --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", MATCHES)
def test_a_match_takes_a_bot_a_side_and_every_card_can_be_watched(tmp_path: Path, rules: str) -> None:
    table = Table.of(PRESETS[rules])
    bots = ["random", "greedy", "random"][: table.sides]
    words = ("play", *bots, "--rules", rules, "--seed", "6")
    page = arena(tmp_path, *words, "--watch").stdout
    assert page.endswith(f"\n\n{arena(tmp_path, *words).stdout}")
    first, *_ = page.split("\n\n")
    heading, names, _, *lines = first.splitlines()
    dealer_plays = rules != "three-handed"
    assert ("sits out" in heading) is not dealer_plays
    assert len(re.findall(r"random-2|random|greedy", names)) == table.seats - (not dealer_plays)
    tricks = [line for line in lines if re.match(r" *\d+  ", line)]
    assert all(len(re.findall("[♠♥♦♣]", line)) == len(table.orders[table.first_dealer][0]) for line in tricks)


@pytest.mark.parametrize(("rules", "sides"), [("three-handed", 3), ("four-handed", 2)])
def test_any_other_number_of_bots_than_sides_is_refused(tmp_path: Path, rules: str, sides: int) -> None:
    for bots in (["random"] * (sides - 1), ["random"] * (sides + 1)):
        text = arena(tmp_path, "play", *bots, "--rules", rules, expect=2).stderr
        named = "1 bot was" if len(bots) == 1 else f"{len(bots)} bots were"
        assert f"these rules have {sides} sides, but {named} named" in text
