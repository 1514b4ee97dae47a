"""What a decision costs the arena: 64 matches at once between two processes, beside the same work in barer forms.

All forms run interleaved in one run, each with two processes on the other end.  Figures are medians over the rounds;
CPU is that of this process alone.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from arena.app.data import STORE
from arena.app.engines.local import Setting, local_engine
from arena.app.participants import of_words
from arena.app.writer import Writer
from arena.bots import channel
from arena.bots.channel import Channel, Question
from arena.bots.driver import MatchOrder, MatchRun
from arena.bots.sandbox import LIMITS_ONLY, Sandbox
from arena.bots.stopwatch import Stopwatch
from arena.cards import actions_of, cards_of
from arena.game.game import Game
from arena.game.presets import preset
from arena.game.views import View
from arena.match.absence import Absences
from arena.match.clock import TimeControl
from arena.match.record import MatchRecord
from arena.match.referee import Ask, NoReply, Referee, Reply, referee
from arena.match.summary import MatchKey
from arena.store import Participant, open_store
from arena.tournament import decks
from arena.tournament.quarantine import Quarantine
from arena.tournament.runner import Played
from arena.wire import codec, stubs

MATCHES = 64
SERVERS = 2
HERE = Path(__file__).parent / "servers"
RULES = "sixty-six"

Form = Callable[[int], Awaitable[tuple[int, float, float]]]
"""Makes about that many decisions; returns how many it made, and the wall and CPU seconds that it took."""


class Meter:
    """Wall and CPU time from its making on; `cpu_s` is whose CPU time, by default this process's."""

    def __init__(self, cpu_s: Callable[[], float] = time.process_time) -> None:
        self.wall = time.perf_counter()
        self.cpu = cpu_s()
        self._cpu_s = cpu_s

    def stop(self, decisions: int) -> tuple[int, float, float]:
        return decisions, time.perf_counter() - self.wall, self._cpu_s() - self.cpu


def _orders() -> Iterator[MatchOrder]:
    """Matches on decks of their own, seats changing."""
    cards = list(Game(preset(RULES)).cards)
    for number in range(1 << 62):
        decks: dict[int, tuple[int, ...]] = {}

        def deck_of(deal: int, number: int = number, decks: dict[int, tuple[int, ...]] = decks) -> tuple[int, ...]:
            if deal not in decks:
                order = cards[:]
                random.Random(1000 * number + deal).shuffle(order)
                decks[deal] = tuple(order)
            return decks[deal]

        seats = ("one", "two") if number % 2 else ("two", "one")
        yield MatchOrder(f"{number:016x}", seats, deck_of, (bytes(32), bytes(32)))


def _routes() -> list[list[int]]:
    """For each match at once, which of the two servers makes each of its decisions: as real matches go to and fro.

    Without it all messages of the bare forms would travel in lockstep, in batches that no real traffic has.
    """
    game = Game(preset(RULES))
    routes = []
    for order, _ in zip(_orders(), range(MATCHES), strict=False):
        route = []
        match = referee(game, order.deck_of, TimeControl(), (False, False))
        answer: Reply | None = None
        try:
            while True:
                request = match.send(answer)
                answer = None
                if isinstance(request, Ask):
                    route.append(int(order.seats[request.seat] == "two"))
                    answer = Reply(_instant(request.view.legal), 0.1)
        except StopIteration:
            routes.append(route)
    return routes


def _instant(legal: int) -> int:
    """The policy of `servers/instant.py` on a mask: the lowest card, else the last action."""
    lowest = (legal & -legal).bit_length() - 1
    return lowest if lowest <= 32 else legal.bit_length() - 1


async def in_process(decisions: int) -> tuple[int, float, float]:
    """The same matches, as many at once, with bots in this process: referees, clocks and records alone."""
    game = Game(preset(RULES))
    orders = _orders()
    made = 0

    def begin() -> tuple[Referee, Reply | None]:
        return referee(game, next(orders).deck_of, TimeControl(), (False, False)), None

    meter = Meter()
    running = [begin() for _ in range(MATCHES)]
    while running:
        later = []
        for match, answer in running:
            try:
                request = match.send(answer)
                while not isinstance(request, Ask):
                    request = next(match)
            except StopIteration:
                if made < decisions:
                    later.append(begin())
                continue
            made += 1
            later.append((match, Reply(_instant(request.view.legal), 0.1)))
        running = later
    return meter.stop(made)


