"""A tournament in which nearly every bot sins: each is charged with its own fault, the honest one with none, and what
a sinner leaves behind is nothing: no process, no file descriptor, no memory."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import psutil
import pytest

from arena.match.rulings import Fault
from tests.bad_bots.sins import SINS, Sin
from tests.bots.conftest import remote
from tests.e2e.test_hard_times import rows
from tests.e2e.test_tournament import ARENA, SINNER, arena, wait_until_nothing_is_left

FLAGS = (
    "illegal", "largest-number", "rude-error", "garbage", "once-huge",
    "always-silent", "late", "once-close", "once-kill", "grandchild", "chatter", "not-starting", "other-version",
)  # fmt: skip
ENTERED: dict[str, Sin] = {sin.flags: sin for sin in SINS if sin.flags in FLAGS}
PAIRS = 2
MATCHES = len(ENTERED) * PAIRS * 2
CONFIG = f"""
rules = "schnapsen"
format = "gauntlet"
champions = ["honest"]
pairs = {PAIRS}
block = 1
jobs = 3
cores = 6
on_broken_bot = "walkover"
quarantine = false
[clock]
limit_ms = 2500
bank_ms = 0
start_ms = 60000
[[bots]]
name = "honest"
bot = "HONEST"
"""
GROWTH_BYTES = 6 << 20
"""What the memory of the arena may differ by from one half of a run to the other."""


def enter_sinners(place: Path, honest: str) -> None:
    lines = [CONFIG.replace("HONEST", honest)]
    for flags in ENTERED:
        command = json.dumps(f"{sys.executable} {SINNER} {flags}")
        lines.append(f'[[bots]]\nname = "{flags}"\nbot = {command}\n')
    (place / "cup.toml").write_text("".join(lines))


@pytest.mark.timeout(300)
def test_a_tournament_of_sinners_goes_on_to_its_end_and_charges_each_for_itself(tmp_path: Path) -> None:
    memory: list[int] = []
    files: list[int] = []
    with remote("honest") as honest:
        enter_sinners(tmp_path, honest)
        run = subprocess.Popen(
            [*ARENA, "tournament", "cup.toml", "--name", "sins", "--verbose", "--seed", "1"],
            cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert run.stderr is not None
        process = psutil.Process(run.pid)
        said = ""
        for line in run.stderr:
            said += line
            if " deals, " in line or " deal, " in line:  # a match was committed
                memory.append(process.memory_info().rss)
                files.append(process.num_fds())
        assert run.wait(60) == 0, said
    wait_until_nothing_is_left(tmp_path)

    assert len(memory) == MATCHES
    half = MATCHES // 2
    assert max(memory[half:]) < max(memory[:half]) + GROWTH_BYTES
    assert min(files[half:]) <= max(files[half // 2 : half])

    report = json.loads(arena(tmp_path, "show", "sins", "--format", "json").stdout)
    assert report["run"]["matches_finished"] == MATCHES
    assert report["faults"] and all(fault["evidence"] for fault in report["faults"])
    charged = {line["bot"]: set(line["faults"]) for line in report["standings"]}
    assert charged.pop("honest") == set()
    evidence: defaultdict[str, list[str]] = defaultdict(list)
    for name, text in rows(tmp_path, "select participant, evidence from faults order by participant"):
        evidence[name].append(json.loads(text))
    for flags, sin in ENTERED.items():
        assert charged[flags] <= {fault.label for fault in sin.faults}
        assert bool(charged[flags]) is bool(sin.faults)
        assert not sin.faults or any(sin.evidence in text for text in evidence[flags]), evidence[flags]
    assert "honest" not in evidence

    table = arena(tmp_path, "show", "sins", "--format", "csv", "--columns", "bot,faults,fault-kinds").stdout
    kinds = {line["bot"]: line["fault-kinds"] for line in csv.DictReader(io.StringIO(table))}
    assert not kinds["honest"]
    assert Fault.LATE.label in kinds["always-silent"] and Fault.MALFORMED.label in kinds["garbage"]
    page = arena(tmp_path, "show", "sins").stdout
    assert all(f"{fault.label} " in page for fault in (Fault.DIED, Fault.FLOOD, Fault.NOT_STARTED))
    assert "\x1b" not in page and "\0" not in page
