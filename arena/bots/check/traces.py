"""Files that a bot leaves outside its folder, found by looking before and after: who wrote them nobody says.

So a file counts only if it changed while the bot ran, both times that it did, and not while it did not; and where
everybody writes, even that proves nothing.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

OURS = "arena-"
"""What our own files in these places begin with."""

Look = Mapping[str, tuple[int, int]]
"""By path, when a file was last changed and how long it is."""


SHARED = tuple(
    dict.fromkeys((Path.home(), Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp"), Path("/dev/shm")))
)
"""Where everybody writes."""


def places(folder: Path) -> tuple[Path, ...]:
    """Where a bot of that folder would write: beside it, and where everybody does."""
    return tuple(dict.fromkeys(place for place in (folder.parent, *SHARED) if place != folder))


def look(where: tuple[Path, ...]) -> Look:
    """The files that lie there now; what is in folders below is not looked at."""
    found: dict[str, tuple[int, int]] = {}
    for place in where:
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                if not entry.name.startswith(OURS):
                    with contextlib.suppress(OSError):
                        facts = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(facts.st_mode):
                            found[entry.path] = facts.st_mtime_ns, facts.st_size
    return found


def changed(before: Look, after: Look) -> frozenset[str]:
    """The files that are new or not what they were."""
    return frozenset(path for path, facts in after.items() if before.get(path) != facts)
