"""Rules, shuffles and players for the tests of the game."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from arena.cards import CLAIM, CLOSE, DECLARE, EXCHANGE, Action
from arena.errors import RulesError
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.position import parse_position, resume
from arena.game.presets import PRESETS
from arena.game.rules import OPTION_TYPES, MarriageLead, Rules
from arena.game.views import DecisionPoint

GAMES: Mapping[str, Game] = {name: Game(rules) for name, rules in PRESETS.items()}
"""Every preset made ready to play."""

POLICIES: Mapping[str, Mapping[str, float]] = {
    "uniform": {},
    "patient": {"claim": 0.0, "close": 0.02},
    "sharp": {"claim": 0.0, "close": 0.2, "exchange": 5.0, "marriage": 5.0},
    "busy": {"claim": 0.05, "close": 1.5, "exchange": 9.0, "marriage": 9.0},
}
"""How much likelier than a card each kind of action is; `sharp` also claims whenever that is right."""


def game(preset: str, **options: object) -> Game:
    """The preset with options replaced, ready to play."""
    return Game(GAMES[preset].rules.with_options(options))


def mixed_rules(rng: random.Random) -> Rules:
    """Rules with every option drawn at random, such as they may stand together."""
    values = {
        name: [False, True] if kind is bool else list(kind)  # type: ignore[call-overload]
        for name, kind in OPTION_TYPES.items()
        if kind is not int
    }
    values |= {"exchange_min_talon": [2, 4], "close_min_talon": [2, 4, 5]}
    base = rng.choice(list(GAMES.values())).rules
    shape = {"deck", "hand", "seating", "seats", "trump_source", "marriage_values", "score", "deal_rotation"}
    options = {name: rng.choice(choice) for name, choice in values.items() if name not in shape}
    while True:
        try:
            return base.with_options(options)
        except RulesError as error:
            options[error.field] = base.options()[error.field]
            if error.field == "close_needs_claim":
                options[error.field] = False
            if error.field == "tie":
                options[error.field] = "last_trick"


def shuffled(game: Game, rng: random.Random) -> Deal:
    """A fresh deal of a random deck by a random dealer."""
    deck = list(game.cards)
    rng.shuffle(deck)
    return game.deal(deck, rng.randrange(game.rules.seats))


def choose(deal: Deal, policy: str, rng: random.Random) -> Action:
    """One of the legal actions as the policy likes."""
    actions = deal.legal_actions
    if policy == "sharp" and CLAIM in actions and has_reached(deal, deal.to_act):
        return CLAIM
    likes = POLICIES[policy]
    weights = [likes.get(_kind(action), 1.0) for action in actions]
    return rng.choices(actions, weights if any(weights) else None)[0]


def has_reached(deal: Deal, seat: int | None) -> bool:
    """The side of the seat has as many card points as a claim needs."""
    return seat is not None and deal.points[deal.game.table.side_of[seat]] >= deal.game.rules.target


def declares_by_itself(deal: Deal, action: Action) -> bool:
    """The lead of this card declares its marriage without a word (`marriage_lead = auto`)."""
    by_itself = deal.game.rules.marriage_lead is MarriageLead.AUTO and deal.point is DecisionPoint.ON_LEAD
    card = action.card
    return by_itself and card is not None and card.rank in "KQ" and DECLARE[card.suit] in deal.legal_actions


def _kind(action: Action) -> str:
    return "marriage" if action in DECLARE else str(action) if action in (CLAIM, CLOSE, EXCHANGE) else "other"


def moments(deal: Deal, policy: str, rng: random.Random) -> Iterator[Action]:
    """Play the deal out; yields each action before it is applied."""
    while deal.outcome is None:
        action = choose(deal, policy, rng)
        yield action
        deal.apply(action)


def any_policy(rng: random.Random) -> str:
    return rng.choice(list(POLICIES))


def at_random(game: Game, rng: random.Random) -> Deal:
    """A deal somewhere on its way, still in play."""
    deal = shuffled(game, rng)
    stop = rng.randrange(30)
    last = deal
    for number, _ in enumerate(moments(deal, any_policy(rng), rng)):
        last = deal.copy()
        if number == stop:
            break
    return last


def state(game: Game, text: str) -> Deal:
    """The deal that goes on from a position given as text."""
    return resume(game, parse_position(game, text))


def do(deal: Deal, words: str) -> Deal:
    """Apply the named actions, as in `MC KC 9D`, and return the same deal."""
    for word in words.split():
        deal.apply(Action.parse(word))
    return deal
