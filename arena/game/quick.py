"""Quick play: a sensible action within microseconds, so that imagined deals can be played to their end.

It is the card counting of the sample bot `counter` in short, and looks at nothing but what the seat to act may know:
how much an imagined deal tells depends on how sensibly it is played on.
"""

from __future__ import annotations

from functools import cache

from arena.cards import (
    CARD_POINTS,
    CLAIM,
    CLOSE,
    DECLARE,
    DISTINCT,
    EXCHANGE,
    GO_ON,
    RANKS,
    SECOND,
    SUIT_MASKS,
    SUIT_OF,
    Suit,
    actions_of,
    cards_of,
    mask_of,
)
from arena.game.deal import MARRIAGE_BY_SUIT, Deal
from arena.game.rules import MarriageValues
from arena.game.scoring import Outcome
from arena.game.tricks import BEATS, HIGHER

# Found by trial, as the numbers of `counter` were.
LIVES = 0.7
"""How often a plain card that nobody beats in its suit takes its trick; else it is ruffed."""
TRUMP = 10
"""Card points that any trump stands for beside its own."""
PAIR, HALF = 0.5, 0.3
"""The part of a marriage that a king or queen stands for, with the other one in hand, or still hidden."""
LEAD = 10
"""Card points that the lead is worth with a pair to declare."""
DECIDES = 100
"""More than any trick: this one ends the deal."""
THROWN = 2
"""Card points that fall on a sure winner, on average."""
FOLLOWED = 3
"""With that many cards of a suit hidden, another hand should hold one, and so cannot ruff."""

_DECLARATIONS = mask_of(DECLARE[suit] for suit in Suit)
_KING = RANKS.index("K") + 1
_KINGS = sum(1 << 8 * suit + _KING for suit in range(4))
_PARTNER = {king: 1 << king - 1 for king in cards_of(_KINGS)} | {king - 1: 1 << king for king in cards_of(_KINGS)}
"""To each king and queen the other one (a mask)."""


def play_on(deal: Deal) -> Outcome:
    """Play the deal to its end; it is changed."""
    while deal.outcome is None:
        deal.apply(quick_action(deal))
    return deal.outcome


def quick_action(deal: Deal) -> int:
    """The number of a legal action that a sensible player takes; always the same in the same place."""
    legal = deal.legal_mask
    if legal > DISTINCT:
        action = _before_cards(deal, legal)
        if action:
            return action
        legal &= DISTINCT
    if not legal & (legal - 1):
        return legal.bit_length() - 1
    if deal.strict and not deal.table:
        return _strict_lead(deal, legal)
    return _best_card(deal, legal)


def _before_cards(deal: Deal, legal: int) -> int:
    """The action to take rather than play a card, 0 for none."""
    assert deal.to_act is not None
    game = deal.game
    if legal >> CLAIM & 1 and deal.points[game.side_of[deal.to_act]] >= game.rules.target:
        return CLAIM
    if legal >> EXCHANGE & 1:
        return EXCHANGE
    if legal & _DECLARATIONS:
        return max(actions_of(legal & _DECLARATIONS), key=lambda action: _marriage(deal, action.marriage or 0))
    if legal >> CLOSE & 1 and _can_close(deal):
        return CLOSE
    return GO_ON if legal >> GO_ON & 1 else 0


def _marriage(deal: Deal, suit: int) -> int:
    """What the marriage of that suit counts."""
    if deal.game.rules.marriage_values is MarriageValues.BY_SUIT:
        return MARRIAGE_BY_SUIT[suit]
    return 40 if suit == deal.trump else 20


# -- what is hidden --------------------------------------------------------------------------------------------------


def _face_down(deal: Deal) -> list[int]:
    """The talon without the turn-up, which lies last in it."""
    return deal.talon[:-1] if deal.turn_up else deal.talon


def _hidden(deal: Deal) -> int:
    """The cards (a mask, identical ones once) that lie in other hands or face down."""
    hidden = 0
    for card in _face_down(deal):
        hidden |= 1 << card
    for seat in deal.order:
        if seat != deal.to_act:
            hand = deal.hands[seat]
            hidden |= hand if hand <= DISTINCT else hand & DISTINCT | hand >> SECOND
    return hidden


@cache
def _chances(hidden: int, held: int) -> tuple[float, ...]:
    """By number of cards: how likely no other hand has one of them, if it is `held` of so many `hidden` cards."""
    return tuple([(1 - held / hidden) ** cards for cards in range(9)])


