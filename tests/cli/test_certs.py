"""`arena certs`: two folders, and what to do with each."""

from __future__ import annotations

from pathlib import Path

from arena.cli.exits import Exit
from tests.cli.conftest import Here


def test_it_says_what_goes_where(here: Here, tmp_path: Path) -> None:
    done = here("certs", tmp_path / "far", "--name", "Far", "--address", "bots.example.org:7700", "--days", "30")
    assert (done.code, done.err) == (Exit.DONE, "")
    bot, arena, note = done.out.splitlines()
    assert bot.startswith(f"{tmp_path}/far/bot goes to the bot's machine: python bot.py --listen 0.0.0.0:7700 --keys ")
    assert arena == f"{tmp_path}/far/arena stays here and names the bot: arena play {tmp_path}/far/arena random"
    assert note.startswith("Both hold secrets, for 30 days.")


def test_a_second_time_is_refused(here: Here, tmp_path: Path) -> None:
    words = ("certs", tmp_path / "far", "--name", "Far")
    assert here(*words).code == Exit.DONE
    again = here(*words)
    assert (again.code, again.out) == (Exit.USAGE, "")
    assert again.err.count("\n") == 1 and "is there already" in again.err
