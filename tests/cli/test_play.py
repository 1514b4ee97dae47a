"""`arena play`: one match to read, the same for the same seed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from arena.cli.exits import Exit
from tests.cli.conftest import Arena, Here, make_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_folder(tmp_path_factory.mktemp("play"))


def test_a_match_is_a_line_a_deal_and_a_result(arena: Arena, folder: Path) -> None:
    done = arena("play", "./bot.py", "./bot.py", "--seed", "5", cwd=folder)
    assert done.returncode == Exit.DONE
    *deals, result, rest = done.stdout.split("\n")
    assert rest == ""
    assert all(re.match(rf" *{number}  bot", line) for number, line in enumerate(deals, start=1))
    won = re.fullmatch(r"(bot|bot-2) wins 7-([0-6])", result)
    assert won
    scored = sum(int(points) for name, points in re.findall(r" (bot|bot-2) \+(\d)", "\n".join(deals)) if name == won[1])
    assert scored >= 7
    assert done.stderr == "the same decks again: arena play ./bot.py ./bot.py --rules sixty-six --seed 5\n"


def test_watching_shows_the_cards_and_the_same_match(arena: Arena, folder: Path) -> None:
    words = ("play", "./bot.py", "./bot.py", "--seed", "5")
    watched = arena(*words, "--watch", cwd=folder).stdout
    plain = arena(*words, cwd=folder).stdout
    assert watched.endswith(f"\n\n{plain}")
    assert watched.startswith("Deal 1  bot-2 deals, turned up is ")
    assert re.search(r"^ 1  (› )?.*[♠♥♦♣]", watched, re.MULTILINE)
    assert watched.count("\nDeal ") + 1 == len(plain.splitlines()) - 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("./bot.py",), "these rules have 2 sides, but 1 bots were named"),
        (("./bot.py", "./none.py"), "none.py"),
        (("./bot.py", "./bot.py", "--rules", "sixtysix"), "unknown rules 'sixtysix'; did you mean 'sixty-six'?"),
    ],
)
def test_a_mistake_is_a_sentence(
    here: Here, folder: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.chdir(folder)
    code, out, err = here("play", *words)
    assert (code, out) == (Exit.USAGE, "")
    assert err.startswith("arena: ") and sentence in err and "Traceback" not in err
