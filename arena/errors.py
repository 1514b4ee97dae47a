"""The arena's own exceptions: every one carries a sentence meant for a person.

A *user's* mistake is a `UsageError` (exit code 2).  A bot's fault is never an exception but a value
(`arena.match.rulings.Fault`); an exception that is none of these is a bug of the arena.
"""

from __future__ import annotations


class ArenaError(Exception):
    """Base of all errors that the arena raises on purpose; its text is one sentence for the user."""


class UsageError(ArenaError):
    """Something the user gave cannot be used: what was found, where, what was expected, what to do."""


class UnfitBot(UsageError):
    """A bot does not start, or refuses to play: what it did, with its last words."""


class RulesError(UsageError):
    """The rules options contradict each other or hold an impossible value; `field` names the option."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class NotationError(UsageError):
    """A text is not in the notation: says where it stops making sense."""


class IllegalAction(ArenaError):
    """An action that the rules refuse at this moment of the deal."""


class RecordError(ArenaError):
    """A record contradicts itself, or replaying it gives something else than it says."""
