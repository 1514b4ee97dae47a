"""One deal in play: whose turn, what is legal, and what an action does.  Pure and fast: masks and small integers.

A deal is changed by `apply` and `forfeit` alone, and copied by `copy` for search.  `arena.game.game` makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from arena.cards import (
    ACTIONS,
    BITS,
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
    Action,
    actions_of,
    iter_bits,
    mask_of,
)
from arena.errors import IllegalAction
from arena.game.rules import LastTrick, MarriageValues, Score, Tie
from arena.game.scoring import (
    Outcome,
    Termination,
    claim_value,
    class_of,
    close_fail_value,
    false_claim_value,
    forfeit_points,
    pay,
)
from arena.game.tricks import BEATS, strict_follow
from arena.game.views import DecisionPoint, View

if TYPE_CHECKING:
    from arena.game.game import Game

ON_LEAD = DecisionPoint.ON_LEAD
FOLLOW = DecisionPoint.FOLLOW
BEFORE_DRAW = DecisionPoint.BEFORE_DRAW
ON_CLOSE = DecisionPoint.ON_CLOSE
AFTER_LAST_TRICK = DecisionPoint.AFTER_LAST_TRICK

MARRIAGE_BY_SUIT = (0, 80, 60, 40, 100)
"""What a marriage is worth under `marriage_values = by_suit`, by the suit's number."""

_BYTES = tuple(bytes((number,)) for number in range(len(ACTIONS)))
_KINGS = mask_of(8 * suit + RANKS.index("K") + 1 for suit in range(4))
_DECLARATIONS = {
    mask_of(kings): mask_of(DECLARE[SUIT_OF[king]] for king in kings)
    for number in range(5)
    for kings in combinations(iter_bits(_KINGS), number)
}
"""The declarations of the pairs of these kings, mask by mask."""
_CLAIM_BIT, _CLOSE_BIT, _EXCHANGE_BIT, _GO_ON_BIT = (1 << a for a in (CLAIM, CLOSE, EXCHANGE, GO_ON))

_NEW_TUPLE = tuple.__new__

AFTER_LAST_TRICK_BITS = _CLAIM_BIT | _GO_ON_BIT


def _replaced(values: tuple[int, ...], index: int, value: int) -> tuple[int, ...]:
    return (*values[:index], value, *values[index + 1 :])


