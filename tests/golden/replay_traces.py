"""Replay deals recorded by other engines, and solve their endgames.

    python -m tests.golden.replay_traces FILE...

A line is one JSON object, told by its content: a *partial* trace (its steps have pending points) is played under
`vu-schnapsen`, a *full* trace (closing included) under `schnapsen` where the arena notices 66 by itself, an *endgame*
is solved under `vu-schnapsen`.

Cards known to be in the other hand: while seats draw, all engines must agree exactly.  In strict play they differ on
purpose.  With an empty talon the partial engine deduces the whole other hand: it must name exactly that hand, and ours
must be among it.  The full engine forgets what it knew: it must name nothing that is not there.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.cards import CARD_NAMES, CARD_POINTS, CLOSE, EXCHANGE, Action, Card, Suit, cards_of, hand_cards, parse_cards
from arena.errors import UsageError
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.position import resume
from arena.game.presets import preset
from arena.game.solve import solve
from tests.golden.checking import Comparison, Findings, Unreadable, counts, main, on_lead

USAGE = "usage: python -m tests.golden.replay_traces FILE..."

PARTIAL = Game(preset("vu-schnapsen"))
FULL = Game(preset("schnapsen").with_options({"claim": "auto", "close_needs_claim": False}))
DECK = len(PARTIAL.cards)
HAND = PARTIAL.rules.hand


def check(text: str) -> Findings:
    """Compare every record of the text; raises `Unreadable`."""
    found: list[str] = []
    numbers = {"partial trace": 0, "full trace": 0, "endgame": 0}
    for line, content in enumerate(text.splitlines(), 1):
        if not content.strip():
            continue
        try:
            record = Record(line, json.loads(content))
            if "value" in record:
                kind, comparison = "endgame", solve_endgame(record)
            elif "dealer" in record:
                kind, comparison = "full trace", replay_full(record)
            else:
                kind, comparison = "partial trace", replay_partial(record)
        except json.JSONDecodeError as error:
            raise Unreadable(line, f"not JSON: {error}") from None
        except UsageError as error:
            raise Unreadable(line, str(error)) from None
        numbers[kind] += 1
        found += comparison.found
    if not any(numbers.values()):
        raise Unreadable(1, "there is no record in it; a line is one JSON object")
    return Findings(counts((number, kind) for kind, number in numbers.items()), tuple(found))


# -- the three kinds --------------------------------------------------------------------------------------------------


def replay_partial(record: Record) -> Comparison:
    """A deal without closing, where declared points wait for the next trick."""
    steps = record.rows("steps", SEAT, words(r"|m:[SHDC]|x:J[SHDC]"), words(r"|m:[SHDC]|x:J[SHDC]", many=True),
                        PAIR, PAIR, COUNT, words(many=True), words(many=True))  # fmt: skip
    tricks = record.rows("tricks", SEAT, words(), words(), SEAT, COUNT)
    deck = record.deck()
    start = on_lead(0, dealer=1, hands=(deck[0:10:2], deck[1:10:2]), talon=deck[10:], trump=deck[-1].suit)
    comparison = Comparison(record.place("deal"))
    deal = resume(PARTIAL, start)
    played: list[list[Any]] = []
    for number, (seat, word, legal, points, pending, talon, hand, known) in enumerate(steps, 1):
        step = f"step {number}"
        dialect = partial_dialect(deal)
        if not compare_step(comparison, step, deal, dialect, seat, legal, points, talon, hand):
            return comparison
        comparison.expect("pending", list(deal.pending), pending, step=step)
        ours, theirs = known_of_the_other(deal, seat), set(known.split())
        if deal.strict:
            comparison.expect("known (the other hand)", listed(other_hand(deal, seat)), listed(theirs), step=step)
            comparison.expect("known but not theirs", listed(ours - theirs), "", step=step)
        else:
            comparison.expect("known", listed(ours), listed(theirs), step=step)
        if not play(comparison, step, deal, dialect, word, played):
            return comparison
    compare_tricks(comparison, played, tricks)
    end = record.part("end", w=SEAT, gp=COUNT, pts=PAIR, pend=PAIR, left=COUNT)
    if compare_end(comparison, deal, end):
        comparison.expect("pending at the end", list(deal.pending), end["pend"])
        drawn = 1 if deal.talon else 0  # that engine draws once more after the trick that decided the deal
        for seat, cards in enumerate(deal.hands):
            comparison.expect(f"cards left of seat {seat}", len(hand_cards(cards)) + drawn, end["left"])
    return comparison


def replay_full(record: Record) -> Comparison:
    """A deal with closing, where a declaring lead is one action."""
    steps = record.rows("steps", SEAT, words(r"|m:[KQ][SHDC]|x|c"), words(r"|m:[KQ][SHDC]|x|c", many=True),
                        PAIR, COUNT, words(many=True), words(many=True))  # fmt: skip
    tricks = record.rows("tricks", SEAT, words(), words(), SEAT)
    dealer = record.get("dealer", SEAT)
    leader = FULL.table.next_seat(dealer)
    deck = record.deck()
    hand_of = {dealer: deck[0:5], leader: deck[5:10]}
    talon = (*deck[11:], deck[10])
    start = on_lead(leader, dealer=dealer, hands=(hand_of[0], hand_of[1]), talon=talon, trump=talon[-1].suit)
    comparison = Comparison(record.place("deal"))
    deal = resume(FULL, start)
    played: list[list[Any]] = []
    for number, (seat, word, legal, points, left, hand, known) in enumerate(steps, 1):
        step = f"step {number}"
        dialect = full_dialect(deal)
        if not compare_step(comparison, step, deal, dialect, seat, legal, points, left, hand):
            return comparison
        ours, theirs = known_of_the_other(deal, seat), set(known.split())
        if deal.strict:
            comparison.expect("known but not there", "", listed(theirs - other_hand(deal, seat)), step=step)
        else:
            comparison.expect("known", listed(ours), listed(theirs), step=step)
        if not play(comparison, step, deal, dialect, word, played):
            return comparison
    compare_tricks(comparison, [trick[:4] for trick in played], tricks)
    end = record.part("end", w=SEAT, gp=COUNT, pts=PAIR, closer=OPTIONAL_SEAT, oppAtClose=OPTIONAL_COUNT)
    if compare_end(comparison, deal, end):
        comparison.expect("closer", deal.closer, end["closer"])
        at_close = None
        if deal.closer is not None:
            at_close = deal.closed_points[FULL.table.next_seat(deal.closer)]
        comparison.expect("opponent's points at the close", at_close, end["oppAtClose"])
    return comparison


def solve_endgame(record: Record) -> Comparison:
    """An exhausted talon: the exact value for the leader, and a move that keeps it."""
    hands = record.get("hands", list_of(2, words(many=True)))
    points = record.get("pts", PAIR)
    pending = record.get("pend", PAIR)
    value = record.get("value", VALUE)
    leader_hand, follower_hand = map(parse_cards, hands)
    # The record has no tricks: a side with points has one at least, the leader has won the last.
    gone = DECK // 2 - len(leader_hand)
    others = 1 if points[1] and gone > 1 else 0
    start = on_lead(
        0,
        dealer=1,
        hands=(leader_hand, follower_hand),
        talon=(),
        trump=Suit.parse(record.get("trump", words("|[SHDC]"))),
        points=tuple(points),
        pending=tuple(pending),
        tricks=(gone - others, others),
    )
    comparison = Comparison(record.place("endgame"))
    deal = resume(PARTIAL, start)
    comparison.expect("value", solve(deal).value, value)
    move = record.get("move", words(r"|m:[SHDC]"))
    if play(comparison, "move", deal, partial_dialect(deal), move, []):
        comparison.expect(f"value after {move}", value_for(deal, 0), value)
    return comparison


def value_for(deal: Deal, seat: int) -> int:
    """What the deal is worth to the seat, over or not."""
    if deal.outcome is not None:
        points = deal.outcome.points
        return points[seat] - sum(points[other] for other in deal.opponents(seat))
    value: int = solve(deal).value
    return value if deal.to_act == seat else -value


# -- what they call an action -----------------------------------------------------------------------------------------


def partial_dialect(deal: Deal) -> dict[str, tuple[Action, ...]]:
    """Our legal actions by the other engine's word: `m:H` declares and leads the king, `x:JS` exchanges."""
    said: dict[str, tuple[Action, ...]] = {}
    for action in deal.legal_actions:
        if (suit := action.marriage) is not None:
            said[f"m:{suit}"] = (action, Action.parse(f"K{suit}"))
        elif action == EXCHANGE:
            said[f"x:{CARD_NAMES[deal.game.lowest_trump[deal.trump]]}"] = (action,)
        else:
            said[str(action)] = (action,)
    return said


