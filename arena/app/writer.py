"""The one thread that writes a run: matches are committed in groups, and only then is their end told.

A store that refuses a commit is tried again a few times, a server that is away for as long as the tournament is surely
held; then the run ends at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial

from arena.errors import ArenaError, UsageError
from arena.game.rules import Rules
from arena.match.absence import Exclusion
from arena.match.record import Status
from arena.match.rulings import Loss
from arena.match.summary import MatchSummary
from arena.store import MatchResult, Store, Tournament, Unreachable
from arena.tournament.quarantine import Quarantine
from arena.tournament.runner import Played
from arena.tournament.standings import Totals

KEEP_AFTER = 4096
"""After how many matches their totals are kept."""
GROUP = 256
"""How many matches are committed together at most."""
GATHER_S = 0.05
"""How long after a commit matches gather for the next: most of what one costs is not for its matches."""
WAITS_S = (0.5, 1.0, 2.0)
"""How long a commit that was refused waits for the next try; after the last one the store has failed.

Where it was refused because the server is away, it goes on with the last of them.
"""

log = logging.getLogger(__name__)


_News = tuple[Sequence[MatchSummary], Sequence[Exclusion]]
"""What a commit has made durable: the matches that count, and who is quarantined."""


class StoreFailed(ArenaError):
    """The store takes no more results: says why, in the store's words."""


class Writer:
    """The one thread that writes: commits what has gathered since its last commit, then lets the waiting know."""

    def __init__(
        self,
        store: Store,
        tournament: Tournament,
        rules: Rules,
        quarantine: Quarantine,
        totals: Totals | None,
        told: Callable[[Sequence[MatchSummary], Sequence[Exclusion]], None],
    ) -> None:
        """`told` hears on the event loop what has become durable: matches that count, and who is quarantined.

        `totals` are those of the matches that are stored, to be kept up to date; None where somebody is out.
        """
        self._store = store
        self._tournament = tournament
        self._rules = rules
        self._quarantine = quarantine
        self._totals = totals
        self._uncounted = 0
        self._told = told
        self._failed: StoreFailed | None = None
        self._over = False
        self._queue: queue.SimpleQueue[tuple[Played, asyncio.Future[None]] | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._write, name="store writer", daemon=True)

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._queue.put(None)
        self._thread.join()

    async def record(self, played: Played) -> None:
        """Returns once the match is committed.  Raises `StoreFailed`, or what a bug of the arena raises."""
        done: asyncio.Future[None] = self._loop.create_future()
        self._queue.put((played, done))
        await done

    def _write(self) -> None:
        next_at = 0.0
        while (item := self._queue.get()) is not None:
            time.sleep(max(0.0, next_at - time.monotonic()))
            group = [item]
            while len(group) < GROUP:
                try:
                    more = self._queue.get_nowait()
                except queue.Empty:
                    break
                if more is None:
                    self._queue.put(None)
                    break
                group.append(more)
            try:
                news = self._commit([played for played, _ in group])
            except Exception as error:
                self._tell(group, None, error)
            else:
                self._tell(group, news, None)
            next_at = time.monotonic() + GATHER_S
        self._keep()

    def _commit(self, group: Sequence[Played]) -> _News:
        results = []
        for played in group:
            if not played.final:
                why = played.record.testimony.evidence[0]
                self._insist(partial(self._store.record_void, self._tournament, played.key, why))
                continue
            summary = MatchSummary.of(played.key, played.mirrored, played.seats, self._rules, played.record)
            results.append(
                MatchResult(played.key, played.position, played.seats, played.mirrored, played.record, summary)
            )
            self._quarantine.add(played.key, _forfeiters(played))
        quarantined = self._quarantine.judge()
        self._insist(partial(self._store.record, self._tournament, results, quarantined))
        self._count(results, quarantined)
        left_out = self._quarantine.absences.leave_out
        return [each.summary for each in results if not left_out(each.key, each.position)], quarantined

    def _count(self, results: Sequence[MatchResult], quarantined: Sequence[Exclusion]) -> None:
        """Add up what was committed, and keep that from time to time."""
        if quarantined:  # what was counted may not count any more
            self._totals = None
        if self._totals is None:
            return
        for result in results:
            self._totals.add(result.summary)
        self._uncounted += len(results)
        if self._uncounted >= KEEP_AFTER:
            self._keep()

    def _keep(self) -> None:
        """Keep the totals in the store; they can be made again at any time, so nothing depends on it."""
        if self._totals is not None and self._uncounted and self._failed is None:
            with contextlib.suppress(ArenaError):
                self._store.keep_totals(self._tournament, self._totals.to_json())
                self._uncounted = 0

    def _insist(self, write: Callable[[], object]) -> None:
        """Write; a database that is busy, full or away for a moment is asked again.  Raises `StoreFailed`."""
        if self._failed is not None:
            raise self._failed
        waits = iter(WAITS_S)
        said = False
        while True:
            try:
                write()
                return
            except UsageError as error:
                patience_s = self._patience_s(error)
                wait_s = next(waits, WAITS_S[-1] if patience_s > 0 else None)
                if wait_s is None:
                    self._failed = StoreFailed(str(error))
                    raise self._failed from error
                if not said:
                    log.warning("%s (the arena tries again for %.2g s)", error, max(patience_s, sum(WAITS_S)))
                    said = True
                time.sleep(wait_s)

    def _patience_s(self, error: UsageError) -> float:
        """How long a server is waited for that is away; nobody waits for the end of a run that was stopped."""
        return self._store.patience_s(self._tournament) if isinstance(error, Unreachable) and not self._over else 0.0

    def _tell(
        self,
        group: Sequence[tuple[Played, asyncio.Future[None]]],
        news: _News | None,
        error: Exception | None,
    ) -> None:
        def wake() -> None:
            failure = error
            try:
                if news is not None:
                    self._told(*news)
            except Exception as deaf:  # what was committed stays so, but nobody may wait for ever
                failure = deaf
            for _, done in group:
                if not done.done():
                    if failure is None:
                        done.set_result(None)
                    else:
                        done.set_exception(failure)

        with contextlib.suppress(RuntimeError):  # the loop is gone: nobody waits any more
            self._loop.call_soon_threadsafe(wake)


def _forfeiters(played: Played) -> frozenset[str] | None:
    """Who lost the match by a fault of their own; None where it is void."""
    if played.record.status is Status.VOID:
        return None
    return frozenset(played.seats[fault.seat] for fault in played.record.faults if fault.loss is Loss.MATCH)
