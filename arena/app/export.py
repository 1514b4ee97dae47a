"""A run as a file that anyone can verify: every row as it was sealed, and what the rows come to, in constant memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.app.data import RUNS, STORE
from arena.app.files import whole_file
from arena.match.record import Status
from arena.match.summary import MatchKey, MatchSummary
from arena.ratings.base import Game
from arena.ratings.trueskill import fit
from arena.store.exchange import End, Header, Heads, Journal, Line, SealedRow, open_journal, write
from arena.store.values import Tournament
from arena.tournament.standings import Standing, complete_pairs, standings

FILE = "export.jsonl"
"""What the file is called in the folder of its run, where no other name is given."""
COUNTED_AT_ONCE = 256
"""How many matches are held until they are counted: together that is quicker."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    run: str
    file: Path | None
    """None where it went to a stream."""
    head: str
    """The play chain's."""
    hidden: tuple[int, ...]
    """The epochs whose secret is not revealed: their cards were left out."""


def export(run: str, data: Path, output: Path | Callable[[str], object] | None = None) -> Exported:
    """Write a run's file: to `output`, which may take it line by line, or into the folder of the run.

    A file is there whole or not at all; no folder is made but that of the run.  Raises `UsageError`: no such run, or
    the file cannot be written.
    """
    with open_journal(data / STORE) as journal:
        tournament = journal.tournament(run)
        watched = _Watched(lines_of(journal, tournament))
        file: Path | None = None
        if callable(output):
            write(watched, output)
        else:
            file = output or data / RUNS / tournament.name / FILE
            with whole_file(file, make_folder=output is None) as stream:
                write(watched, stream.write)
    return Exported(tournament.name, file, watched.head, tuple(watched.hidden))


class _Watched(Iterator[Line]):
    """The lines of a run, and what there is to say of them at the end."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self.head = ""
        self.hidden: list[int] = []

    def __next__(self) -> Line:
        line = next(self._lines)
        if isinstance(line, End):
            self.head = line.head
        elif isinstance(line, SealedRow) and line.table == "epochs" and line.hidden:
            self.hidden.append(line.values["number"])
        return line


def lines_of(journal: Journal, tournament: Tournament) -> Iterator[Line]:
    """All lines of a run, as a file holds them; streams."""
    table = RunningTable()
    matches = 0
    for line in journal.lines(tournament):
        match line:
            case Header():
                yield line
            case SealedRow(table="participants"):
                table.enter(line.values["name"])
                yield line
            case SealedRow(table="matches"):
                table.add(summary_of(line.values))
                matches += 1
                yield line
            case SealedRow():
                yield line
            case Heads():
                draw_probability, figures = table.finish()
                yield End(line.rows, line.seal, matches, line.chains, draw_probability, figures)


def key_of(match: Mapping[str, Any]) -> MatchKey:
    """Which match a row is of."""
    return MatchKey(match["epoch"], tuple(match["pairing"]), match["leg"], match["number"])


def summary_of(match: Mapping[str, Any]) -> MatchSummary:
    """The summary that a match's row holds."""
    return MatchSummary.from_json(key_of(match), Status(match["status"]), bool(match["mirrored"]), match["summary"])


class RunningTable:
    """What the matches so far come to: those of a pairing on a list are counted, and forgotten, soon after the last."""

    def __init__(self) -> None:
        self._whole: list[MatchSummary] = []
        self._totals: dict[str, Counter[str]] = {}
        self._games: Counter[Game] = Counter()
        self._open: dict[tuple[int, tuple[str, ...], int], list[MatchSummary]] = {}

    def enter(self, name: str) -> None:
        """One more participant."""
        self._totals[name] = Counter(_figures(Standing(name)))

    def add(self, match: MatchSummary) -> None:
        """One more match of participants; each is given at most once."""
        key = (match.key.epoch, match.key.pairing, match.key.number)
        legs = self._open.setdefault(key, [])
        legs.append(match)
        if len(legs) == len(match.key.pairing):
            self._whole += self._open.pop(key)
        if len(self._whole) >= COUNTED_AT_ONCE:
            self._count(self._whole)
            self._whole.clear()

    def finish(self) -> tuple[float, dict[str, dict[str, float]]]:
        """The draw probability, and each participant's figures by their names; once, after the last match."""
        self._count([*self._whole, *(match for legs in self._open.values() for match in legs)])
        fitted = fit(self._games.elements(), self._totals)
        return fitted.draw_probability, {
            name: {"mu": fitted.ratings[name].mu, "sigma": fitted.ratings[name].sigma, **totals}
            for name, totals in self._totals.items()
        }

    def _count(self, matches: Sequence[MatchSummary]) -> None:
        self._games.update(Game(pair.sides, pair.ranks) for pair in complete_pairs(matches))
        for name, standing in standings(matches).items():
            self._totals[name].update(_figures(standing))


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
