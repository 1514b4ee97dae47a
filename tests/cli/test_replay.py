"""`arena replay`: a stored match to look at, on a terminal and as text; and a bot that is asked again."""

from __future__ import annotations

import codecs
import json
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.cli.browsing import Browser
from arena.cli.exits import Exit
from arena.store import open_queries
from tests.cli.conftest import COMMAND, Arena, Here, environment
from tests.reports import runs
from tests.reports.replays import replay_of

PATIENCE_S = 60.0
LOUD_BOT = """
from arena.bot import serve

def choose(view):
    print("I see", *view.hand)
    print("time left", view.time_left_ms)
    return view.legal[0]

serve(choose)
"""
DYING_BOT = """
import os
from arena.bot import serve

serve(lambda view: os._exit(3))
"""
BROKEN_BOT = """
from arena.bot import serve

def choose(view):
    raise ValueError("no idea")

serve(choose)
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run of three bots, one of which commits faults; its secret is revealed."""
    folder = tmp_path_factory.mktemp("replay")
    runs.play_run(folder / "arena-data", matches=None)
    (folder / "loud.py").write_text(LOUD_BOT, encoding="utf-8")
    (folder / "broken.py").write_text(BROKEN_BOT, encoding="utf-8")
    (folder / "dying.py").write_text(DYING_BOT, encoding="utf-8")
    (folder / "syntax.py").write_text("def choose(:", encoding="utf-8")
    return folder / "arena-data"


@pytest.fixture
def replay(here: Here, data: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    """Run `arena replay WORDS...` in the folder of the run."""
    monkeypatch.chdir(data.parent)
    return lambda *words: here("replay", *words)


# -- as text ----------------------------------------------------------------------------------------------------------


def test_a_match_is_told_deal_by_deal_with_every_decision(replay: Here, data: Path) -> None:
    with open_queries(data / "arena.db") as queries:
        tournament = queries.tournament("cup")
        newest = queries.result(tournament, queries.newest_summaries(tournament)[0].key)
    assert newest is not None
    code, out, err = replay("last")
    assert (code, err) == (Exit.DONE, "")
    first, *lines = out.splitlines()
    assert first.startswith(f"cup, match {newest.position}: ")
    assert [line for line in lines if line.startswith("Deal ")][-1].startswith(f"Deal {len(newest.record.deals)}: ")
    steps = [line for line in lines if re.match(r" *\d+  ", line)]
    faults = len(newest.record.faults)
    assert len(steps) == sum(len(deal.actions) + 1 for deal in newest.record.deals) + faults


def test_a_match_is_found_by_its_place_and_by_the_name_that_other_commands_write(replay: Here) -> None:
    by_place = replay("cup", "3")
    name = re.match(r"cup, match 3: (.*), sixty-six\n", by_place.out)
    assert name
    assert replay("cup", name[1]) == by_place == replay("cup", "0:3")
    assert replay("cup", "4") != by_place


def test_one_deal_and_one_step_of_it(replay: Here) -> None:
    deal = replay("cup", "0", "--deal", "2").out
    assert deal.count("\nDeal ") == 1 and "\nDeal 2: " in deal
    step = replay("cup", "0", "--deal", "2", "--step", "1").out
    assert "deal 2 of " in step and "step 1 of " in step and "all cards open" in step
    seat = replay("cup", "0", "--deal", "2", "--step", "1", "--seat", "1").out
    assert "░░" in seat and " sees it" in seat


def test_json_is_the_same_match(replay: Here, data: Path) -> None:
    document = json.loads(replay("cup", "5", "--format", "json").out)
    with open_queries(data / "arena.db") as queries:
        result = next(each for each in queries.results(queries.tournament("cup")) if each.position == 5)
    assert document["match"] == {
        "position": 5,
        "epoch": 0,
        "pairing": list(result.key.pairing),
        "leg": result.key.leg,
        "list": result.key.number,
    }
    assert [deal["points"] for deal in document["deals"]] == [list(deal.points) for deal in result.record.deals]
    times = [step["time"] for deal in document["deals"] for step in deal["steps"] if step["asked"] == 0]
    assert [each["charged_ms"] for each in times] == [us / 1000 for us in result.record.testimony.took_us[0]]
    assert times[0]["budget_ms"] == 11000


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("spring",), "the store holds no tournament 'spring'; the last one is 'cup'"),
        (("cup", "99"), "the run 'cup' holds no match '99'; expected its place in the schedule"),
        (("cup", "1:0"), "the run 'cup' holds no match '1:0'"),
        (("cup", "plain - sound"), "the run 'cup' holds no match 'plain - sound'"),
        (("cup", "0", "--deal", "77"), "this match has no deal 77; expected 1 to "),
        (("cup", "0", "--step", "777"), "deal 1 has no step 777; expected 1 to "),
        (("cup", "0", "--seat", "2"), "this match has no seat 2; expected 0 to 1"),
        (("cup", "--worst"), "the run 'cup' has 3 bots; name one of them by --for: 'faulty', 'plain', 'sound'"),
        (("cup", "--worst", "--for", "nobody"), "nobody in the run 'cup' is called 'nobody'"),
        (("cup", "--for", "plain"), "--for names the bot of --worst or --list; add one of them"),
        (("cup", "--worst", "--deal", "1"), "--worst finds the deal; leave --deal out"),
        (("cup", "0", "--play-on"), "--play-on needs a bot that plays; add --bot"),
        (("cup", "0", "--bot", "greedy"), "--bot is asked at a decision; name one by --decision"),
        (("cup", "0", "--bot", "greedy", "--decision", "1", "--against", "random"), "add --play-on"),
        (("cup", "0", "--bot", "./none.py", "--decision", "1"), "none.py"),
        (("cup", "0", "--bot", "greedy", "--decision", "1", "--format", "json"), "has no json form"),
        (("cup", "--format", "csv"), "a replay has no csv form: choose --format table or json"),
        (("cup", "--data", "nowhere"), "no tournament was played in nowhere yet"),
    ],
)
def test_a_mistake_is_a_sentence(replay: Here, words: tuple[str, ...], sentence: str) -> None:
    code, out, err = replay(*words)
    assert (code, out) == (Exit.USAGE, "")
    assert err.startswith("arena: ") and sentence in err and err.count("\n") == 1


