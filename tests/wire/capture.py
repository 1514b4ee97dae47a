"""What the arena writes to a bot's socket: a tap that passes every byte on and keeps it, and how to read that."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from arena.wire.stubs import PLAY

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _PADDED = 0, 1, 0x8


@dataclass(slots=True)
class Tap:
    """A socket in front of a bot's; `connections` holds what came over each, in order."""

    address: str
    connections: list[bytearray] = field(default_factory=list)


@contextlib.asynccontextmanager
async def tap(place: Path, bot: Path) -> AsyncIterator[Tap]:
    """A tap at `place` for the bot that listens at `bot`."""
    found = Tap(f"unix:{place}")
    tasks: list[asyncio.Task[None]] = []

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.connections.append(kept := bytearray())
        tasks.append(asyncio.create_task(_pass_on(bot, reader, writer, kept)))

    server = await asyncio.start_unix_server(accept, place)
    try:
        yield found
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pass_on(bot: Path, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: bytearray) -> None:
    from_bot, to_bot = await asyncio.open_unix_connection(bot)
    try:
        await asyncio.gather(_pump(reader, to_bot, kept), _pump(from_bot, writer, None))
    finally:
        to_bot.close()
        writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: bytearray | None) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            if kept is not None:
                kept += data
            writer.write(data)
            await writer.drain()
        writer.write_eof()


# -- reading it --------------------------------------------------------------------------------------------------------


class Stream(NamedTuple):
    """One call of a connection."""

    headers: bytes
    """As they were sent, compressed."""
    messages: list[bytes]


def play_stream(connections: Iterable[bytes]) -> Stream:
    """The call of `Play`; empty if there was none yet.  HTTP/2's own bookkeeping (windows, pings) is left out.

    A connection that came to nothing was tried again: the call is on one of them.
    """
    for connection in connections:
        headers: dict[int, bytes] = defaultdict(bytes)
        data: dict[int, bytearray] = defaultdict(bytearray)
        for number, kind, content in _frames(bytes(connection)):
            if kind == _DATA:
                data[number] += content
            elif kind == _HEADERS:
                headers[number] += content
        for number, sent in headers.items():
            if PLAY.encode() in sent:
                return Stream(sent, list(_messages(bytes(data[number]))))
    return Stream(b"", [])


def _frames(connection: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Of each frame: its stream, kind and content."""
    assert connection[: len(_PREFACE)] == _PREFACE[: len(connection)]
    at = len(_PREFACE)
    while at + 9 <= len(connection):
        size, kind, flags = int.from_bytes(connection[at : at + 3], "big"), connection[at + 3], connection[at + 4]
        assert kind not in (_DATA, _HEADERS) or not flags & _PADDED, "a frame is padded"
        yield int.from_bytes(connection[at + 5 : at + 9], "big"), kind, connection[at + 9 : at + 9 + size]
        at += 9 + size


def _messages(data: bytes) -> Iterator[bytes]:
    """Those that have come whole."""
    at = 0
    while at + 5 <= len(data):
        assert data[at] == 0, "a message is compressed"
        size = int.from_bytes(data[at + 1 : at + 5], "big")
        at += 5 + size
        if at <= len(data):
            yield data[at - size : at]


def fields(message: bytes) -> list[tuple[int, bytes]]:
    """The fields of a protobuf message in the order in which they stand: number and bytes (of a number: its varint)."""
    found: list[tuple[int, bytes]] = []
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        start = at
        size, at = _varint(message, at)
        match tag & 7:
            case 0:
                value = message[start:at]
            case 2:
                value = message[at : at + size]
                at += size
            case other:
                raise AssertionError(f"wire type {other} is not used by the protocol")
        found.append((tag >> 3, value))
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value, at
        shift += 7
