"""`arena tournament` with real bots: what stands where, what is said when, and how it stops and goes on."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.bots.sandbox import best
from arena.cli.exits import Exit
from arena.tournament import decks
from tests.cli.conftest import COMMAND, SLOW_BOT, Arena, Here, environment, make_folder, on_terminal

ONE, TWO = "[red]one[/red]|`x`", "=two <b>"
"""Names that a config takes and a format might believe."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_folder(tmp_path_factory.mktemp("tournament"), one=ONE, two=TWO)


@pytest.fixture(scope="module")
def done(arena: Arena, folder: Path) -> subprocess.CompletedProcess[str]:
    """A tournament of six matches that was played to its end."""
    return arena("tournament", "--name", "cup", "-v", cwd=folder)


# -- played to its end ------------------------------------------------------------------------------------------------


def test_the_report_is_on_stdout_and_nothing_else(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == Exit.DONE
    assert done.stdout.startswith("Little cup\nsixty-six, round-robin of 2 bots, 6 of 6 matches\n")
    assert ONE in done.stdout and TWO in done.stdout
    for line in ("pairs and points", "Deals ended ", "Lost Bummerls ", "Secret "):
        assert f"\n{line}" in done.stdout


def test_the_commitment_comes_before_the_first_deal_and_the_secret_after_the_last(
    done: subprocess.CompletedProcess[str],
) -> None:
    told = done.stderr
    commitment = re.search(r"^commitment  ([0-9a-f]{64})$", told, re.MULTILINE)
    secret = re.search(r"^secret  ([0-9a-f]{64})$", told, re.MULTILINE)
    assert commitment and secret
    assert commitment.start() < told.index("0 of 6 matches") < secret.start()
    assert decks.commitment(bytes.fromhex(secret[1])) == commitment[1]


def test_the_header_names_the_bots_and_the_sandbox(done: subprocess.CompletedProcess[str]) -> None:
    header = done.stderr.split("0 of 6 matches")[0]
    assert "Little cup: sixty-six, round-robin of 2 bots" in header
    assert f"  {ONE}" in header and f"  {TWO}" in header
    assert "6 matches in 3 pairs; 1 block at a time" in header
    assert f"sandbox {best().level}; run cup" in header


def test_verbose_has_a_line_a_match(done: subprocess.CompletedProcess[str]) -> None:
    assert len(re.findall(r"^.+ \d - .+ \d \(played, \d+ deals, 0 faults\)$", done.stderr, re.MULTILINE)) == 6


def test_the_way_to_the_record_is_the_last_line_and_works(
    arena: Arena, folder: Path, done: subprocess.CompletedProcess[str]
) -> None:
    *_, last = done.stderr.splitlines()
    assert last == "see it again: arena show cup"
    assert arena("show", "cup", cwd=folder).stdout == done.stdout


def test_a_name_that_is_taken_is_refused(
    here: Here, folder: Path, done: subprocess.CompletedProcess[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    code, out, err = here("tournament", "--name", "cup", "-q")
    assert (code, out) == (Exit.USAGE, "")
    assert "--resume cup" in err


def test_the_same_seed_gives_the_same_play_to_the_byte(arena: Arena, here: Here, tmp_path: Path) -> None:
    folder = make_folder(tmp_path, pairs=2)
    plays = []
    for name in ("first", "second"):
        done = arena("tournament", "--seed", "66", "--name", name, "-q", "--format", "json", cwd=folder)
        assert (done.returncode, done.stderr) == (0, "")
        run = json.loads(done.stdout)["run"]
        assert (run["name"], run["seed"], run["rated"]) == (name, "66", False)
        plays.append(here("show", folder / "arena-data" / "runs" / name, "--format", "json", "--part", "play").out)
    assert plays[0] == plays[1]


def test_a_terminal_sees_a_live_table_that_goes_away(tmp_path: Path) -> None:
    page = on_terminal("tournament", "--name", "cup", cwd=make_folder(tmp_path))
    assert "% won" in page and "\x1b[?25l" in page  # the cursor is hidden while the table is redrawn
    assert page.index("\x1b[?25h") < page.index("pairs and points")


def test_a_dumb_terminal_sees_plain_lines(tmp_path: Path) -> None:
    page = on_terminal("tournament", "--name", "cup", cwd=make_folder(tmp_path, pairs=1), TERM="dumb")
    assert "\x1b" not in page
    assert "0 of 2 matches, 0 faults" in page


# -- not played -------------------------------------------------------------------------------------------------------


def test_a_dry_run_shows_the_schedule_and_touches_nothing(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(make_folder(tmp_path, pairs=4))
    code, out, err = here("tournament", "--dry-run")
    assert (code, err) == (Exit.DONE, "")
    assert "8 matches in 4 pairs" in out
    assert out.splitlines()[-4:] == [
        "block 0: one - two, lists 0 to 2, mirrored",
        "block 1: two - one, lists 0 to 2, mirrored",
        "block 2: one - two, list 3, mirrored",
        "block 3: two - one, list 3, mirrored",
    ]
    assert not (tmp_path / "arena-data").exists()


def test_a_missing_file_is_a_sentence(here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = here("tournament", "-q")
    assert (code, out) == (Exit.USAGE, "")
    assert err.startswith("arena: there is no tournament file tournament.toml")


def test_a_bot_that_cannot_start_is_told_with_its_last_words_made_harmless(arena: Arena, tmp_path: Path) -> None:
    folder = make_folder(tmp_path, bot="import sys; sys.exit('\\x1b[31mno\\x07 way')")
    done = arena("tournament", cwd=folder)
    assert (done.returncode, done.stdout) == (Exit.USAGE, "")
    assert r"\x1b[31mno\x07 way" in done.stderr
    assert "\x1b" not in done.stderr and "Traceback" not in done.stderr


def test_resume_without_a_run_says_so(here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(make_folder(tmp_path))
    for words in (("--resume",), ("--resume", "-q"), ("--resume", "tournament.toml")):
        code, _, err = here("tournament", *words)
        assert code == Exit.USAGE
        assert "there is no run of tournament.toml" in err


# -- stopped, and resumed ---------------------------------------------------------------------------------------------


class Running:
    """A tournament under way."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.told: list[str] = []
        self.process = subprocess.Popen(
            [*COMMAND, "tournament", *words],
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_for(self, what: str) -> None:
        """Read what it says until a line holds `what`."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.told.append(line.rstrip("\n"))
            if what in line:
                return
        raise AssertionError(f"never said {what!r}: {self.told}")

    def end(self) -> tuple[int, str]:
        """Its exit code and what it wrote to stdout."""
        out, err = self.process.communicate()
        self.told += err.splitlines()
        return self.process.returncode, out


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    running: list[Running] = []

    def begin(*words: str, **config: object) -> Running:
        running.append(Running(make_folder(tmp_path, **config), *words))  # type: ignore[arg-type]
        return running[-1]

    yield begin
    for each in running:
        each.process.kill()
        each.process.wait()


def test_the_first_interrupt_drains_and_the_last_line_goes_on(
    start: Callable[..., Running], arena: Arena, tmp_path: Path
) -> None:
    running = start("--name", "cup", "-v", pairs=6)
    running.wait_for("(played, ")
    running.process.send_signal(signal.SIGINT)
    running.wait_for("stopping: 1 block under way will be finished; Ctrl-C again stops at once")
    code, out = running.end()
    assert code == Exit.STOPPED
    assert re.search(r"\n.*, 3 of 12 matches\n", out)  # the block under way, and no other
    assert "revealed when the last deal is played" in out
    assert not any(line.startswith("secret") for line in running.told)
    prefix = "go on with: arena "
    assert running.told[-1].startswith(prefix)
    words = shlex.split(running.told[-1].removeprefix(prefix))
    left = arena(*words, "--dry-run", cwd=tmp_path).stdout.splitlines()
    assert "12 matches in 6 pairs, 3 of them played already; 1 block at a time" in left
    assert [line for line in left if line.startswith("block ")] == [
        "block 1: two - one, lists 0 to 2, mirrored",
        "block 2: one - two, lists 3 to 5, mirrored",
        "block 3: two - one, lists 3 to 5, mirrored",
    ]
    other = arena("tournament", "--dry-run", cwd=tmp_path).stdout.splitlines()
    assert "an earlier run cup was interrupted; go on with --resume cup" in other
    assert "block 0: one - two, lists 0 to 2, mirrored" in other
    resumed = arena(*words, cwd=tmp_path)
    assert resumed.returncode == Exit.DONE
    assert "12 matches in 6 pairs, 3 of them played already" in resumed.stderr
    assert "12 of 12 matches" in resumed.stdout


def test_a_termination_stops_at_once_and_can_be_resumed(start: Callable[..., Running]) -> None:
    running = start("--name", "cup", "-v", pairs=6)
    running.wait_for("(played, ")
    running.process.send_signal(signal.SIGTERM)
    code, _ = running.end()
    assert code == Exit.STOPPED
    assert running.told[-1] == "go on with: arena tournament tournament.toml --resume cup"


def test_the_second_interrupt_does_not_wait_for_slow_bots(start: Callable[..., Running], tmp_path: Path) -> None:
    running = start("--name", "cup", bot=SLOW_BOT)
    deadline = time.monotonic() + 60
    logs = tmp_path / "arena-data" / "runs" / "cup" / "logs"
    while not any("asked" in log.read_text() for log in logs.glob("*")):  # from here on the run takes signals
        assert time.monotonic() < deadline and running.process.poll() is None
        time.sleep(0.05)
    running.process.send_signal(signal.SIGINT)
    running.wait_for("stopping: ")
    running.process.send_signal(signal.SIGINT)
    code, out = running.end()
    assert code == Exit.STOPPED
    assert "0 of 6 matches" in out
    assert running.told[-1] == "go on with: arena tournament tournament.toml --resume cup"
