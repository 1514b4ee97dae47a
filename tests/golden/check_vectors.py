"""Replay worked deals and positions under every preset that each of them names.

    python -m tests.golden.check_vectors FILE...

The format is described at the head of data/deals.txt.  Draws and going on are implied; a claim written after the last
trick is dropped where the deal has settled by then.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import dataclass, field

from arena.cards import CARD_POINTS, CLAIM, CLOSE, EXCHANGE, GO_ON, Action, Card, Suit, parse_cards
from arena.errors import IllegalAction, NotationError, UsageError
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.position import Position, resume
from arena.game.presets import preset
from arena.game.scoring import Outcome
from arena.game.views import DecisionPoint
from tests.golden.checking import Comparison, Findings, Unreadable, counts, main, on_lead

USAGE = "usage: python -m tests.golden.check_vectors FILE..."

SEATS = "LD"
HAND_OF_DECK = {20: 5, 24: 6, 32: 6}
WORDS = {"exchange": EXCHANGE, "close": CLOSE, "closeb": CLOSE, "oppx": EXCHANGE, "claim": CLAIM, "go-on": GO_ON}
POINT_OF_WORD = {
    "closeb": DecisionPoint.BEFORE_DRAW,
    "oppx": DecisionPoint.ON_CLOSE,
    "close": DecisionPoint.ON_LEAD,
    "exchange": DecisionPoint.ON_LEAD,
}
"""The words that name an action at one question only."""


@dataclass(frozen=True, slots=True)
class Step:
    """One written action, as in `L:TS`."""

    number: int
    seat: int
    word: str
    action: Action

    def __str__(self) -> str:
        return f"action {self.number} {SEATS[self.seat]}:{self.word}"


@dataclass(frozen=True, slots=True)
class Expected:
    """What the actions come to under one preset."""

    line: int
    preset: str
    verdict: str
    """`illegal`, `legal`, `draw 0`, or as in `L+2`."""
    totals: str | None
    """As in `66-14`; None where none are given."""


@dataclass(slots=True)
class Vector:
    """One block of the file."""

    line: int
    name: str
    deck: int
    """The number of cards in all."""
    start: Position
    steps: list[Step]
    expected: list[Expected]
    stated: list[tuple[str, int, int]]
    """For each `won` line: what it is, the points of its tricks, and the points it states."""


def check(text: str) -> Findings:
    """Replay every vector of the text; raises `Unreadable`."""
    vectors = read(text)
    found: list[str] = []
    for vector in vectors:
        comparison = Comparison(f"{vector.name} (line {vector.line})")
        for what, ours, theirs in vector.stated:
            comparison.expect(what, ours, theirs)
        found += comparison.found
        for expected in vector.expected:
            found += replay(vector, expected).found
    outcomes = sum(len(vector.expected) for vector in vectors)
    return Findings(counts([(len(vectors), "vector"), (outcomes, "outcome")]), tuple(found))


# -- replaying --------------------------------------------------------------------------------------------------------


def replay(vector: Vector, expected: Expected) -> Comparison:
    """The vector played under one preset and compared with what is expected there."""
    comparison = Comparison(f"{vector.name} under {expected.preset} (line {expected.line})")
    theirs = expected.verdict if expected.totals is None else f"{expected.verdict} ({expected.totals})"
    deal = begin(vector, expected)
    for step in vector.steps:
        try:
            take(deal, step)
        except IllegalAction as error:
            if expected.verdict != "illegal":
                comparison.note(f"ours illegal ({error}), theirs {theirs}", step=str(step))
            return comparison
    if expected.verdict != "legal" and deal.point is DecisionPoint.AFTER_LAST_TRICK:
        deal.apply(GO_ON)
    verdict, totals = standing(deal)
    ours = verdict if expected.totals is None and expected.verdict != "illegal" else f"{verdict} ({totals})"
    comparison.expect("after the last action", ours, theirs)
    return comparison


def begin(vector: Vector, expected: Expected) -> Deal:
    """The deal at the start of the vector: the options of the preset on the deck that the position has."""
    deck = {"deck": vector.deck, "hand": HAND_OF_DECK[vector.deck]}
    try:
        return resume(Game(preset(expected.preset).with_options(deck)), vector.start)
    except UsageError as error:
        raise Unreadable(vector.line, f"{vector.name} under {expected.preset}: {error}") from None


def take(deal: Deal, step: Step) -> None:
    """Apply one written action after the going on that it implies.  Raises `IllegalAction`."""
    if deal.outcome is not None and step.word == "claim" and not any(deal.hands):
        return
    implied = {DecisionPoint.BEFORE_DRAW: ("closeb", "go-on"), DecisionPoint.ON_CLOSE: ("oppx", "go-on")}
    while deal.point in implied and step.word not in implied[deal.point]:
        deal.apply(GO_ON)
    if deal.outcome is None and deal.to_act != step.seat:
        raise IllegalAction(f"seat {SEATS[deal.to_act or 0]} is to act")
    if deal.outcome is None and deal.point is not POINT_OF_WORD.get(step.word, deal.point):
        assert deal.point is not None
        raise IllegalAction(f"{step.word} is no action at {deal.point.name.lower()}")
    deal.apply(step.action)


def standing(deal: Deal) -> tuple[str, str]:
    """The verdict and the totals so far, as they are written in the file."""
    outcome: Outcome | None = deal.outcome
    if outcome is None:
        return "legal", "-".join(map(str, deal.points))
    scored = [f"{SEATS[side]}+{points}" for side, points in enumerate(outcome.points) if points]
    return " ".join(scored) or "draw 0", "-".join(map(str, outcome.card_points))


# -- reading ----------------------------------------------------------------------------------------------------------


_KEY = re.compile(r"\b(won [LD]|on lead|talon|L|D) *:|\b(trump)\b *:?")
_STEP = re.compile(r"([LD]):(\S+)")
_WON = re.compile(r"([^()]*?) *(?:\((\d+)\))?")
_VERDICT = re.compile(r"(illegal|legal|draw 0|[LD]\+[1-9]\d*) *(?:\( *(\d+ *- *\d+) *\))?")


@dataclass(frozen=True, slots=True)
class Won:
    """The tricks of one seat."""

    cards: tuple[Card, ...]
    points: int


@dataclass(slots=True)
class Block:
    """The lines of a vector, taken apart by key."""

    line: int
    name: str
    values: dict[str, tuple[int, str]] = field(default_factory=dict)
    play: list[tuple[int, str]] = field(default_factory=list)
    outcomes: list[tuple[int, str]] = field(default_factory=list)

    def value(self, key: str) -> tuple[int, str]:
        """Where and what the block says under this key; raises `Unreadable` if it does not."""
        if key not in self.values:
            raise Unreadable(self.line, f"{self.name} has no '{key}'")
        return self.values[key]


def read(text: str) -> list[Vector]:
    """The vectors of the text; raises `Unreadable`."""
    blocks: list[Block] = []
    inside = False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.partition("#")[0].strip()
        if not line:
            inside = inside and bool(raw.strip())  # a remark does not end a block, an empty line does
        elif not inside:
            if _KEY.match(line) or line.startswith(("play", "=>")):
                raise Unreadable(number, f"found {line!r}, expected a block's first line, as in 'V01 The title'")
            blocks.append(Block(number, line.split()[0]))
            inside = True
        else:
            read_line(blocks[-1], number, line)
    if not blocks:
        raise Unreadable(1, "there is no vector in it; a block begins as in 'V01 The title'")
    return [read_block(block) for block in blocks]


def read_line(block: Block, number: int, line: str) -> None:
    """Sort one line of a block by its keys."""
    if line.startswith("play:"):
        block.play.append((number, line.removeprefix("play:")))
    elif line.startswith("=>"):
        block.outcomes.append((number, line.removeprefix("=>")))
    else:
        keys = list(_KEY.finditer(line))
        if not keys or keys[0].start() != 0:
            raise Unreadable(number, f"found {line!r}, expected 'L:', 'talon:', 'won L:', 'play:', '=>' or a remark")
        ends = [key.start() for key in keys[1:]] + [len(line)]
        for key, end in zip(keys, ends, strict=True):
            name = key[1] or key[2]
            if name in block.values:
                raise Unreadable(number, f"'{name}' was already given in line {block.values[name][0]}")
            block.values[name] = (number, line[key.end() : end].strip())


def read_block(block: Block) -> Vector:
    """The vector that a block describes."""
    stated: list[tuple[str, int, int]] = []
    if not block.play:
        raise Unreadable(block.line, f"{block.name} has no 'play:'")
    if not block.outcomes:
        raise Unreadable(block.line, f"{block.name} has no '=>'")
    won = [read_won(block, f"won {seat}", stated) for seat in SEATS]
    start = read_start(block, won)
    deck = [*start.hands[0], *start.hands[1], *start.talon, *(card for each in won for card in each.cards)]
    if len(deck) not in HAND_OF_DECK:
        decks = ", ".join(map(str, HAND_OF_DECK))
        raise Unreadable(block.line, f"{block.name} has {len(deck)} cards in all; expected one of {decks}")
    if twice := [str(card) for card, times in Counter(deck).items() if times > 1]:
        raise Unreadable(block.line, f"{block.name} has {' '.join(twice)} more than once")
    words = [(number, word) for number, line in block.play for word in line.split()]
    steps = [read_step(number, index, word) for index, (number, word) in enumerate(words, 1)]
    expected = [each for number, line in block.outcomes for each in read_outcomes(number, line)]
    return Vector(block.line, block.name, len(deck), start, steps, expected, stated)


def read_start(block: Block, won: list[Won]) -> Position:
    """The position at the start: L is seat 0, the other seat dealt."""

    def cards(key: str) -> tuple[Card, ...]:
        number, value = block.value(key)
        try:
            return parse_cards("" if value in ("(empty)", "-") else value)
        except NotationError as error:
            raise Unreadable(number, f"{key}: {error}") from None

    hands = (cards("L"), cards("D"))
    talon = cards("talon")
    number, letter = block.value("trump")
    try:
        trump = Suit.parse(letter)
    except NotationError as error:
        raise Unreadable(number, f"trump: {error}") from None
    number, leader = block.value("on lead")
    if leader not in ("L", "D"):
        raise Unreadable(number, f"on lead: found {leader!r}, expected L or D")
    return on_lead(
        SEATS.index(leader),
        dealer=SEATS.index("D" if leader == "L" else "L"),
        hands=hands,
        talon=talon,
        trump=trump,
        points=tuple(each.points for each in won),
        tricks=tuple(len(each.cards) // len(SEATS) for each in won),
    )


def read_won(block: Block, key: str, stated: list[tuple[str, int, int]]) -> Won:
    """What a `won` line says; a total that its tricks and some marriages cannot make goes to `stated`."""
    if key not in block.values:
        return Won((), 0)
    number, value = block.values[key]
    parts = _WON.fullmatch(value)
    if parts is None:
        raise Unreadable(number, f"{key}: found {value!r}, expected tricks and their points, as in 'AS-TS AD-TD (42)'")
    cards: list[Card] = []
    for trick in [] if parts[1] == "-" else parts[1].split():
        lead, hyphen, reply = trick.partition("-")
        if not hyphen:
            raise Unreadable(number, f"{key}: {trick!r} is not a trick; expected lead-reply, as in AS-TS")
        try:
            cards += [Card.parse(lead), Card.parse(reply)]
        except NotationError as error:
            raise Unreadable(number, f"{key}: {error}") from None
    points = sum(CARD_POINTS[card] for card in cards)
    total = points if parts[2] is None else int(parts[2])
    if total < points or (total - points) % 20:  # what is over in twenties are marriages
        stated.append((f"card points of '{key}'", points, total))
        total = points
    return Won(tuple(cards), total)


def read_step(line: int, number: int, text: str) -> Step:
    """One action of a `play` line."""
    parts = _STEP.fullmatch(text)
    if parts is None:
        raise Unreadable(line, f"{text!r} is not an action; expected as in L:TS, D:MC or L:close")
    seat, word = parts.groups()
    try:
        action = WORDS[word] if word in WORDS else Action.parse(word)
    except NotationError as error:
        raise Unreadable(line, str(error)) from None
    return Step(number, SEATS.index(seat), word, action)


def read_outcomes(line: int, text: str) -> list[Expected]:
    """One `=>` line: `preset, preset: outcome | preset: outcome`."""
    expected: list[Expected] = []
    for alternative in text.split("|"):
        names, colon, outcome = alternative.partition(":")
        verdict = _VERDICT.fullmatch(outcome.strip())
        if not colon or verdict is None:
            what = alternative.strip()
            raise Unreadable(line, f"found {what!r}, expected presets and an outcome, as in 'pagat: L+2 (66-14)'")
        for name in map(str.strip, names.split(",")):
            try:
                preset(name)
            except UsageError as error:
                raise Unreadable(line, str(error)) from None
            expected.append(Expected(line, name, verdict[1], verdict[2] and verdict[2].replace(" ", "")))
    return expected


if __name__ == "__main__":
    sys.exit(main(check, USAGE, sys.argv[1:]))
