"""Any legal moment of a deal as a frozen value and as readable text, and the way back into play.

A position holds what a deal's future depends on and nothing of its past: points and tricks are stated, not derived,
and cards that are listed nowhere are simply gone (won, face down).  Public history starts anew at a position.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, TypeVar, assert_never

from arena.cards import CARDS, SUIT_OF, Card, Suit, cards_of, format_cards, hand_cards, hand_mask, mask_of, parse_cards
from arena.errors import NotationError, UsageError
from arena.game.deal import AFTER_LAST_TRICK_BITS, Deal
from arena.game.game import Game
from arena.game.rules import Close, Marriage, MarriageCredit, TrumpSource
from arena.game.views import DecisionPoint


@dataclass(frozen=True, slots=True)
class Position:
    """A deal in which a seat is to act.  Hands and sets of cards are ascending by number when `position_of` made it."""

    dealer: int
    hands: tuple[tuple[Card, ...], ...]
    """The cards of each seat (identical cards twice)."""
    talon: tuple[Card, ...]
    """The undrawn cards, top first, the turn-up last."""
    turn_up: Card | None
    """The turn-up while it lies under the talon, or the dealer's shown card."""
    trump: Suit | None
    leader: int
    """The seat that leads the current trick: the winner of the last one."""
    to_act: int
    point: DecisionPoint
    table: tuple[Card, ...]
    """The cards of the current trick in the order played."""
    bound: tuple[Card, ...]
    """After a declaration: the cards of the pair one of which must be led."""
    points: tuple[int, ...]
    """Credited card points by side."""
    pending: tuple[int, ...]
    """Marriage points by side that are declared but do not count yet."""
    tricks: tuple[int, ...]
    """Tricks won by side."""
    closer: int | None
    closed_points: tuple[int, ...]
    """Card points by side at the moment of closing; empty while the talon is not closed."""
    closed_tricks: tuple[int, ...]
    """Tricks by side at the moment of closing; empty while the talon is not closed."""
    known: tuple[tuple[Card, ...], ...]
    """By seat, the cards that everybody knows to be in that hand."""
    to_ask: tuple[int, ...]
    """At `on_close`: the seats that are asked after the one to act."""


def position_of(deal: Deal) -> Position:
    """The position of a deal in play.  Raises `UsageError` once the deal is over."""
    if deal.to_act is None or deal.point is None:
        raise UsageError("a finished deal has no position: nobody is to act")
    return Position(
        dealer=deal.dealer,
        hands=tuple(hand_cards(hand) for hand in deal.hands),
        talon=tuple(CARDS[card] for card in deal.talon),
        turn_up=CARDS[deal.turn_up] if deal.turn_up else None,
        trump=Suit(deal.trump) if deal.trump else None,
        leader=deal.leader,
        to_act=deal.to_act,
        point=deal.point,
        table=tuple(CARDS[card] for card in deal.table),
        bound=cards_of(deal.bound),
        points=tuple(deal.points),
        pending=tuple(deal.pending),
        tricks=tuple(deal.tricks),
        closer=deal.closer,
        closed_points=deal.closed_points,
        closed_tricks=deal.closed_tricks,
        known=tuple(cards_of(mask) for mask in deal.known),
        to_ask=deal._close_asked if deal.point is DecisionPoint.ON_CLOSE else (),
    )


