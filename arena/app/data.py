"""What the data folder holds, and under which names."""

from __future__ import annotations

import os
from pathlib import Path

from arena.errors import UsageError

RUNS = "runs"
"""The folder of the runs' folders, beside the store."""
STORE = "arena.db"
BUILDS = "builds"
"""The folder of the bots that were built, for all runs."""


def make(data: Path) -> None:
    """Make the folder where it is missing.  Raises `UsageError`."""
    try:
        data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the data folder {data} cannot be made: {error.strerror}; choose another by --data") from None


def default_data() -> Path:
    """The data folder, where nobody names another."""
    return Path(os.environ.get("ARENA_DATA") or "arena-data")
