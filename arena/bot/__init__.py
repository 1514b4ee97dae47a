"""What a bot's author imports: `serve(choose)`, and the values that `choose(view)` is given.

from arena.bot import serve

def choose(view):
    return view.legal[0]

serve(choose)
"""

from arena.bot.helpers import legal_replies, trick_winner
from arena.bot.match import DealResult, Match, MatchResult, Turn
from arena.bot.process import serve
from arena.bot.view import Cards, Trick, View
from arena.cards import CLAIM, CLOSE, DECLARE, EXCHANGE, GO_ON, Action, Card, Suit, hand_cards
from arena.game.rules import Rules
from arena.game.scoring import Termination
from arena.game.views import DecisionPoint

__all__ = [
    "serve",
    "View",
    "Match",
    "DealResult",
    "MatchResult",
    "Turn",
    "Trick",
    "Cards",
    "legal_replies",
    "trick_winner",
    "Action",
    "Card",
    "Suit",
    "hand_cards",
    "CLAIM",
    "CLOSE",
    "DECLARE",
    "EXCHANGE",
    "GO_ON",
    "DecisionPoint",
    "Rules",
    "Termination",
]
