"""The ranking table as CSV: one header line, one line a bot, values as a program wants them.

Foreign text cannot become a spreadsheet's formula: what begins like one is prefixed by an apostrophe.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from arena.reports.columns import Column, Value
from arena.reports.foreign import printable
from arena.reports.model import Row

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
