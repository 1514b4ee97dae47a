"""The play chain does not depend on who finished first, and no byte changes without being found."""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Integer, select

from arena.game.rules import Rules
from arena.match.absence import Change, Exclusion, Place
from arena.match.record import MatchRecord
from arena.match.summary import MatchKey
from arena.store import Broken, ChainHead, MatchResult, Participant, Store, open_queries, open_store
from arena.store.chains import canonical
from arena.store.schema import JOURNAL, matches, metadata, sealed_columns, tournaments
from tests.postgres import Server
from tests.store.behind import Where, change
from tests.store.samples import (
    COMMITMENT,
    CONFIG,
    CREATED,
    NASTY,
    RULES,
    SECRET,
    SESSION,
    bots,
    created,
    played,
    result,
    schedule,
    silent,
    void,
)

# --- texts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.0, 0.05])
def test_every_text_of_a_match_is_canonical_json(store: Store, rate: float) -> None:
    cup = created(store)
    records = [played(seed, fault_rate=rate) for seed in range(8)]
    large = replace(records[0].testimony, took_us=((0, 1 << 70), ()), evidence=(NASTY,))
    records.append(replace(records[0], testimony=large))
    store.record(cup, [result(MatchKey(1, ("A", "B"), 0, at), at, record) for at, record in enumerate(records)])
    texts = [matches.c[name] for name in ("pairing", "seats", "losers", "summary", "play", "testimony")]
    with store._database.reading() as connection:
        rows = connection.execute(select(*texts).order_by(matches.c.serial)).all()
    assert all(text == canonical(json.loads(text)) for row in rows for text in row)
    assert [row.testimony for row in rows] == [canonical(record.testimony.to_json()) for record in records]


# --- the play chain ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_the_chain_is_the_same_in_any_order_of_commits(store: Store, seed: int) -> None:
    results = schedule(30)
    one, other = created(store, "one"), created(store, "other")
    store.record(one, results)
    rng = random.Random(seed)
    left = rng.sample(results, len(results))
    while left:
        size = rng.randint(1, 9)
        group, left = left[:size], left[size:]
        store.record(other, group)
        assert store.chain_head(other).length == _complete_prefix(len(results), left)
        assert store.verify_plays(other) is None
    assert store.chain_head(other) == store.chain_head(one)
    assert store.chain_head(one).length == 30


def _complete_prefix(length: int, missing: list[MatchResult]) -> int:
    return min((one.position for one in missing), default=length)


def test_names_dates_and_times_are_no_part_of_the_chain(store: Store) -> None:
    results = schedule(6)
    store.record(created(store, "one"), results)
    other = store.create_tournament(
        "other", CONFIG, RULES.options(), bots("CBA"), False, CREATED + timedelta(days=1), about={"jobs": 9}
    )
    store.open_epoch(other, 1, b"another secret", COMMITMENT)
    store.record(other, [replace(one, record=silent(one.record)) for one in results])
    assert store.chain_head(other) == store.chain_head(store.tournament("one"))


def _head(
    store: Store,
    name: str,
    *,
    config: Mapping[str, Any] = {"pairs": 10},
    rules: Rules = RULES,
    entered: Sequence[Participant] = tuple(bots("AB")),
    number: int = 1,
    commitment: str = COMMITMENT,
    plays: Sequence[tuple[str, MatchRecord]] = (("AB", played(0)), ("BA", played(1))),
) -> ChainHead:
    cup = store.create_tournament(name, config, rules.options(), entered, True, CREATED)
    store.open_epoch(cup, number, SECRET, commitment)
    for leg, (seats, record) in enumerate(plays):
        store.record(cup, [result(MatchKey(number, ("A", "B"), leg, 0), leg, record, seats=tuple(seats))])
    return store.chain_head(cup)


@pytest.mark.parametrize(
    "changed",
    [
        {"config": {"pairs": 11}},
        {"rules": RULES.with_options({"target": 101})},
        {"entered": bots("AB", version="2")},
        {"entered": bots("ABC")},
        {"entered": [*bots("A"), replace(bots("B")[0], digest="other")]},
        {"commitment": "c1"},
        {"number": 2},
        {"plays": [("AB", played(1)), ("BA", played(0))]},
        {"plays": [("AB", played(0)), ("AB", played(1))]},
        {"plays": [("AB", played(0)), ("BA", void(played(1)))]},
    ],
)
def test_whatever_decides_or_is_a_result_changes_the_chain(store: Store, changed: dict[str, Any]) -> None:
    assert _head(store, "same") == _head(store, "again")
    assert _head(store, "other", **changed) != _head(store, "once-more")


