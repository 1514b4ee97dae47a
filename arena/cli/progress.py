"""What a tournament says on stderr while it runs: a header, then a live table, or a line now and then without one.

The event loop only counts; a terminal is redrawn by a thread of its own, at most `REFRESHES` times a second.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from arena.app.tournament import Plan
from arena.cli import screen
from arena.cli.options import building_in_words
from arena.cli.web import Beside
from arena.match.absence import Exclusion
from arena.match.lag import Lag
from arena.match.record import Status
from arena.match.summary import MatchSummary, SideSummary
from arena.reports.counting import counted
from arena.reports.foreign import escaped, printable
from arena.reports.model import Stopping
from arena.reports.words import lag_in_words, open_in_words
from arena.tournament.config import TournamentConfig
from arena.tournament.engines import EngineKind
from arena.tournament.runner import UnderWay
from arena.tournament.standings import members

REFRESHES = 4
LINE_WAITS_S = (5.0, 10.0, 30.0)
"""How long until the next line where there is no terminal; the last wait is that of all that follow."""
RATE_OVER_S = 30.0
"""The rate is that of the last so many seconds."""
ROWS_SHOWN = 8
BAR_WIDTH = 40
SHORTEST_BAR = 8
"""Where there is no room for as much beside the figures, there is none."""


@dataclass(slots=True)
class Count:
    """What one bot has done in this session."""

    won: int = 0
    drawn: int = 0
    lost: int = 0
    margin: float = 0
    """Game points scored less the mean of those of the other sides."""
    faults: int = 0
    """Of its side."""

    @property
    def matches(self) -> int:
        return self.won + self.drawn + self.lost

    @property
    def share(self) -> float:
        """Of the matches, how many were won; a draw is half a win."""
        return (self.won + self.drawn / 2) / self.matches if self.matches else 0.5


class Progress:
    """Listens to a run; use it as a context manager around it."""

    def __init__(
        self,
        live: Beside | None = None,
        *,
        quiet: bool = False,
        verbose: bool = False,
        brief: bool = False,
    ) -> None:
        """`live` is told what spectators see; `brief` leaves out what makes a run verifiable."""
        self._pages = live
        self.plan: Plan | None = None
        """None before the first deal."""
        self._quiet = quiet
        self._brief = brief
        self._verbose = verbose
        self._console = screen.stderr()
        self._live: Live | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._waits = itertools.chain(LINE_WAITS_S, itertools.repeat(LINE_WAITS_S[-1]))
        self._done = 0
        self._void = 0
        self._faults = 0
        self._counts: dict[str, Count] = {}
        self._recent: deque[tuple[float, int]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            with screen.writing(sys.stderr):  # the terminal may be gone
                self._live.stop()
        if self._timer is not None:
            self._timer.cancel()

    # -- what the run tells -----------------------------------------------------------------------------------------

    def planned(self, plan: Plan) -> None:
        self.plan = plan
        self._done = plan.finished
        self._counts = {name: Count() for name in plan.specs}
        self._recent.append((time.monotonic(), self._done))
        if not self._quiet and not self._brief:
            for line in header(plan):
                self._say(line)
        if self._pages is not None:
            self._pages.begun(plan.name)
            self._say(f"watch it at {self._pages.address}")
        if self._quiet:
            return
        if sys.stderr.isatty() and not self._console.is_dumb_terminal:
            self._live = Live(
                console=self._console,
                get_renderable=self._picture,
                refresh_per_second=REFRESHES,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        else:
            self._line()

    def extended(self, stopping: Stopping, plan: Plan) -> None:
        assert self.plan is not None
        more = plan.matches - self.plan.matches
        self.plan = replace(plan, finished=self.plan.finished)  # before this session
        self._say(f"after {plan.finished:,} matches {printable(open_in_words(stopping))}: {more:,} more are played")

    def committed(self, summaries: Sequence[MatchSummary]) -> None:
        self._done += len(summaries)
        for summary in summaries:
            if summary.status is Status.VOID:
                self._void += 1
            else:
                self._count(summary)
            if self._verbose:
                self._say(in_words(summary))
        now = time.monotonic()
        self._recent.append((now, self._done))
        while len(self._recent) > 2 and now - self._recent[1][0] > RATE_OVER_S:
            self._recent.popleft()

    def quarantined(self, entries: Sequence[Exclusion], plan: Plan) -> None:
        assert self.plan is not None
        self.plan = replace(self.plan, left_out=plan.left_out, in_reserve=plan.in_reserve)
        self._done = plan.finished
        for entry in entries:
            self._say(f"{printable(entry.participant)} is quarantined: {entry.reason}; it plays no more")

    def building(self, name: str) -> None:
        self._say(building_in_words(name))

    def noted(self, sentence: str) -> None:
        self._say(escaped(sentence))

    def broken(self, name: str, failure: str) -> None:
        self._say(f"bot {printable(name)} does not start and will lose its matches: {printable(failure)}")

    def draining(self, under_way: int) -> None:
        self._say(f"stopping: {counted(under_way, 'block')} under way will be finished; Ctrl-C again stops at once")

    def looked(self, lag: Lag, under_way: Sequence[UnderWay]) -> None:
        if self._pages is not None:
            self._pages.tell(lag, under_way)

    def overloaded(self, lag: Lag) -> None:
        assert self.plan is not None
        cure = f"fewer --jobs than {self.plan.config.jobs}" if self.plan.config.jobs > 1 else "less other work on it"
        self._say(
            f"this machine is overloaded, so no further block is started for now ({lag_in_words(lag)}); "
            f"nobody is charged for that, but {cure} would be faster"
        )

    # -- what a person sees -----------------------------------------------------------------------------------------

    def _say(self, line: str) -> None:
        if self._quiet:
            return
        if self._live is not None:
            with screen.writing(sys.stderr):
                self._console.print(Text(line))
        else:
            screen.say(line)

    def _line(self) -> None:
        """Say how far it is, now and after the next wait."""
        self._say(self._status())
        self._timer = asyncio.get_running_loop().call_later(next(self._waits), self._line)

    def _count(self, summary: MatchSummary) -> None:
        for side, others in _each(summary.sides):
            best = min(other.rank for other in others)
            faults = sum(side.faults.values())
            self._faults += faults
            for name in members(side):
                count = self._counts[name]
                count.won += side.rank < best
                count.drawn += side.rank == best
                count.lost += side.rank > best
                count.margin += side.points - sum(other.points for other in others) / len(others)
                count.faults += faults

    def _status(self) -> str:
        assert self.plan is not None
        at_most = "at most " if self.plan.in_reserve else ""
        parts = [f"{self._done:,} of {at_most}{counted(self.plan.most, 'match')}"]
        (since, before), (now, done) = self._recent[0], self._recent[-1]
        if done > before and now > since:
            rate = (done - before) / (now - since)
            parts += [f"{rate:.1f}/s", f"{at_most}{duration((self.plan.most - done) / rate)} left"]
        parts.append(counted(self._faults, "fault"))
        if self._void:
            parts.append(f"{self._void:,} void")
        return ", ".join(parts) + (" this session" if self.plan.finished else "")

    def _picture(self) -> RenderableType:
        """The live display; called by the thread that draws."""
        assert self.plan is not None
        status = self._status()
        room = min(BAR_WIDTH, self._console.width - len(status) - 1)
        if room < SHORTEST_BAR:
            return Group("", self._table(), "", Text(status))
        line = Table.grid(padding=(0, 1, 0, 0))
        bar = ProgressBar(total=max(1, self.plan.most), completed=self._done, width=room, complete_style="cyan")
        line.add_row(bar, Text(status, no_wrap=True))
        return Group("", self._table(), "", line)

    def _table(self) -> Table:
        assert self.plan is not None
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        table.add_column("bot, this session" if self.plan.finished else "bot", no_wrap=True, max_width=24)
        for header_text in ("matches", "won-lost", "% won", "points", "faults"):
            table.add_column(header_text, justify="right", no_wrap=True)
        ranked = sorted(self._counts.items(), key=lambda item: (-item[1].share, item[0]))
        for name, count in ranked[:ROWS_SHOWN]:
            table.add_row(
                Text(printable(name), overflow="ellipsis"),
                f"{count.matches:,}",
                f"{count.won}-{count.lost}",
                f"{count.share:.0%}"[:-1] if count.matches else "–",
                f"{count.margin / count.matches:+z.2f}" if count.matches else "–",
                f"{count.faults:,}",
            )
        if len(ranked) > ROWS_SHOWN:
            table.add_row(Text(f"and {len(ranked) - ROWS_SHOWN} more", style="dim"))
        return table


def header(plan: Plan) -> Iterator[str]:
    """What is going to be played and what makes it verifiable, line by line; before the first deal."""
    config = plan.config
    pairs = sum(schedule.lists(pairing) for schedule in plan.schedules for pairing in schedule.pairings())
    yield f"{printable(config.title)}: {config.rules_name}, {config.format} of {counted(len(plan.specs), 'bot')}"
    width = max(len(printable(name)) for name in plan.specs)
    for name, spec in plan.specs.items():
        about = " ".join(part for part in (spec.version, f"by {spec.author}" if spec.author else "") if part)
        yield f"  {printable(name):<{width}}  {spec.kind.value:<7}  {printable(about)}".rstrip()
    played = f", {plan.finished:,} of them played already" if plan.finished else ""
    played += f", {counted(plan.left_out, 'match')} left out" if plan.left_out else ""
    size = f"{counted(plan.matches, 'match')} in {counted(pairs, 'pair' if config.rules.seats == 2 else 'block')}"
    yield f"{size}{played}; {_pace(config)}"
    if config.stop is not None:
        level = f"{100 * config.stop.separated:g}%"
        yield f"until every two neighbours are separated at {level}, at most {counted(plan.most, 'match')} in all"
    for number, commitment in plan.commitments.items():
        of = f" {number}" if len(plan.commitments) > 1 else ""
        yield f"commitment{of}  {commitment}"
    if plan.seed is not None:
        yield f"seed {printable(plan.seed)}: a rehearsal, whose decks anyone can predict; it is not rated"
    if not config.clock.timed:
        yield "no clock runs: a bot may think for as long as it likes"
    yield f"sandbox {plan.sandbox}; run {printable(plan.name)}"
    if plan.interrupted is not None:
        earlier = printable(plan.interrupted)
        yield f"an earlier run {earlier} was interrupted; go on with --resume {earlier}"


def _pace(config: TournamentConfig) -> str:
    """How much is played at a time, and by what."""
    blocks = f"{counted(config.jobs, 'block')} at a time"
    if config.engine is EngineKind.RAY:
        return f"{blocks} on a Ray cluster"
    if config.jobs == 1:
        return blocks
    processes = f"by {counted(config.processes, 'process')}" if config.processes > 1 else "by one process"
    return f"{blocks} {processes}, their bots on {counted(config.cores, 'core')}"


def in_words(summary: MatchSummary) -> str:
    """One finished match in a line: no other match of the run has the same."""
    key = summary.key
    sides = " - ".join(f"{printable(' and '.join(members(side)))} {side.points}" for side in summary.sides)
    faults = sum(sum(side.faults.values()) for side in summary.sides)
    of = f"epoch {key.epoch}, list {key.number}, leg {key.leg}"
    return f"{of}: {sides} ({summary.status}, {counted(summary.deals, 'deal')}, {counted(faults, 'fault')})"


def duration(seconds: float) -> str:
    """`45 s`, `12 min`, `3 h 05 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"


def _each(sides: Sequence[SideSummary]) -> Iterator[tuple[SideSummary, Sequence[SideSummary]]]:
    """Each side with the others."""
    for side in sides:
        yield side, [other for other in sides if other is not side]
