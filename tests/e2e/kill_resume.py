"""`python -m tests.e2e.kill_resume N [--seed S]`: kill -9 the arena N times in mid-run, resume until done, compare.

No match that was announced is lost, none counts twice, no process stays behind, and in the end play part and play
chain are those of an uninterrupted run of the same seed, to the byte.  Exits with 0, or with 1 and the difference.

With `--store URL` the run that is killed is kept on a server, and compared with one that is kept in a file.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import psutil

from arena.app.data import Archive
from arena.cli.progress import in_words
from arena.errors import UsageError
from arena.store import ChainHead, Queries, open_queries

DATA = Path("arena-data")
WHOLE = "whole-data"
"""The data folder of the uninterrupted run: the other one begins where there is nothing at all."""
ARENA = (sys.executable, "-m", "arena")
DOOMED = (sys.executable, str(Path(__file__).with_name("doomed.py")))
BOT = """
from arena.bot import serve

def choose(view):
    if view.rng.random() < 0.01:
        raise ValueError("a bad day")
    cards = [action for action in view.legal if action.card]
    return view.rng.choice(cards) if cards else view.legal[-1]

serve(choose)
"""
CLOCK = {"limit_ms": 60_000, "start_ms": 60_000}
"""Nobody is late, however busy the machine is: a late answer would be another play."""
START_SHARE = 0.3
"""About how much of a whole run is spent before its first match is committed."""
LAST_LINES = 6
"""Where a run ends: the last matches, the reveal, the report."""
KILLS_OF_ONE = 6
"""After so many kills a tournament may end in peace."""
LEFT_S = 60.0
"""How long the last keeper may take on a machine with other work."""


class Moment(StrEnum):
    """What a kill waits for."""

    TIME = "second"
    LINE = "line"
    """Of those that the arena says."""
    STATEMENT = "statement"
    """Of SQL: just before it."""
    COMMIT = "commit"
    """Just after it, before it is announced."""


@dataclass(frozen=True, slots=True)
class Cup:
    """A small tournament of fast bots."""

    name: str
    settings: Mapping[str, Any]
    bots: Sequence[str]
    grown: Mapping[str, Any] = field(default_factory=dict)
    """Settings that change on the way, one more bot with them: the run then has a second epoch."""

    def write(self, place: Path, *, grown: bool = False) -> None:
        """Make it the config that lies in the folder."""
        settings = {"trust_bots": True, **self.settings, **(self.grown if grown else {})}
        bots = [*self.bots, *(["random"] if grown else [])]
        lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        lines += ["[clock]", *(f"{key} = {value}" for key, value in CLOCK.items())]
        for number, bot in enumerate(bots):
            lines += ["[[bots]]", f'bot = "{bot}"', f'name = "{number} {bot.removesuffix(".py")}"']
        (place / "cup.toml").write_text("\n".join(lines) + "\n")
        (place / "bad.py").write_text(BOT)


CUPS = (
    Cup("blocks", {"pairs": 6, "block": 2}, ["random", "bad.py"]),
    Cup("a process a match", {"pairs": 2, "rules": "schnapsen", "isolation": "match"}, ["bad.py", "greedy"]),
    Cup("three at a table", {"pairs": 4, "block": 2, "rules": "three-handed"}, ["random", "bad.py", "greedy"]),
    Cup("growing", {"pairs": 2, "block": 1}, ["random", "bad.py"], {"pairs": 4, "block": 1}),
    Cup("partners", {"pairs": 4, "block": 1, "rules": "four-handed"}, ["bad.py", "partner"]),
    Cup("until separated", {"pairs": 2, "block": 1, "stop.max_pairs": 5}, ["greedy", "greedy"]),
    Cup("many matches at once", {"pairs": 60, "block": 30}, ["bad.py", "random"]),
)


@dataclass(frozen=True, slots=True)
class Whole:
    """What a run comes to that nobody interrupts."""

    play: bytes
    head: ChainHead
    matches: int
    reach: Mapping[Moment, float]
    """How long it took, by every measure of moments."""


class Differs(Exception):
    """A promise is broken; the text says which."""


# -- the arena ---------------------------------------------------------------------------------------------------------


def environment(place: Path) -> dict[str, str]:
    """That of a run whose bots have their homes and sockets in that folder."""
    return {**os.environ, "TMPDIR": str(place / "tmp")}


def arena(place: Path, *words: str) -> bytes:
    """What a command prints that must succeed."""
    done = subprocess.run([*ARENA, *words], cwd=place, env=environment(place), capture_output=True)
    if done.returncode:
        raise Differs(f"arena {' '.join(words)} ended with {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def left_of(pid: int) -> list[psutil.Process]:
    """The living bots and keepers that an arena has started."""
    left = []
    for process in psutil.process_iter():
        try:
            if f"arena-run:{pid}:" in process.environ().get("ARENA_MARKER", ""):
                left.append(process)
        except (psutil.Error, OSError):
            continue
    return left


def check_nothing_is_left(place: Path, pid: int) -> None:
    """Keepers end what they keep as soon as the arena is gone, and remove its home."""
    deadline = time.monotonic() + LEFT_S
    while (processes := left_of(pid)) or list((place / "tmp").glob("arena-bot-*")):
        if time.monotonic() > deadline:
            raise Differs(f"left by the arena {pid}: {processes or 'a home of a bot'}")
        time.sleep(0.02)


def compare(place: Path, archive: Archive, name: str, whole: Whole) -> None:
    """The finished run is the uninterrupted one, and verifies."""
    kept = [] if archive.url is None else ["--store", archive.url]
    with open_queries(archive.store) as queries:
        cup = queries.tournament(name)
        matches = sum(queries.counts(cup).values())
        if matches != whole.matches:
            raise Differs(f"{matches} matches are stored, {whole.matches} were to be played")
        if (head := queries.chain_head(cup)) != whole.head:
            raise Differs(f"the play chain ends with {head}, that of the uninterrupted run with {whole.head}")
    play = arena(place, "show", name, "--format", "json", "--part", "play", *kept)
    for number, (one, other) in enumerate(zip(play.splitlines(), whole.play.splitlines(), strict=False), start=1):
        if one != other:
            raise Differs(f"line {number} of the play part is {one.decode()}, uninterrupted {other.decode()}")
    if play != whole.play:
        raise Differs("one play part is the beginning of the other")
    arena(place, "export", name, "--output", "export.jsonl", *kept)
    for wanted in (name, "export.jsonl"):
        if not (said := arena(place, "verify", wanted, "--head", whole.head.head, *kept)).startswith(b"identical"):
            raise Differs(f"arena verify {wanted} says {said.decode()}")


def uninterrupted(place: Path, cup: Cup, seed: str) -> Whole:
    """Play the cup as run `whole`, and take its measures."""
    cup.write(place)
    reach = _reach(place, "--seed", seed, "--name", "whole")
    if cup.grown:
        cup.write(place, grown=True)
        _reach(place, "--resume", "whole")
    with open_queries(place / WHOLE / "arena.db") as queries:
        run = queries.tournament("whole")
        head, matches = queries.chain_head(run), sum(queries.counts(run).values())
    play = arena(place, "show", "whole", "--data", WHOLE, "--format", "json", "--part", "play")
    return Whole(play, head, matches, reach)


def _reach(place: Path, *words: str) -> Mapping[Moment, float]:
    """Play, and measure it."""
    command = [*DOOMED, "none", "0", "tournament", "cup.toml", "--no-pages", "-v", "--data", WHOLE, *words]
    start = time.monotonic()
    done = subprocess.run(command, cwd=place, env=environment(place), capture_output=True, text=True)
    took = time.monotonic() - start
    if done.returncode:
        raise Differs(f"a run that nobody interrupted ended with {done.returncode}: {done.stderr}")
    *lines, counts = done.stderr.splitlines()
    statements, commits = map(int, counts.split())
    return {Moment.TIME: took, Moment.LINE: len(lines), Moment.STATEMENT: statements, Moment.COMMIT: commits}


# -- killing -----------------------------------------------------------------------------------------------------------


class Broken:
    """A run of a cup that is killed again and again."""

    def __init__(self, place: Path, archive: Archive, cup: Cup, seed: str, whole: Whole, rng: random.Random) -> None:
        self._place = place
        self._archive = archive
        self.name = f"broken-{seed}"
        self._cup = cup
        self._seed = seed
        self._whole = whole
        self._rng = rng
        self._announced: set[str] = set()
        self._stored: set[str] = set()
        self._grown = not cup.grown
        self.kills: list[str] = []

    def play_on(self) -> bool:
        """Start or resume, and kill it somewhere; returns whether it is done."""
        peaceful = len(self.kills) >= KILLS_OF_ONE
        if self._stored and (peaceful or self._rng.random() < 0.3):
            self._grown = True  # the first epoch is open
        self._cup.write(self._place, grown=bool(self._cup.grown) and self._grown)
        words = [
            "tournament",
            "cup.toml",
            "--no-pages",
            "--seed",
            self._seed,
            "-v",
            *("--cores", "16"),
            *("--jobs", str(self._rng.randint(1, 4))),
            *("--workers", str(self._rng.randint(1, 2))),
        ]
        words += ["--resume" if self._exists() else "--name", self.name]
        words += [] if self._archive.url is None else ["--store", self._archive.url]
        moment, at = self._choose()
        done = self._run(words, None if peaceful else moment, at)
        self._check_store()
        return done and self._grown

    def _exists(self) -> bool:
        """Whether an earlier start came as far as entering it."""
        try:
            with open_queries(self._archive.store) as queries:
                return self.name in [each.tournament.name for each in queries.tournaments()]
        except UsageError:  # there is no store yet; one that is damaged is refused by the arena as well
            return False

    def _choose(self) -> tuple[Moment, float]:
        """A moment of what is left, start-up and end not less often than the middle; and how far it is there."""
        moment, rng = self._rng.choice(list(Moment)), self._rng
        if moment is Moment.LINE:
            last = round(self._whole.reach[moment]) - len(self._stored)
            return moment, rng.randint(1 if rng.random() < 0.5 else last - LAST_LINES, last)
        left = 1 - len(self._stored) / self._whole.matches
        reach = self._whole.reach[moment] * (START_SHARE + (1 - START_SHARE) * left)
        return moment, rng.uniform(0, reach) if moment is Moment.TIME else rng.randint(1, round(reach))

    def _run(self, words: Sequence[str], moment: Moment | None, at: float) -> bool:
        """One session; returns whether it lived to its end."""
        inner = moment in (Moment.STATEMENT, Moment.COMMIT)
        start = [*DOOMED, str(moment), str(at)] if inner else ARENA
        with subprocess.Popen(
            [*start, *words], cwd=self._place, env=environment(self._place), text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        ) as run:  # fmt: skip
            assert run.stderr is not None
            timer = threading.Timer(at, run.kill)
            if moment is Moment.TIME:
                timer.start()
            told = []
            for line in run.stderr:
                told.append(line)
                if line.startswith("epoch "):
                    self._announced.add(line.rstrip("\n"))
                if moment is Moment.LINE and len(told) == at:
                    time.sleep(self._rng.uniform(0, 0.1))
                    run.kill()
            timer.cancel()
        if run.returncode not in (0, -signal.SIGKILL):
            raise Differs(f"arena {' '.join(words)} ended with {run.returncode}: {''.join(told)}")
        check_nothing_is_left(self._place, run.pid)
        if run.returncode:
            self.kills.append(f"{moment} {at:.4g}")
        return run.returncode == 0

    def _check_store(self) -> None:
        """What was announced is there once, and so is all that was there before."""
        if not self._exists():
            if self._announced:
                raise Differs("matches were announced, but the run is not in the store")
            return
        with open_queries(self._archive.store) as queries:
            stored = self._all_stored(queries)
            run = queries.tournament(self.name)
            broken = queries.verify_seals(run) or queries.verify_plays(run)
        if broken is not None:
            raise Differs(f"the store is broken: {broken}")
        if lost := (self._announced | self._stored) - stored:
            raise Differs(f"announced or stored before, and lost: {min(lost)}")
        self._stored = stored

    def _all_stored(self, queries: Queries) -> set[str]:
        lines = [in_words(summary) for summary in queries.summaries(queries.tournament(self.name))]
        stored = set(lines)
        if len(stored) < len(lines):
            raise Differs("a match is stored twice")
        return stored


def kill_and_resume(place: Path, cup: Cup, seed: str, rng: random.Random, store: str | None = None) -> Iterator[Broken]:
    """Play a cup whole, then broken; yields after each session of the broken run.  Raises `Differs`.

    `store`: the address of one on a server, for the broken run.
    """
    (place / "tmp").mkdir()
    whole = uninterrupted(place, cup, seed)
    archive = Archive(place / DATA, store)
    broken = Broken(place, archive, cup, seed, whole, rng)
    done = False
    while not done:
        done = broken.play_on()
        yield broken
    compare(place, archive, broken.name, whole)


# -- the program -------------------------------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> int:
    """Kill until it was N times; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.kill_resume", description=__doc__)
    parser.add_argument("kills", type=int, metavar="N", help="how many kills")
    parser.add_argument("--seed", type=int, default=66, help="of the moments; their order in time is the machine's")
    parser.add_argument("--cup", type=int, default=0, help="begin with this tournament, as a difference names it")
    parser.add_argument("--store", metavar="URL", help="keep the broken runs there")
    chosen = parser.parse_args(words)
    kills, number, start = 0, chosen.cup, time.monotonic()
    while kills < chosen.kills:
        cup, rng = CUPS[number % len(CUPS)], random.Random(f"{chosen.seed} {number}")
        place = Path(tempfile.mkdtemp(prefix="kill-"))
        so_far: Sequence[str] = ()
        try:
            for broken in kill_and_resume(place, cup, str(number), rng, chosen.store):
                so_far = broken.kills
        except Differs as difference:
            print(f"different: tournament {number} ({cup.name}): {difference}", file=sys.stderr)
            print(f"killed at {'; '.join(so_far) or 'nothing'}; its folder is {place}", file=sys.stderr)
            print(f"again: python -m tests.e2e.kill_resume 1 --seed {chosen.seed} --cup {number}", file=sys.stderr)
            return 1
        shutil.rmtree(place)
        kills, number = kills + len(so_far), number + 1
        spent = time.monotonic() - start
        print(f"{kills} of {chosen.kills} kills, {spent:.0f} s; {cup.name}: {'; '.join(so_far)}", file=sys.stderr)
    print(f"identical: {kills} kills in {number - chosen.cup} tournaments, nothing lost, nothing twice, nothing left")
    return 0


if __name__ == "__main__":
    sys.exit(main())
