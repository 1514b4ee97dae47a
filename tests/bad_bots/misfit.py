"""A bot that plays its lowest card and is wrong in one thing that `arena check` looks for: `misfit.py SIN`.

Without an arena, `misfit.py --folder FOLDER SIN ...` serves each of them at a unix socket of its name.  A sin called
like a kind of question is an action that is not legal there.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import grpc
from grpc import aio

from arena.cards import CLAIM, DISTINCT
from arena.game.presets import PRESETS
from arena.game.questions import Kind, kind_of
from arena.game.scoring import Termination
from arena.game.views import View
from arena.match.rulings import Fault
from arena.wire import codec, stubs

PLAYS = ("schnapsen", "pagat")
"""Between them they ask every kind of question."""
KINDS = frozenset(Kind)
SLEEPER = "import time; time.sleep(600)"


def lowest(view: View) -> int:
    cards = view.legal & DISTINCT
    return (cards & -cards).bit_length() - 1 if cards else view.legal.bit_length() - 1


class Misfit:
    """One sin, at one address."""

    def __init__(self, sin: str) -> None:
        self.sin = sin
        self.open = 0
        """Streams."""

    async def describe(self, request: bytes, context: aio.ServicerContext[bytes, bytes]) -> bytes:
        asked = codec.describe_request_of(request)
        newer = asked.protocol_major > stubs.PROTOCOL_MAJOR
        if self.sin == "describe":
            raise RuntimeError("I have no words")
        plays = asked.rules in [PRESETS[name] for name in PLAYS] and (not newer or self.sin == "next-major")
        return codec.describe_response_bytes(
            codec.BotDescription(
                protocol_major=2 if self.sin == "version" else stubs.PROTOCOL_MAJOR,
                protocol_minor=stubs.PROTOCOL_MINOR,
                name=" " if self.sin == "name" else "misfit",
                version="1",
                plays=plays and not (self.sin == "describe-later" and b"later" in request),
                refusal="" if plays or self.sin == "rules" else "only what I know",
                waives_before_draw=False,
                decisions_at_once=0,
                streams=3 if self.sin == "capacity" else 1,
            )
        )

    async def play(self, _: object, context: aio.ServicerContext[bytes, bytes]) -> None:
        self.open += 1
        try:
            if self.sin == "capacity" and self.open > 1:
                await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "one is enough")
            await self.answer_all(context)
        except EOFError:
            pass
        finally:
            self.open -= 1
            if self.sin == "stream-closed":  # whether it sees the end of the messages first or that it is cut off
                os._exit(3)

    async def answer_all(self, context: aio.ServicerContext[bytes, bytes]) -> None:
        """Until the stream is closed, by the arena or (`EOFError`) by the bot."""
        ids: set[int] = set()
        asked: set[str] = set()
        while isinstance(message := await context.read(), bytes):
            decisions = 0
            if (self.sin == "unknown-fields" and b"later" in message) or (
                self.sin == "full-message" and len(message) > 200_000
            ):
                raise EOFError
            for event in codec.events(message):
                match self.sin, event:
                    case "matches", codec.MatchEnded(score=score) if any(score):
                        raise EOFError
                    case "unasked-deal", codec.DealEnded(match_id, termination=Termination()) if match_id not in asked:
                        raise EOFError
                    case "withdrawn", codec.Withdrawn(reason=codec.WithdrawnReason.LATE):
                        raise EOFError
                    case "fault", codec.FaultNotice(kind=Fault.ILLEGAL, text=text) if len(text) < 100:
                        raise EOFError
                if isinstance(event, codec.Decision):
                    asked.add(event.match_id)
                    decisions += 1
                    if self.sin == "same-id" and event.id in ids:
                        raise EOFError
                    ids.add(event.id)
                    await self.decide(event, context, decisions)

    async def decide(self, decision: codec.Decision, context: aio.ServicerContext[bytes, bytes], number: int) -> None:
        view = decision.view
        kind = kind_of(view)
        action, error = lowest(view), ""
        not_legal = next(card for card in range(1, 33) if not view.legal >> card & 1)
        match self.sin:
            case sin if sin == kind and len(view.past_actions) < LONGEST:
                action = not_legal
            case "claim-out-of-turn" if kind is Kind.FREE_FOLLOW:
                action = CLAIM
            case "crash-on-close" if kind is Kind.ON_CLOSE:
                raise EOFError
            case "answers":
                action, error = 0, "Traceback:\n  somewhere\nValueError: I cannot"
            case "many-matches" if number > 40:
                action = not_legal
            case "resumed" if decision.resumed:
                action = not_legal
            case "long-history" if len(view.past_actions) == LONGEST and decision.deal == 1 and any(view.score):
                action = not_legal
            case "unknown-numbers" if view.legal >> 41:
                action = 41
            case "in-time" if kind is Kind.ON_CLOSE:
                return
            case "time-use" if kind is Kind.ON_CLOSE:
                await asyncio.sleep(0.6)
            case "repeatable":
                cards = [card for card in range(1, 33) if view.legal >> card & 1]
                action = cards[os.urandom(1)[0] % len(cards)] if cards else action
            case "output":
                print("thinking about", decision.id, flush=True)
            case "files":
                (Path.cwd().parent / "notes.txt").write_text(f"{os.getpid()} {decision.id}\n")
        answer = codec.answer(decision.id, action, 1, error)
        await context.write(answer * 2 if self.sin == "answers-once" else answer)


LONGEST = 29
"""How many actions the position holds that is tried for a long history, under the first of the presets."""


async def serve(misfit: Misfit, address: str) -> aio.Server:
    server = aio.server()
    handlers: dict[str, Any] = {
        stubs.DESCRIBE_METHOD: grpc.unary_unary_rpc_method_handler(misfit.describe),
        stubs.PLAY_METHOD: grpc.stream_stream_rpc_method_handler(misfit.play),
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(stubs.SERVICE, handlers),))
    server.add_insecure_port(address)
    await server.start()
    return server


async def main() -> None:
    if sys.argv[1] == "--folder":
        folder, *sins = sys.argv[2:]
        servers = [await serve(Misfit(sin), f"unix:{folder}/{sin}") for sin in sins]
        print("ready", flush=True)
        await servers[0].wait_for_termination()
    misfit = Misfit(sys.argv[1])
    loop = asyncio.get_running_loop()

    def end() -> None:
        """That a stream was closed just before may be seen a little later."""
        loop.call_later(1, lambda: os._exit(3 if misfit.open else 0))

    match misfit.sin:
        case "start":
            sys.exit("no such model file")
        case "children":
            subprocess.Popen([sys.executable, "-c", SLEEPER], start_new_session=True)
        case "sigterm":
            loop.add_signal_handler(signal.SIGTERM, end)
        case "stream-closed":
            loop.add_signal_handler(signal.SIGTERM, lambda: loop.call_later(1, os._exit, 0))
        case "deaf":
            loop.add_signal_handler(signal.SIGTERM, lambda: None)
    server = await serve(misfit, os.environ["ARENA_ADDRESS"])
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(main())
