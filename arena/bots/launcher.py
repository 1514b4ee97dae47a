"""Starts bot processes under their keepers and ends them: whatever happens, nothing of a bot stays behind.

A bot sees an environment built from nothing, a home of its own that vanishes with it, and an output that
cannot fill memory or disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import re
import secrets
import shutil
import signal
import stat
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from arena.bots.confine import INSIDE, INSIDE_HOME
from arena.bots.keeper import SDK
from arena.bots.manifest import BotSpec
from arena.bots.sandbox import LIMITS_ONLY, Level, Sandbox, Workshop, keeper_command, tool_folders
from arena.errors import ArenaError, UsageError

LOG_BYTES = 1_000_000
"""The most a bot may write into one log file, over all its starts."""
TAIL_BYTES = 65_536
"""How much of the end of a bot's stderr is kept as evidence."""
LEAST_MEMORY = 1_000_000_000
"""With much less than this a bot on gRPC aborts now and then, when its threads cannot get their stacks."""
DEFAULT_MEMORY = 2_000_000_000

_START_SECONDS = 30.0
"""A keeper starts in 20 ms; a hundred at once on a busy machine need seconds."""
_END_SECONDS = 8.0
"""More than a keeper needs to give up on what cannot die."""
_LEAVE_SECONDS = 2.0
_ROUND_SECONDS = 0.02
_LOOK_SECONDS = 0.002
_LONGEST_SOCKET = 107
"""Bytes of a socket's path."""
_MARKER_VARIABLE = "ARENA_MARKER"
_BUILD_VARIABLES = (
    *(
        "http_proxy",
        "https_proxy",
        "no_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
    ),
    *("GOPROXY", "GOSUMDB", "GOTOOLCHAIN", "RUSTUP_TOOLCHAIN", "NODE_EXTRA_CA_CERTS"),
)
"""What a build is told of the arena's environment: how to reach the network, and which of several tools to take."""
_BUILD_ENVIRONMENT = {"GOFLAGS": "-modcacherw"}
"""What makes tools leave nothing behind that cannot be removed."""
_MARKER = re.compile(r".*:(?P<pid>[0-9]+):(?P<start>[0-9]+):[0-9a-f]+", re.DOTALL)

_Report = dict[str, Any]
"""One line of a keeper, see there."""


class LaunchError(ArenaError):
    """A bot could not be started, by its own fault; `evidence` is what the system said."""

    def __init__(self, message: str, evidence: str) -> None:
        super().__init__(message)
        self.evidence = evidence


@dataclass(frozen=True, slots=True)
class Limits:
    """What the kernel holds each process of a bot to."""

    memory: int | None = None
    """Bytes of private memory that can be written, used or not, at least 1 GB; None: no limit."""
    files: int = 256
    """Open file descriptors."""
    file_size: int = 16 * 1024 * 1024
    """Bytes in one file."""

    def __post_init__(self) -> None:
        if self.memory is not None and self.memory < LEAST_MEMORY:
            raise UsageError(
                f"a bot's memory is limited to {self.memory} bytes; expected at least {LEAST_MEMORY}, or no limit"
            )

    @classmethod
    def of(cls, spec: BotSpec, level: Level) -> Limits:
        """What a bot is held to: the memory that its bot.toml asks for, or a default where one process is all."""
        if spec.memory_mb is not None:
            return cls(memory=max(spec.memory_mb * 1_000_000, LEAST_MEMORY))
        return cls(memory=DEFAULT_MEMORY if level > Level.WEAK else None)

    @classmethod
    def of_build(cls) -> Limits:
        """What each process of a build is held to: linkers and compilers need more than bots."""
        return cls(files=4096, file_size=2_000_000_000)


