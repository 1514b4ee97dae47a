"""Walking through a replay on a terminal: keys move a cursor, and every moment is a picture that fills the screen."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

from rich.console import Console, Group
from rich.text import Text

from arena.cli import screen
from arena.cli.keys import GONE, keyboard
from arena.reports.replay import text
from arena.reports.replay.model import DealReplay, MatchReplay, sight

AUTOPLAY_S = 1.2
LOOK_AGAIN_S = 0.2
"""How often the size of the terminal is looked at."""
KEYS = "← → step   ↑ ↓ deal   v view   space play   g go to   q quit"
SHORT_KEYS = "←→ step ↑↓ deal v view g go to q quit"
_HOME, _CLEAR_LINE, _CLEAR_REST = "\x1b[H", "\x1b[K", "\x1b[J"


def browse(replay: MatchReplay, deal: int, step: int, viewer: int | None) -> None:
    """Show a match from this place on (a deal's index, a step from 1) until the user has seen enough."""
    console = screen.stdout()
    browser = Browser(replay, deal, step, viewer)
    with keyboard(sys.stdin.fileno()) as keys, console.screen():
        shown = None
        due = time.monotonic() + AUTOPLAY_S
        while True:
            if (now := (browser.state, console.size)) != shown:
                shown = now
                screen.emit(_page(browser, console))
            pressed = keys.wait(LOOK_AGAIN_S)
            if GONE in pressed or not all(map(browser.press, pressed)):
                return
            if pressed:
                due = time.monotonic() + AUTOPLAY_S
            elif browser.playing and time.monotonic() >= due:
                browser.forward()
                due += AUTOPLAY_S


@dataclass(slots=True)
class Browser:
    """Where in a match one looks, from where, and what the keys do to that."""

    replay: MatchReplay
    at: int
    """The index of the deal."""
    step: int
    """From 1."""
    viewer: int | None
    """The seat whose point of view it is; None for all cards open."""
    playing: bool = False
    typed: str | None = None
    """The place to go to, as far as it is typed; None while nobody types one."""

    @property
    def deal(self) -> DealReplay:
        return self.replay.deals[self.at]

    @property
    def state(self) -> tuple[object, ...]:
        """All that the screen depends on."""
        return (self.at, self.step, self.viewer, self.playing, self.typed)

    def press(self, key: str) -> bool:
        """Do what a key asks for; False where it is to quit."""
        if self.typed is not None:
            self._type(key)
            return True
        self.playing = key == " " and not self.playing
        match key:
            case "q":
                return False
            case "right" | "l" | "n":
                self.forward()
            case "left" | "h" | "p":
                self.back()
            case "down" | "j":
                self._go(self.at + 1, 1)
            case "up" | "k":
                self._go(self.at - 1, 1)
            case "home":
                self.step = 1
            case "end":
                self.step = self.deal.steps
            case "v":
                views = [None, *sorted(self.replay.table.orders[self.deal.open.dealer][0])]
                self.viewer = views[(views.index(self.viewer) + 1) % len(views)] if self.viewer in views else None
            case "g":
                self.typed = ""
        return True

    def forward(self) -> None:
        """One step on, into the next deal at the end of one; at the end of all nothing plays on."""
        if self.step < self.deal.steps:
            self.step += 1
        elif self.at + 1 < len(self.replay.deals):
            self._go(self.at + 1, 1)
        else:
            self.playing = False

    def back(self) -> None:
        """One step back, into the deal before at the beginning of one."""
        if self.step > 1:
            self.step -= 1
        elif self.at:
            self._go(self.at - 1, self.replay.deals[self.at - 1].steps)

    def _type(self, key: str) -> None:
        assert self.typed is not None
        if key == "enter":
            *deal, step = self.typed.split(".")
            self.typed = None
            if step.isdecimal():
                self._go(int(deal[0]) - 1 if deal and deal[0].isdecimal() else self.at, int(step))
        elif key == "erase":
            self.typed = self.typed[:-1]
        elif key in "0123456789.":
            self.typed += key
        else:
            self.typed = None

    def _go(self, at: int, step: int) -> None:
        """To the nearest place that there is."""
        if at in range(len(self.replay.deals)):
            self.at = at
            self.step = min(max(step, 1), self.deal.steps)


def _page(browser: Browser, console: Console) -> str:
    """The screen anew: the picture, and what the keys do."""
    seen = sight(browser.replay, browser.deal, browser.step, browser.viewer)
    title = text.title(browser.replay)
    if browser.typed is not None:
        keys = f"go to step, or deal.step: {browser.typed}_"
    else:
        keys = KEYS if console.width > len(KEYS) else SHORT_KEYS
    *lines, last = screen.rendered(
        Group(_line(title.plain, console), text.picture(browser.replay, seen), _line(keys, console)), console
    ).splitlines()
    lines = _fitting(lines, console.height - 1)
    page = _HOME + "".join(f"{line}{_CLEAR_LINE}\n" for line in lines) + last + _CLEAR_LINE + _CLEAR_REST
    return text.in_ascii(page) if console.options.ascii_only else page


def _line(text: str, console: Console) -> Text:
    """A text that takes one line."""
    line = Text(text, style="dim")
    line.truncate(console.width, overflow="ellipsis")
    return line


def _fitting(lines: list[str], height: int) -> list[str]:
    """As many lines as there is room for: blank ones go first, then those at the top, for below stands what happens."""
    if len(lines) > height:
        lines = [line for line in lines if line.strip()]
    if len(lines) > height:
        lines = lines[len(lines) - height :]
    return lines + [""] * (height - len(lines))
