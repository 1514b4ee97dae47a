"""A bot that plays its lowest card and, at its N-th decision, commits one sin: `sinner.py SIN [N]`.

Written on bare gRPC, since the SDK would not let it.  Sins that are no method of `Sinner` are committed at the start,
or in how it answers at all; `honest` is none.  `always-SIN` goes on with it, `once-SIN` commits it only before the bot
has died for the first time.
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
AT = float(sys.argv[2]) if len(sys.argv) > 2 else 3
FIRST_LIFE = os.environ["ARENA_ADDRESS"].endswith(".0")


def lowest_card(decision: codec.Decision) -> int:
    """The lowest card, and "go on" where no card is asked for."""
    legal = decision.view.legal
    lowest = (legal & -legal).bit_length() - 1
    return lowest if lowest <= 32 else legal.bit_length() - 1


class Sinner:
    """One stream's worth of behaviour: decisions in, bytes out."""

    def __init__(self, context: aio.ServicerContext[bytes, bytes]) -> None:
        self.context = context
        self.write: Callable[[bytes], Any] = context.write
        self.count = 0
        self.first_id = 0

    async def decide(self, decision: codec.Decision) -> None:
        self.count += 1
        self.first_id = self.first_id or decision.id
        good = codec.answer(decision.id, lowest_card(decision), 1)
        always = SIN.startswith("always-")
        sin = getattr(self, SIN.removeprefix("always-").removeprefix("once-").replace("-", "_"), None)
        if SIN.startswith("once-") and not FIRST_LIFE:
            sin = None
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

    async def hundred_megabytes(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(decision.id, 0, 1, error="x" * (100 << 20)))

    async def bomb(self, decision: codec.Decision, good: bytes) -> None:
        """Small on the wire, 20 MB once it is unpacked: see `play`."""
        await self.write(codec.answer(decision.id, 0, 1, error="x" * (20 << 20)))

    async def long_error(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(decision.id, 0, 1, error="it began so: " + "x" * 900_000))

    async def flood(self, decision: codec.Decision, good: bytes) -> None:
        for number in range(5000):
            await self.write(codec.answer(1_000_000 + number, 3, 1))

    async def empty(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(b"")
        await self.write(good)

    async def heartbeat(self, decision: codec.Decision, good: bytes) -> None:
        while True:
            await self.write(b"")
            await asyncio.sleep(0.02)

    async def first_again(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(self.first_id, lowest_card(decision), 1) + good)

    async def overtime(self, decision: codec.Decision, good: bytes) -> None:
        """Late by far, but it answers: and so does the next decision, in time."""
        await asyncio.sleep(1.4)
        await self.write(good)
        await asyncio.sleep(0.5)

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

    async def think_and_crash(self, decision: codec.Decision, good: bytes) -> None:
        await asyncio.sleep(0.4)
        os._exit(17)

    async def wordy_crash(self, decision: codec.Decision, good: bytes) -> None:
        print("x" * 60_000 + " and this is why", file=sys.stderr, flush=True)
        os._exit(17)

    async def answer_and_leave(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(good)
        os._exit(0)

    async def freeze(self, decision: codec.Decision, good: bytes) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)

    async def abort(self, decision: codec.Decision, good: bytes) -> None:
        await self.context.abort(grpc.StatusCode.CANCELLED, "I do not like it here")

    async def chatter(self, decision: codec.Decision, good: bytes) -> None:
        for _ in range(20_000):
            print("noise " * 20)
        await self.write(good)

    async def grandchild(self, decision: codec.Decision, good: bytes) -> None:
        code = "import os, signal, time; os.setsid(); signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
        subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        await self.write(good)


def look_around() -> None:
    """Print what a process can find out about itself, its parent and its places."""
    parent = f"/proc/{os.getppid()}"
    for path in (
        *(f"/proc/self/{name}" for name in os.listdir("/proc/self")),
        f"{parent}/cmdline",
        f"{parent}/environ",
    ):
        try:
            with open(path, "rb") as file:
                print(path, file.read(20_000))
        except OSError:  # a folder, or not to be read
            pass
    places = [os.path.dirname(os.environ["ARENA_ADDRESS"].removeprefix("unix:")), os.environ["HOME"], "/proc/self/fd"]
    for place in places:
        for name in os.listdir(place):
            path = os.path.join(place, name)
            print(path, os.readlink(path) if os.path.islink(path) else "")
    print(sys.argv, os.getcwd(), dict(os.environ), flush=True)


async def play(request: object, context: aio.ServicerContext[bytes, bytes]) -> None:
    sinner = Sinner(context)
    if SIN.endswith("bomb"):
        context.set_compression(grpc.Compression.Gzip)
    try:
        while isinstance(message := await context.read(), bytes):
            if SIN == "snoop":
                print(message, flush=True)
            decisions = [event for event in codec.events(message) if isinstance(event, codec.Decision)]
            if SIN == "last-first":
                decisions.reverse()
            if SIN == "in-one-message" and decisions:
                await context.write(b"".join(codec.answer(asked.id, lowest_card(asked), 1) for asked in decisions))
                continue
            for decision in decisions:
                await sinner.decide(decision)
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
    if SIN == "snoop":
        look_around()
    if SIN == "slow-start":
        await asyncio.sleep(AT)
    if SIN == "no-http":
        place = os.environ["ARENA_ADDRESS"].removeprefix("unix:")
        listener = await asyncio.start_unix_server(lambda _, writer: writer.write(b"what do you want? " * 100), place)
        await listener.serve_forever()
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
