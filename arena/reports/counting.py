"""Numbers of things in words: the singular for one, the plural for all else."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """`1 match`, `1,200 matches`: of a noun in the singular."""
    plural = f"{noun}es" if noun.endswith(("ch", "ss")) else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"
