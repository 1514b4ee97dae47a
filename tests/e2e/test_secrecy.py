"""What a bot can find out of the tournament that it plays in, from all that it is given and all that it is sent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.tournament import decks

SINNER = Path(__file__).parent.parent / "bad_bots" / "sinner.py"


@pytest.fixture(scope="module", params=["auto", "weak"])
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """All that two nosy bots printed: what they saw around them, and every message in full."""
    place, elsewhere = tmp_path_factory.mktemp("bots"), tmp_path_factory.mktemp("elsewhere")
    lines = ["pairs = 2", "trust_bots = true", "rated = false", f'sandbox = "{request.param}"']
    for name in ("Alphonse", "Beatrice"):
        lines += ["[[bots]]", f"bot = {json.dumps(f'{sys.executable} {SINNER} snoop')}", f"name = {json.dumps(name)}"]
    config = place / "nightingale.toml"
    config.write_text("\n".join(lines))
    words = ["tournament", config, "--name", "larkspur", "--data", elsewhere / "hoard"]
    subprocess.run(
        [sys.executable, "-m", "arena", *words, "--seed", "mulberry"],
        cwd=place,
        env={**os.environ, "ORGANISER_TOKEN": "hush-hush"},
        check=True,
        capture_output=True,
    )
    logs = elsewhere / "hoard" / "runs" / "larkspur" / "logs"
    return {path.stem: path.read_text("latin-1") for path in logs.iterdir()}


def test_the_bots_have_looked_well(found: dict[str, str]) -> None:
    assert set(found) == {"Alphonse", "Beatrice"}
    for text in found.values():
        for sight in ("/proc/self/mountinfo", "ARENA_ADDRESS", "/cmdline b'", "/proc/self/fd/2 pipe:", "\\n"):
            assert sight in text
        assert len(text) < 1_000_000  # all of it: a log that is full says so


@pytest.mark.parametrize(
    "secret",
    [
        "mulberry",
        decks.secret_from_seed("mulberry").hex(),
        decks.commitment(decks.secret_from_seed("mulberry")),
        "larkspur",
        "nightingale",
        "hoard",
        "ORGANISER",
        "hush-hush",
    ],
)
def test_neither_run_nor_store_nor_seed_nor_the_arenas_environment_is_seen(found: dict[str, str], secret: str) -> None:
    assert not [name for name, text in found.items() if secret in text]


def test_no_bot_sees_the_name_of_another(found: dict[str, str]) -> None:
    assert "Beatrice" not in found["Alphonse"]
    assert "Alphonse" not in found["Beatrice"]


def test_the_place_of_a_bots_socket_does_not_tell_how_many_came_before(found: dict[str, str]) -> None:
    addresses = [part for text in found.values() for part in text.split("'") if part.startswith("unix:")]
    names = {address.rpartition("/")[2].partition(".")[0] for address in addresses}
    assert names
    for name in names - {"bot"}:  # in a sandbox with a view of its own all have the same place
        assert len(name) == 12 and int(name, 16) >= 0
