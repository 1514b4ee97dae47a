"""The keeper of one bot process: when the pipe to the arena closes, nothing of the bot is left.

Run by `sandbox.keeper_command` with KEY=VALUE ... -- PROGRAM ARGUMENT ..., standard library only, and little of it:
it is started with every bot.

stdin   from the arena.  One byte: stop politely, the byte is the grace in tenths of a second.
        End of file (the arena ended, however it ended): kill at once.
stdout  to the arena, one JSON object a line, in this order:
        {"started": pid} or {"failed": errno, "stage": "limits" | "sandbox" | "folder" | "program"};
        {"exit": status, "cpu": seconds}, status as in `subprocess` (negative: minus the signal; at level strong
        a status over 128 is taken for a signal's);
        {"ended": n, "cpu": seconds}, n = processes that could not be ended in time, otherwise 0;
        cpu is that of all descendants reaped so far.
stderr  the bot's log: gets what the bot prints (both streams) until the file holds `log` bytes.

Keys: `tail` (file descriptor that gets the end of the bot's stderr, see `Tail`), `tail_bytes`, `log`, `cwd`,
`home` (a folder to make for the bot and to remove at the end), `data` (bytes of private writable memory, 0: no
limit), `nofile`, `fsize`, `level` (weak, medium, strong), `tasks` (processes and threads, where they can be counted),
`uids` (FIRST-LAST, from which the bot gets a uid of its own; none: it keeps the keeper's), `package` (the arena's,
which a bot at level medium finds in its home), `bwrap` (the program, at level strong), `processes` and `network` (yes:
it may have them); for a build `write` (the folder that it may change; its home is on disk then) and `lock` (a file
descriptor to hold to the end); and any number of times `read` and `hide` (paths that the bot sees, and does not see all
the same).
"""

from __future__ import annotations

import _socket
import contextlib
import ctypes
import errno
import fcntl
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

CHUNK = 65_536
KILL_SECONDS = 5.0
"""How long the keeper goes on killing before it gives up on what cannot die (uninterruptible sleep)."""
KILL_ROUND_SECONDS = 0.01
ORDERLY_SECONDS = 1.0

FILES_LOOK_SECONDS = 0.25
FILE_PLACES = ("/tmp", "/run/bot")
"""Where files can be made in bubblewrap's world, see `confine`."""
MOST_FILES = 10_000

SDK = "sdk"
"""The folder in a bot's home at level medium that Python may list to find the package."""
DEAF = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
EXEC_STAGES = ("limits", "sandbox", "folder", "program")
WEAK, MEDIUM, STRONG = "weak", "medium", "strong"


def libc_prctl() -> Callable[[int, int], int] | None:
    """`prctl(option, argument)`, or None where the system has none (then process groups are all we have)."""
    function = getattr(ctypes.CDLL(None), "prctl", None)
    if function is None:
        return None
    return lambda option, argument: int(function(option, ctypes.c_ulong(argument), 0, 0, 0))


def say(message: str) -> None:
    """One line to the arena; an arena that is gone no longer listens."""
    with contextlib.suppress(OSError):
        os.write(1, message.encode("ascii") + b"\n")


class Tail:
    """The last bytes of the bot's stderr in a ring file that the arena reads at any moment.

    Layout: 8 bytes little-endian, how many bytes were ever written; then the ring, byte n at `8 + n % size`.
    """

    def __init__(self, fd: int, size: int) -> None:
        os.set_inheritable(fd, False)
        self.fd = fd
        self.size = size
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        data = data[-self.size :]
        at = (self.total - len(data)) % self.size
        room = self.size - at
        try:
            os.pwrite(self.fd, data[:room], 8 + at)
            os.pwrite(self.fd, data[room:], 8)
            os.pwrite(self.fd, self.total.to_bytes(8, "little"), 0)
        except OSError:  # no room for evidence is no reason to end the bot
            pass


