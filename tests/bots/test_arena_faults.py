"""What fails in the arena itself is nobody's fault: the match is void, everything else goes on, nothing is left."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import pytest

from arena.bots import bot as bots
from arena.bots.launcher import launch
from arena.bots.manifest import BotSpec
from arena.errors import UsageError
from arena.match.record import Status
from arena.match.rulings import Fault
from arena.wire import codec
from tests.bots.conftest import Arena


def test_a_question_that_cannot_be_put_makes_its_match_void_and_no_other(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = codec.decision
    victims: list[str] = []

    def decision(view: Any, *, match_id: str, id: int, deal: int, time_left_ms: int, last_took_ms: int) -> bytes:
        if deal == 2 and not victims:
            victims.append(match_id)
        if match_id in victims:
            raise ValueError("no such field")
        return put(view, match_id=match_id, id=id, deal=deal, time_left_ms=time_left_ms, last_took_ms=last_took_ms)

    monkeypatch.setattr(codec, "decision", decision)
    records = arena.block("honest", matches=3)
    assert sorted(record.status for record in records) == [Status.PLAYED, Status.PLAYED, Status.VOID]
    (void,) = [record for record in records if record.status is Status.VOID]
    assert void.testimony.evidence == ("ValueError: no such field",)
    assert not any(record.faults for record in records)


def test_an_event_that_cannot_be_told_makes_its_match_void(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    def deal_ended(*_: object, **__: object) -> bytes:
        raise ValueError("no such field")

    monkeypatch.setattr(codec, "deal_ended", deal_ended)
    assert [record.status for record in arena.block("honest")] == [Status.VOID] * 2


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), RuntimeError("the keeper ended")])
def test_a_bot_that_the_arena_cannot_start_again_makes_its_matches_void(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    launched: list[str] = []

    async def launch_twice(*args: Any, **settings: Any) -> Any:
        launched.append(settings["socket"])
        if len(launched) > 2:
            raise error
        return await launch(*args, **settings)

    monkeypatch.setattr(bots, "launch", launch_twice)
    records = arena.block("once-crash", matches=2)
    assert [record.status for record in records] == [Status.VOID] * 2
    assert str(error) in records[0].testimony.evidence[0]
    assert len(launched) == 3


def test_a_machine_that_starts_no_process_is_said_in_a_sentence_and_nothing_is_left(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def launch_one(spec: BotSpec, **settings: Any) -> Any:
        if spec.name == "b":
            raise OSError(24, "Too many open files")
        await asyncio.sleep(0.1)  # the other one is still on its way when this one has failed
        return await launch(spec, **settings)

    monkeypatch.setattr(bots, "launch", launch_one)
    with pytest.raises(UsageError, match=r"could not start a process for bot 'b': .*Too many open files"):
        arena.block("honest")


def test_a_preflight_that_a_machine_fails_ends_at_once_and_leaves_nothing(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched: list[str] = []

    async def launch_all_but_one(*args: Any, **settings: Any) -> Any:
        launched.append(settings["socket"])
        if len(launched) == 2:
            await asyncio.sleep(0.01)  # the others are just being started
            raise OSError(24, "Too many open files")
        return await launch(*args, **settings)

    monkeypatch.setattr(bots, "launch", launch_all_but_one)
    specs = {name: arena.spec(name, "honest") for name in "abcdef"}
    with pytest.raises(UsageError, match="Too many open files"):
        asyncio.run(arena.preflight(specs))


def test_a_restart_that_fails_for_the_bots_own_reasons_is_a_walkover_of_the_rest(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = bots.Bot.start

    async def start_once(self: bots.Bot) -> None:
        if self.deaths:
            raise bots.BotFailed(Fault.NOT_STARTED, "its model file is gone")
        await start(self)

    monkeypatch.setattr(bots.Bot, "start", start_once)
    records = arena.block("once-crash", matches=2)
    assert [record.forfeited_by for record in records] == [0, 0]
    assert any("its model file is gone" in text for record in records for text in record.testimony.evidence)


def test_each_bot_has_one_log_whatever_it_is_called(arena: Arena) -> None:
    arena.block("once-crash", "once-crash")
    assert {path.name for path in arena.logs.iterdir()} == {"a.log", "b.log"}
    assert (arena.logs / "a.log").read_text().count("something broke") == 1


# --- the place of the sockets -----------------------------------------------------------------------------------------


def test_a_folder_too_deep_for_sockets_is_the_users_to_mend(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("x" * 90)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with pytest.raises(UsageError, match="TMPDIR"):
        arena.block("honest")
    assert not list(deep.iterdir())


# --- stopped in the middle --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("moment_s", [0.1, 0.5, 0.8])
def test_a_block_that_is_cancelled_leaves_nothing_whatever_it_was_doing(arena: Arena, moment_s: float) -> None:
    """Starting, playing, or starting anew (these bots die at every first decision): the fixture sees what is left."""

    async def cancelled() -> None:
        playing = asyncio.ensure_future(arena.play({"a": arena.spec("a", "crash 1"), "b": arena.spec("b", "crash 1")}))
        await asyncio.wait((playing,), timeout=moment_s)
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(cancelled())
