"""Bots launched for real: what they are given, what is seen of them, and that they end."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from arena.bots.launcher import BotProcess, LaunchError, Limits, arena_marker, launch, sweep
from arena.bots.manifest import BotKind, BotSpec
from arena.errors import UsageError

DEADLINE = 30.0
ROOT = Path(__file__).resolve().parents[2]
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="needs a child subreaper")

UNMARKED = """
import os, subprocess
with open("unmarked", "w") as file:
    file.write(str(subprocess.Popen(["sleep", "99"], env={}, start_new_session=True).pid))
"""
"""A child that no marker will find."""
SLEEP = "import time\ntime.sleep(99)\n"
DAEMON = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        open("daemon", "w").write("x")
        time.sleep(99)
    os._exit(0)
"""


def python_bot(folder: Path, code: str) -> BotSpec:
    (folder / "bot.py").write_text(code, encoding="utf-8")
    return program(folder, sys.executable, "bot.py")


def program(folder: Path, *argv: str) -> BotSpec:
    return BotSpec(name="Test", kind=BotKind.FILE, digest="0", run=argv, cwd=folder)


async def start(spec: BotSpec, marker: str, **env: str) -> BotProcess:
    log = spec.cwd / "logs" / "bot.log"
    return await launch(spec, socket="bot.0", env=env, log=log, marker=marker, limits=Limits())


def log_of(folder: Path) -> str:
    return (folder / "logs" / "bot.log").read_text(encoding="utf-8")


def marked(marker: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get("ARENA_MARKER", "").startswith(marker):
                found.append(process)
    return found


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.002)


async def happens(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE):
        while not condition():
            await asyncio.sleep(0.002)


@pytest.fixture
def marker() -> str:
    return arena_marker(f"test-{uuid.uuid4().hex}")


# --- what a bot is given ------------------------------------------------------------------------------------


