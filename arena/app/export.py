"""A run as a file that anyone can verify: every row as it was sealed, and what the rows come to, in constant memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from arena.app.data import RUNS, Archive
from arena.app.files import whole_file
from arena.app.totals import RunningTotals
from arena.store.exchange import End, Header, Journal, Line, Sealed, SealedRow, open_journal, write
from arena.store.values import Tournament

FILE = "export.jsonl"
"""What the file is called in the folder of its run, where no other name is given."""


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


def export(run: str, archive: Archive, output: Path | Callable[[str], object] | None = None) -> Exported:
    """Write a run's file: to `output`, which may take it line by line, or into the folder of the run.

    A file is there whole or not at all; no folder is made but that of the run.  Raises `UsageError`: no such run, or
    the file cannot be written.
    """
    with open_journal(archive.store) as journal:
        tournament = journal.tournament(run)
        watched = _Watched(lines_of(journal, tournament))
        file: Path | None = None
        if callable(output):
            write(watched, output)
        else:
            file = output or archive.folder / RUNS / tournament.name / FILE
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
    for line in journal.lines(tournament):
        match line:
            case Header():
                totals = RunningTotals(line.facts)
                yield line
            case SealedRow():
                totals.add(line)
                yield line
            case Sealed():
                yield totals.end(line)
