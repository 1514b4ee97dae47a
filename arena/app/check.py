"""A bot examined by itself: nothing is stored, nothing counts."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from arena.app.engines.local import Building
from arena.app.sandboxes import chosen
from arena.bots.bot import Surroundings
from arena.bots.build import BuildError
from arena.bots.check.checks import BY_NAME, Examination
from arena.bots.check.examiner import Examiner
from arena.bots.launcher import arena_marker
from arena.bots.manifest import BotSpec, resolve
from arena.bots.sandbox import Sandbox
from arena.bots.stopwatch import Stopwatch
from arena.errors import UsageError
from arena.game.presets import PRESETS
from arena.tournament.config import LeastSandbox

MARKER = "arena-check"


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What the command line says."""

    bot: str
    """A sample bot's name, a folder, a file, a command or an address."""
    only: tuple[str, ...] = ()
    """The names of the checks that are wanted; none: all."""
    sandbox: LeastSandbox = LeastSandbox.AUTO
    start_s: float = 10.0
    building: Building = field(default_factory=Building)


async def check_bot(options: CheckOptions, said: Callable[[str], None] = lambda _: None) -> Examination:
    """Examine a bot; `said` hears what is being tried.

    Raises `UsageError`: there is no such bot or no such check, or the machine starts no more processes.
    """
    for name in options.only:
        if name not in BY_NAME:
            near = difflib.get_close_matches(name, BY_NAME, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "arena check --list names all"
            raise UsageError(f"there is no check {name!r}; {hint}")
    spec = resolve(options.bot, base=Path.cwd())
    sandbox = await asyncio.to_thread(chosen, options.sandbox, "arena check", {spec.name: spec}, None)
    return await examine(spec, sandbox, options, said)


async def examine(
    spec: BotSpec, sandbox: Sandbox, options: CheckOptions, said: Callable[[str], None] = lambda _: None
) -> Examination:
    """Examine a bot that was found, in this sandbox."""
    stopwatch = Stopwatch()
    marker = arena_marker(MARKER)
    builds = options.building.builds(sandbox, marker)
    with tempfile.TemporaryDirectory(prefix="arena-check-") as logs:
        around = Surroundings(
            stopwatch=stopwatch,
            rules=PRESETS["sixty-six"],
            rules_name="sixty-six",
            logs=Path(logs),
            marker=marker,
            start_s=options.start_s,
            sandbox=sandbox,
            builds=builds,
        )
        stopwatch.start()
        try:
            with contextlib.suppress(BuildError):  # its first start will tell; a build is no part of a start's time
                await builds.built(spec)
            return await Examiner(spec, around, options.only or BY_NAME, said).run()
        finally:
            stopwatch.stop()
