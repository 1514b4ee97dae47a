"""The examination of bots: each check finds the bot that it is for, and finds fault with no other."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.app import check as app
from arena.app.check import CheckOptions, check_bot
from arena.app.engines.local import Building
from arena.bot.view import View
from arena.bots.check import examiner
from arena.bots.check.checks import BY_NAME, CHECKS, Colour, Examination, Finding
from arena.bots.manifest import builtin_names, sample_bots_folder
from arena.cards import CARD_NAMES
from arena.errors import UsageError
from arena.game.presets import PRESETS
from arena.game.questions import Kind
from arena.tournament.config import LeastSandbox
from tests.bad_bots import misfit
from tests.bots.conftest import assert_nothing_is_left
from tests.bots.remotes import LOWEST, Remote, free_port, keys_for, until
from tests.docs.pages import ROOT, anchors

PYTHON = [name for name in builtin_names() if (sample_bots_folder() / name / "bot.py").exists() and name != "ismcts"]
"""The sample bots that need no build.  Ismcts thinks by the clock: a minute in all, and not repeatable."""
BUSY = {"start", "time-use", "output", "files"}
"""Yellow on a busy machine, whatever the bot: the SDK warns where time grows short, and others write files, too."""
REMOTE = {
    **{kind: kind for kind in Kind},
    **{"claim-out-of-turn": "claim", "crash-on-close": "on-close"},
    **{
        name: name
        for name in (
            *("describe", "version", "name", "rules", "capacity", "answers", "matches", "many-matches"),
            *("unasked-deal", "long-history", "resumed", "unknown-fields", "unknown-numbers", "same-id", "withdrawn"),
            *("fault", "full-message", "in-time"),
        )
    },
    "describe-later": "unknown-fields",
}
"""The check that each sin of a bot at an address turns red."""
WORTH_KNOWING = ("next-major", "time-use", "answers-once", "repeatable")
"""Sins that cost nothing, called like the checks that they turn yellow."""
LOCAL = ("start", "sigterm", "stream-closed", "children")
"""Sins of a process, called like the checks that they turn red; `files` is one more, and `output` is yellow."""


def examine(bot: str, *only: str, sandbox: LeastSandbox = LeastSandbox.WEAK) -> Examination:
    return asyncio.run(check_bot(CheckOptions(bot, only, sandbox, start_s=60.0)))


def not_green(found: Examination) -> dict[str, Colour]:
    """What was found, but for what a busy machine brings about."""
    return {
        finding.check.name: finding.colour
        for finding in found.findings
        if finding.colour is Colour.RED or (finding.colour is Colour.YELLOW and finding.check.name not in BUSY)
    }


def finding(found: Examination, name: str) -> Finding:
    return next(each for each in found.findings if each.check.name == name)


@pytest.fixture(autouse=True)
def nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(app, "MARKER", "arena-test")
    yield
    assert_nothing_is_left()


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the sockets of all misfits that need no process of their own."""
    folder = tmp_path_factory.mktemp("zoo")
    command = [sys.executable, "-m", "tests.bad_bots.misfit", "--folder", str(folder)]
    sins = ["honest", *REMOTE, *WORTH_KNOWING]
    with subprocess.Popen([*command, *sins], cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield folder
        process.kill()


def folder_of(tmp_path: Path, sin: str) -> str:
    """The folder of a bot that commits the sin in a process of its own."""
    folder = tmp_path / "bots" / "misfit"
    folder.mkdir(parents=True)
    shutil.copy(misfit.__file__, folder / "misfit.py")  # of the checkout it may see nothing but the package
    command = f'["{sys.executable}", "misfit.py", "{sin}"]'
    (folder / "bot.toml").write_text(f'name = "misfit"\nrules = ["schnapsen"]\n[run]\ncommand = {command}\n')
    return str(folder)


# -- good bots ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PYTHON)
def test_the_sample_bots_are_all_green(name: str) -> None:
    found = examine(name, sandbox=LeastSandbox.AUTO)
    assert not_green(found) == {}
    greys = {each.check.name for each in found.findings if each.colour is Colour.GREY}
    assert greys <= {"before-draw", "on-close", "marriage", "declared-pair", "exchange"}


def test_a_bot_at_an_address_passes(zoo: Path) -> None:
    found = examine(f"unix:{zoo}/honest")
    assert found.passed
    assert not_green(found) == {}
    assert set(found.plays) == set(misfit.PLAYS)
    greys = {each.check.name for each in found.findings if each.colour is Colour.GREY}
    assert greys == {"sigterm", "children", "output", "files"}


def test_a_remote_bot_with_keys_passes(tmp_path: Path) -> None:
    port = free_port()
    keys = keys_for(tmp_path / "keys", f"127.0.0.1:{port}")
    source = LOWEST.replace("serve(choose,", 'serve(choose, plays=["schnapsen"], streams=2,')
    with Remote(tmp_path / "far", source, keys=keys.bot, port=port) as far:
        until(far.serves)
        found = examine(str(keys.arena))
    assert not_green(found) == {}
    assert found.plays == ("schnapsen",)
    assert finding(found, "capacity").text == "2 at once, with any number of decisions"


# -- bad bots ----------------------------------------------------------------------------------------------------------


def test_there_is_a_bad_bot_for_every_check() -> None:
    assert {*REMOTE.values(), *WORTH_KNOWING, *LOCAL, "build", "files", "output"} == set(BY_NAME)


@pytest.mark.parametrize("sin", REMOTE)
def test_a_sin_turns_its_check_red_and_no_other(zoo: Path, sin: str) -> None:
    found = examine(f"unix:{zoo}/{sin}")
    assert not_green(found) == {REMOTE[sin]: Colour.RED}
    assert not found.passed


@pytest.mark.parametrize("sin", WORTH_KNOWING)
def test_what_costs_nothing_is_yellow_and_fails_nobody(zoo: Path, sin: str) -> None:
    found = examine(f"unix:{zoo}/{sin}")
    assert {**not_green(found), sin: finding(found, sin).colour} == {sin: Colour.YELLOW}
    assert found.passed


@pytest.mark.parametrize("sin", LOCAL)
def test_a_sin_of_a_process_turns_its_check_red_and_no_other(tmp_path: Path, sin: str) -> None:
    assert not_green(examine(folder_of(tmp_path, sin))) == {sin: Colour.RED}


def test_a_file_that_a_bot_writes_beside_its_folder_is_found(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="t-") as around:  # open to whatever uid a bot gets under root
        os.chmod(around, 0o755)
        bot = folder_of(Path(around), "files")
        notes = Path(around) / "bots" / "notes.txt"
        notes.touch()
        notes.chmod(0o666)
        found = examine(bot)
    assert not_green(found) == {"files": Colour.RED}
    assert str(notes) in finding(found, "files").troubles[0].answered


def test_a_build_that_fails_is_red_and_says_why(tmp_path: Path) -> None:
    bot = folder_of(tmp_path, "honest")
    with (Path(bot) / "bot.toml").open("a") as manifest:
        manifest.write('[build]\ncommand = ["ls", "what-is-not-there"]\n')
    building = Building(tmp_path / "builds")
    found = asyncio.run(check_bot(CheckOptions(bot, sandbox=LeastSandbox.WEAK, building=building)))
    assert not_green(found) == {"build": Colour.RED}
    (trouble,) = finding(found, "build").troubles
    assert trouble.asked == "ls what-is-not-there"
    assert "what-is-not-there" in trouble.evidence


def test_a_bot_that_is_not_there_in_time_is_red(tmp_path: Path) -> None:
    (tmp_path / "heavy.py").write_text("import time\ntime.sleep(600)\n")
    options = CheckOptions(str(tmp_path / "heavy.py"), sandbox=LeastSandbox.WEAK, start_s=2.0)
    found = asyncio.run(check_bot(options))
    assert not_green(found) == {"start": Colour.RED}
    assert "did not listen at ARENA_ADDRESS within 2 s" in finding(found, "start").troubles[0].answered


def test_rules_that_are_none_or_are_refused_are_held_against_its_manifest(tmp_path: Path) -> None:
    bot = Path(folder_of(tmp_path, "honest"))
    manifest = (bot / "bot.toml").read_text()
    (bot / "bot.toml").write_text(manifest.replace('["schnapsen"]', '["schnapsen", "snapszli", "santase"]'))
    found = examine(str(bot), "rules")
    assert found.plays == ("schnapsen",)
    assert [trouble.answered for trouble in finding(found, "rules").troubles] == [
        "no preset is called snapszli",
        "no: only what I know; but its bot.toml says that it plays santase",
    ]


def test_a_bot_that_thinks_for_long_is_asked_less(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examiner, "PATIENCE_MS", 0.0)
    found = examine(f"unix:{zoo}/honest", "must-beat", "matches")
    assert finding(found, "must-beat").text == "2 times (2 presets)"
    assert finding(found, "matches").colour is Colour.GREY


def test_what_a_bot_prints_is_said(tmp_path: Path) -> None:
    found = examine(folder_of(tmp_path, "output"))
    assert not_green(found) == {}
    assert finding(found, "output").colour is Colour.YELLOW
    assert "thinking about" in finding(found, "output").text


def test_a_bot_that_is_deaf_to_sigterm_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examiner, "END_S", 0.5)
    found = examine(folder_of(tmp_path, "deaf"), "sigterm")
    assert [trouble.answered for trouble in finding(found, "sigterm").troubles] == ["it did not end in 0 s"]


