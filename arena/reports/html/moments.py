"""A match as the data of its page: what `sight` shows of each moment, and each time only what has changed.

The page holds the match with all cards open, and for each seat which cards of others it knows; the epoch is revealed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from arena.cards import Card
from arena.reports.foreign import isolated, printable
from arena.reports.replay.model import DealReplay, MatchReplay, Sight, hands, sight


def match_data(replay: MatchReplay) -> Mapping[str, Any]:
    """Plain values for the page's script."""
    return {
        "epoch": replay.key.epoch,
        "position": replay.position,
        "names": [printable(name) for name in replay.seats],
        "sides": [list(members) for members in replay.table.members],
        "deals": [
            {
                "dealer": deal.open.dealer,
                "score": list(deal.open.scenes[0].views[0].score),
                "steps": list(_changes(_moment(replay, deal, step) for step in range(1, deal.steps + 1))),
            }
            for deal in replay.deals
        ],
    }


def _moment(replay: MatchReplay, deal: DealReplay, step: int) -> Mapping[str, Any]:
    seen = sight(replay, deal, step)
    scene = deal.open.scenes[step - 1]
    return {
        "asked": seen.asked,
        "legal": [[str(choice.action), choice.value] for choice in seen.choices],
        "fair": _to_itself(replay, deal, seen),
        "action": None if seen.action is None else str(seen.action),
        "hands": [_words(hand.cards) for hand in seen.hands],
        "known": [[_words(hand.cards) for hand in hands(scene, viewer)] for viewer in range(len(replay.seats))],
        "talon": _words(seen.talon),
        "turnup": None if seen.turn_up is None else str(seen.turn_up),
        "trump": None if seen.trump is None else str(seen.trump),
        "table": [[played.seat, str(played.card)] for played in seen.table],
        "tricks": [[trick.winner, _words(played.card for played in trick.cards)] for trick in seen.tricks],
        "points": list(seen.points),
        "pending": list(seen.pending),
        "won": list(seen.tricks_won),
        "closer": seen.closer,
        "time": _time(seen),
        "evidence": isolated(printable(seen.evidence)) if seen.evidence else None,
        "caption": isolated(seen.caption),
    }


def _to_itself(replay: MatchReplay, deal: DealReplay, seen: Sight) -> bool:
    """Whether the seat that is asked can know itself what its choices are worth."""
    if all(choice.value is None for choice in seen.choices):
        return False
    return any(choice.value is not None for choice in sight(replay, deal, seen.step, seen.asked).choices)


def _changes(moments: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    before: Mapping[str, Any] = {}
    for moment in moments:
        yield {name: value for name, value in moment.items() if name not in before or before[name] != value}
        before = moment


def _words(cards: Iterable[Card | None]) -> str:
    return " ".join(map(str, cards))


def _time(seen: Sight) -> str | None:
    if seen.time is None:
        return None
    took = f"Took {seen.time.spent.took_us / 1000:,.1f} ms"
    return took if seen.time.budget_ms is None else f"{took} of {seen.time.budget_ms:,.0f} ms"