def test_the_chain_is_as_documented(store: Store) -> None:
    """The whole computation once more, from the words of `arena.store.chains` alone."""

    def framed(*values: str | int) -> str:
        data = b""
        for value in values:
            text = str(value).encode()
            data += f"{type(value).__name__}:{len(text)}:".encode() + text
        return hashlib.sha256(data).hexdigest()

    cup = store.create_tournament("cup", {"b": 1, "a": "é"}, {"target": 66}, bots("BA"), True, CREATED)
    store.open_epoch(cup, 4, SECRET, "c4")
    record = played(0)
    store.record(cup, [result(MatchKey(4, ("A", "B"), 0, 7), 0, record)])
    entered = ["A", "1", "A" * 64, "folder", "ann", "B", "1", "B" * 64, "folder", "ann"]
    start = framed("arena/chain/1", '{"target":66}', '{"a":"\\u00e9","b":1}', 4, "c4", *entered)
    play = framed("arena/play/1", 4, '["A","B"]', 0, 7, '["A","B"]', canonical(record.play_json()))
    head = framed("arena/chain/1", 4, framed("arena/chain/1", start, play), 1)
    assert store.chain_head(cup) == (head, 1)


def test_epochs_are_chained_each_on_its_own(store: Store) -> None:
    heads = set()
    for name, order in (("one", "abc"), ("other", "cab")):
        cup = created(store, name, "AB")
        store.add_participants(cup, bots("C"))
        store.open_epoch(cup, 2, b"second", "c2", config={"pairs": 20})
        groups = {
            "a": schedule(4, "AB"),
            "b": schedule(5, "ABC", epoch=2)[2:],
            "c": schedule(5, "ABC", epoch=2)[:2],
        }
        for group in order:
            store.record(cup, groups[group])
        assert store.verify_plays(cup) is None
        heads.add(store.chain_head(cup))
    ((_, length),) = heads
    assert length == 9


def test_a_tournament_without_epochs_has_a_head_of_no_length(store: Store) -> None:
    cup = store.create_tournament("cup", {}, {}, bots("AB"), True, CREATED)
    assert store.chain_head(cup).length == 0
    assert store.verify_plays(cup) is None
    assert store.verify_seals(cup) is None


# --- changes behind the store's back ------------------------------------------------------------------------------


def _filled(path: Where) -> Where:
    """A store with rows in every table."""
    with open_store(path) as store:
        other = created(store, "other")
        store.record(other, schedule(8, seed=20))
        cup = created(store)
        results = schedule(24)
        store.record(cup, results[:10])
        store.record_void(cup, results[12].key, "broken")
        store.record_void(cup, results[12].key, "broken again")
        store.record(cup, results[10:])
        store.add_participants(cup, bots("D"))
        store.open_epoch(cup, 2, b"second", "c2")
        store.record(cup, schedule(12, "ABCD", epoch=2))
        store.log_exclusion(cup, Exclusion("D", Change.EXCLUDED, "too slow", Place(3, 0)))
        store.add_session(cup, SESSION)
        assert {table.name for table in JOURNAL} == set(_rows(path))
    return path


@pytest.fixture(scope="module")
def filled_file(tmp_path_factory: pytest.TempPathFactory) -> Where:
    return _filled(tmp_path_factory.mktemp("sealed") / "arena.db")


@pytest.fixture
def file(filled_file: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(filled_file, tmp_path / "arena.db"))


@pytest.fixture
def database(server: Server) -> Where:
    return _filled(server.new())


@pytest.fixture(params=["file", "database"])
def sealed(request: pytest.FixtureRequest) -> Where:
    """That store, of either kind."""
    where: Where = request.getfixturevalue(request.param)
    return where


def _rows(path: Where) -> dict[str, list[int]]:
    """The serials of the cup's rows by table."""
    with open_queries(path) as queries, queries._database.reading() as connection:
        rows = {
            table.name: list(
                connection.execute(select(table.c.serial).where(table.c.tournament == 2).order_by(table.c.serial))
                .scalars()
                .all()
            )
            for table in JOURNAL
        }
    return {table: serials for table, serials in rows.items() if serials}


def seals(path: Where) -> Broken | None:
    with open_queries(path) as queries:
        return queries.verify_seals(queries.tournament("cup"))


