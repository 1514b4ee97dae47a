"""What may be played to a trick and who takes it: pure functions over masks.

Beating is strict: an identical card (two packs) never beats, so it neither satisfies the duty nor takes the trick.
"""

from __future__ import annotations

from arena.cards import SUIT_MASKS, SUIT_OF

HIGHER: tuple[int, ...] = (
    0,
    *(SUIT_MASKS[SUIT_OF[card]] & ~((1 << card + 1) - 1) for card in range(1, 33)),
)
"""`HIGHER[card]`: the cards of the same suit that are strictly higher in rank."""

BEATS: tuple[tuple[int, ...], ...] = tuple(
    (0, *(HIGHER[card] | (SUIT_MASKS[trump] if SUIT_OF[card] != trump else 0) for card in range(1, 33)))
    for trump in range(5)
)
"""`BEATS[trump][card]`: the cards that beat `card` once it is the best of the trick (trump 0: there is none).

A card of a third suit never comes into question: the best card of a trick is of the suit led or a trump.
"""


def strict_follow(hand: int, led: int, best: int, trump: int) -> int:
    """The cards of `hand` (a mask) that strict play allows on a trick led with `led`, now held by `best`.

    Holding the suit led: a higher card than any of that suit so far if able (no such duty once a plain suit has been
    trumped), else any card of the suit.  Void: a trump that beats the best trump if able, else any trump, else
    anything.  [000 "Svolgimento" 7 and 8, 002 "Talon esaurito o bloccato"; three and four seats: docs/rules]
    """
    suit = SUIT_OF[led]
    own = hand & SUIT_MASKS[suit]
    if own:
        if SUIT_OF[best] is suit:
            return own & HIGHER[best] or own
        return own
    trumps = hand & SUIT_MASKS[trump]
    if trumps:
        if SUIT_OF[best] == trump:
            return trumps & HIGHER[best] or trumps
        return trumps
    return hand
