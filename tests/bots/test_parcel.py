"""Bots that travel: what is laid out is what was packed, whatever lies there already, and all that a digest sees."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from arena.bots.manifest import BotSpec, digest_of_files, resolve, sources
from arena.bots.parcel import addressed, pack, unpacked
from arena.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "bot"
    (folder / "parts" / "__pycache__").mkdir(parents=True)
    (folder / "bot.toml").write_text('name = "Bot"\n[run]\ncommand = ["python3", "bot.py"]\n')
    (folder / "bot.py").write_text("print()")
    (folder / "parts" / "tool.sh").write_text("#!/bin/sh\n")
    (folder / "parts" / "tool.sh").chmod(0o750)
    (folder / "parts" / "__pycache__" / "bot.pyc").write_bytes(b"\0")
    (tmp_path / "shared.py").write_text("x = 1")
    (folder / "shared.py").symlink_to(tmp_path / "shared.py")
    (folder / "nowhere").symlink_to("gone")
    return folder


def arrived(spec: BotSpec, cache: Path) -> BotSpec:
    parcel = pack(spec)

    async def arriving() -> BotSpec:
        async with unpacked(addressed(spec), parcel.key, lambda: parcel, cache) as there:
            return there

    return asyncio.run(arriving())


def test_a_folder_arrives_with_the_digest_it_had(folder: Path, tmp_path: Path) -> None:
    spec = resolve(str(folder), base=tmp_path)
    there = arrived(spec, tmp_path / "cache")
    assert digest_of_files(there.cwd, sources(there.cwd)) == spec.digest
    assert there.run == (sys.executable, "bot.py")
    assert {path.name for path in there.cwd.rglob("*")} == {
        *("bot.toml", "bot.py", "parts", "tool.sh", "shared.py", "nowhere"),
    }
    assert os.access(there.cwd / "parts" / "tool.sh", os.X_OK)
    assert not (there.cwd / "shared.py").is_symlink()
    assert os.readlink(there.cwd / "nowhere") == "gone"


def test_everybody_can_read_what_arrives(folder: Path, tmp_path: Path) -> None:
    old = os.umask(0o077)
    try:
        there = arrived(resolve(str(folder), base=tmp_path), tmp_path / "cache")
    finally:
        os.umask(old)
    assert {oct(path.stat().st_mode & 0o777) for path in there.cwd.rglob("*.py")} == {"0o644"}
    assert {oct(path.stat().st_mode & 0o777) for path in (there.cwd, there.cwd / "parts")} == {"0o755"}


@pytest.mark.parametrize("harm", ["change", "remove", "disarm"])
def test_what_was_tampered_with_is_laid_out_anew(harm: str, folder: Path, tmp_path: Path) -> None:
    spec = resolve(str(folder), base=tmp_path)
    there = arrived(spec, tmp_path / "cache")
    match harm:
        case "change":
            (there.cwd / "bot.py").write_text("cheat()")
        case "remove":
            (there.cwd / "bot.py").unlink()
        case "disarm":
            (there.cwd / "parts" / "tool.sh").chmod(0o644)
    again = arrived(spec, tmp_path / "cache")
    assert pack(again) == pack(spec)


def test_what_is_whole_stays_as_it_is(folder: Path, tmp_path: Path) -> None:
    spec = resolve(str(folder), base=tmp_path)
    there = arrived(spec, tmp_path / "cache")
    before = (there.cwd / "bot.py").stat().st_ino
    assert arrived(spec, tmp_path / "cache") == there
    assert (there.cwd / "bot.py").stat().st_ino == before


def test_other_files_are_another_parcel(folder: Path, tmp_path: Path) -> None:
    spec = resolve(str(folder), base=tmp_path)
    first = pack(spec).key
    (folder / "parts" / "tool.sh").chmod(0o640)
    second = pack(spec).key
    (folder / "bot.py").write_text("print(1)")
    assert len({first, second, pack(spec).key}) == 3


def test_of_a_file_or_a_command_travels_what_it_names(folder: Path, tmp_path: Path) -> None:
    file = resolve("./bot/bot.py", base=tmp_path)
    command = resolve("python3 bot/bot.py --depth 3 /etc/hostname", base=tmp_path)
    assert [each.path for each in pack(file).files] == ["bot.py"]
    assert [each.path for each in pack(command).files] == ["bot/bot.py"]
    assert arrived(command, tmp_path / "cache").run == (sys.executable, "bot/bot.py", "--depth", "3", "/etc/hostname")


def test_a_place_that_cannot_be_written_is_said(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    with pytest.raises(UsageError, match="choose another place by ARENA_CACHE"):
        arrived(resolve(str(folder), base=tmp_path), tmp_path / "cache")