def test_the_environment_of_a_bot_is_built_from_nothing(
    tmp_path: Path, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_ARENA", "x")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("LC_ALL", "C")
    code = "import os, json\nprint(json.dumps(dict(os.environ)))\nprint(os.listdir(os.environ['HOME']))"

    async def run() -> None:
        bot = await start(python_bot(tmp_path, code), marker, GIVEN="yes")
        assert await bot.exited == 0
        await bot.stop()

    asyncio.run(run())
    line, listing = log_of(tmp_path).splitlines()
    seen = json.loads(line)
    assert set(seen) - {"PYTHONPATH"} == {
        *("PATH", "HOME", "TMPDIR", "LANG", "PYTHONUNBUFFERED"),
        *("GRPC_ENABLE_FORK_SUPPORT", "ARENA_ADDRESS", "ARENA_MARKER", "GIVEN"),
    }
    assert seen["ARENA_ADDRESS"] == f"unix:{seen['HOME']}/bot.0"
    assert seen["GRPC_ENABLE_FORK_SUPPORT"] == "0"
    assert seen["ARENA_MARKER"].startswith(marker)
    assert seen["HOME"] != os.environ.get("HOME")
    assert listing == "[]"
    assert not Path(seen["HOME"]).exists()


def test_a_python_bot_can_import_the_sdks_package(tmp_path: Path, marker: str) -> None:
    async def run() -> None:
        bot = await start(python_bot(tmp_path, "import arena.cards; print(arena.cards.__file__)"), marker)
        assert await bot.exited == 0
        await bot.stop()

    asyncio.run(run())
    assert Path(log_of(tmp_path).strip()) == ROOT / "arena" / "cards.py"


def test_prints_are_harmless_and_stdin_is_empty(tmp_path: Path, marker: str) -> None:
    code = """
import sys
print('{"exit": 5}'); print('{"ended": 0}', file=sys.stderr)
sys.stdout.buffer.write(bytes(range(256)))
sys.exit(len(sys.stdin.read()))
"""

    async def run() -> None:
        bot = await start(python_bot(tmp_path, code), marker)
        assert await bot.exited == 0
        await bot.stop()

    asyncio.run(run())


@pytest.mark.parametrize("size", [0, 1, 999_999_999])
def test_less_memory_than_grpc_needs_is_refused(size: int) -> None:
    with pytest.raises(UsageError, match="memory"):
        Limits(memory=size)


def test_the_limits_reach_the_bot(tmp_path: Path, marker: str) -> None:
    code = "from resource import *; kinds = (RLIMIT_DATA, RLIMIT_NOFILE, RLIMIT_FSIZE)\n"
    code += "print([getrlimit(kind)[0] for kind in kinds])"
    limits = Limits(memory=2_000_000_000, files=77, file_size=4096)

    async def run() -> None:
        spec = python_bot(tmp_path, code)
        bot = await launch(spec, socket="x", env={}, log=tmp_path / "log", marker=marker, limits=limits)
        assert await bot.exited == 0
        await bot.stop()

    asyncio.run(run())
    assert (tmp_path / "log").read_text(encoding="utf-8") == "[2000000000, 77, 4096]\n"


# --- what is seen of it -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("code", "status"), [("raise SystemExit(7)", 7), ("import os; os.kill(os.getpid(), 9)", -9)])
def test_the_exit_status_arrives_without_a_stop(tmp_path: Path, marker: str, code: str, status: int) -> None:
    async def run() -> None:
        bot = await start(python_bot(tmp_path, code), marker)
        assert await bot.exited == status
        await bot.stop()
        await bot.stop()

    asyncio.run(run())


def test_the_last_lines_of_stderr_are_there_when_the_exit_is(tmp_path: Path, marker: str) -> None:
    async def run() -> None:
        bot = await start(python_bot(tmp_path, "print('noise')\nraise KeyError('ace of hearts')"), marker)
        assert await bot.exited == 1
        assert bot.stderr_tail(1) == "KeyError: 'ace of hearts'"
        assert bot.stderr_tail(0) == ""
        await bot.stop()
        assert bot.stderr_tail(100).startswith("Traceback")
        assert "noise" not in bot.stderr_tail(100)

    asyncio.run(run())


def test_stderr_of_a_living_bot_can_be_read(tmp_path: Path, marker: str) -> None:
    async def run() -> None:
        spec = python_bot(tmp_path, "import sys\nprint('thinking', file=sys.stderr)\n" + SLEEP)
        bot = await start(spec, marker)
        await happens(lambda: bot.stderr_tail(5) == "thinking")
        await bot.stop()

    asyncio.run(run())


def test_a_flood_on_stderr_leaves_its_last_lines_and_a_capped_log(tmp_path: Path, marker: str) -> None:
    code = """
import os
line = b"x" * 63 + b"\\n"
for _ in range(1024): os.write(2, line * 1024)
os.write(2, b"the end\\n")
"""

    async def run() -> None:
        before = time.process_time()
        bot = await start(python_bot(tmp_path, code), marker)
        assert await bot.exited == 0
        assert bot.stderr_tail(2) == "x" * 63 + "\nthe end"
        assert len(bot.stderr_tail(10**6)) <= 65_536
        await bot.stop()
        assert time.process_time() - before < 5  # 64 MB went by, and not through the arena

    asyncio.run(run())
    assert 1_000_000 <= (tmp_path / "logs" / "bot.log").stat().st_size < 1_000_100


def test_cpu_seconds_count_while_it_runs_and_after_its_end(tmp_path: Path, marker: str) -> None:
    code = "import time\nwhile time.process_time() < 0.3: pass\nopen('done', 'w')\n" + SLEEP

    async def run() -> None:
        bot = await start(python_bot(tmp_path, code), marker)
        await happens((tmp_path / "done").exists)
        assert bot.cpu_seconds() >= 0.29
        await bot.stop()
        assert bot.cpu_seconds() >= 0.29

    asyncio.run(run())


@pytest.mark.parametrize(
    ("argv", "words"),
    [(("no-such-program",), "'no-such-program' cannot be executed"), (("./rubbish",), "Exec format error")],
)
def test_a_program_that_cannot_run_is_a_launch_error_with_evidence(
    tmp_path: Path, marker: str, argv: tuple[str, ...], words: str
) -> None:
    (tmp_path / "rubbish").write_bytes(b"\0\1\2\3")
    (tmp_path / "rubbish").chmod(0o755)
    with pytest.raises(LaunchError, match=words) as caught:
        asyncio.run(start(program(tmp_path, *argv), marker))
    assert str(caught.value).startswith("bot 'Test' did not start: ")
    assert caught.value.evidence
    assert marked(marker) == []


def test_a_folder_that_is_gone_is_a_launch_error(tmp_path: Path, marker: str) -> None:
    spec = BotSpec(name="Test", kind=BotKind.FILE, digest="0", run=("true",), cwd=tmp_path / "gone")
    with pytest.raises(LaunchError, match="cannot be entered"):
        asyncio.run(launch(spec, socket="x", env={}, log=tmp_path / "l", marker=marker, limits=Limits()))


def test_a_remote_bot_cannot_be_launched(tmp_path: Path, marker: str) -> None:
    with pytest.raises(ValueError, match="runs elsewhere"):
        asyncio.run(start(program(tmp_path), marker))


# --- that it ends -------------------------------------------------------------------------------------------


@linux_only
@pytest.mark.parametrize("grace", [0.0, 0.1])
def test_stop_leaves_nothing_not_even_a_deaf_daemon(tmp_path: Path, marker: str, grace: float) -> None:
    async def run() -> None:
        spec = python_bot(tmp_path, DAEMON + "signal.signal(15, signal.SIG_IGN)\n" + SLEEP)
        bot = await start(spec, marker)
        await happens((tmp_path / "daemon").exists)
        await bot.stop(grace)
        assert marked(marker) == []
        assert await bot.exited == -signal.SIGKILL

    asyncio.run(run())


def test_a_hundred_bots_start_at_once_and_all_end(tmp_path: Path, marker: str) -> None:
    spec = program(tmp_path, "sleep", "99")

    async def run() -> None:
        bots = await asyncio.gather(*(start(spec, marker) for _ in range(100)))
        assert len({bot.pid for bot in bots}) == 100
        assert all(psutil.pid_exists(bot.pid) for bot in bots)
        await asyncio.gather(*(bot.stop() for bot in bots))
        assert {await bot.exited for bot in bots} == {-signal.SIGTERM}

    gc.collect()  # what earlier tests left to be collected is none of ours
    fds = len(os.listdir("/dev/fd"))
    asyncio.run(run())
    assert marked(marker) == []
    assert len(os.listdir("/dev/fd")) <= fds


@linux_only
@pytest.mark.parametrize("attack", ["SIGKILL", "SIGSTOP"])
def test_a_bot_that_attacks_its_keeper_does_not_outlive_it(tmp_path: Path, marker: str, attack: str) -> None:
    unmarked = "" if attack == "SIGKILL" else UNMARKED
    code = unmarked + DAEMON + f"os.kill(os.getppid(), signal.{attack})\nopen('ready', 'w')\n" + SLEEP

    async def run() -> None:
        bot = await start(python_bot(tmp_path, code), marker)
        if attack == "SIGKILL":
            assert await bot.exited == -signal.SIGKILL
        else:
            await happens((tmp_path / "ready").exists)
        await bot.stop(0)
        assert bot.exited.done()
        assert marked(marker) == []
        if unmarked:
            assert not psutil.pid_exists(int((tmp_path / "unmarked").read_text()))

    asyncio.run(run())


@linux_only
def test_a_keeper_that_is_stopped_again_and_again_is_replaced_in_bounded_time(
    tmp_path: Path, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.bots.launcher._END_SECONDS", 0.3)
    code = DAEMON + "open('ready', 'w')\nwhile True: os.kill(os.getppid(), signal.SIGSTOP)\n"

    async def run() -> None:
        bot = await start(python_bot(tmp_path, code), marker)
        await happens((tmp_path / "ready").exists)
        await bot.stop(0)
        assert marked(marker) == []

    asyncio.run(run())


def test_a_launch_that_is_cancelled_leaves_nothing(tmp_path: Path, marker: str) -> None:
    async def run(turns: int) -> None:
        task = asyncio.create_task(start(program(tmp_path, "sleep", "99"), marker))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await (await task).stop(0)  # it was faster

    for turns in (1, 2, 3, 5, 10, 50):
        asyncio.run(run(turns))
        assert marked(marker) == []


ARENA = """
import asyncio, sys
from pathlib import Path
from arena.bots.launcher import Limits, arena_marker, launch
from arena.bots.manifest import BotKind, BotSpec
async def main():
    folder, run = Path(sys.argv[1]), sys.argv[2]
    spec = BotSpec(name="Test", kind=BotKind.FILE, digest="0", run=(sys.executable, "bot.py"), cwd=folder)
    print("now", flush=True)
    bot = await launch(
        spec, socket="x", env={}, log=folder / "log", marker=arena_marker(run), limits=Limits()
    )
    print(bot.pid, flush=True)
    await bot.exited
asyncio.run(main())
"""


def arena_process(folder: Path, run: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", ARENA, str(folder), run],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder), "ARENA_MARKER": run},  # marked from before exec
    )


@linux_only
def test_an_arena_that_is_killed_leaves_nothing_whenever_it_is(tmp_path: Path) -> None:
    run = f"test-{uuid.uuid4().hex}"
    python_bot(tmp_path, DAEMON + SLEEP)
    for step in range(20):
        with arena_process(tmp_path, run) as arena:
            assert arena.stdout is not None
            arena.stdout.readline()
            time.sleep(step * 0.1 / 19)  # the moment of the kill is what varies, nothing is waited for
            arena.kill()
        wait_until(lambda: marked(run) == [])
        assert list(tmp_path.glob("arena-bot-*")) == []


@linux_only
def test_a_sweep_ends_what_a_dead_arena_left_and_nothing_else(tmp_path: Path) -> None:
    run = f"test-{uuid.uuid4().hex}"
    stop_keeper = "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\nopen('ready', 'w')\n"
    python_bot(tmp_path, UNMARKED + stop_keeper + SLEEP)

    async def with_a_living_bot() -> None:
        folder = tmp_path / "living"
        folder.mkdir()
        mine = await start(python_bot(folder, SLEEP), arena_marker(run))
        with arena_process(tmp_path, run) as arena:
            await asyncio.to_thread(wait_until, (tmp_path / "ready").exists)
            assert sweep(run) == 0  # its arena lives
            arena.kill()
        await asyncio.to_thread(wait_until, lambda: not psutil.pid_exists(arena.pid))
        assert sweep("another-run") == 0
        assert len(marked(run)) == 4
        assert sweep(run) == 2
        assert {process.pid for process in marked(run)} == {mine.pid, psutil.Process(mine.pid).ppid()}
        assert not psutil.pid_exists(int((tmp_path / "unmarked").read_text()))
        assert not mine.exited.done()
        await mine.stop()

    asyncio.run(with_a_living_bot())


@linux_only
def test_a_sweep_finds_bots_without_a_keeper_and_leaves_unknown_markers_alone() -> None:
    run = f"test-{uuid.uuid4().hex}"

    def sleeper(marker: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(["sleep", "99"], env={"PATH": os.defpath, "ARENA_MARKER": marker})

    dead, reused, living, unknown = sleepers = [
        sleeper(f"{run}:{2**22 + 1}:5:00"),
        sleeper(f"{run}:{os.getpid()}:5:00"),
        sleeper(f"{arena_marker(run)}:00"),
        sleeper(f"{run}:?"),
    ]
    try:
        assert sweep(run) == 2
        assert (dead.wait(DEADLINE), reused.wait(DEADLINE)) == (-signal.SIGKILL, -signal.SIGKILL)
        assert (living.poll(), unknown.poll()) == (None, None)
    finally:
        for process in sleepers:
            process.kill()
            process.wait()
