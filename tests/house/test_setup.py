"""The set-up speaks at once, refuses an unusable Python in a sentence, and pins what pyproject.toml names."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
TOO_OLD = '#!/bin/sh\n[ "$1" = -V ] && echo Python 3.9.2 && exit\nexit 1\n'
WITHOUT_VENV = '#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; esac\n'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("Makefile", "pyproject.toml", "requirements.txt"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`UV=` is the machine without uv."""
    command = ["make", *arguments, "UV="]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def fake_python(folder: Path, script: str) -> str:
    path = folder / "fake-python"
    path.write_text(script)
    path.chmod(0o755)
    return f"PYTHON={path}"


def test_make_alone_lists_the_targets_and_does_nothing(checkout: Path) -> None:
    done = make(checkout)
    assert done.returncode == 0
    for target in ("setup", "tournament", "test", "bench", "proto", "lint", "clean"):
        assert f"\n  {target} " in done.stdout
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (TOO_OLD, "Python 3.11 or newer is needed, but"),
        (TOO_OLD, "is Python 3.9.2"),
        (WITHOUT_VENV, "apt install python3-venv"),
    ],
)
def test_an_unusable_python_is_refused_in_a_sentence(checkout: Path, script: str, said: str) -> None:
    done = make(checkout, "setup", fake_python(checkout, script))
    assert done.returncode == 2
    first, second, *_ = done.stderr.splitlines()
    assert first.startswith("Setting up .venv")
    assert said in second
    assert not (checkout / ".venv").exists()


def test_a_missing_python_is_refused_in_a_sentence(checkout: Path) -> None:
    done = make(checkout, "setup", "PYTHON=no-such-python")
    assert done.returncode == 2
    assert "no-such-python was not found" in done.stderr


def test_the_lock_pins_every_dependency_and_names_no_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    own = [each for each in map(Requirement, extras["test"]) if each.name == project["name"]]
    assert {extra for each in own for extra in each.extras} <= extras.keys()
    wanted = [
        *project["dependencies"],
        *extras["test"],
        *(word for each in own for e in each.extras for word in extras[e]),
    ]
    text = (ROOT / "requirements.txt").read_text()
    pins: dict[str, list[str]] = {}
    for line in text.splitlines():
        if "==" in line:
            pin = Requirement(line)
            pins.setdefault(canonicalize_name(pin.name), []).append(str(pin.specifier).removeprefix("=="))
    for requirement in map(Requirement, wanted):
        if requirement in own:
            continue
        versions = pins.get(canonicalize_name(requirement.name), [])
        assert versions, f"{requirement.name} is not locked: run `make lock`"
        assert all(version in requirement.specifier for version in versions), requirement
    assert not [word for word in ("://", "--index", "--find-links", "file:") if word in text]
