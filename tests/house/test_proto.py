"""The proto is well formed, documented field by field, and breaks no bot built on the last release."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROTO = Path(__file__).parents[2] / "proto"
BUF = Path(sys.executable).parent / "buf"


def buf(*arguments: str, folder: Path = PROTO) -> subprocess.CompletedProcess[str]:
    return subprocess.run([BUF, *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The proto folder's sources, to be spoiled."""
    for source in [PROTO / "buf.yaml", *PROTO.rglob("*.proto")]:
        target = tmp_path / source.relative_to(PROTO)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source.read_text())
    return tmp_path


def test_the_proto_is_linted_and_documented() -> None:
    done = buf("lint")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_proto_breaks_nothing_of_the_last_release() -> None:
    done = buf("breaking", "--against", "baseline.binpb")
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_undocumented_message_is_refused(copy: Path) -> None:
    source = min(copy.rglob("*.proto"))
    source.write_text(source.read_text() + "\nmessage Planted {}\n")
    done = buf("lint", folder=copy)
    assert done.returncode != 0
    assert 'Message "Planted" should have a non-empty comment' in done.stdout


def test_a_removed_message_is_a_break(copy: Path) -> None:
    source = min(copy.rglob("*.proto"))
    source.write_text(source.read_text() + "\nmessage Planted {}\n")
    released = str(copy / "released.binpb")
    assert buf("build", "-o", released, folder=copy).returncode == 0
    done = buf("breaking", "--against", released)
    assert done.returncode != 0
    assert 'message "Planted"' in done.stdout


def test_every_proto_keeps_to_what_old_generators_know() -> None:
    for source in PROTO.rglob("*.proto"):
        lines = [line.strip() for line in source.read_text().splitlines()]
        assert 'syntax = "proto3";' in lines, source
        assert not any(line.startswith("optional ") for line in lines), source
        for option in ("go_package", "java_package", "java_multiple_files", "csharp_namespace"):
            assert any(line.startswith(f"option {option} = ") for line in lines), (source, option)
