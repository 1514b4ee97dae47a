"""The kinds of question that a deal can ask: every view of a seat to act is of exactly one, whatever the rules.

They come from deals played at random; the randomness is handed in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from arena.cards import (
    CLAIM,
    CLOSE,
    DECLARE,
    DISTINCT,
    EXCHANGE,
    SECOND,
    SUIT_MASKS,
    SUIT_OF,
    mask_of,
)
from arena.game.game import Game
from arena.game.position import format_position, position_of
from arena.game.sample import Randomness, resume_world, sample_world
from arena.game.scoring import Outcome
from arena.game.views import DecisionPoint, View

CLAIM_ONE_IN = 50
"""In random deals a claim, which ends the deal, is made this seldom: so most deals reach their end."""
_DECLARATIONS = mask_of(DECLARE[1:])


class Kind(StrEnum):
    """What a question is about."""

    LEAD = "lead"
    """Lead any card, and nothing else can be done."""
    MARRIAGE = "marriage"
    """On lead, and a marriage may be declared."""
    DECLARED_PAIR = "declared-pair"
    """Lead a card of the pair that was declared."""
    EXCHANGE = "exchange"
    """On lead, and the turn-up may be exchanged."""
    CLOSE = "close"
    """On lead, and the talon may be closed."""
    CLAIM = "claim"
    """On lead, and the only thing to do besides leading is to claim."""
    FREE_FOLLOW = "free-follow"
    """Follow with any card."""
    LAST_CARD = "last-card"
    """Follow with the only card in hand."""
    FOLLOW_SUIT = "follow-suit"
    """Follow with any card of the suit led, and with no other."""
    MUST_BEAT = "must-beat"
    """Follow with a card of the suit led that takes the trick, and with no other of that suit."""
    TRUMP_DUTY = "trump-duty"
    """Void of the suit led: follow with a trump, and with no other card."""
    BEFORE_DRAW = "before-draw"
    """Close before the draw, or go on."""
    ON_CLOSE = "on-close"
    """Another seat has closed: take the turn-up, or go on."""
    AFTER_LAST_TRICK = "after-last-trick"
    """The last trick is taken: claim, or go on."""


_STOPS = {
    DecisionPoint.BEFORE_DRAW: Kind.BEFORE_DRAW,
    DecisionPoint.ON_CLOSE: Kind.ON_CLOSE,
    DecisionPoint.AFTER_LAST_TRICK: Kind.AFTER_LAST_TRICK,
}
_BESIDES_LEADING = (
    (_DECLARATIONS, Kind.MARRIAGE),
    (1 << EXCHANGE, Kind.EXCHANGE),
    (1 << CLOSE, Kind.CLOSE),
    (1 << CLAIM, Kind.CLAIM),
)


def kind_of(view: View) -> Kind:
    """The kind of question that the seat is asked."""
    if view.point in _STOPS:
        return _STOPS[view.point]
    if view.point is DecisionPoint.ON_LEAD:
        if view.bound:
            return Kind.DECLARED_PAIR
        return next((kind for actions, kind in _BESIDES_LEADING if view.legal & actions), Kind.LEAD)
    hand = (view.hand | view.hand >> SECOND) & DISTINCT
    playable = view.legal & hand
    if playable == hand:
        return Kind.LAST_CARD if view.hand_sizes[view.seat] == 1 else Kind.FREE_FOLLOW
    of_suit = hand & SUIT_MASKS[SUIT_OF[view.table[0]]]
    if not of_suit:
        return Kind.TRUMP_DUTY
    return Kind.FOLLOW_SUIT if playable == of_suit else Kind.MUST_BEAT


@dataclass(frozen=True, slots=True)
class RandomDeal:
    """A deal that was played at random to its end."""

    views: tuple[View, ...]
    """Each question that was asked, as its seat saw it."""
    outcome: Outcome
    past_seats: bytes
    past_actions: bytes


def random_deals(game: Game, rng: Randomness) -> Iterator[RandomDeal]:
    """Deals without end: any dealer, any score, any legal actions."""
    rules = game.rules
    while True:
        deck = list(game.cards)
        rng.shuffle(deck)
        score = tuple(rng.randrange(rules.match_target) for _ in range(game.table.sides))
        deal = game.deal(deck, rng.randrange(rules.seats), score)
        views: list[View] = []
        while deal.to_act is not None:
            views.append(deal.view(deal.to_act))
            actions = deal.legal_actions
            if len(actions) > 1 and CLAIM in actions and rng.randrange(CLAIM_ONE_IN):
                actions = tuple(action for action in actions if action != CLAIM)
            deal.apply(actions[rng.randrange(len(actions))])
        assert deal.outcome is not None
        yield RandomDeal(tuple(views), deal.outcome, deal.past_seats, deal.past_actions)


def questions(game: Game, rng: Randomness, *, each: int, deals: int) -> dict[Kind, list[View]]:
    """Up to `each` questions of every kind that so many random deals ask."""
    found: dict[Kind, list[View]] = {kind: [] for kind in Kind}
    for _, deal in zip(range(deals), random_deals(game, rng), strict=False):
        for view in deal.views:
            of_kind = found[kind_of(view)]
            if len(of_kind) < each:
                of_kind.append(view)
    return found


def position_text(game: Game, view: View, rng: Randomness) -> str:
    """A position in which the seat is asked just this, as text; the cards that it cannot see lie as they could."""
    return format_position(game, position_of(resume_world(game, view, sample_world(game, view, rng))))
