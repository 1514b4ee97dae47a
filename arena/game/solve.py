"""Exact values once the hands are known: strict play between two seats, searched to the end for every option.

The search asks one question at a time: can the leader still get at least so much?  What claims, closes and classes
are worth is read from `arena.game.scoring`, so that the solver and the engine cannot disagree about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeAlias, TypeVar

from arena.cards import CARD_POINTS, CLAIM, DECLARE, GO_ON, RANKS, SUIT_OF, Action, Card, Suit, hand_cards
from arena.errors import UsageError
from arena.game.deal import MARRIAGE_BY_SUIT, Deal
from arena.game.game import Game
from arena.game.rules import LastTrick, MarriageCredit, MarriageValues, Rules, Score, Tie
from arena.game.sample import resume_world, world_with
from arena.game.scoring import claim_value, close_fail_value, false_claim_value
from arena.game.tricks import BEATS, HIGHER
from arena.game.views import DecisionPoint, View


@dataclass(frozen=True, slots=True)
class Solution:
    """What a deal is worth to the seat to act when both seats play their best."""

    value: int
    """What the deal adds to the seat's match score less what it adds to the other's: game points, 0 for a draw."""
    best: Action
    """An action that gets the value."""
    values: Mapping[Action, int] = field(default_factory=dict)
    """The value of every legal action where all were asked for, else empty."""


def solve(deal: Deal, *, all_actions: bool = False) -> Solution:
    """The value of a deal in strict play between two seats, to the seat to act, and a best action.

    With `all_actions` every legal action gets its exact value (slower).  Raises `UsageError` for any other deal: in
    open play, of more than two seats, or over.
    """
    if deal.to_act is None:
        raise UsageError("a finished deal cannot be solved: nobody is to act")
    if len(deal.order) != 2:
        raise UsageError(f"a deal between {len(deal.order)} seats cannot be solved; the solver plays between two")
    if not deal.strict:
        raise UsageError("a deal in open play cannot be solved: the talon is neither closed nor exhausted")
    if deal.point is DecisionPoint.ON_CLOSE:
        values = {action: _value_after(deal, action) for action in deal.legal_actions}
    elif all_actions:
        values = _Endgame(deal).values()
    else:
        return _Endgame(deal).solution()
    best = max(values, key=lambda action: values[action])
    return Solution(values[best], best, values if all_actions else {})


def solve_view(
    rules: Rules | Game, view: View, other_hand: int | None = None, *, all_actions: bool = False
) -> Solution:
    """`solve` from what the seat to act sees and the hand (a mask) that it takes the other seat to hold.

    Without `other_hand` the seat must be able to work it out (`arena.game.sample.view_is_open`).  Raises `UsageError`
    where it cannot, where the hand does not fit the view, and as `solve` does.
    """
    if view.point is None:
        raise UsageError(f"seat {view.seat} is not to act in this view; solve the view of the seat that is asked")
    return solve(resume_world(rules, view, world_with(rules, view, other_hand)), all_actions=all_actions)


def _value_after(deal: Deal, action: Action) -> int:
    """The value of an answer to a close: the closer leads next."""
    after = deal.copy()
    after.apply(action)
    return -solve(after).value


# -- what there is to win --------------------------------------------------------------------------------------------

# A standing is what a player has won, as one number: its card points, PENDING times its pending marriage points, and
# TRICKLESS while it has no trick (and so no card points).
PENDING = 1 << 10
TRICKLESS = 1 << 20

# Claims and classes depend only on the kind of a standing: under the class line, from it on, from the target on, or
# without a trick.
UNDER_LINE, FROM_LINE, REACHED, NO_TRICK = KINDS = range(4)

# A *turn* is 5 * player + trump: whose lead it is and what is trump.  Player 0 is the seat to act.
_OTHER = (5, 6, 7, 8, 9, 0, 1, 2, 3, 4)
"""By turn, the other player's turn with the same trump."""

_T = TypeVar("_T")
_Table: TypeAlias = tuple[tuple[tuple[_T, ...], ...], ...]
"""Something by turn, by the kind of that player's standing, and by the kind of the other's."""

