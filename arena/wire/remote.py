"""What both ends of a remote connection agree on: which places need TLS, and the token that comes with each call.

A token is an HMAC by a key that both ends hold.  It is good for one call of one method in one session, for a minute.
"""

from __future__ import annotations

SESSION = "arena-session"
"""Metadata of a call: a name for one stream that the arena keeps when it connects again."""
TOKEN = "arena-token"
"""Metadata of a call: `EXPIRES.NONCE.SEAL`, see `mint`."""
WINDOW_S = 60
"""How long a token is good, and by how much the two ends' clocks may differ."""
KEY_BYTES = 32


def is_local(address: str) -> bool:
    """Whether an address (`unix:/path`, `host:port`) never leaves the machine, so that plain text may be spoken."""
    if address.startswith("unix:"):
        return True
    import ipaddress  # here and below: a bot at a unix socket, which needs none of this, starts sooner

    host = address.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def parse_key(text: str) -> bytes | None:
    """The key in a token file: 64 hex digits; None for anything else."""
    try:
        key = bytes.fromhex(text.strip())
    except ValueError:
        return None
    return key if len(key) == KEY_BYTES else None


def mint(key: bytes, method: str, session: str, now: float, nonce: str) -> str:
    """The token for one call: `now` is in seconds since 1970, `nonce` a text without dots that is never used again."""
    expires = str(int(now) + WINDOW_S)
    return f"{expires}.{nonce}.{_seal(key, method, session, expires, nonce)}"


class Tokens:
    """Judges the tokens that come by one key, each of which is good once."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._used: dict[str, int] = {}
        """When each nonce expires."""

    def refusal(self, token: str, method: str, session: str, now: float) -> str:
        """Why this token does not open the door, as a sentence; empty if it does."""
        if not token:
            return "the call has no token; give the arena the token file that belongs to this bot"
        import hmac

        expires, _, rest = token.partition(".")
        nonce, _, seal = rest.partition(".")
        right = _seal(self._key, method, session, expires, nonce)
        if not hmac.compare_digest(seal.encode(), right.encode()):
            return "the token is wrong; the arena's token file is not that of this bot"
        age = now - int(expires)
        if age > 0:
            return f"the token expired {age:.0f} s ago; set the clocks of both machines"
        if age < -2 * WINDOW_S:
            return f"the token is of a time {-age - WINDOW_S:.0f} s ahead; set the clocks of both machines"
        self._used = {used: end for used, end in self._used.items() if end >= now}
        if nonce in self._used:
            return "the token was used before; each call needs its own"
        self._used[nonce] = int(expires)
        return ""


def _seal(key: bytes, *words: str) -> str:
    import hmac

    return hmac.digest(key, "\0".join(("arena/token/v1", *words)).encode(), "sha256").hex()
