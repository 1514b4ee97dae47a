"""When a tournament that is played until its order is clear is over."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StopRule:
    """Until when a tournament plays on, once every pairing has played its pairs."""

    separated: float
    """It is over once each bot is better than the next one with this probability ..."""
    max_pairs: int
    """... or once it has played so many lists a pairing, on the average."""