def resume(game: Game, position: Position, *, score: tuple[int, ...] = (), carry: int = 0) -> Deal:
    """The deal that goes on from the position: same legal actions, views (but for history) and future.

    `score` is the match score by side before this deal.  Raises `UsageError` where the rules of `game` cannot lead to
    such a position.
    """
    _check(game, position)
    table = position.table
    hands = list(position.hands)
    order = game.table.orders[position.dealer][position.leader]
    for seat, card in zip(order, table, strict=False):
        hands[seat] = (*hands[seat], card)
    deal = Deal(
        game,
        dealer=position.dealer,
        hands=[hand_mask(hand) for hand in hands],
        talon=list(position.talon),
        turn_up=position.turn_up or 0,
        trump=position.trump or 0,
        leader=position.leader,
        points=position.points,
        pending=position.pending,
        tricks=position.tricks,
        known=[0] * len(hands),
        score=score or (0,) * game.table.sides,
        carry=carry,
    )
    if position.closer is not None:
        deal.closer = position.closer
        deal.closed_points = position.closed_points
        deal.closed_tricks = position.closed_tricks
        deal.strict = True
    match position.point:
        case DecisionPoint.ON_LEAD:
            deal.bound = mask_of(position.bound)
            deal._ask_lead(position.leader)
        case DecisionPoint.FOLLOW:
            deal._auto_leads = 0  # a marriage on this lead was declared when its card was led
            for seat, card in zip(order, table, strict=False):
                if not deal.legal_mask >> card & 1:
                    _refuse(f"seat {seat} could not play {card} to this trick ({format_cards(table)})")
                deal.apply(card)
            deal.past_seats = deal.past_actions = b""
        case DecisionPoint.BEFORE_DRAW:
            deal._ask(position.leader, position.point, game.before_draw_bits)
        case DecisionPoint.ON_CLOSE:
            deal.bound = mask_of(position.bound)
            deal._close_asked = (position.to_act, *position.to_ask)
            deal._next_on_close()
        case DecisionPoint.AFTER_LAST_TRICK:
            deal._ask(position.leader, position.point, AFTER_LAST_TRICK_BITS)
        case _:
            assert_never(position.point)
    deal.known = tuple(mask_of(cards) for cards in position.known)
    return deal


# -- what the rules can lead to --------------------------------------------------------------------------------------


def _refuse(reason: str) -> NoReturn:
    raise UsageError(f"this position cannot arise: {reason}")


def _check(game: Game, p: Position) -> None:
    """Raise `UsageError` for the first thing in the position that the rules of `game` cannot lead to."""
    _check_shape(game, p)
    _check_cards(game, p)
    _check_trump(game, p)
    _check_sizes(game, p)
    _check_marriage(game, p)
    _check_close(game, p)
    _check_point(game, p)


def _check_shape(game: Game, p: Position) -> None:
    """Tuples as long as the table has seats or sides; seats that play the deal; no negative numbers."""
    table = game.table
    if p.dealer not in range(table.seats):
        _refuse(f"there is no seat {p.dealer} to deal; seats are 0 to {table.seats - 1}")
    playing = table.orders[p.dealer][table.forehand(p.dealer)]
    for name, by_seat in (("hands", p.hands), ("known", p.known)):
        if len(by_seat) != table.seats:
            _refuse(f"{name} has {len(by_seat)} entries for {table.seats} seats")
    for name, by_side in (("points", p.points), ("pending", p.pending), ("tricks", p.tricks)):
        if len(by_side) != table.sides:
            _refuse(f"{name} has {len(by_side)} entries for {table.sides} sides")
        for side, number in enumerate(by_side):
            if number < 0:
                _refuse(f"{name} of side {side} is {number}; it cannot be negative")
            if number and not any(table.side_of[seat] == side for seat in playing):
                _refuse(f"{name} of side {side} is {number}, but that side does not play this deal")
    for name, seat in (("leader", p.leader), ("the seat to act", p.to_act)):
        if seat not in playing:
            _refuse(f"{name} is seat {seat}; the seats that play this deal are {', '.join(map(str, playing))}")
    for side in range(table.sides):
        if p.points[side] and not p.tricks[side]:
            _refuse(f"side {side} has {p.points[side]} card points but no trick")
    if any(p.tricks):
        if not p.tricks[table.side_of[p.leader]]:
            _refuse(f"seat {p.leader} leads, so it won the last trick, but its side has no trick")
    elif p.leader != playing[0]:
        _refuse(f"no trick has been won, so seat {playing[0]} leads, not seat {p.leader}")


def _check_cards(game: Game, p: Position) -> None:
    """No card that the deck does not have, none too often; what is known is there."""
    deck = Counter(game.cards)
    placed = Counter(card for cards in (*p.hands, p.talon, p.table) for card in cards)
    for card, times in placed.items():
        if card not in deck:
            _refuse(f"{card} is not in the deck of {game.rules.deck} cards")
        if times > deck[card]:
            _refuse(f"{card} stands in {times} places; the deck has it {'once' if deck[card] == 1 else 'twice'}")
    for seat, cards in enumerate(p.known):
        for card in cards:
            if card not in p.hands[seat]:
                _refuse(f"{card} is known to be in the hand of seat {seat}, but it is not there")


