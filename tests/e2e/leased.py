"""`leased.py SECONDS WORD...`: the arena's command line, with a lease of so many seconds."""

from __future__ import annotations

import sys
from functools import partialmethod

from arena.cli import run
from arena.store import Store

if __name__ == "__main__":  # worker processes import it, too
    SECONDS, *WORDS = sys.argv[1:]
    Store.lock = partialmethod(Store.lock, lease_s=float(SECONDS))  # type: ignore[assignment]
    sys.exit(run(WORDS))
