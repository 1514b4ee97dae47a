"""Ratings against the truth: leagues of bots whose strengths are known, rated in several ways.

For each share of luck and number of matches a pairing: Kendall's tau between the ranking and the true order (the mean
over all leagues), and what the bars, probabilities and rank intervals promise against how often it comes true.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.ratings.base import Game, Rating
from arena.ratings.duel import LEAST_PAIRS, Answer, DecidedBy, Pairs, judge
from arena.ratings.posterior import posterior, verdicts
from arena.ratings.trueskill import fit, online
from bench.leagues import League, play_pairs

BOTS = 12
LUCK = (0.51, 0.86)
MATCHES = (10, 20, 50)
LEAGUES, QUICK_LEAGUES = 100, 2
REFIT_BOTS, REFIT_PAIRS = 20, (10, 200)
DUELS, QUICK_DUELS = 500, 4
BANDS = (0.0, 0.7, 0.9, 1.01)
"""Of what is said to be likely."""
MOST_PAIRS = 800
LOOK = 8
"""Pairs between two looks at a duel."""


def run(quick: bool) -> Mapping[str, Any]:
    """Everything, as plain values."""
    leagues = QUICK_LEAGUES if quick else LEAGUES
    lengths = MATCHES[:1] if quick else MATCHES
    return {
        "leagues": leagues,
        "refit_cpu_s": {str(pairs * 2): _refit(pairs) for pairs in REFIT_PAIRS},
        **{
            f"luck_{luck}": {str(matches): _calibrate(luck, matches // 2, leagues) for matches in lengths}
            for luck in LUCK
        },
        "duel": {
            f"luck_{luck}_{by}": _duel(luck, by, QUICK_DUELS if quick else DUELS) for luck in LUCK for by in DecidedBy
        },
    }


def _duel(luck: float, by: DecidedBy, duels: int) -> Mapping[str, float]:
    """How often a duel is wrong or open, and its pairs: of equal bots, and where one is better by the edge."""
    edge = 0.05
    rng = np.random.default_rng(7)
    low, high = 0.0, 0.5
    for _ in range(12):  # the advantage in a deal that makes just this edge
        middle = (low + high) / 2
        share = float(np.mean(_results(play_pairs(middle, luck, 20_000, np.random.default_rng(1)), by))) / 2
        low, high = (middle, high) if share < 0.5 + edge else (low, middle)
    found: dict[str, float] = {}
    for name, advantage, wrong in (("equal", 0.0, Answer.BETTER), ("better", low, Answer.NOT_BETTER)):
        errors, pairs, open_ = 0, [], 0
        for _ in range(duels):
            results = _results(play_pairs(advantage, luck, MOST_PAIRS, rng), by)
            for stop in range(LEAST_PAIRS, MOST_PAIRS + 1, LOOK):
                lost, drawn, won = np.bincount(results[:stop], minlength=3).tolist()
                answer = judge(Pairs(lost, drawn, won), edge).answer
                if answer is not Answer.OPEN:
                    break
            errors += answer is wrong
            open_ += answer is Answer.OPEN
            pairs.append(stop)
        found[f"{name}_wrong"] = round(errors / duels, 4)
        found[f"{name}_open"] = round(open_ / duels, 4)
        found[f"{name}_pairs"] = round(statistics.fmean(pairs), 1)
    return found


def _results(pairs: NDArray[np.int64], by: DecidedBy) -> NDArray[np.int64]:
    """0, 1 or 2 for each pair: lost, drawn, won."""
    won, ahead = pairs[:, 0], pairs[:, 1]
    return np.where((won == 1) & (by is DecidedBy.POINTS), 1 + np.sign(ahead), won)


def _refit(pairs: int) -> Mapping[str, float]:
    """CPU seconds of a refit of many bots, and of the errors, by matches a pairing."""
    games = League.of(REFIT_BOTS, LUCK[0], seed=0).games(pairs)
    start = time.process_time()
    fitted = fit(games)
    rated = time.process_time()
    belief = posterior(games, fitted.draw_probability)
    verdicts(belief, {name: rating.score for name, rating in fitted.ratings.items()})
    return {"fit": round(rated - start, 2), "errors": round(time.process_time() - rated, 3)}


def _calibrate(luck: float, pairs: int, leagues: int) -> Mapping[str, Any]:
    tau: dict[str, list[float]] = {name: [] for name in _METHODS}
    bars, intervals, firsts, stated = [], [], [], []
    for seed in range(leagues):
        league = League.of(BOTS, luck, seed)
        games, truth = league.games(pairs), league.limit()
        for name, method in _METHODS.items():
            if (found := method(games)) is not None:
                tau[name].append(kendall(found, truth))
        fitted = fit(games)
        belief = posterior(games, fitted.draw_probability)
        judged = verdicts(belief, {name: rating.score for name, rating in fitted.ratings.items()})
        level = statistics.fmean(truth.values())
        order = sorted(truth, key=lambda name: -truth[name])
        for name, mean in zip(belief.names, belief.mean - belief.mean.mean(), strict=True):
            bars.append(abs(mean - (truth[name] - level)) <= judged[name].error)
            best, worst = judged[name].ranks
            intervals.append(best <= order.index(name) + 1 <= worst)
        for name, following in pairwise(judged):
            stated.append((judged[name].better_than_next or 0.0, truth[name] > truth[following]))
        leader = next(iter(judged))
        firsts.append((judged[leader].first, leader == order[0]))
    return {
        "kendall_tau": {name: round(statistics.fmean(values), 3) if values else None for name, values in tau.items()},
        "bars_hold": round(statistics.fmean(bars), 4),
        "rank_intervals_hold": round(statistics.fmean(intervals), 4),
        "better_than_next": [
            {"from": low, "pairs": len(came), **_said_and_true(came)}
            for low, high in pairwise(BANDS)
            if (came := [each for each in stated if low <= each[0] < high])
        ],
        "first": _said_and_true(firsts),
    }


def _said_and_true(came: Sequence[tuple[float, bool]]) -> Mapping[str, float]:
    """What was said to be likely, and how often it was so: the means."""
    said, true = zip(*came, strict=True)
    return {"said": round(statistics.fmean(said), 3), "true": round(statistics.fmean(true), 3)}


def kendall(found: Mapping[str, float], truth: Mapping[str, float]) -> float:
    """Agreement of two orders, -1 to 1; a tie counts for nothing."""
    signs = []
    for one, other in combinations(truth, 2):
        product = (found[one] - found[other]) * (truth[one] - truth[other])
        signs.append((product > 0) - (product < 0))
    return statistics.fmean(signs)


# -- the ways to rate -------------------------------------------------------------------------------------------------


def _converged(games: Sequence[Game]) -> dict[str, float]:
    return _means(fit(games).ratings)


def _one_pass(games: Sequence[Game]) -> dict[str, float]:
    return _means(online(games).ratings)


def _one_pass_tau_0(games: Sequence[Game]) -> dict[str, float]:
    return _means(online(games, tau=0.0).ratings)


def _bradley_terry(games: Sequence[Game]) -> dict[str, float] | None:
    """By choix, a draw as half a win each; None where it is not installed."""
    if importlib.util.find_spec("choix") is None:
        return None
    import choix

    names = sorted({name for game in games for name in game.participants})
    wins = []
    for game in games:
        (better, *_), (worse, *_) = game.sides if game.ranks[0] <= game.ranks[1] else game.sides[::-1]
        wins += [(names.index(better), names.index(worse))] * 2
        if game.drawn:
            wins[-1] = wins[-1][::-1]
    return dict(zip(names, choix.ilsr_pairwise(len(names), wins, alpha=0.01).tolist(), strict=True))


def _means(ratings: Mapping[str, Rating]) -> dict[str, float]:
    return {name: rating.mu for name, rating in ratings.items()}


_METHODS: Mapping[str, Callable[[Sequence[Game]], dict[str, float] | None]] = {
    "converged": _converged,
    "one_pass": _one_pass,
    "one_pass_tau_0": _one_pass_tau_0,
    "bradley_terry": _bradley_terry,
}
