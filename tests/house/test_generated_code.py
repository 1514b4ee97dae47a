"""Law 8: the generated code equals what `make proto` makes now."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GENERATOR = ROOT / ".venv-proto" / "bin" / "python"
needs_generator = pytest.mark.skipif(not GENERATOR.exists(), reason="`make proto` has not been run here")


def contents(package: Path) -> dict[str, bytes]:
    files = (path for path in package.rglob("*") if path.suffix in (".py", ".pyi"))
    return {path.relative_to(package).as_posix(): path.read_bytes() for path in files}


@needs_generator
def test_the_generated_code_is_fresh(tmp_path: Path) -> None:
    subprocess.run([GENERATOR, ROOT / "proto" / "generate.py", tmp_path], check=True)
    kept, made = contents(ROOT / "arena" / "sixtysix"), contents(tmp_path / "arena" / "sixtysix")
    assert made, "nothing was generated"
    stale = sorted(name for name in kept.keys() | made.keys() if kept.get(name) != made.get(name))
    assert not stale, f"run `make proto` and commit: {stale}"


@needs_generator
def test_generating_replaces_what_stood_there(tmp_path: Path) -> None:
    leftover = tmp_path / "arena" / "sixtysix" / "v1" / "removed_pb2.py"
    leftover.parent.mkdir(parents=True)
    leftover.write_text("")
    subprocess.run([GENERATOR, ROOT / "proto" / "generate.py", tmp_path], check=True)
    assert not leftover.exists()
