"""The keeper as a real process, driven through its pipes as the arena drives it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from arena.bots.sandbox import keeper_command

DEADLINE = 30.0
LOG_BYTES = 100_000
TAIL_BYTES = 4096
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="needs a child subreaper")

DAEMON = """
import os, signal, sys, time
def daemonise():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            open("daemon", "w").write(str(os.getpid()))
            while True:
                time.sleep(60)
        os._exit(0)
    os.wait()
    while not os.path.exists("daemon") or not open("daemon").read():
        time.sleep(0.001)
daemonise()
"""
"""A grandchild in a session of its own, deaf to polite signals, that no longer has its parent."""


@dataclass
class Kept:
    """A keeper under test and the arena's ends of its pipes."""

    process: subprocess.Popen[bytes]
    folder: Path
    marker: str
    tail_fd: int
    seen: list[dict[str, Any]] = field(default_factory=list)

    def report(self) -> dict[str, Any]:
        """The next report, an empty one at the end."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE)
        assert ready, "the keeper says nothing"
        line = self.process.stdout.readline()
        self.seen.append(json.loads(line) if line else {})
        return self.seen[-1]

    def order(self, order: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(order)
        self.process.stdin.flush()

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def ended(self) -> dict[str, Any]:
        """Reads to the last report and waits for the keeper; then nothing with its marker may be left."""
        last: dict[str, Any] = {}
        while report := self.report():
            last = report
        self.process.wait(DEADLINE)
        assert marked(self.marker) == []
        return last

    def exit_status(self) -> int:
        return int(next(report["exit"] for report in self.seen if "exit" in report))

    def log(self) -> str:
        return (self.folder / "log").read_text(encoding="utf-8")

    def wait_for(self, name: str) -> str:
        """Waits until the bot has written something into the file `name` of its folder."""
        path = self.folder / name
        wait_until(lambda: path.exists() and path.read_text(encoding="utf-8") != "")
        return path.read_text(encoding="utf-8")


Keep = Callable[..., Kept]


def marked(marker: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get("ARENA_MARKER") == marker:
                found.append(process)
    return found


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.002)


def keeper_argv(folder: Path, tail_fd: int, argv: list[str], **options: object) -> list[str]:
    given = {
        "tail": tail_fd,
        "tail_bytes": TAIL_BYTES,
        "log": LOG_BYTES,
        "cwd": folder,
        "home": folder / "home",
        "data": 0,
        "nofile": 64,
        "fsize": 1_000_000,
        "level": "weak",
        "tasks": 256,
        "uids": "",
    } | options
    words = [f"{key}={value}" for key, value in given.items()]
    return keeper_command(words, argv)


@pytest.fixture
def keep(tmp_path: Path) -> Iterator[Keep]:
    """Starts keepers; a string is Python source of the bot, a list is its argv."""
    started: list[Kept] = []

    def start(bot: str | list[str], stdin: int = subprocess.PIPE, **options: object) -> Kept:
        marker = uuid.uuid4().hex
        tail_fd = os.open(tmp_path / "tail", os.O_RDWR | os.O_CREAT)
        argv = [sys.executable, "-S", "-u", "-c", bot] if isinstance(bot, str) else bot
        with (tmp_path / "log").open("ab") as log:
            process = subprocess.Popen(
                keeper_argv(tmp_path, tail_fd, argv, **options),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=log,
                env={"PATH": os.defpath, "LANG": "C.UTF-8", "ARENA_MARKER": marker},
                pass_fds=(tail_fd,),
                start_new_session=True,
            )
        started.append(Kept(process, tmp_path, marker, tail_fd))
        return started[-1]

    yield start
    for kept in started:
        for process in marked(kept.marker):
            with contextlib.suppress(psutil.Error):
                process.kill()
        kept.process.wait(DEADLINE)
        for pipe in (kept.process.stdin, kept.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        os.close(kept.tail_fd)


# --- how a bot ends -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("pass", 0),
        ("raise SystemExit(7)", 7),
        ("import os; os.kill(os.getpid(), 9)", -9),
        ("import os; os.abort()", -6),
    ],
)
def test_the_exit_status_of_the_bot_is_reported(keep: Keep, code: str, status: int) -> None:
    kept = keep(code)
    assert kept.ended()["ended"] == 0
    assert [next(iter(report), None) for report in kept.seen] == ["started", "exit", "ended", None]
    assert kept.exit_status() == status


def test_a_bot_that_hears_sigterm_may_use_its_grace(keep: Keep) -> None:
    kept = keep(
        """
