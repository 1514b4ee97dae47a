"""What a bot sees when it is asked: the game's own view in the words of people, each thing computed when looked at.

It holds nothing that the game's view does not: a bot can be a plain function of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from arena.bot.helpers import trick_winner
from arena.bot.match import Match, Turn
from arena.cards import ACTIONS, CARDS, Action, Card, Suit, cards_of, hand_cards, hand_mask
from arena.errors import UsageError
from arena.game import views
from arena.game.rules import Rules
from arena.game.tricks import BEATS
from arena.game.views import DecisionPoint
from arena.wire import codec

if TYPE_CHECKING:
    from random import Random

    from arena.game.sample import World
    from arena.game.solve import Solution

_SUITS: tuple[Suit | None, ...] = (None, *Suit)


class Trick(NamedTuple):
    """A finished trick."""

    leader: int
    """The seat that led it."""
    cards: tuple[Card, ...]
    """Its cards in the order played, the first by `leader`."""
    winner: int
    """The seat that took it."""

    @property
    def points(self) -> int:
        """The card points in it."""
        return sum(card.points for card in self.cards)


class Cards(NamedTuple):
    """Where all cards could lie."""

    hands: tuple[tuple[Card, ...], ...]
    """By seat, your own included, ascending."""
    talon: tuple[Card, ...]
    """The undrawn cards, the next one first, the turn-up last."""


class View:
    """A question with everything that your seat may know.  Answer with one of `legal`."""

    def __init__(self, match: Match, decision: codec.Decision) -> None:
        self.match = match
        self._decision = decision

    @classmethod
    def of(
        cls,
        match: Match,
        facts: views.View,
        *,
        deal: int = 1,
        time_left_ms: int = 0,
        last_took_ms: int = 0,
        resumed: bool = False,
    ) -> View:
        """The view as it would come over the wire: for trying a bot without an arena."""
        item = codec.decision(
            facts,
            match_id=match.id,
            id=1,
            deal=deal,
            time_left_ms=time_left_ms,
            last_took_ms=last_took_ms,
            resumed=resumed,
        )
        (decision,) = codec.events(item)
        assert isinstance(decision, codec.Decision)
        return cls(match, decision)

    @classmethod
    def at(cls, position: str, rules: str = "sixty-six") -> View:
        """What the seat that is asked sees in a position written as text, under the preset of that name.

        For trying a bot without an arena.  Raises `UsageError`: it is no position, or one that the rules never reach.
        """
        from arena.game.game import Game
        from arena.game.position import parse_position, resume
        from arena.game.presets import preset

        game = Game(preset(rules))
        resumed = resume(game, parse_position(game, position))
        if resumed.to_act is None:
            raise UsageError("nobody is asked anything in this position; expected one in which a deal goes on")
        return cls.of(
            Match(id="try", rules=game.rules, rules_name=rules, seat=resumed.to_act), resumed.view(resumed.to_act)
        )

    def __repr__(self) -> str:
        point = self.point.name if isinstance(self.point, DecisionPoint) else self.point
        return (
            f"<View deal {self.deal} seat {self.seat} {point}: hand {_words(self.hand)}, "
            f"table {_words(self.table)}, trump {self.trump or '-'}, points {self.points}, legal {_words(self.legal)}>"
        )

    # -- the question ------------------------------------------------------------------------------------------

    @cached_property
    def facts(self) -> views.View:
        """The game's own view: everything as numbers and masks, for search."""
        return self._decision.view

    @property
    def point(self) -> DecisionPoint | None:
        """What you are asked: ON_LEAD, FOLLOW, BEFORE_DRAW, ON_CLOSE or AFTER_LAST_TRICK."""
        return self.facts.point

    @cached_property
    def legal(self) -> tuple[Action, ...]:
        """The legal actions, ascending: cards, then marriages, exchange, close, claim, go on.  Never empty."""
        # A number beyond the known actions is of a newer protocol: not for a bot that cannot know what it does.
        return tuple([ACTIONS[number] for number in self._decision.legal if number < len(ACTIONS)])

    @property
    def plays(self) -> tuple[Card, ...]:
        """The cards that you may play now."""
        return cards_of(self.facts.legal)

    @property
    def marriages(self) -> tuple[Suit, ...]:
        """The suits of the marriages that you may declare now."""
        return tuple([suit for action in self.legal if (suit := action.marriage) is not None])

    def can(self, action: Action | Card) -> bool:
        """Whether that is legal now: `view.can(CLOSE)`, `view.can(card)`."""
        return bool(self.facts.legal >> action & 1)

    # -- your cards and the table -------------------------------------------------------------------------------

    @cached_property
    def hand(self) -> tuple[Card, ...]:
        """Your cards, ascending by suit and rank."""
        return hand_cards(self.facts.hand)

    @property
    def table(self) -> tuple[Card, ...]:
        """The cards of the current trick in the order played, the first by `leader`; empty if you lead."""
        return tuple([CARDS[card] for card in self.facts.table])

    @property
    def best(self) -> Card | None:
        """The card on the table that would take the trick now; None if there is none."""
        table = self.table
        return table[trick_winner(table, self.trump)] if table else None

    def takes(self, card: Card) -> bool:
        """Whether that card would be the best of the trick if you played it now; any card is on an empty table."""
        best = self.best
        return best is None or bool(BEATS[self.facts.trump][best] >> card & 1)

    @property
    def table_by_seat(self) -> dict[int, Card]:
        """Who played which card to the current trick, in the order played; seats that have yet to play are missing."""
        return dict(zip(self.seats, self.table, strict=False))

    @property
    def winning_seat(self) -> int | None:
        """The seat that holds the trick now; None on an empty table."""
        table = self.table
        return self.seats[trick_winner(table, self.trump)] if table else None

    @property
    def partner_wins(self) -> bool:
        """Whether a partner holds the trick now; seats that have yet to play may still take it."""
        return self.winning_seat in self.partners

    @property
    def trump(self) -> Suit | None:
        """The trump suit; None while there is none (1001 before the first marriage)."""
        return _SUITS[self.facts.trump]

    @property
    def turn_up(self) -> Card | None:
        """The card face up under the talon (or that the dealer showed); None once it has been drawn."""
        return CARDS[self.facts.turn_up] if self.facts.turn_up else None

    @property
    def talon(self) -> int:
        """How many cards are undrawn, the turn-up included."""
        return self.facts.talon

    @property
    def closer(self) -> int | None:
        """The seat that closed the talon; None while nobody has."""
        return self.facts.closer

    @property
    def must_follow_strictly(self) -> bool:
        """Strict play: the talon is closed or does not go round any more, so followers must follow, beat and trump."""
        return self.facts.closer is not None or self.facts.talon < self.rules.active_seats

    # -- seats and sides ------------------------------------------------------------------------------------------

    @property
    def seat(self) -> int:
        """Your seat.  Seats are numbered clockwise from 0."""
        return self.facts.seat

    @property
    def my_side(self) -> int:
        """Your side: what scores.  Partners share one; otherwise every seat is a side of its own."""
        return self.match.table.side_of[self.facts.seat]

    @property
    def leader(self) -> int:
        """The seat that leads the current trick."""
        return self.facts.leader

    @property
    def dealer(self) -> int:
        """The seat that dealt."""
        return self.facts.dealer

    def side_of(self, seat: int) -> int:
        """The side of any seat: `points[view.side_of(seat)]` are the card points of its side."""
        return self.match.table.side_of[seat]

    @property
    def seats(self) -> tuple[int, ...]:
        """The seats that play this deal, yours included, in the order of the current trick: clockwise from `leader`."""
        return self.match.table.orders[self.facts.dealer][self.facts.leader]

    @property
    def others(self) -> tuple[int, ...]:
        """The other seats that play this deal, clockwise from yours: partners and opponents."""
        return self.match.table.orders[self.facts.dealer][self.facts.seat][1:]

    @property
    def partners(self) -> tuple[int, ...]:
        """The other seats of your side, clockwise from yours; empty where every seat plays for itself."""
        return tuple([seat for seat in self.others if self.side_of(seat) == self.my_side])

    @property
    def opponents(self) -> tuple[int, ...]:
        """The seats of other sides that play this deal, clockwise from yours."""
        return tuple([seat for seat in self.others if self.side_of(seat) != self.my_side])

    @property
    def sits_out(self) -> int | None:
        """The seat that does not play this deal (the dealer's, where the dealer sits out); None if all play."""
        return next((seat for seat in range(self.rules.seats) if seat not in self.seats), None)

    # -- points -----------------------------------------------------------------------------------------------------

    @property
    def points(self) -> tuple[int, ...]:
        """Card points by side that count already, marriages included."""
        return self.facts.points

    @property
    def my_points(self) -> int:
        """Your side's card points that count already."""
        return self.facts.points[self.my_side]

    @property
    def their_points(self) -> int:
        """The card points of the other side, of the best one if there are several."""
        return max(self.facts.points[self.side_of(seat)] for seat in self.opponents)

    @property
    def pending(self) -> tuple[int, ...]:
        """Marriage points by side that are declared but do not count yet."""
        return self.facts.pending

    @property
    def tricks_won(self) -> tuple[int, ...]:
        """Tricks won by side."""
        return self.facts.tricks

    @property
    def my_tricks(self) -> int:
        """Tricks won by your side."""
        return self.facts.tricks[self.my_side]

    @property
    def sure_of_claim(self) -> bool:
        """Your side has the target: a claim is right, if `can(CLAIM)`."""
        return self.my_points >= self.rules.target

    # -- what has happened --------------------------------------------------------------------------------------------

    @property
    def history(self) -> tuple[Turn, ...]:
        """Every action of the deal so far with its seat."""
        facts = self.facts
        return tuple(
            [Turn(seat, ACTIONS[action]) for seat, action in zip(facts.past_seats, facts.past_actions, strict=True)]
        )

    @cached_property
    def tricks(self) -> tuple[Trick, ...]:
        """The finished tricks of the deal."""
        plays = [turn for turn in self.history if turn.action.card is not None]
        size = self.rules.active_seats
        return tuple(
            [
                Trick(
                    plays[number * size].seat,
                    tuple([CARDS[turn.action] for turn in plays[number * size : number * size + size]]),
                    winner,
                )
                for number, winner in enumerate(self.facts.winners)
            ]
        )

    # -- what follows from it -----------------------------------------------------------------------------------------

    @property
    def known(self) -> tuple[tuple[Card, ...], ...]:
        """By seat, the cards that everybody knows to be in that hand (shown in a marriage, taken by an exchange or
        drawn face up); yours are those that the others know of."""
        return tuple([cards_of(mask) for mask in self.facts.known])

    @cached_property
    def unseen(self) -> tuple[Card, ...]:
        """The cards that you cannot place, ascending: in another hand or face down in the talon."""
        # Imported here, as elsewhere in this package: a bot that does without starts sooner.
        from arena.game.sample import unseen

        return hand_cards(unseen(self.rules, self.facts))

    @property
    def other_hand(self) -> tuple[Card, ...] | None:
        """Where two play: the whole other hand as soon as it follows from what you have seen, until then None."""
        if len(self.others) != 1:
            return None
        (other,) = self.others
        known = cards_of(self.facts.known[other])
        size = self.facts.hand_sizes[other]
        if len(known) == size:
            return known
        cards = (*known, *self.unseen)
        return tuple(sorted(cards)) if len(cards) == size else None

    def worlds(self) -> Iterator[World]:
        """Where the unseen cards could lie: worlds without end, drawn evenly from all that fit the view by `rng`.

        The hands of a world are masks: `hand_cards(world.hands[seat])` are the cards.
        """
        from arena.game.sample import worlds

        return worlds(self.rules, self.facts, self.rng)

    def sample_world(self) -> Cards:
        """One way in which the unseen cards could lie, drawn evenly from all that fit the view by `rng`; for many of
        them `worlds` is quicker."""
        world = next(self.worlds())
        return Cards(tuple([hand_cards(hand) for hand in world.hands]), world.talon)

    def solve(self, other_hand: Iterable[Card] | None = None, *, all_actions: bool = False) -> Solution:
        """The exact value of a deal of two seats in strict play and a best action, against the other seat's best.

        `other_hand` is the hand to assume; without it the hand must follow from what you have seen (`other_hand`).
        With `all_actions` every legal action gets its value (slower).  Raises `UsageError` for any other deal.
        """
        from arena.game.solve import solve_view

        cards = self.other_hand if other_hand is None else other_hand
        return solve_view(self.rules, self.facts, None if cards is None else hand_mask(cards), all_actions=all_actions)

    # -- the match ----------------------------------------------------------------------------------------------------

    @property
    def match_id(self) -> str:
        """Opaque name of the match."""
        return self.match.id

    @property
    def rules(self) -> Rules:
        return self.match.rules

    @property
    def score(self) -> tuple[int, ...]:
        """The match score by side before this deal."""
        return self.facts.score

    @property
    def carry(self) -> int:
        """What earlier drawn deals add to the points of this deal's winner."""
        return self.facts.carry

    @property
    def deal(self) -> int:
        """The deal's number in the match, from 1."""
        return self._decision.deal

    @property
    def time_left_ms(self) -> int:
        """Time for this decision: the limit and what is left of the bank; 0 where no clock runs."""
        return self._decision.time_left_ms

    @property
    def last_took_ms(self) -> int:
        """What your previous decision in this match was charged."""
        return self._decision.last_took_ms

    @property
    def resumed(self) -> bool:
        """You were asked this before and are asked again with what is left of the time."""
        return self._decision.resumed

    @cached_property
    def rng(self) -> Random:
        """Randomness for this decision, the same whenever it is asked: draw all yours from it.

        It depends on the match's `bot_seed` and the position of the decision only, so that a match can be repeated.
        """
        import hmac
        from random import Random

        position = f"deal {self.deal} action {len(self.facts.past_actions)}"
        return Random(hmac.digest(self.match.bot_seed, position.encode(), "sha256"))


def _words(things: tuple[Action, ...] | tuple[Card, ...]) -> str:
    return " ".join(map(str, things)) or "-"
