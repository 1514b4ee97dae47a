"""Plays on a Ray cluster: one task of Ray's for each block, on whatever node has room for its bots.

A node or a process of Ray's that dies is nobody's fault: what was not reported yet is played elsewhere.
"""

from __future__ import annotations

import contextlib
import importlib.util
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from functools import partial

import psutil

from arena.app.engines.cluster.node import Luggage, TriedOut, this_arena
from arena.app.engines.cluster.trip import AUTO, Machine, Need, Survey, Trip, TryOut, unheld
from arena.app.engines.local import Job
from arena.app.engines.room import Room
from arena.app.engines.worker import Order, command
from arena.app.engines.workers import Worker, silent, until_played
from arena.bots.bot import BotFailed
from arena.bots.manifest import BotSpec
from arena.bots.parcel import addressed, pack
from arena.errors import ArenaError, UsageError
from arena.match.lag import Lag
from arena.tournament.runner import Played, Task

WAITING = 2
"""So many blocks wait at Ray, that no node waits for the arena."""


class ClusterEngine:
    """Sends each block to the cluster.  Use it as an async context manager: `cluster_engine`."""

    overloaded = False
    """Ray starts no more than nodes have cores for."""

    def __init__(self, driver: Worker, specs: Mapping[str, BotSpec], secrets: Mapping[int, bytes], jobs: int) -> None:
        """`jobs` is how many blocks are worth being sent at a time."""
        self.jobs = jobs
        self._driver = driver
        self._specs = specs
        self._secrets = secrets
        self._room = Room()

    @property
    def lag(self) -> Lag:
        """How late the nodes have been so far in all blocks that have ended."""
        return self._driver.lag

    async def preflight(self, names: Iterable[str], seats: int = 1) -> Mapping[str, BotFailed]:
        """As `LocalEngine.preflight`, on every node."""
        results: list[TriedOut] = []
        await self._driver.do(lambda number: TryOut(number, list(names), seats), results.append)
        (tried,) = results
        for address, streams in tried.streams.items():
            self._room.learn(address, streams)
        return {name: BotFailed(*failure) for name, failure in tried.failures.items()}

    async def play(self, task: Task, report: Callable[[Played], None]) -> None:
        """Play the task's matches, whatever happens to nodes.  Raises `ArenaError` where that comes to nothing."""
        secret = self._secrets[task.block.epoch]

        async def play(task: Task, report: Callable[[Played], None]) -> None:
            await self._driver.do(lambda number: Order(number, task, secret), report)

        async with self._room.taken(self._specs[name] for name in task.block.seats):
            await until_played(task, play, report)


@contextlib.asynccontextmanager
async def cluster_engine(
    address: str,
    job: Job,
    secrets: Mapping[int, bytes],
    seatings: Iterable[tuple[str, ...]],
    noted: Callable[[str], None],
) -> AsyncIterator[ClusterEngine]:
    """An engine on the cluster at that address, HOST:PORT or `auto`.

    `seatings` are the participants of each seat, as they are going to meet; `noted` hears in sentences what the
    cluster has to say meanwhile.  Raises `UsageError`: there is no such cluster, it takes no driver from here, or none
    of its nodes can hold some of these.
    """
    specs = job.specs
    local = {name: spec for name, spec in specs.items() if spec.address is None}
    luggage = Luggage(
        arena=this_arena(),
        run=job.run,
        setting=silent(job.setting),
        specs={**specs, **{name: addressed(spec) for name, spec in local.items()}},
        parcels={},
    )
    trip = Trip(checked(address), luggage, {name: pack(spec) for name, spec in local.items()}, job.logs)
    driver = Worker(trip, partial(command, module="arena.app.engines.cluster.driver"), partial(_lost, address), noted)
    try:
        machines: list[Machine] = []
        await driver.do(Survey, machines.append)
        check_calls(machines, specs.values())
        yield ClusterEngine(driver, specs, secrets, _at_a_time(machines, specs, seatings) + WAITING)
    finally:
        await driver.close()


def checked(address: str) -> str:
    """The address of a cluster.  Raises `UsageError` for what is none, and where Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        raise UsageError("playing on a cluster needs Ray; pip install 'sixtysix-arena[cluster]'")
    if address != AUTO and not re.fullmatch(r"[^/\s]+:[0-9]{1,5}", address):
        raise UsageError(
            f"the address of a Ray cluster is {address!r}; expected HOST:PORT such as 10.0.0.1:6379, "
            f"or {AUTO} for the one that this machine is part of"
        )
    return address


def check_calls(machines: Iterable[Machine], specs: Iterable[BotSpec]) -> None:
    """Raises `UsageError` for a bot without keys at an address of this machine: elsewhere that is somebody else."""
    here = {each.address for addresses in psutil.net_if_addrs().values() for each in addresses}
    elsewhere = [each.address for each in machines if not (each.address in here or each.address.startswith("127."))]
    for spec in specs:
        if elsewhere and spec.known_here_only:
            raise UsageError(
                f"bot {spec.name!r} is known by nothing but {spec.address}, where node {elsewhere[0]} would find "
                "another one or none; make keys for it by `arena certs`, with an address that all nodes can reach"
            )


def _lost(address: str, how: str) -> ArenaError:
    return ArenaError(f"the Ray cluster at {address} is lost ({how}): see that its head node runs, and resume")


def _at_a_time(machines: list[Machine], specs: Mapping[str, BotSpec], seatings: Iterable[tuple[str, ...]]) -> int:
    """How many blocks the nodes can play at a time, of those that need least.

    Raises `UsageError` where some are going to meet that no node can hold together.
    """
    if not machines:
        raise UsageError("the Ray cluster has no node with a core; add one by `ray start --address`")
    least = machines[0].has.cores
    for seats in seatings:
        need = Need.of(specs[name] for name in seats)
        least = min(least, need.cores)
        if not any(need.fits(machine.has) for machine in machines):
            demanding = max(seats, key=lambda name: (specs[name].cores, specs[name].memory_mb or 0))
            raise UsageError(
                f"{unheld(seats, need, machines)}; ask for less in the bot.toml of {demanding!r}, which asks for most, "
                "or start a larger node"
            )
    return sum(machine.has.cores // least for machine in machines)
