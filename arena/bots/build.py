"""Builds: once per digest, in a copy of a bot's sources that nobody changes afterwards, held as the bot itself is.

Each has a folder on a shelf, with `bot`, the copy in which it was built and from which it runs, and `done`, which is
written last: without it there is no build, whatever else lies there.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from arena.bots import shelf
from arena.bots.launcher import LaunchError, Limits, launch_build
from arena.bots.manifest import BotSpec, digest_of_files, shipped, sources
from arena.bots.sandbox import Sandbox, Workshop
from arena.errors import ArenaError, UsageError

BUILD_S = 600.0
PROTO = "proto"
"""The folder in which a build finds the proto files: the bot's own, else a copy of the arena's."""
LAST_LINES = 20
"""Of what a build printed that came to nothing."""


class BuildError(ArenaError):
    """A bot could not be built, by its own fault."""


class Builds:
    """The builds of one arena process, which are there until it closes them; what failed is not tried again."""

    def __init__(
        self,
        folder: Path,
        sandbox: Sandbox,
        marker: str,
        *,
        network: bool = False,
        told: Callable[[str], None] = lambda name: None,
        limit_s: float = BUILD_S,
    ) -> None:
        """`network`: the organiser allows it to builds that ask for it.  `told` hears the name of a bot whose build
        begins."""
        self._folder = folder.absolute()
        self._sandbox = sandbox
        self._marker = marker
        self._network = network
        self._told = told
        self._limit_s = limit_s
        self._failed: dict[str, BuildError] = {}
        self._held: dict[Path, int] = {}
        """Those in use, and what holds them."""
        self._trimmed = False

    def close(self) -> None:
        """Nothing runs any more that was built here."""
        while self._held:
            os.close(self._held.popitem()[1])

    async def built(self, spec: BotSpec) -> BotSpec:
        """The bot as it runs: built now, if it was not before.

        Raises `BuildError`, and `UsageError` where the arena can keep no builds.  Cancelled, it leaves no process, and
        nothing that could be taken for a build.
        """
        if not spec.build:
            return spec
        if spec.digest in self._failed:
            raise self._failed[spec.digest]
        try:
            place = self._folder / await asyncio.to_thread(_key, spec)
            if place not in self._held:
                done = place / "done"
                held = await shelf.held(place, done.exists, lambda lock: self._build(spec, place, lock))
                if self._held.setdefault(place, held) != held:
                    os.close(held)
        except BuildError as error:
            self._failed[spec.digest] = error
            raise
        except OSError as error:
            raise UsageError(
                f"bot {spec.name!r} cannot be built in {self._folder}: {error.strerror}; choose another by --data"
            ) from None
        return replace(spec, cwd=place / "bot", build=())

    async def _build(self, spec: BotSpec, place: Path, lock: int) -> None:
        if spec.build_network and not self._network:
            raise BuildError(
                "its build asks for the network ([build] network = true in its bot.toml), which is not allowed; "
                "allow it by --allow-build-network, or in a tournament file by allow_build_network = true"
            )
        if not self._trimmed:
            self._trimmed = True
            await asyncio.to_thread(shelf.trim, self._folder, shelf.KEPT_BYTES)
        self._told(spec.name)
        workshop = Workshop(place / "bot", place / "home", network=spec.build_network)
        log = place / "log"
        try:
            await asyncio.to_thread(_lay_out, spec, workshop)
            log.unlink(missing_ok=True)
            await self._run(spec, workshop, log, lock)
            await asyncio.to_thread(_freeze, workshop.folder)
        except BaseException:
            await asyncio.to_thread(shelf.remove, workshop.folder)
            raise
        finally:
            await asyncio.to_thread(shelf.remove, workshop.home)
        (place / "done").touch()

    async def _run(self, spec: BotSpec, workshop: Workshop, log: Path, lock: int) -> None:
        try:
            process = await launch_build(
                spec, workshop, log=log, marker=self._marker, limits=Limits.of_build(), sandbox=self._sandbox, lock=lock
            )
        except LaunchError as error:
            raise BuildError(f"its build did not start: {error.evidence}") from None
        try:
            async with asyncio.timeout(self._limit_s):
                status = await asyncio.shield(process.exited)
        except TimeoutError:
            how = f"did not end within {self._limit_s:.0f} s"
        else:
            if status == 0:
                return
            how = f"ended with {f'status {status}' if status > 0 else f'signal {-status}'}"
        finally:
            await process.stop(0)
        said = process.stderr_tail(LAST_LINES) or "it printed nothing"
        raise BuildError(f"its build ({' '.join(spec.build)}) {how}; the last of what it printed:\n{said}")


def _key(spec: BotSpec) -> str:
    """What the outcome of a build depends on: the bot's files, and the arena's proto files where it has none."""
    key = spec.digest
    if not (spec.cwd / PROTO).exists():
        folder = shipped("proto")
        key += digest_of_files(folder, folder.rglob("*.proto"))
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def _lay_out(spec: BotSpec, workshop: Workshop) -> None:
    """The sources, and nothing of an earlier attempt."""
    shelf.remove(workshop.folder)
    shelf.remove(workshop.home)
    workshop.folder.mkdir()
    for source in sources(spec.cwd):
        if source.is_symlink() or stat.S_ISREG(source.lstat().st_mode):
            copy = workshop.folder / source.relative_to(spec.cwd)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy, follow_symlinks=False)
    if not (workshop.folder / PROTO).exists():
        shutil.copytree(shipped("proto"), workshop.folder / PROTO, ignore=_all_but_proto_files)


def _all_but_proto_files(folder: str, names: list[str]) -> set[str]:
    return {name for name in names if not name.endswith(".proto") and not os.path.isdir(os.path.join(folder, name))}


def _freeze(folder: Path) -> None:
    """Make what was built the arena's again, for everybody to read and run, and for nobody to change.

    Folders stay the owner's to change, or it could not remove them.
    """
    owner = os.geteuid(), os.getegid()
    for path in (folder, *folder.rglob("*")):
        mode = path.lstat().st_mode
        if os.geteuid() == 0:
            os.chown(path, *owner, follow_symlinks=False)
        if stat.S_ISDIR(mode):
            path.chmod(0o755)
        elif stat.S_ISREG(mode):
            path.chmod(0o555 if mode & stat.S_IXUSR else 0o444)
