"""A report is a pure function of the store: of what was played, never of when, by whom first, or under which name."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from arena.app.data import Archive
from arena.app.show import LAST_FAULTS, WITHHELD, Count, build_report, find_run, ranking, rate, report_on
from arena.errors import UsageError
from arena.ratings.base import Rating
from arena.ratings.posterior import Posterior
from arena.reports import Part
from arena.reports import json as json_report
from arena.reports.model import RunReport
from arena.store import State, open_queries, open_store
from arena.tournament import decks
from arena.tournament.standings import Standing
from tests.reports.runs import bot, faulty, gone, plain, play_run, sound


def reported(store: Path, run: str = "cup") -> RunReport:
    with open_queries(store) as queries:
        return build_report(queries, run)


def play_part(store: Path, run: str = "cup") -> str:
    return json_report.render(reported(store, run), Part.PLAY)


# -- the ranking ------------------------------------------------------------------------------------------------------


def test_the_better_bot_is_first_and_every_match_is_counted_once(tmp_path: Path) -> None:
    store = play_run(tmp_path, pairs=5)
    report = reported(store)
    assert (report.rows[0].rank, report.rows[0].participant.name) == (1, "sound")
    with open_queries(store) as queries:
        won: Counter[str] = Counter()
        for result in queries.results(queries.tournament("cup")):
            won[result.seats[result.record.ranks.index(1)]] += 1
    assert {row.participant.name: row.standing.matches.won for row in report.rows} == {
        name: won[name] for name in ("plain", "sound", "faulty")
    }
    assert sum(row.standing.matches.total for row in report.rows) == 2 * 30
    assert all(row.standing.pairs.total == 10 for row in report.rows)


def test_bots_stand_by_rank_then_score_then_name_and_last_who_has_no_pair() -> None:
    ratings = {"b": Rating(25.0, 5.0), "a": Rating(25.0 + 1e-7, 5.0), "c": Rating(26.0, 5.0), "d": Rating(60.0, 5.0)}
    belief = Posterior(tuple("abcd"), np.array([25.0, 25.0, 26.0, 60.0]), np.eye(4))
    names = ["new", *"bcad"]
    rows = ranking(
        [bot(name) for name in names],
        ratings | {"new": Rating(25.0, 25 / 3)},
        belief,
        {name: Standing(name) for name in names},
        {},
    )
    found = [(row.rank, row.participant.name) for row in rows]
    assert found == [(1, "d"), (2, "c"), (2, "a"), (2, "b"), (None, "new")]


def test_a_run_without_a_complete_pair_leaves_everybody_at_the_prior(tmp_path: Path) -> None:
    report = reported(play_run(tmp_path, pairs=5, matches=1))
    assert {row.rank for row in report.rows} == {None}
    assert {(row.rating.mu, row.rating.sigma) for row in report.rows} == {(25.0, 25 / 3)}
    assert report.run.pairs_finished == 0 and report.run.draw_probability == 0


def test_two_equal_bots_of_one_mind_are_rated_alike(tmp_path: Path) -> None:
    report = reported(play_run(tmp_path, bots={"one": sound, "two": sound}, pairs=6))
    assert [row.rank for row in report.rows] == [1, 1]
    assert report.crosstable["one", "two"].pairs.drawn == 6


def test_a_reference_stays_at_25_and_the_others_keep_their_distance(tmp_path: Path) -> None:
    free = reported(play_run(tmp_path / "free"))
    tied = reported(play_run(tmp_path / "tied", reference="plain"))
    mu = {row.participant.name: row.rating.mu for row in free.rows}
    anchored = {row.participant.name: row.rating.mu for row in tied.rows}
    assert anchored["plain"] == 25.0 != mu["plain"]
    assert anchored["sound"] - 25.0 == pytest.approx(mu["sound"] - mu["plain"])
    errors = {row.participant.name: row.verdict.error for row in tied.rows if row.verdict}
    assert errors["plain"] == pytest.approx(0.0, abs=1e-9) and errors["sound"] > 0
    assert [row.rank for row in tied.rows] == [row.rank for row in free.rows]


# -- the facts --------------------------------------------------------------------------------------------------------


def test_the_facts_of_a_finished_run(tmp_path: Path) -> None:
    run = reported(play_run(tmp_path, pairs=5, seed="66")).run
    secret = decks.secret_from_seed("66")
    assert (run.name, run.title, run.state) == ("cup", "Spring cup", State.FINISHED)
    assert (run.format, run.rules_name, run.rules["target"]) == ("round-robin", "sixty-six", 66)
    assert (run.pairs_planned, run.pairs_finished, run.mirrored_pairs) == (15, 15, 15)
    assert (run.matches_planned, run.matches_finished, run.matches_void) == (30, 30, 0)
    assert (run.seed, run.rated, run.started) == ("66", False, "2026-11-29T20:15:00+00:00")
    assert [each.name for each in run.participants] == ["faulty", "plain", "sound"]
    assert (run.epochs[0].secret, run.epochs[0].commitment) == (secret, decks.commitment(secret))
    assert run.chain_length == 30 and len(run.chain_head) == 64


def test_void_matches_count_for_nothing_and_are_counted_apart(tmp_path: Path) -> None:
    report = reported(play_run(tmp_path, pairs=5, void=[0, 1, 7]))
    assert (report.run.matches_void, report.run.matches_finished, report.run.matches_planned) == (3, 27, 30)
    assert report.run.pairs_finished < 15
    assert sum(row.standing.matches.total for row in report.rows) == 2 * 27


def test_no_secret_is_in_the_report_before_the_end(tmp_path: Path) -> None:
    run = reported(play_run(tmp_path, pairs=5, matches=12)).run
    assert run.epochs[0].secret is None
    assert run.state is State.INTERRUPTED
    assert (run.matches_finished, run.matches_planned) == (12, 30)


def test_pairs_on_decks_of_their_own_are_told_apart(tmp_path: Path) -> None:
    run = reported(play_run(tmp_path, pairs=3, untrusted=frozenset(["plain"]))).run
    assert (run.mirrored_pairs, run.unmirrored_pairs) == (3, 6)


def test_the_faults_are_the_last_in_schedule_order_with_their_evidence(tmp_path: Path) -> None:
    report = reported(play_run(tmp_path, pairs=12))
    counted = {row.participant.name: sum(row.standing.faults.values()) for row in report.rows}
    assert report.fault_count == counted["faulty"] > LAST_FAULTS == len(report.faults)
    assert {fault.participant for fault in report.faults} == {"faulty"}
    assert all("ValueError" in fault.evidence for fault in report.faults)
    assert report.end_reasons["error"] == report.fault_count


def test_evidence_is_withheld_from_all_but_an_operator_until_the_secret_is_revealed(tmp_path: Path) -> None:
    store = play_run(tmp_path, pairs=12, matches=60)
    report = reported(store)
    assert report.faults
    assert {fault.evidence for fault in report.faults} == {WITHHELD}
    with open_queries(store) as queries:
        shown = build_report(queries, "cup", operator=True)
    assert all("ValueError" in fault.evidence for fault in shown.faults)
    assert replace(shown, faults=()) == replace(report, faults=())


def test_careers_count_rated_runs_only_and_come_most_lost_first(tmp_path: Path) -> None:
    play_run(tmp_path, "rehearsal", pairs=2, seed="7")
    play_run(tmp_path, "one", pairs=2, seed=None)
    store = play_run(tmp_path, "two", {"plain": plain, "sound": sound}, pairs=2, seed=None)
    one, two, rehearsal = (reported(store, run) for run in ("one", "two", "rehearsal"))
    lost = Counter({row.participant.name: row.standing.matches.lost for row in (*one.rows,)})
    lost.update({row.participant.name: row.standing.matches.lost for row in two.rows})
    assert dict(one.lost_bummerls) == {("Anna", name): count for name, count in lost.items() if count}
    assert list(one.lost_bummerls.values()) == sorted(one.lost_bummerls.values(), reverse=True)
    assert one.lost_bummerls == two.lost_bummerls == rehearsal.lost_bummerls


# -- the store alone decides ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", range(3))
def test_neither_the_order_of_finishing_nor_that_of_joining_matters(tmp_path: Path, order: int) -> None:
    straight = reported(play_run(tmp_path / "a", pairs=5, seed="9"))
    shuffled = reported(play_run(tmp_path / "b", pairs=5, seed="9", order=random.Random(order)))
    assert shuffled == straight


def test_the_same_seed_gives_the_same_play_part_under_another_name(tmp_path: Path) -> None:
    first = play_run(tmp_path / "a", "cup", pairs=4, seed="9")
    play_run(tmp_path / "b", "earlier", pairs=2, seed=None)
    second = play_run(tmp_path / "b", "other", pairs=4, seed="9", title="Another title")
    assert play_part(second, "other") == play_part(first, "cup")
    assert reported(second, "other") != reported(first, "cup")


def test_another_seed_gives_another_play_part(tmp_path: Path) -> None:
    assert play_part(play_run(tmp_path / "a", seed="9")) != play_part(play_run(tmp_path / "b", seed="10"))


def test_looking_twice_gives_the_same(tmp_path: Path) -> None:
    store = play_run(tmp_path, bots={"one": plain, "two": faulty}, pairs=3)
    assert reported(store) == reported(store)


# -- which run --------------------------------------------------------------------------------------------------------


def test_last_is_the_run_that_was_created_last(tmp_path: Path) -> None:
    play_run(tmp_path, "first", pairs=1)
    store = play_run(tmp_path, "second", pairs=1)
    assert reported(store, "last").run.name == "second"


def test_an_unknown_run_is_answered_with_the_nearest(tmp_path: Path) -> None:
    store = play_run(tmp_path, "spring", pairs=1)
    with pytest.raises(UsageError, match="did you mean 'spring'"):
        reported(store, "sprung")


def test_a_run_is_found_by_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data" / "runs" / "cup"
    folder.mkdir(parents=True)
    assert find_run(str(folder), Archive(Path("elsewhere"))) == (Archive(tmp_path / "data"), "cup")
    monkeypatch.chdir(folder)
    assert find_run(".", Archive(Path("elsewhere"))) == (Archive(tmp_path / "data"), "cup")


def test_any_other_word_is_a_name(tmp_path: Path) -> None:
    assert find_run("cup", Archive(tmp_path)) == (Archive(tmp_path), "cup")
    assert find_run(str(tmp_path), Archive(tmp_path)) == (Archive(tmp_path), str(tmp_path))


def test_a_void_run_has_a_report(tmp_path: Path) -> None:
    report = reported(play_run(tmp_path, bots={"one": plain, "two": sound}, pairs=1, void=[0, 1]))
    assert report.run.matches_void == 2
    assert report.end_reasons == {} and report.crosstable == {}
    assert {row.standing.matches.total for row in report.rows} == {0}


def test_a_report_that_is_counted_on_is_that_of_all_that_was_played(tmp_path: Path) -> None:
    bots = {"plain": plain, "sound": sound, "faulty": faulty, "gone": gone}
    whole = play_run(tmp_path / "whole", bots=bots, pairs=6)
    with open_queries(whole) as queries:
        cup = queries.tournament("cup")
        log = queries.absences(cup).log
        results = sorted(queries.results(cup), key=lambda result: result.key.number * 31 % 7)
    assert log, "nobody is excluded, so nothing is counted anew"
    count, growing = Count(), play_run(tmp_path / "growing", bots=bots, pairs=6, matches=0)
    with open_store(growing) as store:
        cup = store.tournament("cup")
        for start in range(0, len(results), 9):
            store.record(cup, results[start : start + 9], log if start == 18 else ())
            counted = report_on(store, cup, rate(store, cup, count))
            assert counted == report_on(store, cup, rate(store, cup))
            assert count.row > start
