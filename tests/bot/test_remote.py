"""A bot that serves an arena elsewhere: whom it lets in, and what it says to all others; nothing of it ends the bot."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from arena.app.certs import MadeKeys
from arena.game.presets import PRESETS
from arena.game.rules import Rules
from arena.wire import codec, remote, stubs
from tests.bot.process import Stream, lowest
from tests.bots.remotes import PATIENCE_S, Remote, keys_for, until

FIRST = "from arena.bot import serve\nserve(lambda view: view.legal[0])\n"
REQUEST = codec.describe_request(Rules(), "sixty-six")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> MadeKeys:
    return keys_for(tmp_path_factory.mktemp("keys") / "far", "127.0.0.1:6600")


@pytest.fixture
def bot(tmp_path: Path, keys: MadeKeys) -> Iterator[Remote]:
    with Remote(tmp_path / "bot", FIRST, keys=keys.bot) as running:
        yield running


class Caller:
    """An arena of the test's own: what it shows is up to the test."""

    def __init__(self, bot: Remote, keys: MadeKeys, client: Path | None = None, session: str = "s") -> None:
        certificate = None if client is None else (client / "arena.crt").read_bytes()
        key = None if client is None else (client / "arena.key").read_bytes()
        credentials = grpc.ssl_channel_credentials((keys.bot / "bot.crt").read_bytes(), key, certificate)
        options = (("grpc.ssl_target_name_override", "bot.arena"), ("grpc.use_local_subchannel_pool", 1))
        self.channel = grpc.secure_channel(bot.address, credentials, options)
        self.key = bytes.fromhex((keys.bot / "token").read_text())
        self.session = session
        until(bot.serves)

    def token(self, method: str, nonce: str, ago: float = 0.0) -> str:
        return remote.mint(self.key, method, self.session, time.time() - ago, nonce)

    def describe(self, token: str | None, request: bytes = REQUEST) -> codec.BotDescription:
        call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = self.channel.unary_unary(stubs.DESCRIBE)
        return codec.describe_response(call(request, timeout=PATIENCE_S, metadata=self.metadata(token)))

    def play(self, token: str | None) -> Stream:
        return Stream(self.channel, self.metadata(token))

    def metadata(self, token: str | None) -> tuple[tuple[str, str], ...]:
        shown = ((remote.SESSION, self.session),)
        return shown if token is None else (*shown, (remote.TOKEN, token))


def refused(call: pytest.ExceptionInfo[grpc.RpcError]) -> tuple[grpc.StatusCode, str]:
    return call.value.code(), call.value.details()


def test_the_arena_with_the_other_folder_is_let_in(bot: Remote, keys: MadeKeys) -> None:
    arena = Caller(bot, keys, keys.arena)
    assert arena.describe(arena.token(stubs.DESCRIBE, "1")).plays
    stream = arena.play(arena.token(stubs.PLAY, "2"))
    for id in range(5):
        assert stream.ask(id).action == lowest(id)
    assert bot.said() == ""


def test_nobody_is_let_in_without_the_arenas_certificate(bot: Remote, keys: MadeKeys, tmp_path: Path) -> None:
    foreign = keys_for(tmp_path / "foreign", "127.0.0.1:6600")
    for client in (None, foreign.arena):
        caller = Caller(bot, keys, client)
        with pytest.raises(grpc.RpcError) as call:
            caller.describe(caller.token(stubs.DESCRIBE, "1"))
        assert refused(call)[0] is grpc.StatusCode.UNAVAILABLE
    until(lambda: "CERTIFICATE_VERIFY_FAILED" in bot.said())
    assert "PEER_DID_NOT_RETURN_A_CERTIFICATE" in bot.said()
    arena = Caller(bot, keys, keys.arena)
    assert arena.describe(arena.token(stubs.DESCRIBE, "1")).plays


def test_a_call_needs_a_token_of_its_own(bot: Remote, keys: MadeKeys) -> None:
    arena = Caller(bot, keys, keys.arena)
    assert arena.describe(arena.token(stubs.DESCRIBE, "good")).plays
    others = {
        "the call has no token": None,
        "the token is wrong": arena.token(stubs.PLAY, "1"),
        "the token was used before": arena.token(stubs.DESCRIBE, "good"),
        "the token expired": arena.token(stubs.DESCRIBE, "2", ago=300),
        "the token is of a time": arena.token(stubs.DESCRIBE, "3", ago=-300),
    }
    for said, token in others.items():
        with pytest.raises(grpc.RpcError) as call:
            arena.describe(token)
        code, sentence = refused(call)
        assert code is grpc.StatusCode.UNAUTHENTICATED and sentence.startswith(said)
        assert "refused ipv4:127.0.0.1:" in bot.said() and sentence in bot.said()
    assert len(bot.said().splitlines()) == len(others)
    with pytest.raises(grpc.RpcError) as call:
        arena.play(arena.token(stubs.DESCRIBE, "4")).ask(1)
    assert refused(call)[1].startswith("the token is wrong")


