"""The gallery: a report is a value (`model`), and each format shows that value; nothing here reads or decides."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    """In what form a report is shown."""

    TABLE = "table"
    """For a terminal: `text`."""
    JSON = "json"
    """Everything, of a published schema."""
    CSV = "csv"
    """The ranking, for a spreadsheet."""
    MD = "md"
    """GitHub Markdown."""


class Only(StrEnum):
    """A single table of a report."""

    RANKING = "ranking"
    CROSSTABLE = "crosstable"
    """Each bot against each other."""
    BOTS = "bots"
    """What each bot did in its deals."""


class Part(StrEnum):
    """How much of a report in JSON."""

    PLAY = "play"
    """What anybody gets who plays the same seed again, to the byte."""
    ALL = "all"
