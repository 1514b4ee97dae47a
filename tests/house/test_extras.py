"""`make tournament` installs what playing takes and no extra: a tournament and its pages do without any of them."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CUP = 'pairs = 1\nblock = 1\ntrust_bots = true\n[[bots]]\nbot = "greedy"\n[[bots]]\nbot = "random"\n'

WITHOUT = """
import sys

class But:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, *rest):
        return None if name.partition(".")[0] in {missing!r} else self.finder.find_spec(name, *rest)

sys.meta_path[:] = map(But, sys.meta_path)
from arena.cli import run
sys.exit(run())
"""


def needed(distribution: str, seen: set[str]) -> set[str]:
    """The distributions that it requires without extras, itself included."""
    if distribution not in seen:
        seen.add(distribution)
        for each in map(Requirement, importlib.metadata.requires(distribution) or ()):
            if each.marker is None or each.marker.evaluate({"extra": ""}):
                needed(canonicalize_name(each.name), seen)
    return seen


def test_a_tournament_and_its_pages_need_no_extra(tmp_path: Path) -> None:
    base = needed("sixtysix-arena", set())
    missing = {
        module
        for module, owners in importlib.metadata.packages_distributions().items()
        if not base & {canonicalize_name(owner) for owner in owners}
    }
    assert {"pytest", "starlette", "playwright"} <= missing and not {"grpc", "numpy", "jinja2"} & missing
    (tmp_path / "cup.toml").write_text(CUP)
    for words in (["tournament", "cup.toml", "-q"], ["show"], ["trust"], ["verify"], ["report", "--out", "site"]):
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT.format(missing=missing), *words],
            cwd=tmp_path, capture_output=True, text=True, timeout=100,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "index.html").exists()
    refused = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(missing=missing), "web"], cwd=tmp_path, capture_output=True, text=True,
        timeout=100,
    )  # fmt: skip
    assert refused.returncode == 2 and "pip install 'sixtysix-arena[web]'" in refused.stderr
