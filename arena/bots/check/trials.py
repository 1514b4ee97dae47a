"""Messages that are right but rare, each followed by a decision that a bot must answer as ever."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from random import Random

from arena.bots.check.candidate import BUDGET_MS, Answer, Candidate, Case, Cases
from arena.cards import DISTINCT
from arena.game.questions import random_deals
from arena.game.scoring import Outcome, Termination
from arena.game.views import View
from arena.match.rulings import Fault
from arena.wire import codec, later, stubs

AT_ONCE = 64
LONG_OF = 200
"""The longest history is that of so many random deals."""
_WORDS = "a check: nothing was wrong"

Judged = Sequence[tuple[View, Answer]]
"""What was asked, and answered: all of it must be legal."""
Trial = Callable[[Candidate, Cases], Awaitable[Judged]]


async def many_matches(candidate: Candidate, cases: Cases) -> Judged:
    """The first decisions leave together, the second ones one by one as the first are answered."""
    both = list(itertools.islice(cases.plain(), 2 * AT_ONCE))

    async def play(*one_by_one: Case) -> Judged:
        return [(case.view, await candidate.try_case(case)) for case in one_by_one]

    judged = await asyncio.gather(*map(play, both[:AT_ONCE], both[AT_ONCE:]))
    return list(itertools.chain.from_iterable(judged))


async def unasked_deal(candidate: Candidate, cases: Cases) -> Judged:
    case = next(cases.plain(deal=2))
    candidate.tell(case.started)
    candidate.tell(_forfeited(case, cases, by=case.view.leader))
    return [(case.view, await candidate.decide(case))]


async def long_history(candidate: Candidate, cases: Cases) -> Judged:
    deals = itertools.islice(random_deals(cases.game, Random(1)), LONG_OF)
    asked = [view for deal in deals for view in deal.views if view.legal & DISTINCT]
    view = max(asked, key=lambda view: len(view.past_actions))
    return [(view, await candidate.try_case(cases.of(view)))]


async def unknown_fields(candidate: Candidate, cases: Cases) -> Judged:
    case = next(cases.plain())
    candidate.tell(later.with_unknown_fields(case.started))
    return [(case.view, await candidate.decide(case, later.with_unknown_fields(case.decision)))]


async def unknown_numbers(candidate: Candidate, cases: Cases) -> Judged:
    case = next(cases.plain(deal=2))
    candidate.tell(case.started)
    for event in (
        codec.fault(case.match_id, 0, Fault.LATE, _WORDS, _nothing(cases), match_lost=False),
        codec.withdrawn(case.match_id, case.id - 1, codec.WithdrawnReason.LATE),
        _forfeited(case, cases, by=case.view.leader),
    ):
        candidate.tell(later.with_unknown_numbers(event))
    return [(case.view, await candidate.decide(case, later.with_unknown_numbers(case.decision)))]


async def same_id(candidate: Candidate, cases: Cases) -> Judged:
    """It may answer again or not: that answer is dropped."""
    case, control = itertools.islice(cases.plain(), 2)
    candidate.tell(case.started)
    first = await candidate.decide(case)
    candidate.tell(codec.asked_again(case.decision, BUDGET_MS))
    return [(case.view, first), (control.view, await candidate.try_case(control))]


async def withdrawn(candidate: Candidate, cases: Cases) -> Judged:
    case, control = itertools.islice(cases.plain(), 2)
    late = codec.withdrawn(case.match_id, case.id, codec.WithdrawnReason.LATE)
    for event in (case.started, case.decision, late, case.over):
        candidate.tell(event)
    return [(control.view, await candidate.try_case(control))]


async def fault(candidate: Candidate, cases: Cases) -> Judged:
    case, control = itertools.islice(cases.plain(), 2)
    candidate.tell(case.started)
    first = await candidate.decide(case)
    candidate.tell(codec.fault(case.match_id, case.id, Fault.ILLEGAL, _WORDS, _nothing(cases), match_lost=False))
    candidate.tell(_forfeited(case, cases, by=case.view.seat))
    candidate.tell(case.over)
    return [(case.view, first), (control.view, await candidate.try_case(control))]


async def full_message(candidate: Candidate, cases: Cases) -> Judged:
    """As many events and bytes as there may be: words about faults are what can be long."""
    case = next(cases.plain())

    def words(size: int) -> bytes:
        return codec.fault(case.match_id, 0, Fault.ILLEGAL, "x" * size, _nothing(cases), match_lost=False)

    count = stubs.MAX_ITEMS - 2
    each = (stubs.MAX_MESSAGE_BYTES - len(case.started) - len(case.decision)) // count
    candidate.tell(case.started + words(2 * each - len(words(each))) * count)
    return [(case.view, await candidate.decide(case))]


TRIALS: Mapping[str, Trial] = {
    "many-matches": many_matches,
    "unasked-deal": unasked_deal,
    "long-history": long_history,
    "unknown-fields": unknown_fields,
    "unknown-numbers": unknown_numbers,
    "same-id": same_id,
    "withdrawn": withdrawn,
    "fault": fault,
    "full-message": full_message,
}
"""By the name of the check."""


def _nothing(cases: Cases) -> tuple[int, ...]:
    return (0,) * cases.game.table.sides


def _forfeited(case: Case, cases: Cases, by: int) -> bytes:
    """The framed end of a first deal that a seat lost by a fault."""
    loser = cases.game.side_of[by]
    points = tuple(0 if side == loser else 2 for side in range(cases.game.table.sides))
    outcome = Outcome(Termination.FORFEIT, points, _nothing(cases), by)
    return codec.deal_ended(
        case.match_id, 1, outcome, added=points, score=case.view.score, new_actions=b"", new_seats=b""
    )
