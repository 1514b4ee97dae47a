from arena.sixtysix.v1 import rules_pb2 as _rules_pb2
from arena.sixtysix.v1 import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DescribeRequest(_message.Message):
    __slots__ = ("protocol_major", "protocol_minor", "rules")
    PROTOCOL_MAJOR_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_MINOR_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    protocol_major: int
    protocol_minor: int
    rules: _rules_pb2.Rules
    def __init__(self, protocol_major: _Optional[int] = ..., protocol_minor: _Optional[int] = ..., rules: _Optional[_Union[_rules_pb2.Rules, _Mapping]] = ...) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("protocol_major", "protocol_minor", "name", "version", "plays", "refusal", "waives_before_draw", "decisions_at_once", "streams")
    PROTOCOL_MAJOR_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_MINOR_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PLAYS_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    WAIVES_BEFORE_DRAW_FIELD_NUMBER: _ClassVar[int]
    DECISIONS_AT_ONCE_FIELD_NUMBER: _ClassVar[int]
    STREAMS_FIELD_NUMBER: _ClassVar[int]
    protocol_major: int
    protocol_minor: int
    name: str
    version: str
    plays: bool
    refusal: str
    waives_before_draw: bool
    decisions_at_once: int
    streams: int
    def __init__(self, protocol_major: _Optional[int] = ..., protocol_minor: _Optional[int] = ..., name: _Optional[str] = ..., version: _Optional[str] = ..., plays: bool = ..., refusal: _Optional[str] = ..., waives_before_draw: bool = ..., decisions_at_once: _Optional[int] = ..., streams: _Optional[int] = ...) -> None: ...

