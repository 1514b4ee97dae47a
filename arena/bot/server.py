"""The bot's gRPC server: the author's code runs on the main thread, the event loop on one beside it.

So an answer leaves while the next decision is still being thought about, however long that takes; answers that are
ready within about a millisecond leave together.
"""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any

import grpc
import grpc.aio

from arena.bot.keys import Place
from arena.bot.player import Player, log
from arena.errors import UsageError
from arena.wire import codec, stubs
from arena.wire.remote import SESSION, TOKEN, Tokens

COALESCE_S = 0.001
"""How long an answer waits for the next ones to be ready too."""
STOP_S = 1.0
"""How long the end may take once everything is answered."""
BREAK_S = 0.1
"""How long the arena has to hang up first where the process is told to end: calls cut off make noise at its end."""
SIGNAL_S = 0.25
"""How long a signal may go unnoticed that comes just before the main thread begins to wait."""
WATCH_S = 0.05
"""How often the time of the author's code is looked at."""

LINGER_S = 0.5
"""How long a process waits for a new call when its last stream has ended: one that breaks can look as if it ended."""
TAKEOVER_S = 3.0
"""How long a newcomer waits for a stream to end before it is refused: its own arena may just have hung up."""
REMOTE_OPTIONS = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.http2.ping_timeout_ms", 20_000),
    ("grpc.http2.max_pings_without_data", 0),
)
"""An arena that is gone without a word does not keep the others out."""

_Context = grpc.aio.ServicerContext[bytes, bytes]


class _Stop(BaseException):
    """The process was asked to end."""


