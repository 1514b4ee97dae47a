"""How a run is ended from outside: gently at first."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

from arena.tournament.runner import Runner

_STOPS = (signal.SIGTERM, signal.SIGHUP)
"""A kill, and the end of the terminal."""


class Signals:
    """The first SIGINT drains, a second one or one of `_STOPS` cancels; before there is a runner, any of them does."""

    def __init__(self, draining: Callable[[int], None]) -> None:
        """`draining` hears how many blocks are under way when nothing more is started."""
        self._draining = draining
        self._loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None
        self._run = task
        self.runner: Runner | None = None
        self.stopped = False

    def __enter__(self) -> Signals:
        self._loop.add_signal_handler(signal.SIGINT, self._interrupt)
        for stop in _STOPS:
            if signal.getsignal(stop) is not signal.SIG_IGN:  # as nohup wants it
                self._loop.add_signal_handler(stop, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        for handled in (signal.SIGINT, *_STOPS):
            self._loop.remove_signal_handler(handled)

    def _interrupt(self) -> None:
        if self.runner is None or self.runner.draining:
            self._stop()
        else:
            self.runner.drain()
            self._draining(len(self.runner.under_way))

    def _stop(self) -> None:
        if not self.stopped:  # once: the bots are being ended already
            self.stopped = True
            self._run.cancel()
