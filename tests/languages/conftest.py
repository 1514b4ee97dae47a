"""The bots of all languages, built side by side, and recorded decisions for them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from arena.app.data import BUILDS
from arena.app.templates import Language
from arena.bots.build import Builds
from arena.bots.launcher import arena_marker
from arena.bots.manifest import BotSpec, resolve
from arena.bots.sandbox import Sandbox, best
from arena.errors import ArenaError, UsageError
from arena.game.presets import PRESETS
from bench.solo import MARKER
from tests.languages import recorded
from tests.languages.bots import made

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
def built(
    request: pytest.FixtureRequest, sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[Language, BotSpec | ArenaError]:
    """All bots as they run, or what stands in the way: a tool that is missing (a `UsageError`), or a failed build."""
    builds = Builds(FOLDER, sandbox, arena_marker(MARKER), network=True, limit_s=BUILD_S)
    here = [item for item in request.session.items if item.path.is_relative_to(Path(__file__).parent)]
    wanted = {item.callspec.params["bot"] for item in here if "bot" in item.fixturenames}
    folder = tmp_path_factory.mktemp("bots")
    at_once = asyncio.Semaphore(os.cpu_count() or 1)

    async def one(language: Language) -> BotSpec | ArenaError:
        try:
            async with at_once:
                return await builds.built(resolve(made(language, folder), base=folder))
        except ArenaError as error:
            return error

    async def every() -> dict[Language, BotSpec | ArenaError]:
        return dict(zip(wanted, await asyncio.gather(*map(one, wanted)), strict=True))

    return asyncio.run(every())


@pytest.fixture(params=Language)
def bot(request: pytest.FixtureRequest, built: Mapping[Language, BotSpec | ArenaError]) -> BotSpec:
    """Greedy in each language, ready to run; skipped where a tool is missing."""
    match built[request.param]:
        case BotSpec() as spec:
            return spec
        case UsageError() as error:
            pytest.skip(str(error))
        case error:
            pytest.fail(str(error))