def _check_trump(game: Game, p: Position) -> None:
    """The turn-up lies under the talon and makes trump."""
    source = game.rules.trump_source
    lies = p.talon[-1] if p.talon and source is TrumpSource.TURN_UP else None
    if source is not TrumpSource.DEALER_CARD and p.turn_up != lies:
        _refuse(f"the turn-up is {p.turn_up or 'none'}, but the last card of the talon says {lies or 'none'}")
    if source is TrumpSource.DEALER_CARD and p.turn_up is None:
        _refuse("the dealer's shown card is missing; it stays the turn-up for the whole deal")
    if p.turn_up is not None and p.trump is not p.turn_up.suit:
        _refuse(f"the turn-up is {p.turn_up}, so trump is {p.turn_up.suit}, not {p.trump or 'none'}")
    if p.trump is None and source is not TrumpSource.MARRIAGE:
        _refuse("there is no trump suit")


def _check_sizes(game: Game, p: Position) -> None:
    """Hands of equal size that fit the phase of the deal, and as many tricks as cards are gone."""
    rules = game.rules
    seats = game.table.orders[p.dealer][p.leader]
    if len(p.table) >= len(seats):
        _refuse(f"{len(p.table)} cards lie on the table; a trick of {len(seats)} seats would be over")
    size = len(p.hands[p.leader]) + bool(p.table)
    for seat, hand in enumerate(p.hands):
        expected = size - (seat in seats[: len(p.table)]) if seat in seats else 0
        if len(hand) != expected:
            _refuse(f"seat {seat} holds {len(hand)} cards; beside the others it would hold {expected}")
    undealt = rules.deck - len(seats) * rules.hand
    drawn = undealt - len(p.talon)
    if drawn % len(seats):
        _refuse(f"the talon has {len(p.talon)} cards; {len(seats)} seats draw one each from {undealt}")
    before_draw = p.point is DecisionPoint.BEFORE_DRAW
    if p.closer is None and len(p.talon) >= len(seats) and size != rules.hand - before_draw:
        _refuse(f"hands of {size} in open play; they would hold {rules.hand - before_draw}")
    if size > rules.hand:
        _refuse(f"hands of {size}; these rules deal {rules.hand}")
    if not size and p.point is not DecisionPoint.AFTER_LAST_TRICK:
        _refuse("the hands are empty")
    gone = rules.hand - size + drawn // len(seats)
    if sum(p.tricks) != gone:
        _refuse(f"the tricks add up to {sum(p.tricks)}, but the cards that are gone make {gone}")


def _check_marriage(game: Game, p: Position) -> None:
    """Pending points that can still be pending, and a bound pair in the leader's hand."""
    rules = game.rules
    side = game.table.side_of[p.leader]
    for declarer, pending in enumerate(p.pending):
        if pending and rules.marriage is Marriage.OFF:
            _refuse(f"side {declarer} has pending marriage points; these rules have no marriages")
        if pending and not p.tricks[declarer] and rules.marriage is Marriage.NEEDS_TRICK:
            _refuse(f"side {declarer} has pending marriage points without the trick that a declaration needs")
        waits = rules.marriage_credit is MarriageCredit.NEXT_TRICK or (
            rules.marriage_credit is MarriageCredit.LED and declarer == side and p.bound
        )
        if pending and p.tricks[declarer] and not waits:
            _refuse(f"side {declarer} has a trick, so its marriage points do not stay pending")
    if not p.bound:
        return
    if p.point not in (DecisionPoint.ON_LEAD, DecisionPoint.ON_CLOSE):
        _refuse(f"a pair is bound to the lead, but the question is {_point_name(p.point)}")
    if rules.marriage is Marriage.OFF or (rules.marriage is Marriage.NEEDS_TRICK and not p.tricks[side]):
        _refuse("a pair is bound to the lead, but no marriage could be declared on it")
    king = next((card for card in p.bound if card.rank == "K"), None)
    pair = () if king is None else (CARDS[king - 1], king)
    if king is None or set(p.bound) != {king if game.lead_king else card for card in pair}:
        _refuse(f"{format_cards(p.bound)} cannot be bound; a declaration binds the king and queen of a suit"
                f"{', here the king alone' if game.lead_king else ''}")  # fmt: skip
    if not set(pair) <= set(p.known[p.leader]):
        _refuse(f"the pair {format_cards(pair)} was shown, so both must be known to be in the hand of seat {p.leader}")


