"""Who takes part: the bots of a config or a command line, found, named and told apart."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from arena.bots.manifest import BotSpec, resolve
from arena.bots.sandbox import Level
from arena.errors import UsageError
from arena.tournament.config import TournamentConfig


def of_config(config: TournamentConfig) -> dict[str, BotSpec]:
    """The participants of a tournament by name, in the order of the file.

    Raises `UsageError` with a line for each bot that cannot be found, or for names that are not unique.
    """
    specs: list[BotSpec] = []
    mistakes: list[str] = []
    for number, entry in enumerate(config.bots, start=1):
        try:
            specs.append(resolve(entry.bot, name=entry.name, base=config.base))
        except UsageError as error:
            mistakes.append(f"{config.path}: bots: table {number}: {error}")
    if mistakes:
        raise UsageError("\n".join(mistakes))
    config.check_names([spec.name for spec in specs])
    return {spec.name: spec for spec in specs}


def of_words(words: tuple[str, ...]) -> dict[str, BotSpec]:
    """The participants of a command line by name; a bot that is named twice plays as `name` and `name-2`."""
    specs: dict[str, BotSpec] = {}
    for word in words:
        spec = resolve(word, base=Path.cwd())
        number = 1
        name = spec.name
        while name in specs:
            number += 1
            name = f"{spec.name}-{number}"
        specs[name] = resolve(word, name=name, base=Path.cwd())
    return specs


def untrusted(specs: Mapping[str, BotSpec], trust_bots: bool, level: Level) -> frozenset[str]:
    """Who could remember a deck: remote bots always, local ones where neither a sandbox nor the organiser's word is."""
    forgetful = trust_bots or level > Level.WEAK
    return frozenset(name for name, spec in specs.items() if spec.remote or not forgetful)
