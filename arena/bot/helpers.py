"""The rules of a single trick, for authors who look ahead: pure functions of cards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from arena.cards import Card, Suit, cards_of, mask_of
from arena.game.tricks import BEATS, strict_follow


def trick_winner(cards: Sequence[Card], trump: Suit | None) -> int:
    """Which of the cards of a trick takes it, by its place in the order played, from 0.

    Of two identical cards the first does.  Raises `ValueError` of no cards.
    """
    if not cards:
        raise ValueError("a trick without cards has no winner")
    beats = BEATS[trump or 0]
    best = 0
    for place, card in enumerate(cards):
        if beats[cards[best]] >> card & 1:
            best = place
    return best


def legal_replies(
    hand: Iterable[Card], table: Sequence[Card], trump: Suit | None, *, strictly: bool
) -> tuple[Card, ...]:
    """The cards of a hand that may be played to the cards on the table, ascending, each once.

    `strictly` is `View.must_follow_strictly`: in open play, and on an empty table, any card may be played.
    """
    mask = mask_of(hand)
    if strictly and table:
        mask = strict_follow(mask, table[0], table[trick_winner(table, trump)], trump or 0)
    return cards_of(mask)