import signal, sys, time
def leave(*_):
    print("bye")
    sys.exit(3)
signal.signal(signal.SIGTERM, leave)
open("ready", "w").write("x")
while True:
    time.sleep(60)
"""
    )
    kept.wait_for("ready")
    kept.order(b"\xff")
    kept.ended()
    assert kept.exit_status() == 3
    assert kept.log() == "bye\n"


@linux_only
def test_after_the_grace_nothing_is_left_not_even_a_deaf_daemon(keep: Keep) -> None:
    ready = "signal.signal(15, signal.SIG_IGN)\nopen('ready', 'w').write('x')\ntime.sleep(99)"
    kept = keep(DAEMON + ready)
    kept.wait_for("ready")
    assert len(marked(kept.marker)) == 3
    kept.order(b"\x01")
    assert kept.ended()["ended"] == 0
    assert kept.exit_status() == -signal.SIGKILL


@pytest.mark.parametrize("how", ["the pipe closes", "no grace is given"])
def test_without_grace_the_bot_is_killed_unasked(keep: Keep, how: str) -> None:
    ready = "signal.signal(15, print); open('ready', 'w').write('x')"
    kept = keep(f"import signal, time\n{ready}\ntime.sleep(99)")
    kept.wait_for("ready")
    if how == "the pipe closes":
        kept.close()
    else:
        kept.order(b"\0")
    kept.ended()
    assert kept.exit_status() == -signal.SIGKILL
    assert kept.log() == ""


@linux_only
def test_the_daemon_that_a_bot_leaves_behind_ends_with_it(keep: Keep) -> None:
    kept = keep(DAEMON)
    kept.ended()
    assert kept.exit_status() == 0
    assert not psutil.pid_exists(int(kept.wait_for("daemon")))


def test_a_stopped_bot_can_still_be_asked_to_end(keep: Keep) -> None:
    kept = keep("import time; open('ready', 'w').write('x')\ntime.sleep(99)")
    pid = kept.report()["started"]
    kept.wait_for("ready")
    os.kill(pid, signal.SIGSTOP)
    kept.order(b"\xff")
    kept.ended()
    assert kept.exit_status() == -signal.SIGTERM


@linux_only
@pytest.mark.parametrize("new_session", [False, True])
def test_a_bot_that_keeps_forking_away_is_caught(keep: Keep, new_session: bool) -> None:
    kept = keep(
        f"""
import os
open("ready", "w").write("x")
while True:
    if os.fork():
        os._exit(0)
    if {new_session}:
        os.setsid()
"""
    )
    assert kept.ended()["ended"] == 0


@linux_only
def test_a_descendant_in_the_keepers_own_group_is_killed_alone(keep: Keep) -> None:
    kept = keep(
        """
import os, time
if os.fork() == 0:
    os.setpgid(0, os.getsid(0))
    open("ready", "w").write("x")
time.sleep(99)
"""
    )
    kept.wait_for("ready")
    kept.close()
    assert kept.ended()["ended"] == 0
    assert kept.process.returncode == 0


@linux_only
def test_a_traced_thread_does_not_leave_a_zombie_that_hangs_the_keeper(keep: Keep) -> None:
    kept = keep(
        """
import ctypes, threading, time
def be_traced():
    ctypes.CDLL(None).ptrace(0, 0, 0, 0)
    open("ready", "w").write("x")
    time.sleep(99)
threading.Thread(target=be_traced).start()
time.sleep(99)
"""
    )
    kept.wait_for("ready")
    kept.close()
    assert kept.ended()["ended"] == 0
    assert kept.exit_status() == -signal.SIGKILL


@linux_only
def test_a_traced_bot_that_stands_still_is_not_taken_for_one_that_exited(keep: Keep) -> None:
    kept = keep(
        """
