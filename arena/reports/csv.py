"""A table as CSV: one header line, then one line a bot, or one for each that it met; values as a program wants them.

Foreign text cannot become a spreadsheet's formula: what begins like one is prefixed by an apostrophe.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import astuple
from itertools import permutations

from arena.reports.columns import Column, Value
from arena.reports.foreign import printable
from arena.reports.model import Row, RunReport

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""What makes a cell a formula, in full width too."""
DIGITS = 4
"""Decimal places: more than the fit promises would be noise."""


def render(rows: Sequence[Row], columns: Sequence[Column]) -> str:
    """The table as text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.name for column in columns)
    writer.writerows([plain(column.value(row)) for column in columns] for row in rows)
    return text.getvalue()


_CROSSTABLE = (
    *("bot", "opponent", "won", "drawn", "lost", "pairs-won", "pairs-drawn", "pairs-lost"),
    *("points", "points-for", "points-against"),
)
"""The columns of the crosstable: named as those of the ranking, of two bots."""


def crosstable(report: RunReport) -> str:
    """Each bot against each other that it met, in the order of the ranking: a line each, both ways round."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_CROSSTABLE)
    for names in permutations([row.participant.name for row in report.rows], 2):
        if met := report.crosstable.get(names):
            tallies = (*astuple(met.matches), *astuple(met.pairs))
            writer.writerow(map(plain, (*names, *tallies, met.margin, met.points_for, met.points_against)))
    return text.getvalue()


def plain(value: Value) -> Value:
    """A cell as it is written: harmless, and rounded."""
    match value:
        case str(foreign):
            text = printable(foreign)
            return f"'{text}" if text.lstrip().startswith(_FORMULA) else text
        case float(number):
            return round(number, DIGITS) + 0.0  # no -0.0
        case _:
            return value
