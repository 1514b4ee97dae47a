"""The analysis comes to the same table in whatever order, by however many, and however often interrupted."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from arena.app.analyse import AnalyseOptions, analyse
from arena.app.data import Archive
from arena.app.exclude import exclude
from arena.app.export import export
from arena.app.replay import Library, build_replay
from arena.app.show import build_report
from arena.app.verify import Verified, verify_run
from arena.cards import Action
from arena.cli.exits import Exit
from arena.errors import UsageError
from arena.match.endgame import VERSION
from arena.match.summary import MatchKey
from arena.reports import Part
from arena.reports import json as json_report
from arena.store import DealOf, Endgames, open_queries, open_store
from arena.store.queries import in_words
from tests.reports.runs import gone, patient, play_run, sound
from tests.store import samples

Table = list[tuple[object, ...]]


BOTS = {"anna": patient, "bert": patient, "cleo": sound}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of which nothing is analysed."""
    data = tmp_path_factory.mktemp("data")
    play_run(data, bots=BOTS, pairs=6, seed="5")
    return data


@pytest.fixture
def data(played: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(played, tmp_path / "data"))


def analysed(data: Path, deals: int = 30, bots: Sequence[str] = (), jobs: int = 1) -> Table:
    analyse("cup", Archive(data), AnalyseOptions(deals, bots, jobs), lambda done, total: None)
    return table(data)


def table(data: Path) -> Table:
    """Every byte of the analysis, in order."""
    with sqlite3.connect(data / "arena.db") as connection:
        return sorted(connection.execute("SELECT * FROM endgames"), key=str)


def endgames(data: Path) -> dict[str, Endgames | None]:
    with open_queries(data / "arena.db") as queries:
        return {row.participant.name: row.endgames for row in build_report(queries, "cup").rows}


# -- the sample -------------------------------------------------------------------------------------------------------


def test_each_bot_has_its_sample_and_the_totals_are_those_of_the_decisions(data: Path) -> None:
    assert endgames(data) == dict.fromkeys(BOTS)
    analysed(data)
    found = endgames(data)
    with open_queries(data / "arena.db") as queries:
        run = queries.tournament("cup")
        judged = {
            deal: each for summary in queries.summaries(run) for deal, each in queries.judged(run, summary.key).items()
        }
    for name, totals in found.items():
        deals = [each for deal, each in judged.items() if deal.participant == name]
        choices = [choice for each in deals for choice in each]
        lost = [choice.given_away for choice in choices if choice.given_away]
        assert totals == Endgames(30, sum(map(bool, deals)), len(choices), len(lost), sum(lost))
    assert all(totals and totals.mistakes for name, totals in found.items() if name != "cleo")


def test_a_larger_sample_holds_the_smaller_and_none_is_ever_made_smaller(data: Path) -> None:
    small = analysed(data, 20)
    large = analysed(data, 50)
    assert len(small) == 60 and len(large) == 150 and set(small) < set(large)
    assert analysed(data, 10) == large


def test_the_table_is_the_same_by_one_step_or_many_by_one_process_or_two(played: Path, tmp_path: Path) -> None:
    ways = [tmp_path / way for way in ("once", "twice", "by-bots", "by-two")]
    for way in ways:
        shutil.copytree(played, way)
    once = analysed(ways[0], 50)
    analysed(ways[1], 7)
    assert analysed(ways[1], 50) == once
    for name in ("cleo", "anna", "bert"):
        analysed(ways[2], 50, [name])
    assert table(ways[2]) == once
    assert analysed(ways[3], 50, jobs=2) == once


def test_the_sample_is_that_of_the_run_whoever_finished_first(data: Path, tmp_path: Path) -> None:
    play_run(tmp_path / "other", bots=BOTS, pairs=6, seed="5", order=random.Random(3))
    assert analysed(tmp_path / "other") == analysed(data)


def test_nothing_is_done_twice(data: Path) -> None:
    analysed(data)
    seen: list[tuple[int, int]] = []
    with open_store(data / "arena.db") as store:
        before = store.analysed(store.tournament("cup"))
    analyse("cup", Archive(data), AnalyseOptions(30, (), 1), lambda done, total: seen.append((done, total)))
    assert seen == [(90, 90)]
    with open_store(data / "arena.db") as store:
        assert store.analysed(store.tournament("cup")) == before


