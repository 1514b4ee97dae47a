"""The looks of a stop rule taken again: known at each is what had been committed by then, and was not left out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from arena.app.schedules import matches_of_those_out
from arena.app.stopping import ask
from arena.match.absence import Absences
from arena.match.summary import MatchKey, MatchSummary
from arena.ratings.base import Game
from arena.tournament.pairings import Pairing
from arena.tournament.schedule import Schedule
from arena.tournament.standings import complete_pairs, withdrawn
from arena.tournament.stop import StopRule


@dataclass(slots=True)
class Look:
    """What was known when a stop rule was asked."""

    rule: StopRule
    schedules: Sequence[Schedule]
    """Of the epochs before."""
    absences: Absences
    serial: float
    """All rows before this one were committed by then."""
    _games: defaultdict[frozenset[str], Counter[Game]] = field(default_factory=lambda: defaultdict(Counter))
    """A game for each complete pair, by who of those that were out took part."""
    _played: Counter[str] = field(default_factory=Counter)
    """The matches of those that were out."""

    def asked(self) -> Mapping[Pairing, int]:
        """The lists that the rule asked for."""
        return ask(self.rule, self.schedules, self.absences, self._evidence())[1]

    def sees(self, serial: int, position: int, key: MatchKey) -> bool:
        """Whether a match was committed by then, and not left out."""
        return serial < self.serial and not self.absences.leave_out(key, position)

    def count(self, key: MatchKey) -> None:
        """Count a match that it sees."""
        self._played.update(self.absences.out.keys() & key.pairing)

    def know(self, pairing: Pairing, game: Game) -> None:
        """Know a pair whose matches it sees."""
        self._games[frozenset(self.absences.out.keys() & pairing)][game] += 1

    def _evidence(self) -> Counter[Game]:
        """The games that counted: without those of participants that were withdrawn."""
        gone = withdrawn(matches_of_those_out(self.schedules, self.absences), self._played)
        return sum((games for out, games in self._games.items() if gone.isdisjoint(out)), Counter[Game]())


class Looks:
    """All looks of a run, which are shown its matches one by one."""

    def __init__(self, looks: Sequence[Look]) -> None:
        self._looks = looks
        self._legs: dict[tuple[int, Pairing, int], list[tuple[int, int, MatchSummary]]] = {}
        """The matches of pairs that are not whole yet, each with its serial and its position."""

    def show(self, serial: int, position: int, summary: MatchSummary) -> None:
        """One more match; each is shown once."""
        key = summary.key
        for look in self._looks:
            if look.sees(serial, position, key):
                look.count(key)
        legs = self._legs.setdefault((key.epoch, key.pairing, key.number), [])
        legs.append((serial, position, summary))
        if len(legs) < len(key.pairing):
            return
        del self._legs[key.epoch, key.pairing, key.number]
        for pair in complete_pairs(leg for _, _, leg in legs):
            for look in self._looks:
                if all(look.sees(serial, position, leg.key) for serial, position, leg in legs):
                    look.know(key.pairing, Game(pair.sides, pair.ranks))
