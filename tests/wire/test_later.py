"""What a later protocol could send says the same to a bot of this one."""

from __future__ import annotations

from typing import Any

import pytest

from arena.cards import ACTIONS
from arena.game.presets import PRESETS
from arena.game.scoring import Outcome, Termination
from arena.match.rulings import Fault
from arena.sixtysix.v1 import bot_pb2 as pb
from arena.wire import codec, later, stubs
from tests.wire.positions import questions

CLOCK: dict[str, Any] = {"match_id": "m", "id": 3, "deal": 1, "time_left_ms": 1000, "last_took_ms": 1}
ENDED = Outcome(Termination.FORFEIT, (0, 2), (0, 0), 0)


def every_event() -> bytes:
    view = next(questions(PRESETS["schnapsen"], deals=1))
    return b"".join(
        (
            codec.match_started("m", 1, (0, 1), bytes(32), 1000, 10_000),
            codec.decision(view, **CLOCK),
            codec.withdrawn("m", 3, codec.WithdrawnReason.LATE),
            codec.fault("m", 3, Fault.LATE, "late", (2, 0), False),
            codec.deal_ended("m", 1, ENDED, added=(0, 2), score=(0, 2), new_actions=b"", new_seats=b""),
            codec.match_ended("m", (0, 7), (2, 1)),
        )
    )


def read(message: bytes) -> list[object]:
    """The events; a decision by what it asks."""
    return [(event.id, event.view) if isinstance(event, codec.Decision) else event for event in codec.events(message)]


def test_fields_and_events_that_are_not_known_change_nothing_of_what_is() -> None:
    extended = later.with_unknown_fields(every_event())
    assert read(extended) == read(every_event())
    message = pb.PlayRequest.FromString(extended)
    assert len(message.events) == len(read(every_event())) + 1
    assert message.events[-1].WhichOneof("event") is None
    assert extended.count(b"later") == 2 * len(read(every_event())) + 2  # in each event, in it, in the new one, in all


def test_numbers_that_are_not_known_stand_where_numbers_are_listed() -> None:
    started, decision, withdrawn, fault, ended, over = codec.events(later.with_unknown_numbers(every_event()))
    assert isinstance(decision, codec.Decision)
    assert isinstance(withdrawn, codec.Withdrawn)
    assert isinstance(fault, codec.FaultNotice)
    assert isinstance(ended, codec.DealEnded)
    for number in later.UNKNOWN_ACTIONS:
        assert number >= len(ACTIONS)
        assert decision.view.legal >> number & 1
    assert withdrawn.reason not in list(codec.WithdrawnReason)
    assert fault.kind not in list(Fault)
    assert not isinstance(ended.termination, Termination)
    assert [started, over] == [read(every_event())[0], read(every_event())[-1]]


@pytest.mark.parametrize("name", ["sixty-six", "four-handed"])
def test_the_handshakes_of_later_versions_ask_for_the_same_rules(name: str) -> None:
    request = codec.describe_request(PRESETS[name], name)
    newer, other = later.describe_with_unknown_fields(request), later.describe_of_next_major(request)
    assert b"later" in newer
    for each, major, minor in (
        (newer, stubs.PROTOCOL_MAJOR, stubs.PROTOCOL_MINOR + 1),
        (other, stubs.PROTOCOL_MAJOR + 1, stubs.PROTOCOL_MINOR),
    ):
        asked = codec.describe_request_of(each)
        assert (asked.protocol_major, asked.protocol_minor, asked.rules) == (major, minor, PRESETS[name])
