"""A bot that plays its lowest card and, from its N-th decision on, commits one sin: `sinner.py SIN [N]`.

Written on bare gRPC, since the SDK would not let it.  `honest` is no sin.  A wrong action (`WRONG`) waits for the first
decision that it is wrong at, a method of `Sinner` is committed at the N-th, all others as soon as the process starts,
or in how it answers at all.  `always-SIN` goes on with it, `once-SIN` commits it only before the bot has died for the
first time.  What they are to cost is in `sins.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import grpc
from grpc import aio

from arena.cards import CLAIM, CLOSE, DECLARE, DISTINCT, EXCHANGE, GO_ON, Card, Suit, hand_cards
from arena.game.views import DecisionPoint, View
from arena.wire import codec, stubs

SIN = sys.argv[1]
AT = float(sys.argv[2]) if len(sys.argv) > 2 else 3
NAME = SIN.removeprefix("always-").removeprefix("once-")
FIRST_LIFE = os.environ["ARENA_ADDRESS"].endswith(".0")
DEAF_CHILD = "import os, signal, time; os.setsid(); signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


def lowest_card(view: View) -> int:
    """The lowest card, and "go on" where no card is asked for."""
    lowest = (view.legal & -view.legal).bit_length() - 1
    return lowest if lowest <= 32 else view.legal.bit_length() - 1


# -- wrong actions -----------------------------------------------------------------------------------------------------


def leads(view: View) -> bool:
    return view.point is DecisionPoint.ON_LEAD


def follows(view: View) -> bool:
    return view.point is DecisionPoint.FOLLOW


def holds_pair(view: View, suit: Suit) -> bool:
    return all(view.hand >> Card.parse(f"{rank}{suit}") & 1 for rank in "KQ")


def first(cards: int) -> int | None:
    """The lowest card of a mask."""
    cards &= DISTINCT
    return (cards & -cards).bit_length() - 1 if cards else None


def marriage(view: View, *, paired: bool) -> int | None:
    """The marriage of the first suit of which the hand has the pair, or has not."""
    return next((DECLARE[suit] for suit in Suit if holds_pair(view, suit) is paired), None)


def gone(view: View) -> int | None:
    """A card that this seat has played before."""
    mine = zip(view.past_seats, view.past_actions, strict=True)
    return next((action for seat, action in mine if seat == view.seat and action <= 32), None)


WRONG: Mapping[str, Callable[[View], int | None]] = {
    "illegal": lambda view: next(number for number in range(1, 33) if not view.legal >> number & 1),
    "unspecified": lambda view: 0,
    "unknown-number": lambda view: 9999,
    "next-number": lambda view: GO_ON + 1,
    "negative-number": lambda view: -1,
    "largest-number": lambda view: (1 << 31) - 1,
    "card-of-no-deck": lambda view: Card.parse("7S"),
    "card-not-held": lambda view: view.turn_up or None,
    "card-of-the-table": lambda view: view.table[0] if view.table else None,
    "card-played-before": gone,
    "revoke": lambda view: first(view.hand & ~view.legal) if follows(view) else None,
    "card-before-the-draw": lambda view: first(view.hand) if view.point is DecisionPoint.BEFORE_DRAW else None,
    "card-on-a-close": lambda view: first(view.hand) if view.point is DecisionPoint.ON_CLOSE else None,
    "card-after-the-last-trick": lambda view: gone(view) if view.point is DecisionPoint.AFTER_LAST_TRICK else None,
    "other-card-than-declared": lambda view: first(view.hand & ~view.bound) if view.bound else None,
    "marriage-without-the-pair": lambda view: marriage(view, paired=False) if leads(view) else None,
    "marriage-off-lead": lambda view: marriage(view, paired=True) if follows(view) else None,
    "marriage-before-a-trick": lambda view: (
        marriage(view, paired=True) if leads(view) and not view.tricks[view.seat] else None
    ),
    "marriage-twice": lambda view: (
        next((DECLARE[card.suit] for card in hand_cards(view.bound)), None) if view.bound else None
    ),
    "exchange-without-the-card": lambda view: (
        EXCHANGE if leads(view) and not view.legal >> EXCHANGE & 1 and view.talon > 2 else None
    ),
    "exchange-off-lead": lambda view: EXCHANGE if follows(view) else None,
    "exchange-after-a-close": lambda view: EXCHANGE if leads(view) and view.closer is not None else None,
    "exchange-on-a-close": lambda view: (
        EXCHANGE if view.point is DecisionPoint.ON_CLOSE and not view.legal >> EXCHANGE & 1 else None
    ),
    "close-off-lead": lambda view: CLOSE if follows(view) else None,
    "close-twice": lambda view: CLOSE if leads(view) and view.closer == view.seat else None,
    "close-too-late": lambda view: CLOSE if leads(view) and view.talon == 0 else None,
    "go-on-unasked": lambda view: GO_ON if leads(view) else None,
    "claim-out-of-turn": lambda view: CLAIM if follows(view) else None,
    "claim-before-a-trick": lambda view: CLAIM if leads(view) and not view.winners else None,
    "claim-falsely": lambda view: CLAIM if leads(view) and view.legal >> CLAIM & 1 else None,
}
"""By sin, the action that a seat may not do where it sees this (`claim-falsely`: may, to its loss); None: it may."""

PREPARED: Mapping[str, Callable[[View], int | None]] = {
    "close-twice": lambda view: CLOSE,
    "exchange-after-a-close": lambda view: CLOSE,
    "marriage-twice": lambda view: marriage(view, paired=True),
    "other-card-than-declared": lambda view: marriage(view, paired=True),
    "close-always": lambda view: CLOSE,
}
"""What is done first, wherever it is legal, to get into a position to sin (`close-always`: to bring others there)."""


# -- anything else -----------------------------------------------------------------------------------------------------


class Sinner:
    """One stream's worth of behaviour: decisions in, bytes out."""

    def __init__(self, context: aio.ServicerContext[bytes, bytes]) -> None:
        self.context = context
        self.write: Callable[[bytes], Any] = context.write
        self.count = 0
        self.first_id = 0
        self.sinned = False
        """A wrong action is done once."""
        self.held = b""
        self.message = b""
        """The message that is being answered."""

    async def decide(self, decision: codec.Decision) -> None:
        self.count += 1
        self.first_id = self.first_id or decision.id
        good = codec.answer(decision.id, lowest_card(decision.view), 1)
        repents = SIN.startswith("once-") and not FIRST_LIFE
        wrong = WRONG[NAME](decision.view) if NAME in WRONG and self.count >= AT and not self.sinned else None
        if wrong is not None:
            self.sinned = True
            await self.write(codec.answer(decision.id, wrong, 1))
            return
        if NAME in PREPARED and (first := PREPARED[NAME](decision.view)) and decision.view.legal >> first & 1:
            good = codec.answer(decision.id, first, 1)
        sin = getattr(self, NAME.replace("-", "_"), None)
        now = self.count == AT or (SIN.startswith("always-") and self.count >= AT)
        await (sin(decision, good) if sin is not None and now and not repents else self.write(good))

    # What is no answer, or more than one.

    async def error(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(decision.id, 0, 1, error="Traceback: I cannot go on"))

    async def error_and_action(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(decision.id, lowest_card(decision.view), 1, error="take it or leave it"))

    async def rude_error(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(decision.id, 0, 1, error="\x1b[2J\0\u202e[bold]boo[/bold]\r\n| a | b |"))

    async def long_error(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(decision.id, 0, 1, error="it began so: " + "x" * 900_000))

    async def garbage(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(b"\xff\xff\xff\xff")

    async def truncated(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(good[:-1])

    async def bad_utf8(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(decision.id, 0, 1, error="????").replace(b"????", b"\xff\xfe\xff\xfe"))

    async def nested(self, decision: codec.Decision, good: bytes) -> None:
        """A hundred thousand groups, each begun in the one before."""
        await self.write(b"\x7b" * 100_000)

    async def echo(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(self.message)

    async def unknown_field(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(b"\x92\x3f\x03abc" + good)

    async def boast(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(decision.id, lowest_card(decision.view), (1 << 32) - 1))

    async def twice(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(good + good)

    async def twice_otherwise(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(good + codec.answer(decision.id, 0, 1, error="I have changed my mind"))

    async def foreign(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(decision.id + 1000, lowest_card(decision.view), 1) + good)

    async def no_id(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(0, lowest_card(decision.view), 1) + good)

    async def first_again(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(self.first_id, lowest_card(decision.view), 1) + good)

    async def ahead(self, decision: codec.Decision, good: bytes) -> None:
        """To what it has not been asked yet; where that is taken for an answer, it is a wrong one."""
        await self.write(b"".join(codec.answer(decision.id + n, 0, 1) for n in range(1, 20)) + good)

    async def empty(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(b"")
        await self.write(good)

    async def heartbeat(self, decision: codec.Decision, good: bytes) -> None:
        while True:
            await self.write(b"")
            await asyncio.sleep(0.02)

    async def huge(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(decision.id, 0, 1, error="x" * (3 << 20)))

    async def hundred_megabytes(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(codec.answer(decision.id, 0, 1, error="x" * (100 << 20)))

    async def bomb(self, decision: codec.Decision, good: bytes) -> None:
        """Small on the wire, 20 MB once it is unpacked: see `play`."""
        await self.write(codec.answer(decision.id, 0, 1, error="x" * (20 << 20)))

    async def flood(self, decision: codec.Decision, good: bytes) -> None:
        for number in range(5000):
            await self.write(codec.answer(1_000_000 + number, 3, 1))

    async def flood_in_one(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(b"".join(codec.answer(1_000_000 + number, 3, 1) for number in range(80_000)))

    # Time.

    async def silent(self, decision: codec.Decision, good: bytes) -> None:
        pass

    async def late(self, decision: codec.Decision, good: bytes) -> None:
        """The answer comes as soon as the question is withdrawn."""
        self.held = good

    async def withdrawn(self) -> None:
        held, self.held = self.held, b""
        await self.write(held)

    async def late_for_another(self, decision: codec.Decision, good: bytes) -> None:
        """The answer comes with that to the next decision, which is one of another match."""

        async def write_both(other: bytes) -> None:
            self.write = self.context.write
            await self.write(good + other)

        self.write = write_both

    async def spend_and_fall_silent(self, decision: codec.Decision, good: bytes) -> None:
        """Two seconds for this decision, and no answer to the next."""
        await asyncio.sleep(2)
        await self.write(good)
        self.write = self.silence

    async def silence(self, good: bytes) -> None:
        self.write = self.context.write

    async def slow(self, decision: codec.Decision, good: bytes) -> None:
        await asyncio.sleep(0.6 * decision.time_left_ms / 1000)
        await self.write(good)

    async def overtime(self, decision: codec.Decision, good: bytes) -> None:
        """Late by far, but it answers: and so does the next decision, in time."""
        await asyncio.sleep(1.4)
        await self.write(good)
        await asyncio.sleep(0.5)

    async def deaf(self, decision: codec.Decision, good: bytes) -> None:
        await asyncio.Event().wait()

    async def freeze(self, decision: codec.Decision, good: bytes) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)

    async def block(self, decision: codec.Decision, good: bytes) -> None:
        """Not even its gRPC goes on."""
        time.sleep(600)

    # The stream.

    async def close(self, decision: codec.Decision, good: bytes) -> None:
        raise EOFError

    async def raises(self, decision: codec.Decision, good: bytes) -> None:
        raise RuntimeError("I did not expect that")

    async def abort(self, decision: codec.Decision, good: bytes) -> None:
        await asyncio.sleep(0.3)  # gRPC tells an arena that is just writing nothing of why
        await self.context.abort(grpc.StatusCode.CANCELLED, "I do not like it here")

    async def trailers(self, decision: codec.Decision, good: bytes) -> None:
        self.context.set_trailing_metadata([("why", "x" * 200_000)])
        raise EOFError

    async def go_away(self, decision: codec.Decision, good: bytes) -> None:
        """Its server ends, the process goes on."""
        asyncio.get_running_loop().create_task(SERVER.stop(None))
        await asyncio.sleep(600)

    # The process.

    async def leave(self, decision: codec.Decision, good: bytes) -> None:
        print("I am leaving", file=sys.stderr, flush=True)
        os._exit(0)

    async def crash(self, decision: codec.Decision, good: bytes) -> None:
        print("something broke", file=sys.stderr, flush=True)
        os._exit(17)

    async def kill(self, decision: codec.Decision, good: bytes) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    async def segfault(self, decision: codec.Decision, good: bytes) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)

    async def kill_its_keeper(self, decision: codec.Decision, good: bytes) -> None:
        os.kill(os.getppid(), signal.SIGKILL)

    async def think_and_crash(self, decision: codec.Decision, good: bytes) -> None:
        await asyncio.sleep(0.4)
        os._exit(17)

    async def wordy_crash(self, decision: codec.Decision, good: bytes) -> None:
        print("x" * 60_000 + " and this is why", file=sys.stderr, flush=True)
        os._exit(17)

    async def answer_and_leave(self, decision: codec.Decision, good: bytes) -> None:
        await self.write(good)
        os._exit(0)

    async def chatter(self, decision: codec.Decision, good: bytes) -> None:
        for _ in range(20_000):
            print("noise " * 20)
        await self.write(good)

    async def endless_line(self, decision: codec.Decision, good: bytes) -> None:
        for _ in range(100):
            sys.stderr.buffer.write(b"\xff\x00\x1b" * 10_000)
        await self.write(good)

    async def close_output(self, decision: codec.Decision, good: bytes) -> None:
        os.close(1)
        os.close(2)
        await self.write(good)

    async def hoard_files(self, decision: codec.Decision, good: bytes) -> None:
        with contextlib.suppress(OSError):
            while True:
                os.open("/dev/null", os.O_RDONLY)
        await self.write(good)

    async def unlink_socket(self, decision: codec.Decision, good: bytes) -> None:
        os.unlink(os.environ["ARENA_ADDRESS"].removeprefix("unix:"))
        await self.write(good)

    async def grandchild(self, decision: codec.Decision, good: bytes) -> None:
        with contextlib.suppress(OSError):  # a strong sandbox lets it have none
            subprocess.Popen([sys.executable, "-c", DEAF_CHILD], start_new_session=True)
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
    if NAME == "bomb":
        context.set_compression(grpc.Compression.Gzip)
    if NAME == "leave-at-once":
        os._exit(0)
    try:
        while isinstance(message := await context.read(), bytes):
            if NAME == "snoop":
                print(message, flush=True)
            sinner.message = message
            events = list(codec.events(message))
            decisions = [event for event in events if isinstance(event, codec.Decision)]
            if sinner.held and any(isinstance(event, codec.Withdrawn) for event in events):
                await sinner.withdrawn()
            if NAME == "last-first":
                decisions.reverse()
            if NAME == "in-one-message" and decisions:
                await context.write(b"".join(codec.answer(asked.id, lowest_card(asked.view), 1) for asked in decisions))
                continue
            for decision in decisions:
                await sinner.decide(decision)
    except EOFError:
        return
    if NAME == "hang-at-the-end":
        while True:
            time.sleep(1)


async def describe(request: bytes, context: aio.ServicerContext[bytes, bytes]) -> bytes:
    match NAME:
        case "silent-describe":
            await asyncio.sleep(600)
        case "garbage-describe":
            return b"\xff\xff\xff\xff"
        case "huge-describe":
            return codec.describe_response_bytes(description(refusal="x" * (3 << 20)))
        case "raise-at-describe":
            raise RuntimeError("I did not expect that")
        case "abort-describe":
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "I do not know you")
        case "refuse":
            return codec.describe_response_bytes(description(plays=False, refusal="only on Sundays"))
        case "refuse-without-a-word":
            return codec.describe_response_bytes(description(plays=False))
        case "other-version":
            return codec.describe_response_bytes(description(protocol_major=2))
        case "no-version":
            return b""
    return codec.describe_response_bytes(description())


def description(
    *, protocol_major: int = stubs.PROTOCOL_MAJOR, plays: bool = True, refusal: str = ""
) -> codec.BotDescription:
    return codec.BotDescription(
        protocol_major=protocol_major,
        protocol_minor=99 if NAME == "newer-version" else stubs.PROTOCOL_MINOR,
        name="sinner",
        version="1",
        plays=plays,
        refusal=refusal,
        waives_before_draw=NAME != "card-before-the-draw",
        decisions_at_once=1 if NAME.startswith(("slow", "late")) else 0,
        streams=2,
    )


async def no_server(place: str) -> None:
    """What a process does at its address instead of serving."""
    if NAME == "no-socket":
        await asyncio.sleep(600)
    words = {"no-http": b"what do you want? " * 100, "other-http": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}

    def meet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(words.get(NAME, b""))
        if NAME == "hang-up":
            writer.close()

    await (await asyncio.start_unix_server(meet, place)).serve_forever()


SERVER: aio.Server


async def main() -> None:
    global SERVER
    print("here I am", file=sys.stderr, flush=True)
    match NAME:
        case "not-starting":
            print("no such model file", file=sys.stderr, flush=True)
            sys.exit(3)
        case "snoop":
            look_around()
        case "done-at-once":
            return
        case "raise-at-start":
            raise ImportError("no module named torch")
        case "fork-away":
            if os.fork():
                os._exit(0)
        case "slow-start":
            await asyncio.sleep(AT)
        case "no-http" | "other-http" | "hang-up" | "accept-only" | "no-socket":
            await no_server(os.environ["ARENA_ADDRESS"].removeprefix("unix:"))
        case "ignore-term":
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: None)
    SERVER = aio.server()
    handlers: dict[str, Any] = {stubs.DESCRIBE_METHOD: grpc.unary_unary_rpc_method_handler(describe)}
    if NAME != "no-play":
        handlers[stubs.PLAY_METHOD] = grpc.stream_stream_rpc_method_handler(play)
    SERVER.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(stubs.SERVICE, handlers),))
    SERVER.add_insecure_port(os.environ["ARENA_ADDRESS"])
    await SERVER.start()
    await SERVER.wait_for_termination()
    if NAME == "go-away":
        await asyncio.sleep(600)


asyncio.run(main())
