"""Deals that are worth looking at, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from arena.match.summary import MatchKey
from arena.store.queries import in_words


class Kind(StrEnum):
    """Why a deal is worth looking at."""

    FAULT = "Faults"
    SWING = "The biggest swings"
    CLOSE_FAILED = "Closed and failed"
    DECISIVE = "All on the last deal"
    MISTAKE = "Given away in the endgame"
    SAMPLE = "One match of each pairing"

    @property
    def about(self) -> str:
        """How these were chosen."""
        return _ABOUT[self]


_ABOUT = {
    Kind.FAULT: "Deals that ended by a bot's fault: the last ones.",
    Kind.SWING: "Deals that turned the lead: those of most game points, the closest in card points first.",
    Kind.CLOSE_FAILED: "Closers who did not make it: those with most card points.",
    Kind.DECISIVE: "Last deals of a match: those at the highest score of who was behind.",
    Kind.MISTAKE: "Choices that `arena analyse` has judged, all hands known to the bot: of each the dearest.",
    Kind.SAMPLE: "Drawn by lot.",
}


@dataclass(frozen=True, slots=True, order=True)
class Highlight:
    """A deal worth looking at."""

    kind: Kind
    key: MatchKey
    deal: int
    """Its number in the match, from 1."""
    about: str
    """What happens in it, in short."""
    step: int = 1
    """Of the deal, where to look."""
    participant: str = ""
    """Whose it is, if it is anybody's."""

    @property
    def where(self) -> str:
        """Its match and number, for a person."""
        return f"{in_words(self.key)}, deal {self.deal}"