@contextmanager
def _writer(folder: Path, game: Game) -> Iterator[Writer]:
    """A store in that folder and the thread that writes to it, as a tournament has them."""
    secret = decks.secret_from_seed(1)
    entered = [Participant(name, "1", "", "file", "") for name in ("one", "two")]
    with open_store(folder / STORE) as store:
        run = store.create_tournament("bench", {}, game.rules.options(), entered, False, datetime.now(UTC))
        store.open_epoch(run, 0, secret, decks.commitment(secret))
        with Writer(store, run, game.rules, Quarantine((), Absences.of(())), None, lambda *_: None) as writer:
            yield writer


def _played(order: MatchOrder, record: MatchRecord) -> Played:
    """A match of `_orders` as what the writer is given."""
    number = int(order.match_id, 16)
    key = MatchKey(0, ("one", "two"), leg=number % 2, number=number // 2)
    return Played(number, key, order.seats, True, record, attempt=1)


async def arena(decisions: int, sandbox: Sandbox = LIMITS_ONLY) -> tuple[int, float, float]:
    """The arena as it is: referees, clocks, records, channels, the store and its writer; two bot processes."""
    game = Game(preset(RULES))
    script = str(HERE / "instant.py")
    specs = dict(zip(("one", "two"), of_words((script, script)).values(), strict=True))
    setting = Setting(game.rules, RULES, TimeControl(), 30.0, sandbox=sandbox)
    with tempfile.TemporaryDirectory() as folder, _writer(Path(folder), game) as writer:
        async with local_engine(setting, specs, {}, "arena-bench", Path(folder)) as engine:
            bots = {name: engine.new_bot(name) for name in specs}
            for bot in bots.values():
                await bot.start()
            orders = _orders()
            done = asyncio.get_running_loop().create_future()
            commits: list[asyncio.Task[None]] = []
            made = running = 0

            def finished(run: MatchRun, record: MatchRecord) -> None:
                nonlocal made, running
                assert not record.faults, record.testimony.evidence
                commits.append(asyncio.ensure_future(writer.record(_played(run.order, record))))
                made += sum(map(len, record.testimony.took_us))
                running -= 1
                if made < decisions:
                    begin()
                elif not running and not done.done():
                    done.set_result(None)

            def begin() -> None:
                nonlocal running
                running += 1
                MatchRun(game, next(orders), bots, TimeControl(), finished).start()

            meter = Meter()
            for _ in range(MATCHES):
                begin()
            await done
            await asyncio.gather(*commits)
            result = meter.stop(made)
            for bot in bots.values():
                await bot.stop()
            return result


def _view() -> View:
    """What a seat is asked in the middle of a deal: as much as the arena asks on average."""
    game = Game(preset(RULES))
    deal = game.deal(list(game.cards))
    for _ in range(14):
        deal.apply(_instant(deal.legal_mask))
    assert deal.to_act is not None
    return deal.view(deal.to_act)


def _message(id: int) -> bytes:
    """It as a framed decision."""
    return codec.decision(_view(), match_id=f"{id:016x}", id=id, deal=3, time_left_ms=11000, last_took_ms=1)


def _observation(id: int) -> dict[str, Any]:
    """It as plain values with names, for JSON: cards and the history as lists of numbers."""
    view = _view()
    values = {name: list(value) if isinstance(value, bytes) else value for name, value in view._asdict().items()}
    cards = {"legal": actions_of(view.legal), "hand": cards_of(view.hand), "known": [*map(cards_of, view.known)]}
    return values | cards | {"id": id, "match_id": f"{id:016x}", "deal": 3, "time_left_ms": 11000, "last_took_ms": 1}


@contextmanager
def _echo_servers(form: str) -> Iterator[list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / str(number) for number in range(SERVERS)]
        targets = [f"unix:{path}" if form == "grpc" else str(path) for path in paths]
        processes = [subprocess.Popen([sys.executable, str(HERE / "echo.py"), form, target]) for target in targets]
        try:
            deadline = time.monotonic() + 30
            while not all(map(_listens, paths)):
                if time.monotonic() > deadline:
                    raise TimeoutError("the echo servers did not start")
                time.sleep(0.01)
            yield targets
        finally:
            for process in processes:
                process.kill()
                process.wait()


def _listens(path: Path) -> bool:
    """Whether somebody takes connections there: the file comes before that."""
    with socket.socket(socket.AF_UNIX) as knocking:
        return knocking.connect_ex(str(path)) == 0


async def _timed(
    match: Callable[[int, Iterator[int]], Coroutine[Any, Any, None]], each: int
) -> tuple[int, float, float]:
    """All matches at once, each with its number and the servers that it asks in turn, for so many decisions each."""
    work = [match(id, itertools.cycle(route)) for id, route in enumerate(_routes(), start=1)]
    meter = Meter()
    await asyncio.gather(*work)
    return meter.stop(each * MATCHES)


async def echo(decisions: int) -> tuple[int, float, float]:
    """A bare coalescing stream: one write under way at most, and what gathers meanwhile goes into the next message."""
    loop = asyncio.get_running_loop()
    waiting: dict[int, asyncio.Future[None]] = {}

    async def read(call: Any) -> None:
        while isinstance(message := await call.read(), bytes):
            for answer in codec.answers(message):
                waiting.pop(answer.id).set_result(None)

    async def write(call: Any, outbox: list[bytes], wake: asyncio.Event) -> None:
        while await wake.wait():
            wake.clear()
            while outbox:
                message = b"".join(outbox)
                outbox.clear()
                await call.write(message)

    with _echo_servers("grpc") as targets:
        connections = [channel.connect(target) for target in targets]
        calls: list[Any] = [connection.stream_stream(stubs.PLAY)() for connection in connections]
        outboxes: list[list[bytes]] = [[] for _ in targets]
        wakes = [asyncio.Event() for _ in targets]
        each = decisions // MATCHES

        async def match(id: int, route: Iterator[int]) -> None:
            data = _message(id)
            for _ in range(each):
                answered = waiting[id] = loop.create_future()
                server = next(route)
                outboxes[server].append(data)
                wakes[server].set()
                await answered

        tasks = [asyncio.ensure_future(read(call)) for call in calls]
        tasks += [asyncio.ensure_future(write(*ends)) for ends in zip(calls, outboxes, wakes, strict=True)]
        result = await _timed(match, each)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in connections:
            await connection.close()
        return result


async def stream(
    targets: Sequence[str], decisions: int, cpu_s: Callable[[], float] = time.process_time
) -> tuple[int, float, float]:
    """Ask the two servers at these addresses, as 64 matches would, on one coalescing stream each."""
    stopwatch = Stopwatch()
    stopwatch.start()
    done = asyncio.get_running_loop().create_future()
    left = decisions
    streams = [Channel(target, stopwatch, 0, lambda *_: None) for target in targets]
    for each in streams:
        each.start()
    running = MATCHES

    def ask(id: int, data: bytes, route: Iterator[int]) -> None:
        def answered(_: Reply | NoReply) -> None:
            nonlocal left, running
            left -= 1
            if left > 0:
                ask(id, data, route)
            else:
                running -= 1
                if not running:
                    done.set_result(None)

        streams[next(route)].ask(Question(id, "", data, 11000.0, answered))

    work = [(id, _message(id), itertools.cycle(route)) for id, route in enumerate(_routes(), start=1)]
    meter = Meter(cpu_s)
    for item in work:
        ask(*item)
    await done
    result = meter.stop(decisions - left)
    for each in streams:
        await each.close()
    stopwatch.stop()
    return result


async def unary(decisions: int) -> tuple[int, float, float]:
    """One call a decision, 64 under way."""
    with _echo_servers("grpc") as targets:
        connections = [channel.connect(target) for target in targets]
        calls = [connection.unary_unary(f"/{stubs.SERVICE}/Act") for connection in connections]
        each = decisions // MATCHES

        async def match(id: int, route: Iterator[int]) -> None:
            data = _message(id)
            for _ in range(each):
                call: Any = calls[next(route)]
                codec.answers(await call(data, timeout=30, wait_for_ready=True))

        result = await _timed(match, each)
        for connection in connections:
            await connection.close()
        return result


async def raw(decisions: int) -> tuple[int, float, float]:
    """Length-prefixed messages over plain sockets, a coroutine a match: what one would write without gRPC."""
    loop = asyncio.get_running_loop()
    with _echo_servers("raw") as targets:
        each = decisions // MATCHES
        sockets = [await asyncio.open_unix_connection(target) for target in targets]
        waiting: dict[int, asyncio.Future[codec.Answer]] = {}

        async def read(reader: asyncio.StreamReader) -> None:
            while True:
                size = int.from_bytes(await reader.readexactly(4), "big")
                for answer in codec.answers(await reader.readexactly(size)):
                    waiting.pop(answer.id).set_result(answer)

        async def match(id: int, route: Iterator[int]) -> None:
            message = _message(id)
            frame = len(message).to_bytes(4, "big") + message
            for _ in range(each):
                answer = waiting[id] = loop.create_future()
                sockets[next(route)][1].write(frame)
                await answer

        readers = [asyncio.ensure_future(read(reader)) for reader, _ in sockets]
        result = await _timed(match, each)
        for task in readers:
            task.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
        for _, writer in sockets:
            writer.close()
        return result


async def jsonlines(decisions: int) -> tuple[int, float, float]:
    """A child a bot that reads and writes JSON lines: an observation with its whole history, and an action."""
    loop = asyncio.get_running_loop()
    command = (sys.executable, str(HERE / "lines.py"))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    children = [await asyncio.create_subprocess_exec(*command, **pipes) for _ in range(SERVERS)]
    streams = [(child.stdin, child.stdout) for child in children if child.stdin and child.stdout]
    each = decisions // MATCHES
    waiting: dict[int, asyncio.Future[int]] = {}

    async def read(lines: asyncio.StreamReader) -> None:
        async for line in lines:
            answer = json.loads(line)
            waiting.pop(answer["id"]).set_result(answer["action"])

    async def match(id: int, route: Iterator[int]) -> None:
        observation = _observation(id)
        for _ in range(each):
            answer = waiting[id] = loop.create_future()
            streams[next(route)][0].write(json.dumps(observation).encode() + b"\n")
            await answer

    readers = [asyncio.ensure_future(read(lines)) for _, lines in streams]
    result = await _timed(match, each)
    for writer, _ in streams:
        writer.close()
    await asyncio.gather(*readers, *(child.wait() for child in children))
    return result


FORMS: Mapping[str, Form] = {
    "arena": arena,
    "inprocess": in_process,
    "echo": echo,
    "unary": unary,
    "raw": raw,
    "jsonlines": jsonlines,
}
BARE = ("echo", "raw", "unary", "jsonlines")
"""What the arena is compared with."""


def run(quick: bool) -> dict[str, float]:
    """`{form}_per_s` and `{form}_cpu_us` for every form, and what the arena's are over those of the bare ones."""
    rounds = 3 if quick else 7
    sizes = {"unary": 2500 if quick else 8000}
    rates: dict[str, list[float]] = {name: [] for name in FORMS}
    cpus: dict[str, list[float]] = {name: [] for name in FORMS}
    for _ in range(rounds):
        for name, form in FORMS.items():
            made, wall, cpu = asyncio.run(_call(form, sizes.get(name, 12_000 if quick else 60_000)))
            rates[name].append(made / wall)
            cpus[name].append(cpu / made * 1e6)
    rate = {name: statistics.median(values) for name, values in rates.items()}
    cpu_us = {name: statistics.median(values) for name, values in cpus.items()}

    def ratio(ones: Sequence[float], others: Sequence[float]) -> float:
        """The median of the ratios within a round."""
        return round(statistics.median(one / other for one, other in zip(ones, others, strict=True)), 2)

    figures = {f"{name}_per_s": float(round(value)) for name, value in rate.items()}
    figures |= {f"{name}_cpu_us": round(value, 1) for name, value in cpu_us.items()}
    figures |= {f"rate_over_{name}": ratio(rates["arena"], rates[name]) for name in BARE}
    figures |= {f"cpu_over_{name}": ratio(cpus["arena"], cpus[name]) for name in BARE}
    wire = [arena - alone for arena, alone in zip(cpus["arena"], cpus["inprocess"], strict=True)]
    return figures | {
        "wire_cpu_over_echo": ratio(wire, cpus["echo"]),
        "echo_rate_over_raw": ratio(rates["echo"], rates["raw"]),
    }


async def _call(form: Form, decisions: int) -> tuple[int, float, float]:
    return await form(decisions)
