"""Stop rules against the truth: leagues of bots whose strengths are known, played until all neighbours are separated.

For each share of luck: what the remainder of a budget gains over a plain round robin of as many pairs, and how often a
neighbour that was said to be separated stands in the wrong order, though the rule looked again and again.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from arena.app.stopping import ask
from arena.match.absence import NOBODY
from arena.ratings.base import Game, grouped
from arena.ratings.posterior import Posterior, posterior
from arena.ratings.statistics import fitted_draw_probability
from arena.reports.model import Stopping
from arena.tournament.schedule import Schedule
from arena.tournament.stop import StopRule
from bench.leagues import League
from bench.ratings import BOTS, LUCK, kendall

LEAGUES, QUICK_LEAGUES = 150, 2
BUDGET, FIRST = 20, 10
"""Pairs a pairing: in all, and those of the first round robin, where the two ways to spend a budget are compared."""
SMALL_LEAGUES, STOP_BOTS = 150, 6
STOP = StopRule(separated=0.95, max_pairs=400)
STOP_FIRST = 50
NEVER = 1.0
"""A probability that no two neighbours reach: the whole budget is spent."""


def run(quick: bool) -> Mapping[str, Any]:
    """Everything, as plain values."""
    leagues, small = (QUICK_LEAGUES, QUICK_LEAGUES) if quick else (LEAGUES, SMALL_LEAGUES)
    return {
        "leagues": leagues,
        "stop_leagues": small,
        **{
            f"luck_{luck}": {
                "same_budget": _same_budget(luck, leagues),
                "stop": _stop(luck, small),
                "twins": _twins(luck, small),
            }
            for luck in LUCK
        },
    }


def _same_budget(luck: float, leagues: int) -> Mapping[str, Mapping[str, float]]:
    """Kendall's tau to the truth and the part of neighbours that is separated, by a plain round robin and otherwise."""
    found: dict[str, tuple[list[float], list[float]]] = {"round_robin": ([], []), "remainder": ([], [])}
    for seed in range(leagues):
        plain = League.of(BOTS, luck, seed)
        evidence = {
            "round_robin": plain.games(BUDGET),
            "remainder": play(League.of(BOTS, luck, seed), FIRST, StopRule(NEVER, BUDGET))[1],
        }
        for name, games in evidence.items():
            belief = believed(games)
            tau, separated = found[name]
            tau.append(kendall(dict(zip(belief.names, belief.mean.tolist(), strict=True)), plain.strengths))
            neighbours = [belief.better(one, other) for one, other in pairwise(in_order(belief))]
            separated.append(statistics.fmean(chance >= STOP.separated for chance in neighbours))
    return {
        name: {
            "kendall_tau": round(statistics.fmean(tau), 3),
            "standard_error": round(statistics.stdev(tau) / len(tau) ** 0.5, 4),
            "separated": round(statistics.fmean(separated), 3),
        }
        for name, (tau, separated) in found.items()
    }


def _stop(luck: float, leagues: int) -> Mapping[str, float | None]:
    """How often the rule ends a league before its budget is spent, and how often separated neighbours are wrong."""
    pairs, said, wrong, any_wrong = [], [], [], []
    for seed in range(leagues):
        league = League.of(STOP_BOTS, luck, seed)
        stopping, games = play(league, STOP_FIRST, STOP)
        belief = believed(games)
        separated = [two for two in pairwise(in_order(belief)) if belief.better(*two) >= STOP.separated]
        errors = [league.strengths[one] < league.strengths[other] for one, other in separated]
        said += [1 - belief.better(*two) for two in separated]
        wrong += errors
        if not stopping.open:
            pairs.append(stopping.pairs)
            any_wrong.append(any(errors))
    return {
        "stopped": round(len(pairs) / leagues, 3),
        "pairs": _mean(pairs),
        "any_wrong": _mean(any_wrong),
        "neighbours_wrong": _mean(wrong),
        "said": _mean(said),
    }


def _twins(luck: float, leagues: int) -> Mapping[str, float]:
    """Of two bots that are equally strong, how often the rule ends it all the same, and how often the table says so."""
    stopped, separated = 0, 0
    for seed in range(leagues):
        two = League.of(2, luck, seed)
        stopping, games = play(replace(two, strengths=dict.fromkeys(two.strengths, 0.0)), STOP_FIRST, STOP)
        belief = believed(games)
        stopped += not stopping.open
        separated += belief.better(*in_order(belief)) >= STOP.separated
    return {"stopped": round(stopped / leagues, 3), "separated": round(separated / leagues, 3)}


def _mean(values: Sequence[float]) -> float | None:
    return round(statistics.fmean(values), 4) if values else None


def play(league: League, pairs: int, rule: StopRule) -> tuple[Stopping, Sequence[Game]]:
    """A tournament with a stop rule from its first round robin to its end."""
    names = tuple(league.strengths)
    schedules = [Schedule(names, pairs)]
    games: list[Game] = []
    while True:
        for pairing in schedules[-1].pairings():
            one, other = pairing
            games += league.pairs(one, other, schedules[-1].lists(pairing))
        stopping, further = ask(rule, schedules, NOBODY, games)
        if not further:
            return stopping, games
        schedules.append(Schedule(names, pairs, previous=schedules[-1], remainder=further))


def believed(games: Sequence[Game]) -> Posterior:
    """What the games tell of the strengths."""
    return posterior(games, fitted_draw_probability(grouped(games)))


def in_order(belief: Posterior) -> list[str]:
    """The names, the best first."""
    means = dict(zip(belief.names, belief.mean.tolist(), strict=True))
    return sorted(means, key=lambda name: -means[name])
