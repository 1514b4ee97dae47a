"""Blocks wait until there is room for their bots."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from arena.app.engines.room import Room
from arena.bots.manifest import BotKind, BotSpec


def local(cores: int = 1) -> BotSpec:
    return BotSpec("a", BotKind.FOLDER, "0" * 64, run=("bot",), cores=cores)


def remote(address: str = "localhost:1") -> BotSpec:
    return BotSpec("b", BotKind.ADDRESS, "1" * 64, address=address)


class Blocks:
    """Blocks that come in, in their order, and stay until they are told to go."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.inside: list[str] = []
        self._go: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def come(self, name: str, *specs: BotSpec) -> None:
        self._go[name] = asyncio.Event()
        self._tasks[name] = asyncio.create_task(self._stay(name, specs))
        await settle()

    async def leave(self, name: str) -> None:
        self._go[name].set()
        await self._tasks[name]
        await settle()

    async def give_up(self, name: str) -> None:
        self._tasks[name].cancel()
        await settle()

    async def _stay(self, name: str, specs: Sequence[BotSpec]) -> None:
        async with self._room.taken(specs):
            self.inside.append(name)
            await self._go[name].wait()
        self.inside.remove(name)


async def settle() -> None:
    """Let everybody do what can be done now."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_bots_take_no_more_cores_together_than_there_are() -> None:
    async def story() -> None:
        blocks = Blocks(Room(4))
        await blocks.come("one", local(), local())
        await blocks.come("two", local(), local())
        await blocks.come("three", local())
        assert blocks.inside == ["one", "two"]
        await blocks.leave("one")
        assert blocks.inside == ["two", "three"]

    asyncio.run(story())


def test_a_block_that_needs_more_than_there_is_is_played_alone() -> None:
    async def story() -> None:
        blocks = Blocks(Room(2))
        await blocks.come("small", local())
        await blocks.come("large", local(8), local(8))
        assert blocks.inside == ["small"]
        await blocks.leave("small")
        await blocks.come("late", local())
        assert blocks.inside == ["large"]
        await blocks.leave("large")
        assert blocks.inside == ["late"]

    asyncio.run(story())


def test_a_large_block_is_not_passed_by_small_ones_that_come_later() -> None:
    async def story() -> None:
        blocks = Blocks(Room(3))
        await blocks.come("first", local(2))
        await blocks.come("large", local(3))
        await blocks.come("small", local())
        assert blocks.inside == ["first"]
        await blocks.leave("first")
        assert blocks.inside == ["large"]
        await blocks.leave("large")
        assert blocks.inside == ["small"]

    asyncio.run(story())


def test_who_gives_up_waiting_takes_nothing_along() -> None:
    async def story() -> None:
        blocks = Blocks(Room(2))
        await blocks.come("first", local(2))
        await blocks.come("impatient", local(2))
        await blocks.come("next", local())
        await blocks.give_up("impatient")
        await blocks.leave("first")
        await blocks.come("last", local())
        assert blocks.inside == ["next", "last"]

    asyncio.run(story())


def test_a_remote_bot_takes_streams_and_no_cores() -> None:
    async def story() -> None:
        room = Room(1)
        blocks = Blocks(room)
        await blocks.come("one", local(), remote())
        await blocks.come("two", remote())
        assert blocks.inside == ["one"]  # one stream, as long as nobody has heard of more
        await blocks.leave("one")
        room.learn("localhost:1", 2)
        await blocks.come("three", remote())
        await blocks.come("elsewhere", remote("localhost:2"))
        assert blocks.inside == ["two", "three", "elsewhere"]

    asyncio.run(story())


@given(st.integers(1, 6), st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=4), max_size=30))
def test_whatever_comes_all_are_let_in_and_no_core_is_promised_twice(cores: int, blocks: list[list[int]]) -> None:
    async def story() -> None:
        room, taken, played = Room(cores), [], 0

        async def play(needs: list[int]) -> None:
            nonlocal played
            async with room.taken([local(need) for need in needs]):
                taken.append(sum(needs))
                assert sum(taken) <= cores or len(taken) == 1
                await asyncio.sleep(0)
                taken.remove(sum(needs))
            played += 1

        await asyncio.gather(*map(play, blocks))
        assert played == len(blocks)

    asyncio.run(story())
