"""Greedy in every language: the decisions of the Python one, therefore a draw with it, and a bot's manners."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from arena.app.engines.local import Setting, local_engine
from arena.bots.manifest import BotSpec, resolve
from arena.bots.sandbox import Sandbox
from arena.cards import CLAIM, EXCHANGE, GO_ON
from arena.game.presets import PRESETS
from arena.game.table import Table
from arena.match.clock import TimeControl
from arena.tournament.runner import Played, Task
from arena.tournament.schedule import Block
from bench.solo import MARKER, PATIENCE_S, Running, running
from tests.languages.recorded import TOTAL, Recorded

pytestmark = pytest.mark.timeout(1800)
"""Whichever test is the first builds all the bots."""
PYTHON = "greedy"
Decisions = Mapping[str, Sequence[Recorded]]
PAIRS = 8
UNKNOWN_EVENT = bytes.fromhex("0a05 fa07 02 0801")
"""An event of a later version: field 127, two bytes long."""


def test_the_recorded_decisions_ask_for_every_rule_of_the_policy(decisions: Decisions) -> None:
    every = [each for preset in decisions.values() for each in preset]
    assert len(every) >= TOTAL
    answers = Counter(each.answer for each in every)
    declared = sum(answers[action] for action in answers if action.marriage is not None)
    assert min(answers[CLAIM], answers[EXCHANGE], answers[GO_ON], declared) >= 100
    assert all(answers[card] for card in range(1, 33)), "a card was never played"


def test_ten_thousand_decisions_are_those_of_python(bot: BotSpec, sandbox: Sandbox, decisions: Decisions) -> None:
    async def differences(preset: str) -> list[str]:
        async with running(bot, sandbox) as process:
            return await _differences(process, preset, decisions[preset])

    async def all_presets() -> list[str]:
        return [difference for preset in decisions for difference in await differences(preset)]

    different = asyncio.run(all_presets())
    assert not different, f"{len(different)} answers differ from Python's, the first:\n" + "\n".join(different[:3])


async def _differences(process: Running, preset: str, decisions: Sequence[Recorded]) -> list[str]:
    """Where its answers are not the recorded ones, in words; all of them are asked at once."""
    described = await process.describe(PRESETS[preset], preset)
    assert described.plays, described.refusal
    assert described.waives_before_draw
    assert described.protocol_major == 1
    stream = process.play()
    await stream.send(item for each in decisions for item in (each.started, UNKNOWN_EVENT, each.question))
    answers = {answer.id: answer for answer in await stream.answers(len(decisions))}
    assert not await stream.end()
    assert answers.keys() == {each.id for each in decisions}
    return [
        f"{preset} {each.shown}\n  Python: {each.answer}, here: {answers[each.id]}"
        for each in decisions
        if answers[each.id].action != each.answer
    ]


@pytest.mark.parametrize("rules", ["schnapsen", "four-handed"])
def test_every_mirrored_pair_against_python_is_a_draw(
    bot: BotSpec, sandbox: Sandbox, rules: str, tmp_path: Path
) -> None:
    """Who decides alike gets from the same cards what the other got from them, and commits no fault."""
    names = (PYTHON, "other")
    specs = {PYTHON: resolve(PYTHON, base=tmp_path), "other": bot}
    table = Table.of(PRESETS[rules])
    setting = Setting(PRESETS[rules], rules, TimeControl(limit_ms=0), start_s=PATIENCE_S, sandbox=sandbox)

    async def played() -> list[Played]:
        matches: list[Played] = []
        async with local_engine(setting, specs, {0: bytes(32)}, MARKER, tmp_path) as engine:
            for leg, order in enumerate((names, names[::-1])):
                seats = tuple(order[side] for side in table.side_of)
                block = Block(leg, 0, 0, names, leg, range(PAIRS), seats, mirrored=True)
                await engine.play(Task(block, tuple(block.keys())), matches.append)
        return matches

    matches = asyncio.run(played())
    points = {(match.key.leg, match.key.number): match.record.points for match in matches}
    assert len(points) == 2 * PAIRS
    assert not any(match.record.faults for match in matches)
    for number in range(PAIRS):
        assert points[0, number] == points[1, number], f"pair {number}"


def test_it_ends_when_the_arena_closes_the_stream(bot: BotSpec, sandbox: Sandbox, decisions: Decisions) -> None:
    async def exit_code() -> int:
        async with running(bot, sandbox) as process:
            await _differences(process, "sixty-six", decisions["sixty-six"][:5])
            return await process.exit_code()

    assert asyncio.run(exit_code()) == 0


def test_it_ends_on_sigterm_while_a_stream_is_open(bot: BotSpec, sandbox: Sandbox) -> None:
    async def exit_code() -> int:
        async with running(bot, sandbox) as process:
            await process.describe(PRESETS["sixty-six"], "sixty-six")
            stream = process.play()
            await stream.send([UNKNOWN_EVENT])
            await process.process.stop(grace=25)
            return await process.exit_code()

    assert asyncio.run(exit_code()) == 0
