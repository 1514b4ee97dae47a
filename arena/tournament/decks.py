"""Everything that a tournament draws is a function of one 32-byte secret, by hashing alone, exactly specified here.

The secret comes as an argument and nothing random is made in this module.  All texts are encoded as UTF-8.

    derive(secret, label, parts...)  =  HMAC-SHA256(key = secret, label, parts... joined by one zero byte each)
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence

from arena.cards import Card
from arena.match.summary import MatchKey

_STREAM_STEP = 136
"""Bytes of the stream made at a time: one block of SHAKE-256, more than nearly every deck needs."""


def secret_from_seed(seed: str | int, epoch: int = 0) -> bytes:
    """The 32-byte secret of a rehearsal: SHA-256 of `arena/seed/v1`, zero byte, seed, zero byte, epoch in decimal.

    Anyone who knows the seed knows every deck, so a real tournament draws its secret instead.
    """
    return hashlib.sha256(f"arena/seed/v1\0{seed}\0{epoch}".encode()).digest()


def next_secret(secret: bytes) -> bytes:
    """The secret that follows from another one before that is revealed: derive(secret, `arena/next/v1`).

    So the commitment to the first of them binds the others too.
    """
    return _derive(secret, "arena/next/v1")


def commitment(secret: bytes) -> str:
    """What is published before the first deal: SHA-256 of `arena/commit/v1`, zero byte, secret, as 64 hex digits."""
    return hashlib.sha256(b"arena/commit/v1\0" + secret).hexdigest()


def list_id(pairing: Sequence[str], leg: int, number: int, mirrored: bool) -> str:
    """The name of a list of decks within its epoch.

    Mirrored: the number in decimal, so that both legs and all pairings share the list.  Else the list belongs to
    one match: the JSON array of the pairing's names, the leg and the number, without spaces, with all that is
    outside of ASCII escaped by UTF-16 units in lower case, as in `["Zo\\u00eb","anna",0,7]`.
    """
    if mirrored:
        return str(number)
    return json.dumps([*pairing, leg, number], separators=(",", ":"))


def deck(secret: bytes, list_id: str, number: int, cards: Sequence[Card]) -> tuple[Card, ...]:
    """The deck of deal `number` (from 1) of a list, top first: a permutation of `cards` (256 at most).

    1. The stream is SHAKE-256 of derive(secret, `arena/deck/v1`, list id, number in decimal), as long as needed.
    2. Start with `cards` in the given order: for the decks of the rules ascending by number, a second pack after
       the first.
    3. For i from the last index down to 1: take the next byte of the stream until it is less than the greatest
       multiple of i + 1 that is at most 256; its remainder by i + 1 is j; swap the cards at i and j.
    """
    stream = hashlib.shake_256(_derive(secret, "arena/deck/v1", list_id, str(number)))
    order = list(cards)
    length = _STREAM_STEP
    values = iter(stream.digest(length))
    for last in range(len(order) - 1, 0, -1):
        choices = last + 1
        limit = 256 - 256 % choices
        while True:
            value = next(values, None)
            if value is None:
                values = iter(stream.digest(length + _STREAM_STEP)[length:])
                length += _STREAM_STEP
            elif value < limit:
                break
        chosen = value % choices
        order[last], order[chosen] = order[chosen], order[last]
    return tuple(order)


def match_id(secret: bytes, key: MatchKey) -> str:
    """The id of a match on the wire, 16 hex digits that tell a bot nothing.

    The first 8 bytes of derive(secret, `arena/match/v1`, identity), where identity is the JSON array of the epoch,
    the pairing's names, the leg and the number, written as in `list_id`: `[0,"anna","bert",1,7]`.
    """
    identity = json.dumps([key.epoch, *key.pairing, key.leg, key.number], separators=(",", ":"))
    return _derive(secret, "arena/match/v1", identity)[:8].hex()


def bot_seed(secret: bytes, match_id: str, seat: int) -> bytes:
    """The 32 bytes from which a seat's bot draws its randomness: derive(secret, `arena/bot/v1`, match id, seat)."""
    return _derive(secret, "arena/bot/v1", match_id, str(seat))


def _derive(secret: bytes, *texts: str) -> bytes:
    """No text holds a zero byte, and each label is used once: no two uses ever hash the same message."""
    return hmac.digest(secret, "\0".join(texts).encode(), "sha256")
