"""A whole deal, and a match of deals, as text that a person reads and that parses back to the same values.

A deal is its rules, its starting position, one line a trick, and what it was worth.  Reading a text plays it: every
action is checked for its seat and legality, the result against the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena.cards import ACTIONS, Action
from arena.errors import IllegalAction, NotationError, RulesError, UsageError
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.position import (
    Position,
    format_numbers,
    format_position,
    parse_numbers,
    parse_position,
    parse_seat,
    resume,
)
from arena.game.presets import PRESETS, preset
from arena.game.rules import OPTION_TYPES, Rules
from arena.game.scoring import Outcome, Termination
from arena.game.views import DecisionPoint


@dataclass(frozen=True, slots=True)
class DealText:
    """What the text of a deal says."""

    rules: Rules
    start: Position
    actions: tuple[Action, ...]
    """The actions from `start` on, in order; the seats follow from the rules."""
    outcome: Outcome | None
    """None while the deal is in play."""
    score: tuple[int, ...]
    """The match score by side before the deal."""
    carry: int = 0
    """What earlier draws add to the points of the winner."""

    @classmethod
    def of(cls, start: Position, deal: Deal) -> DealText:
        """The text of a deal that was begun at `start`, as far as it has come."""
        actions = tuple(ACTIONS[action] for action in deal.past_actions)
        return cls(deal.game.rules, start, actions, deal.outcome, deal.score, deal.carry)


@dataclass(frozen=True, slots=True)
class MatchText:
    """What the text of a match says; the rules of its deals are those of the match."""

    rules: Rules
    deals: tuple[DealText, ...]
    result: tuple[int, ...] | None
    """The final score by side; None while the match goes on."""


def replay(
    game: Game,
    position: Position,
    actions: Iterable[int],
    *,
    score: tuple[int, ...] = (),
    carry: int = 0,
) -> Deal:
    """The deal after the actions.  Raises `UsageError` for the position and `IllegalAction` for an action."""
    deal = resume(game, position, score=score, carry=carry)
    for action in actions:
        deal.apply(action)
    return deal


# -- rules ------------------------------------------------------------------------------------------------------------


def format_rules(rules: Rules) -> str:
    """The nearest preset's name and the options that differ: `pagat`, `sixty-six match_target=5`."""
    options = rules.options()

    def differing(name: str) -> list[str]:
        base = PRESETS[name].options()
        return [f"{option}={_plain(value)}" for option, value in options.items() if value != base[option]]

    nearest = min(PRESETS, key=lambda name: len(differing(name)))
    return " ".join([nearest, *differing(nearest)])


def parse_rules(text: str) -> Rules:
    """The inverse of `format_rules`; raises `NotationError`."""
    name, *words = text.split() or [""]
    options: dict[str, object] = {}
    for word in words:
        option, equals, value = word.partition("=")
        if not equals:
            raise NotationError(f"{word!r} is not an option; expected option=value, as in match_target=5")
        options[option] = _value(OPTION_TYPES.get(option), value)
    try:
        return preset(name).with_options(options)
    except RulesError as error:
        raise NotationError(str(error)) from None
    except UsageError as error:
        raise NotationError(f"{error}; expected a preset, then any options that differ, as in match_target=5") from None


