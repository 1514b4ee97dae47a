"""Bots as their authors write them, in processes of their own, asked over real sockets."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import grpc
import pytest

from arena.game.presets import PRESETS
from arena.game.scoring import Outcome, Termination
from arena.wire import codec
from tests.bot.process import PATIENCE_S, Process, decision, lowest

SIX_LINES = """
from arena.bot import serve

def choose(view):
    return view.legal[0]

serve(choose)
"""


def test_six_lines_are_a_bot() -> None:
    with Process(SIX_LINES) as bot:
        assert bot.describe() == codec.BotDescription(1, 0, "anna", "", True, "", False, 0)
        stream = bot.play()
        for id in range(20):
            assert stream.ask(id).action == lowest(id)


def test_what_a_bot_says_of_itself_arrives() -> None:
    options = "name='Bo', version='3', plays=('schnapsen',), decisions_at_once=1, waives_before_draw=True"
    with Process(SIX_LINES.replace("serve(choose)", f"serve(choose, {options})")) as bot:
        described = bot.describe(codec.describe_request(PRESETS["schnapsen"], "schnapsen"))
        assert described == codec.BotDescription(1, 0, "Bo", "3", True, "", True, 1)
        assert not bot.describe().plays


def test_the_time_a_bot_thinks_is_told() -> None:
    source = SIX_LINES.replace("return", "sum(range(100_000)); return")
    with Process(source) as bot:
        bot.describe()
        assert bot.play().ask(1).think_us > 0


def test_an_exception_travels_as_an_error_and_the_process_plays_on() -> None:
    source = """
from arena.bot import serve

def choose(view):
    if view.can(view.legal[0]) and len(view.history) == 0:
        return view.no_such_thing
    return view.legal[0]

serve(choose)
"""
    with Process(source) as bot:
        bot.describe()
        stream = bot.play()
        failed = stream.ask(0)
        assert failed.action == 0
        assert "anna.py" in failed.error and "no_such_thing" in failed.error
        assert stream.ask(1).action == lowest(1)
        assert "no_such_thing" in bot.said()


def test_what_a_bot_prints_goes_to_its_log_and_nowhere_else() -> None:
    source = SIX_LINES.replace("    return", "    print('thinking ' * 1000, flush=True)\n    return")
    with Process(source) as bot:
        bot.describe()
        stream = bot.play()
        for id in range(10):
            assert stream.ask(id).action == lowest(id)
        assert bot.said().count("thinking") == 10_000


# -- many at once ------------------------------------------------------------------------------------------------------


def test_decisions_that_come_together_are_answered_in_fewer_messages() -> None:
    with Process(SIX_LINES) as bot:
        bot.describe()
        stream = bot.play()
        stream.send(*map(decision, range(128)))
        messages = stream.messages(answers=128)
        assert len(messages) < 128
        assert [(answer.id, answer.action) for message in messages for answer in message] == [
            (id, lowest(id)) for id in range(128)
        ]


WAITS = {
    "while it waits for something": "open('gate').read()",
    "while it computes": "while not os.path.exists('opened'): pass",
}


@pytest.mark.parametrize("waiting", WAITS.values(), ids=WAITS.keys())
def test_a_slow_decision_does_not_hold_back_the_answers_before_it(waiting: str) -> None:
    source = f"""
import os
from arena.bot import serve

asked = 0

def choose(view):
    global asked
    asked += 1
    if asked == 3:
        {waiting}
    return view.legal[0]

serve(choose)
"""
    with Process(source) as bot:
        os.mkfifo(bot.folder / "gate")
        bot.describe()
        stream = bot.play()
        stream.send(*map(decision, range(4)))
        early = stream.messages(answers=2)
        assert [answer.id for message in early for answer in message] == [0, 1]
        open_gate(bot.folder)
        late = stream.messages(answers=2)
        assert [answer.id for message in late for answer in message] == [2, 3]


def open_gate(folder: Path) -> None:
    """Let a bot go on that waits in one of the ways above."""
    (folder / "opened").touch()
    if (folder / "gate").exists():
        # Opening a pipe for writing without a reader fails at once instead of waiting.
        try:
            os.close(os.open(folder / "gate", os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            pass


# -- classes ---------------------------------------------------------------------------------------------------------


def test_a_class_lives_for_one_match_and_is_told_what_happens_in_order() -> None:
    source = """
from arena.bot import serve

class Anna:
    def note(self, *words):
        with open('diary', 'a') as diary:
            print(*words, file=diary)

    def match_started(self, match):
        self.count = 0
        self.note(match.id, 'started', match.my_side)

    def choose(self, view):
        self.count += 1
        self.note(view.match_id, 'asked', self.count)
        return view.legal[0]

    def deal_ended(self, result):
        self.note(result.match.id, 'deal', result.termination, result.my_points)

    def match_ended(self, result):
        self.note(result.match.id, 'over', result.my_rank)

serve(Anna)
"""
    outcome = Outcome(Termination.CLAIM, (2, 0), (66, 20), 0)

    def ended(match_id: str) -> bytes:
        return codec.deal_ended(
            match_id, 1, outcome, added=(2, 0), score=(7, 0), new_actions=b"\x27", new_seats=b"\x00"
        )

    with Process(source) as bot:
        bot.describe()
        stream = bot.play()
        for match_id, seat in (("a", 0), ("b", 1)):
            stream.send(codec.match_started(match_id, seat, (0, 1), b"seed", 0, 0), decision(seat, match_id))
            stream.receive()
        stream.send(
            ended("a"),
            codec.match_ended("a", (7, 0), (1, 2)),
            decision(2, "b"),
            ended("b"),
            codec.match_ended("b", (7, 0), (1, 2)),
        )
        stream.end()
        assert (bot.folder / "diary").read_text().splitlines() == [
            "a started 0",
            "a asked 1",
            "b started 1",
            "b asked 1",
            "a deal claim 2",
            "a over 1",
            "b asked 2",
            "b deal claim 0",
            "b over 2",
        ]


def test_all_of_a_bot_runs_on_the_main_thread() -> None:
    source = """
