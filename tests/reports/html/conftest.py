"""A site on disk, of a run whose bots have every kind of name."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.app.data import Archive
from arena.app.report import write_site
from arena.store import open_queries
from tests.reports.runs import faulty, plain, play_run, sound

MARKUP = '<script>alert("x")</script><b>& bold</b>'
LONG = "a name without any end " * 8
RIGHT_TO_LEFT = "ישראל"
NAMES = {"sound": sound, MARKUP: plain, LONG: plain, RIGHT_TO_LEFT: faulty, "..": sound}


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store with the run `cup`."""
    folder = tmp_path_factory.mktemp("store")
    play_run(folder, bots=NAMES, pairs=6, title="Cup of <all> names")
    return folder


@pytest.fixture(scope="session")
def site(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of its pages."""
    out = tmp_path_factory.mktemp("site")
    with open_queries(data / "arena.db") as queries:
        assert write_site(queries, "cup", Archive(data), out) == out / "index.html"
    return out