def _plain(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _value(kind: type | None, text: str) -> object:
    """The plain value of an option; a text that does not fit stays one, for the rules to refuse."""
    if kind is bool and text in ("true", "false"):
        return text == "true"
    if kind is int and text.isascii() and text.isdecimal():
        return int(text)
    return text


# -- writing ----------------------------------------------------------------------------------------------------------


def format_deal(deal: DealText) -> str:
    """The deal as text; `parse_deal` is the inverse.  Raises as `replay` for actions that cannot be."""
    return f"rules: {format_rules(deal.rules)}\n{_format_deal(Game(deal.rules), deal)}"


def format_match(match: MatchText) -> str:
    """The match as text; `parse_match` is the inverse.  Raises as `replay` for actions that cannot be."""
    game = Game(match.rules)
    parts = [f"rules: {format_rules(match.rules)}\n"]
    parts += [f"deal {number}\n{_format_deal(game, deal)}" for number, deal in enumerate(match.deals, 1)]
    if match.result is not None:
        parts.append(f"result: {format_numbers(match.result)}\n")
    return "\n".join(parts)


def _format_deal(game: Game, deal: DealText) -> str:
    lines = []
    if any(deal.score):
        lines.append(f"score: {format_numbers(deal.score)}\n")
    if deal.carry:
        lines.append(f"carry: {deal.carry}\n")
    lines.append(format_position(game, deal.start))
    lines += [" ".join(words) + "\n" for words in _trick_lines(game, deal)]
    if deal.outcome is not None:
        lines.append(format_outcome(deal.outcome) + "\n")
    return "".join(lines)


def _trick_lines(game: Game, text: DealText) -> list[list[str]]:
    """The actions, a list a trick: what is asked between a trick and the next lead ends the line of its trick."""
    deal = resume(game, text.start, score=text.score, carry=text.carry)
    lines: list[list[str]] = []
    written = -1
    for action in text.actions:
        finished = len(deal.winners)
        if written < 0 or (finished > written and deal.point is DecisionPoint.ON_LEAD):
            lines.append([])
            written = finished
        lines[-1].append(f"{deal.to_act}:{action}")
        deal.apply(action)
    return lines


def format_outcome(outcome: Outcome) -> str:
    """`=> claim by seat 0: 2-0 (68-28)`: what the deal scored by side, and the card points that decided."""
    by = "" if outcome.seat is None else f" by seat {outcome.seat}"
    points, card_points = format_numbers(outcome.points), format_numbers(outcome.card_points)
    return f"=> {outcome.termination}{by}: {points} ({card_points})"


# -- reading ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    text: str

    def error(self, message: object) -> NotationError:
        return NotationError(f"line {self.number}: {message}")

    def value_of(self, key: str) -> str | None:
        """What stands after `key:`, or None if the line has another key."""
        name, colon, value = self.text.partition(":")
        return value.strip() if colon and name.strip() == key else None


def parse_deal(text: str) -> DealText:
    """The inverse of `format_deal`.  Empty lines and remarks (`# ...`) are skipped.

    Raises `NotationError` with the line's number and what was expected: also for an action that is not legal there,
    and for a result that the rules do not give.
    """
    lines = _lines(text)
    rules = _read_rules(lines)
    return _read_deal(Game(rules), lines[1:], lines[0])


def parse_match(text: str) -> MatchText:
    """The inverse of `format_match`.  Raises `NotationError` as `parse_deal` does."""
    lines = _lines(text)
    rules = _read_rules(lines)
    game = Game(rules)
    result: tuple[int, ...] | None = None
    if (value := lines[-1].value_of("result")) is not None:
        last = lines.pop()
        try:
            result = parse_numbers(value, game.table.sides)
        except NotationError as error:
            raise last.error(error) from None
    deals: list[list[_Line]] = []
    for line in lines[1:]:
        if line.text == f"deal {len(deals) + 1}":
            deals.append([line])
        elif not deals or line.text.startswith("deal "):
            raise line.error(f"found {line.text!r}, expected 'deal {len(deals) + 1}'")
        else:
            deals[-1].append(line)
    return MatchText(rules, tuple(_read_deal(game, rest, head) for head, *rest in deals), result)


def _lines(text: str) -> list[_Line]:
    """The lines that say something."""
    stripped = ((number, line.partition("#")[0].strip()) for number, line in enumerate(text.splitlines(), 1))
    lines = [_Line(number, line) for number, line in stripped if line]
    if not lines:
        raise NotationError("line 1: the text is empty, expected 'rules: ' and a preset")
    return lines


def _read_rules(lines: Sequence[_Line]) -> Rules:
    head = lines[0]
    if (value := head.value_of("rules")) is None:
        raise head.error(f"found {head.text!r}, expected 'rules: ' and a preset")
    try:
        return parse_rules(value)
    except NotationError as error:
        raise head.error(error) from None


def _read_deal(game: Game, lines: Sequence[_Line], head: _Line) -> DealText:
    """The deal of these lines; `head` is the line before them."""
    keys = 0
    while keys < len(lines) and not (lines[keys].text[0].isdecimal() or lines[keys].text.startswith("=>")):
        keys += 1
    score, carry, start = _read_start(game, lines[:keys])
    try:
        deal = resume(game, start, score=score, carry=carry)
    except UsageError as error:
        raise (lines[0] if keys else head).error(error) from None
    outcome = None
    for line in lines[keys:]:
        if outcome is not None:
            raise line.error(f"found {line.text!r} after the result, expected the end of the deal")
        if line.text.startswith("=>"):
            outcome = _read_outcome(deal, line)
        else:
            _read_actions(deal, line)
    if deal.outcome != outcome:
        assert deal.outcome is not None
        raise lines[-1].error(f"the deal is over, expected '{format_outcome(deal.outcome)}' after it")
    return DealText(game.rules, start, tuple(ACTIONS[action] for action in deal.past_actions), outcome, score, carry)


def _read_start(game: Game, lines: Sequence[_Line]) -> tuple[tuple[int, ...], int, Position]:
    """The score and the carry before the deal, and its starting position."""
    score: tuple[int, ...] = (0,) * game.table.sides
    carry = 0
    position: list[str] = []
    first = lines[0].number if lines else 1
    for line in lines:
        # Lines that are not the position's leave an empty one, so that it counts the lines of the whole text.
        position += [""] * (line.number - first - len(position))
        try:
            if (value := line.value_of("score")) is not None:
                score = parse_numbers(value, game.table.sides)
            elif (value := line.value_of("carry")) is not None:
                (carry,) = parse_numbers(value, 1)
            else:
                position.append(line.text)
        except NotationError as error:
            raise line.error(error) from None
    return score, carry, parse_position(game, "\n".join(position), first_line=first)


def _read_actions(deal: Deal, line: _Line) -> None:
    """Play the actions of one line."""
    for word in line.text.split():
        seat, colon, name = word.partition(":")
        try:
            if not colon:
                raise NotationError(f"{word!r} is no seat and action; expected as in 0:TS")
            actor, action = parse_seat(seat, deal.game.table.seats), Action.parse(name)
            if deal.to_act is not None and actor != deal.to_act:
                legal = " ".join(map(str, deal.legal_actions))
                raise NotationError(f"{word}: seat {deal.to_act} is to act, expected one of {legal}")
            deal.apply(action)
        except (NotationError, IllegalAction) as error:
            raise line.error(error) from None


_OUTCOME = re.compile(r"=> *([a-z-]+)(?: +by +seat +(\d+))? *: *([\d-]+) *\(([\d-]+)\)", re.ASCII)


def _read_outcome(deal: Deal, line: _Line) -> Outcome:
    """The stated result, which the rules must give as well; a forfeit is carried out here."""
    table = deal.game.table
    stated = _OUTCOME.fullmatch(line.text)
    if stated is None:
        raise line.error(f"found {line.text!r}, expected a result as in '=> claim by seat 0: 2-0 (68-28)'")
    how, by, points, card_points = stated.groups()
    try:
        if how not in list(Termination):
            raise NotationError(f"unknown end {how!r}, expected one of {', '.join(Termination)}")
        seat = None if by is None else parse_seat(by, table.seats)
        outcome = Outcome(
            Termination(how), parse_numbers(points, table.sides), parse_numbers(card_points, table.sides), seat
        )
    except NotationError as error:
        raise line.error(error) from None
    if outcome.termination is Termination.FORFEIT and seat is not None and deal.outcome is None:
        deal.forfeit(seat)
    if deal.outcome is None:
        legal = " ".join(map(str, deal.legal_actions))
        raise line.error(f"the deal is not over: seat {deal.to_act} is to act, expected one of {legal}")
    if deal.outcome != outcome:
        raise line.error(f"found '{line.text}', but the rules give '{format_outcome(deal.outcome)}'")
    return outcome
