"""Worlds: whole deals that a seat's view does not contradict, drawn evenly; the randomness is handed in.

Known cards stay in their hands, the turn-up last in the talon, hands have their sizes, and no seat holds a card that
it would have had to play in strict play.  Who sits where does not matter: it holds for two, three and four seats.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableSequence, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from math import comb, prod
from typing import Any, Protocol

from arena.cards import CARDS, CLOSE, Card, Suit, cards_of, format_cards, hand_cards, hand_mask, mask_of
from arena.errors import UsageError
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.position import Position, resume
from arena.game.rules import MarriageValues, Rules, TrumpSource
from arena.game.tricks import BEATS, strict_follow
from arena.game.views import DecisionPoint, View


class Randomness(Protocol):
    """What is needed of a `random.Random`."""

    def shuffle(self, x: MutableSequence[Any], /) -> None: ...

    def randrange(self, start: int, /) -> int: ...


@dataclass(frozen=True, slots=True)
class World:
    """Where every card could lie that the seat cannot see."""

    hands: tuple[int, ...]
    """The hand of each seat (a mask, see `View`), the viewer's own included."""
    talon: tuple[Card, ...]
    """The undrawn cards, top first, the turn-up last."""


def unseen(rules: Rules | Game, view: View) -> int:
    """The cards that the seat cannot locate, as the mask of a hand (identical cards twice).

    They are the deck without the own hand, what was played, what is known to be in a hand, and the turn-up.  Cards
    that went before a position which a deal was resumed from are among them.  Raises `UsageError` for a view of other
    rules.
    """
    return hand_mask(_unseen(_game(rules), view))


def sample_world(rules: Rules | Game, view: View, rng: Randomness) -> World:
    """One world, drawn evenly from all that the view does not contradict; for many of them take `worlds`."""
    return next(worlds(rules, view, rng))


def worlds(rules: Rules | Game, view: View, rng: Randomness) -> Iterator[World]:
    """Worlds without end, each drawn evenly and for itself from all that the view does not contradict.

    Even over cards: where two are identical, a world that can be dealt in two ways comes twice as often.  Raises
    `UsageError` (at the first world) for a view of other rules.
    """
    game = _game(rules)
    cards = _unseen(game, view)
    places = _places(game, view, len(cards))
    groups = _groups(cards, places)
    sizes = tuple(place.size for place in places)
    if not _ways(_shapes(groups), sizes):
        raise UsageError("this view contradicts itself: no cards could lie so under these rules")
    while True:
        *dealt, rest = _deal_out(groups, sizes, rng)
        hands = list(view.known)
        for place, lot in zip(places, dealt, strict=False):
            hands[place.seat] = hand_mask((*cards_of(view.known[place.seat]), *lot))
        hands[view.seat] = view.hand
        rng.shuffle(rest)
        yield World(tuple(hands), _talon(game, view, rest))


def view_is_open(rules: Rules | Game, view: View) -> bool:
    """Whether the seat of a two-seat deal can work out the other hand: nothing else is hidden."""
    game = _game(rules)
    others = _others(game, view)
    missing = sum(view.hand_sizes[seat] - view.known[seat].bit_count() for seat in others)
    return len(others) == 1 and len(_unseen(game, view)) == missing


def world_with(rules: Rules | Game, view: View, other_hand: int | None = None) -> World:
    """The world in which the other seat of a two-seat deal holds that hand (a mask); the talon's order is any.

    Without `other_hand` the seat must be able to work it out (`view_is_open`).  Raises `UsageError` where it cannot,
    and where the hand does not fit the view.
    """
    game = _game(rules)
    others = _others(game, view)
    if len(others) != 1:
        raise UsageError(f"{len(others)} other seats play this deal; only where one does its hand makes a world")
    (other,) = others
    rest = _unseen(game, view)
    known = cards_of(view.known[other])
    if other_hand is None:
        if len(known) + len(rest) != view.hand_sizes[other]:
            raise UsageError(f"seat {view.seat} cannot work out the other hand: {len(rest)} cards are hidden from it; "
                             "give a hand to assume")  # fmt: skip
        other_hand = hand_mask((*known, *rest))
    hand = hand_cards(other_hand)
    rest += known
    for card in hand:
        if card not in rest:
            raise UsageError(f"{card} cannot be in the hand of seat {other}: this view shows it elsewhere")
        rest.remove(card)
    if len(hand) != view.hand_sizes[other] or view.known[other] & ~other_hand:
        raise UsageError(f"{format_cards(hand)} cannot be the hand of seat {other}: it holds {view.hand_sizes[other]} "
                         f"cards, known {format_cards(known) or 'none'}")  # fmt: skip
    hands = [0] * len(view.hand_sizes)
    hands[view.seat] = view.hand
    hands[other] = other_hand
    return World(tuple(hands), _talon(game, view, rest))


