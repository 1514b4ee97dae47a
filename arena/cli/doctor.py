"""`arena doctor`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from arena.cli.exits import Exit
from arena.cli.options import DATA, Data
from arena.cli.screen import emit
from arena.reports.foreign import printable


class DoctorFormat(StrEnum):
    """In what form the findings are written."""

    TABLE = "table"
    JSON = "json"


def doctor(
    data: Data = DATA,
    format: Annotated[
        DoctorFormat, typer.Option("--format", help="In what form the findings are written to stdout.")
    ] = DoctorFormat.TABLE,
) -> None:
    """Look at this machine: what sandbox bots are held in, and what keeps it from being a good arena.

    Each finding is ok or worse, with what to do; exit code 1 if any is worse.
    """
    import json
    from dataclasses import asdict

    from arena.app.doctor import examine

    findings = examine(data)
    if format is DoctorFormat.JSON:
        emit(json.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False) + "\n")
    else:
        for finding in findings:
            emit(f"{'worse' if finding.cure else 'ok':<7}{finding.name:<16}{printable(finding.value)}\n")
            if finding.cure:
                emit(f"{'':<23}{finding.cure}\n")
    if any(finding.cure for finding in findings):
        raise typer.Exit(Exit.WRONG)
