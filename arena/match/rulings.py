"""What a bot can do wrong, and what that costs: one table, as data.

A fault is a value.  It is numbered as on the wire and named as in tables; an exception of the arena is never a
bot's fault (the match is then void).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum


class Fault(IntEnum):
    """What a bot did wrong, numbered as `FaultKind` on the wire."""

    ILLEGAL = 1
    """An action outside the legal list, unspecified and unknown numbers included."""
    MALFORMED = 2
    """A message that is not a `PlayResponse`."""
    ERROR = 3
    """The bot reported that it failed."""
    LATE = 4
    """The limit and the bank are spent."""
    HUNG = 5
    """Two decisions in a row ran out of time without an answer between."""
    DIED = 6
    """The process ended while it owed an answer."""
    STREAM_BROKEN = 7
    """The stream broke, or answers to no open decision passed all bounds."""
    FLOOD = 8
    """A message over the size limit, or a flood of them."""
    NOT_STARTED = 9
    """The process did not start, or its build failed."""
    REFUSED = 10
    """The bot refused the handshake or speaks another version."""

    @property
    def label(self) -> str:
        """How tables and records name it: `illegal`, `stream-broken`."""
        return self.name.lower().replace("_", "-")


class Loss(IntEnum):
    """What a fault loses."""

    DEAL = 1
    MATCH = 2


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a fault costs: the deal, from the `match_after`-th fault of its count in a match on the match."""

    loss: Loss
    match_after: int | None = None


RULINGS: Mapping[Fault, Ruling] = {
    Fault.ILLEGAL: Ruling(Loss.DEAL),
    Fault.MALFORMED: Ruling(Loss.DEAL),
    Fault.ERROR: Ruling(Loss.DEAL),
    Fault.LATE: Ruling(Loss.DEAL, match_after=3),
    Fault.HUNG: Ruling(Loss.DEAL, match_after=3),
    Fault.DIED: Ruling(Loss.DEAL),
    Fault.STREAM_BROKEN: Ruling(Loss.DEAL),
    Fault.FLOOD: Ruling(Loss.DEAL),
    Fault.NOT_STARTED: Ruling(Loss.MATCH),
    Fault.REFUSED: Ruling(Loss.MATCH),
}
"""The one ruling table.  Late and hung share one count."""

SHARED_COUNT: frozenset[Fault] = frozenset({Fault.LATE, Fault.HUNG})


def loss_of(fault: Fault, earlier: Mapping[Fault, int], rulings: Mapping[Fault, Ruling] = RULINGS) -> Loss:
    """What this fault loses, given how often each fault happened to the same seat earlier in the match."""
    ruling = rulings[fault]
    if ruling.match_after is not None:
        counted = SHARED_COUNT if fault in SHARED_COUNT else (fault,)
        if sum(earlier.get(kind, 0) for kind in counted) + 1 >= ruling.match_after:
            return Loss.MATCH
    return ruling.loss
