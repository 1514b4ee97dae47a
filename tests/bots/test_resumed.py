"""A process that dies takes with it what it owed; what had not reached it is put to its successor, and says so."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from arena.bots.manifest import resolve
from arena.match.clock import TimeControl
from arena.match.rulings import Fault
from tests.bots.conftest import Arena

DIES_ONCE = """
import os, sys
from arena.bot import serve

asked = 0

def choose(view):
    global asked
    asked += 1
    print("asked", view._decision.id, view.match_id, view.resumed, view.time_left_ms, file=sys.stderr, flush=True)
    if asked == 3 and os.environ["ARENA_ADDRESS"].endswith(".0"):
        os._exit(1)
    return view.plays[0] if view.plays else view.legal[-1]

serve(choose, name="Dies", waives_before_draw=True, decisions_at_once=1)
"""


def test_decisions_that_wait_when_the_process_dies_are_put_again_to_the_next(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text(DIES_ONCE, encoding="utf-8")
    specs = {"a": resolve("./dies.py", name="a", base=tmp_path), "b": arena.spec("b", "honest")}
    clock = TimeControl(limit_ms=1000, bank_ms=60_000)
    records = asyncio.run(arena.play(specs, matches=4, time=clock))
    faults = [fault.fault for record in records for fault in record.faults]
    assert faults == [Fault.DIED]
    log = (arena.logs / "a.log").read_text(encoding="utf-8")
    asked = re.findall(r"^asked (\d+) (\w+) (True|False) (\d+)$", log, re.MULTILINE)
    again = [(id, match, left) for id, match, resumed, left in asked if resumed == "True"]
    assert 1 <= len({match for _, match, _ in again}) == len(again) <= 3  # matches but that of the deal that was lost
    assert {left for _, _, left in again} == {"61000"}  # no time of theirs had passed
    assert all([id for id, _, _, _ in asked].count(id) == 1 for id, _, _ in again)
