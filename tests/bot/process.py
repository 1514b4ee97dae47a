"""A tiny arena for one bot process: real sockets, one call after another."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType

os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

import grpc

from arena.game.rules import Rules
from arena.wire import codec, stubs
from tests.wire.positions import questions

PATIENCE_S = 60.0
"""Nothing is measured against it: it only ends a test that hangs."""
FACTS = list(questions(Rules(), deals=4))


def decision(id: int, match_id: str = "m", *, time_left_ms: int = 0) -> bytes:
    """A framed decision; the same id asks the same question."""
    facts = FACTS[id % len(FACTS)]
    return codec.decision(facts, match_id=match_id, id=id, deal=1, time_left_ms=time_left_ms, last_took_ms=0)


def lowest(id: int) -> int:
    """The lowest legal action of that decision."""
    legal = FACTS[id % len(FACTS)].legal
    return (legal & -legal).bit_length() - 1


class Process:
    """A bot process and its folder, which is its working directory too."""

    def __init__(self, source: str, address: str | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bot-"))  # short: a socket's path has at most 107 bytes
        self.address = address or f"unix:{self.folder / 'socket'}"
        script = self.folder / "anna.py"
        script.write_text(source, encoding="utf-8")
        self.log = self.folder / "log"
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(script)],
                cwd=self.folder,
                env={**os.environ, "ARENA_ADDRESS": self.address, "PYTHONPATH": os.pathsep.join(sys.path)},
                stdout=log,
                stderr=log,
            )
        self._channel = grpc.insecure_channel(self.address)

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._channel.close()
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self.folder)

    def describe(self, request: bytes | None = None) -> codec.BotDescription:
        """The handshake; waits until the bot serves.  Raises `grpc.RpcError`."""
        call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = self._channel.unary_unary(stubs.DESCRIBE)
        sent = codec.describe_request(Rules(), "sixty-six") if request is None else request
        return codec.describe_response(call(sent, timeout=PATIENCE_S, wait_for_ready=True))

    def play(self) -> Stream:
        """A new Play stream."""
        return Stream(self._channel)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self._process.terminate()

    def exit_code(self) -> int:
        """Wait for the end; negative: the signal that killed it."""
        return self._process.wait(PATIENCE_S)

    def said(self) -> str:
        """All that the bot has printed and logged."""
        return self.log.read_text(encoding="utf-8")

    def wait_until_it_says(self, words: str) -> str:
        """All that it has said, once that is among it."""
        deadline = time.monotonic() + PATIENCE_S
        while words not in (said := self.said()):
            assert time.monotonic() < deadline, f"it never said {words!r}, but: {said}"
            time.sleep(0.02)
        return said


class Stream:
    """The arena's end of a Play stream."""

    def __init__(self, channel: grpc.Channel, metadata: tuple[tuple[str, str], ...] = ()) -> None:
        self._requests: SimpleQueue[bytes | None] = SimpleQueue()
        play: grpc.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(stubs.PLAY)
        outgoing: Iterator[bytes] = iter(self._requests.get, None)
        self._call = play(outgoing, timeout=PATIENCE_S, metadata=metadata)

    def send(self, *items: bytes) -> None:
        """One message."""
        self._requests.put(b"".join(items))

    def receive(self) -> list[codec.Answer]:
        """The answers of the next message."""
        return codec.answers(next(self._call))

    def messages(self, answers: int) -> list[list[codec.Answer]]:
        """The next messages, until they hold so many answers."""
        received: list[list[codec.Answer]] = []
        while sum(map(len, received)) < answers:
            received.append(self.receive())
        return received

    def ask(self, id: int) -> codec.Answer:
        """A decision and its answer."""
        self.send(decision(id))
        (answer,) = self.receive()
        assert answer.id == id
        return answer

    def end(self) -> Sequence[list[codec.Answer]]:
        """Close the arena's side; returns what still comes until the bot closes its own."""
        self._requests.put(None)
        return [codec.answers(message) for message in self._call]

    def cancel(self) -> None:
        """Break it off."""
        self._call.cancel()
        self._requests.put(None)