import threading
from arena.bot import serve

class Anna:
    def __init__(self):
        assert threading.current_thread() is threading.main_thread()

    match_started = lambda self, match: self.__init__()

    def choose(self, view):
        self.__init__()
        return view.legal[0]

serve(Anna)
"""
    with Process(source) as bot:
        bot.describe()
        assert bot.play().ask(1).error == ""


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_garbage_does_not_end_a_bot() -> None:
    with Process(SIX_LINES) as bot:
        bot.describe()
        with pytest.raises(grpc.RpcError) as refused:
            bot.describe(b"\xff")
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(bot.address.removeprefix("unix:"))
            stranger.sendall(b"\x00garbage\r\n" * 100)
        stream = bot.play()
        stream.send(b"\xff\xff")
        stream.send(b"")
        assert stream.ask(1).action == lowest(1)
        assert "not a PlayRequest" in bot.said()


def test_after_a_broken_stream_another_one_works() -> None:
    with Process(SIX_LINES) as bot:
        bot.describe()
        for id in range(100):  # the bot may see the end of the messages before it sees that the stream broke
            stream = bot.play()
            assert stream.ask(id).action == lowest(id)
            stream.cancel()
        assert bot.said() == ""


def test_two_streams_at_once_get_their_own_answers() -> None:
    with Process(SIX_LINES.replace("serve(choose)", "serve(choose, streams=2)")) as bot:
        bot.describe()
        first, second = bot.play(), bot.play()
        first.send(decision(1))
        second.send(decision(2))
        assert [answer.id for answer in second.receive()] == [2]
        assert [answer.id for answer in first.receive()] == [1]


# -- the end -----------------------------------------------------------------------------------------------------------


def test_sigterm_ends_a_bot_that_waits() -> None:
    with Process(SIX_LINES + "print('bye')") as bot:
        bot.describe()
        bot.play().ask(1)
        bot.terminate()
        assert bot.exit_code() == 0
        assert bot.said() == "bye\n"


def test_sigterm_ends_a_bot_that_is_thinking() -> None:
    source = SIX_LINES.replace("return", "open('gate').read(); return")
    with Process(source) as bot:
        os.mkfifo(bot.folder / "gate")
        bot.describe()
        stream = bot.play()
        stream.send(decision(1))
        with (bot.folder / "gate").open("w"):  # opens once the bot has opened it too
            bot.terminate()
            assert bot.exit_code() == 0
        assert bot.said() == ""


def test_the_end_of_the_stream_ends_a_bot_after_its_last_answer() -> None:
    with Process(SIX_LINES) as bot:
        bot.describe()
        stream = bot.play()
        stream.send(*map(decision, range(50)))
        answered = [answer.id for message in stream.end() for answer in message]
        assert answered == list(range(50))
        assert bot.exit_code() == 0


def test_a_bot_at_a_port_plays_on_for_others() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with Process(SIX_LINES, address) as bot:
        for id in range(2):
            bot.describe()
            stream = bot.play()
            assert stream.ask(id).action == lowest(id)
            assert stream.end() == []


def test_a_bot_that_exits_by_itself_is_gone() -> None:
    with Process(SIX_LINES.replace("return view.legal[0]", "raise SystemExit(7)")) as bot:
        bot.describe()
        stream = bot.play()
        stream.send(decision(1))
        assert bot.exit_code() == 7


# -- by hand -----------------------------------------------------------------------------------------------------------


def run_by_hand(folder: Path, source: str, address: str | None) -> tuple[int, str]:
    """Exit code and standard error of a bot that cannot serve."""
    script = folder / "anna.py"
    script.write_text(source)
    environ = {key: value for key, value in os.environ.items() if key != "ARENA_ADDRESS"}
    environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    if address is not None:
        environ["ARENA_ADDRESS"] = address
    done = subprocess.run(
        [sys.executable, str(script)], env=environ, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


def test_a_bot_run_by_hand_says_how_to_try_it(tmp_path: Path) -> None:
    code, said = run_by_hand(tmp_path, SIX_LINES, address=None)
    assert code == 2
    assert f"arena play {tmp_path / 'anna.py'} random" in said
    assert len(said.splitlines()) == 1


def test_an_address_that_cannot_be_served_at_is_said(tmp_path: Path) -> None:
    code, said = run_by_hand(tmp_path, SIX_LINES, address=f"unix:{tmp_path}/no/such/folder")
    assert code == 2
    assert f"unix:{tmp_path}/no/such/folder" in said.splitlines()[-1]
    assert "Traceback" not in said


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        code, said = run_by_hand(tmp_path, SIX_LINES, address)
    assert code == 2
    assert address in said.splitlines()[-1]


def test_what_is_no_bot_is_said_in_a_sentence(tmp_path: Path) -> None:
    code, said = run_by_hand(tmp_path, "from arena.bot import serve\nserve('me')\n", address=None)
    assert (code, len(said.splitlines())) == (2, 1)
    assert "choose(view)" in said


def test_importing_the_sdk_starts_no_grpc() -> None:
    probe = "import sys, arena.bot; sys.exit('grpc' in sys.modules)"
    subprocess.run([sys.executable, "-c", probe], check=True, timeout=PATIENCE_S)
