"""A duel: is the first bot better than the second?  Mirrored pairs until a sequential test has its answer.

Nothing is stored, nothing counts in careers.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from arena.app import participants
from arena.app.engines.local import Building, LocalEngine, Setting, local_engine
from arena.app.sandboxes import chosen
from arena.errors import UnfitBot, UsageError
from arena.game.presets import name_of
from arena.game.rules import Rules
from arena.match.clock import TimeControl
from arena.match.record import Status
from arena.match.summary import MatchSummary
from arena.ratings.duel import Answer, DecidedBy, Judgement, Pairs, judge
from arena.tournament import decks
from arena.tournament.config import LeastSandbox
from arena.tournament.runner import Played, Task
from arena.tournament.schedule import Block, Schedule
from arena.tournament.standings import complete_pairs

MARKER = "arena-duel"
BLOCK = 8
"""Pairs between two looks at the result."""


@dataclass(frozen=True, slots=True)
class DuelOptions:
    """What the command line says."""

    bots: tuple[str, str]
    """The one that may be better, and the one that it is compared with."""
    rules: Rules
    most_pairs: int
    edge: float
    """How much more than half of the pairs makes a bot better."""
    by: DecidedBy = DecidedBy.POINTS
    seed: str | None = None
    time: TimeControl = field(default_factory=TimeControl)
    start_s: float = 10.0
    building: Building = field(default_factory=Building)


@dataclass(frozen=True, slots=True)
class DuelState:
    """How a duel stands."""

    names: tuple[str, str]
    seed: str
    judgement: Judgement
    faults: tuple[int, int]
    """Of each bot."""


async def run_duel(options: DuelOptions, watch: Callable[[DuelState], None]) -> DuelState:
    """Play until the test has an answer or the pairs are spent; `watch` is told after each block.

    Raises `UsageError` if the rules are not for two, or a bot does not start.
    """
    if options.rules.seats != 2:
        raise UsageError(f"a duel is for two seats, but these rules have {options.rules.seats}")
    specs = participants.of_words(options.bots)
    first, second = specs
    seed = options.seed if options.seed is not None else os.urandom(4).hex()
    sandbox = await asyncio.to_thread(chosen, LeastSandbox.AUTO, "arena duel", specs, None)
    setting = Setting(
        options.rules,
        name_of(options.rules),
        options.time,
        options.start_s,
        sandbox=sandbox,
        building=options.building,
    )
    schedule = Schedule(
        (first, second),
        options.most_pairs,
        block=BLOCK,
        untrusted=frozenset(name for name, spec in specs.items() if spec.remote),
    )
    judgement, faults = judge(Pairs(), options.edge), [0, 0]
    state = DuelState((first, second), seed, judgement, (0, 0))
    with tempfile.TemporaryDirectory(prefix="arena-duel-") as logs:
        secret = decks.secret_from_seed(seed)
        async with local_engine(setting, specs, {0: secret}, MARKER, Path(logs)) as engine:
            for name, failure in (await engine.preflight(specs)).items():
                raise UnfitBot(f"bot {name!r} cannot play: {failure.evidence}")
            for _, legs in groupby(schedule.blocks(), key=lambda block: block.numbers):
                summaries = await _play(engine, options.rules, list(legs))
                pairs = _with(judgement.pairs, _results(summaries, first, options.by))
                judgement = judge(pairs, options.edge)
                for summary in summaries:
                    for side in summary.sides:
                        faults[side.participants[0] == second] += sum(side.faults.values())
                state = DuelState((first, second), seed, judgement, (faults[0], faults[1]))
                watch(state)
                if judgement.answer is not Answer.OPEN:
                    break
    return state


async def _play(engine: LocalEngine, rules: Rules, legs: Sequence[Block]) -> list[MatchSummary]:
    """All matches of the same lists, the seatings side by side."""
    played: list[Played] = []
    async with asyncio.TaskGroup() as group:
        for block in legs:
            group.create_task(engine.play(Task(block, tuple(block.keys())), played.append))
    return [
        MatchSummary.of(match.key, match.mirrored, match.seats, rules, match.record)
        for match in played
        if match.record.status is not Status.VOID
    ]


def _results(summaries: Sequence[MatchSummary], first: str, by: DecidedBy) -> list[int]:
    """For each complete pair 0, 1 or 2: lost, drawn or won by the first bot."""
    ahead: dict[int, int] = {}
    for summary in summaries:
        for side in summary.sides:
            sign = 1 if side.participants[0] == first else -1
            ahead[summary.key.number] = ahead.get(summary.key.number, 0) + sign * side.points
    results = []
    for pair in complete_pairs(summaries):
        ranks = dict(zip(pair.sides, pair.ranks, strict=True))
        lead = sum(ranks.values()) - 2 * ranks[first,]
        if lead == 0 and by is DecidedBy.POINTS:
            lead = ahead[pair.number]
        results.append(1 + (lead > 0) - (lead < 0))
    return results


def _with(pairs: Pairs, results: Iterable[int]) -> Pairs:
    counts = [pairs.lost, pairs.drawn, pairs.won]
    for result in results:
        counts[result] += 1
    return Pairs(*counts)
