"""What matches add up to is kept beside them: whoever shows a run counts only what came since, and reads no record."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import event

from arena.app.data import Archive
from arena.app.show import build_report, totals_of
from arena.app.verify import Difference, Verified, verify_run
from arena.match.summary import MatchSummary
from arena.reports import Part
from arena.reports import json as json_report
from arena.store import Queries, Tournament, open_queries, open_store
from arena.tournament.standings import Totals
from bench import inprocess

MATCHES = 60


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A run of an arena that was stopped after so many matches."""
    assert inprocess.play(inprocess.write_config(tmp_path, bots=3, pairs=20, block=2), MATCHES) == MATCHES
    return tmp_path / "arena.db"


def shown(store: Path) -> str:
    with open_queries(store) as queries:
        return json_report.render(build_report(queries, inprocess.NAME), Part.ALL)


def without_totals(store: Path) -> str:
    """What is shown of the run where everything must be counted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Queries, "totals", lambda *_: None)
        return shown(store)


def counted(store: Path, monkeypatch: pytest.MonkeyPatch) -> list[MatchSummary]:
    """The matches that are counted to show the run; what is shown must be as if all were."""
    seen: list[MatchSummary] = []
    read = Queries.summaries_after

    def reading(queries: Queries, tournament: Tournament, row: int) -> Iterator[tuple[int, MatchSummary]]:
        for place, summary in read(queries, tournament, row):
            seen.append(summary)
            yield place, summary

    with monkeypatch.context() as patch:
        patch.setattr(Queries, "summaries_after", reading)
        report = shown(store)
    assert report == without_totals(store)
    return seen


def test_an_arena_leaves_the_totals_of_all_its_matches(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert counted(store, monkeypatch) == []
    with open_queries(store) as queries:
        run = queries.tournament(inprocess.NAME)
        assert totals_of(queries, run).to_json() == Totals.of(queries.summaries(run)).to_json()


def test_only_what_came_after_the_kept_totals_is_counted(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(store) as writing:
        run = writing.tournament(inprocess.NAME)
        results = list(writing.results(run))
        again = writing.create_tournament(
            "scale-2", run.config, run.rules, writing.participants(run), False, datetime.now(UTC), about=run.about
        )
        (epoch,) = writing.epochs(run)
        with writing.lock(again):
            writing.open_epoch(again, 0, b"s" * 32, "c" * 64, config=epoch.config)
            writing.record(again, results[:41])
            writing.keep_totals(again, Totals.of(result.summary for result in results[:41]).to_json())
            writing.record(again, results[41:])
        monkeypatch.setattr(inprocess, "NAME", "scale-2")
        assert [summary.key for summary in counted(store, monkeypatch)] == [result.key for result in results[41:]]


@pytest.mark.parametrize("change", ["seal = 'of another run'", "serial = serial + 1", "serial = 999999"])
def test_totals_that_do_not_fit_the_journal_are_not_believed(
    store: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    with closing(sqlite3.connect(store)) as raw, raw:
        raw.execute(f"UPDATE totals SET {change}")
    assert len(counted(store, monkeypatch)) == MATCHES


def test_totals_that_somebody_changed_are_found(store: Path) -> None:
    archive = Archive(store.parent)
    assert isinstance(verify_run(inprocess.NAME, archive), Verified)
    with closing(sqlite3.connect(store)) as raw, raw:
        (kept,) = raw.execute("SELECT totals FROM totals").fetchone()
        totals = json.loads(kept)
        totals["sums"][min(totals["sums"])][2] += 100  # game points
        raw.execute("UPDATE totals SET totals = ?", (json.dumps(totals),))
    found = verify_run(inprocess.NAME, archive)
    assert isinstance(found, Difference) and "not what the matches add up to" in found.what


def test_who_shows_a_run_reads_no_record(store: Path) -> None:
    statements: list[str] = []
    with open_queries(store) as queries:
        event.listen(queries._database.engine, "before_cursor_execute", lambda *told: statements.append(told[2]))
        build_report(queries, inprocess.NAME)
    assert any("play_hash" in each for each in statements)
    assert not [each for each in statements if re.search(r"matches\.play\b", each)]
