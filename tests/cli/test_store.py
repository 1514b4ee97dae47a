"""A store on a server is told from a file by its address alone, and its password is never shown."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import Here, make_folder
from tests.cli.test_web import ask, served, until_ready
from tests.postgres import OWNER, PASSWORD, Server

SHOWN = (
    ("show", "cup", "--format", "json", "--part", "play"),
    ("verify", "cup", "-q"),
    ("replay", "cup", "--list"),
)
"""What is the same of the same seed."""
WORK = (
    ("runs", "--plays"),
    ("replay", "cup", "0", "--format", "json"),
    ("trust", "cup"),
    ("times", "one", "cup"),
    ("analyse", "cup", "--deals", "2", "--jobs", "1", "-q"),
    ("exclude", "cup", "one", "--reason", "too slow"),
    ("include", "cup", "one"),
    ("export", "cup"),
    ("report", "cup"),
    ("upgrade",),
)

LOOKS = (
    ("runs",),
    ("show", "cup"),
    ("report", "cup"),
    ("verify", "cup"),
    ("export", "cup"),
    ("times", "one", "cup"),
    ("trust", "cup"),
    ("replay", "cup", "0", "--format", "json"),
    ("tournament", "tournament.toml", "--dry-run"),
    ("tournament", "tournament.toml", "--dry-run", "--resume", "cup"),
    ("upgrade",),
)
WRITES = (
    ("tournament", "tournament.toml"),
    ("tournament", "tournament.toml", "--resume", "cup"),
    ("play", "random", "greedy"),
    ("analyse", "cup"),
    ("exclude", "cup", "one", "--reason", "too slow"),
)


def test_every_command_says_of_a_server_what_it_says_of_a_file(
    here: Here, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make_folder(tmp_path, pairs=1)
    monkeypatch.chdir(place)
    schema = server.new().rpartition("%3D")[2]
    url = f"{server.loopback()}?options=-csearch_path%3D{schema}"
    said: dict[str, list[str]] = {}
    for data, variable in (("file", ""), ("server", url)):
        monkeypatch.setenv("ARENA_STORE", variable)
        play = ("tournament", "tournament.toml", "--name", "cup", "--seed", "7", "--data", data)
        done = [here(*play), *(here(*words, "--data", data) for words in SHOWN)]
        said[data] = [each.out for each in done[1:]]
        done += [here(*words, "--data", data) for words in WORK]
        done.append(here("tournament", "tournament.toml", "--resume", "cup", "--data", data, "--pairs", "2"))
        assert [each.err for each in done if each.code] == []
        assert not any(PASSWORD in each.out + each.err or "s3cret%25" in each.out + each.err for each in done)
    assert said["file"] == said["server"]
    assert json.loads(said["server"][0])
    assert not (place / "server" / "arena.db").exists()
    for file in (place / "server").rglob("*"):
        assert file.is_dir() or b"s3cret" not in file.read_bytes(), file


def test_the_way_on_names_the_store_without_its_password(
    here: Here, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    schema = server.new().rpartition("%3D")[2]
    url = f"{server.loopback()}?options=-csearch_path%3D{schema}"
    done = here("play", "random", "greedy", "--seed", "1", "--store", url)
    assert done.code == 0
    shown = f"postgresql://arena:***@127.0.0.1:{server.port}/postgres"
    assert f"see it again: arena replay last --store '{shown}'" in done.err
    assert "s3cret" not in done.out + done.err
    done = here("show", "--store", "arena:geheim@server")
    assert done.code == 2 and "--store is no address of a store" in done.err and "geheim" not in done.err


def test_who_may_only_look_can_use_every_command_that_looks_also_on_a_standby(
    here: Here, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(make_folder(tmp_path, pairs=1))
    server.execute("CREATE DATABASE looked_at")
    server.execute("CREATE ROLE onlooker LOGIN")
    played = here("tournament", "tournament.toml", "--name", "cup", "--store", server.url("looked_at"))
    assert played.code == 0, played.err
    with psycopg.connect(server.url("looked_at")) as owner:
        owner.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO onlooker")
    with server.standby() as standby:
        theirs = {
            name: place.url("looked_at").replace(f"//{OWNER}@", "//onlooker@")
            for name, place in (("server", server), ("standby", standby))
        }
        for words in LOOKS:
            done = here(*words, "--store", theirs["standby"])
            assert done.code == 0, done.err
        with served(tmp_path, "--store", theirs["standby"]) as port:
            until_ready(port)
            assert "one" in ask(port, "/")[1]
        refusals = {
            "server": "may not be used so (permission denied for table",
            "standby": "can only be read there (cannot ",
        }
        for place, refusal in refusals.items():
            for words in WRITES:
                done = here(*words, "--store", theirs[place])
                assert done.code == 2 and refusal in done.err and not done.out, done.err
        standby.execute("SELECT pg_promote()")
        done = here("exclude", "cup", "one", "--reason", "too slow", "--store", standby.url("looked_at"))
        assert done.code == 0, done.err