# -- what is said ------------------------------------------------------------------------------------------------------


def test_a_red_check_shows_a_position_in_which_the_bot_is_asked_the_same(zoo: Path) -> None:
    troubles = finding(examine(f"unix:{zoo}/must-beat", "must-beat"), "must-beat").troubles
    assert troubles
    for trouble in troubles:
        view = View.at(trouble.position, trouble.rules_name)
        assert trouble.asked == f"FOLLOW: one of {' '.join(map(str, view.legal))}"
        assert trouble.answered in CARD_NAMES
        assert trouble.answered not in map(str, view.legal)


def test_only_what_is_asked_for_is_tried(zoo: Path) -> None:
    found = examine(f"unix:{zoo}/must-beat", "same-id", "withdrawn")
    assert [(each.check.name, each.colour) for each in found.findings] == [
        ("same-id", Colour.GREEN),
        ("withdrawn", Colour.GREEN),
    ]


@pytest.mark.parametrize("name", ["in-time", "time-use", "answers-once"])
def test_what_is_seen_along_the_way_is_seen_when_asked_for_alone(zoo: Path, name: str) -> None:
    assert finding(examine(f"unix:{zoo}/honest", name), name).colour is not Colour.GREY


def test_whatever_keeps_a_check_from_being_tried_is_shown_too(zoo: Path) -> None:
    found = examine(f"unix:{zoo}/answers", "must-beat")
    assert {each.check.name: each.colour for each in found.findings} == {
        "answers": Colour.RED,
        "must-beat": Colour.GREY,
    }
    assert finding(found, "answers").troubles[0].answered == "error: ValueError: I cannot"


def test_a_check_that_there_is_not_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="there is no check 'must-beet'; did you mean 'must-beat'"):
        examine("random", "must-beet")


def test_every_rule_that_is_named_stands_in_the_docs() -> None:
    for each in CHECKS:
        page, _, anchor = each.rule.partition("#")
        assert not anchor or anchor in anchors(ROOT / page), each.rule
        assert (ROOT / page).exists()


def test_the_presets_of_the_misfits_ask_every_kind_of_question(zoo: Path) -> None:
    found = examine(f"unix:{zoo}/honest", *Kind)
    assert all(each.colour is Colour.GREEN for each in found.findings)
    assert set(misfit.PLAYS) <= set(PRESETS)
