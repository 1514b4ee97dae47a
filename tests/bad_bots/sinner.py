"""A bot that plays its lowest card and, at its N-th decision, commits one sin: `sinner.py SIN [N]`.

Written on bare gRPC, since the SDK would not let it.  Sins that are no method of `Sinner` are committed at the start;
`honest` is none at all.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import grpc
from grpc import aio

from arena.wire import codec, stubs

SIN = sys.argv[1]
AT = int(sys.argv[2]) if len(sys.argv) > 2 else 3
NEVER = 1 << 30


def lowest_card(decision: codec.Decision) -> int:
    """The lowest card, and "go on" where no card is asked for."""
    legal = decision.view.legal
    lowest = (legal & -legal).bit_length() - 1
    return lowest if lowest <= 32 else legal.bit_length() - 1


class Sinner:
    """One stream's worth of behaviour: decisions in, bytes out."""

    def __init__(self, write: Callable[[bytes], Any]) -> None:
        self.write = write
        self.count = 0
        self.sinned = False

    async def decide(self, decision: codec.Decision) -> None:
        self.count += 1
        good = codec.answer(decision.id, lowest_card(decision), 1)
        always = SIN.startswith("always-")
        sin = getattr(self, SIN.removeprefix("always-").replace("-", "_"), None)
        if sin is None or (self.count != AT and not (always and self.count >= AT)):
            await self.write(good)
        else:
            await sin(decision, good)

    async def illegal(self, decision: codec.Decision, good: bytes) -> None:
        legal = decision.view.legal
        await self.write(codec.answer(decision.id, next(n for n in range(1, 33) if not legal >> n & 1), 1))

    async def unspecified(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(decision.id, 0, 1))

    async def unknown_number(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(decision.id, 9999, 1))

    async def error(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(decision.id, 0, 1, error="Traceback: I cannot go on"))

    async def garbage(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(b"\xff\xff\xff\xff")

    async def huge(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(decision.id, 0, 1, error="x" * (3 << 20)))

    async def flood(self, decision: codec.Decision, good: bytes) -> None:
        for number in range(5000):
            await self.write(codec.answer(1_000_000 + number, 3, 1))

    async def empty(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(b"")
        await self.write(good)

    async def silent(self, decision: codec.Decision, good: bytes) -> None:
        pass

    async def late(self, decision: codec.Decision, good: bytes) -> None:
        await asyncio.sleep((decision.time_left_ms + 300) / 1000)
        await self.write(good)

    async def slow(self, decision: codec.Decision, good: bytes) -> None:
        await asyncio.sleep((decision.time_left_ms - 300) / 1000)
        await self.write(good)

    async def twice(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(good + good)

    async def foreign(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(decision.id + 1000, lowest_card(decision), 1) + good)

    async def close(self, decision: codec.Decision, good: bytes) -> None:
        raise EOFError

    async def leave(self, decision: codec.Decision, good: bytes) -> None:
        print("I am leaving", file=sys.stderr, flush=True)
        os._exit(0)

    async def crash(self, decision: codec.Decision, good: bytes) -> None:
        print("something broke", file=sys.stderr, flush=True)
        os._exit(17)

    async def kill(self, decision: codec.Decision, good: bytes) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    async def answer_and_die(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(good)
        await asyncio.sleep(0.05)
        os._exit(1)

    async def chatter(self, decision: codec.Decision, good: bytes) -> None:
        for _ in range(20_000):
            print("noise " * 20)
        await self.write(good)

    async def grandchild(self, decision: codec.Decision, good: bytes) -> None:
        code = "import os, signal, time; os.setsid(); signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
        subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        await self.write(good)


async def play(request: object, context: aio.ServicerContext[bytes, bytes]) -> None:
    sinner = Sinner(context.write)
    try:
        while isinstance(message := await context.read(), bytes):
            for event in codec.events(message):
                if isinstance(event, codec.Decision):
                    await sinner.decide(event)
    except EOFError:
        return


async def describe(request: bytes, context: aio.ServicerContext[bytes, bytes]) -> bytes:
    if SIN == "silent-describe":
        await asyncio.sleep(600)
    return codec.describe_response_bytes(
        codec.BotDescription(
            protocol_major=2 if SIN == "other-version" else stubs.PROTOCOL_MAJOR,
            protocol_minor=stubs.PROTOCOL_MINOR,
            name="sinner",
            version="1",
            plays=SIN != "refuse",
            refusal="only on Sundays" if SIN == "refuse" else "",
            waives_before_draw=True,
            decisions_at_once=1 if SIN in ("slow", "late") else 0,
        )
    )


async def main() -> None:
    if SIN == "not-starting":
        print("no such model file", file=sys.stderr, flush=True)
        sys.exit(3)
    if SIN == "slow-start":
        await asyncio.sleep(AT)
    if SIN == "ignore-term":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: None)
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
