"""Seats, sides and turn order: the one place that does arithmetic on seats.

Seats are numbered clockwise from 0.  A side is what scores: a seat, or two partners who sit opposite.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from arena.game.rules import Rules, Seating


class Role(StrEnum):
    """The place of a seat in a deal, in the order in which cards are dealt."""

    FOREHAND = "forehand"
    SECOND = "second"
    THIRD = "third"
    DEALER = "dealer"


@dataclass(frozen=True, slots=True)
class Table:
    """The geometry of one seating; every lookup is a tuple indexed by seat or side."""

    seats: int
    sides: int
    side_of: tuple[int, ...]
    """The side of each seat."""
    members: tuple[tuple[int, ...], ...]
    """The seats of each side."""
    opponents: tuple[tuple[tuple[int, ...], ...], ...]
    """`opponents[dealer][side]`: the other sides that play a deal of that dealer."""
    orders: tuple[tuple[tuple[int, ...], ...], ...]
    """`orders[dealer][leader]`: the seats that play a trick, clockwise from its leader."""

    @classmethod
    @cache
    def of(cls, rules: Rules) -> Table:
        """The table that the rules ask for."""
        seats = rules.seats
        partners = rules.seating is Seating.PARTNERS
        sides = seats // 2 if partners else seats
        side_of = tuple(seat % sides for seat in range(seats))

        def playing(dealer: int) -> frozenset[int]:
            sitter = {dealer} if rules.seating is Seating.DEALER_OUT else set()
            return frozenset(range(seats)) - sitter

        return cls(
            seats=seats,
            sides=sides,
            side_of=side_of,
            members=tuple(tuple(s for s in range(seats) if side_of[s] == side) for side in range(sides)),
            opponents=tuple(
                tuple(tuple(sorted({side_of[s] for s in playing(dealer)} - {side})) for side in range(sides))
                for dealer in range(seats)
            ),
            orders=tuple(
                tuple(
                    tuple(seat for step in range(seats) if (seat := (leader + step) % seats) in playing(dealer))
                    for leader in range(seats)
                )
                for dealer in range(seats)
            ),
        )

    @property
    def first_dealer(self) -> int:
        """The highest seat deals the first deal, so that seat 0 leads it."""
        return self.seats - 1

    def next_seat(self, seat: int) -> int:
        """The next seat clockwise (to the left)."""
        return (seat + 1) % self.seats

    def forehand(self, dealer: int) -> int:
        """The seat left of the dealer: it is dealt to first and leads the first trick."""
        return self.next_seat(dealer)

    def roles(self, dealer: int) -> tuple[tuple[int, Role], ...]:
        """The seats that play a deal and their roles, the forehand first; a dealer who sits out has none."""
        others = (Role.FOREHAND, Role.SECOND, Role.THIRD)
        order = self.orders[dealer][self.forehand(dealer)]
        return tuple((seat, Role.DEALER if seat == dealer else others[place]) for place, seat in enumerate(order))
