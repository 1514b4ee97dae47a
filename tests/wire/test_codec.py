"""What one end writes the other end reads, field by field; what is no message is said to be none."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.cards import ACTION_NAMES, CARD_NAMES, Suit, actions_of, cards_of, hand_cards, hand_mask
from arena.errors import RulesError
from arena.game.deal import Deal
from arena.game.presets import PRESETS
from arena.game.rules import OPTION_TYPES, Rules
from arena.game.scoring import Outcome, Termination
from arena.game.views import DecisionPoint, View
from arena.match.rulings import Fault
from arena.sixtysix.v1 import bot_pb2 as pb
from arena.sixtysix.v1 import rules_pb2, types_pb2
from arena.wire import codec, stubs
from tests.wire.positions import asked, questions

CLOCK: dict[str, Any] = {"match_id": "k3", "id": 70_000, "deal": 5, "time_left_ms": 10_250, "last_took_ms": 300}


def decided(view: View) -> codec.Decision:
    """The view after its way over the wire."""
    (event,) = codec.events(codec.decision(view, **CLOCK))
    assert isinstance(event, codec.Decision)
    return event


def by_protobuf(view: View) -> pb.Decision:
    """The same decision, made field by field by protobuf itself."""
    fields: dict[str, Any] = {
        "point": view.point,
        "legal": actions_of(view.legal),
        "hand": hand_cards(view.hand),
        "seat": view.seat,
        "dealer": view.dealer,
        "leader": view.leader,
        "trump": view.trump,
        "turn_up": view.turn_up,
        "talon": view.talon,
        "table": view.table,
        "bound": cards_of(view.bound),
        "points": view.points,
        "pending": view.pending,
        "tricks": view.tricks,
        "hand_sizes": view.hand_sizes,
        "known": [{"cards": cards_of(mask)} for mask in view.known],
        "past_actions": view.past_actions,
        "past_seats": view.past_seats,
        "trick_winners": view.winners,
        "score": view.score,
        "carry": view.carry,
    }
    if view.closer is not None:
        fields["closing"] = {"seat": view.closer, "points": view.closed_points, "tricks": view.closed_tricks}
    return pb.Decision(**fields, **CLOCK)


# -- decisions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_a_view_survives_the_wire_exactly(name: str) -> None:
    for view in questions(PRESETS[name], deals=60):
        assert decided(view).view == view


def test_the_random_deals_ask_every_kind_of_question() -> None:
    points = {view.point for rules in PRESETS.values() for view in questions(rules, deals=60)}
    assert points == set(DecisionPoint)


@pytest.mark.parametrize("name", PRESETS)
def test_the_message_made_by_hand_is_the_one_that_protobuf_makes(name: str) -> None:
    for view in questions(PRESETS[name], deals=20, seed=2):
        (event,) = pb.PlayRequest.FromString(codec.decision(view, **CLOCK)).events
        assert event == pb.Event(decision=by_protobuf(view))


def test_a_hand_with_identical_cards_names_them_twice() -> None:
    hands = [view.hand for view in questions(PRESETS["sessantasei-101"], deals=20)]
    pairs = [hand for hand in hands if len(set(hand_cards(hand))) < len(hand_cards(hand))]
    assert pairs
    for hand in pairs:
        assert hand == hand_mask(hand_cards(hand))


def test_numbers_of_more_than_one_byte_survive() -> None:
    view = next(questions(Rules(), deals=1))._replace(points=(127, 128), pending=(300, 0), score=(1000, 127), carry=99)
    assert decided(view).view == view
    (event,) = codec.events(
        codec.decision(
            view, match_id="m" * 200, id=2**32 - 1, deal=100, time_left_ms=2**31, last_took_ms=128, resumed=True
        )
    )
    assert isinstance(event, codec.Decision)
    assert (event.match_id, event.id, event.deal) == ("m" * 200, 2**32 - 1, 100)
    assert (event.time_left_ms, event.last_took_ms, event.resumed) == (2**31, 128, True)
    assert event.view == view


def test_a_view_of_a_seat_that_is_not_to_act_is_no_decision() -> None:
    deal = next(asked(Rules(), deals=1))
    (other,) = {0, 1} - {deal.to_act}
    with pytest.raises(TypeError):
        codec.decision(deal.view(other), **CLOCK)


def hidden_apart(deal: Deal, rng: random.Random) -> Deal:
    """The same deal with everything exchanged that the seat to act does not know."""
    twin = deal.copy()
    face_up = [twin.talon.pop()] if twin.talon and twin.turn_up else []
    others = [seat for seat in deal.order if seat != deal.to_act]
    hidden = {seat: hand_cards(deal.hands[seat] ^ deal.known[seat]) for seat in others}
    pool = [*twin.talon, *(card for cards in hidden.values() for card in cards)]
    rng.shuffle(pool)
    for seat, cards in hidden.items():
        twin.hands[seat] = hand_mask([*cards_of(deal.known[seat]), *(pool.pop() for _ in cards)])
    twin.talon = [*pool, *face_up]
    return twin


@pytest.mark.parametrize("name", PRESETS)
def test_what_a_seat_may_not_know_changes_no_byte_of_its_question(name: str) -> None:
    rng = random.Random(3)
    for deal in asked(PRESETS[name], deals=30, seed=4):
        seat = deal.to_act
        assert seat is not None
        twin = hidden_apart(deal, rng)
        assert codec.decision(twin.view(seat), **CLOCK) == codec.decision(deal.view(seat), **CLOCK)


# -- the other events --------------------------------------------------------------------------------------------


def test_items_joined_are_one_message_in_order() -> None:
    view = next(questions(Rules(), deals=1))
    outcome = Outcome(Termination.FALSE_CLAIM, (0, 2), (40, 61), 0)
    message = b"".join(
        [
            codec.match_started("k3", 1, (0, 1), b"\x07" * 32, 1000, 10_000, resumed=True),
            codec.decision(view, **CLOCK),
            codec.withdrawn("k3", 9, codec.WithdrawnReason.ENDED),
            codec.fault("k3", 9, Fault.STREAM_BROKEN, "the stream broke", (3, 0), True),
            codec.deal_ended(
                "k3", 4, outcome, added=(0, 3), score=(5, 7), new_actions=b"\x08\x27", new_seats=b"\x01\x00"
            ),
            codec.match_ended("k3", (5, 7), (2, 1)),
        ]
    )
    started, decision, withdrawn, fault, ended, over = codec.events(message)
    assert started == codec.MatchStarted("k3", 1, (0, 1), b"\x07" * 32, 1000, 10_000, True)
    assert isinstance(decision, codec.Decision) and decision.view == view
    assert withdrawn == codec.Withdrawn("k3", 9, codec.WithdrawnReason.ENDED)
    assert fault == codec.FaultNotice("k3", 9, Fault.STREAM_BROKEN, "the stream broke", (3, 0), True)
    assert isinstance(fault, codec.FaultNotice) and fault.label == Fault.STREAM_BROKEN.label
    assert ended == codec.DealEnded(
        "k3", 4, Termination.FALSE_CLAIM, 0, (0, 3), (40, 61), (5, 7), b"\x08\x27", b"\x01\x00"
    )
    assert over == codec.MatchEnded("k3", (5, 7), (2, 1))


def test_an_event_that_is_not_known_is_left_out() -> None:
    unknown = b"\x0a\x04\xca\x3e\x01\x2a"  # an Event whose only field is number 1001
    over = codec.match_ended("k3", (7, 0), (1, 2))
    assert list(codec.events(unknown + over + unknown)) == [codec.MatchEnded("k3", (7, 0), (1, 2))]


def test_unknown_numbers_of_closed_lists_stay_numbers() -> None:
    message = pb.PlayRequest(
        events=[
            pb.Event(withdrawn={"reason": 77}),
            pb.Event(fault={"kind": 78}),
            pb.Event(deal_ended={"termination": 79}),
            pb.Event(decision={"point": 80, "legal": [3, 41]}),
        ]
    )
    withdrawn, fault, ended, decision = codec.events(message.SerializeToString())
    assert isinstance(withdrawn, codec.Withdrawn) and withdrawn.reason == 77
    assert isinstance(fault, codec.FaultNotice) and (fault.kind, fault.label) == (78, "fault-78")
    assert isinstance(ended, codec.DealEnded) and ended.termination == 79
    assert isinstance(decision, codec.Decision)
    assert decision.view.point == 80
    assert decision.view.legal == 1 << 3 | 1 << 41


# -- answers -------------------------------------------------------------------------------------------------------


def test_answers_joined_are_one_message_in_order() -> None:
    message = codec.answer(70_000, 40, 1_500_000) + codec.answer(1, 0, 0, "ValueError: no idea") + codec.answer(0, 0, 0)
    assert codec.answers(message) == [
        codec.Answer(70_000, 40, "", 1_500_000),
        codec.Answer(1, 0, "ValueError: no idea", 0),
        codec.Answer(0, 0, "", 0),
    ]


def test_an_action_that_is_none_stays_a_number() -> None:
    message = pb.PlayResponse(answers=[{"id": 3, "action": 99}, {"id": 4, "action": -1}])
    assert [answer.action for answer in codec.answers(message.SerializeToString())] == [99, -1]


@given(st.binary(max_size=200))
def test_garbage_is_an_error_of_the_wire_or_no_more_than_it_says(garbage: bytes) -> None:
    try:
        answers = codec.answers(garbage)
    except codec.WireError as error:
        assert "PlayResponse" in str(error)
    else:
        assert len(answers) <= len(garbage)


@pytest.mark.parametrize("garbage", [b"\xff", b"\x0a\x05abc", b"\x0a\x04\x1a\x02\xff\xfe", b"GET / HTTP/1.1\r\n"])
def test_bytes_that_are_no_message_are_refused_at_both_ends(garbage: bytes) -> None:
    with pytest.raises(codec.WireError, match="PlayResponse"):
        codec.answers(garbage)
    with pytest.raises(codec.WireError, match="DescribeResponse"):
        codec.describe_response(b"\xff")
    with pytest.raises(codec.WireError, match="PlayRequest"):
        list(codec.events(b"\xff"))
    with pytest.raises(codec.WireError, match="DescribeRequest"):
        codec.describe_request_of(b"\xff")


def test_fields_that_are_not_known_hold_no_answers() -> None:
    assert codec.answers(b"") == []
    assert codec.answers(b"\xca\x3e\x01\x2a") == []


# -- the handshake -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_every_option_of_the_rules_survives_the_handshake(name: str) -> None:
    arena = codec.describe_request_of(codec.describe_request(PRESETS[name], name))
    assert arena.rules == PRESETS[name]
    assert arena.name == name
    assert (arena.protocol_major, arena.protocol_minor) == (stubs.PROTOCOL_MAJOR, stubs.PROTOCOL_MINOR)


def test_the_rules_message_has_exactly_the_options() -> None:
    assert [field.name for field in rules_pb2.Rules.DESCRIPTOR.fields] == ["name", *OPTION_TYPES]


def test_an_option_word_that_is_not_known_is_named() -> None:
    message = pb.DescribeRequest.FromString(codec.describe_request(Rules(), "custom"))
    message.rules.close = "sometimes"
    arena = codec.describe_request_of(message.SerializeToString())
    with pytest.raises(RulesError, match="close is 'sometimes'"):
        _ = arena.rules


def test_a_bot_description_survives_the_handshake() -> None:
    bot = codec.BotDescription(1, 4, "Anna", "2.1", False, "I play with 20 cards only", True, 3)
    assert codec.describe_response(codec.describe_response_bytes(bot)) == bot


# -- the closed lists on both sides ----------------------------------------------------------------------------------


def members(enum: Any, prefix: str) -> dict[int, str]:
    """Number to name, without the unspecified 0."""
    names = {number: name for name, number in enum.items()}
    assert names.pop(0) == f"{prefix}UNSPECIFIED"
    return {number: name.removeprefix(prefix) for number, name in names.items()}


def test_cards_and_suits_have_their_wire_numbers() -> None:
    assert members(types_pb2.Card, "CARD_") == dict(enumerate(CARD_NAMES[1:], start=1))
    assert members(types_pb2.Suit, "SUIT_") == {suit.value: suit.name for suit in Suit}


def test_every_action_has_its_wire_number() -> None:
    wire = members(types_pb2.Action, "ACTION_")
    named = {
        **{f"PLAY_{name}": name for name in CARD_NAMES[1:]},
        **{f"DECLARE_{suit.name}": f"M{suit}" for suit in Suit},
        **{"EXCHANGE": "exchange", "CLOSE": "close", "CLAIM": "claim", "GO_ON": "go-on"},
    }
    assert {number: named[name] for number, name in wire.items()} == dict(enumerate(ACTION_NAMES[1:], start=1))


def test_decision_points_faults_and_reasons_have_their_wire_numbers() -> None:
    assert members(types_pb2.DecisionPoint, "DECISION_POINT_") == {point.value: point.name for point in DecisionPoint}
    assert members(types_pb2.FaultKind, "FAULT_KIND_") == {fault.value: fault.name for fault in Fault}
    assert members(types_pb2.WithdrawnReason, "WITHDRAWN_REASON_") == {
        reason.value: reason.name for reason in codec.WithdrawnReason
    }


def test_every_termination_has_a_wire_number_of_its_name() -> None:
    assert set(members(types_pb2.Termination, "TERMINATION_").values()) == {end.name for end in Termination}


@pytest.mark.parametrize("fault", Fault)
def test_a_fault_is_named_as_the_court_names_it(fault: Fault) -> None:
    assert codec.FaultNotice("", 0, fault, "", (), False).label == fault.label


def test_the_methods_are_those_of_the_proto() -> None:
    service = pb.DESCRIPTOR.services_by_name["BotService"]
    assert service.full_name == stubs.SERVICE
    assert [method.name for method in service.methods] == [stubs.DESCRIBE_METHOD, stubs.PLAY_METHOD]
