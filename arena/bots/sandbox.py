"""What local bots can be held in on this machine: found by really trying, not by asking what the system claims."""

from __future__ import annotations

import compileall
import functools
import glob
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from arena.bots import keeper
from arena.bots.manifest import BotKind, BotSpec

TASKS = 256
"""Processes and threads of a bot, where they can be counted ..."""
BUILD_TASKS = 4096
"""... and of a build."""

_PACKAGE = Path(__file__).resolve().parent.parent
_KEEPER = f"import sys; sys.path.append({str(_PACKAGE.parent)!r}); from arena.bots import keeper; keeper.main()"
"""An import, not the file itself: so Python compiles it once and not at every start."""
_UID_RANGES = ((2_000_000_000, 2_000_065_535), (40_000, 59_999))
"""For bots under root: beyond those that users, services and containers get; the second for small user namespaces."""
_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/etc/alternatives"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime"),
)
"""Programs and libraries; what is not there is left out."""
_SETTINGS = ("/etc/java-*", "/etc/maven")
"""Where programs under /usr have links to: patterns."""
_NETWORK = (
    *("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services"),
    *("/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/local/share/ca-certificates"),
)
"""How a build finds other machines, and knows them."""
TOOL_FOLDERS = {"RUSTUP_HOME": "~/.rustup", "JAVA_HOME": ""}
"""Variables that say where a build's tools lie, and where these lie if the variable is not set (empty: nowhere)."""
_MORE_THAN_A_PROGRAM = (".local", ".cargo")
"""Folders with a bin that hold things of the user's own, such as keys."""
_TRIAL_SECONDS = 60.0


class Level(IntEnum):
    """How much holds a bot; the stronger is the greater."""

    WEAK = 1
    """Limits of resources, a session and a home of its own; under root a uid of its own."""
    MEDIUM = 2
    """Besides, Landlock and a filter of system calls: nothing to write, no processes, no connections."""
    STRONG = 3
    """Bubblewrap and the filter: a world of its own without network, and memory for files that vanishes."""

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where a bot is built."""

    folder: Path
    """A copy of its sources, which the build may change."""
    home: Path
    """Its home, made for it and removed after it."""
    network: bool
    """Whether it may use the network."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What the bots of a run are held in."""

    level: Level = Level.WEAK
    own_uids: bool = False
    """Each bot process has a uid that nobody else has; under root only."""
    hidden: frozenset[Path] = frozenset()
    """What no bot may see, though it lie in a folder that it sees: the store, the folders of other bots."""

    def words(self, spec: BotSpec, workshop: Workshop | None = None) -> list[str]:
        """What the keeper is told of it, see there: for the bot, or where there is a workshop for its build."""
        network = workshop is not None and workshop.network
        words = [f"level={self.level}", f"uids={_uids() if self.own_uids else ''}"]
        words += [f"tasks={TASKS if workshop is None else BUILD_TASKS}"]
        words += [f"processes={_yes(spec.processes)}", f"network={_yes(network)}"]
        if workshop is not None:
            words.append(f"write={workshop.folder}")
        if self.level is Level.STRONG:
            words.append(f"bwrap={shutil.which('bwrap')}")
        if self.level is Level.MEDIUM:
            words.append(f"package={_PACKAGE}")
        if self.level > Level.WEAK or self.own_uids:
            _compile_sdk()
            seen = _seen_by(spec) if workshop is None else _seen_by_build(spec, workshop)
            words += [f"read={path}" for path in seen]
            words += [f"hide={path}" for path in sorted(self.hidden) if _lies_below(path, seen)]
        return words


LIMITS_ONLY = Sandbox()
"""What can be had everywhere and does without a uid of its own."""


def best() -> Sandbox:
    """The strongest that is to be had."""
    return next((found for level in (Level.STRONG, Level.MEDIUM) if (found := at(level)) is not None), weakest())


def weakest() -> Sandbox:
    """What is to be had everywhere."""
    return at(Level.WEAK) or LIMITS_ONLY


