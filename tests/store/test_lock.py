"""One arena at a time plays a tournament, and one that died does not keep the next from it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.errors import UsageError
from arena.store import State, Store, open_store
from tests.store import workers
from tests.store.samples import created


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "arena.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with open_store(path) as store:
        yield store


def test_a_second_process_is_refused_and_told_who_plays_since_when(store: Store, path: Path) -> None:
    cup = created(store)
    holder, wire = workers.start(workers.hold, path)
    assert wire.recv() == "held"
    store.set_state(cup, State.RUNNING)
    assert store.tournament("cup").state is State.RUNNING
    sentence = rf"'cup' is played by process {holder.pid} on .* since 20\d\d-.*stop it"
    with pytest.raises(UsageError, match=sentence), store.lock(cup):
        pass
    wire.send("go")
    assert wire.recv() == "released"
    with store.lock(cup):
        pass


def test_the_lock_of_a_killed_process_is_taken_over(store: Store, path: Path) -> None:
    cup = created(store)
    holder, wire = workers.start(workers.hold, path)
    assert wire.recv() == "held"
    store.set_state(cup, State.RUNNING)
    holder.kill()
    holder.join()
    assert store.tournament("cup").state is State.INTERRUPTED
    with store.lock(cup):
        assert store.tournament("cup").state is State.RUNNING


def test_a_process_that_died_but_was_not_buried_holds_nothing(store: Store, path: Path) -> None:
    cup = created(store)
    with store.lock(cup):
        pid = os.fork()
        if not pid:
            os._exit(0)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        _become(path, f"pid = {pid}")
        try:
            with store.lock(cup):
                pass
        finally:
            os.waitpid(pid, 0)


def test_another_process_with_the_number_of_the_holder_holds_nothing(store: Store, path: Path) -> None:
    cup = created(store)
    with store.lock(cup):
        _become(path, "started_ms = started_ms - 5000")
        with store.lock(cup):
            pass


def test_a_process_on_another_host_is_taken_to_live_unless_forced(store: Store, path: Path) -> None:
    cup = created(store)
    with store.lock(cup):
        _become(path, "host = 'elsewhere', pid = 4000000")
        with pytest.raises(UsageError, match="played by process 4000000 on elsewhere"), store.lock(cup):
            pass
        with store.lock(cup, force=True):
            pass


def test_the_same_process_does_not_play_a_tournament_twice(store: Store) -> None:
    cup, other = created(store), created(store, "other")
    with store.lock(cup):
        with pytest.raises(UsageError, match=f"process {os.getpid()} "), store.lock(cup):
            pass
        with store.lock(other):
            pass


def test_an_error_while_playing_gives_the_lock_back(store: Store) -> None:
    cup = created(store)
    with pytest.raises(ZeroDivisionError), store.lock(cup):
        raise ZeroDivisionError
    with store.lock(cup):
        pass


def test_who_lost_the_lock_by_force_does_not_release_that_of_the_next(store: Store, path: Path) -> None:
    cup = created(store)
    with store.lock(cup):
        _become(path, "host = 'elsewhere'")
    with pytest.raises(UsageError, match="on elsewhere"), store.lock(cup):
        pass


def _become(path: Path, changed: str) -> None:
    """Make the holder of the lock somebody else."""
    with sqlite3.connect(path) as raw:
        assert raw.execute(f"UPDATE locks SET {changed}").rowcount == 1
    raw.close()