def full_dialect(deal: Deal) -> dict[str, tuple[Action, ...]]:
    """As `partial_dialect`: `m:KH` declares and leads that card, which then has no plain lead; `x`, `c`."""
    said: dict[str, tuple[Action, ...]] = {}
    for action in deal.legal_actions:  # cards come first
        if action.card is not None:
            said[str(action)] = (action,)
        elif (suit := action.marriage) is not None:
            for lead in (f"K{suit}", f"Q{suit}"):
                said[f"m:{lead}"] = (action, *said.pop(lead))
        elif action == EXCHANGE:
            said["x"] = (action,)
        elif action == CLOSE:
            said["c"] = (action,)
    return said


# -- comparing --------------------------------------------------------------------------------------------------------


def compare_step(
    comparison: Comparison, step: str, deal: Deal, dialect: Mapping[str, object], seat: int, legal: str,
    points: list[int], talon: int, hand: str,
) -> bool:  # fmt: skip
    """What both kinds of trace record before an action; False where going on makes no sense."""
    if deal.outcome is not None:
        comparison.note(f"ours is over ({deal.outcome.termination}), theirs goes on", step=step)
        return False
    comparison.expect("seat to act", deal.to_act, seat, step=step)
    comparison.expect("legal", listed(dialect), listed(legal.split()), step=step)
    comparison.expect("points", deal.points, points, step=step)
    comparison.expect("talon", len(deal.talon), talon, step=step)
    comparison.expect("hand", listed(map(str, hand_cards(deal.hands[seat]))), listed(hand.split()), step=step)
    return deal.to_act == seat


