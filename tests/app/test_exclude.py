"""Who is out: what counts of it and what does not, in every figure, and that the record proves it."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from arena.app.data import Archive
from arena.app.exclude import exclude, include
from arena.app.export import export
from arena.app.show import build_report
from arena.app.verify import Difference, Verified, verify_file, verify_run
from arena.errors import UsageError
from arena.match.absence import Change, Exclusion, Place
from arena.match.conduct import Conduct
from arena.match.referee import Ask, NoReply, Reply
from arena.reports import Part, csv, markdown
from arena.reports import json as json_report
from arena.reports.columns import CSV_COLUMNS, TABLE_COLUMNS, parse_columns
from arena.reports.model import RunReport
from arena.store import State, open_queries, open_store
from tests.reports.runs import gone, plain, play_run, sound
from tests.store import workers

BOTS = {"anna": sound, "bert": plain, "gone": gone}


def reported(data: Path, run: str = "cup") -> RunReport:
    with open_queries(data / "arena.db") as queries:
        return build_report(queries, run)


def play_part(data: Path, run: str = "cup") -> str:
    return json_report.render(reported(data, run), Part.PLAY)


def verified(data: Path) -> Verified:
    found = verify_run("cup", Archive(data))
    assert isinstance(found, Verified), found
    export("cup", Archive(data), data / "cup.jsonl")
    assert verify_file(data / "cup.jsonl") == found
    return found


# -- quarantined -------------------------------------------------------------------------------------------------------


def test_who_is_quarantined_early_is_last_and_counts_for_nobody(tmp_path: Path) -> None:
    play_run(tmp_path, bots=BOTS, pairs=8)
    report = reported(tmp_path)
    last = report.rows[-1]
    assert last.participant.name == "gone" and last.absence is not None
    assert (last.absence.played, last.absence.scheduled, last.absence.withdrawn) == (4, 32, True)
    assert last.absence.entry.reason == "3 matches forfeited in a row"
    assert last.standing.matches.total == 0 and sum(last.standing.faults.values()) == 4
    assert (last.rating.mu, last.rating.sigma) == (25.0, 25 / 3)
    assert [row.absence for row in report.rows[:-1]] == [None, None]
    assert all(row.standing.pairs.total == 8 and row.standing.matches.total == 16 for row in report.rows[:-1])
    assert report.run.pairs_finished == 8
    assert (report.run.matches_finished, report.run.matches_left_out) == (20, 28)
    assert report.run.chain_length == 20
    assert verified(tmp_path).matches == 20


def test_ratings_are_those_of_a_run_without_who_counts_for_nobody(tmp_path: Path) -> None:
    play_run(tmp_path / "a", bots=BOTS, pairs=8)
    play_run(tmp_path / "b", bots={name: BOTS[name] for name in ("anna", "bert")}, pairs=8)
    with_gone, without = reported(tmp_path / "a"), reported(tmp_path / "b")
    assert [row.rating for row in with_gone.rows[:-1]] == [row.rating for row in without.rows]
    assert [row.standing for row in with_gone.rows[:-1]] == [row.standing for row in without.rows]
    assert [row.conduct for row in with_gone.rows] == [*(row.conduct for row in without.rows), Conduct()]
    assert with_gone.crosstable == without.crosstable


def test_what_jobs_that_ran_ahead_have_played_counts_for_nobody(tmp_path: Path) -> None:
    play_run(tmp_path / "one", bots=BOTS, pairs=8, seed=None)
    play_run(tmp_path / "many", bots=BOTS, pairs=8, seed=None, order=random.Random(4))
    assert play_part(tmp_path / "many") == play_part(tmp_path / "one")
    assert reported(tmp_path / "many").lost_bummerls == reported(tmp_path / "one").lost_bummerls
    assert verified(tmp_path / "many").matches == 48
    assert verified(tmp_path / "one").matches == 20


def test_who_played_half_of_its_matches_keeps_those_pairs_that_are_complete(tmp_path: Path) -> None:
    matches: list[random.Random] = []

    def tires(ask: Ask, chance: random.Random) -> Reply | NoReply:
        if chance not in matches:  # each match has its own
            matches.append(chance)
        return plain(ask, chance) if len(matches) <= 20 else gone(ask, chance)

    play_run(tmp_path, bots={"anna": plain, "tires": tires}, pairs=16)
    report = reported(tmp_path)
    last = report.rows[-1]
    assert last.participant.name == "tires" and last.absence is not None
    assert not last.absence.withdrawn
    assert 2 * last.absence.played >= last.absence.scheduled == 32
    assert 0 < last.standing.pairs.total < 16
    assert last.standing.matches.total == last.absence.played
    verified(tmp_path)


@pytest.mark.parametrize("seed", [None, "9"])
def test_every_format_says_who_is_out_and_why(tmp_path: Path, seed: str | None) -> None:
    play_run(tmp_path, bots=BOTS, pairs=8, seed=seed)
    report = reported(tmp_path)
    lines = csv.render(report.rows, parse_columns(CSV_COLUMNS)).splitlines()
    assert [line.split(",")[1:3] for line in lines] == [
        ["bot", "status"], *([row.participant.name, ""] for row in report.rows[:-1]), ["gone", "quarantined"],
    ]  # fmt: skip
    page = markdown.render(report, parse_columns(TABLE_COLUMNS))
    assert "| gone † |" in page
    assert "- **† Quarantined** gone: 3 matches forfeited in a row; played 4 of 32 matches, less than half" in page
    assert '"change": "quarantined"' in json_report.render(report, Part.PLAY)


# -- by hand -----------------------------------------------------------------------------------------------------------


def test_who_is_excluded_plays_no_more_and_keeps_what_it_played(tmp_path: Path) -> None:
    play_run(tmp_path, bots={"anna": sound, "bert": plain, "carl": plain}, pairs=8, matches=36)
    done = exclude("cup", "bert", "asked by its author", Archive(tmp_path))
    assert done.matches == 8
    report = reported(tmp_path)
    last = report.rows[-1]
    assert last.participant.name == "bert" and last.absence is not None
    assert (last.absence.entry.change, last.absence.entry.reason) == (Change.EXCLUDED, "asked by its author")
    assert (last.absence.played, last.absence.withdrawn) == (24, False)
    assert report.run.matches_finished == 36 and report.run.matches_left_out == 8


def test_who_is_included_again_leaves_no_trace_but_in_the_log(tmp_path: Path) -> None:
    play_run(tmp_path, bots={"anna": sound, "bert": plain, "carl": plain}, pairs=8, matches=36)
    before = play_part(tmp_path)
    exclude("cup", "bert", "asked by its author", Archive(tmp_path))
    assert play_part(tmp_path) != before
    assert include("cup", "bert", "a mistake", Archive(tmp_path)).matches == 8
    assert play_part(tmp_path) == before
    log = reported(tmp_path).exclusions
    assert [(entry.change, entry.reason) for entry in log] == [
        (Change.EXCLUDED, "asked by its author"),
        (Change.INCLUDED, "a mistake"),
    ]


def test_in_a_finished_run_only_later_epochs_lack_who_is_excluded(tmp_path: Path) -> None:
    play_run(tmp_path, bots={"anna": sound, "bert": plain}, pairs=4)
    assert exclude("cup", "bert", "enough", Archive(tmp_path)).matches == 0
    report = reported(tmp_path)
    assert report.rows[-1].participant.name == "bert"
    assert report.run.pairs_finished == 4 and report.run.matches_left_out == 0
    verified(tmp_path)
    assert include("cup", "bert", "", Archive(tmp_path)).matches == 0
    with open_queries(tmp_path / "arena.db") as queries:
        assert queries.tournament("cup").state is State.FINISHED


def test_who_is_included_in_a_finished_run_has_to_play_what_it_missed(tmp_path: Path) -> None:
    play_run(tmp_path, bots=BOTS, pairs=8)
    assert include("cup", "gone", "", Archive(tmp_path)).matches == 32  # no pair of it is complete
    with open_queries(tmp_path / "arena.db") as queries:
        assert queries.tournament("cup").state is State.INTERRUPTED
        assert queries.absences(queries.tournament("cup")).log[-1].place == Place(1, 0)
    verified(tmp_path)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("cup", "berta", "why"), "no bot of run 'cup' is named 'berta'; did you mean 'bert'"),
        (("cap", "bert", "why"), "did you mean 'cup'"),
        (("cup", "bert", " "), "--reason is empty"),
        (("cup", "bert", "two\nlines"), "expected one line"),
        (("cup", "gone", "why"), "'gone' is quarantined in run 'cup' already: 3 matches forfeited in a row"),
    ],
)
def test_what_cannot_be_excluded_is_refused_in_a_sentence(
    tmp_path: Path, words: tuple[str, str, str], sentence: str
) -> None:
    play_run(tmp_path, bots=BOTS, pairs=4)
    before = play_part(tmp_path)
    with pytest.raises(UsageError, match=sentence.replace("(", r"\(")):
        exclude(*words, Archive(tmp_path))
    assert play_part(tmp_path) == before


def test_who_takes_part_cannot_be_included(tmp_path: Path) -> None:
    play_run(tmp_path, bots=BOTS, pairs=4)
    with pytest.raises(UsageError, match="'bert' takes part in run 'cup'"):
        include("cup", "bert", "", Archive(tmp_path))


def test_nobody_is_excluded_from_a_run_that_an_arena_plays(tmp_path: Path) -> None:
    play_run(tmp_path, bots=BOTS, pairs=4)
    holder, told = workers.start(workers.hold, tmp_path / "arena.db")
    assert told.recv() == "held"
    for change in (exclude, include):
        with pytest.raises(UsageError, match=f"is played by process {holder.pid}"):
            change("cup", "gone", "why", Archive(tmp_path))
    told.send(0)
    holder.join()


# -- what the record proves --------------------------------------------------------------------------------------------


def difference(data: Path) -> str:
    found = verify_run("cup", Archive(data))
    assert isinstance(found, Difference)
    return f"{found.where}: {found.what}"


def test_a_quarantine_that_the_log_lacks_is_found(tmp_path: Path) -> None:
    play_run(tmp_path, bots=BOTS, pairs=4, order=random.Random(1))
    _forget_the_log(tmp_path)
    assert difference(tmp_path).startswith("the quarantine of 'gone': its entry: computed 3 matches forfeited in a row")


def test_a_quarantine_of_nobody_who_forfeits_is_found(tmp_path: Path) -> None:
    play_run(tmp_path, bots=BOTS, pairs=4)
    with open_store(tmp_path / "arena.db") as store:
        place = Place(0, 20)
        store.log_exclusion(store.tournament("cup"), Exclusion("bert", Change.QUARANTINED, "too good", place))
    assert "the quarantine of 'bert': its entry: computed none, recorded too good" in difference(tmp_path)


def test_an_exclusion_from_a_match_that_was_lost_before_is_found(tmp_path: Path) -> None:
    play_run(tmp_path, bots={"anna": sound, "bert": plain}, pairs=4)
    with open_store(tmp_path / "arena.db") as store:
        store.log_exclusion(store.tournament("cup"), Exclusion("bert", Change.EXCLUDED, "lost", Place(0, 2)))
    assert "the exclusion of 'bert' came later, and leaves it out" in difference(tmp_path)


def test_a_changed_reason_is_found_by_the_seals(tmp_path: Path) -> None:
    play_run(tmp_path, bots=BOTS, pairs=4)
    with closing(sqlite3.connect(tmp_path / "arena.db")) as store, store:
        store.execute("UPDATE exclusions SET reason = 'because'")
    assert difference(tmp_path).startswith("exclusions, row ")


def _forget_the_log(data: Path) -> None:
    """The same run in a store of its own, but that nobody was ever out."""
    with open_store(data / "arena.db") as store, open_store(data / "copy.db") as copy:
        cup = store.tournament("cup")
        made = copy.create_tournament(
            "cup",
            cup.config,
            cup.rules,
            store.participants(cup),
            cup.rated,
            datetime.fromisoformat(cup.created),
            about=cup.about,
        )
        (epoch,) = store.epochs(cup)
        assert epoch.secret is not None
        copy.open_epoch(made, 0, epoch.secret, epoch.commitment, config=epoch.config)
        copy.record(made, list(store.results(cup)))
        copy.reveal(made, 0)
    (data / "copy.db").replace(data / "arena.db")
