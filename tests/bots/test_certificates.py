"""Keys of a remote bot as files: made for both sides, never overwritten, and read back or refused in a sentence."""

from __future__ import annotations

import datetime
import hashlib
import os
import ssl
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.app.certs import MadeKeys, make_keys
from arena.bots import certificates
from arena.bots.manifest import BotKind, resolve
from arena.errors import UsageError
from tests.bots.remotes import keys_for

ADDRESS = "bots.example.org:6600"
SHARED = {"bot.crt", "arena.crt", "token"}


@pytest.fixture
def made(tmp_path: Path) -> MadeKeys:
    return keys_for(tmp_path / "far", ADDRESS)


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(UsageError) as refused:
        call()
    return str(refused.value)


def read(made: MadeKeys) -> certificates.Keys:
    keys = resolve(str(made.arena), base=Path.cwd()).keys
    assert keys is not None
    return keys


def test_each_side_gets_its_own_private_key_and_what_both_know(made: MadeKeys) -> None:
    assert {path.name for path in made.bot.iterdir()} == {*SHARED, "bot.key"}
    assert {path.name for path in made.arena.iterdir()} == {*SHARED, "arena.key", "bot.toml"}
    for name in SHARED:
        assert (made.bot / name).read_bytes() == (made.arena / name).read_bytes()


def test_only_the_owner_can_read_them(made: MadeKeys) -> None:
    for folder in (made.bot, made.arena):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_remote_bot_is_its_certificate(made: MadeKeys) -> None:
    spec = resolve(str(made.arena), base=Path.cwd())
    der = ssl.PEM_cert_to_DER_cert((made.bot / "bot.crt").read_text())
    assert spec.digest == made.fingerprint == hashlib.sha256(der).hexdigest()
    assert (spec.kind, spec.name, spec.address, spec.run) == (BotKind.ADDRESS, "Far", ADDRESS, ())
    assert resolve(str(made.arena), name="Other", base=Path.cwd()).name == "Other"


def test_secrets_are_not_shown(made: MadeKeys) -> None:
    shown = repr(resolve(str(made.arena), base=Path.cwd()))
    assert "PRIVATE" not in shown and (made.arena / "token").read_text().strip() not in shown
    assert repr(read(made).token_key) not in shown


