"""Mirrored pairs between two bots, a tournament of two without a file: how many deals one wins, and how surely more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.app.play import Lineup, PlayOptions
from arena.app.totals import games_of
from arena.app.tournament import Listener, run_tournament
from arena.errors import UsageError
from arena.game.presets import preset
from arena.game.table import Table
from arena.match.summary import MatchSummary
from arena.ratings.posterior import posterior
from arena.ratings.statistics import Share, fitted_draw_probability, share
from arena.store import NameTaken, open_queries
from arena.tournament.standings import Standing, Totals, complete_pairs


@dataclass(frozen=True, slots=True)
class PlayedPairs:
    """How the first of two bots stands against the second."""

    names: tuple[str, str]
    seed: str
    standings: tuple[Standing, Standing]
    """Of each: its pairs, deals and faults."""
    deals: Share
    """What the first has won of the deals of complete pairs; a deal that nobody wins is half a win."""
    better: float
    """The probability that the first is the stronger one."""
    complete: bool
    """All the pairs that were asked for were played."""
    run: str
    """What it is called in the store."""
    logs: Mapping[str, Path]
    """By bot where its output went, of those that wrote something."""


async def play_pairs(options: PlayOptions, listener: Listener) -> PlayedPairs:
    """Play the pairs, or those that are under way when a signal stops it, and keep them.

    Raises `UsageError` if the rules are not for two sides, or a bot does not start.
    """
    sides = Table.of(preset(options.rules)).sides
    if sides != 2:
        raise UsageError(f"--pairs is for two sides, but these rules have {sides}; leave it out to play one match")
    while True:
        lineup = Lineup.of(options)
        try:
            finished = await run_tournament(lineup.run, listener)
            break
        except NameTaken:  # by an arena elsewhere that began at the same moment
            lineup.forget()
        except BaseException:
            lineup.forget()
            raise
    with open_queries(options.archive.store) as queries:
        summaries = list(queries.summaries(queries.tournament(lineup.name)))
    first, second = lineup.specs
    totals = Totals.of(summaries)
    standings = totals.standings((first, second))
    games = games_of(totals)
    belief = posterior(games, fitted_draw_probability(games))
    return PlayedPairs(
        names=(first, second),
        seed=lineup.seed,
        standings=(standings[first], standings[second]),
        deals=share(_deals(summaries, first)),
        better=belief.better(first, second) if games else 0.5,
        complete=finished.complete,
        run=lineup.name,
        logs=lineup.written(),
    )


def _deals(summaries: Sequence[MatchSummary], first: str) -> Sequence[tuple[float, int]]:
    """For each complete pair how many deals the first bot has won, and of how many."""
    won: defaultdict[int, float] = defaultdict(float)
    deals: defaultdict[int, int] = defaultdict(int)
    complete = {pair.number for pair in complete_pairs(summaries)}
    for summary in summaries:
        if summary.key.number in complete:
            number = summary.key.number
            by_anybody = sum(side.deals_won for side in summary.sides)
            won[number] += (summary.deals - by_anybody) / 2
            won[number] += sum(side.deals_won for side in summary.sides if first in side.participants)
            deals[number] += summary.deals
    return [(won[number], deals[number]) for number in sorted(complete)]
