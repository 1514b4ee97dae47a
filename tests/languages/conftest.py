"""The bots of all languages, built side by side, and recorded decisions for them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from arena.app.data import BUILDS
from arena.bots.build import Builds
from arena.bots.launcher import arena_marker
from arena.bots.manifest import BotSpec, builtin_names, resolve
from arena.bots.sandbox import Sandbox, best
from arena.errors import ArenaError, UsageError
from arena.game.presets import PRESETS
from bench.solo import MARKER
from tests.languages import recorded

BOTS = tuple(name for name in builtin_names() if name.partition("-")[0] == "greedy")
"""Python's own, and `greedy-LANGUAGE` for each other language."""
FOLDER = Path(__file__).parents[2] / "arena-data" / BUILDS
"""Where `arena play` keeps builds too: what was built once is not built again."""
BUILD_S = 1500.0
"""Two cores build for all at once."""


@pytest.fixture(scope="session")
def decisions() -> Mapping[str, Sequence[recorded.Recorded]]:
    """By preset, 10,000 in all."""
    return {name: recorded.of_preset(name) for name in PRESETS}


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    return best()


@pytest.fixture(scope="session")
def built(request: pytest.FixtureRequest, sandbox: Sandbox) -> Mapping[str, BotSpec | ArenaError]:
    """All bots as they run, or what stands in the way: a tool that is missing (a `UsageError`), or a failed build."""
    builds = Builds(FOLDER, sandbox, arena_marker(MARKER), network=True, limit_s=BUILD_S)
    wanted = {item.callspec.params["bot"] for item in request.session.items if "bot" in item.fixturenames}
    at_once = asyncio.Semaphore(os.cpu_count() or 1)

    async def one(name: str) -> BotSpec | ArenaError:
        try:
            async with at_once:
                return await builds.built(resolve(name, base=Path.cwd()))
        except ArenaError as error:
            return error

    async def every() -> dict[str, BotSpec | ArenaError]:
        return dict(zip(wanted, await asyncio.gather(*map(one, wanted)), strict=True))

    return asyncio.run(every())


@pytest.fixture(params=BOTS)
def bot(request: pytest.FixtureRequest, built: Mapping[str, BotSpec | ArenaError]) -> BotSpec:
    """Each bot in turn, ready to run; skipped where a tool is missing."""
    match built[request.param]:
        case BotSpec() as spec:
            return spec
        case UsageError() as error:
            pytest.skip(str(error))
        case error:
            pytest.fail(str(error))
