"""What each level of the sandbox stops: real attacks, as root and as an ordinary user, compared with the page."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from arena.bots.launcher import BotProcess, Limits, arena_marker, launch
from arena.bots.manifest import BotKind, BotSpec
from arena.bots.sandbox import Level, at, best, is_root
from tests.docs.pages import table

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
PAGE = ROOT / "docs" / "sandbox.md"
COLUMNS = {"weak": 2, "weak, root": 3, "medium": 4, "strong": 5}
LEVELS = [level for level in Level if at(level) is not None]
"""Those to be had here; of the others the page's word has to do."""


def promised(level: Level, *, root: bool) -> dict[str, str]:
    column = COLUMNS["weak, root" if root and level is Level.WEAK else str(level)]
    return {row[0].strip("`"): row[column] for row in table(PAGE, "attack")}


def python(folder: Path, *words: str, root: bool, code: int = 0, **environment: str) -> str:
    """Runs Python in a folder, as an ordinary user if it must not be as root; what it prints, on stdout last."""
    as_user = [] if root or not is_root() else [sys.executable, str(HERE / "as_user.py"), str(folder)]
    done = subprocess.run(
        [*as_user, sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stderr + done.stdout


WHO = [pytest.param(True, id="root"), pytest.param(False, id="user")] if is_root() else [pytest.param(False, id="user")]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("root", WHO)
@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_of_each_attack_comes_what_the_page_says(tmp_path: Path, level: Level, root: bool) -> None:
    came = json.loads(python(tmp_path, str(HERE / "besieged.py"), str(level), root=root).splitlines()[-1])
    assert came == promised(level, root=root)


# --- one bot ----------------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def running(
    folder: Path, code: str, level: Level, memory_mb: int | None = None, *, processes: bool = False
) -> AsyncIterator[BotProcess]:
    """A bot of that code, in a folder that only its owner may enter."""
    sandbox = at(level)
    assert sandbox is not None
    bot = folder / "bot"
    bot.mkdir(0o700, exist_ok=True)
    (bot / "bot.py").write_text(code, encoding="utf-8")
    (bot / "bot.py").chmod(0o600)
    spec = BotSpec(
        *("Test", BotKind.FOLDER, "0"),
        run=(sys.executable, "-S", "bot.py"),
        cwd=bot,
        memory_mb=memory_mb,
        processes=processes,
    )
    process = await launch(
        spec,
        socket="bot.0",
        env={},
        log=folder / "log",
        marker=arena_marker(f"test-{os.getpid()}"),
        limits=Limits.of(spec, level),
        sandbox=sandbox,
    )
    try:
        yield process
    finally:
        await process.stop(0)


def told(folder: Path) -> list[str]:
    return (folder / "log").read_text(encoding="utf-8").splitlines()


async def hears(folder: Path, line: str) -> None:
    async with asyncio.timeout(60):
        while line not in told(folder):
            await asyncio.sleep(0.005)


every_level = pytest.mark.parametrize("level", LEVELS, ids=str)


@every_level
def test_a_folder_that_only_its_owner_may_enter_is_read_and_not_written(tmp_path: Path, level: Level) -> None:
    """Under root the bot is somebody else, and the interpreter may lie in root's own home."""
    code = """
import os
print(open("bot.py").read()[1:10])
for attempt in (lambda: open("note", "w"), lambda: open("bot.py", "a"), lambda: os.chmod("bot.py", 0o777)):
    try:
        attempt()
    except OSError:
        print("refused")
"""

    async def run() -> None:
        async with running(tmp_path, code, level) as bot:
            assert await bot.exited == 0

    asyncio.run(run())
    allowed = level is Level.WEAK and not is_root()
    assert told(tmp_path) == ["import os", *(() if allowed else ["refused"] * 3)]


@pytest.mark.skipif(not is_root(), reason="only root can give uids")
@every_level
def test_under_root_no_two_bots_share_a_uid(tmp_path: Path, level: Level) -> None:
    code = "import os, time\nprint('started', flush=True)\ntime.sleep(99)\n"

    async def run() -> None:
        async with contextlib.AsyncExitStack() as stack:
            uids = set()
            for number in range(3):
                (tmp_path / str(number)).mkdir()
                bot = await stack.enter_async_context(running(tmp_path / str(number), code, level))
                await hears(tmp_path / str(number), "started")
                uids.add(bot.processes()[0].uids())
            assert len(uids) == 3
            assert all(uid.real == uid.effective == uid.saved >= 40_000 for uid in uids)

    asyncio.run(run())


@every_level
def test_the_processes_of_a_bot_are_its_own(tmp_path: Path, level: Level) -> None:
    """Neither keepers nor what makes the sandbox: their time is not the bot's."""
    code = "import time\nprint('started', flush=True)\nwhile time.process_time() < 0.2: pass\ntime.sleep(99)\n"

    async def run() -> None:
        async with running(tmp_path, code, level) as bot:
            await hears(tmp_path, "started")
            (process,) = bot.processes()
            assert process.pid == bot.pid
            assert process.cmdline()[-1] == "bot.py"
            async with asyncio.timeout(60):
                while bot.cpu_seconds() < 0.19:
                    await asyncio.sleep(0.01)
        assert bot.processes() == []
        assert bot.cpu_seconds() >= 0.19

    asyncio.run(run())


@every_level
@pytest.mark.parametrize(
    ("code", "status"),
    [("raise SystemExit(7)", 7), ("import os\nos.kill(os.getpid(), 9)", -9), ("raise KeyError('ace')", 1)],
)
def test_how_a_bot_ended_is_seen_through_the_sandbox(tmp_path: Path, level: Level, code: str, status: int) -> None:
    async def run() -> None:
        async with running(tmp_path, code, level) as bot:
            assert await bot.exited == status
            assert bot.stderr_tail(1) == ("KeyError: 'ace'" if status == 1 else "")

    asyncio.run(run())


@every_level
def test_a_bot_that_hears_sigterm_may_use_its_grace(tmp_path: Path, level: Level) -> None:
    code = """
import signal, sys, time
def leave(*_):
    print("bye")
    sys.exit(3)
signal.signal(signal.SIGTERM, leave)
print("started", flush=True)
time.sleep(99)
"""

    async def run() -> None:
        async with running(tmp_path, code, level) as bot:
            await hears(tmp_path, "started")
            await bot.stop(25.0)
            assert await bot.exited == 3

    asyncio.run(run())
    assert told(tmp_path) == ["started", "bye"]


@every_level
def test_the_memory_that_a_bot_asks_for_is_its_limit(tmp_path: Path, level: Level) -> None:
    code = "import resource\nprint(resource.getrlimit(resource.RLIMIT_DATA)[0])\n"

    async def run() -> None:
        for memory_mb in (None, 512, 3000):
            async with running(tmp_path, code, level, memory_mb) as bot:
                assert await bot.exited == 0

    asyncio.run(run())
    unlimited = "-1" if level is Level.WEAK else "2000000000"
    assert told(tmp_path) == [unlimited, "1000000000", "3000000000"]


@every_level
def test_a_bot_that_says_so_starts_processes_ends_them_and_makes_no_world(tmp_path: Path, level: Level) -> None:
    code = """
import os, signal, socket, subprocess, sys, time
ours, theirs = socket.socketpair()
child = subprocess.Popen([sys.executable, "-S", "-c", "import sys; print(sys.stdin.read())"], stdin=theirs)
theirs.close()
ours.sendall(b"from the parent")
ours.shutdown(socket.SHUT_WR)
child.wait()
child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(3600)"])
child.kill()
print(child.wait())
try:
    os.kill(ARENA, 0)
    print("the arena can be signalled")
except OSError:
    print("out of reach")
print(subprocess.run(["unshare", "--user", "true"], stderr=subprocess.DEVNULL).returncode and "no world")
print("done")
time.sleep(3600)
""".replace("ARENA", str(os.getpid()))

    async def watched() -> list[psutil.Process]:
        async with running(tmp_path, code, level, processes=True) as process:
            await hears(tmp_path, "done")
            return process.processes()

    assert not [process for process in asyncio.run(watched()) if process.is_running()]
    said = told(tmp_path)
    assert said[:2] == ["from the parent", "-9"]
    if level > Level.WEAK:
        assert said[2:4] == ["out of reach", "no world"]


@every_level
def test_a_keeper_that_is_killed_takes_the_sandbox_with_it(tmp_path: Path, level: Level) -> None:
    code = "import time\nprint('started', flush=True)\ntime.sleep(99)\n"

    async def run() -> None:
        async with running(tmp_path, code, level) as bot:
            await hears(tmp_path, "started")
            process = bot.processes()[0]
            bot._keeper.kill()
            assert await bot.exited == -9
            async with asyncio.timeout(60):
                while process.is_running():
                    await asyncio.sleep(0.01)

    asyncio.run(run())


STARTER = """
import asyncio, sys
from pathlib import Path
from arena.bots.launcher import Limits, arena_marker, launch
from arena.bots.manifest import BotKind, BotSpec
from arena.bots.sandbox import Level, at

level, folder, run = Level[sys.argv[1].upper()], Path(sys.argv[2]), sys.argv[3]
sandbox = at(level)
spec = BotSpec("Test", BotKind.FOLDER, "0", run=(sys.executable, "-S", "bot.py"), cwd=folder)


async def main():
    print("now", flush=True)
    marker = arena_marker(run)
    await launch(
        spec, socket="bot.0", env={}, log=folder / "log", marker=marker, limits=Limits(), sandbox=sandbox
    )
    await asyncio.sleep(99)


asyncio.run(main())
"""


@every_level
def test_an_arena_killed_in_the_first_moments_of_a_start_leaves_nothing(tmp_path: Path, level: Level) -> None:
    (tmp_path / "bot.py").write_text("import time\ntime.sleep(99)\n", encoding="utf-8")
    run = f"killed-{os.getpid()}-{level}"
    for step in range(10):
        words = [sys.executable, "-c", STARTER, str(level), str(tmp_path), run]
        with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, env={**os.environ}) as arena:
            assert arena.stdout is not None and arena.stdout.readline() == b"now\n"
            time.sleep(step * 0.006)  # the moment of the kill is what varies, nothing is waited for
            arena.kill()
        deadline = time.monotonic() + 60
        while left := _of_run(run):
            assert time.monotonic() < deadline, f"left running: {left}"
            time.sleep(0.01)


