"""What is hashed, and how: the play chain in schedule order, the seal chain in commit order.

Pure functions, so that anybody can compute both chains again from an exported tournament.  Every hash is SHA-256 in
hex over framed values: of each value `TYPE:LENGTH:` and its bytes (UTF-8, numbers in decimal).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple

from pydantic_core import to_json

_PLAY = "arena/play/1"
_CHAIN = "arena/chain/1"
_SEAL = "arena/seal/1"

_encoder = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


@dataclass(frozen=True, slots=True)
class Participant:
    """A bot at one version in one tournament."""

    name: str
    """Unique in its tournament."""
    version: str
    digest: str
    """SHA-256 in hex of its sources, or the fingerprint of a remote bot."""
    kind: str
    """How it was named: `builtin`, `folder`, `file`, `command` or `address`."""
    author: str


class ChainHead(NamedTuple):
    """How far a play chain reaches: two tournaments with equal heads were played alike up to that length."""

    head: str
    length: int
    """Matches in the complete prefix of the schedule."""


def canonical(value: Any) -> str:
    """Plain values as the one JSON text that stands for them: keys sorted, no spaces, ASCII only."""
    return str(value) if type(value) is int else _encoder.encode(value)


def canonical_numbers(lists: Sequence[Sequence[int]]) -> str:
    """`canonical` of lists of whole numbers, of which most of a row is made: in a quarter of the time."""
    return to_json(lists).decode()


def digest(*values: object) -> str:
    """SHA-256 in hex of framed values (texts, numbers, bytes, None)."""
    return hashlib.sha256(b"".join(map(_framed, values))).hexdigest()


def _framed(value: object) -> bytes:
    if isinstance(value, str):  # a subclass of str is a text like any other
        # What was tampered with may hold no UTF-8; it must give a hash as well, if only another one.
        data = value.encode("utf-8", "surrogatepass")
        return b"str:%d:%b" % (len(data), data)
    data = value if isinstance(value, bytes) else str(value).encode()
    return b"%b:%d:%b" % (type(value).__name__.encode(), len(data), data)


_FRAMED_CHAIN = _framed(_CHAIN)


def play_hash(epoch: int, pairing: str, leg: int, number: int, seats: str, play: str) -> str:
    """The hash of what was played: the match's key, who took which seat, the play part (texts: canonical JSON)."""
    return digest(_PLAY, epoch, pairing, leg, number, seats, play)


def chain_start(rules: str, config: str, participants: Iterable[Participant], epoch: int, commitment: str) -> str:
    """Where the chain of an epoch starts: all that was fixed before its first deal (rules and config as JSON)."""
    entered = sorted(participants, key=lambda participant: participant.name)
    flat = [value for participant in entered for value in astuple(participant)]
    return digest(_CHAIN, rules, config, epoch, commitment, *flat)


class PlayChain:
    """The play chain of one epoch: given its matches in the order of the schedule, it stops at the first that lacks.

    What is not to be played at all (`planned` leaves it out) is passed over, whether it is there or not.
    """

    def __init__(self, start: str, planned: Iterable[int]) -> None:
        """`planned`: the positions that are to be played, ascending."""
        self._planned = iter(planned)
        self._next = next(self._planned, None)
        self._head = start
        self._length = 0

    def add(self, position: int, play: str) -> None:
        """The next match that there is, and the hash of its play."""
        if position == self._next:
            self._head, self._length = link(self._head, play), self._length + 1
            self._next = next(self._planned, None)

    @property
    def head(self) -> ChainHead:
        """How far it reaches by now."""
        return ChainHead(self._head, self._length)


def link(head: str, play: str) -> str:
    """The chain's head after the match with the play hash `play`, the next one in the schedule."""
    return hashlib.sha256(_FRAMED_CHAIN + _framed(head) + _framed(play)).hexdigest()


def join(epochs: Iterable[tuple[int, ChainHead]]) -> ChainHead:
    """The head of a tournament from the heads of its epochs, by number; the lengths are added."""
    heads = sorted(epochs)
    flat = [value for number, (head, length) in heads for value in (number, head, length)]
    return ChainHead(digest(_CHAIN, *flat), sum(length for _, (_, length) in heads))


def first_seal(tournament: Sequence[object]) -> str:
    """The seal before the first row: over what never changes of the tournament itself."""
    return digest(_SEAL, *tournament)


def seal(previous: str, table: str, row: Sequence[object]) -> str:
    """The seal of the next row of a tournament: over the seal before it and every value of the row."""
    return digest(_SEAL, previous, table, *row)