def _check_close(game: Game, p: Position) -> None:
    """A close that was legal when it was made, with its snapshot."""
    sides = game.table.sides
    if p.closer is None:
        if p.closed_points or p.closed_tricks:
            _refuse("points or tricks at the close are given, but no closer")
        return
    seats = game.table.orders[p.dealer][p.leader]
    if game.rules.close is Close.OFF:
        _refuse("the talon is closed; these rules have no closing")
    if p.closer not in seats:
        _refuse(f"seat {p.closer} closed, but does not play this deal")
    if len(p.talon) < game.close_min:
        _refuse(f"the talon was closed with {len(p.talon)} cards; it needs {game.close_min}")
    for name, then, now in (("points", p.closed_points, p.points), ("tricks", p.closed_tricks, p.tricks)):
        if len(then) != sides:
            _refuse(f"the {name} at the close are needed for each of {sides} sides")
        for side in range(sides):
            if not 0 <= then[side] <= now[side]:
                _refuse(f"side {side} had {then[side]} {name} at the close and has {now[side]} now")
    for side in range(sides):
        if p.closed_points[side] and not p.closed_tricks[side]:
            _refuse(f"side {side} had {p.closed_points[side]} card points at the close but no trick")
    played = sum(p.closed_tricks)
    draws = (game.rules.deck - len(seats) * game.rules.hand - len(p.talon)) // len(seats)
    if played == draws:
        possible = game.close_later if played else game.close_first_lead
    else:
        possible = played == draws + 1 and game.closes_before_draw
    if not possible:
        _refuse(f"no seat could close after {played} tricks and {draws} draws")
    if played and not p.closed_tricks[game.table.side_of[p.closer]]:
        _refuse(f"seat {p.closer} closed after winning a trick, but its side had none")
    if not played and p.closer != game.table.orders[p.dealer][game.table.forehand(p.dealer)][0]:
        _refuse(f"seat {p.closer} cannot have closed at the first lead, which was not its own")
    if played == sum(p.tricks) and p.closer != p.leader:
        _refuse(f"seat {p.closer} has just closed, so it leads, not seat {p.leader}")


def _check_point(game: Game, p: Position) -> None:
    """The question can be asked now, and of that seat."""
    order = game.table.orders[p.dealer][p.leader]
    asked = (p.to_act, *p.to_ask)
    expected: tuple[int, ...] = (p.leader,)
    match p.point:
        case DecisionPoint.ON_LEAD:
            possible = not p.table
        case DecisionPoint.FOLLOW:
            possible = bool(p.table)
            expected = (order[len(p.table)],)
        case DecisionPoint.BEFORE_DRAW:
            possible = (
                game.closes_before_draw
                and p.closer is None
                and not p.table
                and any(p.tricks)
                and len(p.talon) >= game.close_min
            )
        case DecisionPoint.ON_CLOSE:
            possible = (
                game.rules.exchange_on_opponent_close
                and p.closer == p.leader
                and p.closed_tricks == p.tricks
                and not p.table
            )
            expected = order[-len(asked) :] if len(asked) < len(order) else order[1:]
        case DecisionPoint.AFTER_LAST_TRICK:
            possible = game.claim_after_trick and not p.hands[p.leader] and not p.table
        case _:
            assert_never(p.point)
    if not possible:
        _refuse(f"nobody is asked {_point_name(p.point)} here")
    if asked != expected:
        seats = " then ".join(map(str, expected))
        _refuse(f"at {_point_name(p.point)} seat {seats} is asked, not {' then '.join(map(str, asked))}")


