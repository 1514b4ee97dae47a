"""Several arenas at one store: each tournament is played by one of them, whoever is stopped, killed or comes later."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from arena.app.data import Archive
from arena.app.verify import Verified, verify_run
from arena.app.writer import WAITS_S
from arena.cli.exits import Exit
from arena.errors import UsageError
from arena.store import State, Store, Tournament, engine, open_store
from arena.store.queries import LEFT_MS
from tests.e2e.kill_resume import ARENA, CUPS
from tests.postgres import OWNER, Server, running
from tests.store.samples import created

LEASED = (sys.executable, str(Path(__file__).with_name("leased.py")))
LEASE_S = 6.0
ABREAST = (sys.executable, str(Path(__file__).with_name("abreast.py")))
CUP = CUPS[0]


@pytest.fixture(params=["file", "server"])
def kept(request: pytest.FixtureRequest) -> list[str]:
    """How a command is told where the store is."""
    return [] if request.param == "file" else ["--store", request.getfixturevalue("server").new()]


def stopped(process: subprocess.Popen[str], store: Store, cup: Tournament) -> str:
    """Stop an arena while it is not writing; returns what another one is told."""
    while True:
        process.send_signal(signal.SIGSTOP)
        try:
            with store.lock(cup):
                raise AssertionError("two hold it")
        except UsageError as refused:
            if "is played by" in str(refused):
                return str(refused)
        process.send_signal(signal.SIGCONT)


def wait_for_its_lease(store: Store) -> None:
    """Until the database says that it has ended."""
    with store._database.reading() as connection:
        left_ms = connection.execute(select(LEFT_MS)).scalar_one()
    time.sleep(max(0, left_ms + 1) / 1000)


def test_an_arena_that_was_stopped_for_longer_than_its_lease_writes_nothing_more(
    tmp_path: Path, kept: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BUSY_SECONDS", 1.0)
    CUP.write(tmp_path)
    play = [*LEASED, str(LEASE_S), "tournament", "cup.toml", "--no-pages", "-v", *kept]
    with subprocess.Popen(
        [*play, "--name", "cup", "--seed", "7"], cwd=tmp_path, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as stale:  # fmt: skip
        assert stale.stderr is not None
        for line in stale.stderr:
            if line.startswith("epoch "):
                break
        with open_store(kept[-1] if kept else tmp_path / "arena-data" / "arena.db") as store:
            cup = store.tournament("cup")
            assert f"is played by process {stale.pid} on " in stopped(stale, store, cup)
            wait_for_its_lease(store)
            done = subprocess.run([*play, "--resume", "cup"], cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            head = store.chain_head(cup)
            stale.send_signal(signal.SIGCONT)
            said = stale.stderr.read()
            assert stale.wait() == Exit.BUG, said
            assert "arena: the tournament 'cup' was taken over by another arena; this arena writes nothing more" in said
            assert "Traceback" not in said
            assert store.chain_head(cup) == head and store.tournament("cup").state is State.FINISHED
    assert isinstance(verify_run("cup", Archive(tmp_path / "arena-data", *kept[1:]), head.head), Verified)


@pytest.fixture
def together(tmp_path: Path) -> Path:
    """Where arenas wait for each other."""
    folder = tmp_path / "together"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("words", "stem", "matches"),
    [
        (["tournament", "cup.toml", "--no-pages"], "cup", 12),
        (["play", "random", "greedy"], "play", 1),
        (["play", "random", "greedy", "--pairs", "1"], "play", 2),
    ],
)
def test_two_arenas_that_begin_at_the_same_moment_play_two_tournaments_of_one_store(
    tmp_path: Path, together: Path, server: Server, words: list[str], stem: str, matches: int
) -> None:
    url = server.new()
    CUP.write(tmp_path)
    play = [*ABREAST, str(together), "2", *words, "--store", url]
    both = [
        subprocess.Popen(
            [*play, "--seed", data, "--data", data], cwd=tmp_path, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        for data in ("one", "two")
    ]  # fmt: skip
    for each in both:
        _, said = each.communicate()
        assert each.returncode == 0, said
    for name in (f"{stem}-1", f"{stem}-2"):
        found = verify_run(name, Archive(tmp_path / "one", url))
        assert isinstance(found, Verified) and found.matches == matches


def test_a_name_that_was_asked_for_is_never_another(tmp_path: Path, together: Path, server: Server) -> None:
    url = server.new()
    CUP.write(tmp_path)
    words = ["tournament", "cup.toml", "--no-pages", "--name", "spring", "--store", url]
    with subprocess.Popen(
        [*ABREAST, str(together), "2", *words], cwd=tmp_path, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as late, open_store(url) as store:  # fmt: skip
        while not any(together.iterdir()):
            assert late.poll() is None
            time.sleep(0.01)
        created(store, "spring")
        (together / "another").touch()
        _, said = late.communicate()
        assert late.returncode == Exit.USAGE
        assert "the tournament 'spring' exists since 2026-05-01" in said
        assert [tally.tournament.name for tally in store.tournaments()] == ["spring"]


def test_a_server_that_is_restarted_or_crashes_is_waited_for(tmp_path: Path, server: Server) -> None:
    url = server.new()
    replace(CUP, settings={**CUP.settings, "pairs": 12}).write(tmp_path)
    play = [*ARENA, "tournament", "cup.toml", "--no-pages", "--name", "cup", "--seed", "7", "--store", url]
    with open_store(url) as store, subprocess.Popen(
        play, cwd=tmp_path, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as arena:  # fmt: skip
        assert arena.stderr is not None
        seen = 0
        for how, longer_s in ((signal.SIGINT, 1 + sum(WAITS_S)), (signal.SIGQUIT, 0.0)):
            while (kept := sum(sum(tally.matches.values()) for tally in store.tournaments())) == seen:
                assert arena.poll() is None, arena.stderr.read()
                time.sleep(0.05)
            seen = kept
            server.stop(how)
            try:
                said = next(line for line in arena.stderr if "cannot be reached" in line)
                time.sleep(longer_s)  # than what else is refused is tried again
            finally:
                server.start()
            assert "see that it runs there, then try again (the arena tries again for " in said
        rest = arena.stderr.read()
        assert arena.wait() == Exit.DONE, rest
        assert "cannot be reached" not in rest
    found = verify_run("cup", Archive(tmp_path / "arena-data", url))
    assert isinstance(found, Verified) and found.matches == 24


@pytest.mark.usefixtures("server")  # where there is none, none is missed
def test_a_run_goes_on_at_the_standby_that_takes_over(tmp_path: Path) -> None:
    replace(CUP, settings={**CUP.settings, "pairs": 24}).write(tmp_path)
    with running() as first, first.standby() as second:
        # Only then nothing that was told can be lost: a commit waits for the standby.
        first.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        first.execute("SELECT pg_reload_conf()")
        hosts = "&".join(f"host=127.0.0.1:{server.port}" for server in (first, second))
        url = f"postgresql://{OWNER}:s3cret%25word@/postgres?{hosts}&target_session_attrs=read-write"
        play = [*ARENA, "tournament", "cup.toml", "--no-pages", "--name", "cup", "--seed", "7", "--store", url]
        with subprocess.Popen(
            play, cwd=tmp_path, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as arena:  # fmt: skip
            assert arena.stderr is not None
            until(lambda: first.value("SELECT count(*) FROM pg_tables WHERE tablename = 'matches'"), arena)
            until(lambda: first.value("SELECT count(*) FROM matches"), arena)
            first.stop(signal.SIGQUIT)
            said = next(line for line in arena.stderr if "cannot be reached" in line or "only be read" in line)
            assert "the arena tries again for " in said
            second.execute("SELECT pg_promote()")
            rest = arena.stderr.read()
            assert arena.wait() == Exit.DONE, rest
        found = verify_run("cup", Archive(tmp_path / "arena-data", url))
        assert isinstance(found, Verified) and found.matches == 48


def until(found: Callable[[], int], arena: subprocess.Popen[str]) -> None:
    """Wait until that is true; the arena must not end before."""
    while not found():
        assert arena.poll() is None and arena.stderr is not None
        time.sleep(0.05)