def test_the_end_of_a_deal_is_a_step_but_no_decision(replay: Here) -> None:
    steps = re.findall(r"^ *(\d+)  ", replay("cup", "0", "--deal", "1").out, re.MULTILINE)
    last = steps[-1]
    assert replay("cup", "0", "--step", last).code == Exit.DONE
    asked = replay("cup", "0", "--bot", "greedy", "--decision", last)
    assert asked.code == Exit.USAGE and f"expected 1 to {int(last) - 1}" in asked.err


def test_no_card_of_a_run_is_shown_before_its_secret_is_revealed(here: Here, tmp_path: Path) -> None:
    runs.play_run(tmp_path, matches=5)
    for words in (("last",), ("last", "0"), ("last", "--worst", "--for", "plain"), ("last", "--format", "json")):
        code, out, err = here("replay", *words, "--data", tmp_path)
        assert (code, out) == (Exit.USAGE, "")
        assert "the cards of the run 'cup' are hidden until its secret is revealed" in err
    shown = here("replay", "last", "0", "--data", tmp_path, "--operator")
    assert shown.code == Exit.DONE and shown.out.startswith("cup, match 0: ")


def test_a_void_match_is_named_as_such(here: Here, tmp_path: Path) -> None:
    runs.play_run(tmp_path, void=[1])
    code, _, err = here("replay", "last", "1", "--data", tmp_path)
    assert code == Exit.USAGE and "is void and has no deals" in err