class PlayRequest(_message.Message):
    __slots__ = ("events",)
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[Event]
    def __init__(self, events: _Optional[_Iterable[_Union[Event, _Mapping]]] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("match_started", "decision", "withdrawn", "fault", "deal_ended", "match_ended")
    MATCH_STARTED_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    WITHDRAWN_FIELD_NUMBER: _ClassVar[int]
    FAULT_FIELD_NUMBER: _ClassVar[int]
    DEAL_ENDED_FIELD_NUMBER: _ClassVar[int]
    MATCH_ENDED_FIELD_NUMBER: _ClassVar[int]
    match_started: MatchStarted
    decision: Decision
    withdrawn: Withdrawn
    fault: Fault
    deal_ended: DealEnded
    match_ended: MatchEnded
    def __init__(self, match_started: _Optional[_Union[MatchStarted, _Mapping]] = ..., decision: _Optional[_Union[Decision, _Mapping]] = ..., withdrawn: _Optional[_Union[Withdrawn, _Mapping]] = ..., fault: _Optional[_Union[Fault, _Mapping]] = ..., deal_ended: _Optional[_Union[DealEnded, _Mapping]] = ..., match_ended: _Optional[_Union[MatchEnded, _Mapping]] = ...) -> None: ...

class MatchStarted(_message.Message):
    __slots__ = ("match_id", "seat", "side_of_seat", "bot_seed", "limit_ms", "bank_ms", "resumed")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    SIDE_OF_SEAT_FIELD_NUMBER: _ClassVar[int]
    BOT_SEED_FIELD_NUMBER: _ClassVar[int]
    LIMIT_MS_FIELD_NUMBER: _ClassVar[int]
    BANK_MS_FIELD_NUMBER: _ClassVar[int]
    RESUMED_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    seat: int
    side_of_seat: _containers.RepeatedScalarFieldContainer[int]
    bot_seed: bytes
    limit_ms: int
    bank_ms: int
    resumed: bool
    def __init__(self, match_id: _Optional[str] = ..., seat: _Optional[int] = ..., side_of_seat: _Optional[_Iterable[int]] = ..., bot_seed: _Optional[bytes] = ..., limit_ms: _Optional[int] = ..., bank_ms: _Optional[int] = ..., resumed: bool = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("match_id", "id", "point", "legal", "hand", "seat", "dealer", "leader", "trump", "turn_up", "talon", "table", "bound", "points", "pending", "tricks", "closing", "hand_sizes", "known", "past_actions", "past_seats", "trick_winners", "score", "carry", "deal", "time_left_ms", "last_took_ms", "resumed")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    POINT_FIELD_NUMBER: _ClassVar[int]
    LEGAL_FIELD_NUMBER: _ClassVar[int]
    HAND_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    DEALER_FIELD_NUMBER: _ClassVar[int]
    LEADER_FIELD_NUMBER: _ClassVar[int]
    TRUMP_FIELD_NUMBER: _ClassVar[int]
    TURN_UP_FIELD_NUMBER: _ClassVar[int]
    TALON_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    BOUND_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    TRICKS_FIELD_NUMBER: _ClassVar[int]
    CLOSING_FIELD_NUMBER: _ClassVar[int]
    HAND_SIZES_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    PAST_ACTIONS_FIELD_NUMBER: _ClassVar[int]
    PAST_SEATS_FIELD_NUMBER: _ClassVar[int]
    TRICK_WINNERS_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    CARRY_FIELD_NUMBER: _ClassVar[int]
    DEAL_FIELD_NUMBER: _ClassVar[int]
    TIME_LEFT_MS_FIELD_NUMBER: _ClassVar[int]
    LAST_TOOK_MS_FIELD_NUMBER: _ClassVar[int]
    RESUMED_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    id: int
    point: _types_pb2.DecisionPoint
    legal: _containers.RepeatedScalarFieldContainer[_types_pb2.Action]
    hand: _containers.RepeatedScalarFieldContainer[_types_pb2.Card]
    seat: int
    dealer: int
    leader: int
    trump: _types_pb2.Suit
    turn_up: _types_pb2.Card
    talon: int
    table: _containers.RepeatedScalarFieldContainer[_types_pb2.Card]
    bound: _containers.RepeatedScalarFieldContainer[_types_pb2.Card]
    points: _containers.RepeatedScalarFieldContainer[int]
    pending: _containers.RepeatedScalarFieldContainer[int]
    tricks: _containers.RepeatedScalarFieldContainer[int]
    closing: Closing
    hand_sizes: _containers.RepeatedScalarFieldContainer[int]
    known: _containers.RepeatedCompositeFieldContainer[KnownCards]
    past_actions: _containers.RepeatedScalarFieldContainer[_types_pb2.Action]
    past_seats: _containers.RepeatedScalarFieldContainer[int]
    trick_winners: _containers.RepeatedScalarFieldContainer[int]
    score: _containers.RepeatedScalarFieldContainer[int]
    carry: int
    deal: int
    time_left_ms: int
    last_took_ms: int
    resumed: bool
    def __init__(self, match_id: _Optional[str] = ..., id: _Optional[int] = ..., point: _Optional[_Union[_types_pb2.DecisionPoint, str]] = ..., legal: _Optional[_Iterable[_Union[_types_pb2.Action, str]]] = ..., hand: _Optional[_Iterable[_Union[_types_pb2.Card, str]]] = ..., seat: _Optional[int] = ..., dealer: _Optional[int] = ..., leader: _Optional[int] = ..., trump: _Optional[_Union[_types_pb2.Suit, str]] = ..., turn_up: _Optional[_Union[_types_pb2.Card, str]] = ..., talon: _Optional[int] = ..., table: _Optional[_Iterable[_Union[_types_pb2.Card, str]]] = ..., bound: _Optional[_Iterable[_Union[_types_pb2.Card, str]]] = ..., points: _Optional[_Iterable[int]] = ..., pending: _Optional[_Iterable[int]] = ..., tricks: _Optional[_Iterable[int]] = ..., closing: _Optional[_Union[Closing, _Mapping]] = ..., hand_sizes: _Optional[_Iterable[int]] = ..., known: _Optional[_Iterable[_Union[KnownCards, _Mapping]]] = ..., past_actions: _Optional[_Iterable[_Union[_types_pb2.Action, str]]] = ..., past_seats: _Optional[_Iterable[int]] = ..., trick_winners: _Optional[_Iterable[int]] = ..., score: _Optional[_Iterable[int]] = ..., carry: _Optional[int] = ..., deal: _Optional[int] = ..., time_left_ms: _Optional[int] = ..., last_took_ms: _Optional[int] = ..., resumed: bool = ...) -> None: ...

class Closing(_message.Message):
    __slots__ = ("seat", "points", "tricks")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    TRICKS_FIELD_NUMBER: _ClassVar[int]
    seat: int
    points: _containers.RepeatedScalarFieldContainer[int]
    tricks: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, seat: _Optional[int] = ..., points: _Optional[_Iterable[int]] = ..., tricks: _Optional[_Iterable[int]] = ...) -> None: ...

class KnownCards(_message.Message):
    __slots__ = ("cards",)
    CARDS_FIELD_NUMBER: _ClassVar[int]
    cards: _containers.RepeatedScalarFieldContainer[_types_pb2.Card]
    def __init__(self, cards: _Optional[_Iterable[_Union[_types_pb2.Card, str]]] = ...) -> None: ...

class Withdrawn(_message.Message):
    __slots__ = ("match_id", "id", "reason")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    id: int
    reason: _types_pb2.WithdrawnReason
    def __init__(self, match_id: _Optional[str] = ..., id: _Optional[int] = ..., reason: _Optional[_Union[_types_pb2.WithdrawnReason, str]] = ...) -> None: ...

class Fault(_message.Message):
    __slots__ = ("match_id", "id", "kind", "text", "points", "match_lost")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    MATCH_LOST_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    id: int
    kind: _types_pb2.FaultKind
    text: str
    points: _containers.RepeatedScalarFieldContainer[int]
    match_lost: bool
    def __init__(self, match_id: _Optional[str] = ..., id: _Optional[int] = ..., kind: _Optional[_Union[_types_pb2.FaultKind, str]] = ..., text: _Optional[str] = ..., points: _Optional[_Iterable[int]] = ..., match_lost: bool = ...) -> None: ...

class DealEnded(_message.Message):
    __slots__ = ("match_id", "deal", "termination", "seat", "points", "card_points", "score", "new_actions", "new_seats")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    DEAL_FIELD_NUMBER: _ClassVar[int]
    TERMINATION_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    CARD_POINTS_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    NEW_ACTIONS_FIELD_NUMBER: _ClassVar[int]
    NEW_SEATS_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    deal: int
    termination: _types_pb2.Termination
    seat: int
    points: _containers.RepeatedScalarFieldContainer[int]
    card_points: _containers.RepeatedScalarFieldContainer[int]
    score: _containers.RepeatedScalarFieldContainer[int]
    new_actions: _containers.RepeatedScalarFieldContainer[_types_pb2.Action]
    new_seats: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, match_id: _Optional[str] = ..., deal: _Optional[int] = ..., termination: _Optional[_Union[_types_pb2.Termination, str]] = ..., seat: _Optional[int] = ..., points: _Optional[_Iterable[int]] = ..., card_points: _Optional[_Iterable[int]] = ..., score: _Optional[_Iterable[int]] = ..., new_actions: _Optional[_Iterable[_Union[_types_pb2.Action, str]]] = ..., new_seats: _Optional[_Iterable[int]] = ...) -> None: ...

class MatchEnded(_message.Message):
    __slots__ = ("match_id", "score", "ranks")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    RANKS_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    score: _containers.RepeatedScalarFieldContainer[int]
    ranks: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, match_id: _Optional[str] = ..., score: _Optional[_Iterable[int]] = ..., ranks: _Optional[_Iterable[int]] = ...) -> None: ...

class PlayResponse(_message.Message):
    __slots__ = ("answers",)
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    answers: _containers.RepeatedCompositeFieldContainer[Answer]
    def __init__(self, answers: _Optional[_Iterable[_Union[Answer, _Mapping]]] = ...) -> None: ...

class Answer(_message.Message):
    __slots__ = ("id", "action", "error", "think_us")
    ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    THINK_US_FIELD_NUMBER: _ClassVar[int]
    id: int
    action: _types_pb2.Action
    error: str
    think_us: int
    def __init__(self, id: _Optional[int] = ..., action: _Optional[_Union[_types_pb2.Action, str]] = ..., error: _Optional[str] = ..., think_us: _Optional[int] = ...) -> None: ...
