"""A run is proved from its lines alone, and whatever is changed in them is found and named."""

from __future__ import annotations

import copy
import json
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from arena.app.data import Archive
from arena.app.export import export
from arena.app.show import build_report
from arena.app.verify import Difference, Verified, verify_file, verify_run
from arena.errors import UsageError
from arena.store import open_queries, open_store
from arena.store.chains import ChainHead, canonical, join, play_hash
from arena.store.exchange import End, Header, SealedRow, read, write
from arena.tournament import decks
from tests.reports.runs import EVIDENCE, play_run, sound
from tests.store.samples import SESSION

Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of 24 matches with faults, a void match and void attempts."""
    folder = tmp_path_factory.mktemp("data")
    with open_store(play_run(folder, seed=None, void=[5])) as store:
        tournament = store.tournament("cup")
        key = next(store.keys(tournament))
        for text in ("KeyError: 'x'", "\ud800 again"):
            store.record_void(tournament, key, text)
        store.add_session(tournament, SESSION)
    return folder


@pytest.fixture(scope="module")
def file(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("elsewhere") / "cup.jsonl"
    export("cup", Archive(data), path)
    return path


@pytest.fixture(scope="module")
def head(data: Path) -> str:
    with open_queries(data / "arena.db") as queries:
        return queries.chain_head(queries.tournament("cup")).head


def lines_of(file: Path) -> Lines:
    """All lines but the last."""
    return [json.loads(line) for line in file.read_text("ascii").splitlines()][:-1]


def written(folder: Path, lines: Lines) -> Path:
    """A file of these lines, by someone who knows the format: canonical, and with the right SHA-256."""

    class Text:
        def __init__(self, line: dict[str, Any]) -> None:
            self.text = canonical(line)

    file = folder / "changed.jsonl"
    with file.open("w", encoding="ascii") as stream:
        write(map(Text, lines), stream.write)  # type: ignore[arg-type]
    return file


def rows(lines: Lines, table: str) -> Lines:
    return [line for line in lines if line.get("table") == table]


def resealed(lines: Lines) -> Lines:
    """The same lines with all seals right again, as only the arena (or whoever has all of the file) can make them."""
    header = Header(lines[0]["tournament"])
    seal = header.seal
    for line in sorted((line for line in lines if "serial" in line), key=lambda line: line["serial"]):
        texts = {
            name: canonical(value) if name in ("config", "pairing", "play", "seats", "losers", "summary", "testimony",
                                               "evidence", "text", "lag") else value
            for name, value in line["row"].items()
        }  # fmt: skip
        row = SealedRow(line["table"], line["serial"], seal, "", line["row"], texts)
        line["previous"], line["seal"] = seal, row.computed_seal
        seal = row.computed_seal
    lines[-1]["seal"] = seal
    return lines


def difference(file: Path, head: str | None = None) -> Difference:
    found = verify_file(file, head)
    assert isinstance(found, Difference)
    return found


# -- what is right ----------------------------------------------------------------------------------------------------


def test_a_run_verifies_from_the_store_and_from_its_file_alike(data: Path, file: Path, head: str) -> None:
    found = verify_file(file, head)
    assert isinstance(found, Verified) and found == verify_run("cup", Archive(data), head)
    assert (found.matches, found.head, found.hidden) == (24, head, ())
    assert found.decisions > 5 * found.deals > 5 * 24


def test_the_file_holds_every_part_in_its_order(file: Path) -> None:
    lines = lines_of(file)
    tables = [line.get("table", "") for line in lines]
    order = list(dict.fromkeys(table for table in tables if table != "faults"))
    assert order == ["", "participants", "epochs", "matches", "voids", "sessions"] and (tables[0], tables[-1]) == (
        "",
        "",
    )
    assert [line["row"]["position"] for line in rows(lines, "matches")] == list(range(24))
    assert len(rows(lines, "faults")) > 0 and len(rows(lines, "voids")) == 2
    assert rows(lines, "epochs")[0]["row"]["secret"] == decks.secret_from_seed("as if drawn").hex()


def test_the_same_run_gives_the_same_file_and_it_comes_back_as_it_was_read(
    data: Path, file: Path, tmp_path: Path
) -> None:
    again: list[str] = []
    export("cup", Archive(data), again.append)
    assert "".join(again) == file.read_text("ascii")
    copied: list[str] = []
    write(read(file), copied.append)
    assert copied == again


def test_the_figures_are_those_of_the_report(data: Path, file: Path) -> None:
    with open_queries(data / "arena.db") as queries:
        report = build_report(queries, "cup")
    end = list(read(file))[-1]
    assert isinstance(end, End)
    assert (end.head, end.draw_probability) == (report.run.chain_head, report.run.draw_probability)
    for row in report.rows:
        figures, standing = end.figures[row.participant.name], row.standing
        assert (figures["mu"], figures["sigma"]) == (row.rating.mu, row.rating.sigma)
        assert (figures["matches_won"], figures["matches_lost"]) == (standing.matches.won, standing.matches.lost)
        assert (figures["pairs_won"], figures["pairs_drawn"]) == (standing.pairs.won, standing.pairs.drawn)
        assert (figures["points_for"], figures["deals_won"]) == (standing.points_for, standing.deals_won)
        assert figures["faults"] == sum(standing.faults.values())


def test_the_order_in_which_matches_were_committed_is_of_no_matter(tmp_path: Path, head: str) -> None:
    play_run(tmp_path, seed=None, void=[5], order=random.Random(3))
    export("cup", Archive(tmp_path))
    assert isinstance(verify_file(tmp_path / "runs" / "cup" / "export.jsonl"), Verified)


def test_unmirrored_matches_are_dealt_from_lists_of_their_own(tmp_path: Path) -> None:
    play_run(tmp_path, bots={"one": sound, "two": sound}, pairs=2, untrusted=frozenset({"one"}))
    assert isinstance(verify_run("cup", Archive(tmp_path)), Verified)


def test_every_match_is_watched(file: Path) -> None:
    seen: list[int] = []
    verify_file(file, watch=seen.append)
    assert seen == list(range(1, 25))


# -- what is not revealed ---------------------------------------------------------------------------------------------


def test_before_the_reveal_nothing_is_told_that_cards_follow_from(tmp_path: Path) -> None:
    play_run(tmp_path, pairs=6, matches=20, seed="7")
    file = tmp_path / "cup.jsonl"
    assert export("cup", Archive(tmp_path), file).hidden == (0,)
    text = file.read_text("ascii")
    assert decks.secret_from_seed("7").hex() not in text
    assert "actions" not in text and json.dumps(EVIDENCE)[1:20] not in text
    found = verify_file(file)
    assert isinstance(found, Verified)
    assert (found.matches, found.decisions, found.hidden) == (20, 0, (0,))


def test_before_the_reveal_order_chain_and_table_are_verified(tmp_path: Path) -> None:
    play_run(tmp_path, pairs=6, matches=20)
    file = tmp_path / "cup.jsonl"
    export("cup", Archive(tmp_path), file)
    for change, what in (
        (lambda lines: rows(lines, "matches")[2]["row"].update(play_hash="0" * 64), "the play chain"),
        (lambda lines: lines[-1]["figures"]["plain"].update(points_for=1), "the table"),
        (lambda lines: rows(lines, "matches")[2]["row"].update(play={}), "should hold no cards"),
        (lambda lines: rows(lines, "matches")[2].update(seal="0" * 64), "seal"),
    ):
        lines = lines_of(file)
        change(lines)
        found = difference(written(tmp_path, lines))
        assert what in f"{found.where}: {found.what}"


def test_a_finished_run_cannot_hide_a_match(file: Path, tmp_path: Path) -> None:
    lines = lines_of(file)
    rows(lines, "matches")[4]["row"].update(play=None, testimony=None)
    assert difference(written(tmp_path, lines)).where.startswith("the match ")


# -- what was changed -------------------------------------------------------------------------------------------------


def test_200_random_changes_of_a_byte_are_found(file: Path, tmp_path: Path) -> None:
    chance = random.Random(66)
    whole = file.read_bytes()
    changed = tmp_path / "changed.jsonl"
    kinds: set[str] = set()
    for _ in range(200):
        place = chance.randrange(len(whole))
        byte = chance.choice([byte for byte in range(256) if byte != whole[place]])
        kind = chance.choice(("other", "other", "more", "less"))
        middle = {"other": bytes([byte]), "more": bytes([byte, whole[place]]), "less": b""}[kind]
        changed.write_bytes(whole[:place] + middle + whole[place + 1 :])
        kinds.add(kind)
        try:
            found = verify_file(changed)
        except UsageError as error:
            assert place < 30 and "export" in str(error)  # it says of itself that it is another file
            continue
        assert isinstance(found, Difference), (place, kind, whole[place - 20 : place + 20])
    assert kinds == {"other", "more", "less"}


def test_every_byte_of_the_last_line_counts(file: Path, tmp_path: Path) -> None:
    whole = file.read_bytes()
    changed = tmp_path / "changed.jsonl"
    last = whole.rstrip(b"\n").rindex(b"\n") + 1
    for place in range(last, len(whole)):
        changed.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert difference(changed).where == "the file"


def test_a_file_that_ends_early_or_goes_on_is_found(file: Path, tmp_path: Path) -> None:
    whole = file.read_bytes()
    changed = tmp_path / "changed.jsonl"
    last = whole.rstrip(b"\n").rindex(b"\n") + 1
    for text in (whole[: last - 1], whole[:last], whole[:-1], whole + b"\n", whole + whole, whole[: last // 2]):
        changed.write_bytes(text)
        assert difference(changed).where == "the file"


def _other_card(lines: Lines) -> None:
    deal = rows(lines, "matches")[2]["row"]["play"]["deals"][1]
    words = deal["actions"].split()
    words[0] = words[-1] if words[-1] != words[0] else words[-2]
    deal["actions"] = " ".join(words)


def _swap(lines: Lines) -> None:
    places = [place for place, line in enumerate(lines) if line.get("table") == "matches"]
    one = next(place for place, after in pairwise(places) if after == place + 1)
    lines[one], lines[one + 1] = lines[one + 1], lines[one]


def _remove(table: str, number: int) -> Callable[[Lines], None]:
    def change(lines: Lines) -> None:
        lines.remove(rows(lines, table)[number])

    return change


def _in(table: str, number: int, **values: object) -> Callable[[Lines], None]:
    def change(lines: Lines) -> None:
        rows(lines, table)[number]["row"].update(values)

    return change


def _points(lines: Lines) -> None:
    rows(lines, "matches")[2]["row"]["play"]["points"][0] += 1


def _time(lines: Lines) -> None:
    rows(lines, "matches")[2]["row"]["testimony"]["took_us"][0][0] += 1


def _evidence(lines: Lines) -> None:
    rows(lines, "faults")[0]["row"]["evidence"] += "!"


def _loss(lines: Lines) -> None:
    match = next(row["row"] for row in rows(lines, "matches") if row["row"]["play"]["faults"])
    match["play"]["faults"][0]["loses"] = "match"


MATCH = "the match "
CHANGES: list[tuple[str, Callable[[Lines], Any], str, str]] = [
    ("an action", _other_card, MATCH, "deal 2"),
    ("a result", _points, MATCH, "final score: replayed"),
    ("a status", _in("matches", 2, status="forfeit"), MATCH, "status: computed played, recorded forfeit"),
    ("a loser", _in("matches", 2, losers=[]), MATCH, "losers"),
    ("a hash", _in("matches", 2, play_hash="0" * 64), MATCH, "hash of its play"),
    ("seats", _in("matches", 2, seats=["plain", "plain"]), MATCH, "seats"),
    ("a ruling", _loss, MATCH, "final forfeit"),
    ("a time", _time, MATCH, "was changed after it was committed: its seal would be"),
    ("a deck secret", _in("epochs", 0, secret="00" * 32), "epoch 0", "commitment of the secret"),
    ("a commitment", _in("epochs", 0, commitment="00" * 32), "epoch 0", "commitment of the secret"),
    ("a version", _in("participants", 1, version="2.0"), "the participant 'plain'", "was changed after"),
    ("a participant", _remove("participants", 1), MATCH, "it is missing"),
    ("swapped matches", _swap, MATCH, "it is missing; what follows instead is the match"),
    ("a removed match", _remove("matches", 2), MATCH, "it is missing; what follows instead is the match"),
    ("the last match", _remove("matches", -1), MATCH, "it is missing"),
    ("a removed fault", _remove("faults", 0), MATCH, "the row of the fault error in deal"),
    ("evidence", _evidence, MATCH, "fault: evidence"),
    ("a removed void", _remove("voids", -1), "the seals", "rows were committed; row "),
    ("a void", _in("voids", 0, text="other"), "the void attempt 1", "was changed after"),
    ("a session", _in("sessions", 0, jobs=7), "the session of 2026-05-01", "was changed after"),
    ("a rating", lambda lines: lines[-1]["figures"]["plain"].update(mu=25.0), "the table, 'plain'", "mu"),
    ("a figure", lambda lines: lines[-1]["figures"]["plain"].update(deals=1), "the table, 'plain'", "deals"),
    ("the title", lambda lines: lines[0]["tournament"]["about"].update(title="x"), "the header", "seal of the header"),
    ("a rule", lambda lines: lines[0]["tournament"]["rules"].update(match_target=5), "the header", "seal of the "),
    ("a count", lambda lines: lines[-1].update(matches=23), "the end", "number of matches"),
]


@pytest.mark.parametrize(("change", "where", "what"), [pytest.param(*case, id=name) for name, *case in CHANGES])
def test_a_change_is_named_though_the_hash_of_the_file_is_right(
    file: Path, tmp_path: Path, change: Callable[[Lines], Any], where: str, what: str
) -> None:
    lines = lines_of(file)
    change(lines)
    found = difference(written(tmp_path, lines))
    assert found.where.startswith(where) and what in found.what


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where plain values lie within a line, and the lists that hold something."""
    match value:
        case dict():
            for name in value:
                yield from _places(value[name], (*place, name))
        case list():
            if len(value) > 1:
                yield place
            for number, each in enumerate(value):
                yield from _places(each, (*place, number))
        case _:
            yield place


