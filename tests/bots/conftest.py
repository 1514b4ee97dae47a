"""Real bots at a real arena: a few matches in one process of each, as the engine plays a block."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from arena.app.engines.local import Setting, local_engine
from arena.bots.bot import BotFailed
from arena.bots.launcher import arena_marker
from arena.bots.manifest import BotSpec, resolve
from arena.game.game import Game
from arena.game.presets import PRESETS, name_of
from arena.game.rules import Rules
from arena.match.clock import TimeControl
from arena.match.record import MatchRecord, replay
from arena.tournament.runner import Played, Task
from arena.tournament.schedule import Block
from tests.bad_bots.sins import PATIENT

SINNER = Path(__file__).parent.parent / "bad_bots" / "sinner.py"
SECRET = bytes(range(32))
MARKER = "arena-test"


@dataclass(frozen=True, slots=True)
class Arena:
    """Plays blocks between bots of `tests/bad_bots/sinner.py`, named by their sins.  Every record must replay."""

    logs: Path

    def block(
        self,
        sin: str,
        other: str = "honest",
        *,
        matches: int = 2,
        time: TimeControl = PATIENT,
        start_s: float = 20.0,
    ) -> list[MatchRecord]:
        """The records of the matches, in order; the first bot sits on seat 0."""
        specs = {"a": self.spec("a", sin), "b": self.spec("b", other)}
        return asyncio.run(self.play(specs, matches=matches, time=time, start_s=start_s))

    async def play(
        self,
        specs: Mapping[str, BotSpec],
        *,
        matches: int = 2,
        time: TimeControl = PATIENT,
        start_s: float = 20.0,
        rules: Rules = PRESETS["schnapsen"],
    ) -> list[MatchRecord]:
        """As `block`, with any bots: one for each side, in the order of the sides."""
        game = Game(rules)
        names = tuple(specs)
        block = Block(0, 0, 0, names, 0, range(matches), tuple(names[side] for side in game.side_of), mirrored=True)
        setting = Setting(rules, name_of(rules), time, start_s)
        played: list[Played] = []
        async with local_engine(setting, specs, {0: SECRET}, MARKER, self.logs) as engine:
            await engine.play(Task(block, tuple(block.keys())), played.append)
            for match in played:
                order = engine.order(match.key, match.seats, match.mirrored)
                for _ in replay(game, order.deck_of, match.record):
                    pass
        return [match.record for match in sorted(played, key=lambda match: match.position)]

    async def preflight(self, specs: Mapping[str, BotSpec]) -> Mapping[str, BotFailed]:
        """Start each of the bots once; the failures by name."""
        setting = Setting(PRESETS["schnapsen"], "schnapsen", PATIENT, start_s=20.0)
        async with local_engine(setting, specs, {}, MARKER, self.logs) as engine:
            return await engine.preflight(specs)

    def spec(self, name: str, sin: str) -> BotSpec:
        """A sinner by its sin, or one that runs already by its address."""
        if sin.startswith("unix:"):
            return resolve(sin, name=name, base=SINNER.parent)
        return resolve(f"{sys.executable} {SINNER} {sin}", name=name, base=SINNER.parent)


@contextmanager
def remote(sin: str) -> Iterator[str]:
    """The address of a sinner that runs on its own."""
    with tempfile.TemporaryDirectory(prefix="t-") as folder:
        address = f"unix:{Path(folder) / 'bot.0'}"
        root = str(SINNER.parent.parent.parent)
        process = subprocess.Popen(
            [sys.executable, str(SINNER), *sin.split()],
            env={**os.environ, "ARENA_ADDRESS": address, "PYTHONPATH": root},
        )
        try:
            yield address
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    """An arena, and the proof that none of its bots or their children is alive afterwards."""
    yield Arena(tmp_path)
    assert_nothing_is_left()


def assert_nothing_is_left() -> None:
    """No bot of an arena of these tests, and no child of one, is alive."""
    left = [process for process in psutil.process_iter() if _marker_of(process).startswith(arena_marker(MARKER))]
    assert not left, f"left running: {left}"


def _marker_of(process: psutil.Process) -> str:
    try:
        return process.environ().get("ARENA_MARKER", "")
    except (psutil.Error, OSError):  # it has just ended, or is nobody's business
        return ""
