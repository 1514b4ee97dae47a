"""What holds a bot, put on by the keeper's forked child just before exec: standard library only, Linux only.

A filter of system calls written here, Landlock through its three system calls, a uid of its own under root, and the
words of bubblewrap's command.  Whatever fails raises `OSError`: a bot never runs with less than was asked for.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import signal
import stat
import struct
from collections.abc import Iterable, Mapping, Sequence

INSIDE = "/run/bot"
"""Where a bot's socket lies in bubblewrap's world, in a file system of its own."""
INSIDE_HOME = "/tmp"
HOME_SIZE = 64 << 20
SOCKET_SIZE = 1 << 20
READY_FD = 3
"""Gets a byte when the inside is reached; one digit, as a shell wants it."""

_libc = ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def _check(result: int, path: str | None = None) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), path)


# --- the filter of system calls -----------------------------------------------------------------------------

_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""The kernel's name of a machine, and the column of its numbers below."""
_X32 = 0x40000000
"""x86_64 numbers from here on are of another ABI, which is refused whole."""
_TABLE = """
fork 57 -, vfork 58 -, clone 56 220, clone3 435 435, unshare 272 97, setns 308 268, socket 41 198,
socketpair 53 199, connect 42 203, mmap 9 222, kill 62 129, tgkill 234 131, tkill 200 130,
rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240, pidfd_open 434 434, pidfd_getfd 438 438,
pidfd_send_signal 424 424, prlimit64 302 261, sched_setaffinity 203 122, sched_setscheduler 144 119,
sched_setparam 142 118, sched_setattr 314 274, setpriority 141 140, ioprio_set 251 30, ptrace 101 117,
process_vm_readv 310 270, process_vm_writev 311 271, process_madvise 440 440, process_mrelease 448 448,
kcmp 312 272, move_pages 279 239, migrate_pages 256 238, bpf 321 280, perf_event_open 298 241,
userfaultfd 323 282, io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427, keyctl 250 219,
add_key 248 217, request_key 249 218, shmget 29 194, shmat 30 196, shmctl 31 195, semget 64 190, semop 65 193,
semtimedop 220 192, semctl 66 191, msgget 68 186, msgsnd 69 189, msgrcv 70 188, msgctl 71 187, mq_open 240 180,
mq_unlink 241 181, name_to_handle_at 303 264, open_by_handle_at 304 265, memfd_create 319 279,
memfd_secret 447 447, chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -, lchown 94 -,
fchown 93 55, fchownat 260 54, setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, setxattrat 463 463,
removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16, removexattrat 466 466, utime 132 -, utimes 235 -,
futimesat 261 -, utimensat 280 88, inotify_add_watch 254 27, flock 73 32, fcntl 72 25, mincore 27 232, preadv2 327 286,
cachestat 451 451
"""
_NUMBERS: Mapping[str, Sequence[str]] = {
    name: numbers for name, *numbers in (entry.split() for entry in _TABLE.replace("\n", " ").split(","))
}
"""By name: the number on x86_64 and on aarch64; `-` where there is no such call."""

