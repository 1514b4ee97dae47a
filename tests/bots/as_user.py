"""`as_user.py FOLDER PROGRAM ARGUMENT ...`: runs a program as an ordinary user, whose own FOLDER is, from root.

The checkout and the interpreter are in reach, wherever they lie.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

from arena.bots import confine

ROOT = Path(__file__).resolve().parents[2]


def main(folder: str, *argv: str) -> None:
    uid = random.SystemRandom().randrange(3_000_000, 4_000_000)
    os.umask(0o022)
    for path in (Path(folder), *Path(folder).rglob("*")):
        os.chown(path, uid, uid, follow_symlinks=False)
    confine.open_the_way([sys.prefix, sys.base_prefix, str(ROOT)], [folder], uid, up_to=True)
    confine.become(uid)
    os.chdir(folder)
    os.environ["HOME"] = folder
    os.execvp(argv[0], argv)


main(*sys.argv[1:])
