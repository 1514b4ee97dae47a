"""`doomed.py AT N WORD...`: the arena's command line, killed from within at an exact place of its work with the store.

AT is `statement` (just before its N-th statement, of which BEGIN and COMMIT are two) or `commit` (just after its N-th
commit, before anybody hears of it).  With N 0 it lives, and says on its last line how many of both there were.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, event

from arena.cli import run
from arena.store.engine import Database

AT, N, *WORDS = sys.argv[1:]
seen: Counter[str] = Counter()


def pass_by(place: str) -> None:
    seen[place] += 1
    if place == AT and seen[place] == int(N):
        os.kill(os.getpid(), signal.SIGKILL)


@event.listens_for(Engine, "begin")
@event.listens_for(Engine, "commit")
@event.listens_for(Engine, "before_cursor_execute")
def statement(*_: Any) -> None:
    pass_by("statement")


writing = Database.writing


@contextmanager
def doomed_writing(database: Database, *of: int) -> Iterator[Connection]:
    with writing(database, *of) as connection:
        yield connection
    pass_by("commit")


Database.writing = doomed_writing  # type: ignore[method-assign]
code = run(WORDS)
print(seen["statement"], seen["commit"], file=sys.stderr)
sys.exit(code)
