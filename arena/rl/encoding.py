"""Views as numbers: many at once, in numpy arrays.  What is in no view is in no array.

Seats and sides are counted from the viewer's own, clockwise, so that one policy plays every seat.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.cards import ACTIONS, DISTINCT, SECOND, SUIT_MASKS
from arena.game.game import Game
from arena.game.rules import Rules
from arena.game.views import DecisionPoint, View

Floats: TypeAlias = NDArray[np.float32]
Bools: TypeAlias = NDArray[np.bool_]
Numbers: TypeAlias = NDArray[np.int64]

ACTION_COUNT = len(ACTIONS)
"""The length of a mask of actions, by their numbers; 0 is no action and never legal."""
MOST = 8.0
"""No number in an encoding is higher (and none is negative)."""


class Observations(NamedTuple):
    """What N seats see."""

    features: Floats
    """[N, `Encoder.size`]"""
    legal: Bools
    """[N, `ACTION_COUNT`]: the legal actions by number; none where the seat is not to act."""


class Encoder:
    """Turns views of one set of rules into rows of `size` numbers; `layout` names the columns.

    With C different cards, P seats and S sides at the table:

    - `hand` C, `turn_up` C, `bound` C (the pair of which a card must be led): how many of each card.
    - `table` (seats that play - 1) * C: the cards of the current trick in the order played.
    - `played` P * C: what each seat has played in this deal, `known` P * C: what everybody knows it to hold.
    - `when` C: the trick in which the card was last played, as a part of the deal's tricks.
    - `trump` 5 (first: none), `point` 6 (first: not asked), `leader` P, `dealer` P, `closer` P: one of each, or none.
    - `talon` 1 and `hand_sizes` P: as parts of the deck and of a full hand.
    - `points`, `pending`, `closed_points` S: as parts of the target, `reached` S: whether the points reach it.
    - `tricks`, `closed_tricks` S: as parts of all tricks.
    - `score` S and `carry` 1: as parts of the match target.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.game = game = Game(rules)
        table = game.table
        self._cards: Numbers = np.array(sorted(set(game.cards)), np.int64)
        self._column = np.full(33, -1)
        self._column[self._cards] = np.arange(len(self._cards))
        around = [_clockwise_from(game, seat) for seat in range(table.seats)]
        self._seats = np.array(around)
        """[own seat, seats further clockwise]: the seat there."""
        self._place = np.argsort(self._seats, axis=1)
        """[own seat, seat]: how far clockwise that is."""
        self._sides = np.array([list(dict.fromkeys(table.side_of[seat] for seat in seats)) for seats in around])
        self._tricks = -(-rules.deck // game.active_seats)
        cards, seats, sides = len(self._cards), table.seats, table.sides
        sizes = {
            "hand": cards, "turn_up": cards, "bound": cards, "table": (game.active_seats - 1) * cards,
            "played": seats * cards, "known": seats * cards, "when": cards, "trump": len(SUIT_MASKS),
            "point": 1 + len(DecisionPoint), "leader": seats, "dealer": seats, "closer": seats, "talon": 1,
            "hand_sizes": seats, "points": sides, "reached": sides, "pending": sides, "closed_points": sides,
            "tricks": sides, "closed_tricks": sides, "score": sides, "carry": 1,
        }  # fmt: skip
        ends = np.cumsum(list(sizes.values())).tolist()
        self.layout: Mapping[str, slice] = {
            name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)
        }
        """The columns of each part."""
        self.size: int = ends[-1]

    def observe(self, views: Sequence[View]) -> Observations:
        """Encode N views, each from its own seat."""
        count = len(views)
        columns: Any = View._make(zip(*views, strict=True))  # each field N times
        own = np.array(columns.seat)
        seats, sides = self._seats[own], self._sides[own]
        rows = np.arange(count)[:, None]
        target, full = self.rules.target, self._tricks
        played, when = self._history(columns, own)
        closed = [points or (0,) * sides.shape[1] for points in columns.closed_points]
        closed_tricks = [tricks or (0,) * sides.shape[1] for tricks in columns.closed_tricks]
        parts: dict[str, Any] = {
            "hand": self._held(columns.hand),
            "turn_up": self._one(columns.turn_up),
            "bound": self._held(columns.bound),
            "table": np.stack([self._one([_nth(table, place) for table in columns.table])
                               for place in range(self.game.active_seats - 1)], 1),
            "played": played,
            "known": self._held(chain.from_iterable(columns.known)).reshape(count, len(seats[0]), -1)[rows, seats],
            "when": when / full,
            "trump": np.eye(len(SUIT_MASKS))[list(columns.trump)],
            "point": np.eye(1 + len(DecisionPoint))[[point or 0 for point in columns.point]],
            "leader": seats == np.array(columns.leader)[:, None],
            "dealer": seats == np.array(columns.dealer)[:, None],
            "closer": seats == np.array([-1 if closer is None else closer for closer in columns.closer])[:, None],
            "talon": np.array(columns.talon) / self.rules.deck,
            "hand_sizes": np.array(columns.hand_sizes)[rows, seats] / self.rules.hand,
            "points": np.array(columns.points)[rows, sides] / target,
            "reached": np.array(columns.points)[rows, sides] >= target,
            "pending": np.array(columns.pending)[rows, sides] / target,
            "closed_points": np.array(closed)[rows, sides] / target,
            "tricks": np.array(columns.tricks)[rows, sides] / full,
            "closed_tricks": np.array(closed_tricks)[rows, sides] / full,
            "score": np.array(columns.score)[rows, sides] / self.rules.match_target,
            "carry": np.array(columns.carry) / self.rules.match_target,
        }  # fmt: skip
        features = np.concatenate([np.asarray(parts[name], np.float32).reshape(count, -1) for name in self.layout], 1)
        legal = _bits(np.array(columns.legal, np.int64), np.arange(ACTION_COUNT)).astype(np.bool_)
        return Observations(np.minimum(features, MOST), legal)

    def __deepcopy__(self, memo: object) -> Encoder:
        """Itself, as nothing changes it: what holds one is copied fast."""
        return self

    def _held(self, masks: Iterable[int]) -> Numbers:
        """How many of each card the masks hold: [number of masks, C]."""
        every = tuple(masks)
        first = np.array([mask & DISTINCT for mask in every], np.int64)
        second = np.array([mask >> SECOND for mask in every], np.int64)
        return _bits(first, self._cards) + _bits(second, self._cards)

    def _one(self, cards: Iterable[int]) -> Numbers:
        """One card a row, 0 for none: [N, C]."""
        return self._held(1 << card if card else 0 for card in cards)

    def _history(self, columns: Any, own: Numbers) -> tuple[Numbers, Numbers]:
        """`played` [N, P, C] and the number of the trick in which each card went [N, C]."""
        count, cards = len(own), len(self._cards)
        played = np.zeros((count, self._seats.shape[1], cards), np.int64)
        when = np.zeros((count, cards), np.int64)
        actions = np.frombuffer(b"".join(columns.past_actions), np.uint8)
        seats = np.frombuffer(b"".join(columns.past_seats), np.uint8)
        rows = np.repeat(np.arange(count), [len(past) for past in columns.past_actions])
        plays = actions <= 32
        actions, seats, rows = actions[plays], seats[plays], rows[plays]
        number = np.arange(len(rows)) - np.searchsorted(rows, rows)  # of the play within its deal
        column = self._column[actions]
        np.add.at(played, (rows, self._place[own[rows], seats], column), 1)
        when[rows, column] = number // self.game.active_seats + 1
        return played, when


def _clockwise_from(game: Game, seat: int) -> list[int]:
    """All seats, clockwise from that one."""
    seats = [seat]
    while len(seats) < game.table.seats:
        seats.append(game.table.next_seat(seats[-1]))
    return seats


def _bits(masks: Numbers, numbers: Numbers) -> Numbers:
    """Which of the numbered bits are set: [number of masks, number of bits]."""
    return masks[:, None] >> numbers & 1


def _nth(cards: Sequence[int], place: int) -> int:
    return cards[place] if place < len(cards) else 0
