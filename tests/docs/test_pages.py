"""The pages do what they say: commands run, snippets work, and links lead somewhere."""

from __future__ import annotations

import doctest
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from arena.bots.manifest import MANIFEST, resolve
from arena.tournament.config import load_config
from tests import postgres
from tests.docs.pages import LANGUAGES, PAGES, ROOT, Block, anchors, blocks, links, prose

BIN = Path(sys.executable).parent
PATH = f"{BIN}{os.pathsep}{os.environ['PATH']}"
OUTPUT = "output"
"""The name of a text that shows what the command above it shows."""
TWO_BOTS = '\n[[bots]]\nbot = "random"\n[[bots]]\nbot = "greedy"\n'
BROUGHT = ("Makefile", "pyproject.toml", "requirements.txt", "tournament.toml")
"""What commands find in their folder: the files that `make` needs, with a small tournament."""
STAMPS = (".stamp", ".full-stamp")
"""By which `make` knows what is set up, in this order."""


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout in small: few pairs, one test, and the environment that runs this test."""
    for name in BROUGHT:
        shutil.copy2(ROOT / name, tmp_path)
    write(tmp_path / "tournament.toml", (ROOT / "tournament.toml").read_text(encoding="utf-8"))
    shutil.copytree(ROOT / "proto", tmp_path / "proto")
    write(tmp_path / "tests" / "test_nothing.py", "def test_nothing() -> None:\n    pass\n")
    (tmp_path / ".venv").mkdir()
    for entry in Path(sys.prefix).iterdir():
        if entry.name not in STAMPS:
            (tmp_path / ".venv" / entry.name).symlink_to(entry)
    for stamp in STAMPS:
        (tmp_path / ".venv" / stamp).touch()  # the newest files: `make` has nothing to set up
    return tmp_path


def write(path: Path, text: str) -> None:
    """A file of a page; a tournament of as few pairs as can be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(re.sub(r"^((?:max_)?pairs) = \d+", r"\1 = 1", text, flags=re.MULTILINE), encoding="utf-8")


@pytest.fixture
def database(page: Path, request: pytest.FixtureRequest) -> dict[str, str]:
    """What tells the commands of a page where its database server is, if it has any."""
    if "createdb" not in page.read_text(encoding="utf-8"):
        return {}
    server: postgres.Server = request.getfixturevalue("server")
    return {**server.environment, "PATH": f"{postgres.BINARIES}{os.pathsep}{PATH}"}


def run(command: list[str], folder: Path, place: str, more: Mapping[str, str] = MappingProxyType({})) -> str:
    """Run a command that must succeed, without a fault of a bot that it plays; returns what a person sees of it."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("ARENA_", "MAKE", "MFLAGS"))
    }
    environment |= {"PATH": PATH, "PYTHONPATH": str(ROOT), **more, "XDG_CACHE_HOME": str(folder / ".cache")}
    with tempfile.TemporaryDirectory(prefix="page-") as short:  # for the sockets of a Ray cluster
        done = subprocess.run(
            command,
            cwd=folder,
            env={**environment, "RAY_TMPDIR": short},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    assert done.returncode == 0, f"{place}: exit code {done.returncode}\n{done.stdout}"
    assert "by a fault" not in done.stdout, f"{place}: a bot committed a fault\n{done.stdout}"
    return done.stdout


def check_output(block: Block, shown: str) -> None:
    """What the last command showed is what the page shows, `...` standing for anything."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(block.text, shown, flags), f"{block.place} shows what is not:\n{shown}"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", PAGES, ids=named)
def test_everything_that_a_page_shows_works(page: Path, folder: Path, database: dict[str, str]) -> None:
    shown = ""
    commands = "".join(block.text for block in blocks(page) if block.language == "sh")
    for block in blocks(page):
        assert block.language in LANGUAGES, f"{block.place}: what is to be done with {block.language!r}?"
        match block.language:
            case "sh":
                shown = run(["bash", "-euo", "pipefail", "-c", block.text], folder, block.place, database)
            case "text" if block.name == OUTPUT:
                check_output(block, shown)
            case "python":
                path = folder / (block.name or "snippet.py")
                write(path, block.text)
                if not block.is_bot:
                    run([sys.executable, str(path)], folder, block.place)
                elif not (block.name and block.name in commands):  # which would be the page's own match
                    run(["arena", "play", str(path), "random"], folder, block.place)
            case "toml":
                try_toml(block, folder)
            case "json":
                json.loads(block.text)
                write(folder / block.name, block.text)


def test_an_output_that_is_not_what_a_page_shows_is_found() -> None:
    def block(text: str) -> Block:
        return Block(ROOT / "README.md", 1, "text", OUTPUT, text)

    check_output(block("one\n...\nthree ... 3\n"), "one\ntwo\nthree is  3\n")
    with pytest.raises(AssertionError, match=r"README\.md:1 shows what is not"):
        check_output(block("one\n...\nfour\n"), "one\ntwo\nthree\n")


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
