"""The pages do what they say: commands run, snippets work, links lead somewhere, and nothing that they list is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from enum import StrEnum
from pathlib import Path

import pytest

from arena.bots.manifest import MANIFEST, resolve
from arena.game.presets import PRESETS
from arena.game.rules import _NUMBERS, OPTION_TYPES
from arena.tournament.config import load_config
from tests.docs import presets
from tests.docs.pages import LANGUAGES, PAGES, ROOT, Block, anchors, blocks, links, prose, table

BIN = Path(sys.executable).parent
RULES = ROOT / "docs" / "rules" / "README.md"
TWO_BOTS = '\n[[bots]]\nbot = "random"\n[[bots]]\nbot = "greedy"\n'
BROUGHT = ("Makefile", "pyproject.toml", "requirements.txt", "tournament.toml")
"""What commands find in their folder: the files that `make` needs, with a small tournament."""


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout in small: few pairs, one test, and the environment that runs this test."""
    for name in BROUGHT:
        shutil.copy2(ROOT / name, tmp_path)
    write(tmp_path / "tournament.toml", (ROOT / "tournament.toml").read_text(encoding="utf-8"))
    write(tmp_path / "tests" / "test_nothing.py", "def test_nothing() -> None:\n    pass\n")
    (tmp_path / ".venv").mkdir()
    for entry in Path(sys.prefix).iterdir():
        if entry.name != ".stamp":
            (tmp_path / ".venv" / entry.name).symlink_to(entry)
    (tmp_path / ".venv" / ".stamp").touch()  # the newest file: `make` has nothing to set up
    return tmp_path


def write(path: Path, text: str) -> None:
    """A file of a page; a tournament of as few pairs as can be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(re.sub(r"^pairs = \d+", "pairs = 1", text, flags=re.MULTILINE), encoding="utf-8")


def run(command: list[str], folder: Path, place: str) -> str:
    """What a command that must succeed writes to stdout."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
    environment |= {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{place}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_everything_that_a_page_shows_works(page: Path, folder: Path) -> None:
    for block in blocks(page):
        assert block.language in LANGUAGES, f"{block.place}: what is to be done with {block.language!r}?"
        match block.language:
            case "sh":
                run(["bash", "-euo", "pipefail", "-c", block.text], folder, block.place)
            case "python":
                try_python(block, folder)
            case "toml":
                try_toml(block, folder)


def try_python(block: Block, folder: Path) -> None:
    path = folder / (block.name or "snippet.py")
    write(path, block.text)
    if block.is_bot:
        played = run(["arena", "play", str(path), "random"], folder, block.place)
        assert "by a fault" not in played, f"{block.place}\n{played}"
    else:
        run([sys.executable, str(path)], folder, block.place)


def try_toml(block: Block, folder: Path) -> None:
    path = folder / (block.name or "snippet.toml")
    write(path, block.text)
    if path.name == MANIFEST:
        assert resolve(str(path.parent), base=folder).run
        return
    if "[[bots]]" not in block.text:
        write(path, block.text + TWO_BOTS)
    load_config(path)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        assert not path.startswith(("/", "http")), f"{named(page)}: {link} leads out of the project"
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{named(page)}: there is no {link}"
        assert not anchor or anchor in anchors(target), f"{named(page)}: there is no {link}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_path_that_is_named_exists(page: Path) -> None:
    rooms = r"(?:arena|bench|docs|proto|sample_bots|tests)/[\w./-]*"
    for path in re.findall(rf"`({rooms})`", prose(page)):
        assert (ROOT / path).exists(), f"{named(page)}: there is no {path}"


def test_every_page_can_be_reached_from_the_first() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        waiting += [(page.parent / link.partition("#")[0]).resolve() for link in links(page) if link[0] != "#"]
    assert reached >= set(PAGES)


# -- rules ----------------------------------------------------------------------------------------------------------


def test_the_table_of_presets_is_fresh() -> None:
    page = RULES.read_text(encoding="utf-8")
    assert page == presets.fresh(page), "run: python -m tests.docs.presets"


def test_every_preset_has_a_page() -> None:
    for name in PRESETS:
        assert any(f"`{name}`" in prose(page) for page in RULES.parent.glob("*.md") if page != RULES), name


def test_the_options_are_listed_with_all_their_values() -> None:
    listed = {row[0].strip("`"): re.findall(r"`(\w+)`", row[1]) for row in table(RULES, "option")}
    expected = {name: possible(name, kind) for name, kind in OPTION_TYPES.items()}
    assert listed == expected


def possible(name: str, kind: type) -> list[str]:
    if issubclass(kind, StrEnum):
        return [str(value) for value in kind]
    return ["true", "false"] if kind is bool else [str(value) for value in _NUMBERS[name]]
