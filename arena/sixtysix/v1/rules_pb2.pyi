from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class Rules(_message.Message):
    __slots__ = ("name", "deck", "hand", "seating", "seats", "trump_source", "deal_rotation", "target", "exchange", "exchange_min_talon", "exchange_on_opponent_close", "marriage", "marriage_phase", "marriage_lead", "marriage_credit", "close", "close_first_lead", "close_min_talon", "close_snapshot", "close_fail", "close_beaten", "close_needs_claim", "claim", "false_claim", "last_trick", "tie", "illegal_play", "match_target", "marriage_values", "score", "class_line")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DECK_FIELD_NUMBER: _ClassVar[int]
    HAND_FIELD_NUMBER: _ClassVar[int]
    SEATING_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    TRUMP_SOURCE_FIELD_NUMBER: _ClassVar[int]
    DEAL_ROTATION_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    EXCHANGE_FIELD_NUMBER: _ClassVar[int]
    EXCHANGE_MIN_TALON_FIELD_NUMBER: _ClassVar[int]
    EXCHANGE_ON_OPPONENT_CLOSE_FIELD_NUMBER: _ClassVar[int]
    MARRIAGE_FIELD_NUMBER: _ClassVar[int]
    MARRIAGE_PHASE_FIELD_NUMBER: _ClassVar[int]
    MARRIAGE_LEAD_FIELD_NUMBER: _ClassVar[int]
    MARRIAGE_CREDIT_FIELD_NUMBER: _ClassVar[int]
    CLOSE_FIELD_NUMBER: _ClassVar[int]
    CLOSE_FIRST_LEAD_FIELD_NUMBER: _ClassVar[int]
    CLOSE_MIN_TALON_FIELD_NUMBER: _ClassVar[int]
    CLOSE_SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    CLOSE_FAIL_FIELD_NUMBER: _ClassVar[int]
    CLOSE_BEATEN_FIELD_NUMBER: _ClassVar[int]
    CLOSE_NEEDS_CLAIM_FIELD_NUMBER: _ClassVar[int]
    CLAIM_FIELD_NUMBER: _ClassVar[int]
    FALSE_CLAIM_FIELD_NUMBER: _ClassVar[int]
    LAST_TRICK_FIELD_NUMBER: _ClassVar[int]
    TIE_FIELD_NUMBER: _ClassVar[int]
    ILLEGAL_PLAY_FIELD_NUMBER: _ClassVar[int]
    MATCH_TARGET_FIELD_NUMBER: _ClassVar[int]
    MARRIAGE_VALUES_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    CLASS_LINE_FIELD_NUMBER: _ClassVar[int]
    name: str
    deck: int
    hand: int
    seating: str
    seats: int
    trump_source: str
    deal_rotation: str
    target: int
    exchange: str
    exchange_min_talon: int
    exchange_on_opponent_close: bool
    marriage: str
    marriage_phase: str
    marriage_lead: str
    marriage_credit: str
    close: str
    close_first_lead: bool
    close_min_talon: int
    close_snapshot: str
    close_fail: str
    close_beaten: str
    close_needs_claim: bool
    claim: str
    false_claim: str
    last_trick: str
    tie: str
    illegal_play: str
    match_target: int
    marriage_values: str
    score: str
    class_line: int
    def __init__(self, name: _Optional[str] = ..., deck: _Optional[int] = ..., hand: _Optional[int] = ..., seating: _Optional[str] = ..., seats: _Optional[int] = ..., trump_source: _Optional[str] = ..., deal_rotation: _Optional[str] = ..., target: _Optional[int] = ..., exchange: _Optional[str] = ..., exchange_min_talon: _Optional[int] = ..., exchange_on_opponent_close: bool = ..., marriage: _Optional[str] = ..., marriage_phase: _Optional[str] = ..., marriage_lead: _Optional[str] = ..., marriage_credit: _Optional[str] = ..., close: _Optional[str] = ..., close_first_lead: bool = ..., close_min_talon: _Optional[int] = ..., close_snapshot: _Optional[str] = ..., close_fail: _Optional[str] = ..., close_beaten: _Optional[str] = ..., close_needs_claim: bool = ..., claim: _Optional[str] = ..., false_claim: _Optional[str] = ..., last_trick: _Optional[str] = ..., tie: _Optional[str] = ..., illegal_play: _Optional[str] = ..., match_target: _Optional[int] = ..., marriage_values: _Optional[str] = ..., score: _Optional[str] = ..., class_line: _Optional[int] = ...) -> None: ...
