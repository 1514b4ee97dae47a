"""Where a bot serves, and by what it and an arena elsewhere know each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from arena.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Keys:
    """The bot's side of what `arena certs` makes."""

    certificate: bytes
    """The bot's own, PEM."""
    key: bytes = field(repr=False)
    arena_certificate: bytes
    """The only one that is let in, PEM."""
    token_key: bytes = field(repr=False)

    @classmethod
    def of(cls, folder: Path) -> Keys:
        """Those in a folder.  Raises `UsageError` naming the file that is missing or is none."""
        files = []
        for name in ("bot.crt", "bot.key", "arena.crt", "token"):
            try:
                files.append((folder / name).read_bytes())
            except OSError as error:
                raise UsageError(
                    f"the key file {folder / name} cannot be read: {error.strerror}; expected the folder for the bot "
                    "that `arena certs` made"
                ) from None
        certificate, key, arena_certificate, token = files
        from arena.wire.remote import parse_key  # bots at a unix socket start sooner without

        token_key = parse_key(token.decode("ascii", "replace"))
        if token_key is None:
            raise UsageError(f"{folder / 'token'} is no token file; expected the one that `arena certs` made")
        return cls(certificate, key, arena_certificate, token_key)


class Place(NamedTuple):
    """Where to serve."""

    address: str
    """`unix:/path` or `host:port`."""
    keys: Keys | None = None
    """None: in plain text, for whoever comes."""
