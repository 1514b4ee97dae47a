"""Tournaments and results for the tests of the store: real matches of random bots that sometimes fail."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from itertools import combinations

from arena.cards import actions_of
from arena.game.game import Game
from arena.game.rules import Rules
from arena.match.clock import TimeControl
from arena.match.lag import Lag
from arena.match.record import MatchRecord, Status, Testimony
from arena.match.referee import Ask, NoReply, Reply, referee
from arena.match.rulings import Fault
from arena.match.summary import Histogram, MatchKey, MatchSummary
from arena.store import MatchResult, Participant, Session, Store, Tournament

RULES = Rules()
THREE = RULES.with_options({"seating": "free_for_all", "seats": 3, "deal_rotation": "clockwise"})
CONFIG = {"pairs": 10}
CREATED = datetime(2026, 5, 1, 12, tzinfo=UTC)
SECRET = bytes(range(32))
SESSION = Session("2026-05-01T12:00:00+00:00", 2, Lag(Histogram({0: 3, 60: 1}), max_us=1000, paused_us=5))
COMMITMENT = "c0" * 32
NASTY = "last words: \0 \ud800 ß \U0001f0a1 \x1b[31m"
"""Evidence as a bot may leave it: a NUL, half a surrogate pair, an escape sequence."""


@cache
def played(seed: int, rules: Rules = RULES, fault_rate: float = 0.0) -> MatchRecord:
    """A match of random bots: the same seed is the same play at the same times."""
    rng = random.Random(seed)
    game = Game(rules)

    def deck_of(number: int) -> Sequence[int]:
        cards = list(game.cards)
        random.Random(f"{seed}/{number}").shuffle(cards)
        return cards

    match = referee(game, deck_of, TimeControl())
    request = next(match)
    try:
        while True:
            answer: Reply | NoReply | None = None
            if isinstance(request, Ask):
                took = rng.uniform(0.1, 5)
                answer = Reply(rng.choice(actions_of(request.view.legal)), took)
                if rng.random() < fault_rate:
                    answer = NoReply(rng.choice([Fault.ERROR, Fault.DIED]), took, NASTY)
            request = match.send(answer)
    except StopIteration as end:
        record: MatchRecord = end.value
        return record


def void(record: MatchRecord) -> MatchRecord:
    """The same match, spoilt by the arena."""
    return replace(record, status=Status.VOID, ranks=(1,) * len(record.ranks), forfeited_by=None)


def silent(record: MatchRecord) -> MatchRecord:
    """The same play without any testimony."""
    return replace(record, testimony=Testimony((), ()))


def bots(names: str, *, version: str = "1", author: str = "ann") -> list[Participant]:
    """A participant for each letter."""
    return [Participant(name, version, f"{name * 64}"[:64], "folder", author) for name in names]


def created(
    store: Store, name: str = "cup", names: str = "ABC", *, rules: Rules = RULES, rated: bool = True
) -> Tournament:
    """A tournament with epoch 1 open."""
    tournament = store.create_tournament(name, CONFIG, rules.options(), bots(names), rated, CREATED)
    store.open_epoch(tournament, 1, SECRET, COMMITMENT)
    return tournament


def result(
    key: MatchKey,
    position: int,
    record: MatchRecord,
    *,
    rules: Rules = RULES,
    seats: tuple[str, ...] = (),
) -> MatchResult:
    """A result with the seating of its leg."""
    taken = seats or key.pairing[key.leg :] + key.pairing[: key.leg]
    summary = MatchSummary.of(key, True, taken, rules, record)
    return MatchResult(key, position, taken, True, record, summary)


def schedule(matches: int, names: str = "ABC", *, epoch: int = 1, seed: int = 0) -> list[MatchResult]:
    """The first matches of a round robin, in its order: few different plays, some with faults, no void ones."""
    pairings = list(combinations(sorted(names), 2))
    results = []
    for position in range(matches):
        number, within = divmod(position, 2 * len(pairings))
        pairing, leg = pairings[within // 2], within % 2
        record = played((seed + position) % 40, fault_rate=0.02)
        results.append(result(MatchKey(epoch, pairing, leg, number), position, record))
    return results


def small(matches: int, epoch: int = 1) -> list[MatchResult]:
    """Many results of A and B that cost nothing to make."""
    testimony = Testimony(((1500, 900),) * 2, ((1000, 0),) * 2)
    records = [
        MatchRecord(Status.PLAYED, (), (), points, ranks, testimony=testimony)
        for points, ranks in (((7, 3), (1, 2)), ((5, 7), (2, 1)))
    ]
    return [
        result(MatchKey(epoch, ("A", "B"), position % 2, position // 2), position, records[position % 3 == 0])
        for position in range(matches)
    ]


def whole(result: MatchResult) -> tuple[object, ...]:
    """A result for comparison, with the testimony (which records leave out when they compare)."""
    return (result, result.record.testimony)