def plays(path: Where) -> Broken | None:
    with open_queries(path) as queries:
        return queries.verify_plays(queries.tournament("cup"))


def head(path: Where) -> ChainHead:
    with open_queries(path) as queries:
        return queries.chain_head(queries.tournament("cup"))


CELLS = [(table.name, column.name) for table in JOURNAL for column in [*sealed_columns(table)[1:], table.c.seal]]
CHANGES: dict[str, Callable[[random.Random, str], str]] = {
    "one character": lambda rng, cell: (
        f"substr({cell}, 1, length({cell}) / 2) || '~' || substr({cell}, length({cell}) / 2 + 2)"
    ),
    "one more": lambda rng, cell: f"CASE typeof({cell}) WHEN 'integer' THEN {cell} + 1000 ELSE {cell} || ' ' END",
    "no value of its kind": lambda rng, cell: rng.choice([f"CAST({cell} AS BLOB)", "X'00FF'", "1.5", "''"]),
    "no UTF-8": lambda rng, cell: "CAST(X'41FF42' AS TEXT)",
}


def test_an_untouched_store_is_intact(sealed: Where) -> None:
    assert seals(sealed) is None
    assert plays(sealed) is None


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize(("table", "column"), CELLS, ids=".".join)
def test_any_changed_cell_is_found_where_it_is(file: Path, table: str, column: str, kind: str) -> None:
    rng = random.Random(f"{table}.{column}/{kind}")
    serial = rng.choice(_rows(file)[table])
    changed = CHANGES[kind](rng, column)
    change(file, f"UPDATE {table} SET {column} = {changed} WHERE tournament = 2 AND serial = {serial}")
    broken = seals(file)
    assert broken is not None
    assert (broken.table, broken.row) == (table, serial)


def test_any_changed_cell_is_found_on_a_server(database: Where) -> None:
    rows = _rows(database)
    for table, column in CELLS:
        kind = metadata.tables[table].c[column].type
        there, back = ("+ 1000", "- 1000") if isinstance(kind, Integer) else ("|| '~'", "")
        serial = random.Random(f"{table}.{column}").choice(rows[table])
        cell = f"UPDATE {table} SET {column} = {{}} WHERE tournament = 2 AND serial = {serial}"
        change(database, cell.format(f"{column} {there}"))
        broken = seals(database)
        assert broken is not None
        assert (broken.table, broken.row) == (table, serial)
        change(database, cell.format(f"{column} {back}" if back else f"left({column}, -1)"))
    assert seals(database) is None


@pytest.mark.parametrize("column", [column.name for column in sealed_columns(tournaments)] + ["seal"])
def test_the_facts_of_a_tournament_are_sealed_too(file: Path, column: str) -> None:
    changed = f"CASE typeof({column}) WHEN 'integer' THEN 1 - {column} ELSE {column} || ' ' END"
    change(file, f"UPDATE tournaments SET {column} = {changed} WHERE id = 2")
    with open_queries(file) as queries:
        cup = replace(queries.tournament("other"), id=2)
        broken = queries.verify_seals(cup)
    assert broken is not None
    assert (broken.table, broken.row) == ("tournaments", 0)


@pytest.mark.parametrize("table", [table.name for table in JOURNAL])
@pytest.mark.parametrize("where", [0, -1], ids=["first", "last"])
def test_a_missing_row_is_found(sealed: Where, table: str, where: int) -> None:
    serial = _rows(sealed)[table][where]
    change(sealed, f"DELETE FROM {table} WHERE tournament = 2 AND serial = {serial}")
    broken = seals(sealed)
    assert broken is not None
    assert broken.row in (serial, 0)
    assert ("missing" in broken.what) or ("last ones are not here" in broken.what)


def test_the_end_cut_off_together_with_its_count_is_found(sealed: Where) -> None:
    last = max(serial for serials in _rows(sealed).values() for serial in serials)
    cut = [
        f"DELETE FROM {table} WHERE tournament = 2 AND serial = {last}"
        for table, serials in _rows(sealed).items()
        if last in serials
    ]
    change(sealed, *cut, "UPDATE tournaments SET rows = rows - 1 WHERE id = 2")
    assert seals(sealed) is not None


@pytest.mark.parametrize("table", [table.name for table in JOURNAL])
def test_a_row_in_another_place_is_found(sealed: Where, table: str) -> None:
    serial = _rows(sealed)[table][0]
    change(sealed, f"UPDATE {table} SET serial = 1000 WHERE tournament = 2 AND serial = {serial}")
    broken = seals(sealed)
    assert broken is not None
    assert broken.row == serial


