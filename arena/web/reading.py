"""What was read of a run so far: whatever its size, a look reads what has come since the look before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from arena.app.schedules import left_out, schedules_of
from arena.match.absence import NOBODY, Absences
from arena.match.record import Status
from arena.match.summary import MatchSummary
from arena.reports.foreign import isolated, printable
from arena.store import Epoch, Queries, Tournament
from arena.store.queries import in_words
from arena.tournament.schedule import Schedule
from arena.web.now import OnNow

RECENT = 8
"""Matches shown as just finished."""
NEWEST = 32
"""Matches whose blocks may still be under way."""


@dataclass(slots=True)
class Reading:
    """What is shown of a run, as far as it was read."""

    finished: int = 0
    void: int = 0
    planned: int = 0
    recent: tuple[str, ...] = ()
    """Matches that finished last, the newest first, in words."""
    now: tuple[OnNow, ...] = ()
    """Blocks from which results are coming, where nobody tells which are under way."""
    _row: int = 0
    _schedules: Sequence[Schedule] = ()
    _epochs: tuple[Epoch, ...] = ()
    _absences: Absences = field(default=NOBODY)

    def on(self, queries: Queries, tournament: Tournament, *, told: bool) -> None:
        """Read on; `told` says that the arena itself tells what is under way."""
        epochs, absences = queries.epochs(tournament), queries.absences(tournament)
        if (epochs, absences) != (self._epochs, self._absences):
            self._plan(epochs, absences)
        news = queries.news(tournament, self._row)
        if not news.counts:
            return
        self._row = news.row
        self.void += news.counts.get(Status.VOID, 0)
        self.finished += sum(count for status, count in news.counts.items() if status is not Status.VOID)
        newest = queries.newest_summaries(tournament, RECENT if told else NEWEST)
        self.recent = tuple(
            isolated(printable(f"{in_words(match.key)}: {' : '.join(str(side.points) for side in match.sides)}"))
            for match in newest[:RECENT]
        )
        self.now = () if told else tuple(self._under_way(queries, tournament, newest))

    def _plan(self, epochs: tuple[Epoch, ...], absences: Absences) -> None:
        """Another schedule, or others are out of it: what counts is counted anew."""
        self._epochs, self._absences = epochs, absences
        self._schedules = schedules_of(epochs)
        self.planned = sum(schedule.match_count for schedule in self._schedules) - left_out(self._schedules, absences)
        self._row = self.finished = self.void = 0

    def _under_way(self, queries: Queries, tournament: Tournament, newest: Sequence[MatchSummary]) -> Iterator[OnNow]:
        """The blocks of these matches that are not at their end."""
        blocks = {
            (key.epoch, key.pairing, key.leg, key.number // self._schedules[key.epoch].block): None
            for key in (match.key for match in newest)
        }
        for epoch, pairing, leg, block in blocks:
            schedule = self._schedules[epoch]
            first = block * schedule.block
            size = min(schedule.block, schedule.lists(pairing) - first)
            done = queries.count_of(tournament, epoch, pairing, leg, first, first + size)
            if done < size:
                yield OnNow(pairing, leg, first, size, done, since=None)
