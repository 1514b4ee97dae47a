"""Where runs are kept: what the data folder holds, under which names, and where the store is."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from arena.errors import UsageError

RUNS = "runs"
"""The folder of the runs' folders, beside the store."""
STORE = "arena.db"
BUILDS = "builds"
"""The folder of the bots that were built, for all runs."""


@dataclass(frozen=True, slots=True)
class Archive:
    """A data folder and its store."""

    folder: Path
    url: str | None = field(default=None, repr=False)
    """Of a store that is elsewhere, which may hold a password; None: the store is a file in the folder."""

    @property
    def store(self) -> Path | str:
        """What opens the store."""
        return self.url or self.folder / STORE

    def __str__(self) -> str:
        from arena.store.engine import named  # a process that plays blocks has no store, and starts sooner without

        return named(self.url) if self.url else str(self.folder)


def make(data: Path) -> None:
    """Make the folder where it is missing.  Raises `UsageError`."""
    try:
        data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the data folder {data} cannot be made: {error.strerror}; choose another by --data") from None


def default_data() -> Path:
    """The data folder, where nobody names another."""
    return Path(os.environ.get("ARENA_DATA") or "arena-data")


def cache_folder() -> Path:
    """Where a node of a cluster keeps the bots of others, laid out and built."""
    named = os.environ.get("ARENA_CACHE")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sixtysix-arena"
