"""`python -m tests.e2e.flat MATCHES [--block N]`: play them in one arena, whose needs stop growing half-way.

Descriptors, threads, processes and memory are looked at all along the run.  Prints a table of it; exits with 0, or
with 1 where the second half needs more than the first, or where anything is left.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import psutil

from tests.e2e.kill_resume import ARENA, check_nothing_is_left, environment

CONFIG = """
pairs = {pairs}
block = {block}
jobs = 2
workers = 1
cores = 4
trust_bots = true
[rules]
preset = "sixty-six"
match_target = 1
[clock]
limit_ms = 60_000
start_ms = 60_000
[[bots]]
bot = "random"
[[bots]]
bot = "loud.py"
"""
LOUD_BOT = """
from arena.bot import serve

def choose(view):
    print("thinking " * 200, flush=True)
    return view.legal[-1]

serve(choose)
"""
LOG_BYTES = 1_000_000
"""What a bot's log holds at most, however often it is started."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What an arena needs at a moment, or at most in a part of its run."""

    descriptors: int
    threads: int
    processes: int
    megabytes: float

    @classmethod
    def of(cls, arena: psutil.Process) -> Needs:
        with arena.oneshot():
            memory = arena.memory_info().rss / 1e6
            return cls(arena.num_fds(), arena.num_threads(), len(arena.children(recursive=True)), memory)

    @classmethod
    def most(cls, seen: Sequence[Needs]) -> Needs:
        return cls(*(max(getattr(each, field.name) for each in seen) for field in fields(cls)))

    def __str__(self) -> str:
        return ", ".join(f"{getattr(self, field.name):,.4g} {field.name}" for field in fields(self))


LOOKS = 40
MORE = Needs(descriptors=4, threads=2, processes=4, megabytes=6)
"""What may be more in the second half: blocks do not end in step."""


def measure(place: Path, matches: int, block: int) -> list[Needs]:
    """Play the matches; what was needed at `LOOKS` of their ends."""
    (place / "tmp").mkdir()
    (place / "loud.py").write_text(LOUD_BOT)
    (place / "cup.toml").write_text(CONFIG.format(pairs=(matches + 1) // 2, block=block))
    seen: list[Needs] = []
    with subprocess.Popen(
        [*ARENA, "tournament", "cup.toml", "--no-pages", "-v"], cwd=place, env=environment(place), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as run:  # fmt: skip
        assert run.stderr is not None
        arena = psutil.Process(run.pid)
        number = 0
        told = []
        for line in run.stderr:
            told.append(line)
            number += line.startswith("epoch 0")
            if len(seen) < number * LOOKS // matches < LOOKS:  # after the last one it may be gone
                seen.append(Needs.of(arena))
    if run.returncode:
        sys.exit(f"the tournament ended with {run.returncode}: {''.join(told[-20:])}")
    check_nothing_is_left(place, run.pid)
    return seen


def main(words: Sequence[str] | None = None) -> int:
    """Play and judge; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.flat", description=__doc__)
    parser.add_argument("matches", type=int, metavar="MATCHES", help=f"how many matches, a multiple of {LOOKS}")
    parser.add_argument("--block", type=int, default=1, help="lists that one process plays")
    chosen = parser.parse_args(words)
    place = Path(tempfile.mkdtemp(prefix="flat-"))
    try:
        seen = measure(place, chosen.matches, chosen.block)
        logs = [log.stat().st_size for log in (place / "arena-data").glob("runs/*/logs/*")]
        stored = (place / "arena-data" / "arena.db").stat().st_size
    finally:
        shutil.rmtree(place)
    for start in range(0, LOOKS, LOOKS // 10):
        end = start + LOOKS // 10
        print(f"to match {end * chosen.matches // LOOKS:>6,}: {Needs.most(seen[start:end])}")
    print(f"store {stored / chosen.matches / 1000:,.1f} kB a match; longest log {max(logs):,} bytes")
    first, second = Needs.most(seen[: len(seen) // 2]), Needs.most(seen[len(seen) // 2 :])
    grown = [
        f"{field.name} grew from {getattr(first, field.name):,.4g} to {getattr(second, field.name):,.4g}"
        for field in fields(Needs)
        if getattr(second, field.name) > getattr(first, field.name) + getattr(MORE, field.name)
    ]
    if max(logs) > LOG_BYTES:
        grown.append(f"a log has {max(logs):,} bytes")
    print("; ".join(grown) or "flat: the second half needs no more than the first")
    return bool(grown)


if __name__ == "__main__":
    sys.exit(main())
