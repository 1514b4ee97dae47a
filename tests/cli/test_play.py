"""`arena play`: one match to read, the same for the same seed."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

import pytest

from arena.cli.exits import Exit
from arena.game.presets import PRESETS
from arena.store import open_queries
from tests.cli.conftest import COMMAND, SLOW_BOT, Arena, Here, environment, make_folder, on_terminal


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
    assert done.stderr.splitlines() == [
        "see it again: arena replay last",
        "the same decks again: arena play ./bot.py ./bot.py --rules sixty-six --seed 5",
    ]


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
        (("./bot.py", "./bot.py", "--pairs", "3", "--watch"), "--watch shows one match, but --pairs asks for many"),
        (
            ("a", "b", "c", "--rules", "three-handed", "--pairs", "3"),
            "--pairs is for two sides, but these rules have 3",
        ),
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


TALKER = """
import sys
from arena.bot import serve

def choose(view):
    print("deal", view.deal, "I see", len(view.hand), "cards")
    return view.plays[0] if view.plays else view.legal[-1]

print("hello", file=sys.stderr)
serve(choose)
"""


def test_what_a_bot_prints_is_shown_and_where_all_of_it_is(arena: Arena, tmp_path: Path) -> None:
    make_folder(tmp_path, bot=TALKER)
    err = arena("play", "./bot.py", "random", cwd=tmp_path).stderr
    said = re.search(r"^bot wrote (\d+) lines: (\S+)\n((?:  .*\n)+)", err, re.MULTILINE)
    assert said is not None, err
    written = (tmp_path / said[2]).read_text().splitlines()
    assert (len(written), written[0]) == (int(said[1]), "hello")
    assert [line.strip() for line in said[3].splitlines()] == written[-5:]


def test_a_match_is_kept_with_its_decks_but_it_is_no_tournament(arena: Arena, tmp_path: Path) -> None:
    make_folder(tmp_path, pairs=1)
    assert arena("tournament", "-q", cwd=tmp_path).returncode == 0
    assert arena("play", "./bot.py", "random", cwd=tmp_path).returncode == 0
    with open_queries(tmp_path / "arena-data" / "arena.db") as queries:
        assert (queries.newest().name, queries.tournament("last").name) == ("play-1", "tournament-1")
        kept = queries.tournament("play-1")
        (result,) = queries.results(kept)
        assert not kept.rated and result.seats == ("bot", "random") and queries.epochs(kept)[0].revealed
    assert "play-1" not in arena("runs", cwd=tmp_path).stdout
    assert "bot against random" in arena("runs", "--plays", cwd=tmp_path).stdout
    assert arena("verify", "play-1", cwd=tmp_path).stdout.startswith("identical: 1 match, ")


def test_pairs_say_how_many_deals_are_won_and_who_is_better(arena: Arena, tmp_path: Path) -> None:
    done = arena("play", "random", "greedy", "--pairs", "8", "--seed", "5", cwd=tmp_path)
    assert done.returncode == Exit.DONE
    first, second = done.stdout.splitlines()
    said = re.fullmatch(r"random wins (\d+)% ± (\d+) of the deals; greedy is better than random with (>?\d+)%", first)
    assert said is not None, first
    assert int(said[1]) + int(said[2]) < 50 and said[3] in (">99", "99", "98")
    pairs = re.fullmatch(r"8 pairs: (\d) won, (\d) drawn, (\d) lost; (\d+) deals", second)
    assert pairs is not None, second
    assert sum(map(int, pairs.groups()[:3])) == 8
    with open_queries(tmp_path / "arena-data" / "arena.db") as queries:
        summaries = list(queries.summaries(queries.newest()))
    assert sum(summary.deals for summary in summaries) == int(pairs[4]) and len(summaries) == 16
    assert "the same decks again: arena play random greedy --rules sixty-six --pairs 8 --seed 5\n" in done.stderr


def test_bots_that_are_equal_are_not_told_apart(arena: Arena, tmp_path: Path) -> None:
    out = arena("play", "greedy", "greedy", "--pairs", "1", "--seed", "5", cwd=tmp_path).stdout
    assert re.match(
        r"greedy wins 50% ± 50 of the deals; more pairs are needed to tell them apart: greedy is better than greedy-2 "
        r"with 50%\n1 pair: 0 won, 1 drawn, 0 lost; \d+ deals\n",
        out,
    ), out


def test_a_bot_that_does_not_start_leaves_nothing_behind(arena: Arena, tmp_path: Path) -> None:
    make_folder(tmp_path, bot="raise RuntimeError('no model')")
    for more in ((), ("--pairs", "2")):
        done = arena("play", "./bot.py", "random", *more, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (Exit.USAGE, "") and "no model" in done.stderr
        assert not list((tmp_path / "arena-data" / "runs").iterdir())


def test_a_deal_is_seen_on_a_terminal_while_a_bot_thinks(tmp_path: Path) -> None:
    make_folder(tmp_path, bot=SLOW_BOT.replace("0.5", "0.05"))
    screen = on_terminal("play", "./bot.py", "./bot.py", "--watch", cwd=tmp_path)
    assert re.search(r"bot(-2)? thinks \.\.\.", screen) and "Deal 1" in screen


def test_pairs_that_are_interrupted_say_what_was_found_so_far(tmp_path: Path) -> None:
    make_folder(tmp_path, bot=SLOW_BOT.replace("0.5", "0.02"))
    with subprocess.Popen(
        [*COMMAND, "play", "./bot.py", "greedy", "--pairs", "500"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as playing:
        assert playing.stdout is not None and playing.stderr is not None
        assert playing.stderr.readline() == "0 of 1,000 matches, 0 faults\n"
        playing.send_signal(signal.SIGINT)
        out, err = playing.stdout.read(), playing.stderr.read()
        assert playing.wait() == Exit.STOPPED
    assert "stopping: " in err and "Traceback" not in err
    assert re.match(r"bot wins \d+% ± \d+ of the deals; .* is better than ", out), out
    assert "\n8 pairs: " in out or "\n16 pairs: " in out
