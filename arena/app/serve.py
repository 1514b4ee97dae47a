"""One bot at an address of this machine, for whoever wants to try calls by hand."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from arena.app.data import BUILDS
from arena.app.sandboxes import chosen
from arena.bots import serving
from arena.bots.build import BuildError, Builds
from arena.bots.launcher import arena_marker, sweep
from arena.bots.manifest import BotSpec, resolve
from arena.errors import UnfitBot, UsageError
from arena.tournament.config import LeastSandbox


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What the command line says."""

    bot: str
    address: str
    """`host:port` of this machine, or `unix:PATH`."""
    data: Path
    """Where builds are kept."""
    allow_build_network: bool = False
    start_s: float = 10.0


async def serve(
    options: ServeOptions, ready: Callable[[str, str], object], building: Callable[[str], None] = lambda name: None
) -> None:
    """Run the bot until SIGINT or SIGTERM; `ready(name, address)` is called whenever it serves.

    Raises `UsageError`: no such bot, an address that others could reach, a bot that does not serve.
    """
    spec = resolve(options.bot, base=Path.cwd())
    if spec.remote:
        raise UsageError(f"bot {spec.name!r} runs elsewhere and serves already, at {spec.address}")
    address = serving.own_address(options.address)
    sweep(serving.MARKER)
    spec = await _built(spec, options, building)
    running = asyncio.ensure_future(serving.serve(spec, address, options.start_s, lambda: ready(spec.name, address)))
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, running.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await running


async def _built(spec: BotSpec, options: ServeOptions, building: Callable[[str], None]) -> BotSpec:
    if not spec.build:
        return spec
    sandbox = await asyncio.to_thread(chosen, LeastSandbox.AUTO, "arena serve", {spec.name: spec}, options.data)
    marker = arena_marker(serving.MARKER)
    network = options.allow_build_network
    try:
        return await Builds(options.data / BUILDS, sandbox, marker, network=network, told=building).built(spec)
    except BuildError as error:
        raise UnfitBot(f"bot {spec.name!r} cannot play: {error}") from None
