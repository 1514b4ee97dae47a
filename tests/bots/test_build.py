"""Builds by real processes: once, in a copy that nobody changes, at every level, and nothing is left of what failed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from arena.bots import shelf
from arena.bots.build import BuildError, Builds
from arena.bots.launcher import arena_marker
from arena.bots.manifest import BotSpec, resolve
from arena.bots.sandbox import LIMITS_ONLY, Level, Sandbox, at
from arena.errors import UsageError
from tests.bots.conftest import Arena, assert_nothing_is_left
from tests.bots.test_sandbox import LEVELS, WHO, python

MARKER = "arena-test"
MAKES_A_BOT = "open('made.py', 'w').write(\"from arena.bot import serve\\nserve(lambda view: view.legal[0])\\n\")"
HANGS = "import time; open('begun', 'w'); time.sleep(3600)"


def bot(folder: Path, build: str, *, network: bool = False) -> BotSpec:
    """A folder whose build is that Python, and makes the script that runs."""
    folder.mkdir(exist_ok=True)
    (folder / "build.py").write_text(build)
    (folder / "bot.toml").write_text(
        'name = "Built"\n[build]\ncommand = ["python3", "build.py"]\n'
        f'network = {str(network).lower()}\n[run]\ncommand = ["python3", "made.py"]\n'
    )
    return resolve(str(folder), base=folder)


def builds(folder: Path, sandbox: Sandbox = LIMITS_ONLY, *, network: bool = False, limit_s: float = 100.0) -> Builds:
    return Builds(folder / "builds", sandbox, arena_marker(MARKER), network=network, limit_s=limit_s)


async def failure(builds: Builds, spec: BotSpec) -> str:
    with pytest.raises(BuildError) as refused:
        await builds.built(spec)
    return str(refused.value)


def test_a_bot_is_built_once_and_plays_from_a_copy(tmp_path: Path, arena: Arena) -> None:
    spec = bot(tmp_path / "bot", MAKES_A_BOT)
    told: list[str] = []

    async def twice() -> tuple[BotSpec, BotSpec]:
        first, second = (Builds(tmp_path / "builds", LIMITS_ONLY, MARKER, told=told.append) for _ in range(2))
        return await first.built(spec), await second.built(spec)

    one, again = asyncio.run(twice())
    assert one == again
    assert told == ["Built"]
    assert not (tmp_path / "bot" / "made.py").exists()
    assert one.cwd.is_relative_to(tmp_path / "builds")
    records = asyncio.run(arena.play({"a": one, "b": one}))
    assert len(records) == 2
    assert not any(record.faults for record in records)


def test_who_builds_at_the_same_time_waits_for_the_other(tmp_path: Path) -> None:
    spec = bot(tmp_path / "bot", f"import time; time.sleep(0.5); {MAKES_A_BOT}")
    told: list[str] = []

    async def at_once() -> list[BotSpec]:
        arenas = [Builds(tmp_path / "builds", LIMITS_ONLY, MARKER, told=told.append) for _ in range(4)]
        return await asyncio.gather(*(arena.built(spec) for arena in arenas))

    assert len(set(asyncio.run(at_once()))) == 1
    assert told == ["Built"]


def test_changed_sources_are_built_anew(tmp_path: Path) -> None:
    first = asyncio.run(builds(tmp_path).built(bot(tmp_path / "bot", MAKES_A_BOT)))
    second = asyncio.run(builds(tmp_path).built(bot(tmp_path / "bot", MAKES_A_BOT + "\n")))
    assert first.cwd != second.cwd


def test_where_there_is_too_much_a_build_goes_once_nobody_uses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "KEPT_BYTES", 0)
    first, second, third = (bot(tmp_path / name, f"{MAKES_A_BOT}  # {name}") for name in "abc")
    user, other = builds(tmp_path), builds(tmp_path)
    used = asyncio.run(user.built(first))
    kept = asyncio.run(other.built(second))
    assert used.cwd.exists() and kept.cwd.exists()
    user.close()
    last = asyncio.run(builds(tmp_path).built(third))
    assert [each.cwd.exists() for each in (used, kept, last)] == [False, True, True]


def test_a_build_that_fails_says_its_last_words_and_is_not_tried_again(tmp_path: Path) -> None:
    spec = bot(tmp_path / "bot", "import sys; print('one of', 'two words', flush=True); sys.exit('no such header')")
    told: list[str] = []

    async def twice() -> list[str]:
        here = Builds(tmp_path / "builds", LIMITS_ONLY, MARKER, told=told.append)
        return [await failure(here, spec), await failure(here, spec)]

    said, again = asyncio.run(twice())
    assert said == again
    assert told == ["Built"]
    assert "build.py) ended with status 1; the last of what it printed:\none of two words\nno such header" in said
    assert [path.name for path in (tmp_path / "builds").glob("*/*")] == ["log"]


def test_a_preflight_tells_of_a_build_that_failed(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(
        f'pairs = 1\n[[bots]]\nbot = "random"\n[[bots]]\nbot = "{tmp_path}/bot"\n', encoding="utf-8"
    )
    bot(tmp_path / "bot", "raise SystemExit('no such header')")
    command = [sys.executable, "-m", "arena", "tournament", "t.toml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "Built" in done.stderr
    assert "no such header" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_build_ends_when_its_time_is_over(tmp_path: Path) -> None:
    said = asyncio.run(failure(builds(tmp_path, limit_s=1.0), bot(tmp_path / "bot", HANGS)))
    assert "did not end within 1 s; the last of what it printed:\nit printed nothing" in said
    assert not list((tmp_path / "builds").glob("*/bot"))
    assert_nothing_is_left()


def test_a_build_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    async def cancelled() -> None:
        building = asyncio.create_task(builds(tmp_path).built(bot(tmp_path / "bot", HANGS)))
        await begun(tmp_path)
        building.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await building

    asyncio.run(cancelled())
    assert not list((tmp_path / "builds").glob("*/bot"))
    assert_nothing_is_left()


async def begun(folder: Path) -> None:
    """Wait until the build that hangs has begun."""
    async with asyncio.timeout(100):
        while not list(folder.glob("builds/*/bot/begun")):
            await asyncio.sleep(0.01)


def test_of_a_build_whose_arena_is_killed_nothing_is_taken_for_one(tmp_path: Path) -> None:
    bot(tmp_path / "bot", HANGS)
    command = [sys.executable, "-m", "arena", "play", "./bot", "random", "--data", str(tmp_path)]
    arena = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    asyncio.run(begun(tmp_path))
    left = psutil.Process(arena.pid).children(recursive=True)
    assert left
    arena.send_signal(signal.SIGKILL)
    arena.wait()
    assert not psutil.wait_procs(left, timeout=100)[1]
    said = asyncio.run(failure(builds(tmp_path, limit_s=1.0), resolve("./bot", base=tmp_path)))
    assert "did not end within 1 s" in said, "what the killed arena left was taken for a build"


def test_the_network_needs_the_word_of_both(tmp_path: Path) -> None:
    asks = bot(tmp_path / "asks", MAKES_A_BOT, network=True)
    said = asyncio.run(failure(builds(tmp_path), asks))
    assert "--allow-build-network" in said
    assert "allow_build_network = true" in said
    assert asyncio.run(builds(tmp_path, network=True).built(asks)).build == ()


def test_a_build_finds_the_proto_files_or_keeps_its_own(tmp_path: Path) -> None:
    spec = bot(tmp_path / "bot", MAKES_A_BOT)
    assert (asyncio.run(builds(tmp_path).built(spec)).cwd / "proto/arena/sixtysix/v1/bot.proto").is_file()
    (tmp_path / "bot" / "proto").mkdir()
    (tmp_path / "bot" / "proto" / "mine.proto").touch()
    with_own = asyncio.run(builds(tmp_path).built(bot(tmp_path / "bot", MAKES_A_BOT)))
    assert os.listdir(with_own.cwd / "proto") == ["mine.proto"]


def test_a_folder_for_builds_that_cannot_be_made_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "builds").touch()
    with pytest.raises(UsageError, match="choose another by --data"):
        asyncio.run(builds(tmp_path).built(bot(tmp_path / "bot", MAKES_A_BOT)))


# --- what holds a build -----------------------------------------------------------------------------------------------

TRIES = """
import json, os, socket, subprocess, sys, tempfile
def outcome(attempt, *arguments):
    try:
        attempt(*arguments)
    except Exception as error:
        return type(error).__name__
    return ""
