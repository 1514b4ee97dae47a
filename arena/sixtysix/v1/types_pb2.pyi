from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class Suit(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUIT_UNSPECIFIED: _ClassVar[Suit]
    SUIT_SPADES: _ClassVar[Suit]
    SUIT_HEARTS: _ClassVar[Suit]
    SUIT_DIAMONDS: _ClassVar[Suit]
    SUIT_CLUBS: _ClassVar[Suit]

class Card(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CARD_UNSPECIFIED: _ClassVar[Card]
    CARD_7S: _ClassVar[Card]
    CARD_8S: _ClassVar[Card]
    CARD_9S: _ClassVar[Card]
    CARD_JS: _ClassVar[Card]
    CARD_QS: _ClassVar[Card]
    CARD_KS: _ClassVar[Card]
    CARD_TS: _ClassVar[Card]
    CARD_AS: _ClassVar[Card]
    CARD_7H: _ClassVar[Card]
    CARD_8H: _ClassVar[Card]
    CARD_9H: _ClassVar[Card]
    CARD_JH: _ClassVar[Card]
    CARD_QH: _ClassVar[Card]
    CARD_KH: _ClassVar[Card]
    CARD_TH: _ClassVar[Card]
    CARD_AH: _ClassVar[Card]
    CARD_7D: _ClassVar[Card]
    CARD_8D: _ClassVar[Card]
    CARD_9D: _ClassVar[Card]
    CARD_JD: _ClassVar[Card]
    CARD_QD: _ClassVar[Card]
    CARD_KD: _ClassVar[Card]
    CARD_TD: _ClassVar[Card]
    CARD_AD: _ClassVar[Card]
    CARD_7C: _ClassVar[Card]
    CARD_8C: _ClassVar[Card]
    CARD_9C: _ClassVar[Card]
    CARD_JC: _ClassVar[Card]
    CARD_QC: _ClassVar[Card]
    CARD_KC: _ClassVar[Card]
    CARD_TC: _ClassVar[Card]
    CARD_AC: _ClassVar[Card]

class Action(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACTION_UNSPECIFIED: _ClassVar[Action]
    ACTION_PLAY_7S: _ClassVar[Action]
    ACTION_PLAY_8S: _ClassVar[Action]
    ACTION_PLAY_9S: _ClassVar[Action]
    ACTION_PLAY_JS: _ClassVar[Action]
    ACTION_PLAY_QS: _ClassVar[Action]
    ACTION_PLAY_KS: _ClassVar[Action]
    ACTION_PLAY_TS: _ClassVar[Action]
    ACTION_PLAY_AS: _ClassVar[Action]
    ACTION_PLAY_7H: _ClassVar[Action]
    ACTION_PLAY_8H: _ClassVar[Action]
    ACTION_PLAY_9H: _ClassVar[Action]
    ACTION_PLAY_JH: _ClassVar[Action]
    ACTION_PLAY_QH: _ClassVar[Action]
    ACTION_PLAY_KH: _ClassVar[Action]
    ACTION_PLAY_TH: _ClassVar[Action]
    ACTION_PLAY_AH: _ClassVar[Action]
    ACTION_PLAY_7D: _ClassVar[Action]
    ACTION_PLAY_8D: _ClassVar[Action]
    ACTION_PLAY_9D: _ClassVar[Action]
    ACTION_PLAY_JD: _ClassVar[Action]
    ACTION_PLAY_QD: _ClassVar[Action]
    ACTION_PLAY_KD: _ClassVar[Action]
    ACTION_PLAY_TD: _ClassVar[Action]
    ACTION_PLAY_AD: _ClassVar[Action]
    ACTION_PLAY_7C: _ClassVar[Action]
    ACTION_PLAY_8C: _ClassVar[Action]
    ACTION_PLAY_9C: _ClassVar[Action]
    ACTION_PLAY_JC: _ClassVar[Action]
    ACTION_PLAY_QC: _ClassVar[Action]
    ACTION_PLAY_KC: _ClassVar[Action]
    ACTION_PLAY_TC: _ClassVar[Action]
    ACTION_PLAY_AC: _ClassVar[Action]
    ACTION_DECLARE_SPADES: _ClassVar[Action]
    ACTION_DECLARE_HEARTS: _ClassVar[Action]
    ACTION_DECLARE_DIAMONDS: _ClassVar[Action]
    ACTION_DECLARE_CLUBS: _ClassVar[Action]
    ACTION_EXCHANGE: _ClassVar[Action]
    ACTION_CLOSE: _ClassVar[Action]
    ACTION_CLAIM: _ClassVar[Action]
    ACTION_GO_ON: _ClassVar[Action]

class DecisionPoint(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DECISION_POINT_UNSPECIFIED: _ClassVar[DecisionPoint]
    DECISION_POINT_ON_LEAD: _ClassVar[DecisionPoint]
    DECISION_POINT_FOLLOW: _ClassVar[DecisionPoint]
    DECISION_POINT_BEFORE_DRAW: _ClassVar[DecisionPoint]
    DECISION_POINT_ON_CLOSE: _ClassVar[DecisionPoint]
    DECISION_POINT_AFTER_LAST_TRICK: _ClassVar[DecisionPoint]

class Termination(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TERMINATION_UNSPECIFIED: _ClassVar[Termination]
    TERMINATION_CLAIM: _ClassVar[Termination]
    TERMINATION_REACHED: _ClassVar[Termination]
    TERMINATION_FALSE_CLAIM: _ClassVar[Termination]
    TERMINATION_CLOSE_MADE: _ClassVar[Termination]
    TERMINATION_CLOSE_FAILED: _ClassVar[Termination]
    TERMINATION_PLAYED_OUT: _ClassVar[Termination]
    TERMINATION_FORFEIT: _ClassVar[Termination]

class FaultKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FAULT_KIND_UNSPECIFIED: _ClassVar[FaultKind]
    FAULT_KIND_ILLEGAL: _ClassVar[FaultKind]
    FAULT_KIND_MALFORMED: _ClassVar[FaultKind]
    FAULT_KIND_ERROR: _ClassVar[FaultKind]
    FAULT_KIND_LATE: _ClassVar[FaultKind]
    FAULT_KIND_HUNG: _ClassVar[FaultKind]
    FAULT_KIND_DIED: _ClassVar[FaultKind]
    FAULT_KIND_STREAM_BROKEN: _ClassVar[FaultKind]
    FAULT_KIND_FLOOD: _ClassVar[FaultKind]
    FAULT_KIND_NOT_STARTED: _ClassVar[FaultKind]
    FAULT_KIND_REFUSED: _ClassVar[FaultKind]

class WithdrawnReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WITHDRAWN_REASON_UNSPECIFIED: _ClassVar[WithdrawnReason]
    WITHDRAWN_REASON_LATE: _ClassVar[WithdrawnReason]
    WITHDRAWN_REASON_ENDED: _ClassVar[WithdrawnReason]
SUIT_UNSPECIFIED: Suit
SUIT_SPADES: Suit
SUIT_HEARTS: Suit
SUIT_DIAMONDS: Suit
SUIT_CLUBS: Suit
CARD_UNSPECIFIED: Card
CARD_7S: Card
CARD_8S: Card
CARD_9S: Card
CARD_JS: Card
CARD_QS: Card
CARD_KS: Card
CARD_TS: Card
CARD_AS: Card
CARD_7H: Card
CARD_8H: Card
CARD_9H: Card
CARD_JH: Card
CARD_QH: Card
CARD_KH: Card
CARD_TH: Card
CARD_AH: Card
CARD_7D: Card
CARD_8D: Card
CARD_9D: Card
CARD_JD: Card
CARD_QD: Card
CARD_KD: Card
CARD_TD: Card
CARD_AD: Card
CARD_7C: Card
CARD_8C: Card
CARD_9C: Card
CARD_JC: Card
CARD_QC: Card
CARD_KC: Card
CARD_TC: Card
CARD_AC: Card
ACTION_UNSPECIFIED: Action
ACTION_PLAY_7S: Action
ACTION_PLAY_8S: Action
ACTION_PLAY_9S: Action
ACTION_PLAY_JS: Action
ACTION_PLAY_QS: Action
ACTION_PLAY_KS: Action
ACTION_PLAY_TS: Action
ACTION_PLAY_AS: Action
ACTION_PLAY_7H: Action
ACTION_PLAY_8H: Action
ACTION_PLAY_9H: Action
ACTION_PLAY_JH: Action
ACTION_PLAY_QH: Action
ACTION_PLAY_KH: Action
ACTION_PLAY_TH: Action
ACTION_PLAY_AH: Action
ACTION_PLAY_7D: Action
ACTION_PLAY_8D: Action
ACTION_PLAY_9D: Action
ACTION_PLAY_JD: Action
ACTION_PLAY_QD: Action
ACTION_PLAY_KD: Action
ACTION_PLAY_TD: Action
ACTION_PLAY_AD: Action
ACTION_PLAY_7C: Action
ACTION_PLAY_8C: Action
ACTION_PLAY_9C: Action
ACTION_PLAY_JC: Action
ACTION_PLAY_QC: Action
ACTION_PLAY_KC: Action
ACTION_PLAY_TC: Action
ACTION_PLAY_AC: Action
ACTION_DECLARE_SPADES: Action
ACTION_DECLARE_HEARTS: Action
ACTION_DECLARE_DIAMONDS: Action
ACTION_DECLARE_CLUBS: Action
ACTION_EXCHANGE: Action
ACTION_CLOSE: Action
ACTION_CLAIM: Action
ACTION_GO_ON: Action
DECISION_POINT_UNSPECIFIED: DecisionPoint
DECISION_POINT_ON_LEAD: DecisionPoint
DECISION_POINT_FOLLOW: DecisionPoint
DECISION_POINT_BEFORE_DRAW: DecisionPoint
DECISION_POINT_ON_CLOSE: DecisionPoint
DECISION_POINT_AFTER_LAST_TRICK: DecisionPoint
TERMINATION_UNSPECIFIED: Termination
TERMINATION_CLAIM: Termination
TERMINATION_REACHED: Termination
TERMINATION_FALSE_CLAIM: Termination
TERMINATION_CLOSE_MADE: Termination
TERMINATION_CLOSE_FAILED: Termination
TERMINATION_PLAYED_OUT: Termination
TERMINATION_FORFEIT: Termination
FAULT_KIND_UNSPECIFIED: FaultKind
FAULT_KIND_ILLEGAL: FaultKind
FAULT_KIND_MALFORMED: FaultKind
FAULT_KIND_ERROR: FaultKind
FAULT_KIND_LATE: FaultKind
FAULT_KIND_HUNG: FaultKind
FAULT_KIND_DIED: FaultKind
FAULT_KIND_STREAM_BROKEN: FaultKind
FAULT_KIND_FLOOD: FaultKind
FAULT_KIND_NOT_STARTED: FaultKind
FAULT_KIND_REFUSED: FaultKind
WITHDRAWN_REASON_UNSPECIFIED: WithdrawnReason
WITHDRAWN_REASON_LATE: WithdrawnReason
WITHDRAWN_REASON_ENDED: WithdrawnReason
