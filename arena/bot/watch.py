"""A look at the author's code from outside while it thinks: a word in the log before time runs out, not after."""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback

from arena.bot.player import Player, Thinking

NEARLY = 0.8
"""A word comes when so much of the time is gone."""
MOST_WARNINGS = 20
"""In the life of a process: its log has room for other things."""


class Watch:
    """Warns once a decision of its free time, and once of all its time; called on another thread than the author's."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._warned: tuple[Thinking, float] | None = None
        self._left = MOST_WARNINGS

    def warning(self) -> str:
        """What there is to say now, empty if nothing."""
        thinking = self._player.thinking
        if thinking is None or not thinking.time_left_ms or not self._left:
            return ""
        took_ms = (time.perf_counter_ns() - thinking.began_ns) / 1e6
        all_ms = float(thinking.time_left_ms)
        free_ms = min(float(thinking.match.limit_ms), all_ms) or all_ms
        passed = [bound for bound in (free_ms, all_ms) if took_ms >= NEARLY * bound]
        if not passed or self._warned == (thinking, passed[-1]):
            return ""
        self._warned = (thinking, passed[-1])
        self._left -= 1
        after = f"then it draws on its bank ({all_ms - free_ms:.0f} ms)" if passed[-1] < all_ms else "then it is late"
        last = "; no more of these" if not self._left else ""
        return (
            f"slow: match {thinking.match.id}, deal {thinking.deal}: choose has been at work for {took_ms:.0f} ms of "
            f"{passed[-1]:.0f}, {after}; now {_place()}{last}"
        )


def _place() -> str:
    """Where the main thread is: the innermost line that is not the SDK's own."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    sdk = os.path.dirname(os.path.dirname(__file__))
    lines = [line for line in traceback.extract_stack(frame) if not line.filename.startswith(sdk)]
    return f"in {lines[-1].name}, {lines[-1].filename}:{lines[-1].lineno}" if lines else "in the SDK"
