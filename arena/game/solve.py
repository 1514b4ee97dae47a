"""Exact values once the hands are known: strict play between two seats, searched to the end for every option.

The search asks one question at a time: can the leader still get at least so much?  What claims, closes and classes
are worth is read from `arena.game.scoring`, so that the solver and the engine cannot disagree about it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from arena.cards import CARD_POINTS, CARDS, CLAIM, GO_ON, RANKS, SUIT_MASKS, SUIT_OF, Action, iter_bits
from arena.errors import UsageError
from arena.game.deal import _BY_SUIT as MARRIAGE_BY_SUIT
from arena.game.deal import Deal, Game, actions_of, hand_cards
from arena.game.rules import LastTrick, MarriageValues, Rules, Score, Tie
from arena.game.sample import resume_world, world_with
from arena.game.scoring import claim_value, close_fail_value, false_claim_value
from arena.game.tricks import HIGHER
from arena.game.views import DecisionPoint, View


@dataclass(frozen=True, slots=True)
class Solution:
    """What a position is worth to the seat to act when both play their best."""

    value: int
    """What the deal adds to the seat's match score less what it adds to the other's: game points, 0 for a draw."""
    best: Action
    """An action that gets the value."""
    values: Mapping[Action, int] = field(default_factory=dict)
    """The value of every legal action, where all were asked for; else empty."""


def solve(deal: Deal, *, all_actions: bool = False) -> Solution:
    """The value of a deal in strict play between two seats, for the seat to act, and a best action.

    With `all_actions` every legal action gets its exact value (slower).  Raises `UsageError` for any other deal: open
    play, more than two seats, or a deal that is over.
    """
    if deal.to_act is None:
        raise UsageError("a finished deal cannot be solved: nobody is to act")
    if not deal.strict:
        raise UsageError("a deal in open play cannot be solved: the talon is neither closed nor exhausted")
    if len(deal.order) != 2:
        raise UsageError(f"a deal of {len(deal.order)} seats cannot be solved; the solver plays between two")
    if deal.point is DecisionPoint.ON_CLOSE:
        values = {action: _value_after(deal, action) for action in deal.legal_actions}
        best = max(values, key=lambda action: values[action])
        return Solution(values[best], best, values if all_actions else {})
    return _Endgame(deal).solve(deal.legal_actions, all_actions)


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
    """The value of an action that is no end, by solving what follows it."""
    seat = deal.to_act
    after = deal.copy()
    after.apply(action)
    value = solve(after).value
    return value if after.to_act == seat else -value


# -- what there is to win --------------------------------------------------------------------------------------------

# A standing is what one player has won, in one number: its card points, the pending marriage points PENDING each,
# and TRICKLESS while it has no trick.
PENDING = 1 << 10
TRICKLESS = 1 << 20
_POINTS = PENDING - 1

KINDS = range(6)
"""All that the value of a claim or a class depends on: card points under the class line, from it on, from the target
on (0, 1, 2); 3 more without a trick."""

_Prices = tuple[tuple[tuple[int, ...], ...], ...]
"""Game points by player, by the kinds of its standing and of the other's."""


