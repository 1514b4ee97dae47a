"""What lies on a shelf is made once, stays while anybody uses it, and goes when there is too much."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from arena.bots.shelf import held, trim

USER = """
import asyncio, sys
from pathlib import Path
from arena.bots.shelf import held

async def make(lock):
    raise RuntimeError("it is there")

asyncio.run(held(Path(sys.argv[1]), lambda: True, make))
print("mine", flush=True)
sys.stdin.read()
"""


def thing(place: Path, used: int) -> Path:
    """A thing of 100 bytes that was used at that time."""
    place.mkdir(parents=True)
    (place / "content").write_bytes(bytes(100))
    os.utime(place, (used, used))
    return place


def names(shelf: Path) -> list[str]:
    return sorted(place.name for place in shelf.iterdir())


def test_what_was_not_used_for_longest_goes_until_no_more_is_left_than_may_be(tmp_path: Path) -> None:
    for name, used in (("b", 2), ("d", 4), ("a", 1), ("c", 3)):
        thing(tmp_path / name, used)
    trim(tmp_path, 400)
    assert names(tmp_path) == ["a", "b", "c", "d"]
    trim(tmp_path, 250)
    assert names(tmp_path) == ["c", "d"]
    trim(tmp_path / "nowhere", 0)


def test_what_a_process_uses_stays_as_long_as_it_does(tmp_path: Path) -> None:
    thing(tmp_path / "other", 3)
    place = thing(tmp_path / "used", 1)
    with subprocess.Popen(
        [sys.executable, "-c", USER, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as user:
        assert user.stdout is not None
        assert user.stdout.readline() == "mine\n"
        assert place.stat().st_mtime > 3  # it counts as used now
        os.utime(place, (1, 1))
        trim(tmp_path, 0)
        assert names(tmp_path) == ["used"]
        user.kill()
    trim(tmp_path, 0)
    assert names(tmp_path) == []


def test_many_who_want_a_thing_make_it_once_and_what_went_is_made_again(tmp_path: Path) -> None:
    place = tmp_path / "shelf" / "thing"
    made: list[int] = []

    async def make(lock: int) -> None:
        await asyncio.sleep(0)
        made.append(lock)
        (place / "content").touch()

    async def wanted(times: int) -> None:
        for descriptor in await asyncio.gather(*(held(place, (place / "content").exists, make) for _ in range(times))):
            trim(place.parent, -1)
            assert place.exists()
            os.close(descriptor)

    asyncio.run(wanted(4))
    assert len(made) == 1
    trim(place.parent, -1)
    assert not place.exists()
    asyncio.run(wanted(2))
    assert len(made) == 2


def test_what_cannot_be_made_is_not_there_and_nobody_is_kept_from_it(tmp_path: Path) -> None:
    async def fails(lock: int) -> None:
        raise ZeroDivisionError

    async def tried() -> None:
        for _ in range(2):
            try:
                await held(tmp_path / "thing", lambda: False, fails)
            except ZeroDivisionError:
                continue
            raise AssertionError("it was made")

    asyncio.run(tried())
    trim(tmp_path, -1)
    assert names(tmp_path) == []
