"""The pages as they are written: their fenced blocks, headings and links.

A block's language says what a test does with it: `sh` is run, `python` is executed (or played, if it is a bot), `toml`
and `json` are loaded, `text` is for reading only, unless it is the `output` of the command above it.  A word after the
language names the file that the block is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "proto").rglob("*.md"))]
LANGUAGES = {"sh", "python", "toml", "json", "text"}


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block."""

    page: Path
    line: int
    """The line of its first fence, from 1."""
    language: str
    name: str
    """The file that it is; empty if it is none."""
    text: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def is_bot(self) -> bool:
        return self.language == "python" and bool(re.search(r"^ *serve\(|ARENA_ADDRESS", self.text, re.MULTILINE))


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page in order."""
    fence: tuple[int, str] | None = None
    inside: list[str] = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("```"):
            inside.append(line)
        elif fence is None:
            fence, inside = (number, line.removeprefix("```")), []
        else:
            language, _, name = fence[1].partition(" ")
            yield Block(page, fence[0], language, name.strip(), "\n".join([*inside, ""]))
            fence = None
    assert fence is None, f"{page}: the block that begins in line {fence} has no end"


def prose(page: Path) -> str:
    """The page without its blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links to it."""
    headings = re.findall(r"^#+ +(.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> Iterator[str]:
    """Where the links of a page lead to, as written."""
    yield from re.findall(r"\]\(([^()\s]+)\)", prose(page))


def table(page: Path, heading: str) -> list[list[str]]:
    """The lines of the first table that has `heading` over its first column: its cells, without the head."""
    return next(tables(page, heading))


def tables(page: Path, heading: str) -> Iterator[list[list[str]]]:
    """Of each table that has `heading` over its first column the lines: their cells, without the head."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for start, head in enumerate(lines):
        if head.startswith(f"| {heading} |"):
            body = takewhile(lambda line: line.startswith("|"), lines[start + 2 :])
            yield [[cell.strip() for cell in line[1:-1].split("|")] for line in body]
