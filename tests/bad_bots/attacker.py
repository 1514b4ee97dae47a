"""A bot that plays nothing and tries one thing that no bot may do: `attacker.py ATTACK`.

It prints how far it came as one line of JSON, a number: the arena compares it with what came of it (see besieged.py).
Its victims are named in the environment.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import json
import mmap
import os
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

libc = ctypes.CDLL(None, use_errno=True)
MB = 1 << 20
HOME = Path(os.environ["HOME"])
PLACES = (HOME, Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), Path("/dev"), Path("/run"), Path("/run/bot"), Path())
NOTE = os.environ.get("NOTE", "")
NOTE_KEY = int(os.environ.get("NOTE_KEY", "0"))


def tried(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (OSError, MemoryError, RuntimeError, ValueError):
        return False
    return True


def times(most: int, attempt: Callable[[], object]) -> int:
    """How often it works in a row."""
    for count in range(most):
        if not tried(attempt):
            return count
    return most


def called(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")


def fork_bomb() -> int:
    def fork() -> None:
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)

    return times(400, fork)


def thread_bomb() -> int:
    return times(400, lambda: threading.Thread(target=time.sleep, args=(600,), daemon=True).start())


def memory() -> int:
    kept: list[object] = []
    return times(50, lambda: kept.append(mmap.mmap(-1, 64 * MB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)))


def shared_memory() -> int:
    kept: list[object] = []
    return times(50, lambda: kept.append(mmap.mmap(-1, 64 * MB)))


def memory_in_files() -> int:
    def add() -> None:
        fd = os.memfd_create("hog")
        os.posix_fallocate(fd, 0, 8 * MB)

    return times(50, add)


def memory_in_children() -> int:
    kept: list[object] = []

    def child() -> None:
        if os.fork() == 0:
            with contextlib.suppress(ValueError, OSError, MemoryError):
                kept.append(mmap.mmap(-1, 1024 * MB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
            time.sleep(600)

    return times(6, child)


def files(most: int, size: int) -> int:
    """How many files can be made, all places together; they vanish again."""
    made: list[Path] = []

    def make(path: Path) -> None:
        with path.open("wb") as file:
            made.append(path)
            if size:
                os.posix_fallocate(file.fileno(), 0, size)

    for place in PLACES:
        for number in range(most - len(made)):
            if not tried(lambda path=place / f"arena-fill-{os.getpid()}-{number}": make(path)):  # type: ignore[misc]
                break
    for path in made:
        with contextlib.suppress(OSError):
            path.unlink()
    return len(made)


def disk_fill() -> int:
    return files(50, 4 * MB)


def empty_files() -> int:
    """Memory, or the room for names on a disk, that counts nowhere; sockets where files cannot be made."""
    names = (HOME / f"empty-{number}" for number in itertools.count())
    if tried(lambda: os.mkdir(HOME / "empty")):
        names = (HOME / "empty" / str(number) for number in itertools.count())
        return times(60_000, lambda: next(names).touch())
    return times(60_000, lambda: os.mknod(next(names), 0o600 | stat.S_IFSOCK))


def opponents_process() -> int:
    """Its environment, its memory, its threads: by /proc, by process_vm_readv, by ptrace."""
    pid = int(os.environ["OPPONENT_PID"])
    buffer = ctypes.create_string_buffer(8)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    there = (ctypes.c_void_p * 2)(int(os.environ["OPPONENT_ADDRESS"], 16), 8)
    return (
        any(b"OPPONENTS_SECRET" in _read(Path("/proc", name, "environ")) for name in _listed("/proc"))
        + tried(lambda: open(f"/proc/{pid}/mem", "rb").close())
        + tried(lambda: called(libc.process_vm_readv(pid, vector, 1, there, 1, 0)))
        + tried(lambda: called(libc.ptrace(0x4206, pid, 0, 0)))
    )


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def opponents_files() -> int:
    return tried(lambda: Path(os.environ["OPPONENT_FOLDER"], "bot.py").read_bytes())


def opponents_socket() -> int:
    return _connects(os.environ["OPPONENT_SOCKET"])


def arenas_socket() -> int:
    return _connects(os.environ["ARENAS_SOCKET"]) + _connects("\0" + os.environ["ARENAS_NAME"])


def _connects(address: str) -> int:
    def connect() -> None:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(address)

    def send() -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as client:
            client.sendto(b"x", address + ".datagram")

    return tried(connect) + tried(send)


def network() -> int:
    port = int(os.environ["ARENAS_PORT"])
    return (
        tried(lambda: socket.create_connection(("127.0.0.1", port), timeout=5).close())
        + tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port)))
        + tried(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close())
    )


def read_store() -> int:
    store = Path(os.environ["STORE"])
    return tried(store.read_bytes)


def change_store() -> int:
    store = Path(os.environ["STORE"])
    return (
        tried(lambda: store.open("ab").close())
        + tried(lambda: os.truncate(store, 0))
        + tried(lambda: store.chmod(0o666))
        + tried(lambda: os.utime(store))
        + tried(lambda: store.rename(store.with_name("moved")))
        + tried((store.parent / "journal").touch)
    )


def kill_arena() -> int:
    """Also to starve it, by limits and by the cores that it may run on."""
    pid = int(os.environ["ARENA_PID"])
    limits = (ctypes.c_ulong * 2)(64, 64)
    return (
        tried(lambda: os.sched_setaffinity(pid, {0}))
        + tried(lambda: called(libc.prlimit(pid, 7, ctypes.byref(limits), None)))
        + tried(lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
        + tried(lambda: os.kill(pid, signal.SIGKILL))
    )


def nested_namespaces() -> int:
    return tried(lambda: called(libc.unshare(0x10000000))) + tried(lambda: called(libc.unshare(0x20000)))


def leave_note() -> int:
    """For the bot that plays the return match on the same decks."""
    left = sum(tried((place / NOTE).touch) for place in PLACES)
    return left + tried(lambda: called(libc.shmget(NOTE_KEY, 4096, 0o1666)))


def find_note() -> int:
    found = sum(tried((place / NOTE).stat) for place in PLACES)
    return found + tried(lambda: called(libc.shmget(NOTE_KEY, 0, 0)))


def signal_by_locks() -> int:
    """To a bot of one's own that plays the return match at the same time: both see the same file."""
    import fcntl

    with open(__file__, "rb") as file:
        return (
            tried(lambda: fcntl.flock(file, fcntl.LOCK_SH))
            + tried(lambda: fcntl.lockf(file, fcntl.LOCK_SH))
            + tried(lambda: called(libc.inotify_add_watch(libc.inotify_init(), os.fsencode(__file__), 1)))
            + tried(lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK))
        )