class BotProcess:
    """A bot that runs, or ran, under its keeper; made by `launch`, to be ended with `stop`."""

    pid: int
    """The bot's own process, as seen from here."""
    exited: asyncio.Future[int]
    """The exit status once the bot has ended: minus the signal's number if one ended it."""

    def __init__(self, keeper: asyncio.subprocess.Process, marker: str, place: _Place, tail: int) -> None:
        loop = asyncio.get_running_loop()
        self.pid = 0
        self.exited = loop.create_future()
        self._started: asyncio.Future[_Report] = loop.create_future()
        self._keeper = keeper
        self._marker = marker
        self._place = place
        self._socket: int | None = None
        self._tail: int | bytes = tail
        self._process: psutil.Process | None = None
        self._cpu: float | None = None
        self._end = asyncio.create_task(self._watch(), name=f"watch over bot keeper {keeper.pid}")

    async def target(self, timeout_s: float) -> str:
        """Where gRPC reaches the bot, as soon as its socket is there; good until its end.

        The socket is pinned when it is found: whatever the bot puts in its place later is nobody's address.  Raises
        `TimeoutError`, and `LaunchError` where something else lies in the socket's place.
        """
        async with asyncio.timeout(timeout_s):
            while self._socket is None:
                try:
                    self._socket = _pinned(self._place.seen_from_here(self.pid))
                except FileNotFoundError:
                    await asyncio.sleep(_LOOK_SECONDS)
        return f"unix:/proc/self/fd/{self._socket}"

    @property
    def keeper_pid(self) -> int:
        """The keeper: all processes of the bot descend from it."""
        return self._keeper.pid

    async def stop(self, grace: float = 0.5) -> None:
        """Ends the bot and all its descendants; returns when none is left, `grace` + 10 seconds at most.

        SIGTERM first and up to `grace` seconds (25 at most) to leave; 0 kills at once.  May be called at any
        time, any number of times.
        """
        grace = min(max(grace, 0.0), 25.0)
        with contextlib.suppress(ProcessLookupError):
            self._keeper.send_signal(signal.SIGCONT)  # a bot may have stopped its keeper
        _order(self._keeper, bytes([math.ceil(grace * 10)]))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace + _END_SECONDS):
                await asyncio.shield(self._end)
        if not self._end.done():
            with contextlib.suppress(ProcessLookupError):
                self._keeper.kill()
            await asyncio.shield(self._end)

    def stderr_tail(self, lines: int) -> str:
        """The last `lines` lines that the bot wrote to stderr so far; foreign text, at most 64 KB."""
        data = self._tail if isinstance(self._tail, bytes) else _read_tail(self._tail)
        return "\n".join(data.decode("utf-8", "replace").splitlines()[-lines:]) if lines > 0 else ""

    def cpu_seconds(self) -> float:
        """CPU time so far: of the bot and the children it waited for; at the end, of all descendants."""
        if self._cpu is not None:
            return self._cpu
        if self._process is None:
            return 0.0
        try:
            times = self._process.cpu_times()
        except psutil.Error:  # it ended a moment ago, its keeper's report is on the way
            return 0.0
        return float(times.user + times.system + times.children_user + times.children_system)

    def processes(self) -> list[psutil.Process]:
        """The bot's own processes that live now, itself first: no keeper, and nothing of the sandbox."""
        try:
            return [] if self._process is None else [self._process, *self._process.children(recursive=True)]
        except psutil.Error:
            return []

    async def _watch(self) -> None:
        """Follows the keeper's reports until it is gone; then nothing of the bot may be left."""
        orderly = False
        while report := await _next_report(self._keeper):
            if not self._started.done():
                self._start(report)
            match report:
                case {"exit": int(status), "cpu": float(seconds)}:
                    self._cpu = seconds
                    self._settle(status)
                case {"ended": int(left), "cpu": float(seconds)}:
                    self._cpu = seconds
                    orderly = left == 0
        if orderly:
            with contextlib.suppress(TimeoutError):  # it may have a large home to remove, and needs no help
                await asyncio.wait_for(self._keeper.wait(), _LEAVE_SECONDS)
        else:  # somebody killed the keeper, or it gave up
            await self._keeper.wait()
            await asyncio.to_thread(_clean_up, self._marker, self._place.home)
        self._settle(-signal.SIGKILL)
        if not self._started.done():
            self._started.set_result({})
        assert isinstance(self._tail, int)
        fd, self._tail = self._tail, _read_tail(self._tail)
        os.close(fd)
        if self._socket is not None:
            os.close(self._socket)

    def _start(self, report: _Report) -> None:
        """The keeper's first report: the bot runs, or could not be started."""
        match report:
            case {"started": int(pid)}:
                self.pid = pid
                with contextlib.suppress(psutil.NoSuchProcess):
                    self._process = psutil.Process(pid)
        self._started.set_result(report)

    def _settle(self, status: int) -> None:
        if not self.exited.done():
            self.exited.set_result(status)


