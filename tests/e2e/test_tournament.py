"""Whole tournaments by the command line: real processes, real streams, a real store."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest

ARENA = [sys.executable, "-m", "arena"]
SINNER = Path(__file__).parent.parent / "bad_bots" / "sinner.py"

BOT = """
from arena.bot import serve

def choose(view):
    cards = [action for action in view.legal if action.card]
    return view.rng.choice(cards) if cards else view.legal[-1]

serve(choose)
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with two bots and a config."""
    (tmp_path / "anna.py").write_text(BOT)
    (tmp_path / "bert.py").write_text(BOT.replace("view.rng.choice(cards)", "cards[0]"))
    config(tmp_path)
    return tmp_path


def config(place: Path, *bots: str, **settings: object) -> None:
    lines = [f"{key} = {json.dumps(value)}" for key, value in {"pairs": 6, "trust_bots": True, **settings}.items()]
    for bot in bots or ("anna.py", "bert.py"):
        lines += ["[[bots]]", f"bot = {json.dumps(bot)}"]
    (place / "cup.toml").write_text("\n".join(lines) + "\n")


def arena(place: Path, *words: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([*ARENA, *words], cwd=place, capture_output=True, text=True, timeout=100)
    assert done.returncode == expect, done.stdout + done.stderr
    return done


def read_until(run: subprocess.Popen[str], word: str) -> None:
    """Read what the process writes to stderr up to a line with that word."""
    assert run.stderr is not None
    seen = ""
    for line in run.stderr:
        seen += line
        if word in line:
            return
    raise AssertionError(f"it ended without a word of {word!r}: {seen}")


def play_part(place: Path, run: str) -> str:
    return arena(place, "show", run, "--format", "json", "--part", "play").stdout


def bots_of(place: Path) -> list[psutil.Process]:
    """Processes that run a bot out of that folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if any(str(place) in word for word in process.cmdline()) or process.cwd() == str(place):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def wait_until_nothing_is_left(place: Path) -> None:
    deadline = time.monotonic() + 10
    while left := bots_of(place):
        assert time.monotonic() < deadline, f"left running: {left}"
        time.sleep(0.05)


def test_a_tournament_prints_its_commitment_first_and_its_secret_last(place: Path) -> None:
    done = arena(place, "tournament", "cup.toml")
    assert done.stderr.index("commitment") < done.stderr.index("secret")
    assert "anna" in done.stdout and "bert" in done.stdout
    shown = json.loads(arena(place, "show", "last", "--format", "json").stdout)
    assert shown["run"]["matches_finished"] == 12
    assert [row["rank"] for row in shown["standings"]] in ([1, 2], [1, 1])
    wait_until_nothing_is_left(place)


def test_the_same_seed_gives_the_same_play_whatever_the_jobs(place: Path) -> None:
    config(place, block=2)
    arena(place, "tournament", "cup.toml", "--seed", "7", "--name", "one", "--jobs", "1")
    arena(place, "tournament", "cup.toml", "--seed", "7", "--name", "three", "--jobs", "3", "--cores", "6")
    arena(place, "tournament", "cup.toml", "--seed", "8", "--name", "other", "--jobs", "1")
    assert play_part(place, "one") == play_part(place, "three")
    assert play_part(place, "one") != play_part(place, "other")