def test_a_second_arena_is_refused_while_one_plays_and_let_in_afterwards(bot: Remote, keys: MadeKeys) -> None:
    first, second = (Caller(bot, keys, keys.arena, session) for session in ("one", "two"))
    first.describe(first.token(stubs.DESCRIBE, "1"))
    stream = first.play(first.token(stubs.PLAY, "2"))
    assert stream.ask(1).action == lowest(1)
    with pytest.raises(grpc.RpcError) as call:
        second.describe(second.token(stubs.DESCRIBE, "3"))
    code, sentence = refused(call)
    assert code is grpc.StatusCode.FAILED_PRECONDITION
    assert sentence.startswith("this bot plays for another arena or in another block already, and takes 1 at once")
    with pytest.raises(grpc.RpcError) as call:
        second.play(second.token(stubs.PLAY, "4")).ask(1)
    assert refused(call) == (code, sentence)
    assert bot.said().count(sentence) == 2
    assert stream.ask(2).action == lowest(2)
    stream.end()
    assert second.describe(second.token(stubs.DESCRIBE, "5")).plays
    assert second.play(second.token(stubs.PLAY, "6")).ask(3).action == lowest(3)


def test_an_arena_that_connects_again_takes_the_place_of_its_own_stream(bot: Remote, keys: MadeKeys) -> None:
    first, again = (Caller(bot, keys, keys.arena) for _ in range(2))
    first.describe(first.token(stubs.DESCRIBE, "1"))
    old = first.play(first.token(stubs.PLAY, "2"))
    assert old.ask(1).action == lowest(1)
    new = again.play(again.token(stubs.PLAY, "3"))
    assert new.ask(2).action == lowest(2)
    with pytest.raises(grpc.RpcError):
        old.ask(3)
    assert new.ask(4).action == lowest(4)
    assert bot.said() == ""


def test_a_bot_that_says_more_plays_more_streams_at_once(tmp_path: Path, keys: MadeKeys) -> None:
    with Remote(tmp_path / "bot", FIRST.replace("[0]", "[0], streams=2"), keys=keys.bot) as bot:
        callers = [Caller(bot, keys, keys.arena, session) for session in "abc"]
        assert callers[0].describe(callers[0].token(stubs.DESCRIBE, "0")).streams == 2
        streams = [caller.play(caller.token(stubs.PLAY, caller.session)) for caller in callers[:2]]
        for id, stream in enumerate(streams):
            assert stream.ask(id).action == lowest(id)
        with pytest.raises(grpc.RpcError) as call:
            callers[2].describe(callers[2].token(stubs.DESCRIBE, "1"))
        assert "takes 2 at once" in refused(call)[1]
        streams[1].end()
        schnapsen = codec.describe_request(PRESETS["schnapsen"], "schnapsen")
        described = callers[2].describe(callers[2].token(stubs.DESCRIBE, "2"), schnapsen)
        assert (described.plays, described.refusal) == (False, "this bot is playing other rules just now (sixty-six)")


# -- the command line --------------------------------------------------------------------------------------------------


def by_hand(folder: Path, *words: str, **environment: str) -> tuple[int, str]:
    """Exit code and standard error of a bot that cannot serve."""
    (folder / "anna.py").write_text(FIRST)
    environ = {name: value for name, value in os.environ.items() if name != "ARENA_ADDRESS"} | environment
    environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    command = [sys.executable, "anna.py", *words]
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    return done.returncode, done.stderr


def test_plain_text_is_for_this_machine_only(tmp_path: Path) -> None:
    for code, said in (by_hand(tmp_path, "--listen", "0.0.0.0:0"), by_hand(tmp_path, ARENA_ADDRESS="[::]:0")):
        assert code == 2
        assert "is open to other machines, where nothing is said in plain text; serve with the keys" in said
        assert len(said.splitlines()) == 1


def test_plain_text_can_be_forced(tmp_path: Path, keys: MadeKeys) -> None:
    code, said = by_hand(tmp_path, "--listen", "nowhere.invalid:6600", "--plaintext")
    assert code == 2 and "this bot cannot serve at 'nowhere.invalid:6600'" in said


@pytest.mark.parametrize("missing", ["bot.crt", "bot.key", "arena.crt", "token"])
def test_a_missing_file_is_named(missing: str, tmp_path: Path) -> None:
    made = keys_for(tmp_path / "far", "127.0.0.1:6600")
    (made.bot / missing).unlink()
    code, said = by_hand(tmp_path, "--listen", "127.0.0.1:0", "--keys", str(made.bot))
    assert code == 2
    assert said == (
        f"the key file {made.bot / missing} cannot be read: No such file or directory; "
        "expected the folder for the bot that `arena certs` made\n"
    )


@pytest.mark.parametrize(
    ("spoiled", "words"), [("token", "is no token file"), ("bot.key", "the files of --keys must be those that")]
)
def test_a_file_that_is_none_is_said(spoiled: str, words: str, tmp_path: Path) -> None:
    made = keys_for(tmp_path / "far", "127.0.0.1:6600")
    (made.bot / spoiled).write_text("rubbish")
    code, said = by_hand(tmp_path, "--listen", "127.0.0.1:0", "--keys", str(made.bot))
    assert code == 2 and words in said.splitlines()[-1] and "Traceback" not in said


def test_words_of_the_bots_own_are_left_to_it(tmp_path: Path, keys: MadeKeys) -> None:
    source = "import sys\nfrom arena.bot import serve\nassert '--depth' in sys.argv\n" + FIRST
    with Remote(tmp_path / "bot", source, keys=keys.bot, words=("--depth", "3")) as bot:
        arena = Caller(bot, keys, keys.arena)
        assert arena.describe(arena.token(stubs.DESCRIBE, "1")).name == "bot"