def _of_run(run: str) -> list[psutil.Process]:
    """All processes that were started for it."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get("ARENA_MARKER", "").startswith(run):
                found.append(process)
    return found


# --- whole tournaments ------------------------------------------------------------------------------------------------


def tournament(folder: Path, level: Level, *words: str, root: bool, code: int = 0, **settings: object) -> str:
    """Plays, where no more than that level is to be had (without its program there is none of level strong)."""
    keys = {"pairs": 1, "sandbox": "weak" if level is Level.WEAK else "auto", **settings}
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    lines += ["[[bots]]", 'bot = "greedy"', "[[bots]]", 'bot = "random"']
    (folder / "cup.toml").write_text("\n".join(lines), encoding="utf-8")
    path = os.environ["PATH"] if level is Level.STRONG else str(Path(sys.executable).parent)
    return python(
        folder, "-m", "arena", "tournament", "cup.toml", "--seed", "1", *words, root=root, code=code, PATH=path
    )


@pytest.mark.timeout(300)
@pytest.mark.parametrize("root", WHO)
@every_level
def test_the_sample_bots_play_at_every_level_which_the_run_names(tmp_path: Path, level: Level, root: bool) -> None:
    said = tournament(tmp_path, level, root=root)
    assert f"sandbox {level}; run cup-1" in said
    assert f"sandbox {level}, arena" in said
    assert "1 pair of matches" in said
    assert ("all mirrored" in said) == (level > Level.WEAK)
    assert "Faults       none" in said


def test_less_than_what_is_asked_for_is_refused_with_the_reason(tmp_path: Path) -> None:
    said = tournament(tmp_path, Level.MEDIUM, root=is_root(), code=2, sandbox="strong")
    assert 'cup.toml asks for sandbox = "strong", but only level ' in said
    assert "there is no program bwrap (apt install bubblewrap)" in said
    assert "arena doctor" in said
    assert not (tmp_path / "arena-data" / "runs").exists()


@pytest.mark.skipif(best().level is Level.WEAK, reason="mirrored lists without trust need a sandbox")
def test_lists_that_are_mirrored_because_of_the_sandbox_are_not_resumed_in_a_weak_one(tmp_path: Path) -> None:
    tournament(tmp_path, best().level, root=is_root())
    said = tournament(tmp_path, Level.WEAK, "--resume", "last", root=is_root(), code=2, pairs=2)
    assert f"began in a sandbox of level {best().level}" in said
    assert "could remember a deck" in said
    assert "all mirrored" in tournament(tmp_path, best().level, "--resume", "last", root=is_root(), pairs=2)