_MOST_CARD_POINTS = 500
"""More than a deal can add to a score where deals score card points."""


def _table(cell: Callable[[int, int, int], _T]) -> _Table[_T]:
    """The table of `cell(player, mine, theirs)`, which is the same for every trump."""
    players = [tuple([tuple([cell(player, a, b) for b in KINDS]) for a in KINDS]) for player in (0, 1)]
    return tuple([players[turn // 5] for turn in range(10)])


class _Kinds(dict[int, int]):
    """The kind of each standing, worked out when the standing is first met."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self._line = rules.class_line
        self._target = rules.target

    def __missing__(self, standing: int) -> int:
        points = standing % PENDING
        kind = NO_TRICK if standing >= TRICKLESS else (points >= self._line) + (points >= self._target)
        self[standing] = kind
        return kind


def _with_trick(standing: int) -> int:
    """The standing of a player who has a trick now: what was pending counts."""
    return standing if standing < PENDING else standing % PENDING + standing // PENDING % PENDING


@dataclass(frozen=True, slots=True, eq=False)
class _Stakes:
    """What the engine's scoring pays, in game points."""

    kinds: _Kinds
    claim: _Table[int]
    """What a right claim scores; in a deal that is not closed, the class of any win."""
    false_claim: _Table[int]
    """What a false claim costs."""
    failed: _Table[int]
    """What the failed close of the other player scores; 0 if the other did not close."""
    most: _Table[int]
    """The most that the player can still get unless the other claims wrongly: none of these prices rises in a deal."""


@lru_cache(maxsize=256)
def _stakes(
    game: Game,
    dealer: int,
    seats: tuple[int, int],
    closer: int | None,
    closed_points: tuple[int, ...],
    closed_tricks: tuple[int, ...],
) -> _Stakes:
    """The stakes of the players 0 and 1 on `seats`, asked of a deal without cards."""
    rules = game.rules
    nothing = (0,) * game.table.sides
    deal = Deal(
        game, dealer=dealer, hands=[0] * game.table.seats, talon=[], turn_up=0, trump=0, leader=seats[0],
        points=nothing, pending=nothing, tricks=nothing, known=[0] * game.table.seats, score=nothing,
    )  # fmt: skip
    deal.closer = closer
    deal.closed_points = closed_points
    deal.closed_tricks = closed_tricks
    sides = [game.table.side_of[seat] for seat in seats]
    points = {UNDER_LINE: 0, FROM_LINE: rules.class_line, REACHED: rules.target, NO_TRICK: 0}

    def priced(value: Callable[[Deal, int], int]) -> _Table[int]:
        def cell(player: int, mine: int, theirs: int) -> int:
            own, other = sides if player == 0 else reversed(sides)
            for side, kind in ((own, mine), (other, theirs)):
                deal.points[side] = points[kind]
                deal.tricks[side] = int(kind != NO_TRICK)
            return value(deal, own)

        return _table(cell)

    def failed(deal: Deal, side: int) -> int:
        return 0 if closer is None or game.table.side_of[closer] == side else close_fail_value(deal)

    def most(deal: Deal, side: int) -> int:
        if closer is None and rules.score is Score.CARD_POINTS:
            return _MOST_CARD_POINTS
        return max(claim_value(deal, side), failed(deal, side))

    return _Stakes(_Kinds(rules), priced(claim_value), priced(false_claim_value), priced(failed), priced(most))


@dataclass(frozen=True, slots=True)
class _Verdicts:
    """What the standings alone decide about one question: does the player get enough?"""

    noticed: _Table[bool | None]
    """Once its points have risen: the answer where the arena ends the deal by itself, else None."""
    claim: _Table[bool]
    """Whether it can claim when asked, rightly or wrongly, and that is enough."""
    barred: _Table[bool]
    """Whether no lead is enough, because the other can claim before it replies."""
    won_trick: _Table[bool | None]
    """Once it has taken a trick, but for the last: the answer where no card can change it, else None."""


@lru_cache(maxsize=1024)
def _verdicts(game: Game, stakes: _Stakes, need: int) -> _Verdicts:
    """The verdicts where player 0 needs `need`, and player 1 whatever leaves player 0 with less."""
    needs = (need, 1 - need)
    price = [(stakes.claim[turn], stakes.false_claim[turn], stakes.most[turn]) for turn in (0, 5)]

    def noticed(player: int, mine: int, theirs: int) -> bool | None:
        right, _, _ = price[player]
        return right[mine][theirs] >= needs[player] if game.auto_claim and mine == REACHED else None

    def claim(player: int, mine: int, theirs: int) -> bool:
        right, wrong, _ = price[player]
        if not game.claim_own_turn and not game.claim_after_trick:
            return False
        return (right[mine][theirs] if mine == REACHED else -wrong[mine][theirs]) >= needs[player]

    def barred(player: int, mine: int, theirs: int) -> bool:
        return game.claim_own_turn and claim(int(not player), theirs, mine)

    def won_trick(player: int, mine: int, theirs: int) -> bool | None:
        if (end := noticed(player, mine, theirs)) is not None:
            return end
        _, _, most = price[player]
        _, _, most_of_other = price[not player]
        if claim(player, mine, theirs) or -most_of_other[theirs][mine] >= needs[player]:
            return True
        return None if most[mine][theirs] >= needs[player] else False

    return _Verdicts(_table(noticed), _table(claim), _table(barred), _table(won_trick))


# -- the position ----------------------------------------------------------------------------------------------------

_KING = RANKS.index("K")


class _Pair(NamedTuple):
    """A king and queen that a player can declare."""

    cards: int
    leads: int
    """Those of the two that may be led after the declaration."""
    suit: Suit


class _Sight(NamedTuple):
    """What the leader of a turn goes by.  Cards of either player are bits of a byte of that player's hand."""

    leads: Mapping[int, tuple[int, int, int]]
    """By own card: the other's cards of its suit, those of them that beat it, and its card points."""
    trumps: int
    """The other's trumps."""
    worth: Mapping[int, int]
    """By the other's card: its card points."""
    pairs: tuple[_Pair, ...]


class _Endgame:
    """A deal laid out for the search: a hand is a byte whose lowest bit is the dearest card."""

    def __init__(self, deal: Deal) -> None:
        game = deal.game
        seat = deal.to_act
        first, second = deal.order
        seats = (first, second) if seat == first else (second, first)
        line = game.rules.class_line
        self.deal = deal
        self.game = game
        self.cards = [sorted(hand_cards(deal.hands[seat]), key=_dearest_first) for seat in seats]
        self.hands = [(1 << len(cards)) - 1 for cards in self.cards]
        self.standings = [_standing(deal, game.table.side_of[seat]) for seat in seats]
        self.closer = None if deal.closer is None else seats.index(deal.closer)
        self.stakes = _stakes(
            game,
            deal.dealer,
            seats,
            deal.closer,
            tuple([line if points >= line else 0 for points in deal.closed_points]),
            tuple([min(tricks, 1) for tricks in deal.closed_tricks]),
        )
        self.sights = _sights(game, self.cards)
        self._questions: dict[int, _Question] = {}

    def bit(self, card: int) -> int:
        """The bit of a card of player 0."""
        return 1 << self.cards[0].index(Card(card))

    def solution(self) -> Solution:
        """The value and an action that gets it."""
        possible = self._possible_values()
        actions = self._promising_first()
        best = next((action for action in actions if action != CLAIM), CLAIM)
        low, high = 0, len(possible) - 1
        middle = sum(value <= 0 for value in possible)  # at first: does the seat to act win?
        while low < high:
            middle = min(max(middle, low + 1), high)
            question = self._question(possible[middle])
            enough = next((action for action in dict.fromkeys((best, *actions)) if question.gets(action)), None)
            if enough is None:
                high = middle - 1
            else:
                best = enough
                low = middle
            middle = (low + high + 1) // 2
        return Solution(possible[low], best)

    def values(self) -> dict[Action, int]:
        """The value of every legal action."""
        possible = self._possible_values()
        return {action: self._value(action, possible) for action in self._promising_first()}

    def _value(self, action: Action, possible: Sequence[int]) -> int:
        if action == CLAIM:  # may cost more than a seat can lose in play
            kinds = self.stakes.kinds
            mine, theirs = (kinds[standing] for standing in self.standings)
            if mine == REACHED:
                return self.stakes.claim[0][mine][theirs]
            return -self.stakes.false_claim[0][mine][theirs]
        low, high = 0, len(possible) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self._question(possible[middle]).gets(action):
                low = middle
            else:
                high = middle - 1
        return possible[low]

    def _question(self, need: int) -> _Question:
        if need not in self._questions:
            self._questions[need] = _Question(self, need)
        return self._questions[need]

    def _possible_values(self) -> Sequence[int]:
        """What the seat to act can get, ascending."""
        kinds, most = self.stakes.kinds, self.stakes.most
        mine, theirs = (kinds[standing] for standing in self.standings)
        values = range(-most[5][theirs][mine], most[0][mine][theirs] + 1)
        rules = self.game.rules
        drawn = rules.score is Score.CARD_POINTS or rules.tie is not Tie.LAST_TRICK
        return values if self.closer is None and drawn else [value for value in values if value]

    def _promising_first(self) -> list[Action]:
        """The legal actions: a right claim, marriages, dear cards, the others, a false claim."""
        right = self.stakes.kinds[self.standings[0]] == REACHED

        def rank(action: Action) -> tuple[int, int]:
            if action == CLAIM:
                return (0 if right else 4), 0
            if action.marriage is not None:
                return 1, 0
            return (2, -CARD_POINTS[action]) if action <= 32 else (3, 0)

        return sorted(self.deal.legal_actions, key=rank)


def _dearest_first(card: Card) -> tuple[int, int]:
    return -CARD_POINTS[card], card


def _standing(deal: Deal, side: int) -> int:
    return deal.points[side] + PENDING * deal.pending[side] + (0 if deal.tricks[side] else TRICKLESS)


def _sights(game: Game, hands: Sequence[Sequence[Card]]) -> list[_Sight]:
    """What each turn's leader goes by."""
    sights: list[_Sight] = []
    for own, other in (hands, hands[::-1]):
        suits = [0] * 5
        for index, card in enumerate(other):
            suits[SUIT_OF[card]] |= 1 << index
        leads = {
            1 << index: (
                suits[SUIT_OF[card]],
                sum(1 << reply for reply, beater in enumerate(other) if HIGHER[card] >> beater & 1),
                CARD_POINTS[card],
            )
            for index, card in enumerate(own)
        }
        worth = {1 << index: CARD_POINTS[card] for index, card in enumerate(other)}
        pairs = tuple(_pairs(game, own)) if game.marriage and game.marriage_any_phase else ()
        sights += [_Sight(leads, trumps, worth, pairs) for trumps in suits]
    return sights


def _pairs(game: Game, hand: Sequence[Card]) -> Iterator[_Pair]:
    """The kings and queens of one suit in the hand."""
    for index, card in enumerate(hand):
        if (card - 1) & 7 == _KING and card - 1 in hand:
            king, queen = 1 << index, 1 << hand.index(Card(card - 1))
            yield _Pair(king | queen, king if game.lead_king else king | queen, SUIT_OF[card])


# -- the search ------------------------------------------------------------------------------------------------------

_BITS: tuple[tuple[int, ...], ...] = tuple(
    tuple(1 << index for index in range(8) if mask >> index & 1) for mask in range(256)
)
"""The bits of a byte, ascending: the dearest card first."""


class _Question:
    """Whether player 0 gets at least `need` out of the endgame, and so whether player 1 holds it under that.

    In the methods `own` and `his` are the hands of a turn's leader and follower, `mine` and `theirs` what they have
    won; each says whether the leader gets enough.
    """

    __slots__ = (
        "_barred", "_claim", "_endgame", "_kinds", "_lead_auto", "_memo", "_needs", "_noticed", "_rules", "_sights",
        "_stakes", "_won_trick",
    )  # fmt: skip

    def __init__(self, endgame: _Endgame, need: int) -> None:
        verdicts = _verdicts(endgame.game, endgame.stakes, need)
        self._endgame = endgame
        self._needs = (need, 1 - need)
        self._rules = endgame.game.rules
        self._stakes = endgame.stakes
        self._kinds = endgame.stakes.kinds
        self._sights = endgame.sights
        self._lead_auto = endgame.game.lead_auto
        self._noticed = verdicts.noticed
        self._claim = verdicts.claim
        self._barred = verdicts.barred
        self._won_trick = verdicts.won_trick
        self._memo: dict[tuple[int, int, int, int, int], bool] = {}

    def gets(self, action: Action) -> bool:
        """Whether player 0 gets enough by this action, which is legal now."""
        endgame = self._endgame
        deal = endgame.deal
        own, his = endgame.hands
        mine, theirs = endgame.standings
        turn = deal.trump
        if action == CLAIM:
            return self._claim[turn][self._kinds[mine]][self._kinds[theirs]]
        if action == GO_ON:
            return self._settled(mine, theirs, turn)
        if action.marriage is not None:
            return self._declare(own, his, self._pair_of(action.marriage), mine, theirs, turn)
        card = endgame.bit(action)
        if deal.table:
            return self._reply(action, own ^ card, his, mine, theirs, turn)
        if deal.bound:
            return self._lead_declared(own, his, card, mine, theirs, turn)
        if self._lead_auto and deal.legal_mask >> DECLARE[SUIT_OF[action]] & 1:
            pair = self._pair_of(SUIT_OF[action])
            if pair.cards & card:
                return self._declare(own, his, pair, mine, theirs, turn, by_lead=card)
        return self._lead(own, his, card, mine, theirs, turn)

    def _pair_of(self, suit: Suit) -> _Pair:
        return next(pair for pair in self._sights[0].pairs if pair.suit is suit)

    def _reply(self, card: int, own: int, his: int, mine: int, theirs: int, turn: int) -> bool:
        """Player 0 replies `card` to the card on the table; `own` and `mine` are still its hand and standing."""
        (led,) = self._endgame.deal.table
        points = CARD_POINTS[led] + CARD_POINTS[card]
        if BEATS[turn][led] >> card & 1:
            return self._take(own, his, _with_trick(mine) + points, theirs, turn)
        return not self._take(his, own, _with_trick(theirs) + points, mine, _OTHER[turn])

    def _take(self, own: int, his: int, mine: int, theirs: int, turn: int) -> bool:
        """The player of `turn` has taken a trick."""
        return self._next(own, his, mine, theirs, turn) if own else self._end(mine, theirs, turn)

    def _next(self, own: int, his: int, mine: int, theirs: int, turn: int) -> bool:
        """The leader has taken a trick, and there are more to come."""
        verdict = self._won_trick[turn][self._kinds[mine]][self._kinds[theirs]]
        if verdict is not None:
            return verdict
        key = (own, his, mine, theirs, turn)
        known = self._memo.get(key)
        if known is None:
            known = self._memo[key] = self._any_lead(own, his, mine, theirs, turn)
        return known

    def _any_lead(self, own: int, his: int, mine: int, theirs: int, turn: int) -> bool:
        """The leader, who has a trick, declares and leads, or just leads."""
        cards = own
        for pair in self._sights[turn].pairs:
            if own & pair.cards == pair.cards:
                if self._declare(own, his, pair, mine, theirs, turn):
                    return True
                if self._lead_auto:
                    cards ^= pair.cards
        return self._lead(own, his, cards, mine, theirs, turn)

    def _declare(self, own: int, his: int, pair: _Pair, mine: int, theirs: int, turn: int, *, by_lead: int = 0) -> bool:
        """The leader declares a marriage, says so first or just leads the card `by_lead`, and leads."""
        rules = self._rules
        if rules.marriage_values is MarriageValues.BY_SUIT:
            turn += pair.suit - turn % 5
            mine += PENDING * MARRIAGE_BY_SUIT[pair.suit]
        else:
            mine += PENDING * (40 if pair.suit == turn % 5 else 20)
        if rules.marriage_credit is MarriageCredit.DECLARED and mine < TRICKLESS:
            mine = _with_trick(mine)
            end = self._noticed[turn][self._kinds[mine]][self._kinds[theirs]]
            if end is not None:
                return end
        if not by_lead and self._claim[turn][self._kinds[mine]][self._kinds[theirs]]:
            return True
        return self._lead_declared(own, his, by_lead or pair.leads, mine, theirs, turn)

    def _lead_declared(self, own: int, his: int, cards: int, mine: int, theirs: int, turn: int) -> bool:
        """The leader leads one of these cards of a pair that it has declared."""
        if self._rules.marriage_credit is MarriageCredit.LED and mine < TRICKLESS:
            mine = _with_trick(mine)
            end = self._noticed[turn][self._kinds[mine]][self._kinds[theirs]]
            if end is not None:
                return end
        return self._lead(own, his, cards, mine, theirs, turn)

    def _lead(self, own: int, his: int, cards: int, mine: int, theirs: int, turn: int) -> bool:
        """The leader leads one of these cards.  Who takes the trick follows from the duty of strict play."""
        if self._barred[turn][self._kinds[mine]][self._kinds[theirs]]:
            return False
        other = _OTHER[turn]
        leads, trumps, worth, _ = self._sights[turn]
        for card in _BITS[cards]:
            suit, higher, points = leads[card]
            replies = his & suit
            if replies:
                takes = replies & higher
                replies = takes or replies
            else:
                takes = his & trumps
                replies = takes or his
            rest = own ^ card
            if takes:
                won = _with_trick(theirs) + points
                if not rest:
                    return not self._end(won + worth[replies], mine, other)
                for reply in _BITS[replies]:
                    if self._next(his ^ reply, rest, won + worth[reply], mine, other):
                        break
                else:
                    return True
            else:
                won = _with_trick(mine) + points
                if not rest:
                    return self._end(won + worth[replies], theirs, turn)
                for reply in reversed(_BITS[replies]):
                    if not self._next(rest, his ^ reply, won + worth[reply], theirs, turn):
                        break
                else:
                    return True
        return False

    def _end(self, mine: int, theirs: int, turn: int) -> bool:
        """The player of `turn` has taken the last trick."""
        kind, kind_of_other = self._kinds[mine], self._kinds[theirs]
        end = self._noticed[turn][kind][kind_of_other]
        if end is not None:
            return end
        if self._endgame.game.claim_after_trick and self._claim[turn][kind][kind_of_other]:
            return True
        return self._settled(mine, theirs, turn)

    def _settled(self, mine: int, theirs: int, turn: int) -> bool:
        """The cards have run out, nobody claims, and the player of `turn` took the last trick."""
        return self._settlement(mine, theirs, turn) >= self._needs[turn // 5]

    def _settlement(self, mine: int, theirs: int, turn: int) -> int:
        rules = self._rules
        stakes = self._stakes
        other = _OTHER[turn]
        kind, kind_of_other = self._kinds[mine], self._kinds[theirs]
        closer = self._endgame.closer
        if closer is not None:
            made = self._kinds[mine if closer == turn // 5 else theirs] == REACHED and not rules.close_needs_claim
            if closer == turn // 5:
                if made:
                    return stakes.claim[turn][kind][kind_of_other]
                return -stakes.failed[other][kind_of_other][kind]
            if made:
                return -stakes.claim[other][kind_of_other][kind]
            return stakes.failed[turn][kind][kind_of_other]
        if rules.last_trick in (LastTrick.PLUS_10, LastTrick.PLUS_10_WINS):
            mine += 10
        lead = mine - theirs % PENDING
        if rules.score is Score.CARD_POINTS:
            return lead
        if rules.last_trick is LastTrick.WINS_ONE:
            return 1
        if rules.last_trick is LastTrick.PLUS_10_WINS or lead > 0 or (not lead and rules.tie is Tie.LAST_TRICK):
            return stakes.claim[turn][kind][kind_of_other]
        return -stakes.claim[other][kind_of_other][self._kinds[mine]] if lead else 0
