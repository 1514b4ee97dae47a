"""What spectators are shown, and when: one look at the store for all of them, and each shown after the delay.

A look at the numbers is cheap, and taken every second.  The pages cost more: they are made again when results came in,
and never so often that making them takes more than a small share of a core.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any

from arena.app.data import Archive
from arena.app.report import build_site
from arena.app.show import Count
from arena.errors import ArenaError
from arena.match.lag import Lag
from arena.reports.html.site import Pages
from arena.store import Queries, State, open_queries
from arena.web.now import OnNow
from arena.web.reading import Reading

LOOK_S = 1.0
SHARE = 0.005
"""Of a core, that making pages may take."""
LEAST_REFRESH_S = 3.0
SPEED_S = 120.0
"""Over how long the speed is measured, from which the end is foretold."""
KEEP_ALIVE_S = 15.0
"""After which spectators are told the same again: so it is seen who has left without a word."""
STALE_S = 30.0
"""After which a store that cannot be read is said to be ill."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The numbers of one look."""

    state: str
    finished: int
    planned: int
    void: int
    per_minute: float | None
    """Matches; None until there is something to measure."""
    eta_s: float | None
    recent: tuple[str, ...]
    """Matches that finished last, the newest first, in words."""
    now: tuple[OnNow, ...]
    """Blocks that are being played."""
    lag: Lag | None
    """How late the arena is in this session, if it tells."""
    version: int
    """Of the pages: another number, other pages."""

    def to_json(self) -> dict[str, Any]:
        return {
            "schema_version": 1,
            "state": self.state,
            "matches_finished": self.finished,
            "matches_planned": self.planned,
            "matches_void": self.void,
            "matches_a_minute": None if self.per_minute is None else round(self.per_minute, 1),
            "eta_s": None if self.eta_s is None else round(self.eta_s),
            "recent": list(self.recent),
            "now": list(map(str, self.now)),
            "lag": self.lag and self.lag.figures,
            "version": self.version,
        }


class Edition:
    """The pages of one moment, each made when it is asked for first."""

    def __init__(self, queries: Queries, run: str, count: Count) -> None:
        begun = time.thread_time()
        self.site = replace(build_site(queries, run, count), record=None)
        self._makers = Pages(self.site, live=True).makers()
        self._making = threading.Lock()
        self.made: dict[str, bytes] = {}
        """Those that were asked for, by their paths."""
        self.cpu_s = time.thread_time() - begun
        """What it has taken to make all that was asked for."""

    def page(self, path: str) -> bytes | None:
        """A page in UTF-8; None if there is none of that path.  Made once, however many ask for it at a time."""
        with self._making:
            if path not in self.made and path in self._makers:
                begun = time.thread_time()
                self.made[path] = self._makers[path]().encode()
                self.cpu_s += time.thread_time() - begun
            return self.made.get(path)


@dataclass
class Watch:
    """Looks at a run, and says when there is news."""

    archive: Archive
    run: str
    delay_s: float = 0.0
    spectators: int = 0
    progress: Progress | None = None
    """What is shown now; None before the first look is old enough."""
    line: str = ""
    """The same as JSON."""
    event: bytes = b""
    """The same as an event that is sent: another one whenever there is something to tell."""
    news: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when there is another event, and at the end; then there is another one of these, too."""
    ended: bool = False
    """Whether nobody is to listen any more."""
    edition: Edition | None = None
    looks: int = 0
    _read: Reading = field(default_factory=Reading)
    _count: Count = field(default_factory=Count)
    _told_at: float = 0.0
    _seen_at: float = field(default_factory=time.monotonic)
    _waiting: deque[tuple[float, Progress, Edition]] = field(default_factory=deque)
    _counts: deque[tuple[float, int]] = field(default_factory=deque)
    _next: Edition | None = None
    _next_of: tuple[str, int, int] | None = None
    _next_since: float = 0.0
    _version: int = 0
    _queries: Queries | None = None
    _lag: Lag | None = None
    _now: tuple[OnNow, ...] | None = None
    """None where nobody tells: then as much as the store does."""

    @property
    def healthy(self) -> bool:
        """Whether the store was read lately."""
        return time.monotonic() - self._seen_at < STALE_S

    async def look_for_ever(self) -> None:
        """Look, publish what is old enough, sleep; whatever is wrong with the store is tried again."""
        while True:
            try:
                progress, edition = await asyncio.to_thread(self._look)
            except (ArenaError, OSError):  # `healthy` tells, if it stays so
                self.close()
            else:
                self._seen_at = time.monotonic()
                self._waiting.append((self._seen_at + self.delay_s, progress, edition))
            self._publish()
            await asyncio.sleep(LOOK_S)

    def hear(self, lag: Lag, now: tuple[OnNow, ...]) -> None:
        """How late the arena says it is, and what it plays."""
        self._lag, self._now = lag, now

    def end(self) -> None:
        """Send all listeners home."""
        self.ended = True
        self.news.set()

    def close(self) -> None:
        """Let go of the store; the next look opens it again."""
        if self._queries is not None:
            self._queries.close()
            self._queries = None

    def _publish(self) -> None:
        now, before = time.monotonic(), self.progress
        while self._waiting and self._waiting[0][0] <= now:
            _, self.progress, self.edition = self._waiting.popleft()
        if self.progress is None or (self.progress == before and now < self._told_at + KEEP_ALIVE_S):
            return
        self.line = json.dumps(self.progress.to_json())
        self.event = f"data: {self.line}\n\n".encode()
        self._told_at = now
        self.news.set()
        self.news = asyncio.Event()

    def _look(self) -> tuple[Progress, Edition]:
        queries = self._queries = self._queries or open_queries(self.archive.store)
        tournament = queries.tournament(self.run)
        read = self._read
        read.on(queries, tournament, told=self._now is not None)
        edition = self._edition(queries, (str(tournament.state), read.finished, read.void))
        running = tournament.state is State.RUNNING
        per_minute = self._speed(read.finished) if running else None
        self.looks += 1
        return Progress(
            state=str(tournament.state),
            finished=read.finished,
            planned=read.planned,
            void=read.void,
            per_minute=per_minute,
            eta_s=60 * (read.planned - read.finished - read.void) / per_minute if per_minute else None,
            recent=read.recent,
            now=(read.now if self._now is None else self._now) if running else (),
            lag=self._lag,
            version=self._version,
        ), edition

    def _edition(self, queries: Queries, of: tuple[str, int, int]) -> Edition:
        """The pages of now, or the last ones where those are young or nothing has changed."""
        now = time.monotonic()
        if self._next is None or (of != self._next_of and (self._may_renew(now) or of[0] != State.RUNNING)):
            self._next = Edition(queries, self.run, self._count)
            self._next_of, self._next_since = of, now
            self._version += 1
        return self._next

    def _may_renew(self, now: float) -> bool:
        assert self._next is not None
        return now >= self._next_since + max(LEAST_REFRESH_S, self._next.cpu_s / SHARE)

    def _speed(self, finished: int) -> float | None:
        now = time.monotonic()
        self._counts.append((now, finished))
        while self._counts and now - self._counts[0][0] > SPEED_S:
            self._counts.popleft()
        since, before = self._counts[0]
        span = now - since
        return 60 * (finished - before) / span if span > 0 and finished > before else None