class Deal:
    """One deal in play.  Read its attributes freely; change it by `apply` and `forfeit` only.

    What seldom changes is a tuple that all views share.
    """

    __slots__ = (
        "_auto_leads", "_close_asked", "best", "best_seat", "bound", "carry", "closed_points", "closed_tricks",
        "closer", "dealer", "game", "hand_sizes", "hands", "known", "leader", "legal_mask", "marriages", "order",
        "outcome", "past_actions", "past_seats", "pending", "point", "points", "score", "strict", "table", "talon",
        "to_act", "tricks", "trump", "turn_up", "winners",
    )  # fmt: skip

    game: Game
    dealer: int
    hands: list[int]
    hand_sizes: list[int]
    talon: list[int]
    turn_up: int
    trump: int
    leader: int
    order: tuple[int, ...]
    table: tuple[int, ...]
    best: int
    best_seat: int
    bound: int
    points: list[int]
    pending: tuple[int, ...]
    tricks: list[int]
    strict: bool
    closer: int | None
    closed_points: tuple[int, ...]
    closed_tricks: tuple[int, ...]
    known: tuple[int, ...]
    marriages: tuple[tuple[int, int], ...]
    """The seat and the points of each declaration, in order; none from before a position that it was resumed from."""
    score: tuple[int, ...]
    carry: int
    past_seats: bytes
    past_actions: bytes
    winners: bytes
    to_act: int | None
    point: DecisionPoint | None
    legal_mask: int
    outcome: Outcome | None
    _auto_leads: int
    _close_asked: tuple[int, ...]

    def __init__(
        self,
        game: Game,
        *,
        dealer: int,
        hands: list[int],
        talon: list[int],
        turn_up: int,
        trump: int,
        leader: int,
        points: Sequence[int],
        pending: Sequence[int],
        tricks: Sequence[int],
        known: Sequence[int],
        score: tuple[int, ...],
        carry: int = 0,
    ) -> None:
        """A deal with `leader` on lead; see `Game.deal` for a fresh one and `arena.game.position` for any other."""
        self.game = game
        self.dealer = dealer
        self.hands = hands
        self.hand_sizes = [hand.bit_count() for hand in hands]
        self.talon = talon
        self.turn_up = turn_up
        self.trump = trump
        self.points = list(points)
        self.pending = tuple(pending)
        self.tricks = list(tricks)
        self.closer = None
        self.closed_points = ()
        self.closed_tricks = ()
        self.known = tuple(known)
        self.marriages = ()
        self.score = score
        self.carry = carry
        self.past_seats = b""
        self.past_actions = b""
        self.winners = b""
        self.outcome = None
        self._close_asked = ()
        self.table = ()
        self.strict = len(talon) < game.active_seats
        self.leader = leader
        self.order = game.orders[dealer][leader]
        self.best = 0
        self.best_seat = leader
        self.bound = 0
        self._ask_lead(leader)

    # -- what a caller asks --------------------------------------------------------------------------------------

    @property
    def legal_actions(self) -> tuple[Action, ...]:
        """The legal actions of the seat to act, ascending by number; empty once the deal is over."""
        return actions_of(self.legal_mask)

    def opponents(self, side: int) -> tuple[int, ...]:
        """The other sides that play this deal."""
        return self.game.table.opponents[self.dealer][side]

    def view(self, seat: int) -> View:
        """What that seat may know, now."""
        acting = seat == self.to_act
        # As a plain tuple: the constructor of a named tuple costs more than all the rest.
        return _NEW_TUPLE(
            View,
            (
                seat,
                self.point if acting else None,
                self.legal_mask if acting else 0,
                self.hands[seat],
                self.dealer,
                self.leader,
                self.trump,
                self.turn_up,
                len(self.talon),
                self.table,
                self.bound,
                tuple(self.points),
                self.pending,
                tuple(self.tricks),
                self.closer,
                self.closed_points,
                self.closed_tricks,
                tuple(self.hand_sizes),
                self.known,
                self.past_seats,
                self.past_actions,
                self.winners,
                self.score,
                self.carry,
            ),
        )

    def copy(self) -> Deal:
        """An independent deal in the same state."""
        twin = Deal.__new__(Deal)
        twin.game = self.game
        twin.dealer = self.dealer
        twin.hands = self.hands[:]
        twin.hand_sizes = self.hand_sizes[:]
        twin.talon = self.talon[:]
        twin.turn_up = self.turn_up
        twin.trump = self.trump
        twin.leader = self.leader
        twin.order = self.order
        twin.table = self.table
        twin.best = self.best
        twin.best_seat = self.best_seat
        twin.bound = self.bound
        twin.points = self.points[:]
        twin.pending = self.pending
        twin.tricks = self.tricks[:]
        twin.strict = self.strict
        twin.closer = self.closer
        twin.closed_points = self.closed_points
        twin.closed_tricks = self.closed_tricks
        twin.known = self.known
        twin.marriages = self.marriages
        twin.score = self.score
        twin.carry = self.carry
        twin.past_seats = self.past_seats
        twin.past_actions = self.past_actions
        twin.winners = self.winners
        twin.to_act = self.to_act
        twin.point = self.point
        twin.legal_mask = self.legal_mask
        twin.outcome = self.outcome
        twin._auto_leads = self._auto_leads
        twin._close_asked = self._close_asked
        return twin

    def __deepcopy__(self, memo: object) -> Deal:
        return self.copy()

    # -- what changes it -----------------------------------------------------------------------------------------

    def apply(self, action: int) -> None:
        """The seat to act does `action`.  Raises `IllegalAction` and changes nothing if that is not legal."""
        seat = self.to_act
        if seat is None or not 0 < action <= GO_ON or not self.legal_mask & BITS[action]:
            raise IllegalAction(self._refusal(action))
        self.past_seats += _BYTES[seat]
        self.past_actions += _BYTES[action]
        if action > 32:
            self._do(seat, action)
            return
        # It plays the card of that number.
        game = self.game
        bit = BITS[action]
        hands = self.hands
        hand = hands[seat]
        hands[seat] = hand ^ (bit << SECOND if game.two_packs and hand & bit << SECOND else bit)
        self.hand_sizes[seat] -= 1
        known = self.known[seat]
        if known and known & bit:
            self.known = _replaced(self.known, seat, known ^ bit)
        table = self.table = (*self.table, action)
        played = len(table)
        if played == 1:
            self.best = action
            if self.bound or self._auto_leads & bit:
                self._lead_of_pair(seat, SUIT_OF[action])
                if self.outcome is not None:
                    return
        elif BEATS[self.trump][self.best] & bit:
            self.best = action
            self.best_seat = seat
        if played == game.active_seats:
            self._finish_trick()
            return
        follower = self.order[played]
        cards = hands[follower]
        if game.two_packs:
            cards &= DISTINCT
        if self.strict:
            cards = strict_follow(cards, table[0], self.best, self.trump)
        self.to_act = follower
        self.point = FOLLOW
        self.legal_mask = cards | game.follow_bits

    def forfeit(self, seat: int) -> Outcome:
        """A fault of `seat` loses the deal: it ends here.  Raises `IllegalAction` where it is over already."""
        if self.outcome is not None:
            raise IllegalAction(f"seat {seat} cannot forfeit: the deal is over")
        side = self.game.table.side_of[seat]
        return self._end(Termination.FORFEIT, forfeit_points(self, side), seat)

    # -- the actions ---------------------------------------------------------------------------------------------

    def _do(self, seat: int, action: int) -> None:
        """What plays no card."""
        if action == GO_ON:
            self._go_on(seat)
        elif action == CLAIM:
            self._claim(seat)
        elif action == CLOSE:
            self._close(seat)
        elif action == EXCHANGE:
            self._exchange(seat)
        else:
            self._declare(seat, action - 32)
            if self.outcome is None:
                self._ask_lead(seat)

    def _lead_of_pair(self, seat: int, suit: int) -> None:
        """A card of a pair is on the table that was declared before, or is declared by leading it."""
        if not self.bound:
            self._declare(seat, suit)
            if self.outcome is not None:
                return
        side = self.game.side_of[seat]
        if self.game.credit_led:
            self._credit(side)
            if self._reached(side, seat):
                return
        self.bound = 0

    def _finish_trick(self) -> None:
        game = self.game
        winner = self.best_seat
        side = game.side_of[winner]
        gain = 0
        for card in self.table:
            gain += CARD_POINTS[card]
        self.points[side] += gain
        self.tricks[side] += 1
        self.table = ()
        self.winners += _BYTES[winner]
        if self.pending[side]:
            self._credit(side)
        if game.auto_claim and self._reached(side, winner):
            return
        self.leader = winner
        self.order = game.orders[self.dealer][winner]
        if not self.hands[winner]:
            if game.claim_after_trick:
                self._ask(winner, AFTER_LAST_TRICK, AFTER_LAST_TRICK_BITS)
            else:
                self._settle(winner)
        elif self.strict:
            self._ask_lead(winner)
        elif game.closes_before_draw and len(self.talon) >= game.close_min:
            self.to_act = winner
            self.point = BEFORE_DRAW
            self.legal_mask = game.before_draw_bits
        else:
            self._draw_and_lead(winner)

    def _draw_and_lead(self, leader: int) -> None:
        two_packs = self.game.two_packs
        talon = self.talon
        hands = self.hands
        sizes = self.hand_sizes
        order = self.order
        for seat in order:
            bit = BITS[talon.pop(0)]
            hand = hands[seat]
            hands[seat] = hand | (bit << SECOND if two_packs and hand & bit else bit)
            sizes[seat] += 1
        if len(talon) < len(order):
            self.strict = True
            if not talon and self.turn_up:
                self.turn_up = 0
                self.known = _replaced(self.known, seat, self.known[seat] | bit)
        self._ask_lead(leader)

    def _go_on(self, seat: int) -> None:
        if self.point is BEFORE_DRAW:
            self._draw_and_lead(seat)
        elif self.point is ON_CLOSE:
            self._next_on_close()
        else:
            self._settle(seat)

    def _close(self, seat: int) -> None:
        self.closer = seat
        self.closed_points = tuple(self.points)
        self.closed_tricks = tuple(self.tricks)
        self.strict = True
        if self.game.rules.exchange_on_opponent_close:
            self._close_asked = self.order[1:]
            self._next_on_close()
        else:
            self._ask_lead(seat)

    def _next_on_close(self) -> None:
        """Straight after a close each other seat is asked once: asking only a holder of the card would tell."""
        if not self._close_asked:
            assert self.closer is not None
            self._ask_lead(self.closer)
            return
        seat, *later = self._close_asked
        self._close_asked = tuple(later)
        takes = self.game.exchange and self.hands[seat] & BITS[self.game.lowest_trump[self.trump]]
        self._ask(seat, ON_CLOSE, _GO_ON_BIT | (_EXCHANGE_BIT if takes else 0))

    def _exchange(self, seat: int) -> None:
        lowest = self.game.lowest_trump[self.trump]
        taken = self.turn_up
        self.hands[seat] ^= 1 << lowest | 1 << taken
        self.known = _replaced(self.known, seat, self.known[seat] & ~(1 << lowest) | 1 << taken)
        self.talon[-1] = self.turn_up = lowest
        if self.point is ON_CLOSE:
            self._next_on_close()
        else:
            self._ask_lead(seat)

    def _declare(self, seat: int, suit: int) -> None:
        """Show the pair: it is bound to the lead, its points are credited or pending."""
        game = self.game
        side = game.table.side_of[seat]
        pair = SUIT_MASKS[suit] & (_KINGS | _KINGS >> 1)
        held = pair & self.hands[seat]
        self.known = _replaced(self.known, seat, self.known[seat] | held)
        self.bound = held & _KINGS if game.lead_king else held
        if game.rules.marriage_values is MarriageValues.BY_SUIT:
            value = MARRIAGE_BY_SUIT[suit]
            self.trump = suit
        else:
            value = 40 if suit == self.trump else 20
        self.pending = _replaced(self.pending, side, self.pending[side] + value)
        self.marriages += ((seat, value),)
        if game.credit_declared and self.tricks[side]:
            self._credit(side)
            self._reached(side, seat)

    def _credit(self, side: int) -> None:
        """Pending marriage points count from the side's first trick on, never before."""
        if self.tricks[side]:
            self.points[side] += self.pending[side]
            self.pending = _replaced(self.pending, side, 0)

    def _claim(self, seat: int) -> None:
        game = self.game
        side = game.table.side_of[seat]
        if self.points[side] >= game.rules.target:
            self._end(Termination.CLAIM, pay(self, (side,), claim_value(self, side)), seat)
        else:
            value = false_claim_value(self, side)
            self._end(Termination.FALSE_CLAIM, pay(self, self.opponents(side), value), seat)

    def _reached(self, side: int, seat: int) -> bool:
        """Where the arena notices by itself: end the deal if the side whose points just rose has the target."""
        if not self.game.auto_claim or self.points[side] < self.game.rules.target:
            return False
        self._end(Termination.REACHED, pay(self, (side,), claim_value(self, side)), seat)
        return True

    # -- asking --------------------------------------------------------------------------------------------------

    def _ask(self, seat: int, point: DecisionPoint, legal: int) -> None:
        self.to_act = seat
        self.point = point
        self.legal_mask = legal

    def _ask_lead(self, seat: int) -> None:
        """Everything that is legal on lead, before and after a declaration, an exchange or a close."""
        game = self.game
        hand = self.hands[seat]
        bound = self.bound
        if self.tricks[game.side_of[seat]]:
            options = game.leads_with_trick
        else:
            options = game.leads_without_trick if self.winners or any(self.tricks) else game.first_leads
        always, exchange, declares = options[0 if self.strict else len(self.talon)]
        legal = always | (bound or (hand & DISTINCT if game.two_packs else hand))
        self._auto_leads = 0
        if exchange and hand & BITS[game.lowest_trump[self.trump]]:
            legal |= exchange
        if bound:
            if game.claim_after_trick:
                legal |= _CLAIM_BIT
        elif declares and (pairs := hand & hand << 1 & _KINGS):
            legal |= _DECLARATIONS[pairs]
            if game.lead_auto:
                self._auto_leads = pairs | pairs >> 1
        self.to_act = seat
        self.point = ON_LEAD
        self.legal_mask = legal

    # -- the end -------------------------------------------------------------------------------------------------

    def _settle(self, last: int) -> None:
        """The cards have run out and nobody claimed; `last` took the last trick."""
        game = self.game
        rules = game.rules
        sides = game.table.sides
        last_side = game.table.side_of[last]
        if self.closer is not None:
            side = game.table.side_of[self.closer]
            if self.points[side] >= rules.target and not rules.close_needs_claim:
                self._end(Termination.CLOSE_MADE, pay(self, (side,), claim_value(self, side)), self.closer)
            else:
                value = close_fail_value(self)
                self._end(Termination.CLOSE_FAILED, pay(self, self.opponents(side), value), self.closer)
            return
        if rules.last_trick in (LastTrick.PLUS_10, LastTrick.PLUS_10_WINS):
            self.points[last_side] += 10
        totals = self.points
        if rules.score is Score.CARD_POINTS:
            points = tuple(totals)
        elif rules.last_trick is LastTrick.WINS_ONE:
            points = pay(self, (last_side,), 1)
        else:
            top = max(totals)
            best = [side for side in range(sides) if totals[side] == top]
            if rules.last_trick is LastTrick.PLUS_10_WINS or (
                len(best) > 1 and rules.tie is Tie.LAST_TRICK and last_side in best
            ):
                best = [last_side]
            if len(best) > 1:
                points = (0,) * sides
            else:
                losers = self.opponents(best[0])
                points = pay(self, best, class_of(totals, self.tricks, losers, rules.class_line))
        self._end(Termination.PLAYED_OUT, points, last)

    def _end(self, termination: Termination, points: tuple[int, ...], seat: int) -> Outcome:
        self.to_act = None
        self.point = None
        self.legal_mask = 0
        self.outcome = Outcome(termination, points, tuple(self.points), seat)
        return self.outcome

    def _refusal(self, action: int) -> str:
        name = str(ACTIONS[action]) if 0 < action < len(ACTIONS) else f"action number {action}"
        if self.to_act is None:
            return f"{name} is refused: the deal is over"
        legal = " ".join(map(str, self.legal_actions))
        return f"{name} is not legal for seat {self.to_act} ({legal})"