def play(
    comparison: Comparison, step: str, deal: Deal, dialect: Mapping[str, tuple[Action, ...]], word: str,
    played: list[list[Any]],
) -> bool:  # fmt: skip
    """Apply their action and note the trick that it may finish; False if it is refused."""
    if word not in dialect:
        comparison.note(f"ours refuses {word}", step=step)
        return False
    for action in dialect[word]:
        if deal.outcome is not None:
            break  # the declaration alone has decided the deal
        leader, table, tricks = deal.leader, list(deal.table), len(deal.winners)
        deal.apply(action)
        if len(deal.winners) > tricks:
            points = sum(CARD_POINTS[card] for card in (*table, action))
            played.append([leader, CARD_NAMES[table[0]], CARD_NAMES[action], deal.winners[-1], points])
    return True


def compare_tricks(comparison: Comparison, ours: Sequence[list[Any]], theirs: Sequence[list[Any]]) -> None:
    """Trick by trick, and their number."""
    for number, (our_trick, their_trick) in enumerate(zip(ours, theirs, strict=False), 1):
        comparison.expect("trick", our_trick, their_trick, step=f"trick {number}")
    comparison.expect("number of tricks", len(ours), len(theirs))


def compare_end(comparison: Comparison, deal: Deal, end: Mapping[str, Any]) -> bool:
    """Winner, game points and card points; False if ours is not over."""
    if deal.outcome is None:
        comparison.note(f"after the last step: ours goes on (seat {deal.to_act} to act), theirs is over")
        return False
    points = deal.outcome.points
    comparison.expect("winner", [side for side, scored in enumerate(points) if scored], [end["w"]])
    comparison.expect("game points", sum(points), end["gp"])
    comparison.expect("points at the end", list(deal.outcome.card_points), end["pts"])
    return True