def test_a_replay_shows_what_was_judged_and_solves_the_rest(data: Path) -> None:
    def values() -> dict[int, Mapping[Action, int]]:
        with Library(Archive(data)) as library:
            deal = build_replay(library.match("cup", in_words(of.key))).deals[of.deal - 1]
        return {decision: scene.values for decision, scene in enumerate(deal.open.scenes) if scene.values}

    analysed(data)
    with open_queries(data / "arena.db") as queries:
        of, judged = next(iter(queries.dearest(queries.tournament("cup"), 1).items()))
    solved = values()
    for each in judged:
        assert solved[each.decision] == each.values
    told = [replace(each, values=dict.fromkeys(each.values, 42)) for each in judged]
    with sqlite3.connect(data / "arena.db") as connection:
        stored = json.dumps([each.to_json() for each in told])
        connection.execute("UPDATE endgames SET judged = ? WHERE judged != '[]'", [stored])
    for each in told:
        assert values()[each.decision] == each.values


def test_what_was_judged_of_who_is_not_in_the_sample_is_solved_in_the_replay_all_the_same(data: Path) -> None:
    with Library(Archive(data)) as library:
        before = build_replay(library.match("cup", "0"))
    analysed(data)
    with Library(Archive(data)) as library:
        assert build_replay(library.match("cup", "0")) == before


def test_what_another_version_has_judged_counts_for_nothing_and_is_judged_again(data: Path) -> None:
    right = analysed(data)
    with sqlite3.connect(data / "arena.db") as connection:
        connection.execute(
            "UPDATE endgames SET version = ?, given_away = 99 WHERE participant = 'anna'", (VERSION - 1,)
        )
    assert endgames(data)["anna"] is None
    assert analysed(data, 10) == right


def test_only_the_bots_that_are_named_are_analysed(data: Path) -> None:
    analysed(data, 5, ["bert"])
    assert {name for name, totals in endgames(data).items() if totals} == {"bert"}
    with pytest.raises(UsageError, match="no bot of 'cup' is called 'bart'; did you mean 'bert'"):
        analysed(data, 5, ["bart"])


# -- what counts ------------------------------------------------------------------------------------------------------


def test_void_matches_and_those_of_who_left_no_trace_are_never_drawn(tmp_path: Path) -> None:
    play_run(tmp_path, bots={"anna": patient, "bert": patient, "gone": gone}, pairs=8, void=[0, 1])
    analysed(tmp_path, 1000)
    with open_queries(tmp_path / "arena.db") as queries:
        run = queries.tournament("cup")
        report = build_report(queries, "cup")
        drawn = queries.analysed(run)
        void = {match.key for match in queries.void_matches(run)}
    assert void and all(deal.key.pairing == ("anna", "bert") and deal.key not in void for deal in drawn)
    assert {deal.participant for deal in drawn} == {"anna", "bert"}
    assert len(drawn) == sum(row.standing.deals for row in report.rows)


def test_what_was_judged_of_a_bot_that_is_excluded_later_counts_no_more_and_others_are_drawn(tmp_path: Path) -> None:
    play_run(tmp_path, bots=BOTS, pairs=6, matches=16)
    analysed(tmp_path, 30)
    with_bert = endgames(tmp_path)["cleo"]
    exclude("cup", "bert", "asked by its author", Archive(tmp_path))  # it has played a third of its matches
    without = endgames(tmp_path)
    assert with_bert is not None and without["cleo"] is not None and without["bert"] is None
    assert without["cleo"].deals < with_bert.deals == 30
    drawn = analysed(tmp_path, 30)
    again = endgames(tmp_path)["cleo"]
    assert again is not None and again.deals == 30
    assert all("bert" not in str(row) for row in drawn)


def test_deals_that_a_bot_sat_out_are_no_part_of_its_sample(tmp_path: Path) -> None:
    with open_store(tmp_path / "arena.db") as store:
        run = samples.created(store)
        store.record(run, samples.schedule(6))
        keys = [MatchKey(1, ("A", "B"), leg, 0) for leg in (0, 1)]
        store.add_endgames(run, {DealOf("A", keys[0], 1): (), DealOf("A", keys[1], 1): None})
        assert store.endgames(run) == {("A", ("A", "B")): Endgames(deals=1)}
        store.add_endgames(run, {DealOf("A", keys[1], 1): ()})
        assert store.endgames(run) == {("A", ("A", "B")): Endgames(deals=2)}
        store.forget_endgames(run, [DealOf("A", keys[0], 1)])
        assert store.analysed(run) == {DealOf("A", keys[1], 1): VERSION}


def test_more_than_two_at_a_deal_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with open_store(tmp_path / "arena.db") as store:
        samples.created(store, rules=samples.THREE)
    with pytest.raises(UsageError, match="3 play each deal of 'cup'; endgames can be judged between two only"):
        analysed(tmp_path)


