"""The process that speaks with Ray for an arena: it takes orders, and every task of Ray's is one of them.

Whatever becomes of a node or a process of Ray's is nobody's fault: `WorkerDied` says that the order is open again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, assert_never

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from arena.app.engines.cluster import node
from arena.app.engines.cluster.node import Begun, Printed, Said, TriedOut
from arena.app.engines.cluster.queue import Queue, Queued
from arena.app.engines.cluster.trip import AUTO, Machine, Need, Survey, Trip, TryOut
from arena.app.engines.worker import Link, News, Noted, Order, Service, serve_at
from arena.app.engines.workers import LEAVE_S, MAX_DEATHS, WorkerDied
from arena.bots.bot import log_of
from arena.bots.certificates import Keys
from arena.bots.launcher import LOG_BYTES
from arena.bots.parcel import Parcel
from arena.errors import ArenaError, UsageError
from arena.match.lag import Lag
from arena.match.rulings import Fault
from arena.match.summary import Histogram
from arena.tournament.runner import Played

LOG = "ray.log"
"""What Ray says goes there, below the folder of a run's logs."""
log = logging.getLogger(__name__)

LOOK_S = 2.0
"""How often it is seen whether a block waits for what there is not."""
AGAIN_S = 3.0
"""After so long a node that did not answer is asked again: that it has gone is known after a while only."""
KNOCK_S = 5.0
"""How long the cluster may take to let somebody knock at its door."""


class Fetched:
    """Gets a parcel from Ray's store; made on the driver, called on a node."""

    def __init__(self, parcel: Parcel) -> None:
        self._ref = ray.put(parcel)

    def __call__(self) -> Parcel:
        parcel: Parcel = ray.get(self._ref)
        return parcel


class _Driver:
    def __init__(self, trip: Trip, noted: Callable[[str], None]) -> None:
        self._trip = trip
        self._noted = noted
        self._specs = trip.luggage.specs
        self._keys = {name: spec.keys for name, spec in self._specs.items() if spec.keys is not None}
        self._queue = Queue()
        self._luggage: Any = None
        """As an object of Ray's, once it is connected."""
        self._play: Any = ray.remote(node.play)
        self._try_out: Any = ray.remote(node.try_out)
        self.lag = Lag(Histogram({}))

    def _depart(self) -> None:
        """Become a driver of the cluster, and give it what nodes need.  Raises `UsageError`."""
        _connect(self._trip.address)
        parcels = {name: (parcel.key, Fetched(parcel)) for name, parcel in self._trip.parcels.items()}
        specs = {name: replace(spec, keys=None) for name, spec in self._specs.items()}
        self._luggage = ray.put(replace(self._trip.luggage, specs=specs, parcels=parcels))

    async def do(self, order: Order | Survey | TryOut, report: Callable[[object], None]) -> None:
        """Do an order.  Raises `WorkerDied`, and what the node raised."""
        match order:
            case Survey():
                await asyncio.to_thread(self._depart)
                for machine in await machines():
                    report(machine)
            case TryOut(_, names, seats):
                report(await self._tried_out(names, seats))
            case Order():
                await self._played(order, report)
            case _:
                assert_never(order)

    async def _played(self, order: Order, report: Callable[[object], None]) -> None:
        seats = order.task.block.seats
        need = Need.of(self._specs[name] for name in seats)
        stream = self._play.options(
            name=f"block {order.task.block.position}",
            num_returns="streaming",
            max_retries=0,
            **need.options(),
        ).remote(self._luggage, order.task, order.secret, self._keys_of(seats))
        self._queue.join(order.number, Queued(seats, need))
        address = ""
        try:
            with _told_apart():
                async for each in stream:
                    match await each:
                        case Begun(address):
                            self._queue.leave(order.number)
                        case Said(text):
                            self._note(address, text)
                        case Played() as played:
                            report(played)
                        case Lag() as lag:
                            self.lag += lag
                        case Printed(name, text):
                            await asyncio.to_thread(_append, log_of(name, self._trip.logs), text)
        except asyncio.CancelledError:
            await _cancel(stream)
            raise
        finally:
            self._queue.leave(order.number)

    def _keys_of(self, names: Iterable[str]) -> dict[str, Keys]:
        return {name: self._keys[name] for name in names if name in self._keys}

    def _note(self, address: str, text: str) -> None:
        for line in text.splitlines():
            self._noted(f"on node {address}: {line}")

    async def watch(self) -> None:
        """Say what no node can hold, as long as there is such a block."""
        while True:
            await asyncio.sleep(LOOK_S)
            if overdue := self._queue.overdue():
                address = ray.get_runtime_context().gcs_address
                for complaint in self._queue.complaints(overdue, await machines(), address):
                    self._noted(complaint)

    async def _tried_out(self, names: Sequence[str], seats: int) -> TriedOut:
        """Every node starts its own; remote bots are called by one node after another: they may take a single call."""
        local = [name for name in names if not self._specs[name].remote]
        remote = [name for name in names if self._specs[name].remote]
        nodes = await machines()
        found = dict(zip(nodes, await asyncio.gather(*(self._on(each, local, seats) for each in nodes)), strict=True))
        streams: dict[str, int] = {}
        failures: dict[str, dict[str, tuple[Fault, str]]] = {}
        for machine, first in found.items():
            second = await self._on(machine, remote, seats) if remote else TriedOut({}, {})
            streams |= second.streams
            for name, failure in (*first.failures.items(), *second.failures.items()):
                failures.setdefault(name, {})[machine.address] = failure
        return TriedOut({name: _in_one(found, len(nodes)) for name, found in failures.items()}, streams)

    async def _on(self, machine: Machine, names: Sequence[str], seats: int) -> TriedOut:
        """What this node says; nothing if it goes away meanwhile."""
        there = NodeAffinitySchedulingStrategy(machine.id, soft=False)
        for _ in range(MAX_DEATHS):
            with contextlib.suppress(WorkerDied), _told_apart():
                stream = self._try_out.options(
                    num_returns="streaming", num_cpus=0, max_retries=0, scheduling_strategy=there
                ).remote(self._luggage, names, seats, self._keys_of(names))
                async for each in stream:
                    match await each:
                        case Said(text):
                            self._note(machine.address, text)
                        case TriedOut() as tried:
                            return tried
            await asyncio.sleep(AGAIN_S)
            if machine not in await machines():
                return TriedOut({}, {})
        raise ArenaError(f"node {machine.address} ends every process that is to start bots; see what ends them")


