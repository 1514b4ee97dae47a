"""What blocks take while they are played: cores of the machine, and the streams that a remote bot offers.

Neither is ever promised twice; a block that needs more than there is gets it when it is alone with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterable

from arena.bots.manifest import BotSpec


class Room:
    """Who comes first is let in first: no large block waits behind small ones for ever."""

    def __init__(self, cores: int = sys.maxsize) -> None:
        """`cores` are what the bots may take together."""
        self._cores = cores
        self._cores_taken = 0
        self.streams: dict[str, int] = {}
        """By address of a remote bot: how many streams it takes at once; one, as long as that is not known."""
        self._streams_taken: Counter[str] = Counter()
        self._door = asyncio.Lock()
        self._left = asyncio.Condition()

    def learn(self, address: str, streams: int) -> None:
        """Note how many streams a remote bot takes at once."""
        self.streams[address] = streams

    @contextlib.asynccontextmanager
    async def taken(self, specs: Iterable[BotSpec]) -> AsyncIterator[None]:
        """Wait until all bots of a block, one for each seat, have what they need, and keep it while inside."""
        cores, streams = 0, Counter[str]()
        for spec in specs:
            if spec.address is None:
                cores += spec.cores
            else:
                streams[spec.address] += 1

        async with self._door, self._left:
            await self._left.wait_for(lambda: self._fits(cores, streams))
            self._cores_taken += cores
            self._streams_taken.update(streams)
        try:
            yield
        finally:
            async with self._left:
                self._cores_taken -= cores
                self._streams_taken.subtract(streams)
                self._left.notify_all()

    def _fits(self, cores: int, streams: Counter[str]) -> bool:
        if cores and self._cores_taken and self._cores_taken + cores > self._cores:
            return False
        return all(
            not self._streams_taken[address] or self._streams_taken[address] + count <= self.streams.get(address, 1)
            for address, count in streams.items()
        )
