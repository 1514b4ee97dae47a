"""Columns are asked for by name, in any order, and a wrong name is answered with the nearest one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arena.errors import UsageError
from arena.match.conduct import Conduct
from arena.match.summary import Histogram
from arena.ratings.base import Rating
from arena.ratings.posterior import Verdict
from arena.reports.columns import (
    BOT_CSV_COLUMNS,
    COLUMNS,
    CSV_COLUMNS,
    NOTHING,
    STATISTICS,
    TABLE_COLUMNS,
    bot_tables,
    parse_columns,
)
from arena.reports.model import Row, RunReport
from arena.store import Participant
from arena.tournament.standings import Standing, Tally

NEWCOMER = Row(Participant("new", "", "", "file", ""), Rating(25.0, 25 / 3), None, Standing("new"))
VETERAN = Row(
    participant=Participant("old", "2.1", "ab", "folder", "Anna"),
    rating=Rating(mu=27.126, sigma=1.004),
    verdict=Verdict(rank=2, ranks=(1, 3), error=1.234, first=0.001, better_than_next=0.876),
    standing=Standing(
        "old",
        matches=Tally(won=1200, drawn=0, lost=34),
        pairs=Tally(won=500, drawn=110, lost=7),
        points_for=8000,
        points_against=8001,
        deals=9000,
        deals_won=5000,
        faults={"illegal": 1, "late": 2},
        times=Histogram({40: 99, 60: 1}),
    ),
)


def cells(names: str, row: Row) -> list[str]:
    return [column.cell(row) for column in parse_columns(names)]


def test_columns_come_in_the_order_asked_for() -> None:
    assert [column.name for column in parse_columns("score, bot,rank")] == ["score", "bot", "rank"]


def test_an_unknown_column_is_answered_with_the_nearest_and_with_all() -> None:
    with pytest.raises(UsageError, match=r"unknown column 'scor'; did you mean 'score'\? \(known: rank, bot, "):
        parse_columns("rank,scor")


def test_an_empty_name_is_no_column() -> None:
    with pytest.raises(UsageError, match="unknown column ''"):
        parse_columns("rank,,bot")


def test_every_column_is_named_once_and_explained() -> None:
    columns = (*COLUMNS, *STATISTICS)
    names = [column.name for column in columns]
    assert len(set(names)) == len(names)
    assert all(column.header and column.about for column in columns)


def test_cells_have_fixed_places_thousands_apart_and_a_sign_where_it_matters() -> None:
    assert cells("rank,bot,version,author,score,mu,sigma", VETERAN) == [
        *("2", "old", "2.1", "Anna", "24.11", "27.13", "1.00")
    ]
    assert cells("matches,won-lost,pairs,deals,points-for", VETERAN) == [
        *("1,234", "1200-34", "500-110-7", "9,000", "8,000")
    ]
    assert cells("error,ranks,rank-best,rank-worst,next,first", VETERAN) == ["1.23", "1-3", "1", "3", "88%", "<1%"]
    assert cells("faults,fault-kinds,median,p99", VETERAN) == ["3", "illegal 1, late 2", "0.10", "0.10"]


def test_a_margin_that_rounds_to_zero_has_no_minus() -> None:
    assert cells("points", VETERAN) == ["+0.00"]


def test_a_bot_without_a_match_has_dashes_not_numbers() -> None:
    assert cells("points,median,p99,version,author,fault-kinds", NEWCOMER) == [NOTHING] * 6
    assert cells("rank,error,ranks,next,first", NEWCOMER) == [NOTHING] * 5
    assert cells("matches,won-lost,mu", NEWCOMER) == ["0", "0-0", "25.00"]


DARING = replace(
    VETERAN,
    conduct=Conduct(
        {
            "won": {"claim": 40, "late": 2, "illegal": 1},
            "drawn": {"played-out": 3},
            "lost": {"claim": 7, "error": 1},
            "deals": {"forehand": 30, "dealer": 24},
            "points_for": {"forehand": 40, "dealer": 20},
            "points_against": {"forehand": 10, "dealer": 26},
            "opponents": {"forehand": 30, "dealer": 24},
            "closed": {"won": 5, "failed": 1},
            "marriages": {"20": 9},
        }
    ),
)


def test_what_a_bot_did_is_told_by_end_and_by_role() -> None:
    assert cells("deals-in,by-claim,by-fault,by-played-out,deals-drawn", DARING) == ["54", "40-7", "3-1", NOTHING, "3"]
    assert cells("won-by-claim,lost-by-claim,won-by-fault,lost-by-fault", DARING) == ["40", "7", "3", "1"]
    assert cells("as-forehand,as-second,as-dealer", DARING) == ["+1.00", NOTHING, "-0.25"]
    assert cells("closed,closed-won,closed-failed,claims-right,marriages-20", DARING) == ["6", "5", "1", "0", "9"]


def test_tables_of_bots_leave_out_what_no_bot_has() -> None:
    tables = bot_tables([NEWCOMER, DARING])
    named = {title: [column.name for column in columns] for title, columns in tables.items()}
    assert named["Game points a deal, by role"] == ["bot", "as-forehand", "as-dealer"]
    assert named["Closes, claims and marriages"] == ["bot", "closed", "closed-won", "closed-failed", "marriages-20"]
    assert named["Deals won-lost"] == ["bot", "deals-in", "by-claim", "by-fault", "deals-drawn"]


def test_drawn_matches_show_between_won_and_lost() -> None:
    drawn = Row(VETERAN.participant, VETERAN.rating, None, Standing("old", matches=Tally(3, 1, 2)))
    assert cells("won-lost", drawn) == ["3-1-2"]


def test_the_columns_of_csv_hold_single_values(report: RunReport) -> None:
    for column in (*parse_columns(CSV_COLUMNS), *parse_columns(BOT_CSV_COLUMNS)):
        value = column.value(report.rows[0])
        assert not isinstance(value, str) or column.text, column.name


def test_the_default_tables_are_made_of_known_columns() -> None:
    assert len(parse_columns(TABLE_COLUMNS)) == 16
    assert {"won", "drawn", "lost", "mu", "sigma", "score"} <= {column.name for column in parse_columns(CSV_COLUMNS)}
