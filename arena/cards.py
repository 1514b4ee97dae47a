"""Cards, suits and actions: small interned integers, and sets of cards as bit masks.

A card's number (1-32) is its number on the wire, in records and in masks (bit `1 << card`).  Within a
suit a higher number is a higher rank: 7 8 9 J Q K T A (T = ten).  Rank is an order of its own, never
derived from card points (9, 8 and 7 are all worth 0).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from functools import cache
from typing import TypeVar

from arena.errors import NotationError

RANKS = "789JQKTA"
SUITS = "SHDC"

_RANK_POINTS = {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2}


class Suit(IntEnum):
    """The four suits, numbered as on the wire (there 0 means "no suit")."""

    SPADES = 1
    HEARTS = 2
    DIAMONDS = 3
    CLUBS = 4

    def __str__(self) -> str:
        return SUITS[self - 1]

    @classmethod
    def parse(cls, letter: str) -> Suit:
        """`"H"` -> `Suit.HEARTS`; raises `NotationError` for anything that is no suit letter."""
        if len(letter) != 1 or letter not in SUITS:
            raise NotationError(f"{letter!r} is not a suit; suits are S, H, D and C")
        return cls(SUITS.index(letter) + 1)


class Card(int):
    """A card, numbered 1-32.  Use the interned values of `CARDS`; they print as `TS`, `AH`."""

    __slots__ = ()

    @property
    def suit(self) -> Suit:
        return SUIT_OF[self]

    @property
    def rank(self) -> str:
        """One of `A T K Q J 9 8 7`."""
        return RANKS[(self - 1) & 7]

    @property
    def points(self) -> int:
        """Card points: A 11, T 10, K 4, Q 3, J 2, the others 0."""
        return CARD_POINTS[self]

    def __str__(self) -> str:
        return CARD_NAMES[self]

    def __repr__(self) -> str:
        return CARD_NAMES[self]

    @classmethod
    def parse(cls, text: str) -> Card:
        """`"TS"` -> the ten of spades; raises `NotationError` for anything that is no card."""
        try:
            return CARDS[_CARD_BY_NAME[text]]
        except KeyError:
            raise NotationError(
                f"{text!r} is not a card; a card is a rank (A T K Q J 9 8 7) and a suit (S H D C), as in TS"
            ) from None


CARD_NAMES: tuple[str, ...] = ("-", *(rank + suit for suit in SUITS for rank in RANKS))
_CARD_BY_NAME = {name: number for number, name in enumerate(CARD_NAMES) if number}

CARDS: tuple[Card, ...] = tuple(Card(number) for number in range(33))
"""The interned cards; `CARDS[0]` is never a card (0 is "no card" on the wire)."""

SUIT_OF: tuple[Suit, ...] = (Suit.SPADES, *(suit for suit in Suit for _ in RANKS))
CARD_POINTS: tuple[int, ...] = (0, *(_RANK_POINTS.get(rank, 0) for _ in SUITS for rank in RANKS))

SUIT_MASKS: tuple[int, ...] = (0, *(0x1FE << 8 * index for index in range(4)))
"""Bits of all cards of a suit, by suit number (index 0, no suit: no cards)."""


class Action(int):
    """What a seat can do, numbered as on the wire: 1-32 play that card, then the five others.

    Interned in `ACTIONS`.  Prints as `TS`, `MC` (declare the marriage of clubs), `exchange`, `close`,
    `claim`, `go-on`.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return ACTION_NAMES[self]

    def __repr__(self) -> str:
        return ACTION_NAMES[self]

    @property
    def card(self) -> Card | None:
        """The card that is played, or None for the other actions."""
        return CARDS[self] if self <= 32 else None

    @property
    def marriage(self) -> Suit | None:
        """The suit of the marriage that is declared, or None for the other actions."""
        return Suit(self - 32) if 33 <= self <= 36 else None

    @classmethod
    def parse(cls, text: str) -> Action:
        """The inverse of `str`; raises `NotationError` for anything that is no action."""
        try:
            return ACTIONS[_ACTION_BY_NAME[text]]
        except KeyError:
            raise NotationError(
                f"{text!r} is not an action; an action is a card as in TS, a marriage as in MC, "
                "exchange, close, claim or go-on"
            ) from None


ACTION_NAMES: tuple[str, ...] = (
    "unspecified",
    *CARD_NAMES[1:],
    *("M" + suit for suit in SUITS),
    "exchange",
    "close",
    "claim",
    "go-on",
)
_ACTION_BY_NAME = {name: number for number, name in enumerate(ACTION_NAMES) if number}