# -- text ------------------------------------------------------------------------------------------------------------


_T = TypeVar("_T")

_KEYS = (
    "dealer", "hand", "talon", "turn-up", "trump", "leader", "table", "asked", "then asked", "bound", "points",
    "pending", "tricks", "closer", "closed points", "closed tricks", "known",
)  # fmt: skip
_POINTS = {point.name.lower(): point for point in DecisionPoint}


def _point_name(point: DecisionPoint) -> str:
    return point.name.lower()


def format_position(game: Game, position: Position) -> str:
    """The position as text, a key a line, what goes without saying omitted; `parse_position` is its inverse."""
    p = position
    table = game.table
    zeros = (0,) * table.sides
    lines = [f"dealer: {p.dealer}"]

    def line(key: str, text: object, *, unless: bool) -> None:
        if not unless:
            lines.append(f"{key}: {text}")

    for seat, hand in enumerate(p.hands):
        line(f"hand {seat}", format_cards(hand), unless=not hand)
    line("talon", format_cards(p.talon), unless=not p.talon)
    line("turn-up", p.turn_up, unless=p.turn_up == _usual_turn_up(game, p.talon))
    line("trump", p.trump, unless=p.trump is None)
    line("leader", p.leader, unless=p.leader == _usual_leader(game, p.dealer))
    line("table", format_cards(p.table), unless=not p.table)
    usual = _usual_question(game, p.dealer, p.leader, p.hands, p.table)
    line("asked", f"{p.to_act} {_point_name(p.point)}", unless=(p.to_act, p.point) == usual)
    line("then asked", " ".join(map(str, p.to_ask)), unless=not p.to_ask)
    line("bound", format_cards(p.bound), unless=not p.bound)
    line("points", format_numbers(p.points), unless=p.points == zeros)
    line("pending", format_numbers(p.pending), unless=p.pending == zeros)
    line("tricks", format_numbers(p.tricks), unless=p.tricks == zeros)
    line("closer", p.closer, unless=p.closer is None)
    line("closed points", format_numbers(p.closed_points), unless=not p.closed_points)
    line("closed tricks", format_numbers(p.closed_tricks), unless=not p.closed_tricks)
    usual_known = _usual_known(game, p.dealer, p.hands, p.turn_up)
    for seat, cards in enumerate(p.known):
        line(f"known {seat}", format_cards(cards), unless=cards == usual_known[seat])
    return "\n".join(lines) + "\n"


def parse_position(game: Game, text: str, *, first_line: int = 1) -> Position:
    """The inverse of `format_position`; empty lines and remarks (`# ...`) are skipped.

    Raises `NotationError` with the number of the line (the first one counts as `first_line`) and what was expected
    there.  Whether the rules can lead to the position is for `resume` to say.
    """
    table = game.table
    fields = _read_fields(text, first_line, table.seats)
    zeros = (0,) * table.sides

    def get(key: str, convert: Callable[[str], _T], default: _T) -> _T:
        if key not in fields:
            return default
        number, value = fields[key]
        try:
            return convert(value)
        except NotationError as error:
            raise NotationError(f"line {number}: {key}: {error}") from None

    def seat(text: str) -> int:
        return parse_seat(text, table.seats)

    def seats(text: str) -> tuple[int, ...]:
        return tuple(map(seat, text.split()))

    def numbers(text: str) -> tuple[int, ...]:
        return parse_numbers(text, table.sides)

    def question(text: str) -> tuple[int, DecisionPoint]:
        who, _, what = text.partition(" ")
        if what.strip() not in _POINTS:
            raise NotationError(f"{text!r} is no seat and question; expected as in '0 before_draw', "
                                f"with one of {', '.join(_POINTS)}")  # fmt: skip
        return seat(who), _POINTS[what.strip()]

    none: tuple[Card, ...] = ()
    dealer = get("dealer", seat, table.first_dealer)
    hands = tuple(get(f"hand {seat}", parse_cards, none) for seat in range(table.seats))
    talon = get("talon", parse_cards, none)
    turn_up = get("turn-up", Card.parse, _usual_turn_up(game, talon))
    leader = get("leader", seat, _usual_leader(game, dealer))
    trick = get("table", parse_cards, none)
    to_act, point = get("asked", question, _usual_question(game, dealer, leader, hands, trick))
    usual_known = _usual_known(game, dealer, hands, turn_up)
    return Position(
        dealer=dealer,
        hands=hands,
        talon=talon,
        turn_up=turn_up,
        trump=get("trump", Suit.parse, None if turn_up is None else SUIT_OF[turn_up]),
        leader=leader,
        to_act=to_act,
        point=point,
        table=trick,
        bound=get("bound", parse_cards, none),
        points=get("points", numbers, zeros),
        pending=get("pending", numbers, zeros),
        tricks=get("tricks", numbers, zeros),
        closer=get("closer", seat, None),
        closed_points=get("closed points", numbers, ()),
        closed_tricks=get("closed tricks", numbers, ()),
        known=tuple(get(f"known {seat}", parse_cards, usual_known[seat]) for seat in range(table.seats)),
        to_ask=get("then asked", seats, ()),
    )