import ctypes, os, signal
ctypes.CDLL(None).ptrace(0, 0, 0, 0)
open("ready", "w").write("x")
os.kill(os.getpid(), signal.SIGUSR1)
"""
    )
    pid = kept.report()["started"]
    wait_until(lambda: psutil.Process(pid).status() == psutil.STATUS_TRACING_STOP)
    kept.close()
    assert kept.ended()["ended"] == 0
    assert kept.exit_status() == -signal.SIGKILL


@linux_only
def test_orphans_of_a_living_bot_are_buried(keep: Keep) -> None:
    kept = keep(
        """
import os, time
for _ in range(20):
    if os.fork() == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.wait()
open("ready", "w").write("x")
time.sleep(99)
"""
    )
    pid = kept.report()["started"]
    kept.wait_for("ready")
    wait_until(lambda: [child.pid for child in psutil.Process(kept.process.pid).children()] == [pid])


# --- how the arena, or the keeper, ends ---------------------------------------------------------------------


def test_a_pipe_that_is_closed_at_the_start_starts_no_bot(keep: Keep) -> None:
    kept = keep("open('ran', 'w')", stdin=subprocess.DEVNULL)
    kept.ended()
    assert kept.seen == [{}]
    assert not (kept.folder / "ran").exists()
    assert not (kept.folder / "home").exists()


def test_the_keeper_is_deaf_to_signals_meant_for_the_arena(keep: Keep) -> None:
    kept = keep("import time; time.sleep(99)")
    pid = kept.report()["started"]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(kept.process.pid, number)
    assert os.getsid(kept.process.pid) == os.getsid(pid) == kept.process.pid
    assert os.getpgid(pid) == pid
    kept.order(b"\xff")
    assert kept.ended()["ended"] == 0


@linux_only
def test_a_keeper_that_is_killed_takes_its_bot_with_it(keep: Keep) -> None:
    kept = keep("import time; time.sleep(99)")
    kept.report()
    kept.process.kill()
    kept.process.wait(DEADLINE)
    wait_until(lambda: marked(kept.marker) == [])


@linux_only
def test_an_arena_killed_at_any_moment_leaves_nothing(tmp_path: Path) -> None:
    arena_like = """
import subprocess, sys
pipe = subprocess.PIPE
subprocess.Popen(sys.argv[1:], stdin=pipe, stdout=pipe, pass_fds=(2,), start_new_session=True)
sys.stdout.write("x")
sys.stdout.flush()
sys.stdin.read()
"""
    marker = uuid.uuid4().hex
    bot = [sys.executable, "-S", "-c", DAEMON + "time.sleep(99)"]
    for step in range(20):
        parent = subprocess.Popen(
            [sys.executable, "-S", "-c", arena_like, *keeper_argv(tmp_path, 2, bot)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.defpath, "ARENA_MARKER": marker},
        )
        with parent:
            assert parent.stdout is not None
            parent.stdout.read(1)
            time.sleep(step * 0.1 / 19)  # the moment of the kill is what varies, nothing is waited for
            parent.kill()
        wait_until(lambda: marked(marker) == [])


# --- what the bot is given ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "options", "stage", "text"),
    [
        (["no-such-program"], {}, "program", "No such file"),
        (["./not-executable"], {}, "program", "Permission denied"),
        (["./rubbish"], {}, "program", "Exec format"),
        (["true"], {"cwd": "/no/such/folder"}, "folder", "No such file"),
    ],
)
def test_what_cannot_be_executed_is_reported(
    keep: Keep, tmp_path: Path, argv: list[str], options: dict[str, str], stage: str, text: str
) -> None:
    (tmp_path / "not-executable").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "rubbish").write_bytes(b"\0\1\2\3")
    (tmp_path / "rubbish").chmod(0o755)
    kept = keep(argv, **options)
    report = kept.report()
    assert report["stage"] == stage
    assert text in os.strerror(report["failed"])
    assert kept.ended()["ended"] == 0


def test_the_limits_hold_in_the_bot_and_signals_have_their_defaults(keep: Keep) -> None:
    kept = keep(
        """