def resume_world(rules: Rules | Game, view: View, world: World) -> Deal:
    """The deal of that view in that world: the seat sees the same, history included.

    The view is one of a deal in play.  Raises `UsageError` where the two do not fit each other.
    """
    game = _game(rules)
    seat, point, to_ask = _question(game, view)
    position = Position(
        dealer=view.dealer,
        hands=tuple(map(hand_cards, world.hands)),
        talon=world.talon,
        turn_up=CARDS[view.turn_up] if view.turn_up else None,
        trump=Suit(view.trump) if view.trump else None,
        leader=view.leader,
        to_act=seat,
        point=point,
        table=tuple(CARDS[card] for card in view.table),
        bound=cards_of(view.bound),
        points=view.points,
        pending=view.pending,
        tricks=view.tricks,
        closer=view.closer,
        closed_points=view.closed_points,
        closed_tricks=view.closed_tricks,
        known=tuple(map(cards_of, view.known)),
        to_ask=to_ask,
    )
    deal = resume(game, position, score=view.score, carry=view.carry)
    deal.past_seats = view.past_seats
    deal.past_actions = view.past_actions
    deal.winners = view.winners
    return deal


def _game(rules: Rules | Game) -> Game:
    return rules if isinstance(rules, Game) else _ready(rules)


@cache
def _ready(rules: Rules) -> Game:
    return Game(rules)


# -- what is hidden --------------------------------------------------------------------------------------------------


def _others(game: Game, view: View) -> list[int]:
    """The seats that play this deal, without the viewer."""
    return [seat for seat in game.table.orders[view.dealer][view.leader] if seat != view.seat]


def _unseen(game: Game, view: View) -> list[int]:
    played = [action for action in view.past_actions if action <= 32]
    located = [*played, *hand_cards(view.hand)]
    located += view.table[: max(0, len(view.table) - len(played))]  # on the table when the deal was resumed
    for seat, known in enumerate(view.known):
        if seat != view.seat:
            located += cards_of(known)
    if _turn_up_lies(game, view):
        located.append(view.turn_up)
    cards: list[int] = list(game.cards)
    try:
        for card in located:
            cards.remove(card)
    except ValueError:
        raise UsageError(
            f"{CARDS[card]} stands in the view more often than in a deck of {game.rules.deck} cards; "
            "give the rules that the view was made under"
        ) from None
    return cards


def _turn_up_lies(game: Game, view: View) -> bool:
    """Whether the last card of the talon is the turn-up."""
    return bool(view.turn_up) and game.rules.trump_source is TrumpSource.TURN_UP


def _talon(game: Game, view: View, rest: Sequence[int]) -> tuple[Card, ...]:
    """The talon from the cards that lie in no hand, in their order; those beyond its size are out of play."""
    turn_up = (view.turn_up,) if _turn_up_lies(game, view) else ()
    return tuple([CARDS[card] for card in (*rest[: view.talon - len(turn_up)], *turn_up)])


@dataclass(frozen=True, slots=True)
class _Place:
    """Where hidden cards can lie: a hand, or (seat -1) all that is no hand, the talon and what is out of play."""

    seat: int
    size: int
    barred: int
    """The cards (a mask) that cannot lie here."""


def _places(game: Game, view: View, hidden: int) -> list[_Place]:
    """The hands with hidden cards, then the rest."""
    barred = _barred(game, view)
    places = [
        _Place(seat, size - view.known[seat].bit_count(), barred[seat])
        for seat, size in enumerate(view.hand_sizes)
        if seat != view.seat
    ]
    rest = hidden - sum(place.size for place in places)
    if rest < view.talon - _turn_up_lies(game, view):
        raise UsageError(f"{hidden} cards of a deck of {game.rules.deck} are hidden from this view, fewer than hands "
                         "and talon hold; give the rules that the view was made under")  # fmt: skip
    return [*places, _Place(-1, rest, 0)]


def _barred(game: Game, view: View) -> list[int]:
    """By seat, the cards (a mask) that it would have had to play to an earlier trick."""
    barred = [0] * len(view.hand_sizes)
    for trick in _strict_tricks(game, view):
        (_, led), *followers = trick
        best = led
        for seat, card in followers:
            barred[seat] |= _preferred(card, led, best, view.trump)
            if BEATS[view.trump][best] >> card & 1:
                best = card
    return barred


@cache
def _preferred(card: int, led: int, best: int, trump: int) -> int:
    """The cards (a mask) that would have made `card` illegal in strict play: one of them had to be played."""
    pairs = ((other, 1 << other | 1 << card) for other in CARDS[1:])
    return mask_of(other for other, hand in pairs if not strict_follow(hand, led, best, trump) >> card & 1)


