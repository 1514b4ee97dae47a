"""A result that was acknowledged is there, once, whatever kills the writer and whatever the disk does."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import tracemalloc
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from arena.errors import UsageError
from arena.store import Store, open_queries, open_store
from tests.store import workers
from tests.store.behind import Where
from tests.store.samples import created, schedule, small, whole

KILLS = 30
KILLS_ON_A_SERVER = 4
"""Which outlives its clients: there is less that a kill can do."""


def test_no_acknowledged_result_is_lost_by_kill_9(path: Where, tmp_path: Path) -> None:
    matches, rng = 2000, random.Random(66)
    with open_store(path) as store:
        created(store, "cup", "AB")
    acknowledged: set[int] = set()
    for _ in range(KILLS if isinstance(path, Path) else KILLS_ON_A_SERVER):
        writer, acks = workers.start(workers.record_all, path, "cup", matches, rng.choice([1, 3, 20]))
        groups = rng.randint(0, 8)
        try:
            for _ in range(groups):
                acknowledged.update(acks.recv())
            acks.poll(rng.uniform(0, 0.004))  # into the middle of the next group
            assert writer.pid is not None
            writer.kill()
            while True:
                acknowledged.update(acks.recv())
        except (EOFError, ConnectionResetError):
            pass
        writer.join()
        assert writer.exitcode == -signal.SIGKILL
        with open_queries(path) as queries:
            cup = queries.tournament("cup")
            stored = {2 * key.number + key.leg for key in queries.keys(cup)}
            assert acknowledged <= stored
            assert sorted(stored) == list(range(len(stored)))
            assert queries.chain_head(cup).length == len(stored)
            assert queries.verify_seals(cup) is None
        acknowledged = stored
    assert 0 < len(acknowledged) < matches

    writer, acks = workers.start(workers.record_all, path, "cup", matches, 500)
    writer.join()
    assert writer.exitcode == 0
    with open_queries(path) as queries:
        cup = queries.tournament("cup")
        assert [whole(one) for one in queries.results(cup)] == [whole(one) for one in small(matches)]
        assert queries.verify_seals(cup) is None
        interrupted = queries.chain_head(cup)
    with open_store(tmp_path / "uninterrupted.db") as store:
        cup = created(store, "other", "AB")
        store.record(cup, small(matches))
        assert store.chain_head(cup) == interrupted


def test_two_processes_write_to_one_store_at_once(path: Where) -> None:
    with open_store(path) as store:
        cups = [created(store, name, "AB") for name in ("one", "other")]
        running = [workers.start(workers.record_all, path, cup.name, 300, 5) for cup in cups]
        for writer, _ in running:
            writer.join()
            assert writer.exitcode == 0
        for cup in cups:
            assert [one.position for one in store.results(cup)] == list(range(300))
            assert store.verify_seals(cup) is None


@pytest.mark.parametrize("attempt", range(3))
def test_a_store_made_by_several_processes_at_once_is_one_store(path: Where, attempt: int) -> None:
    makers = [workers.start(workers.create, path, f"cup-{number}") for number in range(4)]
    assert [made.recv() for _, made in makers] == ["created"] * 4
    with open_queries(path) as queries:
        assert len(queries.tournaments()) == 4


def test_a_store_whose_maker_was_killed_is_made_by_the_next_one(tmp_path: Path) -> None:
    for attempt in range(8):
        path = tmp_path / f"arena-{attempt}.db"
        maker, made = workers.start(workers.create, path, "cup")
        while not path.exists():
            made.poll(0.0001)
        made.poll(0.0005 * attempt)
        maker.kill()
        maker.join()
        with open_store(path) as store:
            assert all(store.verify_seals(tally.tournament) is None for tally in store.tournaments())
            created(store, "after")


# --- the disk ---------------------------------------------------------------------------------------------------


def _bound(store: Store, pages: int) -> None:
    """From now on the store's disk has that many pages left (of 4 KiB)."""
    engine: Engine = store._database.engine
    with engine.connect() as connection:
        used = connection.exec_driver_sql("PRAGMA page_count").scalar_one()

    @event.listens_for(engine, "checkout")
    def bound(connection: sqlite3.Connection, *_: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {used + pages}")


def test_a_full_disk_is_a_sentence_and_costs_nothing_that_was_committed(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    results = schedule(60)
    with open_store(path) as store:
        cup = created(store)
        _bound(store, 15)
        kept = 0
        with pytest.raises(UsageError, match=r"the disk of the store .*arena\.db is full, nothing was written"):
            for one in results:
                kept += store.record(cup, [one])
        assert 0 < kept < 60
    with open_store(path) as store:
        assert [one.key for one in store.results(cup)] == [one.key for one in results[:kept]]
        assert store.verify_seals(cup) is None
        assert store.record(cup, results) == 60 - kept
        assert store.verify_plays(cup) is None


def test_a_store_that_is_cut_off_or_overwritten_says_so(tmp_path: Path) -> None:
    whole_file = tmp_path / "whole.db"
    with open_store(whole_file) as store:
        store.record(created(store), schedule(40))
    size = whole_file.stat().st_size
    broken = tmp_path / "broken.db"
    for damage in ("cut in half", "cut to nearly nothing", "noise in the middle", "noise after the header"):
        shutil.copy(whole_file, broken)
        with broken.open("r+b") as file:
            match damage:
                case "cut in half":
                    file.truncate(size // 2)
                case "cut to nearly nothing":
                    file.truncate(50)
                case "noise in the middle":
                    file.seek(size // 2)
                    file.write(random.Random(1).randbytes(size // 4))
                case "noise after the header":
                    file.seek(100)
                    file.write(random.Random(1).randbytes(4000))
        sentence = r"broken\.db (is damaged|cannot be)|in the store is damaged"
        with pytest.raises(UsageError, match=sentence), open_queries(broken) as queries:
            cup = queries.tournament("cup")
            assert queries.verify_seals(cup) is not None
            list(queries.results(cup))


def _moved(path: Path) -> None:
    path.rename(path.with_name("moved"))


def _replaced(path: Path) -> None:
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").rename(path)


def _cut_off(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize(
    ("name", "harm", "told"),
    [
        ("arena.db", Path.unlink, "removed"),
        ("arena.db", _moved, "removed"),
        ("arena.db", _replaced, "replaced"),
        ("arena.db", _cut_off, "cut off"),
        ("arena.db-wal", Path.unlink, "removed"),
        ("arena.db-wal", _cut_off, "cut off"),
    ],
)
def test_a_store_that_is_harmed_while_it_is_open_takes_nothing_more(
    tmp_path: Path, name: str, harm: Callable[[Path], None], told: str
) -> None:
    path = tmp_path / "arena.db"
    results = schedule(60)
    with open_store(path) as store:
        cup = created(store)
        store.record(cup, results[:40])
        harm(tmp_path / name)
        for _ in range(2):
            with pytest.raises(UsageError, match=rf"{name} was {told} while the arena had it open, nothing more"):
                store.record(cup, results[40:])
    if harm is _moved:
        (tmp_path / "moved").rename(path)
    if harm is _moved or (name, told) == ("arena.db-wal", "removed"):  # nothing is lost where it need not be
        with open_store(path) as store:
            assert [one.key for one in store.results(cup)] == [one.key for one in results[:40]]
            assert store.verify_seals(cup) is None
            store.record(cup, results)
            assert store.verify_plays(cup) is None


# --- size -------------------------------------------------------------------------------------------------------


def test_thousands_of_results_are_recorded_in_groups_and_streamed_back(path: Where) -> None:
    size = 20_000 if isinstance(path, Path) else 4_000
    results = small(size)
    with open_store(path) as store:
        cup = created(store, "cup", "AB")
        for start in range(0, len(results), 50):
            assert store.record(cup, results[start : start + 50]) == 50
        assert store.chain_head(cup).length == size
        assert store.verify_plays(cup) is None
        assert store.verify_seals(cup) is None
        del results
        tracemalloc.start()
        assert len(store.stored(cup)) == size
        assert sum(1 for _ in islice(store.summaries(cup), 1000)) == 1000
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 2_000_000
