"""Whatever is wrong with a bot, `arena play` says what it is, shows what it wrote last, and says what to do."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from arena.app import play
from arena.cli.exits import Exit
from arena.match.clock import TimeControl
from arena.tournament.config import TournamentConfig, config_of
from tests.cli.conftest import Here

HEAD = "import sys, time\nfrom arena.bot import *\n"
CHOOSE = HEAD + "def choose(view):\n    {}\nserve(choose)\n"
NEVER_LATE = TimeControl(limit_ms=60_000)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in any match, but patient: on a busy machine, too, nobody is late who does not mean to be."""
    monkeypatch.setattr(play, "config_of", with_clock(NEVER_LATE, start_ms=60_000))


def with_clock(time: TimeControl, start_ms: int) -> Any:
    def changed(content: Mapping[str, Any], path: Path) -> TournamentConfig:
        return dataclasses.replace(config_of(content, path), clock=time, start_ms=start_ms)

    return changed


def played(here: Here, folder: Path, text: str, *, name: str = "bad.py", mode: int = 0o644) -> tuple[int, str, str]:
    """Play such a bot against `random`."""
    path = folder / name
    path.write_bytes(text.encode())
    path.chmod(mode)
    done = here("play", f"./{name}", "random", "--seed", "1", "--data", "data")
    assert "bug of the arena" not in done.err
    return done


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("statement", "fault", "said", "to_do"),
    [
        (
            'raise KeyError("trump")',
            "error",
            "KeyError: 'trump'",
            "mend what is named; what else goes wrong, python bot.py --self-test says sooner",
        ),
        ("return None", "error", "choose returned None", "return an action at the end of every way through choose"),
        ("return 0", "error", "choose returned 0", "return one of view.legal, or a card of view.plays"),
        ("return 77", "error", "choose returned 77", "return one of view.legal, or a card of view.plays"),
        ('return "TS"', "error", "choose returned 'TS'", "return one of view.legal, or a card of view.plays"),
        (
            "return next(c for c in range(1, 33) if not view.can(c))",
            "illegal",
            "answered ",
            "return one of view.legal; view.plays are the cards that may be played now",
        ),
    ],
)
def test_a_bad_answer_is_told_with_what_to_do(
    here: Here, folder: Path, statement: str, fault: str, said: str, to_do: str
) -> None:
    code, out, err = played(here, folder, CHOOSE.format(statement))
    assert code == Exit.DONE and "bad loses by a fault" in out
    told = err[: err.index("see it again")]
    assert told.startswith(f"bad: {fault}: deal 1, after ") and " asked for one of " in told
    assert said in told and f"\n  what to do: {to_do}\n" in told
    assert "\nbad wrote " in told


@pytest.mark.parametrize(
    ("text", "name", "mode", "said", "to_do"),
    [
        (
            HEAD + "def choose(view)\n    pass\n",
            "bad.py",
            0o644,
            "SyntaxError: expected ':'",
            "mend the line that is named: it is no Python",
        ),
        ("import torch_of_mine\n", "bad.py", 0o644, "No module named 'torch_of_mine'", "install what is missing"),
        (HEAD + "sys.exit('no weights')\n", "bad.py", 0o644, "status 1 before it answered; it wrote last: no wei", ""),
        (HEAD, "bad.py", 0o644, "status 0 before it answered (does it call serve?)", "call serve: the program came"),
        (
            "#!/usr/bin/env python3\r\nfrom arena.bot import serve\r\n",
            "bad",
            0o755,
            "No such file or directory",
            "its lines end as on Windows: sed -i 's/\\r$//' FILE",
        ),
        (
            "#!/usr/bin/python3\r\nfrom arena.bot import serve\r\n",
            "bad",
            0o755,
            "No such file or directory",
            "the interpreter in its first line is not there; if its lines end as on Windows, that is why",
        ),
        ("#!/usr/bin/env python3\n", "bad", 0o644, "is neither Python (*.py) nor executable; make it executable", ""),
    ],
)
def test_a_bot_that_does_not_start_is_told_with_its_last_words(
    here: Here, folder: Path, text: str, name: str, mode: int, said: str, to_do: str
) -> None:
    code, out, err = played(here, folder, text, name=name, mode=mode)
    assert (code, out) == (Exit.USAGE, "")
    assert err.startswith("arena: ") and said in err, err
    assert f"\nwhat to do: {to_do}" in err if to_do else "what to do" not in err


def test_windows_line_ends_do_python_no_harm(here: Here, folder: Path) -> None:
    code, out, _ = played(here, folder, CHOOSE.format("return view.legal[0]").replace("\n", "\r\n"))
    assert code == Exit.DONE and "fault" not in out


def test_a_bot_that_prints_is_heard_and_not_charged(here: Here, folder: Path) -> None:
    code, out, err = played(here, folder, CHOOSE.format("print(view); return view.rng.choice(view.legal)"))
    assert code == Exit.DONE and "fault" not in out
    assert "bad wrote " in err and "\n  <View deal " in err


def test_a_slow_bot_is_warned_by_the_sdk_and_told_by_the_arena(
    here: Here, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play, "config_of", with_clock(TimeControl(limit_ms=1000, bank_ms=0), start_ms=60_000))
    _, out, err = played(here, folder, CHOOSE.format("time.sleep(3 * (view.deal == 1)); return view.legal[0]"))
    assert "bad loses by a fault" in out
    assert err.startswith("bad: late: deal 1") and "of the 1000.0 ms that were left" in err
    assert "slow: match " in err and "what to do: answer sooner: view.time_left_ms says how long there is" in err


def test_a_slow_start_is_told_with_what_to_do(here: Here, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play, "config_of", with_clock(NEVER_LATE, start_ms=1500))
    code, _, err = played(here, folder, "print('loading', flush=True)\nimport time; time.sleep(60)\n")
    assert code == Exit.USAGE
    assert "did not listen at ARENA_ADDRESS within 2 s" in err or "within 1 s" in err
    assert "what to do: call serve; what takes long to import or to load has to wait" in err
