"""Evidence and its value: a `Game` says who came before whom, a `Rating` what is believed of one participant.

One unit of evidence is one game, however many matches it took: a mirrored pair, or the block that rotates all
sides through all places.  Its matches share their decks, so as games of their own they would say too much.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

MU = 25.0
"""The mean of a participant that nothing is known of, in points of the rating scale."""
SIGMA = MU / 3
"""The standard deviation of a participant that nothing is known of, in points."""
BETA = SIGMA / 2
"""The standard deviation of one participant's performance in one game, in points."""


@dataclass(frozen=True, slots=True)
class Rating:
    """What is believed of one participant's strength: its mean and its standard deviation, in points."""

    mu: float
    sigma: float

    @property
    def score(self) -> float:
        """`mu - 3 sigma`, in points: a level that the participant's strength is almost surely above."""
        return self.mu - 3 * self.sigma


@dataclass(frozen=True, slots=True)
class Game:
    """One unit of evidence: the participants of each side, and each side's rank (0 the best, equal is tied).

    Raises `ValueError` unless two or more sides of one or more participants have one rank each, and nobody
    stands twice.
    """

    sides: tuple[tuple[str, ...], ...]
    ranks: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.sides) < 2 or not all(self.sides):
            raise ValueError(f"a game has two or more sides of one or more participants, not {self.sides}")
        if len(self.ranks) != len(self.sides):
            raise ValueError(f"a game of {len(self.sides)} sides has as many ranks, not {self.ranks}")
        if len(set(self.participants)) != len(self.participants):
            raise ValueError(f"a participant stands once in a game, but the sides are {self.sides}")

    @property
    def participants(self) -> tuple[str, ...]:
        """All names, side by side."""
        return tuple(name for side in self.sides for name in side)

    @property
    def placings(self) -> Iterable[tuple[tuple[str, ...], int]]:
        """Each side with its rank."""
        return zip(self.sides, self.ranks, strict=True)

    @property
    def drawn(self) -> bool:
        """Whether any two sides are tied."""
        return len(set(self.ranks)) < len(self.ranks)

    def canonical(self) -> Game:
        """The one form of all games that say the same: best side first, tied sides and members by name."""
        order = sorted(set(self.ranks))
        placed = sorted((order.index(rank), tuple(sorted(side))) for side, rank in self.placings)
        return Game(tuple(side for _, side in placed), tuple(rank for rank, _ in placed))


class Groups(tuple[tuple[Game, int], ...]):
    """Different games in canonical form and order, each with the number of times that it was played."""

    __slots__ = ()


Games = Iterable[Game] | Groups
"""Games as they come, or how often each was played (a `Counter`), or in groups already."""


def grouped(games: Games) -> Groups:
    """The same groups for any order of the same games, whatever the order of their sides and members."""
    if isinstance(games, Groups):
        return games
    counts: Counter[Game] = Counter()
    for game, copies in Counter(games).items():
        counts[game.canonical()] += copies
    return Groups(sorted(counts.items(), key=lambda group: (group[0].sides, group[0].ranks)))


Encounter = tuple[tuple[str, ...], tuple[str, ...], bool]
"""Two sides of a game: the better one, the other one, and whether they are tied."""


def encounters(groups: Groups) -> Sequence[tuple[Encounter, int]]:
    """Every two sides of every game, in canonical order, each with the number of times that they met so."""
    counts: Counter[Encounter] = Counter()
    for game, copies in groups:
        for (side, rank), (other, other_rank) in combinations(game.placings, 2):
            counts[side, other, rank == other_rank] += copies
    return sorted(counts.items())


def mirrored_pair(a: str, b: str, wins_a: int, wins_b: int) -> Game:
    """A complete mirrored pair of matches as one game: 2-0 a win, 1-1 a draw, 0-2 a loss.

    Raises `ValueError` when the wins are not those of two matches: half a pair is no evidence.
    """
    if wins_a + wins_b != 2 or min(wins_a, wins_b) < 0:
        raise ValueError(f"a mirrored pair is two matches, each with one winner, not {wins_a}-{wins_b}")
    return block(((a,), (b,)), (wins_a, wins_b))


def block(sides: Iterable[Iterable[str]], totals: Iterable[int]) -> Game:
    """A complete block of matches as one game: the sides ranked by total points, most first, equal is tied.

    `totals` has one number a side, in the order of `sides`.  Raises `ValueError` for what cannot be a `Game`.
    """
    points = tuple(totals)
    order = sorted(set(points), reverse=True)
    return Game(tuple(map(tuple, sides)), tuple(map(order.index, points)))
