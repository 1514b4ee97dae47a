"""How a table became what it is: the ratings after so many lists."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """What was known of one bot at one moment."""

    lists: int
    """How many lists of each pairing were in."""
    mu: float
    error: float
    """Half the bar that holds its strength with 95%."""
