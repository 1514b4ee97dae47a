"""One arena at a time plays a tournament, and one that died does not keep the next from it."""

from __future__ import annotations

import os
import signal
import time

import pytest
from sqlalchemy import select

from arena.errors import UsageError
from arena.store import State, Store, TakenOver
from arena.store.locking import LEASE_S
from arena.store.queries import LEFT_MS
from arena.store.schema import locks
from tests.store import workers
from tests.store.behind import Where, change
from tests.store.samples import bots, created, schedule, small


def test_a_second_process_is_refused_and_told_who_plays_since_when(store: Store, path: Where) -> None:
    cup = created(store)
    holder, wire = workers.start(workers.hold, path)
    assert wire.recv() == "held"
    _run(path)
    assert store.tournament("cup").state is State.RUNNING
    sentence = rf"'cup' is played by process {holder.pid} on .* since 20\d\d-.*stop it"
    with pytest.raises(UsageError, match=sentence), store.lock(cup):
        pass
    wire.send(0)
    assert wire.recv() == "released"
    with store.lock(cup):
        pass


def test_the_lock_of_a_killed_process_is_taken_over(store: Store, path: Where) -> None:
    cup = created(store)
    holder, wire = workers.start(workers.hold, path)
    assert wire.recv() == "held"
    _run(path)
    holder.kill()
    holder.join()
    assert store.tournament("cup").state is State.INTERRUPTED
    with store.lock(cup):
        assert store.tournament("cup").state is State.RUNNING


def test_a_process_that_died_but_was_not_buried_holds_nothing(store: Store, path: Where) -> None:
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


def test_another_process_with_the_number_of_the_holder_holds_nothing(store: Store, path: Where) -> None:
    cup = created(store)
    with store.lock(cup):
        _become(path, "started_ms = started_ms - 5000")
        with store.lock(cup):
            pass


def test_a_process_on_another_machine_is_taken_to_live_until_its_lease_ends(store: Store, path: Where) -> None:
    cup = created(store)
    with store.lock(cup):
        _become(path, "token = 'x', host = 'elsewhere', machine = 'another', pid = 4000000")
        store.tournament("cup")
        sentence = r"process 4000000 on elsewhere .*; if that machine is gone, the tournament is free in \d\d s$"
        with pytest.raises(UsageError, match=sentence), store.lock(cup):
            pass
        _become(path, "expires_ms = expires_ms - 60001")
        with store.lock(cup):
            pass


def test_a_machine_of_the_same_name_is_another_one(store: Store, path: Where) -> None:
    cup = created(store)
    with store.lock(cup):
        _become(path, "machine = 'started at another time', pid = 4000000")
        with pytest.raises(UsageError, match="process 4000000"), store.lock(cup):
            pass


def test_a_lease_is_renewed_while_the_tournament_is_held(store: Store, path: Where) -> None:
    cup = created(store)
    _, wire = workers.start(workers.hold, path, 1.0)
    assert wire.recv() == "held"
    first = _expires(store)
    while _expires(store) < first + 2000:
        with pytest.raises(UsageError, match="is played by process"), store.lock(cup):
            pass
    wire.send(0)
    assert wire.recv() == "released"


def test_who_was_stopped_for_longer_than_its_lease_writes_nothing_more(store: Store, path: Where) -> None:
    cup = created(store, "cup", "AB")
    stale, wire = workers.start(workers.hold, path, 0.5)
    assert wire.recv() == "held"
    wire.send(3)
    assert wire.recv() == "3"
    assert stale.pid is not None
    os.kill(stale.pid, signal.SIGSTOP)
    while _left_ms(store) > 0:
        wire.poll(0.05)
    with store.lock(cup):
        assert store.record(cup, small(5)) == 2
        os.kill(stale.pid, signal.SIGCONT)
        wire.send(9)
        said = wire.recv()
        assert said.startswith(f"TakenOver: the tournament 'cup' was taken over by process {os.getpid()} on ")
        assert store.record(cup, small(6)) == 1
    wire.send(9)
    assert "was taken over by another arena; this arena writes nothing more" in wire.recv()
    wire.send(0)
    assert wire.recv() == "released"
    assert sum(store.counts(cup).values()) == 6
    assert store.verify_seals(cup) is None


def test_who_was_stopped_but_not_replaced_goes_on(store: Store, path: Where) -> None:
    cup = created(store, "cup", "AB")
    holder, wire = workers.start(workers.hold, path, 0.5)
    assert wire.recv() == "held"
    assert holder.pid is not None
    os.kill(holder.pid, signal.SIGSTOP)
    while _left_ms(store) > 0:
        wire.poll(0.05)
    assert store.tournament("cup").state is State.CREATED
    os.kill(holder.pid, signal.SIGCONT)
    wire.send(4)
    assert wire.recv() == "4"
    wire.send(0)
    assert wire.recv() == "released"
    assert sum(store.counts(cup).values()) == 4


def test_nobody_writes_to_a_tournament_that_another_holds(store: Store, path: Where) -> None:
    cup = created(store)
    _, wire = workers.start(workers.hold, path)
    assert wire.recv() == "held"
    for write in (
        lambda: store.record(cup, schedule(1)),
        lambda: store.record_void(cup, schedule(1)[0].key, "x"),
        lambda: store.add_participants(cup, bots("D")),
        lambda: store.open_epoch(cup, 2, b"x", "c2"),
        lambda: store.reveal(cup, 1),
        lambda: store.set_state(cup, State.FINISHED),
    ):
        with pytest.raises(TakenOver, match="process"):
            write()
    wire.send(0)
    assert wire.recv() == "released"
    assert not store.counts(cup) and not store.epochs(cup)[0].revealed


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


def test_who_lost_the_lock_does_not_release_that_of_the_next(store: Store, path: Where) -> None:
    cup = created(store)
    with store.lock(cup):
        _become(path, "token = 'x', host = 'elsewhere', machine = 'another'")
    with pytest.raises(UsageError, match="on elsewhere"), store.lock(cup):
        pass


def _become(path: Where, changed: str) -> None:
    """Make the holder of the lock somebody else."""
    change(path, f"UPDATE locks SET {changed}")


def _run(path: Where) -> None:
    """Let the tournament say that it is played."""
    change(path, "UPDATE tournaments SET state = 'running'")


def _left_ms(store: Store) -> int:
    """What is left of the lease, by the database's clock."""
    with store._database.reading() as connection:
        return int(connection.execute(select(LEFT_MS)).scalar_one())


def _expires(store: Store) -> int:
    with store._database.reading() as connection:
        return int(connection.execute(select(locks.c.expires_ms)).scalar_one())


def test_who_holds_a_tournament_knows_for_how_long_that_is_sure(store: Store) -> None:
    cup = created(store)
    assert store.patience_s(cup) == 0
    with store.lock(cup, lease_s=6000):
        assert 0 < store.patience_s(cup) < 6000 - 6000 / 6
        with pytest.raises(UsageError), store.lock(cup):
            pass
        assert store.patience_s(cup) > LEASE_S
    assert store.patience_s(cup) == 0


def test_a_lease_is_sure_for_longer_as_soon_as_it_is_renewed(store: Store) -> None:
    cup = created(store)
    with store.lock(cup, lease_s=2):
        first = store._holds[cup.id].until
        while store._holds[cup.id].until == first:
            time.sleep(0.01)
        assert store._holds[cup.id].until > first
