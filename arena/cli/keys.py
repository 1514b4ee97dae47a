"""Single keys from a terminal, which is left as it was found, however the program ends."""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

_KEY = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.DOTALL)
_NAMES = {
    **{f"\x1b{start}{end}": name for start in "[O" for end, name in
       {"A": "up", "B": "down", "C": "right", "D": "left", "H": "home", "F": "end"}.items()},
    **{"\x1b[1~": "home", "\x1b[4~": "end", "\x1b[7~": "home", "\x1b[8~": "end"},
    **{"\r": "enter", "\n": "enter", "\x7f": "erase", "\b": "erase"},
}  # fmt: skip
GONE = "gone"
"""In place of a key: the terminal has been closed."""


class Keyboard:
    """The keys of a terminal that gives them one by one."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def wait(self, within_s: float) -> Sequence[str]:
        """The keys that were pressed, by name (`left`, `enter`) or character; none where time was up before."""
        if not select.select([self._fd], [], [], within_s)[0]:
            return ()
        try:
            pressed = os.read(self._fd, 1024).decode(errors="replace")
        except OSError:
            return (GONE,)
        return [_NAMES.get(key, key) for key in _KEY.findall(pressed)] or (GONE,)


@contextmanager
def keyboard(fd: int) -> Iterator[Keyboard]:
    """The keyboard of a terminal.  Ctrl-C interrupts as ever; a suspended program would leave a strange terminal."""
    before = termios.tcgetattr(fd)
    former = {number: signal.signal(number, _end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        tty.setcbreak(fd)
        changed = termios.tcgetattr(fd)
        changed[6][termios.VSUSP] = b"\0"
        termios.tcsetattr(fd, termios.TCSANOW, changed)
        yield Keyboard(fd)
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
        for number, handler in former.items():
            signal.signal(number, handler)


def _end(number: int, _: FrameType | None) -> None:
    """Unwind, so that the terminal is restored, and end as the signal says."""
    sys.exit(128 + number)
