"""`abreast.py FOLDER N WORD...`: the arena's command line, of N processes that all choose the name of a run at once."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from arena.app import play, tournament
from arena.cli import run


def together(choose: Callable[..., str], folder: Path, processes: int) -> Callable[..., str]:
    """The same choice, made known once every process has made its first one."""

    def chosen(*arguments: Any) -> str:
        name = choose(*arguments)
        (folder / str(os.getpid())).touch()
        while len(list(folder.iterdir())) < processes:
            time.sleep(0.01)
        return name

    return chosen


if __name__ == "__main__":  # worker processes import it, too
    FOLDER, PROCESSES, *WORDS = sys.argv[1:]
    for module, name in ((tournament, "new_name"), (play, "_reserve")):
        setattr(module, name, together(getattr(module, name), Path(FOLDER), int(PROCESSES)))
    sys.exit(run(WORDS))
