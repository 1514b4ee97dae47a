"""Who keeps forfeiting is quarantined: a function of the matches in schedule order, whoever finished them first.

A participant is looked at match by match.  Once its last 3 matches, or a fifth of at least 10, were lost by a fault of
its own, it is out from the end of that block on.  Matches that are void or left out are not looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from arena.match.absence import Absences, Change, Exclusion, Place
from arena.match.summary import MatchKey
from arena.tournament.schedule import Block

IN_A_ROW = 3
"""So many forfeited matches in a row are too many."""
AT_LEAST = 10
"""The share is looked at from so many matches on."""
SHARE = 5
"""One forfeited match of so many is too many."""


class Quarantine:
    """Follows the schedule as far as all its matches are finished, and judges by that prefix alone."""

    def __init__(self, blocks: Iterable[Block], absences: Absences) -> None:
        """All blocks of all epochs in their order; `absences` stand, whatever led to them."""
        self.absences = absences
        """Who is out by now: those and who has been quarantined since."""
        self._blocks = iter(blocks)
        self._block = next(self._blocks, None)
        self._finished: dict[MatchKey, Collection[str] | None] = {}
        self._tallies: defaultdict[str, _Tally] = defaultdict(_Tally)

    def add(self, key: MatchKey, forfeiters: Collection[str] | None) -> None:
        """A match is finished: who lost it by a fault of their own; None if it is void.  Any order will do."""
        if self._block is not None:
            self._finished[key] = forfeiters

    def judge(self) -> list[Exclusion]:
        """Go on to the first match that is still to be finished; who is quarantined by what was passed."""
        quarantined: list[Exclusion] = []
        while (block := self._block) is not None and self._is_finished(block):
            reasons: dict[str, str] = {}
            for position, key in iter(block.keys()):
                forfeiters = self._finished.pop(key, None)
                if forfeiters is not None and not self.absences.leave_out(key, position):
                    self._look_at(key, position, forfeiters, reasons)
            end = Place(block.epoch, block.first + len(block.numbers))
            new = [Exclusion(name, Change.QUARANTINED, reason, end) for name, reason in sorted(reasons.items())]
            if new:
                self.absences = Absences.of((*self.absences.log, *new))
                quarantined += new
            self._block = next(self._blocks, None)
        return quarantined

    def _is_finished(self, block: Block) -> bool:
        return all(
            key in self._finished or self.absences.leave_out(key, position) for position, key in iter(block.keys())
        )

    def _look_at(self, key: MatchKey, position: int, forfeiters: Collection[str], reasons: dict[str, str]) -> None:
        for name in key.pairing:
            if name not in self.absences.out and self.absences.since(name) <= (key.epoch, position):
                reason = self._tallies[name].add(name in forfeiters)
                if reason is not None:
                    reasons.setdefault(name, reason)


@dataclass(slots=True)
class _Tally:
    """What a participant has done so far."""

    matches: int = 0
    forfeited: int = 0
    in_a_row: int = 0

    def add(self, forfeited: bool) -> str | None:
        """Count one more match; why that is too much, or None."""
        self.matches += 1
        self.forfeited += forfeited
        self.in_a_row = self.in_a_row + 1 if forfeited else 0
        if self.in_a_row >= IN_A_ROW:
            return f"{IN_A_ROW} matches forfeited in a row"
        if self.matches >= AT_LEAST and SHARE * self.forfeited >= self.matches:
            return f"{self.forfeited} of {self.matches} matches forfeited"
        return None
