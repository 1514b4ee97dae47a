"""Where the time of each decision of a bot went, decision by decision, in every format.

A bot is charged `charged`, which is `bot` and `wire` together; `arena`, `queue` and `waited` are charged to nobody.
All but `charged` and `said` add up to the whole time from question to answer.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import assert_never

from arena.match.record import Spent
from arena.match.summary import MatchKey
from arena.reports import Format
from arena.reports.csv import plain
from arena.reports.foreign import printable
from arena.reports.markdown import escape

LINES = 1000
"""How many lines are handed on together."""


@dataclass(frozen=True, slots=True)
class DecisionTime:
    """One decision of a bot."""

    key: MatchKey
    seat: int
    decision: int
    """Which one of the seat's in its deal, from 1."""
    budget_ms: float | None
    """What it might have taken: the limit and the rest of the bank; None where no clock ran."""
    spent: Spent
    fault: str
    """The label of the fault that it was, if it was one."""


Cell = str | int | float | None

COLUMNS: dict[str, Callable[[DecisionTime], Cell]] = {
    "epoch": lambda each: each.key.epoch,
    "leg": lambda each: each.key.leg,
    "list": lambda each: each.key.number,
    "seat": lambda each: each.seat,
    "deal": lambda each: each.spent.deal,
    "decision": lambda each: each.decision,
    "budget_ms": lambda each: None if each.budget_ms is None else round(each.budget_ms),
    "charged_ms": lambda each: each.spent.took_us / 1000,
    "bot_ms": lambda each: (each.spent.took_us - each.spent.wire_us) / 1000,
    "wire_ms": lambda each: each.spent.wire_us / 1000,
    "waited_ms": lambda each: each.spent.waited_us / 1000,
    "queue_ms": lambda each: each.spent.queue_us / 1000,
    "arena_ms": lambda each: each.spent.arena_us / 1000,
    "said_ms": lambda each: each.spent.think_us / 1000,
    "fault": lambda each: each.fault,
    "match": lambda each: " - ".join(each.key.pairing),
}
"""By name, in the order of every format."""


def render(times: Iterable[DecisionTime], format: Format) -> Iterator[str]:
    """The list as text, piece by piece: there may be more than fits in memory."""
    lines = _lines(([column(each) for column in COLUMNS.values()] for each in times), format)
    while piece := "".join(islice(lines, LINES)):
        yield piece


def _lines(rows: Iterator[list[Cell]], format: Format) -> Iterator[str]:
    match format:
        case Format.TABLE:
            yield "".join(f"{name.removesuffix('_ms'):>9}" for name in list(COLUMNS)[:-2]) + "  fault, match\n"
            for row in rows:
                *numbers, fault, pairing = row
                what = f"{fault}, {pairing}" if fault else str(pairing)
                yield "".join(f"{_in_text(cell):>9}" for cell in numbers) + f"  {printable(what)}\n"
        case Format.MD:
            yield f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}\n"
            for row in rows:
                cells = (escape(cell) if isinstance(cell, str) else _in_text(cell) for cell in row)
                yield f"| {' | '.join(cells)} |\n"
        case Format.CSV:
            yield ",".join(COLUMNS) + "\n"
            for row in rows:
                line = io.StringIO()
                csv.writer(line, lineterminator="\n").writerow(map(plain, row))
                yield line.getvalue()
        case Format.JSON:
            before = "[\n"
            for row in rows:
                yield before + json.dumps(dict(zip(COLUMNS, map(_without_surrogates, row), strict=True)))
                before = ",\n"
            yield "[]\n" if before == "[\n" else "\n]\n"
        case _:
            assert_never(format)


def _in_text(cell: Cell) -> str:
    match cell:
        case None:
            return "-"
        case float(ms):
            return f"{ms:,.1f}"
        case _:
            return str(cell)


def _without_surrogates(cell: Cell) -> Cell:
    return cell.encode("utf-8", "backslashreplace").decode() if isinstance(cell, str) else cell
