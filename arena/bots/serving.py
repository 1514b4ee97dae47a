"""A bot that is run for a person: at an address of their choice, by itself, until it is told to end."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress

from grpc import aio

from arena.bots.channel import connect
from arena.bots.launcher import arena_marker, environment
from arena.bots.manifest import BotSpec, checked_address
from arena.errors import UnfitBot, UsageError
from arena.wire.remote import is_local

MARKER = "arena-serve"
STOP_S = 2.0
"""How long it may take to end."""


def own_address(address: str) -> str:
    """An address of this machine, a path in it made absolute.  Raises `UsageError` for any other."""
    path = address.removeprefix("unix:")
    if path != address:
        if not path:
            raise UsageError("--address is 'unix:'; expected a path behind it, such as unix:bot.sock")
        return f"unix:{os.path.abspath(path)}"
    if not is_local(checked_address(address, "--address")):
        raise UsageError(
            f"--address {address} is open to other machines, where nothing is said in plain text; expected one of this "
            "machine, such as 127.0.0.1:6600 or unix:bot.sock (for an arena elsewhere: docs/remote.md)"
        )
    return address


async def serve(spec: BotSpec, address: str, start_s: float, ready: Callable[[], object]) -> None:
    """Run a bot that serves at `unix:/path` or `host:port`, again whenever it has ended well; until it is cancelled.

    It writes where this process does, and is held by no sandbox.  `ready` is called whenever it can be reached.
    Raises `UnfitBot` where it cannot be started, does not serve in time, or fails.
    """
    while True:
        try:
            process = await asyncio.create_subprocess_exec(
                *spec.run,
                cwd=spec.cwd,
                env={**environment(arena_marker(MARKER)), "HOME": os.path.expanduser("~"), "ARENA_ADDRESS": address},
                start_new_session=True,  # Ctrl-C is for us, and then we end it
            )
        except OSError as error:
            raise UnfitBot(f"bot {spec.name!r} cannot be executed: {spec.run[0]}: {error.strerror}") from None
        ended = asyncio.ensure_future(process.wait())
        try:
            await _reached(spec, address, start_s, ended)
            ready()
            status = await asyncio.shield(ended)
        finally:
            if not ended.done():
                await _end(process, ended)
        if status:
            raise UnfitBot(f"bot {spec.name!r} ended with status {status}; what it wrote stands above")


async def _reached(spec: BotSpec, address: str, start_s: float, ended: asyncio.Future[int]) -> None:
    connection: aio.Channel = connect(address)
    reaching = asyncio.ensure_future(connection.channel_ready())
    try:
        await asyncio.wait((reaching, ended), timeout=start_s, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            raise UnfitBot(
                f"bot {spec.name!r} ended with status {ended.result()} before it served at {address}; "
                "what it wrote stands above"
            )
        if not reaching.done():
            raise UnfitBot(f"bot {spec.name!r} did not listen at ARENA_ADDRESS within {start_s:.0f} s")
    finally:
        reaching.cancel()
        await asyncio.gather(reaching, return_exceptions=True)
        await connection.close()


async def _end(process: asyncio.subprocess.Process, ended: asyncio.Future[int]) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
    done, _ = await asyncio.wait((ended,), timeout=STOP_S)
    if not done:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        await ended
