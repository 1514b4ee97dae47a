"""A replay as JSON: one versioned object, in ASCII.  Cards and actions are written as in records: `TS`, `MH`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from arena.cards import Card
from arena.reports.replay.model import DealReplay, MatchReplay, Sight, sight

SCHEMA_VERSION = 1


def render(replay: MatchReplay, deals: Sequence[DealReplay], viewer: int | None) -> str:
    """The match and these of its deals, step by step as that seat saw them, or with all cards open."""
    key = replay.key
    document = {
        "schema_version": SCHEMA_VERSION,
        "run": replay.run,
        "match": {
            "position": replay.position,
            "epoch": key.epoch,
            "pairing": [_foreign(name) for name in key.pairing],
            "leg": key.leg,
            "list": key.number,
        },
        "rules": {"name": replay.rules_name, **replay.rules.options()},
        "seats": [_foreign(name) for name in replay.seats],
        "sides": [list(members) for members in replay.table.members],
        "viewer": viewer,
        "status": str(replay.status),
        "points": list(replay.points),
        "ranks": list(replay.ranks),
        "deals": [_deal(replay, deal, viewer) for deal in deals],
    }
    return json.dumps(document, indent=2) + "\n"


def _deal(replay: MatchReplay, deal: DealReplay, viewer: int | None) -> dict[str, Any]:
    outcome = deal.open.outcome
    return {
        "deal": deal.open.number,
        "dealer": deal.open.dealer,
        "termination": str(outcome.termination),
        "seat": outcome.seat,
        "points": list(deal.open.points),
        "card_points": list(outcome.card_points),
        "score": list(deal.open.score),
        "steps": [_step(sight(replay, deal, step, viewer)) for step in range(1, deal.steps + 1)],
    }


def _step(seen: Sight) -> dict[str, Any]:
    return {
        "step": seen.step,
        "asked": seen.asked,
        "point": None if seen.point is None else seen.point.name.lower(),
        "legal": {str(choice.action): choice.value for choice in seen.choices},
        "action": None if seen.action is None else str(seen.action),
        "hands": [{"cards": _cards(hand.cards), "hidden": hand.hidden} for hand in seen.hands],
        "talon": _cards(seen.talon),
        "turn_up": None if seen.turn_up is None else str(seen.turn_up),
        "trump": None if seen.trump is None else str(seen.trump),
        "order": list(seen.order),
        "table": _cards([played.card for played in seen.table]),
        "tricks": [
            {
                "leader": trick.cards[0].seat,
                "cards": _cards([each.card for each in trick.cards]),
                "winner": trick.winner,
            }
            for trick in seen.tricks
        ],
        "points": list(seen.points),
        "pending": list(seen.pending),
        "closer": seen.closer,
        "score": list(seen.score),
        "carry": seen.carry,
        "time": _time(seen),
        "fault": seen.fault or None,
        "evidence": _foreign(seen.evidence),
        "caption": seen.caption,
    }


def _time(seen: Sight) -> dict[str, Any] | None:
    """In milliseconds."""
    if seen.time is None:
        return None
    spent = seen.time.spent
    return {
        "budget_ms": seen.time.budget_ms,
        "charged_ms": spent.took_us / 1000,
        "bot_ms": (spent.took_us - spent.wire_us) / 1000,
        "wire_ms": spent.wire_us / 1000,
        "waited_ms": spent.waited_us / 1000,
        "queue_ms": spent.queue_us / 1000,
        "arena_ms": spent.arena_us / 1000,
        "said_ms": spent.think_us / 1000,
    }


def _cards(cards: Sequence[Card | None]) -> list[str | None]:
    """The cards by name; None is a card face down."""
    return [None if card is None else str(card) for card in cards]


def _foreign(text: str) -> str:
    """JSON knows no lone surrogates, but foreign text may hold some."""
    return text.encode("utf-8", "backslashreplace").decode()
