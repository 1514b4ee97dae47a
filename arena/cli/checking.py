"""An examination for people to read: a line a check, and below a red one what was asked, what came, and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from arena.bots.check.checks import CHECKS, NOT_TRIED, Check, Colour, Examination, Finding, Trouble
from arena.reports.advice import advice
from arena.reports.foreign import printable

_STYLES = {Colour.GREEN: "green", Colour.YELLOW: "yellow", Colour.RED: "bold red", Colour.GREY: "dim"}
COLOUR_WIDTH = max(map(len, Colour))
NAME_WIDTH = max(len(check.name) for check in CHECKS)
EVIDENCE_LINES = 10
"""Of the end of what the bot said."""


def examination(found: Examination, *, verbose: bool) -> RenderableType:
    """All findings by group, and how many of each colour.

    `verbose` shows all troubles that are known, and what was not tried.
    """
    shown = [finding for finding in found.findings if verbose or finding.text != NOT_TRIED]
    parts: list[RenderableType] = []
    for group, findings in groupby(shown, key=lambda finding: finding.check.group):
        grid = Grid.grid(padding=(0, 2, 0, 0))
        for width in (COLOUR_WIDTH, NAME_WIDTH):
            grid.add_column(min_width=width, no_wrap=True)
        for finding in findings:
            grid.add_row(Text(finding.colour, style=_STYLES[finding.colour]), finding.check.name, _line(finding))
            for trouble in finding.troubles if verbose else finding.troubles[:1]:
                grid.add_row("", "", _trouble(finding.check, trouble))
        parts += [Text(group, style="bold"), grid]
    return Group(*parts, Text(_summary(found), style="bold"))


def checks(listed: Sequence[Check] = CHECKS) -> RenderableType:
    """The names of the checks, and what each is about."""
    grid = Grid.grid(padding=(0, 2, 0, 0))
    for check in listed:
        grid.add_row(check.name, Text(check.group, style="dim"), check.about)
    return grid


def _line(finding: Finding) -> Text:
    about = finding.check.about
    return Text(f"{about.removesuffix('.')}: {printable(finding.text)}" if finding.text else about)


def _trouble(check: Check, trouble: Trouble) -> RenderableType:
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    for label, text in _facts(check, trouble):
        grid.add_row(label, Text(text))
    return grid


def _facts(check: Check, trouble: Trouble) -> Iterator[tuple[str, str]]:
    under = f" ({trouble.rules_name})" if trouble.rules_name else ""
    yield "asked", f"{trouble.asked}{under}"
    yield "answered", printable(trouble.answered)
    yield "rule", check.rule
    if trouble.position:
        yield "see", f'View.at(position, "{trouble.rules_name}"), docs/authors/python.md#trying-a-position, of this:'
        yield "", trouble.position.strip()
    if lines := trouble.evidence.strip().splitlines()[-EVIDENCE_LINES:]:
        yield "it wrote", "\n".join(map(printable, lines))
    if cure := advice(f"{trouble.answered}\n{trouble.evidence}"):
        yield "what to do", cure


def _summary(found: Examination) -> str:
    counts = Counter(finding.colour for finding in found.findings)
    return f"{printable(found.bot)}: " + ", ".join(f"{counts[colour]} {colour}" for colour in Colour if counts[colour])