def _other(value: Any, chance: random.Random) -> Any:
    """Another value of its kind."""
    match value:
        case list():
            return value[1:] if chance.random() < 0.5 else [*value[1:], value[0]]
        case str():
            words = value.split(" ")
            at = chance.randrange(len(words))
            if len(words) > 2 and chance.random() < 0.7:  # two actions change places
                words[at - 1], words[at] = words[at], words[at - 1]
            else:
                words[at] = words[at][:-1] + chance.choice("019xJ")
            return " ".join(words)
        case None:
            return 0
        case float():
            return value + chance.choice([-1e-3, 1e-3])
        case _:
            return int(value) + chance.choice([-1, 1])


def test_200_random_changes_of_values_and_lines_are_found_though_the_hash_of_the_file_is_right(
    file: Path, tmp_path: Path
) -> None:
    chance = random.Random(66)
    original = lines_of(file)
    found: Counter[str] = Counter()
    while found.total() < 200:
        lines = copy.deepcopy(original)
        number = chance.randrange(len(lines))
        kind = chance.choice(["value", "value", "value", "lost", "twice", "swapped"])
        match kind:
            case "value":
                *path, last = chance.choice(list(_places(lines[number])))
                holder: Any = lines[number]
                for step in path:
                    holder = holder[step]
                holder[last] = _other(holder[last], chance)
            case "lost":
                del lines[number]
            case "twice":
                lines.insert(number, lines[number])
            case "swapped":
                other = chance.randrange(len(lines))
                lines[number], lines[other] = lines[other], lines[number]
        if lines != original:
            found[kind] += 1
            try:
                assert isinstance(verify_file(written(tmp_path, lines)), Difference), (kind, number)
            except UsageError as error:
                assert number == 0 or kind == "swapped", error  # without its header it is another file
    assert min(found.values()) > 10


