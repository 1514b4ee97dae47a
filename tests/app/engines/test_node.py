"""What the arena on a node of a cluster has to say is told, and not left there."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.app import participants
from arena.app.engines.cluster.node import Begun, Luggage, Said, play, this_arena
from arena.app.engines.local import Setting
from arena.bots.parcel import addressed, pack
from arena.game.presets import preset
from arena.match.clock import TimeControl
from arena.match.record import Status
from arena.tournament.runner import Played, Task
from arena.tournament.schedule import Schedule
from arena.wire import codec

SPECS = participants.of_words(("greedy", "random"))


def luggage() -> Luggage:
    parcels = {name: pack(spec) for name, spec in SPECS.items()}
    return Luggage(
        arena=this_arena(),
        run="arena-test",
        setting=Setting(preset("schnapsen"), "schnapsen", TimeControl(limit_ms=0), 60.0),
        specs={name: addressed(spec) for name, spec in SPECS.items()},
        parcels={name: (parcel.key, lambda parcel=parcel: parcel) for name, parcel in parcels.items()},
    )


def test_a_fault_of_the_arena_on_a_node_is_said_with_its_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*words: object, **more: object) -> bytes:
        raise ZeroDivisionError("the node is out of order")

    monkeypatch.setenv("ARENA_CACHE", str(tmp_path))
    monkeypatch.setattr(codec, "decision", fails)
    block = next(Schedule(tuple(SPECS), 1, block=1).blocks())
    begun, *told = play(luggage(), Task(block, tuple(block.keys())), bytes(32), {})
    assert isinstance(begun, Begun)
    (played,) = [each for each in told if isinstance(each, Played)]
    assert played.record.status is Status.VOID
    (said,) = [each.text for each in told if isinstance(each, Said)]
    assert said.startswith("match ") and "the arena failed: " in said
    assert said.endswith("ZeroDivisionError: the node is out of order")