import resource as r, signal, json
limits = [r.getrlimit(n) for n in (r.RLIMIT_DATA, r.RLIMIT_NOFILE, r.RLIMIT_FSIZE, r.RLIMIT_CORE)]
print(json.dumps([limits, signal.getsignal(signal.SIGTERM) == signal.SIG_DFL]))
""",
        **{"data": 2_000_000_000, "nofile": 99, "fsize": 12345},
    )
    kept.ended()
    limits, term_is_default = json.loads(kept.log())
    assert limits == [[2_000_000_000] * 2, [99] * 2, [12345] * 2, [0, 0]]
    assert term_is_default


@linux_only
def test_the_bot_inherits_no_pipe_of_its_keeper(keep: Keep) -> None:
    kept = keep(["sh", "-c", "ls -l /proc/$$/fd"])
    kept.ended()
    lines = [line for line in kept.log().splitlines() if "->" in line]
    assert [line.split()[-3] for line in lines] == ["0", "1", "2"]
    assert lines[0].endswith("/dev/null")


def test_the_home_vanishes_with_the_bot(keep: Keep) -> None:
    kept = keep("import os; os.makedirs('home/a/b'); open('home/a/b/c', 'w').write('x')")
    kept.ended()
    assert not (kept.folder / "home").exists()


# --- output -------------------------------------------------------------------------------------------------


def test_both_streams_reach_the_log_and_only_stderr_the_tail(keep: Keep) -> None:
    kept = keep("import sys; print('out'); print('err', file=sys.stderr)")
    kept.ended()
    assert sorted(kept.log().split()) == ["err", "out"]
    assert os.pread(kept.tail_fd, 100, 0) == (4).to_bytes(8, "little") + b"err\n"


def test_a_flood_is_drained_and_costs_neither_disk_nor_memory(keep: Keep) -> None:
    size = 512 * 1024 * 1024
    kept = keep(f"import os; block = bytes(65536)\nfor _ in range({size // 65536}): os.write(1, block)")
    rss = 0
    kept.report()
    assert kept.process.stdout is not None
    while kept.process.poll() is None:
        with contextlib.suppress(psutil.Error):
            rss = max(rss, psutil.Process(kept.process.pid).memory_info().rss)
        ready, _, _ = select.select([kept.process.stdout], [], [], 0.01)
        if ready and not kept.report():
            break
    kept.process.wait(DEADLINE)
    assert kept.exit_status() == 0
    data = (kept.folder / "log").read_bytes()
    last = b"\n[arena: the log is full, what came later was dropped]\n"
    assert data == bytes(LOG_BYTES - len(last)) + last
    assert 0 < rss < 64 * 1024 * 1024


def test_the_tail_is_a_ring_of_the_last_bytes(keep: Keep) -> None:
    kept = keep("import sys\nfor n in range(3000): sys.stderr.write(f'{n}\\n')")
    kept.ended()
    text = "".join(f"{n}\n" for n in range(3000))
    total = int.from_bytes(os.pread(kept.tail_fd, 8, 0), "little")
    ring = os.pread(kept.tail_fd, TAIL_BYTES, 8)
    at = total % TAIL_BYTES
    assert total == len(text)
    assert (ring[at:] + ring[:at]).decode() == text[-TAIL_BYTES:]


def test_a_log_that_is_full_stays_full_over_restarts(keep: Keep) -> None:
    for _ in range(3):
        kept = keep(f"print('x' * {LOG_BYTES})")
        kept.ended()
        assert (kept.folder / "log").stat().st_size == LOG_BYTES


def test_a_log_of_several_processes_at_once_is_no_longer_than_that_of_one(keep: Keep, tmp_path: Path) -> None:
    code = "for _ in range(3000): print('x' * 999, flush=True)"
    several = [keep(code, home=tmp_path / f"home-{number}") for number in range(4)]
    for kept in several:
        kept.ended()
    assert (several[0].folder / "log").stat().st_size <= LOG_BYTES


def test_a_grandchild_that_holds_the_output_open_delays_nothing(keep: Keep) -> None:
    kept = keep("import os, time\nif os.fork() == 0: time.sleep(99)\nprint('last words')")
    kept.ended()
    assert kept.log() == "last words\n"
