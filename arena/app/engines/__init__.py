"""Where matches are played: in this process, in worker processes beside it, or on other machines.

Whichever plays, a match is the same: it follows from the secret of its epoch and from its identity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from arena.bots.bot import BotFailed
from arena.match.lag import Lag
from arena.tournament.runner import Engine


class TournamentEngine(Engine, Protocol):
    """What a tournament asks of an engine."""

    @property
    def lag(self) -> Lag:
        """How late the arena has been so far, wherever it plays."""

    @property
    def overloaded(self) -> bool:
        """Whether a machine cannot keep up."""

    async def preflight(self, names: Iterable[str], seats: int = 1) -> Mapping[str, BotFailed]:
        """Start these bots once; returns the failures by name.

        `seats` is how many of a match each bot will have: so many streams a remote one must take.
        """
