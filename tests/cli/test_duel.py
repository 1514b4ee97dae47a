"""`arena duel`: real bots until the answer is clear, the same again for the same seed, and mistakes in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Arena, Here


def test_the_better_bot_is_found_and_progress_goes_to_stderr(arena: Arena, tmp_path: Path) -> None:
    done = arena("duel", "greedy", "random", "--seed", "4", "--edge", "20", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("greedy is better than random: ")
    assert "after 8 pairs: greedy " in done.stderr
    assert "the same decks again: arena duel greedy random --rules sixty-six --seed 4" in done.stderr
    assert not list(tmp_path.iterdir())  # nothing is stored


def test_the_worse_bot_is_not_better_and_the_same_seed_says_the_same(arena: Arena, tmp_path: Path) -> None:
    words = ("duel", "random", "greedy", "--seed", "4", "--edge", "20", "--by", "matches", "--format", "json", "-q")
    one, other = arena(*words, cwd=tmp_path), arena(*words, cwd=tmp_path)
    assert (one.returncode, one.stderr) == (0, "")
    assert one.stdout == other.stdout
    found = json.loads(one.stdout)
    assert found["bots"] == ["random", "greedy"] and found["answer"] == "not better"
    assert found["log_likelihood_ratio"] <= found["bounds"][0]
    assert sum(found["pairs"].values()) >= 16 and found["share"] < 0.3
    assert found["faults"] == [0, 0]


def test_a_bot_and_itself_end_in_draws_and_without_an_answer(arena: Arena, tmp_path: Path) -> None:
    done = arena("duel", "greedy", "greedy", "--pairs", "16", "--seed", "1", "-q", cwd=tmp_path)
    assert done.stdout == (
        "greedy and greedy-2 cannot be told apart in 16 pairs: 50% ± 0 of 16 pairs; try more --pairs\n"
    )


def test_mistakes_are_answered_in_a_sentence(here: Here) -> None:
    for words, sentence in (
        (("greedy",), "a duel is of two bots, but 1 were named"),
        (("greedy", "nobody"), "nobody"),
        (("greedy", "random", "--rules", "sessantasei-101"), "a duel is for two seats, but these rules have 4"),
        (("greedy", "random", "--format", "csv"), "a duel has no csv form"),
    ):
        done = here("duel", *words)
        assert done.code == 2 and sentence in done.err, words