def test_the_worst_deal_is_the_one_that_cost_most(replay: Here, data: Path) -> None:
    lost = {}
    with open_queries(data / "arena.db") as queries:
        for result in queries.results(queries.tournament("cup")):
            if "faulty" in result.seats:
                own = result.seats.index("faulty")
                for number, deal in enumerate(result.record.deals, start=1):
                    others = [points for side, points in enumerate(deal.points) if side != own]
                    lost[result.position, number] = max(others) - deal.points[own]
    (match, number), most = max(lost.items(), key=lambda entry: entry[1])
    code, out, err = replay("cup", "--worst", "--for", "faulty")
    assert code == Exit.DONE
    assert err == f"the deal that cost faulty most, {most} points: deal {number} of match {match}\n"
    assert out.startswith(f"cup, match {match}: ") and f"\nDeal {number}: " in out and out.count("\nDeal ") == 1


def test_the_list_leads_to_every_match_of_a_bot(replay: Here, data: Path) -> None:
    with open_queries(data / "arena.db") as queries:
        results = list(queries.results(queries.tournament("cup")))
    for words, wanted in (((), results), (("--for", "plain"), [each for each in results if "plain" in each.seats])):
        lines = replay("cup", "--list", *words).out.splitlines()
        assert [int(line.split()[0]) for line in lines] == [each.position for each in wanted]
        for line, result in zip(lines, wanted, strict=True):
            for seat, name in enumerate(result.seats):
                assert f"{name} {result.record.points[seat]}" in line


def test_a_fault_is_shown_with_its_evidence_but_not_to_the_other_seat(replay: Here, data: Path) -> None:
    with open_queries(data / "arena.db") as queries:
        result = next(each for each in queries.results(queries.tournament("cup")) if each.record.faults)
    fault = result.record.faults[0]
    words = ("cup", str(result.position), "--deal", str(fault.deal), "--step", str(fault.decision + 1))
    mine = replay(*words, "--seat", str(fault.seat)).out
    assert f"fault: {fault.fault.label}" in mine and "ValueError" in mine
    other = next(seat for seat in range(2) if seat != fault.seat)
    assert "fault:" not in replay(*words, "--seat", str(other)).out


# -- a bot is asked again ---------------------------------------------------------------------------------------------


def test_a_bot_is_asked_again_with_what_was_seen_then(replay: Here, data: Path) -> None:
    place = ("cup", "2", "--deal", "1", "--decision", "3")
    seen = json.loads(replay("cup", "2", "--deal", "1", "--format", "json").out)["deals"][0]["steps"][2]
    code, out, err = replay(*place, "--bot", "./loud.py")
    assert (code, err) == (Exit.DONE, "")
    assert f"I see {' '.join(seen['hands'][seen['asked']]['cards'])}" in out
    first = next(iter(seen["legal"]))
    assert re.search(rf"^loud now does (the same|otherwise): {re.escape(as_shown(first))}", out, re.MULTILINE)
    assert "time left 11000" in out


def as_shown(action: str) -> str:
    """An action of a record as it is shown."""
    if action.startswith("M"):
        return "marriage"
    symbols = dict(zip("SHDC", "♠♥♦♣", strict=True))
    return action[0].replace("T", "10") + symbols[action[1]] if len(action) == 2 else action.replace("-", " ")


@pytest.mark.parametrize(
    ("bot", "fault", "evidence"),
    [("broken", "error", "ValueError: no idea"), ("dying", "died", "its process ended with status 3")],
)
def test_a_bot_that_fails_is_told_with_its_evidence(replay: Here, bot: str, fault: str, evidence: str) -> None:
    code, out, _ = replay("cup", "2", "--decision", "1", "--bot", f"./{bot}.py")
    assert code == Exit.DONE
    assert f"{bot} now commits a fault: {fault}" in out and evidence in " ".join(out.split())


def test_a_bot_that_does_not_start_is_a_sentence_with_its_last_words(replay: Here) -> None:
    code, out, err = replay("cup", "2", "--decision", "1", "--bot", "./syntax.py")
    assert (code, out) == (Exit.USAGE, "")
    assert err.startswith("arena: bot 'syntax' cannot play: ") and "SyntaxError" in err and "Traceback" not in err