def listen():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname())
tried = {
    "write here": outcome(open, "note", "w"),
    "make executable": outcome(os.chmod, "build.py", 0o755),
    "write at home": outcome(open, os.path.expanduser("~/note"), "w"),
    "write a temporary file": outcome(tempfile.TemporaryFile),
    "start a process": outcome(subprocess.run, [sys.executable, "-c", "pass"], 0, None, None, None, None, None, True),
    "read the store": outcome(open, STORE),
    "change its sources": outcome(open, SOURCES, "w"),
    "connect": outcome(listen),
}
json.dump(tried, open("tried", "w"))
"""


def tried(folder: Path, level: Level, network: bool) -> dict[str, str]:
    """What a build can do: the name of the exception for each thing that it tries, empty where that went well."""
    sandbox = at(level)
    assert sandbox is not None
    store = folder / "store"
    store.touch(0o600)
    facts = f"STORE = {str(store)!r}\nSOURCES = {str(folder / 'bot' / 'build.py')!r}\n"
    spec = bot(folder / "bot", facts + TRIES, network=network)
    built = asyncio.run(builds(folder, sandbox, network=True).built(spec))
    files = {path.name: path.stat() for path in built.cwd.iterdir()}
    assert files["note"].st_mode & 0o777 == 0o444
    assert files["build.py"].st_mode & 0o777 == 0o555
    assert {stat.st_uid for stat in files.values()} == {os.geteuid()}
    return json.loads((built.cwd / "tried").read_text())


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("root", WHO)
@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_a_build_works_in_its_folder_and_reaches_nothing_else(
    tmp_path: Path, level: Level, root: bool, network: bool
) -> None:
    code = "import sys; from pathlib import Path; from tests.bots.test_build import *; "
    code += f"print(json.dumps(tried(Path.cwd(), Level({int(level)}), {network})))"
    came = json.loads(python(tmp_path, "-c", code, root=root).splitlines()[-1])
    assert not any(came[what] for what in list(came)[:5]), came
    held = level is not Level.WEAK or root
    assert bool(came["read the store"]) is held, came
    assert bool(came["change its sources"]) is held, came
    assert bool(came["connect"]) is (level is not Level.WEAK and not network), came
