"""Keys for a remote bot: one folder for its side and one, a bot to be named in a tournament, for the arena's."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from arena.bots import certificates
from arena.bots.manifest import MANIFEST, checked_address, checked_name, resolve
from arena.errors import UsageError

MAX_DAYS = 3650


@dataclass(frozen=True, slots=True)
class MadeKeys:
    """What was written."""

    bot: Path
    """The folder that goes to the bot's machine."""
    arena: Path
    """The folder that stays here: it names the bot."""
    fingerprint: str
    """SHA-256 of the bot's certificate, in hex."""


def make_keys(folder: Path, name: str, address: str, days: int) -> MadeKeys:
    """Write both sides' certificates, keys and token for a bot of that name at that address.

    Raises `UsageError` for a bad name, address or number of days, and if any of the files is there already.
    """
    name = checked_name(name, "--name")
    address = checked_address(address, "--address")
    if not 1 <= days <= MAX_DAYS:
        raise UsageError(f"--days is {days}; expected 1 to {MAX_DAYS}")
    for_bot, for_arena = certificates.make(name, days)
    manifest = _MANIFEST.format(name=json.dumps(name, ensure_ascii=False), address=json.dumps(address))
    made = {folder / "bot": for_bot, folder / "arena": {MANIFEST: manifest.encode(), **for_arena}}
    there = [str(side / file) for side, files in made.items() for file in files if os.path.lexists(side / file)]
    if there:
        raise UsageError(
            f"{there[0]} is there already; choose another folder, or remove it if nobody uses its keys any more"
        )
    for side, files in made.items():
        _write(side, files)
    spec = resolve(f"{folder / 'arena'}{os.sep}", base=Path.cwd())
    return MadeKeys(folder / "bot", folder / "arena", spec.digest)


_MANIFEST = f"""\
name = {{name}}

[remote]
address = {{address}}    # where the bot listens
certificate = "{certificates.BOT_CERTIFICATE}"    # the only one that is believed
client_certificate = "{certificates.ARENA_CERTIFICATE}"
client_key = "{certificates.ARENA_KEY}"
token_file = "{certificates.TOKEN}"
"""


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Files that only their owner can read; none is overwritten."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, content in files.items():
            fd = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(content)
    except OSError as error:
        raise UsageError(
            f"{error.filename or folder} cannot be written: {error.strerror}; choose another folder"
        ) from None