def test_a_deal_is_played_on_from_a_decision_and_nothing_is_stored(replay: Here, data: Path) -> None:
    before = json.loads(replay("cup", "2", "--deal", "2", "--format", "json").out)["deals"][0]
    stored = (data / "arena.db").read_bytes()
    words = ("cup", "2", "--deal", "2", "--decision", "5", "--bot", "greedy", "--play-on")
    code, out, err = replay(*words, "--against", "counter", "--format", "json")
    assert code == Exit.DONE
    assert err.startswith("as it was: ") and err.endswith(f"{'-'.join(map(str, before['score']))}\n")
    after = json.loads(out)
    (deal,) = after["deals"]
    assert deal["deal"] == 2 and deal["steps"][0]["hands"] == before["steps"][0]["hands"]
    assert [step["action"] for step in deal["steps"][:4]] == [step["action"] for step in before["steps"][:4]]
    assert [step["time"] is None for step in deal["steps"][:5]] == [True, True, True, True, False]
    asked = deal["steps"][4]["asked"]
    assert after["seats"][asked] == "greedy" and sorted(after["seats"]) == ["counter", "greedy"]
    assert (data / "arena.db").read_bytes() == stored
    alone = replay(*words, "--plain").out
    assert "greedy (seat 0)" in alone and re.search(r"^ *5  ", alone, re.MULTILINE)
    assert not re.search(r"^ *4  ", alone, re.MULTILINE)


# -- on a terminal ----------------------------------------------------------------------------------------------------


class Terminal:
    """A terminal on which `arena replay` runs."""

    def __init__(self, words: tuple[str, ...], cwd: Path, columns: int, lines: int, **env: str) -> None:
        self._ours, self._theirs = pty.openpty()
        termios.tcsetwinsize(self._theirs, (lines, columns))
        self.settings = termios.tcgetattr(self._theirs)
        self.written = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.process = subprocess.Popen(
            ["setsid", "--ctty", *COMMAND, "replay", *words],
            cwd=cwd,
            stdin=self._theirs,
            stdout=self._theirs,
            stderr=self._theirs,
            env=environment(TERM="xterm-256color", **env),
        )

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def page(self, pattern: str) -> str:
        """Wait until a page with this pattern stands on the screen; returns it without colours."""
        due = time.monotonic() + PATIENCE_S
        while time.monotonic() < due:
            page = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.written.rpartition("\x1b[H")[2])
            if re.search(pattern, page) and self.written.endswith("\x1b[J"):
                return page
            self._read()
        raise AssertionError(f"{pattern!r} did not come: {self.written[-3000:]!r}")

    def end(self) -> int:
        """Wait for the end of the program; returns its exit code."""
        due = time.monotonic() + PATIENCE_S
        while self.process.poll() is None and time.monotonic() < due:
            self._read()
        self._read()
        return self.process.wait(timeout=PATIENCE_S)

    def as_found(self) -> bool:
        """Whether the terminal is as it was before: its settings, the screen, the cursor."""
        shows = self.written.rfind("\x1b[?25h") > self.written.rfind("\x1b[?25l")
        leaves = self.written.rfind("\x1b[?1049l") > self.written.rfind("\x1b[?1049h")
        return termios.tcgetattr(self._theirs) == self.settings and shows and leaves

    def _read(self) -> None:
        if select.select([self._ours], [], [], 0.1)[0]:
            self.written += self._decoder.decode(os.read(self._ours, 65536))

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._ours)
        os.close(self._theirs)


@contextmanager
def terminal(*words: str, cwd: Path, columns: int = 80, lines: int = 24, **env: str) -> Iterator[Terminal]:
    screen = Terminal(words, cwd, columns, lines, **env)
    try:
        yield screen
    finally:
        screen.close()


