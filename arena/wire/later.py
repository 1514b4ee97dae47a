"""Messages as a later protocol of the same major could send them: what a bot must take in its stride."""

from __future__ import annotations

from typing import Any, cast

from google.protobuf.message import Message

from arena.sixtysix.v1 import bot_pb2 as pb
from arena.wire.stubs import PROTOCOL_MAJOR

UNKNOWN_ACTIONS = (41, 77, 3000)
"""Numbers of no action: the next free one, one that takes a byte, one that takes two."""
_UNKNOWN_NUMBER: Any = 99
_UNKNOWN_FIELDS = b"\xa0\x3f\x07" + b"\xaa\x3f\x05later" + b"\xb1\x3f" + bytes(8)
"""Fields 1012 to 1014: a number, a text and eight bytes."""


def with_unknown_fields(request: bytes) -> bytes:
    """A `PlayRequest`, or framed events, with fields that nobody knows in every message, and an event of no known kind.

    The events are in the same order.
    """
    message = pb.PlayRequest.FromString(request)
    for event in message.events:
        if kind := event.WhichOneof("event"):
            _extend(getattr(event, kind))
        _extend(event)
    _extend(message.events.add())
    _extend(message)
    return message.SerializeToString()


def describe_with_unknown_fields(request: bytes) -> bytes:
    """A `DescribeRequest` with fields that nobody knows."""
    message = pb.DescribeRequest.FromString(request)
    _extend(message.rules)
    _extend(message)
    message.protocol_minor += 1
    return message.SerializeToString()


def describe_of_next_major(request: bytes) -> bytes:
    """A `DescribeRequest` of the next major version."""
    message = pb.DescribeRequest.FromString(request)
    message.protocol_major = PROTOCOL_MAJOR + 1
    return message.SerializeToString()


def with_unknown_numbers(request: bytes) -> bytes:
    """Framed events with numbers that no list knows: legal actions, ends of deals, faults, reasons of withdrawal."""
    message = pb.PlayRequest.FromString(request)
    for event in message.events:
        match event.WhichOneof("event"):
            case "decision":
                event.decision.legal.extend(cast(Any, UNKNOWN_ACTIONS))
            case "deal_ended":
                event.deal_ended.termination = _UNKNOWN_NUMBER
            case "fault":
                event.fault.kind = _UNKNOWN_NUMBER
            case "withdrawn":
                event.withdrawn.reason = _UNKNOWN_NUMBER
    return message.SerializeToString()


def _extend(message: Message) -> None:
    message.MergeFromString(_UNKNOWN_FIELDS)
