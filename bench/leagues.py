"""Leagues of bots whose strengths are known: what a rating should find out, as often as it says.

Deals are won by strength, by the luck of the deck, which a mirrored pair gives to both in turn, and by chance.  A match
is a race to seven points; a deal is worth 1, 2 or 3 of them in 56, 39 and 5 of 100 cases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from random import Random

import numpy as np
from numpy.typing import NDArray

from arena.ratings.base import Game, grouped, mirrored_pair
from arena.ratings.posterior import posterior
from arena.ratings.statistics import fitted_draw_probability

ELO_A_DEAL = 630.0
"""Elo points of a Bummerl that make one standard deviation of a deal, as this game of seven points has it."""
SD_ELO = 100.0
"""Of the strengths in a league."""
TARGET = 7
WORTH, WORTH_SHARES = (1, 2, 3), (0.56, 0.39, 0.05)
MOST_DEALS = 2 * TARGET - 1
STEP = 0.05
WIDEST = 1.5
"""Edges are tabulated in these steps up to this one, in standard deviations of a deal."""
LIMIT_PAIRS = 1000

Outcomes = NDArray[np.float64]


def play_pairs(edge: float, luck: float, pairs: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Matches won and game points ahead of the first bot in each of so many mirrored pairs: two columns.

    `edge` is its advantage in a deal in standard deviations, `luck` the share of a deal's variance that is the deck's.
    """
    deck = np.sqrt(luck) * rng.standard_normal((pairs, MOST_DEALS))
    worth = rng.choice(WORTH, size=(pairs, MOST_DEALS), p=WORTH_SHARES)
    won, ahead = np.zeros(pairs, np.int64), np.zeros(pairs, np.int64)
    for sign in (1, -1):
        deal = edge + sign * deck + np.sqrt(1 - luck) * rng.standard_normal((pairs, MOST_DEALS))
        mine = np.minimum(np.cumsum(np.where(deal > 0, worth, 0), axis=1), TARGET)
        theirs = np.minimum(np.cumsum(np.where(deal > 0, 0, worth), axis=1), TARGET)
        over = np.argmax((mine == TARGET) | (theirs == TARGET), axis=1)
        rows = np.arange(pairs)
        won += mine[rows, over] == TARGET
        ahead += mine[rows, over] - theirs[rows, over]
    return np.stack((won, ahead), axis=1)


@cache
def outcome_table(luck: float, pairs: int = 40_000) -> tuple[Outcomes, Outcomes]:
    """Edges, and at each the shares of pairs lost, drawn and won."""
    rng = np.random.default_rng(66)
    edges = np.arange(0.0, WIDEST + STEP / 2, STEP)
    shares = [np.bincount(play_pairs(edge, luck, pairs, rng)[:, 0], minlength=3) / pairs for edge in edges]
    return edges, np.array(shares)


def outcomes(edge: float, luck: float) -> Outcomes:
    """The probabilities that a pair is lost, drawn, won."""
    edges, shares = outcome_table(luck)
    found = np.array([np.interp(abs(edge), edges, shares[:, column]) for column in range(3)])
    return found if edge >= 0 else found[::-1]


@dataclass(frozen=True, slots=True)
class League:
    """Bots of known strengths."""

    strengths: Mapping[str, float]
    """In Elo points of a Bummerl."""
    luck: float
    random: Random

    @classmethod
    def of(cls, bots: int, luck: float, seed: int) -> League:
        """Normal strengths."""
        random = Random(seed)
        return cls({f"b{number:02}": random.gauss(0, SD_ELO) for number in range(bots)}, luck, random)

    def games(self, pairs: int) -> list[Game]:
        """A round robin with so many mirrored pairs a pairing, interleaved."""
        played = [self.pairs(one, other, pairs) for one, other in combinations(self.strengths, 2)]
        return [game for list_ in zip(*played, strict=True) for game in list_]

    def pairs(self, one: str, other: str, count: int) -> list[Game]:
        """So many mirrored pairs of these two."""
        won = self.random.choices(range(3), self._shares(one, other), k=count)
        return [mirrored_pair(one, other, matches, 2 - matches) for matches in won]

    def limit(self) -> dict[str, float]:
        """The rating means that endless play would lead to: the truth on the scale of the ratings."""
        games: list[Game] = []
        for one, other in combinations(self.strengths, 2):
            for won, share in enumerate(self._shares(one, other)):
                games += [mirrored_pair(one, other, won, 2 - won)] * round(LIMIT_PAIRS * share)
        belief = posterior(games, fitted_draw_probability(grouped(games)))
        return dict(zip(belief.names, belief.mean.tolist(), strict=True))

    def _shares(self, one: str, other: str) -> Outcomes:
        return outcomes((self.strengths[one] - self.strengths[other]) / ELO_A_DEAL, self.luck)
