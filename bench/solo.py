"""One process of a bot without an arena around it: started as an arena starts it, and asked by hand."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path

import grpc
from grpc import aio

from arena.bots.channel import connect
from arena.bots.launcher import BotProcess, Limits, arena_marker, launch
from arena.bots.manifest import BotSpec
from arena.bots.sandbox import Sandbox
from arena.game.rules import Rules
from arena.wire import codec, stubs

MARKER = "arena-solo"
PATIENCE_S = 100.0
"""Nothing is measured against it: it only ends a test that hangs."""


@dataclass(frozen=True, slots=True)
class Running:
    """A bot process that serves, as the arena starts it, and the way to it."""

    process: BotProcess
    channel: aio.Channel

    async def describe(self, rules: Rules, name: str) -> codec.BotDescription:
        """The handshake."""
        call: aio.UnaryUnaryMultiCallable[bytes, bytes] = self.channel.unary_unary(stubs.DESCRIBE)
        return codec.describe_response(
            await call(codec.describe_request(rules, name), wait_for_ready=True, timeout=PATIENCE_S)
        )

    def play(self) -> Stream:
        """A new Play stream."""
        return Stream(self.channel)

    async def exit_code(self) -> int:
        """Wait for the end of the process; negative: the signal that ended it."""
        return await asyncio.wait_for(asyncio.shield(self.process.exited), PATIENCE_S)


class Stream:
    """The arena's end of a Play stream."""

    def __init__(self, channel: aio.Channel) -> None:
        play: aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(stubs.PLAY)
        self._call = play(timeout=PATIENCE_S)

    async def send(self, items: Iterable[bytes]) -> None:
        """The items, in as few messages as they fit into."""
        message: list[bytes] = []
        for item in items:
            message.append(item)
            if len(message) == stubs.MAX_ITEMS:
                await self._call.write(b"".join(message))
                message = []
        if message:
            await self._call.write(b"".join(message))

    async def answers(self, count: int) -> list[codec.Answer]:
        """The next answers, so many at least."""
        received: list[codec.Answer] = []
        while len(received) < count:
            message = await self._call.read()
            assert isinstance(message, bytes), f"the bot ended the stream after {len(received)} of {count} answers"
            received += codec.answers(message)
        return received

    async def end(self) -> list[codec.Answer]:
        """Close the arena's side; what still comes until the bot closes its own."""
        await self._call.done_writing()
        received: list[codec.Answer] = []
        while isinstance(message := await self._call.read(), bytes):
            received += codec.answers(message)
        assert await self._call.code() is grpc.StatusCode.OK
        return received


@contextlib.asynccontextmanager
async def running(spec: BotSpec, sandbox: Sandbox) -> AsyncIterator[Running]:
    """The process of a bot that needs no build (any more), held in the sandbox."""
    with tempfile.TemporaryDirectory(prefix="solo-") as folder:
        log = Path(folder) / "log"
        process = await launch(
            spec,
            socket="bot.0",
            env={},
            log=log,
            marker=arena_marker(MARKER),
            limits=Limits.of(spec, sandbox.level),
            sandbox=sandbox,
        )
        try:
            async with connect(await _listening(process, log)) as channel:
                yield Running(process, channel)
        finally:
            await process.stop(0)


async def _listening(process: BotProcess, log: Path) -> str:
    """Where the process serves; fails with its output if it ends before."""
    target = asyncio.ensure_future(process.target(PATIENCE_S))
    await asyncio.wait((target, process.exited), return_when=asyncio.FIRST_COMPLETED)
    if not target.done():
        target.cancel()
        raise AssertionError(f"it ended with {process.exited.result()} before it served: {log.read_text()}")
    return await target
