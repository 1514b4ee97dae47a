"""A token opens one door once, for a minute; and plain text stays on the machine."""

from __future__ import annotations

import pytest

from arena.wire import stubs
from arena.wire.remote import WINDOW_S, Tokens, is_local, mint, parse_key

KEY, OTHER = bytes(range(32)), bytes(32)
NOW = 1_800_000_000.5


def judged(token: str, *, method: str = stubs.PLAY, session: str = "s", now: float = NOW) -> str:
    return Tokens(KEY).refusal(token, method, session, now)


@pytest.mark.parametrize("skew", [0, WINDOW_S - 1, 1 - WINDOW_S])
def test_a_token_is_good_for_the_call_it_was_made_for_even_if_clocks_differ_by_a_minute(skew: float) -> None:
    assert judged(mint(KEY, stubs.PLAY, "s", NOW + skew, "n")) == ""


@pytest.mark.parametrize(
    "token",
    [
        mint(OTHER, stubs.PLAY, "s", NOW, "n"),
        mint(KEY, stubs.DESCRIBE, "s", NOW, "n"),
        mint(KEY, stubs.PLAY, "another", NOW, "n"),
        mint(KEY, stubs.PLAY, "s", NOW, "n")[:-1],
        mint(KEY, stubs.PLAY, "s", NOW, "n").replace("n", "m", 1),
        mint(KEY, stubs.PLAY, "s", NOW, "n").replace("1800000060", "1900000060"),
        "token",
        "..",
        "½.²." + "ü" * 64,
    ],
    ids=["key", "method", "session", "cut", "nonce", "time", "word", "dots", "unicode"],
)
def test_a_token_for_anything_else_is_wrong(token: str) -> None:
    assert judged(token).startswith("the token is wrong")


def test_a_call_without_a_token_is_refused() -> None:
    assert judged("").startswith("the call has no token")


def test_a_token_expires() -> None:
    token = mint(KEY, stubs.PLAY, "s", NOW - 2 * WINDOW_S - 5, "n")
    assert judged(token).startswith("the token expired 66 s ago")


def test_a_token_from_the_future_is_refused() -> None:
    token = mint(KEY, stubs.PLAY, "s", NOW + WINDOW_S + 10, "n")
    assert judged(token).startswith("the token is of a time 70 s ahead")


def test_a_token_is_good_once() -> None:
    tokens = Tokens(KEY)
    first, second = (mint(KEY, stubs.PLAY, "s", NOW, nonce) for nonce in ("n", "m"))
    assert tokens.refusal(first, stubs.PLAY, "s", NOW) == ""
    assert tokens.refusal(second, stubs.PLAY, "s", NOW) == ""
    for token in (first, second):
        assert tokens.refusal(token, stubs.PLAY, "s", NOW).startswith("the token was used before")


def test_used_tokens_are_forgotten_once_they_have_expired() -> None:
    tokens = Tokens(KEY)
    for second in range(1000):
        assert (
            tokens.refusal(mint(KEY, stubs.PLAY, "s", NOW + second, f"n{second}"), stubs.PLAY, "s", NOW + second) == ""
        )
    assert len(tokens._used) <= WINDOW_S + 2


@pytest.mark.parametrize("address", ["unix:/run/bot", "localhost:1", "127.0.0.1:1", "127.9.9.9:1", "[::1]:1"])
def test_these_never_leave_the_machine(address: str) -> None:
    assert is_local(address)


@pytest.mark.parametrize("address", ["0.0.0.0:1", "[::]:1", "10.0.0.7:1", "example.org:1", "localhost.example.org:1"])
def test_these_may_leave_the_machine(address: str) -> None:
    assert not is_local(address)


@pytest.mark.parametrize(
    ("text", "key"), [(f" {KEY.hex()}\n", KEY), (KEY.hex()[:-2], None), ("zz" * 32, None), ("", None)]
)
def test_a_key_is_64_hex_digits(text: str, key: bytes | None) -> None:
    assert parse_key(text) == key
