"""Who is out of a tournament from where on: the matches that this leaves out are not played, and count for nobody.

The log of exclusions decides: each participant's last entry holds.  The schedule's order is that of epochs and places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Self

from arena.match.summary import MatchKey


class Place(NamedTuple):
    """Where a match stands in the schedule of the whole tournament."""

    epoch: int
    position: int
    """Its index in the schedule of its epoch, from 0."""


START = Place(0, 0)


class Change(StrEnum):
    """What an entry of the log says."""

    QUARANTINED = "quarantined"
    """It forfeited too many matches; `arena.tournament.quarantine` says how many those are."""
    EXCLUDED = "excluded"
    """The organiser has excluded it."""
    INCLUDED = "included"
    """The organiser lets it take part again."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """An entry of the log."""

    participant: str
    change: Change
    reason: str
    place: Place
    """Where it begins: the first match of the schedule that it may concern."""
    created: str = ""
    """When it was entered, in UTC, ISO 8601; empty before that."""


Span = tuple[Place, Place | None]
"""From a place up to, but without, another; None is the end of the schedule."""


@dataclass(frozen=True, slots=True)
class Absences:
    """What a log comes to."""

    log: tuple[Exclusion, ...]
    out: Mapping[str, Exclusion]
    """Who is out now, each with the entry that says so."""
    spans: Mapping[str, tuple[Span, ...]]
    """From where to where a participant is out, or was and will not catch up."""

    @classmethod
    def of(cls, log: Iterable[Exclusion]) -> Self:
        """The absences of a log, in the order of its entries."""
        entries = tuple(log)
        out: dict[str, Exclusion] = {}
        spans: dict[str, tuple[Span, ...]] = {}
        for entry in entries:
            over = spans.get(entry.participant, ())
            if entry.change is not Change.INCLUDED:
                out[entry.participant] = entry
                spans[entry.participant] = (*over, (entry.place, None))
            elif began := out.pop(entry.participant, None):
                spans[entry.participant] = (*over[:-1], (began.place, entry.place))
        return cls(entries, out, spans)

    @property
    def over(self) -> Absences:
        """Only what no inclusion can bring back: the absences from matches whose decks are known by now."""
        spans = {name: tuple(span for span in spans if span[1] is not None) for name, spans in self.spans.items()}
        return Absences(self.log, {}, spans)

    def since(self, name: str) -> Place:
        """Where the participant was last included: what it did before is forgiven."""
        places = [entry.place for entry in self.log if entry.participant == name and entry.change is Change.INCLUDED]
        return places[-1] if places else START

    def leave_out(self, key: MatchKey, position: int) -> bool:
        """Whether the match at this position of its epoch is left out."""
        if not self.spans or self.spans.keys().isdisjoint(key.pairing):
            return False
        place = (key.epoch, position)
        return any(
            start <= place and (end is None or place < end)
            for name in key.pairing
            for start, end in self.spans.get(name, ())
        )


NOBODY = Absences.of(())
"""Nobody is out."""
