"""A store on a server: whatever is wrong with it is one sentence without the password, before anything is played."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import psycopg
import pytest

from arena.errors import UsageError
from arena.store import Unreachable, engine, has_store, open_queries, open_store
from tests.postgres import PASSWORD, Server
from tests.store import workers
from tests.store.samples import created, schedule

SECRET = "geheim"


def refused(url: str) -> str:
    """What opening it says, for reading and for writing alike."""
    said = []
    for readonly in (True, False):
        with pytest.raises(UsageError) as error:
            open_store(url, readonly=readonly)
        said.append(str(error.value))
    assert said[0] == said[1]
    assert "\n" not in said[0] and SECRET not in said[0] and PASSWORD not in said[0]
    return said[0]


def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    assert "cannot be reached: Connection refused; see that it runs" in refused(
        f"postgresql://arena:{SECRET}@127.0.0.1:1/arena"
    )
    assert "cannot be reached: No such file" in refused(f"postgresql:///arena?host={tmp_path}&password={SECRET}")


@pytest.mark.parametrize("what", ["starting up", "shutting down", "in recovery mode"])
def test_a_server_that_is_being_started_or_stopped_is_away(what: str) -> None:
    error = psycopg.OperationalError(
        f'connection failed: connection to "x" failed: FATAL:  the database system is {what}'
    )
    away = engine._refusal(error, "postgresql:///league")
    assert isinstance(away, Unreachable)
    assert f"postgresql:///league cannot be reached: FATAL: the database system is {what}; see that it" in str(away)


def test_a_login_that_is_refused(server: Server) -> None:
    for url in (server.loopback(password=SECRET), server.loopback(user="nobody")):
        assert "refuses the login: FATAL: password authentication failed" in refused(url)
    assert "give the password by ~/.pgpass or PGPASSWORD" in refused(f"postgresql://arena@127.0.0.1:{server.port}/x")


def test_a_database_that_there_is_not(server: Server) -> None:
    assert 'FATAL: database "nowhere" does not exist; make the database by createdb' in refused(
        server.loopback("nowhere")
    )


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        (f"postgresql://ann:{SECRET}@host:port/arena", "no address of a store; expected one as in postgresql://USER"),
        (f"postgresql://ann:{SECRET[0]}@{SECRET}@host/arena", "with %40 for an @"),
        (f"postgresql+asyncpg://ann:{SECRET}@host/arena", "unknown kind of server; expected postgresql://"),
        (f"mysql://ann:{SECRET}@host/arena", "unknown kind of server; expected postgresql://"),
        (f"postgresql:///arena?host=/nowhere&passwort={SECRET}", 'invalid connection option "passwort"'),
    ],
)
def test_an_address_that_is_none(url: str, sentence: str) -> None:
    assert sentence in refused(url)


def test_a_driver_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert importlib.util.find_spec("psycopg") is None
    assert "needs a driver that is not installed; pip install 'sixtysix-arena[postgres]'" in refused(
        f"postgresql://ann:{SECRET}@host/arena"
    )


def test_an_empty_database_is_no_store_until_it_is_written(server: Server) -> None:
    url = server.new()
    assert not has_store(url)
    with pytest.raises(UsageError, match=r"there is no store in postgresql.* yet; play a tournament first"):
        open_queries(url)
    open_store(url).close()
    assert has_store(url)


def test_a_database_of_somebody_else_is_left_alone(server: Server) -> None:
    url = server.new()
    with psycopg.connect(url) as raw:
        raw.execute("CREATE TABLE games (result TEXT)")
    assert "is a database, but not a store of the arena (it has the table 'games')" in refused(url)


def test_who_may_only_read_reads(server: Server) -> None:
    url = server.new()
    with open_store(url) as store:
        store.record(created(store), schedule(3))
    schema = url.rpartition("%3D")[2]
    theirs = url.replace("//arena@", "//reader@")
    server.execute("CREATE ROLE reader LOGIN")
    server.execute(f"GRANT USAGE ON SCHEMA {schema} TO reader")
    assert "may not be used so (permission denied for table arena_schema); log in as its owner" in refused(theirs)
    with psycopg.connect(url) as raw:
        raw.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader".encode())
    with open_queries(theirs) as queries:
        assert len(list(queries.results(queries.tournament("cup")))) == 3
    with pytest.raises(UsageError, match="may not be used so"):
        open_store(theirs)


def test_a_server_that_was_started_again_is_no_other_store(server: Server) -> None:
    with open_store(server.new()) as store:
        cup = created(store)
        with store._database.engine.connect() as connection:
            pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        server.execute(f"SELECT pg_terminate_backend({pid}, 5000)")
        assert store.record(cup, schedule(3)) == 3
        with (
            pytest.raises(UsageError, match=r"cannot be (reached|used)"),
            store._database.writing(cup.id) as connection,
        ):
            pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
            server.execute(f"SELECT pg_terminate_backend({pid}, 5000)")
            connection.exec_driver_sql("SELECT 1")
        assert store.record(cup, schedule(5)) == 2


def test_who_writes_to_one_tournament_holds_up_no_writer_of_another(server: Server) -> None:
    url = server.new()
    with open_store(url) as one, open_store(url) as other:
        cup, league = created(one), created(other, "league")
        with one._database.writing(cup.id):
            assert other.record(league, schedule(3)) == 3
        assert one.record(cup, schedule(3)) == 3


def test_writers_take_turns_whatever_the_server_does_by_itself(server: Server) -> None:
    url = server.new() + "%20-cdefault_transaction_isolation%3Dserializable%20-csynchronous_commit%3Doff"
    with open_store(url) as store:
        cup = created(store, "one", "AB")
        with store._database.writing() as connection:
            assert connection.exec_driver_sql("SHOW synchronous_commit").scalar_one() == "on"
    running = [workers.start(workers.record_some, url, "one", first) for first in range(4)]
    for writer, _ in running:
        writer.join()
        assert writer.exitcode == 0
    with open_queries(url) as queries:
        assert sum(queries.counts(cup).values()) == 80
        assert queries.verify_seals(cup) is None


def test_a_writer_who_stops_in_the_middle_is_thrown_out(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "BUSY_SECONDS", 3.0)
    url = server.new()
    with open_store(url) as one, open_store(url) as other:
        cup = created(one)
        with pytest.raises(UsageError, match="cannot be"), one._database.writing(cup.id) as connection:
            assert other.record(cup, schedule(3)) == 3  # waits until then
            connection.exec_driver_sql("SELECT 1")
