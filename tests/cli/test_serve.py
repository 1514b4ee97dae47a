"""`arena serve`: a real bot at an address, called by hand with `buf curl`, until Ctrl-C."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from google.protobuf.json_format import MessageToJson

from arena.bot import View
from arena.game.presets import preset
from arena.sixtysix.v1 import bot_pb2
from arena.wire import codec
from tests.cli.conftest import COMMAND, Here, environment

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60.0
POSITION = "dealer: 0\nhand 0: AS TH QD JC KH\nhand 1: QS KS AC JD TD\ntalon: JS KD TC QH AD AH KC QC TS JH\n"


@contextmanager
def serving(folder: Path, bot: str, address: str) -> Iterator[subprocess.Popen[str]]:
    """`arena serve`, once it says that the bot serves."""
    with subprocess.Popen(
        [*COMMAND, "serve", bot, "--address", address],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            assert " serves at " in said and said.endswith("; end it by Ctrl-C\n"), said
            yield process
        finally:
            process.kill()


def call(address: str, method: str, message: bytes) -> Any:
    """What the bot answers, by `buf curl`."""
    kind = bot_pb2.DescribeRequest if method == "Describe" else bot_pb2.PlayRequest
    unix = address.removeprefix("unix:")
    where = ["--unix-socket", unix, "http://localhost"] if unix != address else [f"http://{address}"]
    done = subprocess.run(
        [
            *(Path(sys.executable).parent / "buf", "curl", "--http2-prior-knowledge", "--protocol", "grpc"),
            *("--schema", ROOT / "proto", "-d", MessageToJson(kind.FromString(message)), *where[:-1]),
            f"{where[-1]}/arena.sixtysix.v1.BotService/{method}",
        ],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def describe(address: str) -> Any:
    return call(address, "Describe", codec.describe_request(preset("schnapsen"), "schnapsen"))


def decide(address: str) -> Any:
    view = View.at(POSITION, "schnapsen")
    item = codec.decision(view.facts, match_id="m", id=7, deal=1, time_left_ms=0, last_took_ms=0)
    return call(address, "Play", codec.match_started("m", 1, (0, 1), bytes(32), 0, 0) + item)


def test_a_stream_with_a_decision_is_answered_again_and_again(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for address in (f"127.0.0.1:{port}", f"unix:{tmp_path / 'bot.sock'}"):
        with serving(tmp_path, "greedy", address) as process:
            for _ in range(2):  # at a unix socket the bot ends with the stream, and is started again
                deadline = time.monotonic() + PATIENCE_S
                while not served(address):
                    assert time.monotonic() < deadline
                    time.sleep(0.05)
                assert describe(address)["name"] == "greedy"
                assert decide(address)["answers"][0]["action"] == "ACTION_DECLARE_SPADES"
            children = psutil.Process(process.pid).children(recursive=True)
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE_S) == 0
            assert not psutil.wait_procs(children, timeout=PATIENCE_S)[1]


def served(address: str) -> bool:
    unix = address.removeprefix("unix:")
    with socket.socket(socket.AF_UNIX if unix != address else socket.AF_INET) as one:
        host, _, port = address.rpartition(":")
        return one.connect_ex(unix if unix != address else (host, int(port))) == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nobody",), "there is no bot 'nobody'"),
        (("greedy", "--address", "0.0.0.0:6600"), "--address 0.0.0.0:6600 is open to other machines"),
        (("greedy", "--address", "6600"), "--address is '6600'; expected HOST:PORT"),
        (("greedy", "--address", "unix:"), "expected a path behind it"),
        (("127.0.0.1:7",), "bot '127.0.0.1:7' runs elsewhere and serves already, at 127.0.0.1:7"),
    ],
)
def test_mistakes_are_sentences(here: Here, words: tuple[str, ...], sentence: str) -> None:
    code, out, err = here("serve", *words)
    assert (code, out) == (2, "") and sentence in err and "Traceback" not in err


def test_a_bot_that_does_not_serve_is_told(here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.py").write_text("raise SystemExit(3)\n")
    code, out, err = here("serve", "./bad.py", "--address", "unix:bad.sock")
    assert (code, out) == (2, "")
    assert "arena: bot 'bad' ended with status 3 before it served at unix:" in err