def _rehashed(lines: Lines, number: int) -> None:
    """The hash of what was played in a match, made right again."""
    row = rows(lines, "matches")[number]["row"]
    pairing, seats, play = (canonical(row[name]) for name in ("pairing", "seats", "play"))
    row["play_hash"] = play_hash(row["epoch"], pairing, row["leg"], row["number"], seats, play)


def _other_fault(lines: Lines) -> None:
    """What no referee can tell: that a bot failed in another way; said in every place but the chain."""
    number, row = next(
        (number, line["row"]) for number, line in enumerate(rows(lines, "matches")) if line["row"]["play"]["faults"]
    )
    for fault in row["play"]["faults"]:
        fault["fault"] = "malformed"
    sides = row["summary"]["sides"]
    ends = [counts for side in sides for conduct in side["conduct"] for counts in conduct.values()]
    for counts in (row["summary"]["terminations"], *(side["faults"] for side in sides), *ends):
        if "error" in counts:
            counts["malformed"] = counts.pop("error")
    serial = rows(lines, "matches")[number]["serial"]
    for line in rows(lines, "faults"):
        if line["row"]["match"] == serial:
            line["row"]["kind"] = "malformed"
    _rehashed(lines, number)


def test_another_fault_in_every_place_with_all_seals_is_found_by_the_play_chain(file: Path, tmp_path: Path) -> None:
    lines = lines_of(file)
    _other_fault(lines)
    found = difference(written(tmp_path, resealed(lines)))
    assert (found.where, found.what.partition(":")[0]) == ("the play chain of epoch 0", "head")


