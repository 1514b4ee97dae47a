"""Leaks to be planted in the arena: each tells a bot, in a way of its own, something of the deck that is dealt."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from arena.bots.bot import Bot
from arena.bots.driver import MatchOrder, MatchRun
from arena.match.referee import Ask, DealEnded, FaultRuled
from arena.sixtysix.v1 import bot_pb2 as pb
from arena.wire import codec, stubs

Plant = Callable[[pytest.MonkeyPatch], None]


def tell_tale(order: MatchOrder, deal: int) -> int:
    """A number below 256 that follows from the whole deck."""
    return hashlib.sha256(bytes(order.deck_of(deal))).digest()[0]


def _edited(event: bytes, edit: Callable[[Any], object]) -> bytes:
    """The framed event with its content changed."""
    item = pb.PlayRequest.FromString(event).events[0]
    edit(getattr(item, str(item.WhichOneof("event"))))
    return pb.PlayRequest(events=[item]).SerializeToString()


def _editing_decisions(patch: pytest.MonkeyPatch, edit: Callable[[pb.Decision, MatchOrder, int], object]) -> None:
    """Change each decision on its way, knowing the match and the number of the deal."""
    ask = Bot.ask

    def leaking(bot: Bot, match: MatchRun, asked: Ask) -> None:
        with pytest.MonkeyPatch.context() as inner:
            right = codec.decision
            inner.setattr(
                codec,
                "decision",
                lambda *words, **named: _edited(
                    right(*words, **named), lambda content: edit(content, match.order, asked.deal)
                ),
            )
            ask(bot, match, asked)

    patch.setattr(Bot, "ask", leaking)


def written_anew(patch: pytest.MonkeyPatch) -> None:
    """No leak: what the others do besides leaking."""
    _editing_decisions(patch, lambda decision, order, deal: None)


def a_field_with_a_hidden_card(patch: pytest.MonkeyPatch) -> None:
    def edit(decision: pb.Decision, order: MatchOrder, deal: int) -> None:
        decision.turn_up = order.deck_of(deal)[-2]  # type: ignore[assignment]

    _editing_decisions(patch, edit)


def the_hand_in_the_order_of_the_deck(patch: pytest.MonkeyPatch) -> None:
    _editing_decisions(patch, lambda decision, order, deal: _reorder(decision.hand, order, deal))


def the_legal_list_in_the_order_of_the_deck(patch: pytest.MonkeyPatch) -> None:
    _editing_decisions(patch, lambda decision, order, deal: _reorder(decision.legal, order, deal))


def _reorder(numbers: Any, order: MatchOrder, deal: int) -> None:
    deck = [int(card) for card in order.deck_of(deal)]
    numbers[:] = sorted(numbers, key=lambda number: deck.index(number) if number in deck else 99)


def padding_by_the_deck(patch: pytest.MonkeyPatch) -> None:
    """An unknown field, which every bot skips."""

    def edit(decision: pb.Decision, order: MatchOrder, deal: int) -> None:
        size = tell_tale(order, deal) % 16
        decision.MergeFromString(b"\xfa\x7f" + bytes([size]) + bytes(size))

    _editing_decisions(patch, edit)


def match_ids_from_the_deck(patch: pytest.MonkeyPatch) -> None:
    def edit(decision: pb.Decision, order: MatchOrder, deal: int) -> None:
        decision.match_id += f"{tell_tale(order, deal):02x}"

    _editing_decisions(patch, edit)


def seeds_from_the_deck(patch: pytest.MonkeyPatch) -> None:
    start_event = MatchRun.start_event

    def leaking(match: MatchRun, seat: int, resumed: bool) -> bytes:
        told = bytes(tell_tale(match.order, deal) for deal in range(1, 4))
        return _edited(start_event(match, seat, resumed), lambda started: setattr(started, "bot_seed", told))

    patch.setattr(MatchRun, "start_event", leaking)


def decision_ids_that_leap_by_the_deck(patch: pytest.MonkeyPatch) -> None:
    ask = Bot.ask

    def leaking(bot: Bot, match: MatchRun, asked: Ask) -> None:
        for _ in range(tell_tale(match.order, asked.deal) % 2):
            next(bot._ids)
        ask(bot, match, asked)

    patch.setattr(Bot, "ask", leaking)


def _telling(patch: pytest.MonkeyPatch, leak: Callable[[MatchRun, Any, Callable[[Any], None]], None]) -> None:
    """Change what is told of a match; `leak` is handed the right way to tell."""
    tell = MatchRun._tell
    patch.setattr(MatchRun, "_tell", lambda match, telling: leak(match, telling, lambda one: tell(match, one)))


def an_extra_event_by_the_deck(patch: pytest.MonkeyPatch) -> None:
    def leak(match: MatchRun, telling: Any, tell: Callable[[Any], None]) -> None:
        tell(telling)
        if isinstance(telling, DealEnded) and tell_tale(match.order, telling.deal) % 2:
            for bot in match._seat_bots:
                bot.tell(codec.withdrawn(match.order.match_id, 1, codec.WithdrawnReason.ENDED))

    _telling(patch, leak)


def an_omitted_event_by_the_deck(patch: pytest.MonkeyPatch) -> None:
    def leak(match: MatchRun, telling: Any, tell: Callable[[Any], None]) -> None:
        if not isinstance(telling, DealEnded) or tell_tale(match.order, telling.deal) % 2:
            tell(telling)

    _telling(patch, leak)


def the_fault_of_another_seat(patch: pytest.MonkeyPatch) -> None:
    """Its text names the actions that were legal: the offender's cards."""

    def leak(match: MatchRun, telling: Any, tell: Callable[[Any], None]) -> None:
        tell(telling)
        if isinstance(telling, FaultRuled):
            for bot in match._seat_bots:
                bot.tell(codec.fault(match.order.match_id, 0, telling.fault, telling.text, telling.points, False))

    _telling(patch, leak)


def another_order_of_events_by_the_deck(patch: pytest.MonkeyPatch) -> None:
    kept: dict[MatchRun, FaultRuled] = {}

    def leak(match: MatchRun, telling: Any, tell: Callable[[Any], None]) -> None:
        if isinstance(telling, FaultRuled):
            kept[match] = telling
            return
        fault = kept.pop(match, None)
        late = isinstance(telling, DealEnded) and tell_tale(match.order, telling.deal) % 2
        for one in (telling, fault) if late else (fault, telling):
            if one is not None:
                tell(one)

    _telling(patch, leak)


def messages_cut_by_the_deck(patch: pytest.MonkeyPatch) -> None:
    ask = Bot.ask

    def leaking(bot: Bot, match: MatchRun, asked: Ask) -> None:
        patch.setattr(stubs, "MAX_ITEMS", 1 if tell_tale(match.order, asked.deal) % 2 else 128)
        ask(bot, match, asked)

    patch.setattr(Bot, "ask", leaking)


LEAKS: Mapping[str, Plant] = {
    plant.__name__.replace("_", " "): plant
    for plant in (
        a_field_with_a_hidden_card,
        the_hand_in_the_order_of_the_deck,
        the_legal_list_in_the_order_of_the_deck,
        padding_by_the_deck,
        match_ids_from_the_deck,
        seeds_from_the_deck,
        decision_ids_that_leap_by_the_deck,
        an_extra_event_by_the_deck,
        an_omitted_event_by_the_deck,
        the_fault_of_another_seat,
        another_order_of_events_by_the_deck,
    )
}
"""Those that show wherever a match is played."""
