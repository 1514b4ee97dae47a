"""A bot that does what a file says: `scripted.py FILE`, served at ARENA_ADDRESS, for one stream after another.

FILE holds, as JSON, the answers of each match in order (an action's number, or 0 for a fault) by the first 16
characters of the match's id.  It is read anew for each stream.  Bare gRPC: nothing of the SDK stands between.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import grpc
from grpc import aio

from arena.wire import codec, stubs

FILE = Path(sys.argv[1])


async def play(request: object, context: aio.ServicerContext[bytes, bytes]) -> None:
    scripts = {match: iter(answers) for match, answers in json.loads(FILE.read_text()).items()}
    while isinstance(message := await context.read(), bytes):
        asked = [event for event in codec.events(message) if isinstance(event, codec.Decision)]
        if asked:
            await context.write(b"".join(codec.answer(each.id, next(scripts[each.match_id[:16]]), 0) for each in asked))


async def describe(request: bytes, context: aio.ServicerContext[bytes, bytes]) -> bytes:
    return codec.describe_response_bytes(
        codec.BotDescription(
            protocol_major=stubs.PROTOCOL_MAJOR,
            protocol_minor=stubs.PROTOCOL_MINOR,
            name="scripted",
            version="1",
            plays=True,
            refusal="",
            waives_before_draw=False,
            decisions_at_once=0,
        )
    )


async def main() -> None:
    server = aio.server()
    handlers = {
        stubs.DESCRIBE_METHOD: grpc.unary_unary_rpc_method_handler(describe),
        stubs.PLAY_METHOD: grpc.stream_stream_rpc_method_handler(play),
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(stubs.SERVICE, handlers),))
    server.add_insecure_port(os.environ["ARENA_ADDRESS"])
    await server.start()
    await server.wait_for_termination()


asyncio.run(main())
