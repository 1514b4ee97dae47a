"""The loop that matches are played on."""

from __future__ import annotations

import asyncio
import sys
import types

import pytest

from arena.bots.loop import run


async def running() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


class Fast(asyncio.SelectorEventLoop):
    """What stands in for the loop of uvloop."""


def test_matches_are_played_on_uvloop_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARENA_LOOP", raising=False)
    uvloop = types.ModuleType("uvloop")
    uvloop.__spec__ = types.SimpleNamespace()  # type: ignore[assignment]
    uvloop.new_event_loop = Fast  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "uvloop", uvloop)
    assert type(run(running())) is Fast


def test_matches_are_played_on_the_loop_of_asyncio_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARENA_LOOP", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert type(run(running())) is type(asyncio.new_event_loop())