def test_keys_lead_through_a_match_and_the_terminal_is_left_as_it_was(data: Path) -> None:
    with terminal("cup", "0", cwd=data.parent) as screen:
        first = screen.page("step 1 of")
        assert "deal 1 of" in first and "all cards open" in first and "q quit" in first
        screen.press("\x1b[C")
        screen.page("step 2 of")
        screen.press("\x1b[D")
        assert screen.page("step 1 of") == first
        screen.press("\x1b[B")
        screen.page("deal 2 of")
        screen.press("\x1b[A\x1b[F")
        screen.page("the score is ")
        screen.press("v")
        screen.page(" sees it")
        screen.press("g2.3\r")
        assert "step 3 of" in screen.page("deal 2 of")
        screen.press("g")
        screen.page("go to step, or deal.step: _")
        screen.press("x q")
        assert screen.end() == Exit.DONE
        assert screen.as_found()


def test_autoplay_goes_on_by_itself(data: Path) -> None:
    with terminal("cup", "0", cwd=data.parent) as screen:
        screen.page("step 1 of")
        screen.press(" ")
        screen.page(r"step ([3-9]|\d\d) of|deal [2-9] of")
        screen.press("q")
        assert screen.end() == Exit.DONE


@pytest.mark.parametrize("how", ["Ctrl-C", "SIGINT", "SIGTERM"])
def test_however_it_ends_the_terminal_is_as_it_was(data: Path, how: str) -> None:
    with terminal("cup", "0", cwd=data.parent) as screen:
        screen.page("step 1 of")
        if how == "Ctrl-C":
            screen.press("\x03")
        else:
            screen.process.send_signal(signal.Signals[how])
        assert screen.end() == (128 + signal.SIGTERM if how == "SIGTERM" else Exit.INTERRUPTED)
        assert screen.as_found()


def test_a_narrow_terminal_without_colours(data: Path) -> None:
    with terminal("cup", "0", "--seat", "1", cwd=data.parent, columns=40, NO_COLOR="1") as screen:
        page = screen.page("step 1 of")
        assert max(map(len, page.splitlines())) <= 40 and "░░" in page
        assert not re.search(r"\x1b\[[0-9;]*[34][0-9]", screen.written)
        termios.tcsetwinsize(screen._theirs, (24, 120))
        screen.page("space play")  # there is room for all that the keys do
        screen.press("q")
        assert screen.end() == Exit.DONE


@pytest.mark.parametrize(("lines", "columns"), [(24, 40), (8, 24)])
def test_where_there_is_little_room_what_happens_stays_on_the_screen(data: Path, lines: int, columns: int) -> None:
    with terminal("cup", "0", cwd=data.parent, columns=columns, lines=lines) as screen:
        page = screen.page("step ↑↓").splitlines()
        assert len(page) == lines and max(map(len, page)) <= columns
        assert any("›" in line for line in page)
        screen.press("q")
        assert screen.end() == Exit.DONE


def test_piped_or_plain_it_is_text(arena: Arena, data: Path) -> None:
    piped = arena("replay", "cup", "0", cwd=data.parent)
    assert piped.returncode == Exit.DONE and "\x1b" not in piped.stdout
    ascii_only = arena("replay", "cup", "0", cwd=data.parent, env={"PYTHONIOENCODING": "ascii"})
    assert ascii_only.stdout.isascii() and "\\u" not in ascii_only.stdout and " AS " in ascii_only.stdout
    with terminal("cup", "0", "--plain", cwd=data.parent) as screen:
        assert screen.end() == Exit.DONE
        assert "\x1b[?1049h" not in screen.written and "Deal 1: " in screen.written


def test_the_cursor_stays_within_the_match_whatever_is_pressed() -> None:
    _, replay = replay_of("three-handed")
    browser = Browser(replay, 0, 1, None)
    for key in (
        "left",
        "up",
        "g",
        "9",
        "9",
        "enter",
        "end",
        "right",
        "v",
        "v",
        "v",
        "v",
        "down",
        "home",
        "g",
        "9",
        ".",
        "9",
    ):
        assert browser.press(key)
        assert 0 <= browser.at < len(replay.deals) and 1 <= browser.step <= browser.deal.steps
    browser.press("enter")
    assert not browser.press("q")
    last = Browser(replay, len(replay.deals) - 1, replay.deals[-1].steps, None, playing=True)
    last.forward()
    assert not last.playing and last.step == last.deal.steps