_NEVER = (
    *("setns", "unshare", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease"),
    *("kcmp", "move_pages", "migrate_pages", "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "tkill"),
    *("rt_sigqueueinfo", "rt_tgsigqueueinfo", "bpf", "perf_event_open", "userfaultfd", "io_uring_setup"),
    *("io_uring_enter", "io_uring_register", "keyctl", "add_key", "request_key", "shmget", "shmat", "shmctl"),
    *("semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink"),
    *("name_to_handle_at", "open_by_handle_at", "connect"),
    *("flock", "inotify_add_watch", "mincore", "cachestat"),
)
_BUILDS_MAY = frozenset({"connect", "flock", "inotify_add_watch", "mincore", "cachestat", "memfd_create"})
"""Nothing plays while a bot is built: what only keeps bots from talking to each other does not matter, and tools need
it.  What a build connects with is a matter of the sockets that it can have."""
_NEVER_IN_OUR_WORLD = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat", "setxattr", "lsetxattr"),
    *("fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr", "removexattrat", "utime", "utimes"),
    *("futimesat", "utimensat"),
)
"""What Landlock lets through, and would reach the arena's files where they are not out of sight."""
_ONLY_FOR_ITSELF = {
    **{"prlimit64": 0, "sched_setaffinity": 0, "sched_setscheduler": 0, "sched_setparam": 0, "sched_setattr": 0},
    **{"setpriority": 1, "ioprio_set": 1},
}
"""The argument that names a process, and must be 0."""

_FILE_LOCKS = (5, 6, 7, 36, 37, 38, 1024, 1026)
"""Commands of fcntl: locks, leases and notes of change, by which two that see the same file could talk."""
_AF_UNIX, _SOCK_STREAM, _SOCK_SEQPACKET, _SOCK_TYPE_MASK = 1, 1, 5, 0xF
_AF_INET, _AF_INET6, _AF_NETLINK = 2, 10, 16
_CLONE_THREAD = 0x10000
_CLONE_NAMESPACES = 0x7E020000
_SHARED_ANONYMOUS = 0x21
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_FIELD = struct.Struct("=HBBI")
_SET_SECCOMP, _WITH_FILTER = 22, 2


def seccomp_filter(
    *, own_world: bool, only_pid: int | None = None, processes: bool = False, build: bool = False, network: bool = False
) -> bytes:
    """The program for the kernel.  `own_world`: it sees no files and processes but its own; `only_pid`: signals go to
    this process alone.

    Threads may be made, and processes only where that is allowed: so there are no fork bombs, and a limit of memory is
    one of the whole bot.  Sockets are of connections between processes, and listen only.  Memory is never shared
    without a file.  A build may make processes and change modes of files; sockets of the internet only by `network`.
    """
    machine = os.uname().machine
    if machine not in _ARCHITECTURES:
        raise OSError(errno.ENOTSUP, f"the filter of system calls knows {', '.join(_ARCHITECTURES)}, not {machine}")
    audit, column = _ARCHITECTURES[machine]
    program = [_op(_LOAD, 4), _op(_EQUAL, audit, 1, 0), _op(_RETURN, _KILL), _op(_LOAD, 0)]
    if column == 0:
        program += [_op(_AT_LEAST, _X32, 0, 1), _op(_RETURN, _KILL)]

    def rule(name: str, *body: bytes) -> None:
        """What becomes of this call, for good: every way through the body returns."""
        number = _NUMBERS[name][column]
        if number != "-":
            program.extend((_op(_EQUAL, int(number), 0, len(body)), *body))

    freed = _BUILDS_MAY if build else frozenset()
    processes |= build
    for name in (*_NEVER, *(() if own_world or build else _NEVER_IN_OUR_WORLD)):
        if name not in freed:
            rule(name, _refuse(errno.EPERM))
    for name in () if processes else ("fork", "vfork"):
        rule(name, _refuse(errno.EAGAIN))
    for name in ("clone3", "memfd_create", "memfd_secret", "preadv2"):
        if name not in freed:
            rule(name, _refuse(errno.ENOSYS))  # as if the kernel were older: there is another way
    if processes:
        spaces = _op(_LOAD, 16), _op(_AND, _CLONE_NAMESPACES)
        rule("clone", *spaces, _op(_EQUAL, 0, 1, 0), _refuse(errno.EPERM), _op(_RETURN, _ALLOW))
    else:
        thread = _op(_LOAD, 16), _op(_AND, _CLONE_THREAD)
        rule("clone", *thread, _op(_EQUAL, 0, 0, 1), _refuse(errno.EAGAIN), _op(_RETURN, _ALLOW))
    unix_stream = (
        *(_op(_LOAD, 16), _op(_EQUAL, _AF_UNIX, 0, 5), _op(_LOAD, 24), _op(_AND, _SOCK_TYPE_MASK)),
        *(_op(_EQUAL, _SOCK_STREAM, 1, 0), _op(_EQUAL, _SOCK_SEQPACKET, 0, 1), _op(_RETURN, _ALLOW)),
    )
    rule("socketpair", *unix_stream, _refuse(errno.EAFNOSUPPORT))
    if build:
        families = (_AF_INET, _AF_INET6, _AF_NETLINK) if network else ()
        allowed = (part for family in families for part in (_op(_EQUAL, family, 0, 1), _op(_RETURN, _ALLOW)))
        rule("socket", _op(_LOAD, 16), *allowed, _refuse(errno.EAFNOSUPPORT))
    else:
        rule("socket", *unix_stream, _refuse(errno.EAFNOSUPPORT))
    if not build:
        shared = _op(_LOAD, 40), _op(_AND, _SHARED_ANONYMOUS), _op(_EQUAL, _SHARED_ANONYMOUS, 0, 1)
        rule("mmap", *shared, _refuse(errno.ENOMEM), _op(_RETURN, _ALLOW))
        locks = (part for command in _FILE_LOCKS for part in (_op(_EQUAL, command, 0, 1), _refuse(errno.ENOLCK)))
        rule("fcntl", _op(_LOAD, 24), *locks, _op(_RETURN, _ALLOW))
    for name, place in _ONLY_FOR_ITSELF.items():
        itself = _op(_LOAD, 16 + 8 * place), _op(_EQUAL, 0, 0, 1)
        rule(name, *itself, _op(_RETURN, _ALLOW), _refuse(errno.EPERM))
    if only_pid is not None:
        for name in ("kill", "tgkill"):
            rule(name, _op(_LOAD, 16), _op(_EQUAL, only_pid, 0, 1), _op(_RETURN, _ALLOW), _refuse(errno.EPERM))
    return b"".join((*program, _op(_RETURN, _ALLOW)))


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return _FIELD.pack(code, if_true, if_false, value)


def _refuse(code: int) -> bytes:
    return _op(_RETURN, _ERRNO | code)


def put_on_filter(program: bytes) -> None:
    """From here on this process and all that it becomes."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))

    filter = Program(len(program) // _FIELD.size, program)
    _check(_libc.prctl(_SET_SECCOMP, ctypes.c_ulong(_WITH_FILTER), ctypes.byref(filter)))


def filter_file(program: bytes) -> int:
    """A descriptor from which bubblewrap reads the program and which it closes; out of the way of `READY_FD`."""
    fd = os.memfd_create("arena-filter")
    os.write(fd, program)
    os.lseek(fd, 0, os.SEEK_SET)
    return fcntl.fcntl(fd, fcntl.F_DUPFD, 10)


# --- Landlock -----------------------------------------------------------------------------------------------

LEAST_LANDLOCK = 3
"""Before this version of its interface a file that may not be written could be cut to nothing."""
SCOPED_LANDLOCK = 6
"""From this version on signals stay within it."""
_READ_FILE, _READ = 1 << 0 | 1 << 2, 1 << 0 | 1 << 2 | 1 << 3
_WRITE_FILE, _REMOVE_FILE, _MAKE_SOCKET = 1 << 1, 1 << 5, 1 << 9
_LITTLE_OF_THE_SYSTEM = ("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/sys/devices/system/cpu")
_SET_NO_NEW_PRIVILEGES = 38


def landlock_version() -> int:
    """The version of its interface here.  Raises `OSError` if it is too old, or there is none."""
    version = _call(444, None, ctypes.c_size_t(0), 1)
    if version < LEAST_LANDLOCK:
        raise OSError(errno.ENOTSUP, f"Landlock is of version {version} here; expected {LEAST_LANDLOCK} or newer")
    return version


def put_on_landlock(read: Sequence[str], hide: Sequence[str], home: str, write: Sequence[str], network: bool) -> None:
    """From here on nothing but `read` (less `hide`) can be opened, and nothing be made but a socket in `home`.

    A build may change all below `write`, and `home` too; it reaches other machines with `network` only.
    """
    version = landlock_version()
    files = (1 << (16 if version >= 5 else 15)) - 1
    ports = 3 if version >= 4 and not network else 0
    scopes = 3 if version >= SCOPED_LANDLOCK else 0
    attributes = struct.pack("=QQQ", files, ports, scopes)[: 8 if version < 4 else 16 if version < 6 else 24]
    rules = _call(444, attributes, ctypes.c_size_t(len(attributes)), 0)
    for path in (*_seen(read, hide), *_LITTLE_OF_THE_SYSTEM, "/dev/urandom", "/dev/random"):
        _grant(rules, path, _READ)
    _grant(rules, os.devnull, _READ_FILE | _WRITE_FILE)
    for path in (*write, home) if write else ():
        _grant(rules, path, files)
    _grant(rules, home, _READ | _REMOVE_FILE | _MAKE_SOCKET)
    nothing = ctypes.c_ulong(0)
    _check(_libc.prctl(_SET_NO_NEW_PRIVILEGES, ctypes.c_ulong(1), nothing, nothing, nothing))
    _call(446, rules, 0)
    os.close(rules)


def _grant(rules: int, path: str, access: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(os.fstat(fd).st_mode):
        access &= _READ_FILE | _WRITE_FILE
    _call(445, rules, 1, struct.pack("=Qi", access, fd), 0)
    os.close(fd)


def _seen(read: Iterable[str], hide: Sequence[str]) -> Iterable[str]:
    """The paths, and instead of one with something hidden below it what else it holds."""
    for path in read:
        if path in hide:
            continue
        if any(hidden.startswith(path.rstrip("/") + "/") for hidden in hide):
            yield from _seen((entry.path for entry in os.scandir(path)), hide)
        else:
            yield path


# --- a uid of its own ---------------------------------------------------------------------------------------

_MS_REC, _MS_PRIVATE = 16384, 1 << 18
_DROP_FROM_BOUNDING_SET = 24
_CLONE_NEWNS, _CLONE_NEWUSER = 0x20000, 0x10000000
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE, _OPEN_TREE_CLONE, _F_EMPTY_PATH = -100, 0x1000, 0x8000, 1, 4
_ATTRIBUTE_READONLY, _ATTRIBUTE_IDMAP = 0x1, 0x100000


def open_the_way(read: Sequence[str], write: Sequence[str], uid: int, *, up_to: bool) -> None:
    """Let this uid reach and read these paths, though only their owner may; in a world of mounts of our own.

    What is closed itself is seen as if the uid owned it, and cannot be changed.  With `up_to` also the folders on the
    way are opened: each that only its owner may enter is covered by an empty one that holds these paths only.
    """
    closed = {path for path in read if not _open_to_others(path)}
    barred = {path: folder for path in (*read, *write) if up_to and (folder := _first_barred(path)) is not None}
    if not closed and not barred:
        return
    _check(_libc.unshare(_CLONE_NEWNS), min(closed | barred.keys()))
    _check(_libc.mount(None, b"/", None, ctypes.c_ulong(_MS_REC | _MS_PRIVATE), None), "/")
    trees = [
        (path, _tree(path, read_only=path in read, uid=uid if path in closed else None))
        for path in sorted(closed | barred.keys())
    ]
    for folder in sorted(set(barred.values())):
        _check(_libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", ctypes.c_ulong(0), b"mode=755,size=64k"), folder)
    for path, tree in trees:
        if not os.path.lexists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if stat.S_ISDIR(os.fstat(tree).st_mode):
                os.mkdir(path)
            else:
                os.close(os.open(path, os.O_CREAT | os.O_RDONLY))
        _call(_MOVE_MOUNT, tree, b"", _AT_FDCWD, os.fsencode(path), _F_EMPTY_PATH)
        os.close(tree)


def _open_to_others(path: str) -> bool:
    mode = os.stat(path).st_mode
    needed = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) else 0)
    return mode & needed == needed


def _tree(path: str, *, read_only: bool, uid: int | None) -> int:
    """A copy of what is mounted at a path, to be mounted anew; with a uid, what its owner owns is the uid's."""
    tree = _call(_OPEN_TREE, _AT_FDCWD, os.fsencode(path), _OPEN_TREE_CLONE | _AT_RECURSIVE | os.O_CLOEXEC)
    users = -1
    attributes = _ATTRIBUTE_READONLY if read_only else 0
    if uid is not None:
        users = _users(os.stat(path), uid)
        attributes |= _ATTRIBUTE_IDMAP
    given = struct.pack("=QQQQ", attributes, 0, 0, max(users, 0))
    _call(_MOUNT_SETATTR, tree, b"", _AT_EMPTY_PATH, given, ctypes.c_size_t(len(given)))
    if users >= 0:
        os.close(users)
    return tree


def _users(owner: os.stat_result, uid: int) -> int:
    """A user namespace in which the owner is the uid, as a map for a mount."""
    ready, ready_end = os.pipe()
    holder = os.fork()
    if holder == 0:
        if _libc.unshare(_CLONE_NEWUSER) == 0:
            os.write(ready_end, b"x")
            signal.pause()
        os._exit(1)
    os.close(ready_end)
    try:
        if not os.read(ready, 1):
            raise OSError(errno.EPERM, "no user namespace for a map of uids")
        for kind, number in (("uid", owner.st_uid), ("gid", owner.st_gid)):
            with open(f"/proc/{holder}/{kind}_map", "w", encoding="ascii") as file:
                file.write(f"{number} {uid} 1")
        return os.open(f"/proc/{holder}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(ready)
        os.kill(holder, signal.SIGKILL)
        os.waitpid(holder, 0)


def _first_barred(path: str) -> str | None:
    """The topmost folder on the way that others may not enter."""
    parts = path.split("/")
    for length in range(2, len(parts)):
        folder = "/".join(parts[:length])
        try:
            if not os.stat(folder).st_mode & stat.S_IXOTH:
                return folder
        except OSError:
            return None
    return None


def drop_capabilities() -> None:
    """What root would still be able to do after exec; nobody else has any."""
    if os.geteuid() != 0:
        return
    with open("/proc/sys/kernel/cap_last_cap", encoding="ascii") as file:
        last = int(file.read())
    for number in range(last + 1):
        _check(_libc.prctl(_DROP_FROM_BOUNDING_SET, ctypes.c_ulong(number), 0, 0, 0))


def become(uid: int) -> None:
    """Another user for good."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


# --- bubblewrap ---------------------------------------------------------------------------------------------


def bubblewrap(
    program: str,
    read: Sequence[str],
    hide: Sequence[str],
    write: Sequence[str],
    home: str | None,
    cwd: str,
    tasks: int,
    filter_fd: int,
    uid: int | None,
    network: bool,
) -> list[str]:
    """The command in front of the bot's own: a world with nothing in it but what is named here.

    Its home is in memory, but for a build, whose `home` is on disk.  Under root the uid is set inside, where every path
    can be entered; a user's limit of tasks is set inside, too, where it counts the bot alone.
    """
    words = [program, "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    words += [] if network else ["--unshare-net"]
    if home is None:
        words += ["--perms", "1777", "--size", str(HOME_SIZE), "--tmpfs", INSIDE_HOME]
    else:
        words += ["--bind", home, INSIDE_HOME]
    if uid is None:
        words += ["--unshare-user", "--cap-drop", "ALL"]
    made = {"/", INSIDE_HOME}
    for path, hidden in sorted([*((path, False) for path in (*read, *write)), *((path, True) for path in hide)]):
        if hidden:
            words += _hidden(path)
        elif os.path.islink(path) and "/" not in path[1:]:  # /bin and its like
            words += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            for folder in _above(path):
                if folder not in made:
                    made.add(folder)
                    words += ["--perms", "0755", "--dir", folder]  # bubblewrap of its own would bar it to other uids
            words += ["--bind" if path in write else "--ro-bind", path, path]
    words += ["--proc", "/proc", "--dev", "/dev", "--dev-bind", os.devnull, "/dev/zero"]
    words += ["--perms", "0777", "--size", str(SOCKET_SIZE), "--tmpfs", INSIDE]
    words += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", cwd, "--seccomp", str(filter_fd), "--"]
    words += ["/bin/sh", "-c", f'echo >&{READY_FD} && exec {READY_FD}>&- "$@"', "sh"]
    if uid is None:
        words += ["prlimit", f"--nproc={tasks}", "--"]
    else:
        words += ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--"]
    return words


def _hidden(path: str) -> list[str]:
    if os.path.isdir(path):
        return ["--size", "4096", "--tmpfs", path, "--remount-ro", path]
    return ["--ro-bind", os.devnull, path] if os.path.exists(path) else []


def _above(path: str) -> list[str]:
    """The folders on the way to a path, the root left out."""
    parts = path.split("/")
    return ["/".join(parts[:length]) for length in range(2, len(parts))]
