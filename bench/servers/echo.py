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


class _Raw(asyncio.Protocol):
    """Messages of four bytes of length and a body; each body is a framed decision."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        data = self._rest + data
        start = 0
        while len(data) - start >= 4:
            size = int.from_bytes(data[start : start + 4], "big")
            if len(data) - start - 4 < size:
                break
            reply = _answers(data[start + 4 : start + 4 + size])
            self._transport.write(len(reply).to_bytes(4, "big") + reply)
            start += 4 + size
        self._rest = data[start:]


async def serve_raw(path: str) -> None:
    """The same over a plain socket."""
    server = await asyncio.get_running_loop().create_unix_server(_Raw, path)
    await server.serve_forever()


if __name__ == "__main__":
    form, where = sys.argv[1:]
    asyncio.run(serve_grpc(where) if form == "grpc" else serve_raw(where))
