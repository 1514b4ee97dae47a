"""Values to messages and back, for both ends of the wire.

What goes into a stream is encoded once, as one framed item (tag, length, bytes): items joined are a valid message.
What comes from a stream is checked for being a message at all; unknown numbers in it stay numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, IntEnum
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar, cast

from google.protobuf.message import DecodeError, Message

from arena.cards import ACTIONS, DECLARE, DISTINCT, cards_of, hand_bytes, hand_mask
from arena.errors import ArenaError
from arena.game.rules import Rules
from arena.game.scoring import Outcome, Termination
from arena.game.views import DecisionPoint, View
from arena.sixtysix.v1 import bot_pb2 as pb
from arena.sixtysix.v1 import rules_pb2, types_pb2
from arena.wire.stubs import PROTOCOL_MAJOR, PROTOCOL_MINOR


class WireError(ArenaError):
    """Bytes that are not the message they should be."""


class WithdrawnReason(IntEnum):
    """Why a decision is no longer open, numbered as on the wire."""

    LATE = 1
    """Its time ran out."""
    ENDED = 2
    """The match ended before the answer: the arena failed, and the match is void."""


# -- cards, words and numbers ---------------------------------------------------------------------------------

_FIRST_OTHER = int(DECLARE[1])
_OTHER_ACTIONS = tuple(bytes(_FIRST_OTHER + bit for bit in range(8) if bits >> bit & 1) for bits in range(256))
"""`_OTHER_ACTIONS[bits]`: the actions that play no card, by the upper bits of a mask of actions."""

_POINTS = {int(point): point for point in DecisionPoint}
_TERMINATION_NUMBERS: Mapping[Termination, Any] = {
    end: types_pb2.Termination.Value(f"TERMINATION_{end.name}") for end in Termination
}
_TERMINATIONS = {int(number): end for end, number in _TERMINATION_NUMBERS.items()}
_FAULT_LABELS = {
    int(number): name.removeprefix("FAULT_KIND_").lower().replace("_", "-")
    for name, number in types_pb2.FaultKind.items()
}


def _mask(numbers: Iterable[int]) -> int:
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask


def _bytes(numbers: Iterable[int]) -> bytes:
    try:
        return bytes(numbers)
    except ValueError:
        raise WireError("a number came that is neither a seat nor an action") from None


def _varint(number: int) -> bytes:
    if number < 1 << 7:
        return bytes((number,))
    if number < 1 << 14:
        return bytes((number & 127 | 128, number >> 7))
    return bytes((number & 127 | 128,)) + _varint(number >> 7)


_M = TypeVar("_M", bound=Message)


def _parsed(message: type[_M], data: bytes) -> _M:
    try:
        return message.FromString(data)
    except DecodeError:
        raise WireError(f"{len(data)} bytes came that are not a {message.DESCRIPTOR.name}") from None


# -- framing -------------------------------------------------------------------------------------------------------

_VARINT, _DELIMITED = 0, 2
"""The wire types that the protocol uses."""


def _tag(message: type[Message], field: str, wire_type: int = _DELIMITED) -> bytes:
    return _varint(message.DESCRIPTOR.fields_by_name[field].number << 3 | wire_type)


_ITEM = _tag(pb.PlayRequest, "events")
_MATCH_STARTED, _DECISION, _WITHDRAWN, _FAULT, _DEAL_ENDED, _MATCH_ENDED = (
    _tag(pb.Event, field) for field in ("match_started", "decision", "withdrawn", "fault", "deal_ended", "match_ended")
)
_ANSWER = _tag(pb.PlayResponse, "answers")
_ANSWER_ID, _ANSWER_ACTION, _ANSWER_THINK = (_tag(pb.Answer, field, _VARINT) for field in ("id", "action", "think_us"))


@lru_cache(maxsize=4096)
def _frame(tag: bytes, size: int) -> bytes:
    """What comes before a message of that size to make it an `Event` of one field in `PlayRequest.events`."""
    inner = tag + _varint(size)
    return _ITEM + _varint(len(inner) + size) + inner


def _event(tag: bytes, message: bytes) -> bytes:
    """An `Event` of one field, framed as an item of `PlayRequest.events`."""
    return _frame(tag, len(message)) + message


# -- the arena writes ----------------------------------------------------------------------------------------------


def match_started(
    match_id: str,
    seat: int,
    side_of_seat: Sequence[int],
    bot_seed: bytes,
    limit_ms: int,
    bank_ms: int,
    resumed: bool = False,
) -> bytes:
    """A framed `MatchStarted`; a `limit_ms` of 0 means that no clock runs."""
    message = pb.MatchStarted(
        match_id=match_id,
        seat=seat,
        side_of_seat=side_of_seat,
        bot_seed=bot_seed,
        limit_ms=limit_ms,
        bank_ms=bank_ms,
        resumed=resumed,
    )
    return _event(_MATCH_STARTED, message.SerializeToString())


class _Gap(Enum):
    """How a value is written into a `Decision`: the wire type of its tag and the format of its bytes."""

    BYTE = (_VARINT, b"%c")
    """A number below 128."""
    NUMBER = (_VARINT, b"%b")
    """Any number, as `_varint` makes it."""
    LIST = (_DELIMITED, b"%c%b")
    """Less than 128 bytes, as their number and themselves."""
    SIZED = (_DELIMITED, b"%b")
    """A list of numbers, as `_sized` makes it."""


def _decision_template(**gaps: _Gap) -> bytes:
    """Fields of a `Decision` with gaps for their values in the order given; the tags come from the generated code."""
    return b"".join(_tag(pb.Decision, field, gap.value[0]) + gap.value[1] for field, gap in gaps.items())


# A decision is put together by hand because one is sent for every action: protobuf's own constructor takes several
# times as long.  Fields that stay the same for a while are kept.  Lists stay below 128 bytes: the longest deal has 48
# plays and fewer than 40 other actions.
_DECISION_TEMPLATE = _decision_template(
    id=_Gap.NUMBER,
    point=_Gap.BYTE,
    legal=_Gap.LIST,
    hand=_Gap.LIST,
    leader=_Gap.BYTE,
    trump=_Gap.BYTE,
    turn_up=_Gap.BYTE,
    talon=_Gap.BYTE,
    table=_Gap.LIST,
    points=_Gap.SIZED,
    pending=_Gap.SIZED,
    tricks=_Gap.SIZED,
    hand_sizes=_Gap.SIZED,
    past_actions=_Gap.LIST,
    past_seats=_Gap.LIST,
    trick_winners=_Gap.LIST,
)


@lru_cache(maxsize=1 << 14)
def _sized(numbers: tuple[int, ...]) -> bytes:
    """A packed list of numbers with its size."""
    if max(numbers) < 128:
        return bytes((len(numbers), *numbers))
    content = b"".join(map(_varint, numbers))
    return _varint(len(content)) + content


@lru_cache(maxsize=4096)
def _deal_fields(match_id: str, deal: int, seat: int, dealer: int, score: tuple[int, ...], carry: int) -> bytes:
    """What a seat is told alike throughout a deal."""
    fields = pb.Decision(match_id=match_id, deal=deal, seat=seat, dealer=dealer, score=score, carry=carry)
    return fields.SerializeToString()


@lru_cache(maxsize=4096)
def _clock_fields(time_left_ms: int, last_took_ms: int, resumed: bool) -> bytes:
    return pb.Decision(time_left_ms=time_left_ms, last_took_ms=last_took_ms, resumed=resumed).SerializeToString()


@lru_cache(maxsize=1024)
def _bound_field(bound: int) -> bytes:
    return pb.Decision(bound=cast(Any, cards_of(bound))).SerializeToString()


@lru_cache(maxsize=1024)
def _closing_field(closer: int, points: tuple[int, ...], tricks: tuple[int, ...]) -> bytes:
    closing = pb.Closing(seat=closer, points=points, tricks=tricks)
    return pb.Decision(closing=closing).SerializeToString()


@lru_cache(maxsize=1024)
def _known_fields(known: tuple[int, ...]) -> bytes:
    cards = [pb.KnownCards(cards=cast(Any, cards_of(mask))) for mask in known]
    return pb.Decision(known=cards).SerializeToString()


def decision(
    view: View,
    *,
    match_id: str,
    id: int,
    deal: int,
    time_left_ms: int,
    last_took_ms: int,
    resumed: bool = False,
) -> bytes:
    """A framed `Decision` of the seat that is to act.  `time_left_ms` is 0 where no clock runs."""
    (
        seat, point, legal, hand, dealer, leader, trump, turn_up, talon, table, bound, points, pending, tricks,
        closer, closed_points, closed_tricks, hand_sizes, known, past_seats, past_actions, winners, score, carry,
    ) = view  # fmt: skip
    hand_list = hand_bytes(hand)
    cards = legal & DISTINCT
    legal_list = hand_list if cards == hand else hand_bytes(cards)
    if cards != legal:
        legal_list += _OTHER_ACTIONS[legal >> _FIRST_OTHER]
    message = _DECISION_TEMPLATE % (
        _varint(id),
        point,
        len(legal_list), legal_list,
        len(hand_list), hand_list,
        leader,
        trump,
        turn_up,
        talon,
        len(table), bytes(table),
        _sized(points),
        _sized(pending),
        _sized(tricks),
        _sized(hand_sizes),
        len(past_actions), past_actions,
        len(past_seats), past_seats,
        len(winners), winners,
    ) + _deal_fields(match_id, deal, seat, dealer, score, carry) + _known_fields(known)  # fmt: skip
    if bound:
        message += _bound_field(bound)
    if closer is not None:
        message += _closing_field(closer, closed_points, closed_tricks)
    return _event(_DECISION, message + _clock_fields(time_left_ms, last_took_ms, resumed))


def asked_again(decision: bytes, time_left_ms: int) -> bytes:
    """A framed `Decision` as it is put once more, with what is left of its time (0: no clock runs)."""
    message = pb.PlayRequest.FromString(decision)
    again = message.events[0].decision
    again.resumed = True
    again.time_left_ms = time_left_ms
    return message.SerializeToString()


def withdrawn(match_id: str, id: int, reason: WithdrawnReason) -> bytes:
    """A framed `Withdrawn`."""
    message = pb.Withdrawn(match_id=match_id, id=id, reason=cast(Any, reason))
    return _event(_WITHDRAWN, message.SerializeToString())


def fault(match_id: str, id: int, kind: int, text: str, points: Sequence[int], match_lost: bool) -> bytes:
    """A framed `Fault`: the decision (0: about none), the number of its kind, what it cost by side."""
    message = pb.Fault(
        match_id=match_id,
        id=id,
        kind=cast(Any, kind),
        text=text,
        points=points,
        match_lost=match_lost,
    )
    return _event(_FAULT, message.SerializeToString())


def deal_ended(
    match_id: str,
    deal: int,
    outcome: Outcome,
    *,
    added: Sequence[int],
    score: Sequence[int],
    new_actions: bytes,
    new_seats: bytes,
) -> bytes:
    """A framed `DealEnded`.

    `added` is what the deal adds to the match score by side (what earlier draws carried over included), `score` the
    match score after it; `new_actions` and `new_seats` are the public actions since the seat's last decision.
    """
    message = pb.DealEnded(
        match_id=match_id,
        deal=deal,
        termination=_TERMINATION_NUMBERS[outcome.termination],
        seat=outcome.seat,
        points=added,
        card_points=outcome.card_points,
        score=score,
        new_actions=cast(Any, new_actions),
        new_seats=new_seats,
    )
    return _event(_DEAL_ENDED, message.SerializeToString())


def match_ended(match_id: str, score: Sequence[int], ranks: Sequence[int]) -> bytes:
    """A framed `MatchEnded`: the final score and the rank (1 is first) by side."""
    message = pb.MatchEnded(match_id=match_id, score=score, ranks=ranks)
    return _event(_MATCH_ENDED, message.SerializeToString())


def describe_request(rules: Rules, name: str) -> bytes:
    """A `DescribeRequest` (a whole message) for these rules; `name` is the preset's or "custom"."""
    message = pb.DescribeRequest(
        protocol_major=PROTOCOL_MAJOR,
        protocol_minor=PROTOCOL_MINOR,
        rules=rules_pb2.Rules(name=name, **cast(Any, rules.options())),
    )
    return message.SerializeToString()


