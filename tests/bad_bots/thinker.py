"""A bot that plays its lowest card and takes its time in one way: `thinker.py WAY [MS] [THREADS]`.

Written on bare gRPC, since the SDK would not let it.  A way is a method of `Thinker`.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import grpc
from grpc import aio

from arena.wire import codec, stubs

WAY = sys.argv[1]
MS = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
THREADS = int(sys.argv[3]) if len(sys.argv) > 3 else 1


def lowest_card(decision: codec.Decision) -> int:
    """The lowest card, and "go on" where no card is asked for."""
    legal = decision.view.legal
    lowest = (legal & -legal).bit_length() - 1
    return lowest if lowest <= 32 else legal.bit_length() - 1


def answer(decision: codec.Decision, think_us: int = 0) -> bytes:
    return codec.answer(decision.id, lowest_card(decision), think_us)


def burn(ms: float) -> None:
    """Use a core for so long, whenever the machine gives it; other threads can run meanwhile."""
    end = time.thread_time() + ms / 1000
    while time.thread_time() < end:
        hashlib.pbkdf2_hmac("sha256", b"a card", b"laid", 300)


class Thinker:
    """One stream's worth of behaviour: the decisions of a message in, bytes out."""

    def __init__(self, write: Callable[[bytes], Any]) -> None:
        self.write = write
        self.tasks: list[asyncio.Task[None]] = []

    async def burn(self, decisions: list[codec.Decision]) -> None:
        """Computes for so long on each decision, in each of its threads, and says so."""
        for decision in decisions:
            began = time.perf_counter()
            await asyncio.gather(*(asyncio.to_thread(burn, MS) for _ in range(THREADS)))
            await self.write(answer(decision, round((time.perf_counter() - began) * 1e6)))

    async def nap(self, decisions: list[codec.Decision]) -> None:
        """Sleeps over each decision."""
        for decision in decisions:
            await asyncio.sleep(MS / 1000)
            await self.write(answer(decision))

    async def batch(self, decisions: list[codec.Decision]) -> None:
        """Sleeps over each decision, and answers all of them in one message."""
        await asyncio.sleep(MS / 1000 * len(decisions))
        if decisions:
            await self.write(b"".join(map(answer, decisions)))

    async def easy_first(self, decisions: list[codec.Decision]) -> None:
        """Sleeps over the first lead of each deal, and meanwhile answers everything else at once."""
        for decision in decisions:
            if decision.view.past_actions or decision.deal == 1:
                await self.write(answer(decision))
            else:
                self.tasks.append(asyncio.create_task(self.nap([decision])))

    async def over(self, decisions: list[codec.Decision]) -> None:
        """Answers one decision so many milliseconds after its time (before it, if negative); all else at once."""
        for decision in decisions:
            if decision.deal == 2 and not self.tasks:
                self.tasks.append(asyncio.create_task(asyncio.sleep(0)))
                await asyncio.sleep((decision.time_left_ms + MS) / 1000)
            await self.write(answer(decision))


async def play(request: object, context: aio.ServicerContext[bytes, bytes]) -> None:
    think = getattr(Thinker(context.write), WAY.replace("-", "_"))
    while isinstance(message := await context.read(), bytes):
        await think([event for event in codec.events(message) if isinstance(event, codec.Decision)])


async def describe(request: bytes, context: aio.ServicerContext[bytes, bytes]) -> bytes:
    return codec.describe_response_bytes(
        codec.BotDescription(
            protocol_major=stubs.PROTOCOL_MAJOR,
            protocol_minor=stubs.PROTOCOL_MINOR,
            name="thinker",
            version="1",
            plays=True,
            refusal="",
            waives_before_draw=True,
            decisions_at_once=0,
        )
    )


async def main() -> None:
    server = aio.server()
    handlers: dict[str, Any] = {
        stubs.DESCRIBE_METHOD: grpc.unary_unary_rpc_method_handler(describe),
        stubs.PLAY_METHOD: grpc.stream_stream_rpc_method_handler(play),
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(stubs.SERVICE, handlers),))
    server.add_insecure_port(os.environ["ARENA_ADDRESS"])
    await server.start()
    await server.wait_for_termination()


asyncio.run(main())