ACTIONS: tuple[Action, ...] = tuple(Action(number) for number in range(len(ACTION_NAMES)))
"""The interned actions; `ACTIONS[0]` is "unspecified" and never legal."""

DECLARE: tuple[Action, ...] = ACTIONS[32:37]
"""`DECLARE[suit]` declares the marriage of that suit (index 0 is not an action)."""
EXCHANGE, CLOSE, CLAIM, GO_ON = ACTIONS[37:41]


BITS: tuple[int, ...] = tuple(1 << number for number in range(len(ACTIONS)))
"""`BITS[number]`: the bit of a card or an action in a mask."""


def mask_of(cards: Iterable[int]) -> int:
    """The set of the given cards as a bit mask."""
    mask = 0
    for card in cards:
        mask |= 1 << card
    return mask


_List = TypeVar("_List", tuple[Card, ...], tuple[Action, ...])


def _by_bits(lists: Iterable[_List], empty: _List) -> tuple[_List, ...]:
    """`_by_bits(lists, empty)[bits]`: the lists whose bits are set, joined in order."""
    joined = [empty]
    for last in lists:
        joined += [before + last for before in joined]
    return tuple(joined)


# A mask is looked up in pieces: three of ten bits, which to Python are a small number together, and the rest.
# The tables that not every process needs are made when they are first asked for: a bot starts sooner.
_SMALL = (1 << 30) - 1
_PIECES = (slice(0, 10), slice(10, 20), slice(20, 30), slice(30, None))

_LOW, _MIDDLE, _HIGH, _REST = (
    _by_bits([(action,) if action else () for action in ACTIONS[piece]], ()) for piece in _PIECES
)
"""The actions of each piece of a mask."""


@cache
def _card_lists() -> tuple[tuple[tuple[Card, ...], ...], ...]:
    return tuple(_by_bits([(card,) if card else () for card in CARDS[piece]], ()) for piece in _PIECES)


@cache
def _card_bytes() -> tuple[tuple[bytes, ...], ...]:
    return tuple(tuple(map(bytes, lists)) for lists in _card_lists())


def cards_of(mask: int) -> tuple[Card, ...]:
    """The cards of a mask (bits 1-32), ascending by number."""
    low, middle, high, rest = _card_lists()
    small = mask & _SMALL
    return low[small & 1023] + middle[small >> 10 & 1023] + high[small >> 20] + rest[mask >> 30 & 7]


DISTINCT = (1 << 33) - 1
"""The part of a hand's mask that names cards."""
SECOND = 40
"""In a hand's mask the second of two identical cards (two packs) lies this many bits higher."""


def hand_mask(cards: Iterable[int]) -> int:
    """The mask of a hand: of two identical cards one in the lower part, one in the upper; a lone card in the lower."""
    mask = 0
    for card in cards:
        bit = 1 << card
        mask |= bit << SECOND if mask & bit else bit
    return mask


def hand_cards(mask: int) -> tuple[Card, ...]:
    """The inverse of `hand_mask`: the cards ascending by number, identical cards side by side."""
    cards = cards_of(mask)
    return tuple(sorted(cards + cards_of(mask >> SECOND))) if mask > DISTINCT else cards


def hand_bytes(mask: int) -> bytes:
    """The cards of a hand as `hand_cards` gives them, a byte each."""
    if mask > DISTINCT:
        return bytes(hand_cards(mask))
    low, middle, high, rest = _card_bytes()
    small = mask & _SMALL
    return low[small & 1023] + middle[small >> 10 & 1023] + high[small >> 20] + rest[mask >> 30]


def actions_of(mask: int) -> tuple[Action, ...]:
    """The actions of a mask of action numbers, ascending."""
    small = mask & _SMALL
    return _LOW[small & 1023] + _MIDDLE[small >> 10 & 1023] + _HIGH[small >> 20] + _REST[mask >> 30]


def parse_cards(text: str) -> tuple[Card, ...]:
    """`"TS KC"` -> the two cards in that order; raises `NotationError`."""
    return tuple(Card.parse(word) for word in text.split())


def format_cards(cards: Iterable[int]) -> str:
    """The inverse of `parse_cards`."""
    return " ".join(CARD_NAMES[card] for card in cards)


def iter_bits(mask: int) -> Iterator[int]:
    """The numbers of the set bits, ascending."""
    while mask:
        bit = mask & -mask
        yield bit.bit_length() - 1
        mask ^= bit