def at(level: Level) -> Sandbox | None:
    """The sandbox of this level, None if it is not to be had; under root with uids if they are to be had."""
    for own_uids in (True, False) if is_root() else (False,):
        if lacking(level, own_uids) is None:
            return Sandbox(level, own_uids)
    return None


@functools.cache
def lacking(level: Level, own_uids: bool = False) -> str | None:
    """Why bots cannot be held at this level (and each in a uid of its own), None if they can.

    A tiny program is run as a bot would be, and tries what no bot may do.
    """
    if level is Level.WEAK and not own_uids:
        return None
    if sys.platform != "linux":
        return "it is made of what only Linux has"
    if level is Level.STRONG and shutil.which("bwrap") is None:
        return "there is no program bwrap (apt install bubblewrap)"
    with tempfile.TemporaryDirectory(prefix="arena-trial-") as folder:
        return _tried(Sandbox(level, own_uids), Path(folder))


def is_root() -> bool:
    return os.geteuid() == 0


def keeper_command(words: Sequence[str], argv: Sequence[str]) -> list[str]:
    """The command that runs `argv` under a keeper."""
    return [sys.executable, "-I", "-S", "-c", _KEEPER, *words, "--", *argv]


# --- trying -------------------------------------------------------------------------------------------------

_TRIAL = """
import os, sys
level, own_uid, secret, sdk, *needed = sys.argv[1:]
sys.path.insert(0, sdk)
import arena.cards
for path in needed:
    os.close(os.open(path, os.O_RDONLY))
def must_fail(what, attempt, *arguments):
    try:
        attempt(*arguments)
    except OSError:
        return
    sys.exit(f"a bot could {what} all the same")
if own_uid or level != "weak":
    must_fail("read the arena's files", os.open, secret, os.O_RDONLY)
if level != "weak":
    import _socket
    must_fail("use the network", _socket.socket, _socket.AF_INET)
    must_fail("start processes", lambda: os.fork() or os._exit(0))
"""


