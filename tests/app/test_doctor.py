"""What the doctor finds: each finding against a machine that is made worse in just that."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from arena.app import doctor
from arena.app.doctor import Finding, examine
from arena.bots.sandbox import Level, at

ROOT = Path(__file__).parents[2]


def found(name: str, data: Path) -> Finding:
    (finding,) = [finding for finding in examine(data) if finding.name == name]
    return finding


def test_every_level_is_looked_at_and_the_reason_for_a_lacking_one_is_given(tmp_path: Path) -> None:
    findings = {finding.name: finding for finding in examine(tmp_path)}
    for level in Level:
        assert findings[f"sandbox {level}"].value.startswith("to be had" if at(level) else "not to be had: ")
    assert findings["Python"].value.startswith(sys.version.split()[0])
    assert not any(findings[name].cure for name in ("Python", "grpcio", "SQLite", "system"))


def test_a_full_disk_is_worse_also_for_a_folder_that_is_not_there_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = namedtuple("full", "total used free")(10, 9, 5 << 20)
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda path: full)
    finding = found("disk", tmp_path / "not" / "there")
    assert finding.value == f"0.0 GB free in {tmp_path}"
    assert "--data" in finding.cure


def test_few_open_files_are_worse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.resource, "getrlimit", lambda kind: (256, resource.RLIM_INFINITY))
    finding = found("open files", tmp_path)
    assert (finding.value, finding.cure) == ("256", "raise the limit: ulimit -n 1024")


def test_more_work_than_cores_is_worse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for load, worse in ((0.0, False), (1000.0, True)):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, load, load))
        assert bool(found("cores", tmp_path).cure) == worse


def test_what_a_dead_arena_left_is_named_and_left_alone(tmp_path: Path) -> None:
    marker = f"arena-test:{2**22 + 1}:5:00"
    with subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"], "ARENA_MARKER": marker}) as left:
        try:
            finding = found("leftovers", tmp_path)
            assert str(left.pid) in finding.value
            assert finding.cure
            assert left.poll() is None
        finally:
            left.kill()


@pytest.mark.parametrize("form", ["table", "json"])
def test_the_command_says_it_in_both_forms_and_its_exit_code_says_the_worst(tmp_path: Path, form: str) -> None:
    words = [sys.executable, "-m", "arena", "doctor", "--data", str(tmp_path), "--format", form]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    if form == "json":
        findings: list[dict[str, Any]] = json.loads(done.stdout)
        worse = [finding["name"] for finding in findings if finding["cure"]]
    else:
        worse = [line for line in done.stdout.splitlines() if line.startswith("worse")]
        assert "sandbox strong" in done.stdout
    assert done.returncode == (1 if worse else 0)
