"""The page of scenarios promises nothing that is not tried: each test that it names exists, and so does each sin."""

from __future__ import annotations

import ast
import re

from tests.bad_bots.sins import SINS
from tests.docs.pages import ROOT, tables

PAGE = ROOT / "docs" / "scenarios.md"
PROOF = re.compile(r"sin `(?P<sin>[^`]+)`|`(?P<file>tests/[\w/]+\.py)::(?P<test>\w+)`")
FLAGS = {flags for sin in SINS for flags in (sin.flags, sin.flags.split()[0])}


def proofs(cell: str) -> list[re.Match[str]]:
    return list(PROOF.finditer(cell))


def test_every_scenario_is_shown_by_something_and_by_nothing_else() -> None:
    scenarios = [row for rows in tables(PAGE, "what goes wrong") for row in rows]
    assert len(scenarios) > 60
    for what, _, shown_by in scenarios:
        assert proofs(shown_by), what
        assert not PROOF.sub("", shown_by).strip(), what


def test_every_test_and_sin_that_shows_a_scenario_exists() -> None:
    defined: dict[str, set[str]] = {}
    for found in proofs(PAGE.read_text(encoding="utf-8")):
        if sin := found["sin"]:
            assert sin in FLAGS, f"{sin} is no sin"
            continue
        file = found["file"]
        if file not in defined:
            tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
            defined[file] = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert found["test"] in defined[file], f"there is no {file}::{found['test']}"