async def machines() -> list[Machine]:
    """The nodes that are alive and have cores, the largest first."""
    nodes = await asyncio.to_thread(ray.nodes)
    found = [
        Machine(each["NodeID"], each["NodeManagerAddress"], Need(int(has["CPU"]), int(has.get("memory", 0))))
        for each in nodes
        if each["Alive"] and (has := each["Resources"]).get("CPU", 0) >= 1
    ]
    return sorted(found, key=lambda machine: (-machine.has.cores, -machine.has.memory, machine.address))


def _in_one(failures: Mapping[str, tuple[Fault, str]], nodes: int) -> tuple[Fault, str]:
    """What a bot did, by the address of the node, as one failure; where it did it is only said if not everywhere."""
    address, (fault, evidence) = min(failures.items())
    return fault, evidence if len(failures) == nodes else f"on node {address}: {evidence}"


@contextlib.contextmanager
def _told_apart() -> Iterator[None]:
    """What the arena raised on a node is raised here; whatever else ended a task of Ray's is the death of a worker."""
    try:
        yield
    except RayTaskError as error:
        match error.cause:
            case ArenaError():
                raise error.cause from None
            case ImportError():
                raise UsageError(
                    f"a node of the cluster cannot import the arena ({error.cause}); install the same on all nodes"
                ) from None
            case _:
                raise RuntimeError(str(error)) from None
    except RayError as error:
        log.warning("%s", error)
        raise WorkerDied(f"a process of the cluster died while it played ({type(error).__name__})") from None


async def _cancel(stream: Any) -> None:
    """End a task; it is asked to end its bots, and killed if it does not listen: then their keepers do."""
    ray.cancel(stream)
    try:
        async with asyncio.timeout(LEAVE_S):
            with contextlib.suppress(RayError, StopAsyncIteration):
                async for each in stream:
                    await each
    except TimeoutError:
        ray.cancel(stream, force=True)


def _append(log: Path, text: bytes) -> None:
    """Add to what a bot has printed, within what it may."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        file.write(text[: max(0, LOG_BYTES - file.tell())])


def _listen_in(log: Path) -> None:
    """Have all that Ray has to say in a file, where it disturbs nobody."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        os.dup2(file.fileno(), sys.stderr.fileno())


def _connect(address: str) -> None:
    """Become a driver of the cluster.  Raises `UsageError`."""
    if address != AUTO:
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), KNOCK_S).close()
        except OSError as error:
            raise UsageError(
                f"there is no Ray cluster at {address}: {error.strerror or error}; start one by "
                "`ray start --head`, or name another by --ray-address"
            ) from None
    try:
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
    except ConnectionError:
        raise UsageError(
            "this machine is part of no Ray cluster; start one by `ray start --head`, or name one by --ray-address"
            if address == AUTO
            else f"the Ray cluster at {address} does not take this driver; see that its token is there "
            "(RAY_AUTH_TOKEN, or ~/.ray/auth_token), and that this machine is one of its nodes"
        ) from None
    except (RuntimeError, RayError) as error:
        raise UsageError(f"the Ray cluster at {address} does not take this driver: {error}") from None


async def _serve(link: Link, trip: Trip) -> None:
    _listen_in(trip.logs / LOG)

    def noted(sentence: str) -> None:
        log.warning("%s", sentence)
        link.send(Noted(sentence))

    driver = _Driver(trip, noted)
    watching = asyncio.create_task(driver.watch())
    try:
        await Service(link, driver.do, lambda: News(driver.lag, overloaded=False)).serve()
    finally:
        watching.cancel()


def main(fd: int) -> None:
    """What the process does."""
    serve_at(fd, _serve)
