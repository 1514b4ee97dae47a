"""`arena analyse`: the table on stdout, how far it is on stderr, mistakes in a sentence."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from arena.cli.exits import Exit
from tests.cli.conftest import Here
from tests.reports.runs import patient, play_run, sound


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    play_run(folder, bots={"anna": patient, "bert": sound}, pairs=2)
    return folder


def test_it_prints_the_table_and_a_second_time_the_same(here: Here, data: Path) -> None:
    words = ("analyse", "cup", "--data", data, "--deals", "15", "--jobs", "1")
    first, second = here(*words), here(*words, "--quiet")
    assert first.code == second.code == Exit.DONE
    assert first.out == second.out and second.err == ""
    assert first.err == "30 of 30 deals analysed\n"
    assert "given away" in here("show", "cup", "--only", "bots", "--data", data).out
    lines = list(csv.DictReader(here(*words, "--format", "csv").out.splitlines()))
    assert {line["bot"]: line["analysed"] for line in lines} == {"anna": "15", "bert": "15"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("cap",), "the store holds no tournament 'cap'; did you mean 'cup'?"),
        (("cup", "--bot", "ann"), "no bot of 'cup' is called 'ann'; did you mean 'anna'?"),
        (("cup", "--format", "json"), "there is no json of the endgames alone"),
    ],
)
def test_mistakes_are_answered_in_a_sentence(here: Here, data: Path, words: tuple[str, ...], sentence: str) -> None:
    done = here("analyse", *words, "--data", data)
    assert done.code == Exit.USAGE and sentence in done.err and "Traceback" not in done.err
