"""In what the bots of a run are held: what the organiser asks for, as far as it is to be had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from arena.bots.manifest import BotSpec
from arena.bots.sandbox import Level, Sandbox, best, lacking, weakest
from arena.errors import UsageError
from arena.tournament.config import LeastSandbox

_LEAST = {LeastSandbox.STRONG: Level.STRONG, LeastSandbox.MEDIUM: Level.MEDIUM}


def chosen(asked: LeastSandbox, where: str, specs: Mapping[str, BotSpec], data: Path | None) -> Sandbox:
    """The strongest sandbox to be had, or the weakest if that is asked for; it hides the data and each other's folders.

    Raises `UsageError` if that is less than what is asked for, in `where`.
    """
    sandbox = weakest() if asked is LeastSandbox.WEAK else best()
    least = _LEAST.get(asked, Level.WEAK)
    if sandbox.level < least:
        raise UsageError(
            f'{where} asks for sandbox = "{asked}", but only level {sandbox.level} is to be had: {why_not(least)}; '
            "see `arena doctor` for what is missing, or ask for less"
        )
    hidden = {spec.cwd for spec in specs.values() if not spec.remote}
    return replace(sandbox, hidden=frozenset(hidden | ({data.resolve()} if data is not None else set())))


def why_not(level: Level) -> str:
    """Why this level and those above it are not in force, in words."""
    why = {each: lacking(each) for each in Level if each >= level}
    lacking_ones = [f"{each} is not to be had, for {text}" for each, text in why.items() if text is not None]
    return "; ".join(lacking_ones) or "weak is what the file asks for"
