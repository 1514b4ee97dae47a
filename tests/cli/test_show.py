"""`arena show` and `arena runs`: data on stdout, mistakes in a sentence, colours where they are wanted."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from arena.cli.exits import Exit
from arena.reports.columns import BOT_TABLES, ENDGAME_COLUMNS
from arena.store import StoreError
from tests.cli.conftest import COMMAND, Arena, Here, environment, on_terminal
from tests.reports.runs import play_run

ANSI = re.compile(r"\x1b\[")
COLOUR = re.compile(r"\x1b\[[0-9;]*(3[0-8]|4[0-8]|9[0-7])")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    play_run(folder, "zeroth", pairs=1)
    play_run(folder, "first", pairs=2, seed=None)
    play_run(folder, "second", pairs=3)
    return folder


# -- formats ----------------------------------------------------------------------------------------------------------


def test_the_table_is_on_stdout_and_nothing_is_on_stderr(arena: Arena, data: Path) -> None:
    done = arena("show", "first", "--data", data, cwd=data)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Spring cup\nsixty-six, round-robin of 3 bots, 12 of 12 matches\n")
    assert not ANSI.search(done.stdout) and "no room" not in done.stdout


def test_json_csv_and_markdown_hold_the_same_scores(here: Here, data: Path) -> None:
    whole = json.loads(here("show", "second", "--format", "json", "--data", data).out)
    table = list(csv.DictReader(here("show", "second", "--format", "csv", "--data", data).out.splitlines()))
    page = here("show", "second", "--format", "md", "--data", data).out
    assert [line["bot"] for line in table] == [line["bot"] for line in whole["standings"]]
    assert [float(line["score"]) for line in table] == [line["score"] for line in whole["standings"]]
    assert all(f"| {line['bot']} | {line['score']:.2f} |" in page for line in whole["standings"])


def test_one_table_comes_in_every_form_of_tables(here: Here, data: Path) -> None:
    words = ("show", "second", "--data", data, "--only")
    bots = list(csv.DictReader(here(*words, "bots", "--format", "csv").out.splitlines()))
    crosstable = list(csv.DictReader(here(*words, "crosstable", "--format", "csv").out.splitlines()))
    assert len(bots) == 3 and len(crosstable) == 6
    assert here(*words, "ranking", "--format", "csv").out == here(*words[:-1], "--format", "csv").out
    for format in ("table", "md"):
        page = here(*words, "bots", "--format", format).out
        shown = [title for title in BOT_TABLES if title in page]
        assert shown == [title for title in BOT_TABLES if BOT_TABLES[title] != ENDGAME_COLUMNS]  # none are analysed
        assert crosstable[0]["bot"] in here(*words, "crosstable", "--format", format).out


def test_the_last_run_is_shown_where_none_is_named_and_the_folder_comes_from_the_environment(
    here: Here, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_DATA", str(data))
    assert json.loads(here("show", "--format", "json").out)["run"]["name"] == "second"


def test_the_play_part_knows_no_name(here: Here, data: Path) -> None:
    shown = here("show", "--format", "json", "--part", "play", "--data", data).out
    assert "name" not in json.loads(shown)["run"]


def test_columns_are_chosen_in_every_table(here: Here, data: Path) -> None:
    words = ("show", "--columns", "bot,deals", "--data", data)
    assert here(*words, "--format", "csv").out.splitlines()[0] == "bot,deals"
    assert here(*words, "--format", "md").out.splitlines()[6] == "| bot | deals |"
    assert here(*words).out.splitlines()[4].split() == ["bot", "deals"]


def test_one_pass_of_trueskill_is_shown_only_where_it_is_asked_for(here: Here, data: Path) -> None:
    for words, name in (((), "one pass"), (("--format", "csv"), "one-pass"), (("--format", "md"), "one pass")):
        assert name not in here("show", "second", "--data", data, *words).out.partition("Deals ended")[0]
        assert name in here("show", "second", "--data", data, "--online", *words).out
    table = here("show", "second", "--data", data, "--online", "--columns", "bot", "--format", "csv").out
    (_, best), *_ = rows = [line.split(",") for line in table.splitlines()[1:]]
    assert table.startswith("bot,one-pass\n") and len(rows) == 3
    assert float(best) == max(float(score) for _, score in rows)
    assert json.loads(here("show", "--data", data, "--format", "json").out)["standings"][0]["one_pass"] is None


def test_a_report_goes_into_a_file_without_styles(
    here: Here, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert here("show", "--data", data, "--output", tmp_path / "report.txt") == (0, "", "")
    written = (tmp_path / "report.txt").read_text(encoding="utf-8")
    assert written.startswith("Spring cup\n") and not ANSI.search(written)


def test_all_runs_are_listed_the_newest_last(here: Here, data: Path) -> None:
    lines = here("runs", "--data", data).out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["zeroth", "first", "second"]


# -- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("show", "qq"), "the store holds no tournament 'qq'; the last one is 'second'"),
        (("show", "--columns", ""), "no column is named: choose some of rank, bot, "),
        (("show", "frist"), "the store holds no tournament 'frist'; did you mean 'first'?"),
        (("show", "--columns", "bott"), "unknown column 'bott'; did you mean 'bot'?"),
        (("show", "--only", "bots", "--format", "json"), "--only is of tables, but the format is json"),
        (("show", "--only", "crosstable", "--columns", "bot"), "--columns chooses those of the ranking, but --only is"),
        (("show", "--part", "play"), "--part play is of JSON, but the format is table; add --format json"),
        (("show", "--format", "json", "--columns", "bot"), "--columns is of tables, but the format is json"),
        (("show", "--output", "no/such/folder.txt"), "no/such/folder.txt cannot be written"),
    ],
)
def test_a_mistake_is_a_sentence_on_stderr(here: Here, data: Path, words: tuple[str, ...], sentence: str) -> None:
    code, out, err = here(*words, "--data", data)
    assert (code, out) == (Exit.USAGE, "")
    assert err.startswith(f"arena: {sentence}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", ["show", "runs"])
def test_a_folder_without_a_store_says_what_to_do(arena: Arena, tmp_path: Path, command: str) -> None:
    done = arena(command, cwd=tmp_path)
    assert done.returncode == Exit.USAGE
    assert done.stderr.startswith("arena: no tournament was played in arena-data yet; play one first")
    assert not (tmp_path / "arena-data").exists()


@pytest.mark.parametrize(
    "words", [("frob",), ("show", "--format", "xml"), ("show", "a", "b"), ("tournament", "--jobs", "0")]
)
def test_words_that_no_command_knows_are_usage_errors(here: Here, words: tuple[str, ...]) -> None:
    code, out, err = here(*words)
    assert (code, out) == (Exit.USAGE, "")
    assert "Traceback" not in err and "-h' for help" in err


def test_a_bug_of_the_arena_says_so_with_its_traceback(here: Here, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("here")

    monkeypatch.setattr("arena.app.show.build_report", broken)
    code, _, told = here("show", "--data", data)
    assert code == Exit.BUG
    assert "Traceback" in told and told.endswith("arena: this is a bug of the arena (ZeroDivisionError)\n")


def test_a_contradiction_in_the_store_is_a_bug_in_a_sentence(
    here: Here, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise StoreError("played twice by \x1b[31mred")

    monkeypatch.setattr("arena.app.show.build_report", broken)
    assert here("show", "--data", data) == (Exit.BUG, "", "arena: played twice by \\x1b[31mred\n")


# -- pipes and terminals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["table", "json"])
def test_a_reader_who_leaves_is_no_error(data: Path, format: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing) as nobody:
        done = subprocess.run(
            [*COMMAND, "show", "--format", format, "--data", str(data)],
            stdout=nobody,
            stderr=subprocess.PIPE,
            env=environment(),
            text=True,
        )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("words", [("show",), ("runs",), ("export", "--output", "-")])
def test_a_full_disk_is_a_sentence(data: Path, words: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, *words, "--data", str(data)], stdout=full, stderr=subprocess.PIPE, env=environment(), text=True
        )
    assert done.returncode == Exit.USAGE
    assert done.stderr == "arena: stdout cannot be written: No space left on device\n"


@pytest.mark.parametrize("command", ["show", "runs"])
def test_no_line_of_a_pipe_ends_in_blanks(here: Here, data: Path, command: str) -> None:
    assert not re.search(r" $", here(command, "--data", data).out, re.MULTILINE)


def test_a_terminal_gets_styles_within_its_width(data: Path) -> None:
    page = on_terminal("show", "--data", data)
    assert ANSI.search(page)
    assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in page.splitlines()) <= 80
    assert "no room for " in page


def test_a_dumb_terminal_gets_none(data: Path) -> None:
    assert not ANSI.search(on_terminal("show", "--data", data, TERM="dumb"))


def test_no_color_is_obeyed(data: Path) -> None:
    assert not COLOUR.search(on_terminal("show", "--data", data, NO_COLOR="1"))


def test_a_pipe_gets_styles_by_force(arena: Arena, data: Path) -> None:
    assert ANSI.search(arena("show", "--data", data, cwd=data, env={"FORCE_COLOR": "1"}).stdout)


def test_the_user_may_name_the_width(here: Here, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    assert "no room for " in here("show", "--data", data).out


def test_a_terminal_without_unicode_gets_all_the_same(arena: Arena, data: Path) -> None:
    done = arena("show", "--data", data, cwd=data, env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii() and "sound" in done.stdout
