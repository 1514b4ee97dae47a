"""The rules made ready to play: what follows from them once, and fresh deals of a deck."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import NamedTuple

from arena.cards import BITS, CLAIM, CLOSE, EXCHANGE, GO_ON, RANKS, SUIT_OF, Card, hand_mask
from arena.errors import UsageError
from arena.game.deal import Deal
from arena.game.rules import (
    Claim,
    Close,
    Exchange,
    Marriage,
    MarriageCredit,
    MarriageLead,
    MarriagePhase,
    Rules,
    TrumpSource,
)
from arena.game.table import Table

_PACKETS = {5: (3, 2), 6: (3, 3), 7: (3, 4), 8: (3, 3, 2)}
_bit = BITS.__getitem__
_LOWEST_RANK = {20: "J", 24: "9", 32: "7", 48: "9"}


LeadOptions = tuple[int, int, bool]
"""On lead: what is legal in any case (a mask), the exchange for who can (a mask), whether a pair may be declared."""


class _Dealing(NamedTuple):
    """Where the cards of a deck go when one dealer deals."""

    forehand: int
    lots: tuple[tuple[int, Callable[[Sequence[int]], tuple[int, ...]]], ...]
    """The seats that play, each with what picks its cards out of a deck."""
    dealt: int
    """How many cards are dealt."""

    @classmethod
    def by(cls, dealer: int, table: Table, packets: Sequence[int]) -> _Dealing:
        """Packets go round the table, starting with the forehand."""
        seats = table.orders[dealer][table.forehand(dealer)]
        places: dict[int, list[int]] = {seat: [] for seat in seats}
        dealt = 0
        for packet in packets:
            for lot in places.values():
                lot.extend(range(dealt, dealt + packet))
                dealt += packet
        return cls(seats[0], tuple((seat, itemgetter(*lot)) for seat, lot in places.items()), dealt)


class Game:
    """The rules made ready to play: the table, the deck, and the options that a deal asks for at every step."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.table = Table.of(rules)
        self.side_of = self.table.side_of
        self.orders = self.table.orders
        self.active_seats = rules.active_seats
        lowest = RANKS.index(_LOWEST_RANK[rules.deck])
        pack = tuple(Card(8 * suit + rank + 1) for suit in range(4) for rank in range(lowest, 8))
        self.cards = pack * (rules.deck // len(pack))
        self.two_packs = len(self.cards) > len(pack)
        self._sorted_cards = sorted(self.cards)
        self._distinct = frozenset(self.cards)
        self.turns_up = rules.trump_source is TrumpSource.TURN_UP
        self.dealer_card = rules.trump_source is TrumpSource.DEALER_CARD
        self.lowest_trump = (0, *(8 * suit + lowest + 1 for suit in range(4)))
        self.packets = _PACKETS[rules.hand]
        self._dealings = tuple(_Dealing.by(dealer, self.table, self.packets) for dealer in range(self.table.seats))
        self.auto_claim = rules.claim is Claim.AUTO
        self.claim_own_turn = rules.claim is Claim.OWN_TURN
        self.claim_after_trick = rules.claim is Claim.AFTER_TRICK
        self.follow_bits = 1 << CLAIM if self.claim_own_turn else 0
        claims_on_lead = self.claim_own_turn or self.claim_after_trick
        self.before_draw_bits = 1 << GO_ON | 1 << CLOSE | claims_on_lead << CLAIM
        self.closes_before_draw = rules.close in (Close.BEFORE_DRAW, Close.EITHER)
        self.close_later = rules.close in (Close.AFTER_DRAW, Close.EITHER)
        self.close_first_lead = rules.close is not Close.OFF and rules.close_first_lead
        self.close_min = max(rules.close_min_talon, rules.active_seats)
        self.exchange = rules.exchange is not Exchange.OFF
        self.marriage = rules.marriage is not Marriage.OFF
        self.marriage_any_phase = rules.marriage_phase is MarriagePhase.ANY
        self.lead_king = rules.marriage_lead is MarriageLead.KING
        self.lead_auto = rules.marriage_lead is MarriageLead.AUTO
        self.credit_declared = rules.marriage_credit is MarriageCredit.DECLARED
        self.credit_led = rules.marriage_credit is MarriageCredit.LED
        self.first_leads = self._lead_options(begun=False, has_trick=False)
        self.leads_without_trick = self._lead_options(begun=True, has_trick=False)
        self.leads_with_trick = self._lead_options(begun=True, has_trick=True)

    def _lead_options(self, *, begun: bool, has_trick: bool) -> tuple[LeadOptions, ...]:
        """What a side may do on lead, with a trick and without, by the undrawn cards of an open talon (else 0)."""
        rules = self.rules
        closes = self.close_later if begun else self.close_first_lead
        claims = self.claim_own_turn or (self.claim_after_trick and begun)
        exchanges = self.exchange and (has_trick or rules.exchange is not Exchange.WITH_TRICK)
        declares = self.marriage and (has_trick or rules.marriage is not Marriage.NEEDS_TRICK)
        return tuple(
            (
                claims << CLAIM | (closes and talon >= self.close_min) << CLOSE,
                (exchanges and talon >= max(rules.exchange_min_talon, 1)) << EXCHANGE,
                declares and (talon > 0 or self.marriage_any_phase),
            )
            for talon in range(rules.deck)
        )

    def deal(self, deck: Sequence[int], dealer: int | None = None, score: tuple[int, ...] = (), carry: int = 0) -> Deal:
        """A new deal of `deck` (top first; every card of the rules' deck once) by `dealer`.

        `score` is the match score by side that the seats are shown.  Raises `UsageError` for another deck.
        """
        if (
            len(deck) != len(self.cards)
            or set(deck) != self._distinct
            or (self.two_packs and sorted(deck) != self._sorted_cards)
        ):
            raise UsageError(f"this is not a deck of {self.rules.deck} cards for these rules")
        table = self.table
        dealer = table.first_dealer if dealer is None else dealer
        forehand, lots, dealt = self._dealings[dealer]
        hands = [0] * table.seats
        for seat, lot in lots:
            hands[seat] = hand_mask(lot(deck)) if self.two_packs else sum(map(_bit, lot(deck)))
        known = [0] * table.seats
        talon = list(deck[dealt:])
        turn_up = 0
        trump = 0
        if self.turns_up:
            turn_up = talon.pop(0)
            talon.append(turn_up)
            trump = SUIT_OF[turn_up]
        elif self.dealer_card:
            turn_up = deck[-1]
            trump = SUIT_OF[turn_up]
            known[dealer] = BITS[turn_up]
        zeros = (0,) * table.sides
        return Deal(
            self,
            dealer=dealer,
            hands=hands,
            talon=talon,
            turn_up=turn_up,
            trump=trump,
            leader=forehand,
            points=zeros,
            pending=zeros,
            tricks=zeros,
            known=known,
            score=score or zeros,
            carry=carry,
        )