def _tried(sandbox: Sandbox, folder: Path) -> str | None:
    """What went wrong when the trial was run, None if nothing did."""
    secret, home = folder / "secret", folder / "bot"
    secret.touch(0o600)
    home.mkdir(0o700)  # as strict as an author may be
    (home / "bot.py").touch(0o600)
    needed = (str(home / "bot.py"), *_needed_files())
    sdk = f"{folder}/home/{keeper.SDK}" if sandbox.level is Level.MEDIUM else str(_PACKAGE.parent)
    arguments = (str(sandbox.level), "yes" if sandbox.own_uids else "", str(secret), sdk, *needed)
    run = (sys.executable, "-I", "-S", "-c", _TRIAL, *arguments)
    trial = BotSpec(name="trial", kind=BotKind.FOLDER, digest="", run=run, cwd=home)
    with (folder / "log").open("w+b") as log, (folder / "tail").open("w+b") as tail:
        words = [f"tail={tail.fileno()}", "tail_bytes=4096", "log=65536", f"cwd={trial.cwd}", f"home={folder}/home"]
        words += ["data=0", "nofile=256", "fsize=1048576", *sandbox.words(trial)]
        reading, writing = os.pipe()  # open for as long as the trial may run
        try:
            done = subprocess.run(
                keeper_command(words, run),
                stdin=reading,
                stdout=subprocess.PIPE,
                stderr=log,
                env={"PATH": os.environ.get("PATH", os.defpath)},
                pass_fds=(tail.fileno(),),
                start_new_session=True,
                timeout=_TRIAL_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"the trial did not end within {_TRIAL_SECONDS:.0f} s"
        finally:
            os.close(reading)
            os.close(writing)
        reports: dict[str, int | str] = {}
        for line in done.stdout.splitlines():
            reports |= json.loads(line)
        log.seek(0)
        said = log.read().decode("utf-8", "replace").strip()
    if reports.get("exit") == 0:
        return None
    number = reports.get("failed")
    system = os.strerror(number) if isinstance(number, int) and number else ""
    return said.rpartition("\n")[2] or system or "the trial ended without a word"


def _needed_files() -> list[str]:
    """What a Python bot needs beside the SDK: gRPC, without importing it."""
    grpc = importlib.util.find_spec("grpc")
    return [grpc.origin] if grpc is not None and grpc.origin else []


@functools.cache
def _uids() -> str:
    """The uids for bots, as the keeper reads them."""
    try:
        lines = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
        mapped = [(int(first), int(count)) for first, _, count in map(str.split, lines)]
    except OSError:
        mapped = []
    for first, last in _UID_RANGES:
        if any(start <= first and last < start + count for start, count in mapped):
            return f"{first}-{last}"
    first, last = _UID_RANGES[0]
    return f"{first}-{last}"


# --- what a bot sees ----------------------------------------------------------------------------------------


def _seen_by(spec: BotSpec) -> list[str]:
    """The system's programs, the arena's Python with the SDK, the bot's program and its folder.

    Of a command also the files that it names: it is the organiser's own word.  What an author names in a bot.toml
    opens nothing: a program of that kind lies in the bot's folder or in PATH.
    """
    program = _in_path(spec.run)
    given: list[str] = []
    if spec.kind is BotKind.COMMAND:
        program = program or os.path.join(spec.cwd, spec.run[0])
        given = [os.path.join(spec.cwd, word) for word in spec.run[1:] if os.sep in word]
    return _existing(*_programs(), *_places_of(program), str(spec.cwd), *given)


def _seen_by_build(spec: BotSpec, workshop: Workshop) -> list[str]:
    """The same, with the program of its build; what tools need that lie in a user's home; and the way to the network.

    Its folder is not among it: it may write there.
    """
    network = _NETWORK if workshop.network else ()
    tools = tool_folders().values()
    return _existing(*_programs(), *_places_of(_in_path(spec.build)), *_places_of(_in_path(spec.run)), *tools, *network)


def tool_folders() -> dict[str, str]:
    """By variable, where a build's tools lie, as far as they are there."""
    folders = {name: os.environ.get(name) or os.path.expanduser(usual) for name, usual in TOOL_FOLDERS.items()}
    return {name: folder for name, folder in folders.items() if os.path.isdir(folder)}


def _programs() -> Iterator[str]:
    """What every bot and every build sees."""
    yield from _SYSTEM
    for pattern in _SETTINGS:
        yield from glob.iglob(pattern)
    yield from (sys.prefix, sys.base_prefix, *_places_of(sys.executable), str(_PACKAGE))


def _in_path(argv: Sequence[str]) -> str:
    """Where the program of a command lies, if it is found in PATH; else empty."""
    return "" if os.sep in argv[0] else shutil.which(argv[0]) or ""


def _existing(*paths: str) -> list[str]:
    return [path for path in dict.fromkeys(map(os.path.abspath, paths)) if os.path.exists(path) and path != os.sep]


@functools.cache
def _compile_sdk() -> None:
    """Once for all: bots cannot write beside it, and would compile it at every start."""
    compileall.compile_dir(_PACKAGE / "bot", quiet=2)


def _places_of(path: str) -> Iterator[str]:
    """Where a program is installed, at each link of the chain that leads to it; nowhere if the path is empty."""
    seen: set[str] = set()
    while path and path not in seen:
        seen.add(path)
        folder = os.path.dirname(path)
        above = os.path.dirname(folder)
        whole = os.path.basename(folder) in ("bin", "sbin") and above not in (os.path.expanduser("~"), os.sep)
        yield above if whole and os.path.basename(above) not in _MORE_THAN_A_PROGRAM else folder
        if not os.path.islink(path):
            return
        path = os.path.abspath(os.path.join(folder, os.readlink(path)))


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"


def _lies_below(path: Path, seen: Sequence[str]) -> bool:
    """Whether to hide it changes anything, and takes nothing away that is seen for a reason of its own."""
    within = any(path != Path(place) and path.is_relative_to(place) for place in seen)
    return within and not any(Path(place) == path for place in seen)