async def launch(
    spec: BotSpec,
    *,
    socket: str,
    env: Mapping[str, str],
    log: Path,
    marker: str,
    limits: Limits,
    sandbox: Sandbox = LIMITS_ONLY,
) -> BotProcess:
    """Starts the bot of `spec` and returns as soon as its program runs (not yet: as soon as it answers).

    `socket` names the file at which it is to listen, in a folder of its own: ARENA_ADDRESS tells it where; `env` is
    added to its environment; its output is appended to `log`; `marker` (see `arena_marker`) lets a later `sweep` find
    what an ended arena left.  Raises `LaunchError` if the program cannot be executed, by the bot's fault.
    """
    if not spec.run:
        raise ValueError(f"bot {spec.name!r} runs elsewhere: there is no program to launch")
    place = _Place.of(socket, sandbox.level)
    return await _launch(spec, spec.run, place, env, log, marker, limits, sandbox, sandbox.words(spec))


async def launch_build(
    spec: BotSpec, workshop: Workshop, *, log: Path, marker: str, limits: Limits, sandbox: Sandbox, lock: int
) -> BotProcess:
    """Starts the build of `spec` in the workshop; all that it prints goes to its stderr.

    `lock` is a descriptor that stays open until nothing of the build is left.  Raises as `launch` does.
    """
    place = _Place(workshop.home, "", sandbox.level)
    told = {name: value for name in _BUILD_VARIABLES if (value := os.environ.get(name))}
    env = {**told, **_BUILD_ENVIRONMENT, **tool_folders()}
    command = ("/bin/sh", "-c", 'exec "$@" >&2', "sh", *spec.build)
    there = replace(spec, cwd=workshop.folder)
    words = [f"lock={lock}", *sandbox.words(spec, workshop)]
    return await _launch(there, command, place, env, log, marker, limits, sandbox, words, (lock,))


async def _launch(
    spec: BotSpec,
    command: Sequence[str],
    place: _Place,
    env: Mapping[str, str],
    log: Path,
    marker: str,
    limits: Limits,
    sandbox: Sandbox,
    confining: Sequence[str],
    descriptors: tuple[int, ...] = (),
) -> BotProcess:
    marker = f"{marker}:{secrets.token_hex(8)}"
    log.parent.mkdir(parents=True, exist_ok=True)
    tail = _new_tail()
    words = [f"tail={tail}", f"tail_bytes={TAIL_BYTES}", f"log={LOG_BYTES}", f"cwd={spec.cwd}", f"home={place.home}"]
    words += [f"data={limits.memory or 0}", f"nofile={limits.files}", f"fsize={limits.file_size}"]
    try:
        with log.open("ab") as log_file:
            keeper = await asyncio.create_subprocess_exec(
                *keeper_command([*words, *confining], command),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log_file,
                env=_environment(place, env, marker),
                pass_fds=(tail, *descriptors),
                start_new_session=True,
            )
    except BaseException:
        os.close(tail)
        _clean_up(marker, place.home)
        raise
    process = BotProcess(keeper, marker, place, tail)
    try:
        async with asyncio.timeout(_START_SECONDS):
            report = await asyncio.shield(process._started)
        match report:
            case {"started": int()}:
                return process
            case {"failed": int(number), "stage": "sandbox"}:
                await process.stop(0)
                said = process.stderr_tail(1) or os.strerror(number)
                raise RuntimeError(f"its sandbox of level {sandbox.level} could not be made: {said}")
            case {"failed": int(number), "stage": str(stage)}:
                raise _launch_error(spec, number, stage)
            case _:
                raise RuntimeError(f"the keeper of bot {spec.name!r} ended before it started the bot")
    except BaseException:
        await process.stop(0)
        raise