@pytest.mark.parametrize("name", ["bot/bot.key", "arena/token", "arena/bot.toml"])
def test_nothing_is_overwritten(name: str, tmp_path: Path) -> None:
    there = tmp_path / "far" / name
    there.parent.mkdir(parents=True)
    there.write_text("mine")
    assert refusal(lambda: keys_for(tmp_path / "far", ADDRESS)).startswith(f"{there} is there already; choose another")
    assert [path for path in (tmp_path / "far").rglob("*") if path.is_file()] == [there]
    assert there.read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "address", "days", "words"),
    [
        ("", ADDRESS, 1, "--name is empty"),
        ("x" * 65, ADDRESS, 1, "--name has 65 characters"),
        ("a\nb", ADDRESS, 1, "--name holds the unprintable character"),
        ("Far", "example.org", 1, "--address is 'example.org'; expected HOST:PORT"),
        ("Far", "example.org:70000", 1, "--address 'example.org:70000' has port 70000"),
        ("Far", "unix:/run/bot", 1, "--address is 'unix:/run/bot'; expected HOST:PORT"),
        ("Far", ADDRESS, 0, "--days is 0; expected 1 to 3650"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_written(
    name: str, address: str, days: int, words: str, tmp_path: Path
) -> None:
    assert words in refusal(lambda: make_keys(tmp_path / "far", name, address, days))
    assert not (tmp_path / "far").exists()


@pytest.mark.parametrize("name", ['Zoë "the bot"', "C:\\new", "x" * 64, "# no comment"])
def test_any_name_of_a_bot_will_do(name: str, tmp_path: Path) -> None:
    assert resolve(str(keys_for(tmp_path / "far", ADDRESS, name).arena), base=tmp_path).name == name


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "cannot be written: " in refusal(lambda: keys_for(tmp_path / "file", ADDRESS))


def test_every_file_is_needed(made: MadeKeys) -> None:
    for name in ("bot.crt", "arena.crt", "arena.key", "token"):
        path = made.arena / name
        content = path.read_bytes()
        path.unlink()
        assert refusal(lambda: read(made)) == (
            f"{made.arena / name} cannot be read: No such file or directory; it comes from `arena certs`"
        )
        path.write_bytes(content)
    assert read(made).host == certificates.HOST


def test_a_file_that_is_none_is_named(made: MadeKeys) -> None:
    for name, words in (
        ("bot.crt", "is no certificate in PEM"),
        ("arena.crt", "is no certificate in PEM"),
        ("arena.key", "is not the private key of"),
        ("token", "is no token file; expected 64 hex digits"),
    ):
        path = made.arena / name
        content = path.read_bytes()
        for rubbish in (b"", b"rubbish", b"\xff\xfe"):
            path.write_bytes(rubbish)
            text = refusal(lambda: read(made))
            assert words in text and str(path) in text
        path.write_bytes(content)


def test_a_key_of_another_pair_is_refused(made: MadeKeys, tmp_path: Path) -> None:
    other = keys_for(tmp_path / "other", ADDRESS)
    (made.arena / "arena.key").write_bytes((other.arena / "arena.key").read_bytes())
    assert "is not the private key of" in refusal(lambda: read(made))


def test_a_certificate_that_does_not_hold_now_is_refused(made: MadeKeys, monkeypatch: pytest.MonkeyPatch) -> None:
    class Later(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Later:
            return cls.fromtimestamp(moment, tz)

    today = datetime.datetime.now(datetime.UTC).timestamp()
    monkeypatch.setattr(datetime, "datetime", Later)
    moment = today + 3 * 86400
    assert f"the certificate {made.arena / 'bot.crt'} expired on" in refusal(lambda: read(made))
    moment = today - 86400
    assert "set the clock of this machine" in refusal(lambda: read(made))


def test_without_the_package_for_certificates_it_is_named(made: MadeKeys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    for call in (lambda: read(made), lambda: certificates.make("Far", 1)):
        assert refusal(call).startswith("remote bots with certificates need the package cryptography; install it with")


# -- bot.toml ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("", "the key 'remote.address' is missing"),
        ("address = 7", "remote.address is 7; expected a valid string"),
        ('address = "unix:/run/bot"', "remote.address is 'unix:/run/bot'; expected HOST:PORT"),
        ('address = "h:0"', "remote.address 'h:0' has port 0; expected 1 to 65535"),
        ('address = "h:1"', "h:1 is on another machine and [remote] names no certificate"),
        ('address = "h:1"\ncertificate = "x"', "[remote] lacks client_certificate, client_key, token_file"),
        ('address = "h:1"\ncertificat = "x"', "unknown key 'remote.certificat'; did you mean 'certificate'?"),
        ('address = "h:1"\n[run]\ncommand = ["cat"]', "both [run] and [remote] are there"),
    ],
)
def test_a_remote_that_makes_no_sense_is_refused(toml: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text(f'name = "x"\n[remote]\n{toml}\n')
    text = refusal(lambda: resolve(f"{tmp_path}{os.sep}", base=tmp_path))
    assert words in text and str(tmp_path / "bot.toml") in text


def test_plain_text_to_another_machine_is_refused_unless_forced(tmp_path: Path) -> None:
    text = refusal(lambda: resolve("10.0.0.7:6600", base=tmp_path))
    assert "'10.0.0.7:6600' is on another machine, where nothing is said in plain text; make keys for it" in text
    (tmp_path / "bot.toml").write_text('name = "x"\n[remote]\naddress = "10.0.0.7:6600"\nplaintext = true\n')
    spec = resolve(f"{tmp_path}{os.sep}", base=tmp_path)
    assert (spec.address, spec.keys) == ("10.0.0.7:6600", None)
