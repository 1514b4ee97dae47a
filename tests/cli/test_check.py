"""`arena check`: what an author sees of a bot that is wrong, and what a program reads."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from arena.bots.check.checks import CHECKS
from arena.cli.exits import Exit
from arena.reports.check import Document, json_schema
from tests.cli.conftest import Arena, Here
from tests.docs.pages import ROOT

SCHEMA = ROOT / "docs" / "check.schema.json"
GOOD = "from arena.bot import serve\nserve(lambda view: view.legal[0], waives_before_draw=True)\n"
CHOOSE = "from arena.bot import serve\n\n\ndef choose(view):\n    {}\n\n\nserve(choose)\n"
BAD_INPUT = {
    "syntax": ("def choose(view:\n", "start", "SyntaxError", "it is no Python"),
    "module": ("import torch_of_nobody\n", "start", "No module named 'torch_of_nobody'", "install what is missing"),
    "no-serve": ("print('done')\n", "start", "status 0 before it answered", "call serve"),
    "none": (CHOOSE.format("view.legal"), "answers", "choose returned None", "every way through choose"),
    "text": (CHOOSE.format("return 'AH'"), "answers", "choose returned 'AH'", "return one of view.legal"),
    "throws": (CHOOSE.format("return view.hands[0]"), "answers", "AttributeError", ""),
}
"""By name: the source of a bot, the check that it fails, and what is said of it and what to do."""


def test_a_good_bot_passes_and_says_so(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(GOOD)
    done = arena("check", "good.py", "--only", "follow-suit", "--only", "must-beat", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (Exit.DONE, "")
    assert re.findall(r"^(\w+) +([a-z-]+) ", done.stdout, re.MULTILINE) == [
        ("green", "follow-suit"),
        ("green", "must-beat"),
    ]
    assert done.stdout.endswith("good: 2 green\n")


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_is_named_with_the_last_words_and_what_to_do(here: Here, tmp_path: Path, name: str) -> None:
    source, check, said, cure = BAD_INPUT[name]
    (tmp_path / "bad.py").write_text(source)
    code, out, err = here("check", tmp_path / "bad.py")
    assert (code, err) == (Exit.WRONG, "")
    assert re.findall(r"^red +([a-z-]+) ", out, re.MULTILINE) == [check]
    assert said in out
    assert cure in out
    assert "not tried" not in out


def test_a_script_with_the_lines_of_windows_is_told_how_to_mend_them(here: Here, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_bytes(b"#!/usr/bin/env python3\r\nprint(1)\r\n")
    script.chmod(0o755)
    code, out, _ = here("check", script)
    assert code == Exit.WRONG
    assert "as on Windows" in out


def test_a_script_that_may_not_be_run_is_a_mistake(here: Here, tmp_path: Path) -> None:
    (tmp_path / "script").write_text("#!/bin/sh\n")
    code, out, err = here("check", tmp_path / "script")
    assert (code, out) == (Exit.USAGE, "")
    assert "chmod +x" in err


def test_a_bot_has_to_be_named(here: Here) -> None:
    code, out, err = here("check")
    assert (code, out) == (Exit.USAGE, "")
    assert err == "arena: no bot is named; expected one to examine, as in: arena check ./mybot\n"


def test_the_list_names_every_check(here: Here) -> None:
    code, out, err = here("check", "--list")
    assert (code, err) == (Exit.DONE, "")
    assert [line.split()[0] for line in out.splitlines()] == [check.name for check in CHECKS]


def test_json_keeps_to_its_schema(here: Here, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(CHOOSE.format("return view.hands[0]"))
    code, out, err = here("check", tmp_path / "bad.py", "--format", "json")
    assert (code, err) == (Exit.WRONG, "")
    Document.model_validate_json(out)
    data = json.loads(out)
    assert (data["schema_version"], data["bot"], data["passed"]) == (1, "bad", False)
    assert [finding["check"] for finding in data["findings"]] == [check.name for check in CHECKS]
    (red,) = [finding for finding in data["findings"] if finding["colour"] == "red"]
    assert red["check"] == "answers"
    assert "AttributeError" in red["troubles"][0]["answered"]
    assert "Traceback" in red["troubles"][0]["evidence"]


def test_the_published_schema_is_that_of_the_code() -> None:
    """Write it anew with `json.dumps(json_schema(), indent=2)` and a newline at the end."""
    assert SCHEMA.read_text(encoding="utf-8") == json.dumps(json_schema(), indent=2) + "\n"