def test_a_record_that_was_changed_is_named_and_nothing_of_it_is_kept(data: Path) -> None:
    with sqlite3.connect(data / "arena.db") as connection:
        connection.execute("UPDATE matches SET play = replace(play, 'TS', 'AH')")
    with pytest.raises(UsageError, match=r"the match .* \(epoch 0, .* does not follow the rules \(deal \d+, action "):
        analysed(data)
    assert table(data) == []


def test_seals_exports_and_the_play_part_know_nothing_of_it(data: Path) -> None:
    before = data / "before.jsonl"
    after = data / "after.jsonl"
    export("cup", Archive(data), before)
    with open_queries(data / "arena.db") as queries:
        play = json_report.render(build_report(queries, "cup"), Part.PLAY)
    analysed(data)
    export("cup", Archive(data), after)
    assert before.read_bytes() == after.read_bytes()
    assert isinstance(verify_run("cup", Archive(data)), Verified)
    with open_queries(data / "arena.db") as queries:
        report = build_report(queries, "cup")
    assert json_report.render(report, Part.PLAY) == play
    assert '"given_away":' in json_report.render(report, Part.ALL)


# -- ends -------------------------------------------------------------------------------------------------------------

ENDS_ITSELF = """
    import os, signal
    import psutil
    from pathlib import Path
    from arena.store import Store

    add, commits = Store.add_endgames, 0

    def add_and_end(self, *words):
        global commits
        add(self, *words)
        commits += 1
        if commits == 2:
            workers = psutil.Process().children(recursive=True)
            Path("workers").write_text(" ".join(str(worker.pid) for worker in workers))
            os.kill(os.getpid(), {signal})

    if __name__ == "__main__":
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
        Store.add_endgames = add_and_end
        from arena.cli import run
        raise SystemExit(run(["analyse", "cup", "--data", "data", "--jobs", "2", "--deals", "100"]))
"""


def ended_by(number: signal.Signals, data: Path) -> subprocess.CompletedProcess[str]:
    """An analysis by two processes that got a signal straight after its second commit; none of them is left."""
    script = data.parent / "ends_itself.py"
    script.write_text(textwrap.dedent(ENDS_ITSELF).replace("{signal}", str(int(number))), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script],
        cwd=data.parent,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
    )
    workers = list(map(int, (data.parent / "workers").read_text().split()))
    assert len(workers) >= 2
    psutil.wait_procs([psutil.Process(pid) for pid in workers if psutil.pid_exists(pid)], timeout=60)
    assert not any(psutil.pid_exists(pid) for pid in workers)
    return done


def test_killed_between_two_commits_it_goes_on_and_comes_to_the_same(data: Path, played: Path, tmp_path: Path) -> None:
    whole = analysed(Path(shutil.copytree(played, tmp_path / "whole")), 100)
    assert ended_by(signal.SIGKILL, data).returncode == -signal.SIGKILL
    part = table(data)
    assert len(part) == 256 < len(whole) and set(part) < set(whole)
    seen: list[int] = []
    analyse("cup", Archive(data), AnalyseOptions(100, (), 1), lambda done, total: seen.append(done))
    assert seen[0] == 256
    assert table(data) == whole


def test_stopped_while_some_make_room_for_others_the_sample_keeps_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_run(tmp_path / "whole", bots=BOTS, pairs=6, matches=16)
    analysed(tmp_path / "whole", 40)
    exclude("cup", "bert", "asked by its author", Archive(tmp_path / "whole"))
    shutil.copytree(tmp_path / "whole", tmp_path / "part")
    whole = analysed(tmp_path / "whole", 1)
    monkeypatch.setattr("arena.app.analyse._AT_ONCE", 4)

    commits: list[int] = []

    def stop(done: int, total: int) -> None:
        commits.append(done)
        if len(commits) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        analyse("cup", Archive(tmp_path / "part"), AnalyseOptions(1, (), 1), stop)
    assert len(set(commits)) == 3 and table(tmp_path / "part") != whole
    assert analysed(tmp_path / "part", 1) == whole


def test_ctrl_c_keeps_what_was_judged_and_says_how_to_go_on(data: Path) -> None:
    done = ended_by(signal.SIGINT, data)
    assert done.returncode == Exit.STOPPED, done.stderr
    assert (
        done.stderr.splitlines()[-1] == "stopped: 128 of 300 deals analysed; go on with arena analyse cup --data data"
    )
    assert done.stdout == ""
    assert len(table(data)) == 256