def test_a_row_of_another_tournament_is_found(sealed: Where) -> None:
    change(sealed, "UPDATE matches SET tournament = 2, serial = 1000, epoch = 3 WHERE tournament = 1 AND position = 0")
    broken = seals(sealed)
    assert broken is not None
    assert "row 1000 comes instead" in broken.what
    with open_queries(sealed) as queries:
        assert queries.verify_seals(queries.tournament("other")) is not None


def test_two_exchanged_rows_are_found(sealed: Where) -> None:
    one, other = _rows(sealed)["matches"][3:5]
    change(
        sealed,
        f"UPDATE matches SET serial = -1 WHERE tournament = 2 AND serial = {one}",
        f"UPDATE matches SET serial = {one} WHERE tournament = 2 AND serial = {other}",
        f"UPDATE matches SET serial = {other} WHERE tournament = 2 AND serial = -1",
    )
    broken = seals(sealed)
    assert broken is not None
    assert broken.row == one


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE matches SET play = replace(play, '\"played\"', '\"forfeit\"')",
        "UPDATE matches SET number = 900 WHERE epoch = 2 AND position = 3",
        'UPDATE matches SET pairing = \'["A","X"]\' WHERE position = 3',
        'UPDATE matches SET seats = \'["C","A"]\' WHERE position = 2',
    ],
)
def test_another_play_is_found_by_its_hash(sealed: Where, statement: str) -> None:
    change(sealed, statement)
    broken = plays(sealed)
    assert broken is not None
    assert broken.table == "matches"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE matches SET play_hash = 'ff' WHERE epoch = 2 AND position = 3",
        "UPDATE matches SET position = 900 WHERE epoch = 2 AND position = 3",
        "DELETE FROM matches WHERE position = 5",
        "UPDATE tournaments SET rules = '{}'",
        "UPDATE epochs SET config = '{}' WHERE number = 2",
        "UPDATE epochs SET commitment = 'c9' WHERE number = 2",
        "UPDATE participants SET digest = '00' WHERE name = 'B'",
        "UPDATE participants SET version = '9' WHERE name = 'D'",
    ],
)
def test_another_play_or_another_start_ends_in_another_head_than_the_published_one(
    sealed: Where, statement: str
) -> None:
    published = head(sealed)
    change(sealed, statement)
    assert head(sealed) != published


def test_a_changed_seal_and_play_hash_do_not_hide_a_changed_play(sealed: Where) -> None:
    """Who changes a play and its hash needs every seal and every head after it, which were published."""
    with open_queries(sealed) as queries:
        published = queries.chain_head(queries.tournament("cup"))
        one = next(queries.results(queries.tournament("cup")))
    play = canonical({**one.record.play_json(), "points": [7, 0]})
    forged = f"SET play = '{play}', play_hash = '00', seal = '00'"
    change(sealed, f"UPDATE matches {forged} WHERE tournament = 2 AND epoch = 1 AND position = 0")
    assert seals(sealed) is not None
    assert plays(sealed) is not None
    assert published.length == 36


@pytest.mark.parametrize("seed", range(60))
def test_any_flipped_bit_of_a_match_in_the_file_is_found(file: Path, seed: int) -> None:
    rng = random.Random(seed)
    raw = sqlite3.connect(file)
    rows = raw.execute("SELECT play, testimony, summary, seal, play_hash FROM matches WHERE tournament = 2")
    cells = [cell.encode() for row in rows for cell in row]
    raw.close()
    data = bytearray(file.read_bytes())
    # Long texts lie in pieces, and the free space of a page may hold what a row was before it moved.
    at, length = rng.choice([(data.find(cell), len(cell)) for cell in cells if data.count(cell) == 1])
    data[at + rng.randrange(length)] ^= 1 << rng.randrange(8)
    file.write_bytes(data)
    broken = seals(file)
    assert broken is not None
    assert broken.table == "matches"


def test_an_index_that_lies_about_its_rows_is_found(file: Path) -> None:
    """Counts are read from the index alone, so that a flipped byte there would be a wrong count."""
    data = file.read_bytes()
    # In a row the losers are followed by the play hash, in the index they are not.
    lying = re.sub(rb'played(\["[A-D]"\])(?![0-9a-f])', rb"forged\1", data, count=1)
    assert lying != data
    file.write_bytes(lying)
    broken = seals(file)
    assert broken is not None
    assert "index" in broken.what