def other_hand(deal: Deal, seat: int) -> set[str]:
    """The cards that are in the other seat's hand."""
    return set(map(str, hand_cards(deal.hands[deal.game.table.next_seat(seat)])))


def known_of_the_other(deal: Deal, seat: int) -> set[str]:
    """The cards that the seat's view shows in the other seat's hand."""
    return set(map(str, cards_of(deal.view(seat).known[deal.game.table.next_seat(seat)])))


def listed(cards: Iterable[str]) -> str:
    return " ".join(sorted(cards))


# -- reading ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shape:
    """What a value of a record must look like."""

    expected: str
    fits: Callable[[Any], bool]


def words(also: str = "", *, many: bool = False) -> Shape:
    """A card, or what else the pattern says; `many`: any number of them, separated by spaces."""
    word = f"(?:[ATKQJ][SHDC]{also})"
    pattern = re.compile(rf"(?:{word}(?: {word})*)?" if many else word)
    what = "cards or actions" if many else "a card or an action"
    return Shape(what, lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None)


def list_of(length: int, shape: Shape) -> Shape:
    """A list of that length with members of that shape."""
    return Shape(
        f"a list of {length}, each {shape.expected}",
        lambda value: isinstance(value, list) and len(value) == length and all(map(shape.fits, value)),
    )


def or_none(shape: Shape) -> Shape:
    return Shape(f"{shape.expected} or null", lambda value: value is None or shape.fits(value))


SEAT = Shape("a seat (0 or 1)", lambda value: type(value) is int and value in (0, 1))
COUNT = Shape("a number from 0", lambda value: type(value) is int and value >= 0)
VALUE = Shape("game points from -3 to 3", lambda value: type(value) is int and -3 <= value <= 3)
PAIR = list_of(2, COUNT)
OPTIONAL_SEAT, OPTIONAL_COUNT = or_none(SEAT), or_none(COUNT)


class Record:
    """One JSON object of the file; what is missing or has another shape raises `Unreadable`."""

    def __init__(self, line: int, data: Any) -> None:
        self.line = line
        if not isinstance(data, dict):
            raise Unreadable(line, "not a JSON object")
        self._data: dict[str, Any] = data

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def place(self, what: str) -> str:
        """`deal 17 (line 3)`: its id if it has one."""
        name = f"{what} {self._data['id']}" if "id" in self._data else what
        return f"{name} (line {self.line})"

    def get(self, key: str, shape: Shape) -> Any:
        """The value of a key."""
        if key not in self._data:
            raise Unreadable(self.line, f"the record has no {key!r}")
        return self._fitting(key, self._data[key], shape)

    def rows(self, key: str, *columns: Shape) -> list[list[Any]]:
        """A list of rows with these columns."""
        rows = self.get(key, Shape("a list", lambda value: isinstance(value, list)))
        for number, row in enumerate(rows, 1):
            if not isinstance(row, list) or len(row) != len(columns):
                raise Unreadable(self.line, f"{key} {number} is {row!r}, expected a list of {len(columns)}")
            for column, (value, shape) in enumerate(zip(row, columns, strict=True), 1):
                self._fitting(f"{key} {number}, column {column},", value, shape)
        return list(rows)

    def part(self, key: str, **shapes: Shape) -> dict[str, Any]:
        """An object with (at least) these members."""
        part = Record(self.line, self.get(key, Shape("an object", lambda value: isinstance(value, dict))))
        return {name: part.get(name, shape) for name, shape in shapes.items()}

    def deck(self) -> tuple[Card, ...]:
        """The twenty cards of `deck`."""
        deck = tuple(Card.parse(name) for name in self.get("deck", list_of(DECK, words())))
        if sorted(deck) != sorted(PARTIAL.cards):
            raise Unreadable(self.line, f"deck does not hold each of the {DECK} cards once")
        return deck

    def _fitting(self, name: str, value: Any, shape: Shape) -> Any:
        if not shape.fits(value):
            raise Unreadable(self.line, f"{name} is {value!r}, expected {shape.expected}")
        return value


if __name__ == "__main__":
    sys.exit(main(check, USAGE, sys.argv[1:]))