def _strict_tricks(game: Game, view: View) -> Iterator[list[tuple[int, int]]]:
    """The tricks of strict play that the view shows, the one on the table last: (seat, card) in the order played.

    None where marriages change what is trump (1001: by then each seat can work the other hand out anyway).
    """
    order = game.table.orders[view.dealer][view.leader]
    seats = len(order)
    if (view.closer is None and view.talon >= seats) or game.rules.marriage_values is MarriageValues.BY_SUIT:
        return
    plays = [(seat, card) for seat, card in zip(view.past_seats, view.past_actions, strict=True) if card <= 32]
    finished = plays[: max(0, len(plays) - len(view.table))]
    if view.closer is None:
        tricks = game.rules.hand - max(view.hand_sizes)
    else:
        tricks = sum(action <= 32 for action in view.past_actions[view.past_actions.find(CLOSE) + 1 :]) // seats
    # History that began in mid-trick has no beginning of that trick: count whole tricks from the end.
    for back in range(min(tricks, len(finished) // seats), 0, -1):
        start = len(finished) - back * seats
        yield finished[start : start + seats]
    if view.table:
        yield list(zip(order, view.table, strict=False))


def _groups(cards: Sequence[int], places: Sequence[_Place]) -> list[_Group]:
    """The cards by where they can lie, those that can lie anywhere last."""
    groups: dict[tuple[bool, ...], list[int]] = {}
    for card in cards:
        allowed = tuple([not place.barred >> card & 1 for place in places])
        groups.setdefault(allowed, []).append(card)
    return sorted(groups.items(), key=lambda group: all(group[0]))


# -- drawing evenly --------------------------------------------------------------------------------------------------

_Group = tuple[tuple[bool, ...], list[int]]
"""Cards that can lie in the same places: which places those are, and the cards."""
_Shape = tuple[tuple[bool, ...], int]
"""How many cards can lie in which places."""


def _shapes(groups: Sequence[_Group]) -> tuple[_Shape, ...]:
    return tuple([(allowed, len(cards)) for allowed, cards in groups])


def _deal_out(groups: Sequence[_Group], sizes: tuple[int, ...], rng: Randomness) -> list[list[int]]:
    """The cards by place, every way to fill the places with the same chance."""
    lots: list[list[int]] = [[] for _ in sizes]
    shapes = _shapes(groups)
    for index, (allowed, group) in enumerate(groups):
        later = shapes[index + 1 :]
        choices = list(_splits(len(group), allowed, sizes))
        split = choices[0]
        if len(choices) > 1:
            drawn = rng.randrange(_ways(shapes[index:], sizes))
            for split in choices:
                drawn -= _fillings(split) * _ways(later, _less(sizes, split))
                if drawn < 0:
                    break
        cards = group[:]
        rng.shuffle(cards)
        for lot, (start, end) in zip(lots, pairwise(accumulate(split, initial=0)), strict=True):
            lot += cards[start:end]
        sizes = _less(sizes, split)
    return lots


@lru_cache(maxsize=4096)
def _ways(shapes: tuple[_Shape, ...], sizes: tuple[int, ...]) -> int:
    """In how many ways groups of these shapes (allowed places, number of cards) fill places of these sizes."""
    if not shapes:
        return 1
    (allowed, count), *later = shapes
    return sum(_fillings(split) * _ways(tuple(later), _less(sizes, split)) for split in _splits(count, allowed, sizes))


def _splits(count: int, allowed: tuple[bool, ...], sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The ways to split `count` cards over the allowed places, as numbers by place."""
    if not sizes:
        if not count:
            yield ()
        return
    room = sum(size for size, may in zip(sizes[1:], allowed[1:], strict=True) if may)
    most = min(count, sizes[0]) if allowed[0] else 0
    for lot in range(max(0, count - room), most + 1):
        for others in _splits(count - lot, allowed[1:], sizes[1:]):
            yield (lot, *others)


def _fillings(split: tuple[int, ...]) -> int:
    """In how many ways sum(split) different cards can be split so."""
    return prod(comb(total, lot) for total, lot in zip(accumulate(split), split, strict=True))


def _less(sizes: tuple[int, ...], split: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([size - lot for size, lot in zip(sizes, split, strict=True)])


# -- who is asked ----------------------------------------------------------------------------------------------------


def _question(game: Game, view: View) -> tuple[int, DecisionPoint, tuple[int, ...]]:
    """Who is asked what, and who is asked the same later: public, so it follows from any seat's view.

    Only the history tells the others that a seat is being asked at a close; at a position that a deal was resumed
    from they do not know.
    """
    order = game.table.orders[view.dealer][view.leader]
    leader = view.leader
    if view.point is DecisionPoint.ON_CLOSE:
        return view.seat, DecisionPoint.ON_CLOSE, order[order.index(view.seat) + 1 :]
    if view.point is None and (waiting := _asked_on_close(game, view, order)):
        return waiting[0], DecisionPoint.ON_CLOSE, waiting[1:]
    if view.table:
        return order[len(view.table)], DecisionPoint.FOLLOW, ()
    if not view.hand_sizes[leader]:
        return leader, DecisionPoint.AFTER_LAST_TRICK, ()
    open_talon = view.closer is None and view.talon >= len(order)
    if open_talon and view.hand_sizes[leader] < game.rules.hand:
        return leader, DecisionPoint.BEFORE_DRAW, ()
    return leader, DecisionPoint.ON_LEAD, ()


def _asked_on_close(game: Game, view: View, order: tuple[int, ...]) -> tuple[int, ...]:
    """The seats that have still to answer a close, the next one first."""
    if view.closer is None or not game.rules.exchange_on_opponent_close:
        return ()
    closed = view.past_actions.rfind(CLOSE)
    since = view.past_seats[closed + 1 :]
    if closed < 0 or view.closer in since:
        return ()
    return order[1 + len(since) :]
