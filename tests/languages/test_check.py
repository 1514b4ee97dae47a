"""`arena check` finds nothing to blame in any language."""

from __future__ import annotations

import asyncio

import pytest

from arena.app.check import CheckOptions, examine
from arena.bots.check.checks import Colour
from arena.bots.manifest import BotSpec
from arena.bots.sandbox import Sandbox

pytestmark = pytest.mark.timeout(1800)
"""Whichever test is the first builds all the bots."""


def test_greedy_passes_the_examination_in_every_language(bot: BotSpec, sandbox: Sandbox) -> None:
    found = asyncio.run(examine(bot, sandbox, CheckOptions(bot.name, start_s=60.0)))
    assert [finding for finding in found.findings if finding.colour is Colour.RED] == []
    assert len(found.plays) == 15
