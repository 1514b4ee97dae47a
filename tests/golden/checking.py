"""What the two checkers share: a file is read whole or not at all, every disagreement is printed with its place.

Exit status: 0 all agree, 1 something disagrees, 2 a file cannot be read (it is missing or malformed).
"""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arena.cards import Card, Suit
from arena.game.position import Position
from arena.game.views import DecisionPoint


class Unreadable(Exception):
    """The file is not in its format: says the line and what is wrong there."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}")


@dataclass(frozen=True, slots=True)
class Findings:
    """What a file was compared in, and where it disagrees."""

    summary: str
    """As in `43 vectors, 131 outcomes`."""
    disagreements: tuple[str, ...]
    """Each with its place within the file, ours and theirs."""


@dataclass(slots=True)
class Comparison:
    """Collects the disagreements of one deal, each under its place."""

    place: str
    found: list[str] = field(default_factory=list)

    def expect(self, what: str, ours: object, theirs: object, *, step: str = "") -> None:
        """Note a disagreement unless both are equal."""
        if ours != theirs:
            self.note(f"{what}: ours {ours}, theirs {theirs}", step=step)

    def note(self, what: str, *, step: str = "") -> None:
        """Note a disagreement."""
        self.found.append(f"{self.place}{step and f', {step}'}: {what}")


def read_text(path: Path) -> str:
    """The file's text, unpacked if it is gzip (told by content); raises `Unreadable`."""
    try:
        data = path.read_bytes()
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        return data.decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise Unreadable(1, f"{error}; expected a text file, plain or gzip") from None


def main(check: Callable[[str], Findings], usage: str, arguments: Sequence[str]) -> int:
    """Check each file, print what was found, and return the exit status."""
    if not arguments:
        print(usage, file=sys.stderr)
        return 2
    status = 0
    for name in arguments:
        try:
            findings = check(read_text(Path(name)))
        except Unreadable as error:
            print(f"{name}: cannot be read: {error}", file=sys.stderr)
            status = 2
            continue
        for disagreement in findings.disagreements:
            print(f"{name}: {disagreement}")
        print(f"{name}: {findings.summary}, {_count(len(findings.disagreements), 'disagreement')}")
        if findings.disagreements:
            status = max(status, 1)
    return status


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def counts(numbers: Iterable[tuple[int, str]]) -> str:
    """`[(43, "vector"), (131, "outcome")]` -> `43 vectors, 131 outcomes`; zeros are left out."""
    return ", ".join(_count(number, noun) for number, noun in numbers if number) or "nothing"


def on_lead(
    leader: int,
    *,
    dealer: int,
    hands: tuple[tuple[Card, ...], ...],
    talon: tuple[Card, ...],
    trump: Suit,
    points: tuple[int, ...] = (0, 0),
    pending: tuple[int, ...] = (0, 0),
    tricks: tuple[int, ...] = (0, 0),
) -> Position:
    """The position of two seats with an open or empty talon in which `leader` is to lead."""
    return Position(
        dealer=dealer,
        hands=hands,
        talon=talon,
        turn_up=talon[-1] if talon else None,
        trump=trump,
        leader=leader,
        to_act=leader,
        point=DecisionPoint.ON_LEAD,
        table=(),
        bound=(),
        points=points,
        pending=pending,
        tricks=tricks,
        closer=None,
        closed_points=(),
        closed_tricks=(),
        known=((), ()),
        to_ask=(),
    )