def _taken(standing: int) -> int:
    """The card points with what is pending, as they are once the player takes a trick."""
    return (standing & _POINTS) + (standing // PENDING & _POINTS)


class _Kinds(dict[int, int]):
    """The kind of each standing, worked out when it is first met."""

    def __init__(self, line: int, target: int) -> None:
        self._line = line
        self._target = target

    def __missing__(self, standing: int) -> int:
        points = standing & _POINTS
        kind = (points >= self._line) + (points >= self._target) + (3 if standing >= TRICKLESS else 0)
        self[standing] = kind
        return kind


@dataclass(frozen=True, slots=True, eq=False)
class _Stakes:
    """What can still be won in a deal, for player 0 (the seat to act) and player 1."""

    kinds: _Kinds
    claim: _Prices
    """What a right claim scores for the player."""
    false_claim: _Prices
    """What a false claim costs the player."""
    failed: _Prices
    """What the player scores when the other, who closed, fails; 0 if it did not close."""
    most: _Prices
    """The most that the player can still get, whatever follows (but for false claims of the other)."""


@lru_cache(maxsize=256)
def _stakes(
    game: Game,
    dealer: int,
    seats: tuple[int, int],
    closer: int | None,
    closed_points: tuple[int, ...],
    closed_tricks: tuple[int, ...],
) -> _Stakes:
    """What the engine's scoring says for every kind of standing."""
    rules = game.rules
    table = game.table
    sides = tuple(table.side_of[seat] for seat in seats)
    zeros = (0,) * table.sides
    deal = Deal(
        game,
        dealer=dealer,
        hands=[0] * table.seats,
        talon=[],
        turn_up=0,
        trump=0,
        leader=seats[0],
        points=zeros,
        pending=zeros,
        tricks=zeros,
        known=[0] * table.seats,
        score=zeros,
    )
    deal.closer = closer
    deal.closed_points = closed_points
    deal.closed_tricks = closed_tricks
    unbounded = rules.score is Score.CARD_POINTS and closer is None

    def failed(deal: Deal, side: int) -> int:
        return 0 if closer is None or table.side_of[closer] == side else close_fail_value(deal)

    def most(deal: Deal, side: int) -> int:
        return 1000 if unbounded else max(claim_value(deal, side), failed(deal, side))

    def prices(value: Callable[[Deal, int], int]) -> _Prices:
        by_player: list[tuple[tuple[int, ...], ...]] = []
        for own, other in (sides, sides[::-1]):
            rows: list[tuple[int, ...]] = []
            for mine in KINDS:
                row: list[int] = []
                for theirs in KINDS:
                    for side, kind in ((own, mine), (other, theirs)):
                        deal.points[side] = (0, rules.class_line, rules.target)[kind % 3]
                        deal.tricks[side] = 1 if kind < 3 else 0
                    row.append(value(deal, own))
                rows.append(tuple(row))
            by_player.append(tuple(rows))
        return tuple(by_player)

    return _Stakes(
        kinds=_Kinds(rules.class_line, rules.target),
        claim=prices(claim_value),
        false_claim=prices(false_claim_value),
        failed=prices(failed),
        most=prices(most),
    )


# -- the search ------------------------------------------------------------------------------------------------------

_BITS: tuple[tuple[int, ...], ...] = tuple(
    tuple(1 << index for index in range(8) if mask >> index & 1) for mask in range(256)
)
_SWAPPED = (5, 6, 7, 8, 9, 0, 1, 2, 3, 4)

_KING = RANKS.index("K")


@dataclass(frozen=True, slots=True)
class _Pair:
    cards: int
    leads: int
    suit: int


@lru_cache(maxsize=1024)
def _tables(stakes: _Stakes, game: Game, need: int, marriages: tuple[bool, bool]):
    needs = (need, 1 - need)
    says = game.claim_own_turn or game.claim_after_trick
    claims = []
    shut = []
    decided = []
    reached = []
    for me, foe in ((0, 1), (1, 0)):
        n = needs[me]

        def stand(me, mine, theirs):
            if mine % 3 == 2:
                return stakes.claim[me][mine][theirs] >= needs[me]
            return -stakes.false_claim[me][mine][theirs] >= needs[me]

        c = [[stand(me, m, t) for t in KINDS] for m in KINDS]
        s = [[game.claim_own_turn and stand(foe, t, m) for t in KINDS] for m in KINDS]
        r = [[m % 3 == 2 and stakes.claim[me][m][t] >= n for t in KINDS] for m in KINDS]
        d = []
        for m in KINDS:
            row = []
            for t in KINDS:
                v = None
                if game.auto_claim and m % 3 == 2:
                    v = r[m][t]
                elif says and c[m][t]:
                    v = True
                elif stakes.most[me][m][t] < n:
                    v = False
                elif -stakes.most[foe][t][m] >= n:
                    v = True
                elif not marriages[me] and s[m][t]:
                    v = False
                row.append(v)
            d.append(row)
        claims.append(c)
        shut.append(s)
        decided.append(d)
        reached.append(r)
    five = (0,) * 5 + (1,) * 5
    return tuple([x[i] for i in five] for x in (claims, shut, decided, reached))


class _Endgame:
    """A position laid out for the search.

    The seat to act is player 0.  A hand is a byte: bit i is the player's i-th card, dearest first.  A *turn* is
    5 * player + trump: whose lead it is and what is trump.
    """

    def __init__(self, deal: Deal) -> None:
        game = deal.game
        rules = game.rules
        self.game = game
        seat = deal.to_act
        assert seat is not None
        self.deal = deal
        first, second = deal.order
        other = second if seat == first else first
        self.seats = (seat, other)
        self.trump = deal.trump
        trump = deal.trump
        hands = [hand_cards(deal.hands[s]) for s in self.seats]
        self.on_table = deal.table[0] if deal.table else 0
        self.cards = [
            sorted(hand, key=lambda card: (-CARD_POINTS[card], card)) for hand in hands
        ]
        self.full = [(1 << len(hand)) - 1 for hand in hands]
        sides = [game.table.side_of[s] for s in self.seats]
        self.standings = [
            deal.points[s] + PENDING * deal.pending[s] + (0 if deal.tricks[s] else TRICKLESS) for s in sides
        ]
        self.stakes = _stakes(
            game,
            deal.dealer,
            self.seats,
            deal.closer,
            tuple(rules.class_line if p >= rules.class_line else 0 for p in deal.closed_points),
            tuple(min(t, 1) for t in deal.closed_tricks),
        )
        self.value = [{1 << i: CARD_POINTS[c] for i, c in enumerate(cards)} for cards in self.cards]
        self.leads = []
        self.suits = []
        for me, foe in ((0, 1), (1, 0)):
            suits = [0] * 5
            for i, c in enumerate(self.cards[me]):
                suits[SUIT_OF[c]] |= 1 << i
            self.suits.append(suits)
        for me, foe in ((0, 1), (1, 0)):
            table = {}
            for i, c in enumerate(self.cards[me]):
                above = 0
                for j, d in enumerate(self.cards[foe]):
                    if HIGHER[c] >> d & 1:
                        above |= 1 << j
                table[1 << i] = (self.suits[foe][SUIT_OF[c]], above, CARD_POINTS[c])
            self.leads.append(table)
        self.pairs = []
        marry = game.marriage and game.marriage_any_phase
        for me in (0, 1):
            pairs = []
            if marry:
                by_card = {c: 1 << i for i, c in enumerate(self.cards[me])}
                for c, bit in by_card.items():
                    if (c - 1) & 7 == _KING and c - 1 in by_card:
                        both = bit | by_card[c - 1]
                        pairs.append(_Pair(both, bit if game.lead_king else both, SUIT_OF[c]))
            self.pairs.append(pairs)
        self.bit = [{c: 1 << i for i, c in reversed(list(enumerate(cards)))} for cards in self.cards]
        self.questions: dict[int, Callable[[Action], bool]] = {}
        self.nodes = 0

    def solve(self, actions: Sequence[Action], all_actions: bool) -> Solution:
        mine, theirs = self.standings
        kinds = self.stakes.kinds
        if self.game.rules.score is Score.CARD_POINTS and self.deal.closer is None:
            possible: Sequence[int] = range(-500, 501)
        else:
            low = -self.stakes.most[1][kinds[theirs]][kinds[mine]]
            high = self.stakes.most[0][kinds[mine]][kinds[theirs]]
            possible = [v for v in range(low, high + 1) if v or self.draws()]
        right = mine & _POINTS >= self.game.rules.target
        order = [a for a in actions if a == CLAIM and right]
        order += [a for a in actions if 33 <= a <= 36]
        order += sorted([a for a in actions if a <= 32], key=lambda a: -CARD_POINTS[a])
        order += [a for a in actions if a == GO_ON or a == CLAIM and not right]
        if all_actions:
            values = {a: self.evaluate(a, possible) for a in order}
            best = max(order, key=lambda a: values[a])
            return Solution(values[best], best, values)
        start = [a for a in order if a != CLAIM]
        best = start[0] if start else CLAIM
        low, high = 0, len(possible) - 1
        probe = next((i for i, v in enumerate(possible) if v > 0), high)
        while low < high:
            mid = min(max(probe, low + 1), high)
            probe = (low + high + 1) // 2
            q = self.question(possible[mid])
            for a in (best, *order):
                if q(a):
                    best = a
                    low = mid
                    break
            else:
                high = mid - 1
            probe = (low + high + 1) // 2
        return Solution(possible[low], best)

    def evaluate(self, action: Action, possible: Sequence[int]) -> int:
        if action == CLAIM:
            mine, theirs = self.standings
            kinds = self.stakes.kinds
            k, t = kinds[mine], kinds[theirs]
            if k % 3 == 2:
                return self.stakes.claim[0][k][t]
            return -self.stakes.false_claim[0][k][t]
        low, high = 0, len(possible) - 1
        while low < high:
            mid = (low + high + 1) // 2
            if self.question(possible[mid])(action):
                low = mid
            else:
                high = mid - 1
        return possible[low]

    def draws(self) -> bool:
        rules = self.game.rules
        return (
            self.deal.closer is None
            and rules.last_trick in (LastTrick.PLUS_10, LastTrick.NONE)
            and rules.tie is not Tie.LAST_TRICK
        )

    def question(self, need: int) -> Callable[[Action], bool]:
        if need not in self.questions:
            self.questions[need] = self.ask(need)
        return self.questions[need]

    def ask(self, need: int) -> Callable[[Action], bool]:
        game = self.game
        deal = self.deal
        rules = game.rules
        stakes = self.stakes
        kinds = stakes.kinds
        target = rules.target
        needs = (need, 1 - need)
        swap = _SWAPPED
        bits = _BITS
        leads = [self.leads[0]] * 5 + [self.leads[1]] * 5
        worth = [self.value[0]] * 5 + [self.value[1]] * 5  # points of the turn's own cards
        trumps = self.suits[1] + self.suits[0]  # trump cards in the other's hand
        pairs = [self.pairs[0]] * 5 + [self.pairs[1]] * 5
        claims, shut, decided, reached = _tables(stakes, game, need, tuple(map(bool, self.pairs)))
        says = game.claim_own_turn or game.claim_after_trick
        auto = game.auto_claim
        after_trick = game.claim_after_trick
        credit_led = game.credit_led
        credit_declared = game.credit_declared
        lead_auto = game.lead_auto
        by_suit = rules.marriage_values is MarriageValues.BY_SUIT
        bonus = 10 if rules.last_trick in (LastTrick.PLUS_10, LastTrick.PLUS_10_WINS) else 0
        by_cards = rules.score is Score.CARD_POINTS
        closer = None if deal.closer is None else self.seats.index(deal.closer)
        last_trick = rules.last_trick
        tie_last = rules.tie is Tie.LAST_TRICK
        silent = not rules.close_needs_claim
        memo: dict[tuple[int, int, int, int, int], bool] = {}

        def over(won: int, lost: int, turn: int) -> bool:
            me = turn // 5
            k, t = kinds[won], kinds[lost]
            if auto and k == 2:
                return reached[turn][k][t]
            if after_trick and claims[turn][k][t]:
                return True
            return settled(me, won, lost, k, t) >= needs[me]

        def settled(me: int, won: int, lost: int, k: int, t: int) -> int:
            foe = 1 - me
            if closer is not None:
                if closer == me:
                    if k % 3 == 2 and silent:
                        return stakes.claim[me][k][t]
                    return -stakes.failed[foe][t][k]
                if t % 3 == 2 and silent:
                    return -stakes.claim[foe][t][k]
                return stakes.failed[me][k][t]
            lost_points = lost & _POINTS
            won += bonus
            if by_cards:
                return won - lost_points
            if last_trick is LastTrick.WINS_ONE:
                return 1
            if last_trick is LastTrick.PLUS_10_WINS or won > lost_points or won == lost_points and tie_last:
                return stakes.claim[me][k][t]
            if won == lost_points:
                return 0
            return -stakes.claim[foe][t][kinds[won]]

        def lead(own: int, his: int, mine: int, theirs: int, turn: int) -> bool:
            k = kinds[mine]
            t = kinds[theirs]
            verdict = decided[turn][k][t]
            if verdict is not None:
                return verdict
            key = (own, his, mine, theirs, turn)
            known = memo.get(key)
            if known is None:
                memo[key] = known = search(own, his, mine, theirs, turn)
            return known

        def search(own: int, his: int, mine: int, theirs: int, turn: int) -> bool:
            cards = own
            if pairs[turn]:
                for pair in pairs[turn]:
                    if own & pair.cards == pair.cards:
                        if declare(own, his, pair, mine, theirs, turn):
                            return True
                        if lead_auto:
                            cards &= ~pair.cards
                            if credit_led and lead_silently(own, his, pair.cards, pair, mine, theirs, turn):
                                return True
                if shut[turn][kinds[mine]][kinds[theirs]]:
                    return False
            return plays(own, his, cards, mine, theirs, turn)

        def married(pair: _Pair, mine: int, turn: int) -> tuple[int, int]:
            if by_suit:
                turn = turn // 5 * 5 + pair.suit
                value = MARRIAGE_BY_SUIT[pair.suit]
            else:
                value = 40 if pair.suit == turn % 5 else 20
            mine += value * PENDING
            if credit_declared and mine < TRICKLESS:
                mine = _taken(mine)
            return mine, turn

        def declare(own: int, his: int, pair: _Pair, mine: int, theirs: int, turn: int) -> bool:
            mine, turn = married(pair, mine, turn)
            k, t = kinds[mine], kinds[theirs]
            if auto and credit_declared and k == 2:
                return reached[turn][k][t]
            if says and claims[turn][k][t]:
                return True
            return lead_bound(own, his, pair.leads, mine, theirs, turn)

        def lead_bound(own: int, his: int, cards: int, mine: int, theirs: int, turn: int) -> bool:
            if credit_led:
                if mine < TRICKLESS:
                    mine = _taken(mine)
                k, t = kinds[mine], kinds[theirs]
                if auto and k % 3 == 2:
                    return reached[turn][k][t]
            if shut[turn][kinds[mine]][kinds[theirs]]:
                return False
            return plays(own, his, cards, mine, theirs, turn)

        def lead_silently(own: int, his: int, cards: int, pair: _Pair, mine: int, theirs: int, turn: int) -> bool:
            mine, turn = married(pair, mine, turn)
            k, t = kinds[mine], kinds[theirs]
            if auto and credit_declared and k == 2:
                return reached[turn][k][t]
            if shut[turn][k][t]:
                return False
            return plays(own, his, cards, mine, theirs, turn)

        def plays(own: int, his: int, cards: int, mine: int, theirs: int, turn: int) -> bool:
            foe = swap[turn]
            self.nodes += 1
            base = mine if mine < PENDING else _taken(mine)
            foe_base = theirs if theirs < PENDING else _taken(theirs)
            lead_table = leads[turn]
            values = worth[foe]
            foe_trumps = trumps[turn]
            if not his & his - 1:
                for card in bits[cards]:
                    same, above, points = lead_table[card]
                    points += values[his]
                    if (his & above) if his & same else (his & foe_trumps):
                        return not over(foe_base + points, mine, foe)
                    return over(base + points, theirs, turn)
            for card in bits[cards]:
                same, above, points = lead_table[card]
                replies = his & same
                if replies:
                    takes = replies & above
                    if takes:
                        replies = takes
                else:
                    takes = his & foe_trumps
                    replies = takes or his
                rest = own ^ card
                if takes:
                    won = foe_base + points
                    for reply in bits[replies]:
                        if lead(his ^ reply, rest, won + values[reply], mine, foe):
                            break
                    else:
                        return True
                else:
                    won = base + points
                    for reply in bits[replies][::-1]:
                        if not lead(rest, his ^ reply, won + values[reply], theirs, turn):
                            break
                    else:
                        return True
            return False

        def follow(action: Action) -> bool:
            """The reply of player 0 to the card on the table."""
            led = self.on_table
            mine, theirs = self.standings
            bit = self.bit[0][action]
            own = self.full[0] ^ bit
            his = self.full[1]
            suit = SUIT_OF[led]
            takes = HIGHER[led] >> action & 1 or SUIT_OF[action] != suit and SUIT_OF[action] == self.trump
            points = CARD_POINTS[led] + CARD_POINTS[action]
            me, foe = self.trump, 5 + self.trump
            if takes:
                won = _taken(mine) + points
                return lead(own, his, won, theirs, me) if own else over(won, theirs, me)
            won = _taken(theirs) + points
            return not (lead(his, own, won, mine, foe) if own else over(won, mine, foe))

        def achieves(action: Action) -> bool:
            mine, theirs = self.standings
            own, his = self.full
            turn = self.trump
            k, t = kinds[mine], kinds[theirs]
            if action == CLAIM:
                return claims[0][k][t]
            if action == GO_ON:
                return settled(0, mine, theirs, k, t) >= need
            if action > 32:
                pair = next(p for p in self.pairs[0] if p.suit == action - 32)
                return declare(own, his, pair, mine, theirs, turn)
            if self.on_table:
                return follow(action)
            bit = self.bit[0][action]
            if deal.bound:
                return lead_bound(own, his, bit, mine, theirs, turn)
            if lead_auto:
                for pair in self.pairs[0]:
                    if pair.cards & bit and deal.legal_mask >> 32 + pair.suit & 1:
                        return lead_silently(own, his, bit, pair, mine, theirs, turn)
            if shut[turn][k][t]:
                return False
            return plays(own, his, bit, mine, theirs, turn)

        return achieves