class Log:
    """The log file on fd 2, which may have other keepers too: never longer than `limit` bytes, and then it says so."""

    FULL = b"\n[arena: the log is full, what came later was dropped]\n"

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def add(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # a full disk is no reason to stop draining
            room = self.limit - len(self.FULL) - os.fstat(2).st_size
            if room < 0:
                return
            os.write(2, data if len(data) <= room else data[:room] + self.FULL)
            if os.fstat(2).st_size > self.limit:  # others wrote at the same time
                os.ftruncate(2, self.limit)


class Keeper:
    """One bot: its process, its two output pipes, and everything that descends from it."""

    def __init__(self, words: list[str], argv: list[str]) -> None:
        pairs = [(key, value) for key, _, value in (word.partition("=") for word in words)]
        self.options = options = dict(pairs)
        self.read = [value for key, value in pairs if key == "read"]
        self.hide = [value for key, value in pairs if key == "hide"]
        self.write = [value for key, value in pairs if key == "write"]
        self.level = options["level"]
        self.home_on_disk = self.level != STRONG or bool(self.write)
        self.argv = argv
        self.log = Log(int(options["log"]))
        self.tail = Tail(int(options["tail"]), int(options["tail_bytes"]))
        if "lock" in options:
            os.set_inheritable(int(options["lock"]), False)
        self.prctl = libc_prctl()
        self.uid: int | None = None
        """The bot's own, reserved for as long as `uid_lock` is open; None: it has ours."""
        self.uid_lock: _socket.socket | None = None
        self.bot = 0
        """The pid of our child, the bot's own or bubblewrap's, until it is reaped, then 0."""
        self.inside = 0
        """The bot's own pid in bubblewrap's world, otherwise 0."""
        self.group = 0
        """Its process group, which outlives it."""
        self.outputs: dict[int, bool] = {}
        """Open read ends of the bot's output; true for stderr."""
        self.poll = select.poll()
        self.wakeup = -1

    def run(self) -> None:
        if arena_is_gone():
            return
        self.settle()
        if self.options["uids"] and not self.reserve_uid():
            say(f'{{"failed": {errno.EUSERS}, "stage": "sandbox"}}')
            return
        if self.home_on_disk:
            self.make_home(self.options["home"])
        try:
            if self.start():
                self.watch()
        finally:
            left = self.end_descendants()
            self.drain()
            say(f'{{"ended": {left}, "cpu": {cpu_of_the_dead():.6f}}}')
            if self.home_on_disk:
                remove_home(self.options["home"])

    def make_home(self, home: str) -> None:
        """Not by the arena: killed in between, it would leave it behind."""
        os.mkdir(home, 0o700)
        if self.level == MEDIUM:
            os.mkdir(f"{home}/{SDK}")
            os.symlink(self.options["package"], f"{home}/{SDK}/arena")
        if self.uid is not None:
            for path in (home, *self.write):
                give_to(self.uid, path)

    def reserve_uid(self) -> bool:
        """Takes a uid that no other keeper on this machine holds: a socket's name says so, and vanishes with us."""
        first, last = map(int, self.options["uids"].split("-"))
        count = last - first + 1
        at = int.from_bytes(os.urandom(8), "little")
        self.uid_lock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        for step in range(count):
            uid = first + (at + step) % count
            with contextlib.suppress(OSError):  # it is taken
                self.uid_lock.bind(f"\0arena-uid-{uid}")
                self.uid = uid
                return True
        return False

    def settle(self) -> None:
        """Own session, deaf to signals meant for the arena, adoptive parent of what the bot leaves behind."""
        with contextlib.suppress(OSError):  # already the leader of a session
            os.setsid()
        for deaf in DEAF:
            signal.signal(deaf, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if self.prctl is not None:
            self.prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.wakeup, waker = os.pipe()
        os.set_blocking(self.wakeup, False)
        os.set_blocking(waker, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        self.poll.register(0, select.POLLIN)
        self.poll.register(self.wakeup, select.POLLIN)

    def start(self) -> bool:
        """Forks and executes the bot; says what became of it.  True: it runs."""
        keeper = os.getpid()
        out, out_w = os.pipe()
        err, err_w = os.pipe()
        failure, failure_w = os.pipe()
        ready, ready_w = os.pipe()
        self.bot = self.group = os.fork()
        if self.bot == 0:
            self.become_the_bot(keeper, out_w, err_w, failure_w, ready_w)
        for fd in (out_w, err_w, failure_w, ready_w):
            os.close(fd)
        with contextlib.suppress(OSError):  # it has executed already, and so it has done this itself
            os.setpgid(self.bot, self.bot)  # in both processes: whoever comes first
        report = os.read(failure, 16)
        os.close(failure)
        for fd in (out, err):
            os.set_blocking(fd, False)
            self.poll.register(fd, select.POLLIN)
        self.outputs = {out: False, err: True}
        if self.level == STRONG and not report:
            select.select([ready, 0], [], [])
            if arena_is_gone():
                return False
            if os.read(ready, 1):
                self.inside = only_child(only_child(self.bot))
            else:
                report = b"%d%d" % (EXEC_STAGES.index("sandbox"), 0)
        os.close(ready)
        if report:
            os.waitpid(self.bot, 0)
            self.bot = self.group = 0
            say(f'{{"failed": {int(report[1:])}, "stage": "{EXEC_STAGES[report[0] - 48]}"}}')
            return False
        say(f'{{"started": {self.inside or self.bot}}}')
        return True

    def become_the_bot(self, keeper: int, out: int, err: int, failure: int, ready: int) -> None:
        """The exec stage, in the forked child; never returns."""
        stage = EXEC_STAGES.index("limits")
        try:
            os.setpgid(0, 0)
            os.umask(0o022)
            null = os.open(os.devnull, os.O_RDONLY)
            for fd, target in ((null, 0), (out, 1), (err, 2)):
                os.dup2(fd, target)  # all other descriptors close on exec
            for deaf in (*DEAF, signal.SIGPIPE, signal.SIGXFSZ):  # the last two are ignored by any Python
                signal.signal(deaf, signal.SIG_DFL)  # what is ignored would stay ignored after exec
            for limit, value in self.limits():
                hard = resource.getrlimit(limit)[1]
                lowest = value if hard == resource.RLIM_INFINITY else min(value, hard)
                resource.setrlimit(limit, (lowest, lowest))
            stage = EXEC_STAGES.index("sandbox")
            failure = fcntl.fcntl(failure, fcntl.F_DUPFD_CLOEXEC, 10)  # out of the way of bubblewrap's
            before = self.confine(ready)
            if self.prctl is not None:  # now: it is lost where the uid changes
                self.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                if os.getppid() != keeper:
                    os._exit(1)
            if not before:
                stage = EXEC_STAGES.index("folder")
                os.chdir(self.options["cwd"])
                stage = EXEC_STAGES.index("program")
            os.execvp((*before, *self.argv)[0], [*before, *self.argv])
        except BaseException as error:
            number = error.errno if isinstance(error, OSError) and error.errno else 0
            os.write(failure, b"%d%d" % (stage, number))
        finally:
            os._exit(127)

    def confine(self, ready: int) -> list[str]:
        """What holds the bot, in the forked child; returns the words that stand before its command."""
        if self.level == WEAK and self.uid is None:
            return []
        from arena.bots import confine  # late: a weak start has no use for it

        home, build = self.options["home"], bool(self.write)
        processes, network = (self.options[key] == "yes" for key in ("processes", "network"))
        if self.uid is not None:
            confine.open_the_way(self.read, [home, *self.write], self.uid, up_to=self.level != STRONG)
        if self.level == STRONG:
            program = confine.seccomp_filter(own_world=True, processes=processes, build=build, network=network)
            filter_fd = confine.filter_file(program)
            os.dup2(fcntl.fcntl(ready, fcntl.F_DUPFD_CLOEXEC, 10), confine.READY_FD)
            return confine.bubblewrap(
                self.options["bwrap"],
                self.read,
                self.hide,
                self.write,
                home if build else None,
                self.options["cwd"],
                int(self.options["tasks"]),
                filter_fd,
                self.uid,
                network,
            )
        if self.uid is not None:
            confine.become(self.uid)
        if self.level == MEDIUM:
            scoped = self.uid is not None or confine.landlock_version() >= confine.SCOPED_LANDLOCK
            only_pid = None if scoped and (processes or build) else os.getpid()
            confine.drop_capabilities()
            confine.put_on_landlock(self.read, self.hide, home, self.write, network)
            confine.put_on_filter(
                confine.seccomp_filter(
                    own_world=False, only_pid=only_pid, processes=processes, build=build, network=network
                )
            )
        return []

    def limits(self) -> Iterator[tuple[int, int]]:
        yield resource.RLIMIT_CORE, 0
        yield resource.RLIMIT_NOFILE, int(self.options["nofile"])
        yield resource.RLIMIT_FSIZE, int(self.options["fsize"])
        if self.options["data"] != "0":
            yield resource.RLIMIT_DATA, int(self.options["data"])
        if self.uid is not None:  # counted by uid: of a user's own it would count all that the user runs
            yield resource.RLIMIT_NPROC, int(self.options["tasks"])

    def watch(self) -> None:
        """Drains and reaps until the bot has exited, its grace is over, or the arena is gone."""
        deadline: float | None = None
        look_s = None if self.level == WEAK or self.write else FILES_LOOK_SECONDS
        while self.bot and (deadline is None or time.monotonic() < deadline):
            if look_s is not None and self.too_many_files():
                return
            wait_s = look_s if deadline is None else max(0.0, deadline - time.monotonic()) + 0.001
            for fd, _ in self.poll.poll(None if wait_s is None else wait_s * 1000):
                if fd == self.wakeup:
                    self.reap()
                elif fd == 0:
                    grace = read_order()
                    if grace is None:
                        return
                    deadline = time.monotonic() + grace
                    self.ask_to_end()
                elif fd in self.outputs:  # the reaping before it may have closed it
                    self.pump(fd)

    def too_many_files(self) -> bool:
        """Whether a bot fills its world with empty files or sockets, which no limit counts."""
        count = 0
        with contextlib.suppress(OSError):  # it has just ended
            if self.inside:
                for place in FILE_PLACES:
                    told = os.statvfs(f"/proc/{self.inside}/root{place}")
                    count += told.f_files - told.f_ffree
            else:
                count = len(os.listdir(self.options["home"]))
        if count > MOST_FILES:
            self.tail.add(b"[arena: it made more than %d files and was ended]\n" % MOST_FILES)
        return count > MOST_FILES

    def pump(self, fd: int) -> bool:
        """One chunk of output from `fd` to log and tail; false if there is none now."""
        try:
            data = os.read(fd, CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self.poll.unregister(fd)
            os.close(fd)
            del self.outputs[fd]
            return False
        self.log.add(data)
        if self.outputs[fd]:
            self.tail.add(data)
        return True

    def drain(self) -> None:
        """What the pipes hold at this moment: bounded, a survivor may go on printing for ever."""
        for fd in tuple(self.outputs):
            for _ in range(32):
                if not self.pump(fd):
                    break

    def reap(self) -> bool:
        """Buries all that has died and reports the bot's end once; false when there is no child left."""
        try:
            while os.read(self.wakeup, 512):
                pass
        except BlockingIOError:
            pass
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)  # any: a thread that has itself traced by us, too
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.bot and (os.WIFEXITED(status) or os.WIFSIGNALED(status)):  # no mere ptrace stop
                self.bot = 0
                self.drain()  # its last words are in the tail before the arena hears of its end
                code = os.waitstatus_to_exitcode(status)
                if self.inside and code > 128:  # as bubblewrap says it
                    code = 128 - code
                say(f'{{"exit": {code}, "cpu": {cpu_of_the_dead():.6f}}}')

    def ask_to_end(self) -> None:
        for number in (signal.SIGTERM, signal.SIGCONT):  # a stopped bot hears nothing before it goes on
            if self.inside:
                self.signal_inside(number)
            else:
                signal_group(self.group, number)

    def signal_inside(self, number: int) -> None:
        """To the bot in bubblewrap's world, not to bubblewrap, whose death is everybody's; looked up anew each time."""
        if pid := only_child(only_child(self.bot)):
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    def end_descendants(self) -> int:
        """Kills until no child is left; returns how many would not die within `KILL_SECONDS`.

        Each death makes the victim's children ours (we are their subreaper), so killing direct children,
        round after round, reaches all generations, also those that left the session.
        """
        if self.inside:  # then bubblewrap buries it, and knows what CPU it took
            self.signal_inside(signal.SIGKILL)
            orderly = time.monotonic() + ORDERLY_SECONDS
            while self.bot and time.monotonic() < orderly:
                select.select([self.wakeup], [], [], KILL_ROUND_SECONDS)
                self.reap()
        deadline = time.monotonic() + KILL_SECONDS
        while True:
            for pid in direct_children():
                kill_with_group(pid)
            if self.prctl is None and self.group:  # no subreaper: the bot's group is what can be reached
                signal_group(self.group, signal.SIGKILL)
            if not self.reap():
                return 0
            if time.monotonic() > deadline:
                return max(1, len(direct_children()))
            select.select([self.wakeup], [], [], KILL_ROUND_SECONDS)


def cpu_of_the_dead() -> float:
    """CPU seconds of all descendants that were reaped, by whomever."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def arena_is_gone() -> bool:
    """Whether the pipe is closed already, or holds the order to stop: then no bot is started."""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    return bool(poll.poll(0))


def read_order() -> float | None:
    """The grace that the arena grants in seconds; None when it grants none or is gone."""
    try:
        order = os.read(0, 1)
    except OSError:
        return None
    return order[0] / 10 if order and order[0] else None


def only_child(pid: int) -> int:
    """The child of a process that has one, or had."""
    children = children_of(pid) if pid else []
    return children[0] if children else 0


def direct_children() -> list[int]:
    """The processes whose parent we are, zombies included; empty where there is no /proc."""
    return children_of(os.getpid())


def children_of(parent: int) -> list[int]:
    try:
        with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as children:
            return [int(pid) for pid in children.read().split()]
    except OSError:
        pass
    try:
        numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    return [pid for pid in numbers if parent_of(pid) == parent]


def parent_of(pid: int) -> int:
    """The parent's pid, 0 if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return int(stat.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def signal_group(group: int, number: int) -> None:
    with contextlib.suppress(OSError):  # nobody is left in it
        os.killpg(group, number)


def kill_with_group(pid: int) -> None:
    """SIGKILL to a child and its process group.

    The kernel kills a group as a whole, so that nobody in it forks out of the way.  A descendant that joined
    the keeper's own group is killed alone.
    """
    try:
        group = os.getpgid(pid)
        if group != os.getpgrp():
            os.killpg(group, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)
    except OSError:  # it is gone, or belongs to somebody else now (setuid): the deadline ends the loop
        pass


def give_to(uid: int, path: str) -> None:
    """Make a file, or a folder with all that is in it, the uid's."""
    os.chown(path, uid, uid, follow_symlinks=False)
    if os.path.isdir(path) and not os.path.islink(path):
        for entry in os.listdir(path):
            give_to(uid, f"{path}/{entry}")


def remove_home(path: str) -> None:
    import shutil  # late: it would add a third to the keeper's start

    with contextlib.suppress(RecursionError):  # folders nested by the thousand: rubbish, but no harm
        shutil.rmtree(path, ignore_errors=True)


def main() -> None:
    arguments = sys.argv[1:]
    at = arguments.index("--")
    Keeper(arguments[:at], arguments[at + 1 :]).run()
