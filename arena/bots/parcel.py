"""Bots for other machines: the files of a bot packed, and laid out there once for all who need the same ones.

Nothing that is laid out is believed: every process sees for itself that the files are those of the parcel.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from arena.bots import shelf
from arena.bots.manifest import BotKind, BotSpec, interpreted, sources
from arena.errors import UsageError

_PYTHON = "python3"
"""How the Python that runs the arena is called on the way: on every machine it lies elsewhere."""


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file as the digest of a bot sees it: by its content, or by where it leads if it leads to no file."""

    path: str
    """Relative, in POSIX form."""
    content: bytes
    mode: int
    """0o755 for what can be executed, 0o644 for all else; 0 for a link."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """What travels of a bot that the arena starts, beside its spec."""

    files: tuple[PackedFile, ...]
    """In the order of their paths."""

    @property
    def key(self) -> str:
        """SHA-256 in hex: the same files make the same parcel."""
        return hashlib.sha256(repr(self.files).encode()).hexdigest()


def pack(spec: BotSpec) -> Parcel:
    """The files of a bot that the arena starts: its sources, or of a file or command the files that it names.

    Raises `UsageError` for what cannot be read.
    """
    match spec.kind:
        case BotKind.FOLDER | BotKind.BUILTIN:
            paths: Iterable[Path] = sources(spec.cwd)
        case BotKind.FILE | BotKind.COMMAND:
            named = (spec.cwd / word for word in spec.run if not os.path.isabs(word) and ".." not in Path(word).parts)
            paths = {path for path in named if path.is_file()}
        case BotKind.ADDRESS:
            raise ValueError(f"bot {spec.name!r} runs elsewhere: there is nothing to pack")
    files = (_packed(path, path.relative_to(spec.cwd).as_posix()) for path in paths)
    return Parcel(tuple(sorted((file for file in files if file is not None), key=lambda file: file.path)))


def addressed(spec: BotSpec) -> BotSpec:
    """The spec as it travels beside its parcel."""
    return replace(spec, run=_to_go(spec.run), build=_to_go(spec.build))


@asynccontextmanager
async def unpacked(spec: BotSpec, key: str, fetch: Callable[[], Parcel], parcels: Path) -> AsyncIterator[BotSpec]:
    """The bot of a spec that has travelled, as it runs on this machine, with its files on that shelf.

    `fetch` gets the parcel of that key.  Raises `UsageError` where the shelf cannot be written to.
    """
    place = parcels / key
    folder = place / "bot"
    parcel = fetch()

    def whole() -> bool:
        return all(_packed(folder / file.path, file.path) == file for file in parcel.files)

    async def lay_out(lock: int) -> None:
        shelf.remove(folder)
        _lay_out(parcel, folder)

    try:
        held = await shelf.held(place, whole, lay_out)
    except OSError as error:
        raise UsageError(
            f"bot {spec.name!r} cannot be laid out in {place}: {error.strerror}; choose another place by ARENA_CACHE"
        ) from None
    try:
        yield replace(spec, cwd=folder, run=interpreted(spec.run), build=interpreted(spec.build))
    finally:
        os.close(held)


def _to_go(words: tuple[str, ...]) -> tuple[str, ...]:
    return (_PYTHON, *words[1:]) if words and words == interpreted((_PYTHON, *words[1:])) else words


def _packed(path: Path, name: str) -> PackedFile | None:
    """None for what is no file, such as a socket, and for what is not there."""
    try:
        if path.is_symlink() and not path.is_file():
            return PackedFile(name, os.fsencode(os.readlink(path)), 0)
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            return None
        return PackedFile(name, path.read_bytes(), 0o755 if mode & stat.S_IXUSR else 0o644)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"the bot's source {path} cannot be read: {error.strerror}") from None


def _lay_out(parcel: Parcel, folder: Path) -> None:
    """For everybody to read and run, whatever the umask says."""
    folder.mkdir()
    folder.chmod(0o755)
    for file in parcel.files:
        path = folder / file.path
        for parent in _new_folders(path.parent):
            parent.mkdir()
            parent.chmod(0o755)
        if file.mode:
            path.write_bytes(file.content)
            path.chmod(file.mode)
        else:
            path.symlink_to(os.fsdecode(file.content))


def _new_folders(folder: Path) -> Iterable[Path]:
    """Those that are missing on the way to it, the outer ones first."""
    return [each for each in (*reversed(folder.parents), folder) if not each.exists()]
