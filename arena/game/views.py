"""The only window: what one seat may know of a deal, field by field.

To review this allow list is to review secrecy.  Two deals that differ only in what a seat may not know give equal
views to that seat.  Everything in a view but `hand` and `legal` is public.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class DecisionPoint(IntEnum):
    """What a seat is asked, numbered as on the wire."""

    ON_LEAD = 1
    """Lead a card; before that exchange, declare, close, claim."""
    FOLLOW = 2
    """Play a card to the trick on the table."""
    BEFORE_DRAW = 3
    """The trick is yours and closing before the draw is legal: go on, close or claim."""
    ON_CLOSE = 4
    """The opponent has closed: take the turn-up for the lowest trump, or go on."""
    AFTER_LAST_TRICK = 5
    """The last trick is yours and claims are made after a trick: claim or go on."""


class View(NamedTuple):
    """One seat's view of a deal.  A named tuple because one is made for every decision: it is the cheapest value.

    Masks hold the cards of `arena.cards` (bit `1 << card`); a second identical card of two packs is 40 bits higher.
    """

    seat: int
    point: DecisionPoint | None
    """What the seat is asked; None while it is not to act."""
    legal: int
    """The legal actions as a mask of action numbers; 0 while the seat is not to act."""
    hand: int
    """The seat's cards (a mask)."""
    dealer: int
    leader: int
    """The seat that leads the current trick."""
    trump: int
    """The trump suit's number, 0 while there is none."""
    turn_up: int
    """The turned-up card (or the dealer's shown card), 0 where there is none or it has been drawn."""
    talon: int
    """Cards left undrawn, the turn-up included."""
    table: tuple[int, ...]
    """The cards of the current trick in the order played, the first by `leader`."""
    bound: int
    """After a declaration: the cards of the pair one of which must be led (a mask), else 0."""
    points: tuple[int, ...]
    """Credited card points by side."""
    pending: tuple[int, ...]
    """Marriage points by side that are declared but do not count yet."""
    tricks: tuple[int, ...]
    """Tricks won by side."""
    closer: int | None
    """The seat that closed the talon."""
    closed_points: tuple[int, ...]
    """Card points by side at the moment of closing; empty while the talon is not closed."""
    closed_tricks: tuple[int, ...]
    """Tricks by side at the moment of closing; empty while the talon is not closed."""
    hand_sizes: tuple[int, ...]
    """Cards in hand by seat."""
    known: tuple[int, ...]
    """By seat, the cards (a mask) that everybody knows to be in that hand: shown in a marriage or an exchange."""
    past_seats: bytes
    """The seats of all actions of the deal so far, in order."""
    past_actions: bytes
    """The actions of the deal so far, in order, one byte each."""
    winners: bytes
    """The seats that took the finished tricks, in order."""
    score: tuple[int, ...]
    """The match score by side before this deal."""
    carry: int
    """What earlier draws add to the points of this deal's winner (`tie = draw_carry`)."""
