"""`arena certs`: two folders, and what to do with each."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from arena.cli.exits import Exit
from tests.bots.remotes import Remote, free_port, keys_for
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


def test_the_bot_takes_part_in_a_tournament_until_it_has_other_keys(here: Here, tmp_path: Path) -> None:
    port = free_port()
    made = keys_for(tmp_path / "far", f"127.0.0.1:{port}")
    cup = tmp_path / "cup.toml"
    cup.write_text('pairs = 2\nblock = 1\njobs = 2\n[[bots]]\nbot = "far/arena"\n[[bots]]\nbot = "random"\n')
    with Remote(tmp_path / "bot", keys=made.bot, port=port) as bot:
        done = here("tournament", cup, "--data", tmp_path / "data", "--format", "json")
    assert done.code == Exit.DONE, done.err
    report = json.loads(done.out)
    assert bot.said() == ""
    (far,) = [one for one in report["run"]["participants"] if one["name"] == "Far"]
    assert far["digest"] == made.fingerprint
    assert "(0 mirrored, 2 on decks of their own)" in here("show", "--data", tmp_path / "data").out

    shutil.rmtree(tmp_path / "far")
    keys_for(tmp_path / "far", f"127.0.0.1:{port}")
    cup.write_text(cup.read_text().replace("pairs = 2", "pairs = 3"))
    again = here("tournament", cup, "--data", tmp_path / "data", "--resume")
    assert again.code == Exit.USAGE
    assert "the bot 'Far' has changed since the run began" in again.err


def test_a_bot_that_nobody_serves_stops_the_tournament_before_the_first_deal(here: Here, tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    keys_for(tmp_path / "far", address)
    cup = tmp_path / "cup.toml"
    cup.write_text('[[bots]]\nbot = "far/arena"\n[[bots]]\nbot = "random"\n[clock]\nstart_ms = 2000\n')
    done = here("tournament", cup, "--data", tmp_path / "data")
    assert (done.code, done.out) == (Exit.USAGE, "")
    assert f"bot 'Far' cannot play: nobody answered at {address} within 2 s: " in done.err
    assert here("runs", "--data", tmp_path / "data").out.count("cup") == 0
