"""The bots of all languages, found (or skipped where a tool is missing) and recorded decisions for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from arena.bots.manifest import BotSpec, resolve
from arena.bots.sandbox import Sandbox, best
from arena.errors import UsageError
from arena.game.presets import PRESETS
from tests.languages import recorded
from tests.languages.harness import BOTS


@pytest.fixture(scope="session")
def decisions() -> Mapping[str, Sequence[recorded.Recorded]]:
    """By preset, 10,000 in all."""
    return {name: recorded.of_preset(name) for name in PRESETS}


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    return best()


@pytest.fixture(params=BOTS)
def bot(request: pytest.FixtureRequest) -> BotSpec:
    """Each bot in turn, ready to run."""
    try:
        return resolve(request.param, base=Path.cwd())
    except UsageError as error:
        pytest.skip(str(error))
