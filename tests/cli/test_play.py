"""`arena play`: one match to read, the same for the same seed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from arena.cli.exits import Exit
from arena.game.presets import PRESETS
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
        (("./bot.py",), "these rules have 2 sides, but 1 bot was named: name a bot for each side"),
        (("a", "b", "c", "d"), "these rules have 2 sides, but 4 bots were named: name a bot for each side"),
        (("./bot.py", "./bot.py", "--seed", ""), "--seed is ''; expected a word or a number"),
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


def test_the_help_lists_the_presets(here: Here) -> None:
    out = here("play", "--help").out
    assert all(f"\n    {name} " in out for name in PRESETS)


def test_the_evidence_of_a_fault_is_lines(here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = "from arena.bot import serve\n\ndef choose(view):\n    raise ValueError('no idea')\n\nserve(choose)\n"
    monkeypatch.chdir(make_folder(tmp_path, bot=bot))
    told = here("play", "./bot.py", "./bot.py", "--seed", "5").err
    assert "\n  ValueError: no idea\n" in told and r"\n" not in told


def test_four_seats_fit_eighty_characters_and_are_told_apart(
    here: Here, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    out = here("play", "./bot.py", "./bot.py", "--rules", "four-handed", "--seed", "5", "--watch").out
    watched = out[: out.rindex("\n\n")]
    assert max(map(len, watched.splitlines())) <= 80 and "…" not in watched
    assert len(re.findall(r"^ 1  (?:(?:› |  )\S+ +){4}\d+-\d+ seat [0-3]$", watched, re.MULTILINE)) >= 1
    assert "bot (seat 0) deals" in watched