def strange_calls() -> int:
    numbers = (425, 321, 298) if os.uname().machine == "x86_64" else (425, 280, 241)
    parameters = ctypes.create_string_buffer(256)
    ring = tried(lambda: called(libc.syscall(numbers[0], 4, parameters)))
    return ring + tried(lambda: called(libc.syscall(250 if numbers[1] == 321 else 219, 0, -3, 1)))


def link_for_socket() -> int:
    """The arena is led to the opponent, with cards that are not the opponent's."""
    place = os.environ["ARENA_ADDRESS"].removeprefix("unix:")
    made = tried(lambda: os.symlink(os.environ["ARENAS_SOCKET"], place))
    print(int(made), flush=True)
    time.sleep(600)
    return made


def swap_socket() -> int:
    """As `link_for_socket`, but only once the arena has seen the true one."""
    place = os.environ["ARENA_ADDRESS"].removeprefix("unix:")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    listener.listen()
    signal.signal(signal.SIGUSR1, lambda *_: None)
    print("listening", flush=True)
    signal.pause()
    swapped = tried(lambda: (os.unlink(place), os.symlink(os.environ["ARENAS_SOCKET"], place)))
    print(int(swapped), flush=True)
    time.sleep(600)
    return swapped


def unreapable_child() -> int:
    done = threading.Event()

    def be_traced() -> None:
        print(int(libc.ptrace(0, 0, 0, 0) == 0), flush=True)
        done.set()
        time.sleep(600)

    threading.Thread(target=be_traced).start()
    done.wait()
    time.sleep(600)
    return 0


def wait() -> int:
    """The opponent: it has a socket, and a secret in its environment."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.environ["ARENA_ADDRESS"].removeprefix("unix:"))
    listener.listen()
    print("ready", flush=True)
    time.sleep(600)
    return 0


def killed_early() -> int:
    time.sleep(600)
    return 0


if __name__ == "__main__":
    print(json.dumps(int(globals()[sys.argv[1]]())), flush=True)
    os._exit(0)  # whatever threads and children there are
