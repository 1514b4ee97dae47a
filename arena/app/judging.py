"""What a process that judges endgames does: kept apart, so that it starts without all that a run and tables need."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache
from multiprocessing import get_context, parent_process
from typing import NamedTuple

from arena.errors import RecordError, UsageError
from arena.game.game import Game
from arena.game.rules import Rules
from arena.match.endgame import Judged, judge
from arena.match.record import DealRecord


class Work(NamedTuple):
    """One deal of a bot: plain values, for any process."""

    rules: Rules
    match: str
    """Which match it is of, for a sentence."""
    number: int
    """The deal's, in the match."""
    deck: Sequence[int]
    deal: DealRecord
    seat: int


Judge = Callable[[Iterable[Work]], Iterator[tuple[Judged, ...] | None]]


@contextmanager
def judges(jobs: int) -> Iterator[Judge]:
    """Judges many deals, in so many processes; none of them outlives this one, however it ends.

    Raises `UsageError` for a record that does not follow the rules.
    """
    if jobs == 1:
        yield lambda work: map(_judge, work)
        return
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_follow_parent)
    try:
        yield lambda work: pool.map(_judge, work, chunksize=4)
    finally:
        pool.shutdown(cancel_futures=True)


def _judge(work: Work) -> tuple[Judged, ...] | None:
    try:
        return judge(game_of(work.rules), work.deck, work.number, work.deal, work.seat)
    except RecordError as error:
        raise UsageError(
            f"the match {work.match} does not follow the rules ({error}); verify the run to see where it was changed"
        ) from error


@cache
def game_of(rules: Rules) -> Game:
    """The game of these rules, made once."""
    return Game(rules)


def _follow_parent() -> None:
    """In a worker: leave Ctrl-C to the parent, and end when it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()
