"""Real bots at a real arena: a few matches in one process of each, as the engine plays a block."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from arena.app.engines.local import Setting, local_engine
from arena.bots.launcher import arena_marker
from arena.bots.manifest import BotSpec, resolve
from arena.game.presets import preset
from arena.match.clock import TimeControl
from arena.match.record import MatchRecord
from arena.tournament.runner import Played, Task
from arena.tournament.schedule import Block

SINNER = Path(__file__).parent.parent / "bad_bots" / "sinner.py"
SECRET = bytes(range(32))
MARKER = "arena-test"
CLOCK = TimeControl(limit_ms=500, bank_ms=500)


@dataclass(frozen=True, slots=True)
class Arena:
    """Plays blocks between two bots of `tests/bad_bots/sinner.py`, named by their sins."""

    logs: Path

    def block(
        self,
        sin: str,
        other: str = "honest",
        *,
        matches: int = 2,
        time: TimeControl = CLOCK,
        start_s: float = 20.0,
        rules: str = "schnapsen",
    ) -> list[MatchRecord]:
        """The records of the matches, in order; the first bot sits on seat 0."""
        return asyncio.run(self._block(sin, other, matches, time, start_s, rules))

    async def _block(
        self, sin: str, other: str, matches: int, time: TimeControl, start_s: float, rules: str
    ) -> list[MatchRecord]:
        specs = {"a": self.spec("a", sin), "b": self.spec("b", other)}
        return await self.play(specs, matches=matches, time=time, start_s=start_s, rules=rules)

    async def play(
        self,
        specs: Mapping[str, BotSpec],
        *,
        matches: int = 2,
        time: TimeControl = CLOCK,
        start_s: float = 20.0,
        rules: str = "schnapsen",
    ) -> list[MatchRecord]:
        """As `block`, with any two bots `a` and `b`."""
        block = Block(0, 0, 0, ("a", "b"), 0, range(matches), ("a", "b"), mirrored=True)
        setting = Setting(preset(rules), rules, time, start_s)
        played: list[Played] = []
        async with local_engine(setting, specs, {0: SECRET}, MARKER, self.logs) as engine:
            await engine.play(Task(block, tuple(block.keys())), played.append)
        return [match.record for match in sorted(played, key=lambda match: match.position)]

    def spec(self, name: str, sin: str) -> BotSpec:
        """A sinner by its sin, or one that runs already by its address."""
        if sin.startswith("unix:"):
            return resolve(sin, name=name, base=SINNER.parent)
        return resolve(f"{sys.executable} {SINNER} {sin}", name=name, base=SINNER.parent)


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    """An arena, and the proof that none of its bots or their children is alive afterwards."""
    yield Arena(tmp_path)
    left = [process for process in psutil.process_iter() if _marker_of(process).startswith(arena_marker(MARKER))]
    assert not left, f"left running: {left}"


def _marker_of(process: psutil.Process) -> str:
    try:
        return process.environ().get("ARENA_MARKER", "")
    except (psutil.Error, OSError):  # it has just ended, or is nobody's business
        return ""
