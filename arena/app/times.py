"""What an author asks: where did the time of my bot's decisions go, one by one?"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from arena.errors import UsageError
from arena.match.clock import Clock, TimeControl
from arena.match.record import MatchRecord
from arena.reports.times import DecisionTime
from arena.store import Epoch, MatchResult, Queries


def decision_times(queries: Queries, run: str, bot: str) -> Iterator[DecisionTime]:
    """Every decision that a participant of a run was asked for, in the order of the schedule; streams.

    Raises `UsageError` where there is no such run, or nobody of that name in it.
    """
    tournament = queries.tournament(run)
    names = [participant.name for participant in queries.participants(tournament)]
    if bot not in names:
        near = get_close_matches(bot, names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(map(repr, names))}"
        raise UsageError(f"nobody in the run {tournament.name!r} is called {bot!r}; {hint}")
    clocks = {epoch.number: clock_of(epoch) for epoch in queries.epochs(tournament)}
    for result in queries.results(tournament):
        for seat, name in enumerate(result.seats):
            if name == bot:
                yield from times_of(result, seat, clocks[result.key.epoch])


def clock_of(epoch: Epoch) -> TimeControl:
    """The time of a match of this epoch."""
    clock = epoch.config["identity"]["clock"]
    return TimeControl(clock["limit_ms"], clock["bank_ms"])


def times_of(result: MatchResult, seat: int, control: TimeControl) -> Iterator[DecisionTime]:
    """Every decision that a seat was asked for in a match, in order."""
    clock = Clock(control)
    asked = result.record.testimony.asked[seat] if result.record.testimony.asked else ()
    faults = _faults(result.record, seat)
    decision = deal = 0
    for spent in result.record.testimony.decisions(seat):
        decision = decision + 1 if spent.deal == deal else 1
        deal = spent.deal
        fault = faults.get(deal, "") if decision == asked[deal - 1] else ""
        yield DecisionTime(result.key, seat, decision, clock.budget_ms, spent, fault)
        clock.charge(spent.took_us / 1000)


def _faults(record: MatchRecord, seat: int) -> dict[int, str]:
    """The labels of the seat's faults by deal: the last decision of a deal is what they are about."""
    return {fault.deal: fault.fault.label for fault in record.faults if fault.seat == seat}
