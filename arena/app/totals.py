"""What the rows of a run come to, in constant memory: its schedules, who is out, the play chains, the table.

Rows are given in the order of a run's lines (`arena.store.exchange`); whoever proves a run compares the results.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from arena.app.schedules import matches_of_those_out, planned, schedules_of
from arena.match.absence import Absences, Change, Exclusion, Place
from arena.match.record import Status
from arena.match.summary import MatchKey, MatchSummary
from arena.ratings.base import Game, Groups, grouped
from arena.ratings.trueskill import fit
from arena.store.chains import Participant, PlayChain, canonical, chain_start
from arena.store.exchange import End, Sealed, SealedRow
from arena.store.values import Epoch
from arena.tournament.schedule import Schedule
from arena.tournament.standings import Standing, Totals, withdrawn


class RunningTotals:
    """What the rows so far come to."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        """`facts`: those of the header."""
        self.epochs: list[Epoch] = []
        self.participants: dict[str, tuple[int, Participant]] = {}
        """By name, each with the serial of its row."""
        self._facts = facts
        self._log: list[Exclusion] = []
        self._starts: list[str] = []
        self._played: Counter[str] = Counter()
        self._rows = 0
        self._parts: defaultdict[frozenset[str], Totals] = defaultdict(Totals)
        """The matches by who of those that are out took part: whether these count is known at the end."""

    def add(self, row: SealedRow, summary: MatchSummary | None = None) -> None:
        """One more row; with the summary that a match's row holds, where that has been read already."""
        match row.table:
            case "participants":
                entered = Participant(**row.values)
                self.participants[entered.name] = (row.serial, entered)
            case "epochs":
                self._epoch(row)
            case "exclusions":
                self._log.append(exclusion_of(row.values))
            case "matches":
                self._match(row.values, summary)

    @cached_property
    def schedules(self) -> tuple[Schedule, ...]:
        """The schedule of each epoch; asked for once all epochs are known."""
        return schedules_of(self.epochs)

    @cached_property
    def absences(self) -> Absences:
        """Who is out; asked for once all of the log is known."""
        return Absences.of(self._log)

    def end(self, sealed: Sealed) -> End:
        """What all rows came to; once, after the last."""
        gone = withdrawn(matches_of_those_out(self.schedules, self.absences), self._played)
        known = [part for out, part in self._parts.items() if gone.isdisjoint(out)]
        totals: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for part in known:
            for name, standing in part.standings().items():
                totals[name].update(_figures(standing))
        fitted = fit(games_of(*known), self.participants)
        figures = {
            name: {
                "mu": fitted.ratings[name].mu,
                "sigma": fitted.ratings[name].sigma,
                **_figures(Standing(name)),
                **totals[name],
            }
            for name in self.participants
        }
        chains = tuple(chain.head for chain in self._chains)
        return End(sealed.rows, sealed.seal, self._rows, chains, fitted.draw_probability, figures)

    @cached_property
    def _chains(self) -> Sequence[PlayChain]:
        return [
            PlayChain(start, planned(schedule, self.absences))
            for start, schedule in zip(self._starts, self.schedules, strict=True)
        ]

    def _epoch(self, row: SealedRow) -> None:
        values = row.values
        entered = [each for serial, each in self.participants.values() if serial < row.serial]
        epoch = Epoch(
            number=values["number"],
            commitment=values["commitment"],
            secret=None if values["secret"] is None else bytes.fromhex(values["secret"]),
            config=values["config"],
            participants=tuple(sorted(each.name for each in entered)),
        )
        rules = canonical(self._facts["rules"])
        self._starts.append(chain_start(rules, row.texts["config"], entered, epoch.number, epoch.commitment))
        self.epochs.append(epoch)

    def _match(self, values: Mapping[str, Any], summary: MatchSummary | None) -> None:
        self._rows += 1
        key = key_of(values)
        self._chains[key.epoch].add(values["position"], values["play_hash"])
        if self.absences.leave_out(key, values["position"]):
            return
        self._played.update(key.pairing)
        self._parts[frozenset(self.absences.out.keys() & key.pairing)].add(summary or summary_of(values))


def games_of(*totals: Totals) -> Groups:
    """A game for each complete pair of these, as evidence of the strengths."""
    games: Counter[Game] = Counter()
    for each in totals:
        games.update({Game(sides, ranks): pairs for (sides, ranks), pairs in each.outcomes().items()})
    return grouped(games)


def key_of(match: Mapping[str, Any]) -> MatchKey:
    """Which match a row is of."""
    return MatchKey(match["epoch"], tuple(match["pairing"]), match["leg"], match["number"])


def summary_of(match: Mapping[str, Any]) -> MatchSummary:
    """The summary that a match's row holds."""
    return MatchSummary.from_json(key_of(match), Status(match["status"]), bool(match["mirrored"]), match["summary"])


def exclusion_of(row: Mapping[str, Any]) -> Exclusion:
    """The entry of the log that a row holds."""
    place = Place(row["epoch"], row["position"])
    return Exclusion(row["participant"], Change(row["change"]), row["reason"], place, row["created"])


def _figures(standing: Standing) -> dict[str, int]:
    """What adds up over matches."""
    return {
        "matches_won": standing.matches.won,
        "matches_drawn": standing.matches.drawn,
        "matches_lost": standing.matches.lost,
        "pairs_won": standing.pairs.won,
        "pairs_drawn": standing.pairs.drawn,
        "pairs_lost": standing.pairs.lost,
        "points_for": standing.points_for,
        "points_against": standing.points_against,
        "deals": standing.deals,
        "deals_won": standing.deals_won,
        "faults": sum(standing.faults.values()),
    }