class Stream:
    """One Play stream: answers from the main thread to the event loop's, at most one message under way."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.owed = 0
        """Decisions in the backlog.  The main thread's."""
        self.open = True
        """The arena still listens.  The event loop's."""
        self._loop = loop
        self._ready: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self._waiting = False
        """A timer runs, or is about to."""
        self._timer: asyncio.TimerHandle | None = None
        self._finished = False

    # -- called on the main thread --------------------------------------------------------------------------------

    def post(self, answer: bytes) -> None:
        """Send the answer: at once if no other decision is open, else with those ready soon."""
        self._ready.append(answer)
        if not self.owed:
            self._loop.call_soon_threadsafe(self._wake_now)
        elif not self._waiting:
            self._waiting = True
            self._loop.call_soon_threadsafe(self._wake_soon)

    def finish(self) -> None:
        """Everything is answered: end the stream once it is sent."""
        self._loop.call_soon_threadsafe(self._finish)

    # -- called on the event loop -----------------------------------------------------------------------------------

    def expect(self) -> None:
        """A message has come: what is answered by then leaves in a while, without a word from the other thread."""
        if not self._waiting:
            self._waiting = True
            self._wake_soon()

    async def write(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        """Write what is ready, whenever something is, until the stream is finished."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._ready:
                await write(self._message())
            if self._finished:
                return

    def _message(self) -> bytes:
        """As many answers as one message may hold."""
        items = [self._ready.popleft()]
        size = len(items[0])
        while self._ready and len(items) < stubs.MAX_ITEMS:
            size += len(self._ready[0])
            if size > stubs.MAX_MESSAGE_BYTES:
                break
            items.append(self._ready.popleft())
        return b"".join(items)

    def _wake_soon(self) -> None:
        self._timer = self._loop.call_later(COALESCE_S, self._wake_now)

    def _wake_now(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        # In this order: an answer that is posted in between finds a timer to start or is seen by the writer.
        self._waiting = False
        self._wake.set()

    def _finish(self) -> None:
        self._finished = True
        self._wake.set()


class Backlog:
    """What has come and is not done yet, in order; what was withdrawn meanwhile is gone."""

    def __init__(self) -> None:
        self._events: deque[tuple[Stream, codec.Event | None]] = deque()

    def __bool__(self) -> bool:
        return bool(self._events)

    def add(self, stream: Stream, message: bytes | None) -> None:
        """Take in a message as it came; None: the arena has ended the stream.  What is no message is left out."""
        if message is None:
            self._events.append((stream, None))
            return
        try:
            for event in codec.events(message):
                if isinstance(event, codec.Withdrawn):
                    self._withdraw(stream, event.id)
                else:
                    self._events.append((stream, event))
                    stream.owed += isinstance(event, codec.Decision)
        except codec.WireError as error:
            log(f"a message was left out: {error}")

    def pop(self) -> tuple[Stream, codec.Event | None]:
        """The next thing to do and the stream that it came by."""
        stream, event = self._events.popleft()
        stream.owed -= isinstance(event, codec.Decision)
        return stream, event

    def _withdraw(self, stream: Stream, id: int) -> None:
        for item in self._events:
            if item[0] is stream and isinstance(item[1], codec.Decision) and item[1].id == id:
                self._events.remove(item)
                stream.owed -= 1
                return


class Server:
    """Serves one player at one address."""

    def __init__(self, player: Player, place: Place) -> None:
        self._player = player
        self._place = place
        self._tokens = None if place.keys is None else Tokens(place.keys.token_key)
        self._inbox: SimpleQueue[tuple[Stream, bytes | None] | None] = SimpleQueue()
        """What came, for the main thread; None: there is nothing more to do."""
        self._loop = asyncio.new_event_loop()
        self._stopped = asyncio.Event()
        self._sessions: dict[asyncio.Task[None], str] = {}
        """The session of each stream that is open, by its task."""
        self._left = asyncio.Condition()
        """A stream has ended."""
        self._end: asyncio.TimerHandle | None = None
        """What ends the process where no other stream comes."""
        self._working = False
        """A signal may break in."""
        self._grace_s = BREAK_S
        """How long what is open may take to close, once the server stops."""
        self._unusable = ""
        """Why the address cannot be served at."""

    def run(self) -> None:
        """Play until the arena is done or the process is told to end.  Raises `UsageError` for a useless address."""
        thread = threading.Thread(target=self._run_loop, name="arena", daemon=True)
        handlers = {number: signal.signal(number, self._stop) for number in (signal.SIGTERM, signal.SIGINT)}
        thread.start()
        try:
            self._working = True
            self._work()
            self._grace_s = STOP_S
        except _Stop:
            pass
        finally:
            self._working = False
            self._loop.call_soon_threadsafe(self._stopped.set)
            thread.join(2 * STOP_S)
            for number, handler in handlers.items():
                signal.signal(number, handler or signal.SIG_DFL)
        if self._unusable:
            raise UsageError(self._unusable)

    # -- the main thread ------------------------------------------------------------------------------------------

    def _work(self) -> None:
        """One event after another, until there is nothing more to do."""
        backlog = Backlog()
        while True:
            # All that has come is looked at before the next decision: it may have been withdrawn.
            while not backlog or not self._inbox.empty():
                try:
                    arrived = self._inbox.get(timeout=SIGNAL_S)
                except Empty:
                    continue
                if arrived is None:
                    return
                backlog.add(*arrived)
            stream, event = backlog.pop()
            if event is None:
                stream.finish()
            elif stream.open or not isinstance(event, codec.Decision):
                answer = self._player.take(event)
                if answer is not None:
                    stream.post(answer)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self._working:
            self._working = False
            raise _Stop
        self._inbox.put(None)

    # -- the event loop -------------------------------------------------------------------------------------------

    def _run_loop(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._inbox.put(None)

    async def _serve(self) -> None:
        address, keys = self._place.address, self._place.keys
        local = address.startswith("unix:")
        server = grpc.aio.server(options=[("grpc.so_reuseport", 0), *(() if local else REMOTE_OPTIONS)])
        handlers: dict[str, Any] = {
            stubs.DESCRIBE_METHOD: grpc.unary_unary_rpc_method_handler(self._describe),
            stubs.PLAY_METHOD: grpc.stream_stream_rpc_method_handler(self._play),
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(stubs.SERVICE, handlers),))
        try:
            if keys is None:
                server.add_insecure_port(address)
            else:
                pair = (keys.key, keys.certificate)
                server.add_secure_port(address, grpc.ssl_server_credentials([pair], keys.arena_certificate, True))
        except RuntimeError:
            self._unusable = f"this bot cannot serve at {address!r}; it must be unix:/path or host:port, and free" + (
                "" if keys is None else ", and the files of --keys must be those that `arena certs` made"
            )
            return
        await server.start()
        watching = asyncio.create_task(self._watch())
        await self._stopped.wait()
        watching.cancel()
        await server.stop(self._grace_s)

    async def _watch(self) -> None:
        """Warn the author in time."""
        await asyncio.sleep(WATCH_S)
        from arena.bot.watch import Watch  # not before it serves: it starts sooner

        watch = Watch(self._player)
        while True:
            await asyncio.sleep(WATCH_S)
            if warning := watch.warning():
                log(warning)

    async def _describe(self, request: bytes, context: _Context) -> bytes:
        session = await self._session(context, stubs.DESCRIBE)
        await self._wait_for_room(context, session)
        try:
            return self._player.describe(request, busy=any(name != session for name in self._sessions.values()))
        except codec.WireError as error:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))

    async def _play(self, _: object, context: _Context) -> None:
        session = await self._session(context, stubs.PLAY)
        await self._wait_for_room(context, session)
        for former, name in list(self._sessions.items()):
            if name == session != "":  # the arena has lost that connection, even if we have not
                del self._sessions[former]
                former.cancel()
        streaming = asyncio.create_task(self._stream(context))
        self._sessions[streaming] = session
        try:
            await streaming
        except asyncio.CancelledError:
            if streaming in self._sessions:
                raise
            await context.abort(grpc.StatusCode.ABORTED, "the arena has connected again")
        finally:
            self._sessions.pop(streaming, None)
            async with self._left:
                self._left.notify_all()
        # The arena is done; a unix socket belongs to that arena alone, others may still come to host:port.
        if self._place.address.startswith("unix:"):
            self._end = self._loop.call_later(LINGER_S, self._end_if_idle)

    def _end_if_idle(self) -> None:
        if not self._sessions:
            self._inbox.put(None)

    async def _stream(self, context: _Context) -> None:
        # The end of the stream is a value that is no bytes.
        read: Callable[[], Awaitable[object]] = context.read
        stream = Stream(self._loop)
        writer = asyncio.create_task(stream.write(context.write))
        try:
            while isinstance(message := await read(), bytes):
                stream.expect()
                self._inbox.put((stream, message))
            self._inbox.put((stream, None))
            await writer
        except grpc.aio.InternalError:  # it broke under an answer
            raise asyncio.CancelledError from None
        finally:
            stream.open = False
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)

    async def _session(self, context: _Context, method: str) -> str:
        """The session that a call is of, once its token is found good.  Whoever calls has plans: no end yet."""
        shown = {key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)}
        session = shown.get(SESSION, "")
        if self._tokens is not None:
            refusal = self._tokens.refusal(shown.get(TOKEN, ""), method, session, time.time())
            if refusal:
                await self._refuse(context, grpc.StatusCode.UNAUTHENTICATED, refusal)
        if self._end is not None:
            self._end.cancel()
        return session

    async def _wait_for_room(self, context: _Context, session: str) -> None:
        """Return once a stream of this session would be one of those that are taken at once; else refuse it."""

        def room() -> bool:
            others = sum(name != session or not name for name in self._sessions.values())
            return others < self._player.streams

        try:
            async with asyncio.timeout(TAKEOVER_S), self._left:
                await self._left.wait_for(room)
        except TimeoutError:
            await self._refuse(
                context,
                grpc.StatusCode.FAILED_PRECONDITION,
                f"this bot plays for another arena or in another block already, and takes {self._player.streams} at "
                "once; try again when that is over, or raise streams in its call of serve",
            )

    async def _refuse(self, context: _Context, code: grpc.StatusCode, sentence: str) -> None:
        log(f"refused {context.peer()}: {sentence}")
        await context.abort(code, sentence)