# -- the arena reads -----------------------------------------------------------------------------------------------


class BotDescription(NamedTuple):
    """What a bot says of itself in the handshake."""

    protocol_major: int
    protocol_minor: int
    name: str
    version: str
    plays: bool
    refusal: str
    """Why it does not play the rules; empty if it does."""
    waives_before_draw: bool
    decisions_at_once: int
    """How many decisions it wants open at once; 0 means any number."""
    streams: int = 1
    """How many streams it takes at once."""


class Answer(NamedTuple):
    """An answer as it came: nothing in it is checked but that it is one."""

    id: int
    """The decision."""
    action: int
    """An action's number; 0 where none was given."""
    error: str
    """What the bot reports of its own failure; empty if it did not fail."""
    think_us: int
    """How long the bot says that it thought, in microseconds; 0 if it does not say."""


def describe_response(data: bytes) -> BotDescription:
    """What the bot says of itself.  Raises `WireError`."""
    message = _parsed(pb.DescribeResponse, data)
    return BotDescription(
        protocol_major=message.protocol_major,
        protocol_minor=message.protocol_minor,
        name=message.name,
        version=message.version,
        plays=message.plays,
        refusal=message.refusal,
        waives_before_draw=message.waives_before_draw,
        decisions_at_once=message.decisions_at_once,
        streams=message.streams or 1,
    )


