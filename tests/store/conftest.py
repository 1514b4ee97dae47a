"""What holds of a store holds of both kinds: in a file, and on a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.store import Store, open_store
from tests.store.behind import Where


@pytest.fixture(params=["sqlite", "postgresql"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Where:
    """Where a store may be made: a path, or the address of an empty database."""
    return tmp_path / "arena.db" if request.param == "sqlite" else request.getfixturevalue("server").new()


@pytest.fixture
def store(path: Where) -> Iterator[Store]:
    with open_store(path) as store:
        yield store