def arena_marker(run: str) -> str:
    """The marker of this arena process for `launch`: the run, and who this process is for all times."""
    pid = os.getpid()
    return f"{run}:{pid}:{_start_of(pid)}"


def sweep(marker_prefix: str) -> int:
    """Ends what arenas that are no longer alive left running; returns how many processes that were.

    Only processes whose marker begins with `marker_prefix` and names an arena process that has ended are
    touched.  Blocks up to a few seconds.
    """
    left = abandoned(marker_prefix)
    for process in left:  # a keeper that its bot had stopped sees now that its pipe is closed, and ends all
        with contextlib.suppress(psutil.Error):
            process.resume()
    deadline = time.monotonic() + 1.0
    while time.monotonic() < deadline and any(process.is_running() for process in left):
        time.sleep(_ROUND_SECONDS)
    return len({process.pid for process in left} | _kill_marked(lambda marker: _is_abandoned(marker, marker_prefix)))


def abandoned(marker_prefix: str) -> list[psutil.Process]:
    """The processes that `sweep` would end."""
    return _marked(lambda marker: _is_abandoned(marker, marker_prefix))


# --- what a bot is given ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    """A bot's home, in which its socket lies."""

    home: Path
    """As it is called here; at level strong there is none."""
    socket: str
    level: Level

    @classmethod
    def of(cls, socket: str, level: Level) -> _Place:
        home = Path(tempfile.gettempdir()) / f"arena-bot-{secrets.token_hex(8)}"
        if level is not Level.STRONG and len(os.fsencode(home / socket)) > _LONGEST_SOCKET:
            raise UsageError(
                f"the sockets of the bots cannot lie in {home.parent}: its path is longer than sockets allow; "
                "set TMPDIR to a shorter one"
            )
        return cls(home, socket, level)

    def seen_from_here(self, pid: int) -> Path:
        """The socket of the bot whose process this is."""
        if self.level is Level.STRONG:
            return Path(f"/proc/{pid}/root{INSIDE}", self.socket)
        return self.home / self.socket

    @property
    def sdk(self) -> str:
        """The folder with nothing but the package in it, where the package's own may not be listed; else empty."""
        return str(self.home / SDK) if self.level is Level.MEDIUM else ""

    def environment(self) -> dict[str, str]:
        """What the bot is told of it; a build has no socket."""
        strong = self.level is Level.STRONG
        home = INSIDE_HOME if strong else str(self.home)
        address = {"ARENA_ADDRESS": f"unix:{INSIDE if strong else home}/{self.socket}"} if self.socket else {}
        return {"HOME": home, "TMPDIR": home, **address}


def _pinned(path: Path) -> int:
    """A descriptor of the socket itself.  Raises `LaunchError`: something else is called so, such as a link."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fd = os.open(path.name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    finally:
        os.close(folder)
    if not stat.S_ISSOCK(os.fstat(fd).st_mode):
        os.close(fd)
        raise LaunchError("what lies in the place of its socket is none", "")
    return fd


def environment(marker: str, sdk: str | None = None) -> dict[str, str]:
    """What every bot finds in its environment: nothing is inherited but the places where programs lie.

    `sdk` is where the bot sees the folder that holds the arena's package; None: where it is.
    """
    here = os.path.dirname(sys.executable)
    found = {
        "PATH": os.pathsep.join((here, os.environ.get("PATH", os.defpath))),
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",  # the last words of a bot that dies are its evidence
        "GRPC_ENABLE_FORK_SUPPORT": "0",
        _MARKER_VARIABLE: marker,
    }
    package_root = str(Path(__file__).resolve().parent.parent.parent)
    if package_root not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        found["PYTHONPATH"] = sdk or package_root  # a checkout: bots import the SDK that lies in it
    return found


def _environment(place: _Place, extra: Mapping[str, str], marker: str) -> dict[str, str]:
    return {**environment(marker, place.sdk), **extra, **place.environment()}


def _launch_error(spec: BotSpec, number: int, stage: str) -> LaunchError:
    evidence = os.strerror(number)
    program = spec.run[0]
    match stage:
        case "folder":
            sentence = f"its folder {spec.cwd} cannot be entered: {evidence}"
        case "program":
            sentence = f"its program {program!r} cannot be executed in {spec.cwd}: {evidence}"
        case _:
            sentence = f"its limits cannot be set: {evidence}"
    return LaunchError(f"bot {spec.name!r} did not start: {sentence}", evidence)


# --- talking with the keeper --------------------------------------------------------------------------------


async def _next_report(keeper: asyncio.subprocess.Process) -> _Report | None:
    """The keeper's next line (never an empty object), None when it has closed its pipe."""
    assert keeper.stdout is not None
    while True:
        try:
            line = await keeper.stdout.readline()
            if not line:
                return None
            report = json.loads(line)
        except (ValueError, RecursionError):  # no keeper writes this: a bot has got hold of the pipe
            continue
        if isinstance(report, dict) and report:
            return report