_answer_fields = attrgetter("id", "action", "error", "think_us")


def answers(message: bytes) -> list[Answer]:
    """The answers of a `PlayResponse`, none if it holds nothing that is known.  Raises `WireError`."""
    return list(map(Answer._make, map(_answer_fields, _parsed(pb.PlayResponse, message).answers)))


# -- the bot reads -------------------------------------------------------------------------------------------------


class ArenaDescription(NamedTuple):
    """What the arena says of itself in the handshake."""

    protocol_major: int
    protocol_minor: int
    name: str
    """The preset's name, "custom" where single options were changed."""
    options: Mapping[str, str | int | bool]
    """Every option of the rules by its name, as it came."""

    @property
    def rules(self) -> Rules:
        """The rules.  Raises `RulesError` naming the option whose word or number is not known here."""
        return Rules().with_options(self.options)


class MatchStarted(NamedTuple):
    """A match begins for this process."""

    match_id: str
    """Opaque; used by all events of the match."""
    seat: int
    """The bot's seat for the whole match.  Seats are numbered clockwise from 0."""
    side_of_seat: tuple[int, ...]
    """The side of each seat: sides score, partners share one."""
    bot_seed: bytes
    """32 bytes to draw all randomness from."""
    limit_ms: int
    """Thinking time that is free on each decision; 0 means that no clock runs."""
    bank_ms: int
    """Thinking time beyond the limit, for the whole match."""
    resumed: bool
    """The match is already under way: the process was started anew, or the connection was lost."""


