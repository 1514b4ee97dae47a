"""The other end of the bare forms: answers every decision with the same action, by stream, by call, or over a socket.

python echo.py grpc unix:/path
python echo.py raw /path
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

from arena.wire import codec, stubs

ACTION = 8


def _answers(message: bytes) -> bytes:
    """The answers to all decisions of a message, each as it is framed on the stream."""
    return b"".join(
        codec.answer(event.id, ACTION, 1) for event in codec.events(message) if isinstance(event, codec.Decision)
    )


async def serve_grpc(address: str) -> None:
    """A stream that answers message by message, and a call that answers one."""
    import grpc
    from grpc import aio

    async def play(requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
        async for message in requests:
            yield _answers(message)

    async def act(message: bytes, context: Any) -> bytes:
        return _answers(message)

    server = aio.server()
    handlers = {
        stubs.PLAY_METHOD: grpc.stream_stream_rpc_method_handler(play),
        "Act": grpc.unary_unary_rpc_method_handler(act),
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(stubs.SERVICE, handlers),))
    server.add_insecure_port(address)
    await server.start()
    await server.wait_for_termination()


async def serve_raw(path: str) -> None:
    """The same over a plain socket: four bytes of length and a body, both ways."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                size = int.from_bytes(await reader.readexactly(4), "big")
                reply = _answers(await reader.readexactly(size))
                writer.write(len(reply).to_bytes(4, "big") + reply)
        except asyncio.IncompleteReadError:
            writer.close()

    server = await asyncio.start_unix_server(answer, path)
    await server.serve_forever()


if __name__ == "__main__":
    form, where = sys.argv[1:]
    asyncio.run(serve_grpc(where) if form == "grpc" else serve_raw(where))
