"""One finished run with faults and one that was interrupted, as reports."""

from __future__ import annotations

import pytest

from arena.app.show import build_report
from arena.reports.model import RunReport
from arena.store import open_queries
from tests.reports.runs import NASTY, play_run, with_names


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> RunReport:
    """A finished run of three bots, of which one faults; it is rated."""
    with open_queries(play_run(tmp_path_factory.mktemp("data"), pairs=6, seed=None)) as queries:
        return build_report(queries, "cup")


@pytest.fixture(scope="session")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> RunReport:
    """A rehearsal that was interrupted after 20 of 36 matches, one of them void."""
    with open_queries(play_run(tmp_path_factory.mktemp("data"), pairs=6, matches=20, void=[3])) as queries:
        return build_report(queries, "last")


@pytest.fixture(scope="session")
def nasty(report: RunReport) -> RunReport:
    """The finished run, its bots under names that attack every format."""
    return with_names(report, NASTY)