class Decision:
    """A question.  Its view is decoded when it is first looked at."""

    __slots__ = ("_message", "_view")

    def __init__(self, message: pb.Decision) -> None:
        self._message = message
        self._view: View | None = None

    @property
    def match_id(self) -> str:
        return self._message.match_id

    @property
    def id(self) -> int:
        """To echo in the answer."""
        return self._message.id

    @property
    def deal(self) -> int:
        """The deal's number in the match, from 1."""
        return self._message.deal

    @property
    def legal(self) -> Sequence[int]:
        """The numbers of the legal actions, ascending: what a bot looks at first, and some at nothing else."""
        return self._message.legal[:]

    @property
    def time_left_ms(self) -> int:
        """Time for this decision: the limit and what is left of the bank; 0 where no clock runs."""
        return self._message.time_left_ms

    @property
    def last_took_ms(self) -> int:
        """What the previous decision of the match was charged."""
        return self._message.last_took_ms

    @property
    def resumed(self) -> bool:
        """It is put again, with what is left of its time: the process or the connection before was lost."""
        return self._message.resumed

    @property
    def view(self) -> View:
        """Everything that the seat may know."""
        if self._view is None:
            self._view = view_of(self._message)
        return self._view


class Withdrawn(NamedTuple):
    """A decision is no longer open."""

    match_id: str
    id: int
    reason: int
    """A `WithdrawnReason`, or a number that is not known here."""


class FaultNotice(NamedTuple):
    """The bot did something wrong."""

    match_id: str
    id: int
    """The decision; 0 if it was about none."""
    kind: int
    """The number of the kind of fault; `label` is its name."""
    text: str
    """What was asked, what came and which rule it broke."""
    points: tuple[int, ...]
    """What it cost: the points of the deal by side."""
    match_lost: bool

    @property
    def label(self) -> str:
        """The name of the kind, as in tables: `illegal`, `stream-broken`."""
        return _FAULT_LABELS.get(self.kind, f"fault-{self.kind}")


class DealEnded(NamedTuple):
    """A deal is over."""

    match_id: str
    deal: int
    """The deal's number in the match, from 1."""
    termination: Termination | int
    """How it ended; a number where that is not known here."""
    seat: int
    """The seat that claimed, closed, took the last trick or committed the fault."""
    points: tuple[int, ...]
    """What the deal adds to the match score, by side."""
    card_points: tuple[int, ...]
    """The card points that decided, by side."""
    score: tuple[int, ...]
    """The match score by side, this deal included."""
    new_actions: bytes
    """The public actions since the bot's last decision in the deal, all of them if there was none."""
    new_seats: bytes
    """The seats of `new_actions`, one for one."""