def _usual_turn_up(game: Game, talon: tuple[Card, ...]) -> Card | None:
    return talon[-1] if talon and game.rules.trump_source is TrumpSource.TURN_UP else None


def _usual_leader(game: Game, dealer: int) -> int:
    return game.table.orders[dealer][game.table.forehand(dealer)][0]


def _usual_question(
    game: Game, dealer: int, leader: int, hands: tuple[tuple[Card, ...], ...], table: tuple[Card, ...]
) -> tuple[int, DecisionPoint]:
    order = game.table.orders[dealer][leader]
    if table:
        return order[len(table) % len(order)], DecisionPoint.FOLLOW
    return leader, DecisionPoint.ON_LEAD if any(hands) else DecisionPoint.AFTER_LAST_TRICK


def _usual_known(
    game: Game, dealer: int, hands: tuple[tuple[Card, ...], ...], turn_up: Card | None
) -> tuple[tuple[Card, ...], ...]:
    """The dealer's shown card is known to be in that hand; nothing else goes without saying."""
    shown = turn_up if game.rules.trump_source is TrumpSource.DEALER_CARD else None
    return tuple(
        (shown,) if seat == dealer and shown is not None and shown in hand else () for seat, hand in enumerate(hands)
    )


def _read_fields(text: str, first_line: int, seats: int) -> dict[str, tuple[int, str]]:
    """The lines by key, each with its number."""
    keys = {key for key in _KEYS if key not in ("hand", "known")}
    keys |= {f"{key} {seat}" for key in ("hand", "known") for seat in range(seats)}
    fields: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(text.splitlines(), first_line):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        key, colon, value = line.partition(":")
        key = " ".join(key.split())
        if not colon:
            raise NotationError(f"line {number}: {line!r} is not 'key: value', as in 'dealer: 1'")
        if key not in keys:
            near = difflib.get_close_matches(key, sorted(keys), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"keys are {', '.join(_KEYS)}"
            raise NotationError(f"line {number}: unknown key {key!r} for a deal with {seats} seats; {hint}")
        if key in fields:
            raise NotationError(f"line {number}: {key} was already given in line {fields[key][0]}")
        fields[key] = (number, value.strip())
    return fields


def format_numbers(numbers: tuple[int, ...]) -> str:
    """Numbers by side as in `68-28`."""
    return "-".join(map(str, numbers))


def parse_numbers(text: str, sides: int) -> tuple[int, ...]:
    """`"68-28"` -> one number a side; raises `NotationError`."""
    parts = [part.strip() for part in text.split("-")]
    if len(parts) != sides or not all(part.isascii() and part.isdecimal() for part in parts):
        example = "-".join(["0"] * sides)
        raise NotationError(f"{text!r} is not a number for each of {sides} sides, as in {example}")
    return tuple(map(int, parts))


def parse_seat(text: str, seats: int) -> int:
    """`"1"` -> 1; raises `NotationError` for anything that is no seat."""
    if not (text.isascii() and text.isdecimal()) or int(text) >= seats:
        raise NotationError(f"{text!r} is not a seat; seats are 0 to {seats - 1}")
    return int(text)