def test_the_first_ctrl_c_drains_and_says_how_to_go_on(place: Path) -> None:
    config(place, pairs=400, block=4)
    run = subprocess.Popen(
        [*ARENA, "tournament", "cup.toml", "--name", "long"], cwd=place, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    read_until(run, "commitment")
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 4, err
    last = err.strip().splitlines()[-1]
    assert "--resume long" in last
    wait_until_nothing_is_left(place)
    shown = json.loads(arena(place, "show", "long", "--format", "json").stdout)
    assert 0 <= shown["run"]["matches_finished"] < 800


def test_a_second_ctrl_c_stops_at_once(place: Path) -> None:
    slow = BOT.replace("    cards =", "    import time; time.sleep(0.2)\n    cards =")
    (place / "bert.py").write_text(slow)
    config(place, pairs=50)
    run = subprocess.Popen(
        [*ARENA, "tournament", "cup.toml"], cwd=place, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    read_until(run, "commitment")
    run.send_signal(signal.SIGINT)
    read_until(run, "Ctrl-C")
    asked = time.monotonic()
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)
    assert time.monotonic() - asked < 5
    assert run.returncode in (4, 130)
    wait_until_nothing_is_left(place)


def test_a_closed_pipe_leaves_nothing_running(place: Path) -> None:
    run = subprocess.run(
        f"{sys.executable} -m arena tournament cup.toml 2>&1 | head -1", shell=True, cwd=place, timeout=60,
        capture_output=True, text=True,
    )  # fmt: skip
    assert len(run.stdout.splitlines()) == 1
    wait_until_nothing_is_left(place)


# --- bad input: one sentence, exit code 2, nothing lost -----------------------------------------------------------


def refused(place: Path, *words: str) -> str:
    done = arena(place, *words, expect=2)
    assert "Traceback" not in done.stderr
    return done.stderr


def test_an_unknown_key_is_refused_with_the_nearest_one(place: Path) -> None:
    config(place, pears=3)
    assert "pears" in (text := refused(place, "tournament", "cup.toml")) and "pairs" in text


def test_unknown_rules_are_refused_with_the_nearest_preset(place: Path) -> None:
    config(place, rules="schnappsen")
    assert "schnapsen" in refused(place, "tournament", "cup.toml")


def test_a_missing_bot_is_named(place: Path) -> None:
    config(place, "anna.py", "./nobody")
    assert "nobody" in refused(place, "tournament", "cup.toml")


def test_two_bots_of_one_name_are_refused(place: Path) -> None:
    config(place, "anna.py", "anna.py")
    assert "anna" in refused(place, "tournament", "cup.toml")


@pytest.mark.parametrize(("sin", "words"), [("not-starting", "no such model file"), ("other-version", "protocol 2.0")])
def test_a_bot_that_cannot_play_stops_the_tournament_before_the_first_deal(place: Path, sin: str, words: str) -> None:
    config(place, "anna.py", f"{sys.executable} {SINNER} {sin}")
    text = refused(place, "tournament", "cup.toml")
    assert words in text
    assert "walkover" in text
    wait_until_nothing_is_left(place)


def test_a_failed_preflight_leaves_no_run_behind(place: Path) -> None:
    (place / "carl.py").write_text("import nothing_of_the_kind\n" + BOT)
    config(place, "anna.py", "carl.py", pairs=2)
    done = arena(place, "tournament", "cup.toml", "--name", "first", expect=2)
    assert "nothing_of_the_kind" in done.stderr
    (place / "carl.py").write_text(BOT)
    arena(place, "tournament", "cup.toml", "--name", "first")


def test_a_bot_that_cannot_play_may_lose_by_walkover(place: Path) -> None:
    config(place, "anna.py", f"{sys.executable} {SINNER} not-starting", on_broken_bot="walkover", pairs=2)
    arena(place, "tournament", "cup.toml")
    shown = json.loads(arena(place, "show", "last", "--format", "json").stdout)
    assert shown["standings"][0]["bot"] == "anna"
    assert shown["standings"][0]["matches"]["won"] == 4
    assert Counter(fault["fault"] for fault in shown["faults"]) == {"not-started": 4}


def test_a_changed_config_is_refused_on_resume_with_the_difference_named(place: Path) -> None:
    arena(place, "tournament", "cup.toml", "--name", "first")
    config(place, block=7)
    assert "block was 32, is now 7" in refused(place, "tournament", "cup.toml", "--resume", "first")


def test_a_changed_bot_is_refused_on_resume(place: Path) -> None:
    arena(place, "tournament", "cup.toml", "--name", "first")
    (place / "anna.py").write_text(BOT + "\n# another version\n")
    assert "anna" in refused(place, "tournament", "cup.toml", "--resume", "first")


def test_more_pairs_and_bots_open_a_new_epoch(place: Path) -> None:
    config(place, pairs=2)
    arena(place, "tournament", "cup.toml", "--name", "first")
    before = json.loads(play_part(place, "first"))
    (place / "carl.py").write_text(BOT)
    config(place, "anna.py", "bert.py", "carl.py", pairs=3)
    arena(place, "tournament", "cup.toml", "--resume", "first")
    after = json.loads(play_part(place, "first"))
    assert after["run"]["matches_finished"] == 3 * 3 * 2
    assert len(after["run"]["epochs"]) == 2
    assert before["run"]["epochs"][0]["commitment"] == after["run"]["epochs"][0]["commitment"]


def test_a_run_that_another_arena_plays_is_refused(place: Path) -> None:
    config(place, pairs=400)
    run = subprocess.Popen(
        [*ARENA, "tournament", "cup.toml", "--name", "mine"], cwd=place, stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        read_until(run, "commitment")
        text = refused(place, "tournament", "cup.toml", "--resume", "mine")
        assert f"process {run.pid}" in text
    finally:
        run.kill()
        run.wait()
    wait_until_nothing_is_left(place)


@pytest.mark.parametrize("name", ["../evil", "a b", "last", ""])
def test_a_name_that_is_no_folder_is_refused(place: Path, name: str) -> None:
    assert "cannot be named" in refused(place, "tournament", "cup.toml", "--name", name)
    assert not (place.parent / "evil").exists()


def test_a_taken_name_is_refused_with_the_way_on(place: Path) -> None:
    arena(place, "tournament", "cup.toml", "--name", "first")
    assert "--resume first" in refused(place, "tournament", "cup.toml", "--name", "first")


def test_unmirrored_pairs_are_played_and_marked_where_bots_are_not_trusted(place: Path) -> None:
    config(place, trust_bots=False, pairs=3, sandbox="weak")
    arena(place, "tournament", "cup.toml")
    shown: dict[str, Any] = json.loads(arena(place, "show", "last", "--format", "json").stdout)
    assert (shown["run"]["mirrored_pairs"], shown["run"]["unmirrored_pairs"]) == (0, 3)


def test_a_data_folder_that_cannot_be_made_is_named(place: Path) -> None:
    assert "cup.toml/data" in refused(place, "tournament", "cup.toml", "--data", "cup.toml/data")