def test_whoever_computes_the_play_chain_anew_as_well_is_found_by_the_published_head(
    file: Path, tmp_path: Path, head: str
) -> None:
    lines = lines_of(file)
    _other_fault(lines)
    last = lines[-1]
    computed = difference(written(tmp_path, resealed(lines))).what.split()[2].rstrip(",")
    last["chains"][0][0] = computed
    last["head"] = join([(0, ChainHead(computed, last["chains"][0][1]))]).head
    forged = written(tmp_path, resealed(lines))
    assert isinstance(verify_file(forged), Verified)
    assert difference(forged, head).where == "the play chain"


def test_a_result_whose_hash_and_seals_were_made_right_is_still_refereed(file: Path, tmp_path: Path) -> None:
    lines = lines_of(file)
    row = rows(lines, "matches")[2]["row"]
    row["play"]["points"].reverse()
    row["play"]["ranks"].reverse()
    _rehashed(lines, 2)
    assert "final score: replayed" in difference(written(tmp_path, resealed(lines))).what


def test_other_decks_are_found_though_commitment_and_all_seals_are_right(file: Path, tmp_path: Path) -> None:
    lines = lines_of(file)
    other = decks.secret_from_seed("other")
    _in("epochs", 0, secret=other.hex(), commitment=decks.commitment(other))(lines)
    found = difference(written(tmp_path, resealed(lines)))
    assert found.where.startswith("the match ") and found.what.startswith("deal 1, action ")


