"""What an examination has found so far, and what is said of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from random import Random

from arena.bots.check.candidate import Answer
from arena.bots.check.checks import NOT_TRIED, Check, Colour, Finding, Trouble
from arena.cards import actions_of
from arena.game.game import Game
from arena.game.presets import PRESETS
from arena.game.questions import position_text
from arena.game.views import View
from arena.match.referee import LAST_WORDS, NoReply, Reply, action_name
from arena.match.rulings import Fault

SHOWN = 3
"""Troubles of one check that are kept."""


class Notes:
    """What was found so far, by the name of the check."""

    def __init__(self) -> None:
        self.troubles: dict[str, list[Trouble]] = {}
        self.yellow: dict[str, str] = {}
        self.grey: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        """What is said where all is well, instead of a count."""
        self._held: Counter[str] = Counter()
        self._under: defaultdict[str, set[str]] = defaultdict(set)

    def good(self, name: str, rules_name: str = "", text: str = "") -> None:
        """It held once (under that preset)."""
        self._held[name] += 1
        if rules_name:
            self._under[name].add(rules_name)
        if text:
            self.texts[name] = text

    def bad(self, name: str, trouble: Trouble) -> None:
        """It did not hold."""
        self.troubles.setdefault(name, []).append(trouble)

    def finding(self, check: Check) -> Finding:
        """What came of the check."""
        name = check.name
        if troubles := self.troubles.get(name):
            under = {trouble.rules_name for trouble in troubles} - {""}
            text = f"failed {times(len(troubles))}{_under(under)}"
            return Finding(check, Colour.RED, text, tuple(troubles[:SHOWN]))
        if name in self.yellow:
            return Finding(check, Colour.YELLOW, self.yellow[name])
        if self._held[name]:
            under = self._under[name]
            text = f"{times(self._held[name])}{_under(under)}" if under else ""
            return Finding(check, Colour.GREEN, self.texts.get(name, text))
        return Finding(check, Colour.GREY, self.grey.get(name, NOT_TRIED))

    def held(self, name: str) -> int:
        """How often it held."""
        return self._held[name]


def times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _under(names: Collection[str]) -> str:
    match len(names):
        case 0:
            return ""
        case 1:
            return f" ({next(iter(names))})"
        case count:
            return f" ({count} presets)"


def legal(view: View, answer: Answer) -> bool:
    return isinstance(answer, Reply) and answer.action > 0 and bool(view.legal >> answer.action & 1)


def trouble_of(rules_name: str, view: View, answer: Answer) -> Trouble:
    """A question that was not answered as it should be."""
    match answer:
        case Reply(action):
            answered, output = action_name(action), ""
        case NoReply(fault, _, evidence):
            text, _, output = evidence.partition(LAST_WORDS)
            lines = text.strip().splitlines() or [""]
            if fault is Fault.ERROR and len(lines) > 1:  # the bot's own text: of an exception, the last line sums it up
                output = text
            answered = f"{fault.label}: {lines[-1]}" if lines[-1] else fault.label
    point = view.point.name if view.point is not None else ""
    return Trouble(
        asked=f"{point}: one of {' '.join(map(str, actions_of(view.legal)))}",
        answered=answered,
        rules_name=rules_name,
        view=view,
        position=position_text(Game(PRESETS[rules_name]), view, Random(1)),
        evidence=output.strip(),
    )
