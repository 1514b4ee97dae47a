"""`arena trust`: what makes the table trustworthy, or not, in every format that can say it."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cli.conftest import Here
from tests.reports.runs import plain, play_run, sound


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    play_run(folder, "empty", pairs=1, matches=1)
    play_run(folder, "strangers", {"one": sound, "two": plain}, pairs=2, untrusted=frozenset({"one"}))
    play_run(folder, "cup", pairs=6)
    return folder


def test_the_findings_are_sentences_with_their_figures(here: Here, data: Path) -> None:
    out = here("trust", "cup", "--data", data).out
    assert out.startswith("Spring cup\nsixty-six, round-robin of 3 bots, 36 of 36 matches\n")
    assert "the two matches of a mirrored pair correlate by " in out and "(18 pairs)" in out
    assert "sound over " in out and ", told apart" in out
    assert "lost by a side with a fault in it" in out
    assert "weak: the level at which local bots were held" in out


def test_json_holds_what_the_sentences_say(here: Here, data: Path) -> None:
    found = json.loads(here("trust", "cup", "--data", data, "--format", "json").out)
    shown = json.loads(here("show", "cup", "--data", data, "--format", "json").out)
    order = [line["bot"] for line in shown["standings"]]
    assert [(each["better"], each["other"]) for each in found["separations"]] == list(pairwise(order))
    assert [each["probability"] for each in found["separations"]] == [
        line["better_than_next"] for line in shown["standings"][:-1]
    ]
    assert -1 <= found["mirror_luck"]["correlation"] <= 1
    assert found["faults"]["matches"] == 36
    assert found["chain_head"] == shown["run"]["chain_head"]
    assert [each["bot"] for each in found["without"]] == order
    assert found["verdict"] == shown["verdict"]


def test_markdown_is_a_list_of_the_same_findings(here: Here, data: Path) -> None:
    page = here("trust", "cup", "--data", data, "--format", "md").out
    assert page.startswith("# How far to trust: Spring cup\n")
    assert "- **Luck** the two matches" in page and "- **Sandbox** weak" in page


def test_before_the_first_pair_and_without_mirrored_ones_it_says_so(here: Here, data: Path) -> None:
    nothing = here("trust", "empty", "--data", data).out
    assert "there is nothing to rank" in nothing and "no mirrored pair tells" in nothing
    strangers = here("trust", "strangers", "--data", data).out
    assert "2 of 2 pairs on decks of their own, with luck that nothing removed: one - two 2" in strangers
    found = json.loads(here("trust", "strangers", "--data", data, "--format", "json").out)
    assert found["mirror_luck"] is None
    assert found["pairs"] == {
        "mirrored": 0,
        "unmirrored": 2,
        "unmirrored_pairings": [{"pairing": ["one", "two"], "pairs": 2}],
    }


def test_what_each_scored_against_each_stands_in_a_table(here: Here, data: Path) -> None:
    shown = json.loads(here("show", "cup", "--data", data, "--format", "json").out)
    found = json.loads(here("trust", "cup", "--data", data, "--format", "json").out)
    scores = {
        (met["bot"], met["opponent"]): (met["pairs"]["won"] + met["pairs"]["drawn"] / 2) / 6
        for met in shown["crosstable"]
    }
    duels = {(one, other): duel for duel in found["head_to_head"] for ((one,), (other,)) in [duel["sides"]]}
    assert {pair: duel["score"] for pair, duel in duels.items()} == {
        pair: pytest.approx(scores[pair], abs=1e-4) for pair in duels
    }
    assert len(duels) == 3
    table = here("trust", "cup", "--data", data).out.partition("% scored (expected)")[2].splitlines()[2:]
    order = [line["bot"] for line in shown["standings"]]
    assert [line.split()[0] for line in table] == order
    for name, line in zip(order, table, strict=True):
        cells = re.findall(r"–|(\d+) \(\d+\)", line)
        assert cells == [f"{100 * scores[name, other]:.0f}" if other != name else "" for other in order]
    assert (
        f"| % scored (expected) | {' | '.join(order)} |" in here("trust", "cup", "--data", data, "--format", "md").out
    )


def test_what_is_no_table_has_no_csv(here: Here, data: Path) -> None:
    done = here("trust", "cup", "--data", data, "--format", "csv")
    assert done.code == 2 and "choose --format table, json or md" in done.err