# -- what a card is worth ----------------------------------------------------------------------------------------------


def _best_card(deal: Deal, legal: int) -> int:
    """The card that brings most now, less what it would bring later."""
    seat, trump, table = deal.to_act, deal.trump, deal.table
    assert seat is not None
    game = deal.game
    side = game.side_of[seat]
    hand = deal.hands[seat]
    hidden = _hidden(deal)
    held = known = 0
    for other in deal.order:
        if other != seat:
            held += deal.hand_sizes[other]
            known |= deal.known[other]
    chances = _chances(held + len(_face_down(deal)), held)
    trumps = hidden & SUIT_MASKS[trump]
    no_trumps = 0 if trumps & known else chances[trumps.bit_count()]
    marriages = game.marriage and (
        game.marriage_any_phase or (not deal.strict and len(deal.talon) >= 2 * game.active_seats)
    )
    pairs = hand & hand << 1 & _KINGS if marriages else 0
    on_table = sum([CARD_POINTS[card] for card in table])
    missing = game.rules.target - deal.points[side] - deal.pending[side]
    beats = BEATS[trump][deal.best]
    ours = game.side_of[deal.best_seat] == side
    best, most = 0, float("-inf")
    for card in cards_of(legal):
        points = CARD_POINTS[card]
        above = hidden & HIGHER[card]
        takes = 0 if above & known else chances[above.bit_count()]
        is_trump = SUIT_OF[card] == trump
        later = (2 * takes - 1) * points + TRUMP if is_trump else (2 * LIVES * takes - 1) * points
        if marriages and card in _PARTNER:
            if hand & _PARTNER[card]:
                later += PAIR * _marriage(deal, SUIT_OF[card])
            elif hidden & _PARTNER[card]:
                later += HALF * _marriage(deal, SUIT_OF[card])
        if not table:
            # In open play nobody need follow suit, and an ace or a ten is worth a trump to anyone who has one.
            now = (2 * takes * (no_trumps if points >= 10 and not is_trump else 1) - 1) * points
        elif ours or beats >> card & 1:
            now = on_table + points
            if now >= missing:
                now += DECIDES
            if pairs & ~(1 << card | 1 << card + 1):
                now += LEAD
        else:
            now = -on_table - points
        if now - later > most:
            best, most = card, now - later
    return best


def _strict_lead(deal: Deal, legal: int) -> int:
    """The dearest winner, trumps first; where there is none, the cheapest card, trumps last."""
    trump = deal.trump
    hidden = _hidden(deal)
    trumps = hidden & SUIT_MASKS[trump]

    def value(card: int) -> int:
        suit = hidden & SUIT_MASKS[SUIT_OF[card]]
        wins = not suit & HIGHER[card] if suit else not trumps
        worth = CARD_POINTS[card] + 2 * TRUMP * (SUIT_OF[card] == trump)
        return worth + 1 if wins else -worth

    return max(cards_of(legal), key=value)


# -- when to close -----------------------------------------------------------------------------------------------------


def _can_close(deal: Deal) -> bool:
    """Whether tricks that are sure, or nearly, reach the target."""
    seat, trump = deal.to_act, deal.trump
    assert seat is not None
    side = deal.game.side_of[seat]
    hand = deal.hands[seat]
    missing = deal.game.rules.target - deal.points[side] - deal.pending[side]
    if sum([CARD_POINTS[card] + THROWN for card in cards_of(hand)]) < missing:
        return False
    hidden = _hidden(deal)
    gained, unbeaten = _winners(hand & SUIT_MASKS[trump], hidden & SUIT_MASKS[trump], 0)
    # Plain winners are ruffed while trumps are out, unless the other hands still hold their suit.
    needed = FOLLOWED if unbeaten else 0
    for suit in Suit:
        if suit != trump:
            gained += _winners(hand & SUIT_MASKS[suit], hidden & SUIT_MASKS[suit], needed)[0]
    return gained >= missing


def _winners(mine: int, theirs: int, needed: int) -> tuple[int, int]:
    """What my cards of a suit gain from the top, each drawing the lowest of `theirs`, and what is left of those.

    It ends where `theirs` beat the next card, or are fewer than `needed`.
    """
    gained = 0
    for card in reversed(cards_of(mine)):
        if theirs >> card or theirs.bit_count() < needed:
            break
        gained += CARD_POINTS[card] + THROWN
        theirs &= theirs - 1
    return gained, theirs