def test_a_thinking_time_that_enters_no_table_is_found_by_the_seals(file: Path, tmp_path: Path) -> None:
    lines = lines_of(file)
    times = rows(lines, "matches")[2]["row"]["testimony"]["think_us"]
    times[0][0] += 1
    found = difference(written(tmp_path, lines))
    assert found.where.startswith("the match ") and "was changed after it was committed" in found.what


def test_a_version_that_is_changed_with_all_seals_is_found_by_the_play_chain(file: Path, tmp_path: Path) -> None:
    lines = lines_of(file)
    _in("participants", 1, version="2.0")(lines)
    assert difference(written(tmp_path, resealed(lines))).where == "the play chain of epoch 0"


@pytest.mark.parametrize(("changes", "what"), [({"attempt": 3}, "attempt: "), ({"number": 9}, "no such match")])
def test_a_void_attempt_that_cannot_have_been_is_found_though_all_seals_are_right(
    file: Path, tmp_path: Path, changes: dict[str, int], what: str
) -> None:
    lines = lines_of(file)
    rows(lines, "voids")[0]["row"].update(changes)
    found = difference(written(tmp_path, resealed(lines)))
    assert found.where.startswith("the void attempt ") and what in found.what


def test_another_run_that_is_right_in_itself_has_another_head(tmp_path: Path, head: str) -> None:
    play_run(tmp_path, seed=None, bots={"plain": sound, "sound": sound, "faulty": sound})
    assert isinstance(verify_run("cup", Archive(tmp_path)), Verified)
    found = verify_run("cup", Archive(tmp_path), head)
    assert isinstance(found, Difference)
    assert found.where == "the play chain" and found.what.endswith(f"published {head}")


def test_a_rating_may_differ_by_what_machines_round(file: Path, tmp_path: Path) -> None:
    lines = lines_of(file)
    lines[-1]["figures"]["plain"]["mu"] += 1e-8
    assert isinstance(verify_file(written(tmp_path, lines)), Verified)


def test_a_change_in_the_store_is_found(data: Path, tmp_path: Path) -> None:
    play_run(tmp_path)
    with sqlite3.connect(tmp_path / "arena.db") as connection:
        connection.execute("UPDATE matches SET testimony = replace(testimony, '200', '201') WHERE position = 3")
    connection.close()
    found = verify_run("cup", Archive(tmp_path))
    assert isinstance(found, Difference) and found.where.startswith("matches, row ")


# -- what cannot be read ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is no export of a run"),
        ("hello\n", "is no export of a run"),
        ('{"format":"arena-run/9","x":1}\n', "is an export of another version"),
    ],
)
def test_what_is_no_export_is_refused_in_a_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "file").write_text(text)
    with pytest.raises(UsageError, match=sentence):
        verify_file(tmp_path / "file")


def test_a_file_that_is_not_there_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.jsonl cannot be read: No such file"):
        verify_file(tmp_path / "none.jsonl")


def test_an_export_that_cannot_be_written_leaves_nothing(data: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(UsageError, match="choose another --output"):
        export("cup", Archive(data), tmp_path / "taken")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