class MatchEnded(NamedTuple):
    """A match is over."""

    match_id: str
    score: tuple[int, ...]
    """The final score by side."""
    ranks: tuple[int, ...]
    """The rank of each side, 1 is first; equal ranks are shared."""


Event = MatchStarted | Decision | Withdrawn | FaultNotice | DealEnded | MatchEnded


def describe_request_of(data: bytes) -> ArenaDescription:
    """What the arena says of itself.  Raises `WireError`."""
    message = _parsed(pb.DescribeRequest, data)
    fields = message.rules.DESCRIPTOR.fields_by_name
    options = {name: getattr(message.rules, name) for name in fields if name != "name"}
    return ArenaDescription(message.protocol_major, message.protocol_minor, message.rules.name, options)


def events(message: bytes) -> Iterator[Event]:
    """The events of a `PlayRequest` in order; those that are not known here are left out.  Raises `WireError`."""
    for item in _parsed(pb.PlayRequest, message).events:
        match item.WhichOneof("event"):
            case "decision":
                yield Decision(item.decision)
            case "match_started":
                started = item.match_started
                yield MatchStarted(
                    started.match_id,
                    started.seat,
                    tuple(started.side_of_seat),
                    started.bot_seed,
                    started.limit_ms,
                    started.bank_ms,
                    started.resumed,
                )
            case "withdrawn":
                yield Withdrawn(item.withdrawn.match_id, item.withdrawn.id, item.withdrawn.reason)
            case "fault":
                wrong = item.fault
                yield FaultNotice(
                    wrong.match_id, wrong.id, wrong.kind, wrong.text, tuple(wrong.points), wrong.match_lost
                )
            case "deal_ended":
                ended = item.deal_ended
                yield DealEnded(
                    ended.match_id,
                    ended.deal,
                    _TERMINATIONS.get(ended.termination, ended.termination),
                    ended.seat,
                    tuple(ended.points),
                    tuple(ended.card_points),
                    tuple(ended.score),
                    _bytes(ended.new_actions),
                    _bytes(ended.new_seats),
                )
            case "match_ended":
                over = item.match_ended
                yield MatchEnded(over.match_id, tuple(over.score), tuple(over.ranks))
            case None:
                continue


def view_of(message: pb.Decision) -> View:
    """The view in a decision: the inverse of `decision`.  Raises `WireError`."""
    # Slices copy a repeated field at once: half the time of looking at it item by item.
    closing = message.closing if message.HasField("closing") else None
    return View(
        message.seat,
        cast(DecisionPoint, _POINTS.get(message.point, message.point)),
        _mask(message.legal[:]),
        hand_mask(message.hand[:]),
        message.dealer,
        message.leader,
        message.trump,
        message.turn_up,
        message.talon,
        tuple(message.table[:]),
        _mask(message.bound[:]),
        tuple(message.points[:]),
        tuple(message.pending[:]),
        tuple(message.tricks[:]),
        None if closing is None else closing.seat,
        () if closing is None else tuple(closing.points),
        () if closing is None else tuple(closing.tricks),
        tuple(message.hand_sizes[:]),
        tuple([_mask(known.cards[:]) for known in message.known]),
        _bytes(message.past_seats[:]),
        _bytes(message.past_actions[:]),
        _bytes(message.trick_winners[:]),
        tuple(message.score[:]),
        message.carry,
    )


# -- the bot writes ------------------------------------------------------------------------------------------------


def describe_response_bytes(description: BotDescription) -> bytes:
    """A `DescribeResponse` (a whole message): the inverse of `describe_response`."""
    return pb.DescribeResponse(**description._asdict()).SerializeToString()


def answer(id: int, action: int, think_us: int, error: str = "") -> bytes:
    """A framed `Answer`: an action, or 0 and what went wrong."""
    if error or not 0 < action < len(ACTIONS):
        message = pb.Answer(id=id, action=cast(Any, action), error=error, think_us=think_us).SerializeToString()
    else:  # by hand, as a decision is
        number, thought = _varint(id), _varint(think_us)
        message = b"%b%b%b%c%b%b" % (_ANSWER_ID, number, _ANSWER_ACTION, action, _ANSWER_THINK, thought)
    return b"%b%b%b" % (_ANSWER, _varint(len(message)), message)
