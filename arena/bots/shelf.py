"""Shelves: folders that keep things for all who need the same ones, each thing in a folder of its own.

Whoever makes a thing locks its folder alone, whoever uses it together with all others who do: what goes, since there is
too much on a shelf, is in nobody's use.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

KEPT_BYTES = 10_000_000_000
"""How much is kept on a shelf, as far as nobody uses it."""
_LOOK_S = 0.1


async def held(place: Path, there: Callable[[], bool], make: Callable[[int], Awaitable[None]]) -> int:
    """Have the thing of that folder, made if it is not `there`; it stays until the descriptor is closed.

    `make` is given the descriptor of the lock.  Raises `OSError`, and what `make` raises.
    """
    while True:
        for how in (fcntl.LOCK_SH, fcntl.LOCK_EX):
            lock = _lock(place, how)
            if lock is None:
                continue
            try:
                if await _had(place, lock, there, make if how == fcntl.LOCK_EX else None):
                    return lock
            except BaseException:
                os.close(lock)
                raise
            os.close(lock)
        await asyncio.sleep(_LOOK_S)


async def _had(
    place: Path, lock: int, there: Callable[[], bool], make: Callable[[int], Awaitable[None]] | None
) -> bool:
    """Whether the locked folder has the thing, which may be made if nobody else is there."""
    if not await asyncio.to_thread(there):
        if make is None:
            return False
        await make(lock)
    with contextlib.suppress(PermissionError):  # it is another user's
        os.utime(place)
    await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_SH)  # for a moment it is not locked at all
    return _is(place, lock)


def trim(shelf: Path, most: int) -> None:
    """Remove what was not used for longest, until there are so many bytes at most; what is in use stays."""
    things = sorted((place for place in shelf.glob("*") if place.is_dir()), key=lambda place: place.stat().st_mtime)
    sizes = [_size(place) for place in things]
    total = sum(sizes)
    for place, size in zip(things, sizes, strict=True):
        if total <= most:
            return
        lock = _lock(place, fcntl.LOCK_EX)
        if lock is not None:
            for file in place.iterdir():
                if not file.is_dir():  # first of all what says that a thing is complete
                    file.unlink()
            remove(place)
            os.close(lock)
            total -= size


def remove(tree: Path) -> None:
    """Remove a tree, though tools make folders in it that cannot be written to."""
    for folder, below, _ in os.walk(tree):
        for name in below:
            if not os.path.islink(path := os.path.join(folder, name)):
                os.chmod(path, 0o700)
    shutil.rmtree(tree, ignore_errors=True)


def _lock(place: Path, how: int) -> int | None:
    """A descriptor by which the folder is locked; None while others do not let it be, or have just removed it."""
    place.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        if _is(place, descriptor):
            return descriptor
    os.close(descriptor)
    return None


def _is(place: Path, descriptor: int) -> bool:
    """Whether that is still the folder there."""
    try:
        return os.path.samestat(place.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _size(place: Path) -> int:
    total = 0
    for folder, _, names in os.walk(place):
        for name in names:
            with contextlib.suppress(FileNotFoundError):  # somebody is at work there
                total += os.lstat(os.path.join(folder, name)).st_size
    return total
