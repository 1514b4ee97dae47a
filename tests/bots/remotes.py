"""Bots that run on their own at a port, as their authors would start them, and a line to them that can be cut."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import psutil

from arena.app.certs import MadeKeys, make_keys

PATIENCE_S = 60.0
"""Nothing is measured against it: it only ends a test that hangs."""
LOWEST = """
from arena.bot import serve

def choose(view):
    return view.plays[0] if view.plays else view.legal[-1]

serve(choose, waives_before_draw=True)
"""
WITH_A_GATE = """
import os, time
from arena.bot import serve

asked = 0

def choose(view):
    global asked
    asked += 1
    with open("asked", "a") as log:
        print(view._decision.id, view.match_id, view.resumed, view.time_left_ms, file=log)
    if asked == 3 and not os.path.exists("second-life"):
        while not os.path.exists("gate"):
            time.sleep(0.01)
    return view.plays[0] if view.plays else view.legal[-1]

serve(choose, waives_before_draw=True)
"""
"""At its third decision it waits until somebody makes the file `gate`; `asked` holds what it was asked."""

TWICE = """
from arena.wire import codec

answer = codec.answer
codec.answer = lambda *words: answer(*words) * 2
"""
"""In front of any bot: it gives each of its answers twice."""


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def until(holds: Callable[[], object]) -> None:
    """Wait for something that is going to happen."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


class Remote:
    """A bot of the SDK at a port of this machine."""

    def __init__(
        self,
        folder: Path,
        source: str = LOWEST,
        *,
        keys: Path | None = None,
        port: int | None = None,
        words: tuple[str, ...] = (),
    ) -> None:
        self.folder = folder
        self.port = port or free_port()
        self.address = f"127.0.0.1:{self.port}"
        self._words = words if keys is None else (*words, "--keys", str(keys))
        folder.mkdir(exist_ok=True)
        (folder / "bot.py").write_text(source, encoding="utf-8")
        self.start()

    def start(self) -> None:
        """Start its process, again if it was killed."""
        environment = {name: value for name, value in os.environ.items() if name != "ARENA_ADDRESS"}
        environment["PYTHONPATH"] = str(Path(__file__).parents[2])
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "bot.py", "--listen", self.address, *self._words],
                cwd=self.folder,
                env=environment,
                stdout=log,
                stderr=log,
            )

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def __enter__(self) -> Remote:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def serves(self) -> bool:
        """Whether it listens by now."""
        listening = psutil.Process(self.process.pid).net_connections("tcp")
        return any(connection.status == psutil.CONN_LISTEN for connection in listening)

    def said(self) -> str:
        """All that it has printed and logged."""
        return (self.folder / "log").read_text(encoding="utf-8")

    def asked(self) -> list[tuple[int, str, bool, int]]:
        """What a bot `WITH_A_GATE` was asked: id, match, whether again, time left in milliseconds."""
        path = self.folder / "asked"
        lines = path.read_text().splitlines() if path.exists() else []
        words = [line.split() for line in lines if line.count(" ") == 3]
        return [(int(id), match, again == "True", int(left)) for id, match, again, left in words]


class Line:
    """A TCP connection to a bot at a port that can be cut and mended; it runs in a thread of its own."""

    def __init__(self, target: int, delay_s: float = 0.0) -> None:
        self._target = target
        self._delay_s = delay_s
        """How long everything is on its way, in each direction."""
        self._loop = asyncio.new_event_loop()
        self._writers: set[asyncio.StreamWriter] = set()
        self._silent: set[asyncio.StreamWriter] = set()
        """Those to which nothing is passed on any more."""
        self._server: asyncio.Server | None = None
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.mend()

    def __enter__(self) -> Line:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def cut(self) -> None:
        """Drop every connection and let nobody in."""
        asyncio.run_coroutine_threadsafe(self._cut(), self._loop).result(PATIENCE_S)

    def mend(self) -> None:
        """Let people in again."""
        asyncio.run_coroutine_threadsafe(self._mend(), self._loop).result(PATIENCE_S)

    def silence(self) -> None:
        """From now on nothing more passes over the connections there are, and neither end is told."""
        self._loop.call_soon_threadsafe(lambda: self._silent.update(self._writers))

    async def _cut(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in self._writers:
            writer.transport.abort()

    async def _mend(self) -> None:
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", self.port)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        await asyncio.gather(self._copy(reader, far_writer), self._copy(far_reader, writer))

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while data := await reader.read(65536):
                if self._delay_s:
                    await asyncio.sleep(self._delay_s)
                if writer not in self._silent:
                    writer.write(data)
        except OSError:
            pass
        self._writers.discard(writer)
        if writer not in self._silent:
            writer.transport.abort()


def keys_for(folder: Path, address: str, name: str = "Far") -> MadeKeys:
    """New keys for a bot at an address."""
    return make_keys(folder, name, address, days=2)