def _order(keeper: asyncio.subprocess.Process, order: bytes) -> None:
    assert keeper.stdin is not None
    if not keeper.stdin.is_closing():
        keeper.stdin.write(order)


def _new_tail() -> int:
    """A file in memory for `keeper.Tail`: the arena reads it at any moment, at no cost while a bot floods."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("arena-bot-stderr")
    else:
        fd, path = tempfile.mkstemp(prefix="arena-bot-stderr-")
        os.unlink(path)
    os.ftruncate(fd, 8 + TAIL_BYTES)
    return fd


def _read_tail(fd: int) -> bytes:
    total = int.from_bytes(os.pread(fd, 8, 0), "little")
    ring = os.pread(fd, TAIL_BYTES, 8)
    if total <= TAIL_BYTES:
        return ring[:total]
    at = total % TAIL_BYTES
    return ring[at:] + ring[:at]


# --- the second line: markers -------------------------------------------------------------------------------


def _start_of(pid: int) -> int:
    """When a process started, on a scale that clock changes do not move; 0 if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            fields = stat.read().rpartition(b")")[2].split()
        return 0 if fields[0] == b"Z" else int(fields[19])  # what is a zombie has ended
    except FileNotFoundError:
        pass
    try:
        return int(psutil.Process(pid).create_time()) if not psutil.LINUX else 0
    except psutil.Error:
        return 0


def _is_abandoned(marker: str, prefix: str) -> bool:
    """Whether the marker begins so, and is of an arena process that has ended."""
    match = _MARKER.fullmatch(marker)
    if match is None or not marker.startswith(prefix):
        return False
    return _start_of(int(match["pid"])) != int(match["start"])


def _marked(wanted: Callable[[str], bool]) -> list[psutil.Process]:
    """The living processes whose marker is wanted; those of other users cannot be read and are not ours."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            marker = process.environ().get(_MARKER_VARIABLE)
            if marker is not None and wanted(marker):
                found.append(process)
    return found


def _kill_marked(wanted: Callable[[str], bool], seconds: float = 2.0) -> set[int]:
    """SIGKILL to all that is marked, round after round until none is left; returns the pids.

    One look that finds nobody proves nothing: the child of one that forks and exits meanwhile is not listed.
    """
    killed: set[int] = set()
    deadline = time.monotonic() + seconds
    looks_in_vain = 0
    while looks_in_vain < 2 and time.monotonic() < deadline:
        found = _marked(wanted)
        for process in found:
            with contextlib.suppress(psutil.Error):
                process.kill()
                killed.add(process.pid)
        looks_in_vain = 0 if found else looks_in_vain + 1
        time.sleep(_ROUND_SECONDS)
    return killed


def _clean_up(marker: str, home: Path) -> None:
    """What a keeper that ended before its time could not do."""
    _kill_marked(lambda found: found == marker)
    shutil.rmtree(home, ignore_errors=True)
