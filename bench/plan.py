"""What a tournament of a thousand bots would take: computed from what matches cost here, measured in this run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.tournament.schedule import Schedule
from bench.crew import Crew, tournament

BOTS = 1000
PAIRS = (1, 4, 16)
"""A pairing."""
CORES = (2, 16, 64, 256)
MEASURED_PAIRS, QUICK_MEASURED_PAIRS = 64, 16
SMALL_BLOCK, BLOCK = 4, 32
"""Lists a block: what differs between the two is the starts of processes."""
BARE_PAIRS = 2
"""Of a run that is over at once: what is spent whatever is played."""


def run(quick: bool) -> Mapping[str, Any]:
    """What was measured, and the plan by pairs a pairing."""
    pairs = QUICK_MEASURED_PAIRS if quick else MEASURED_PAIRS
    bare, small, large = tournament(BARE_PAIRS, 2), tournament(pairs, 2, SMALL_BLOCK), tournament(pairs, 2, BLOCK)
    costs = _costs(bare, small, large)
    return {"measured": costs, **{f"{each}_pairs": _planned(each, costs) for each in PAIRS}}


def _costs(bare: Crew, small: Crew, large: Crew) -> Mapping[str, float]:
    def spent(crew: Crew) -> float:
        return crew.workers_s + crew.bots_s

    a_block = max(0.0, (spent(small) - spent(large)) / (small.blocks - large.blocks))
    rest = spent(large) - spent(bare) - a_block * (large.blocks - bare.blocks)
    matches = large.matches - bare.matches
    return {
        "block_cpu_ms": round(a_block * 1000, 1),
        "match_cpu_ms": round(rest / matches * 1000, 2),
        "driver_cpu_ms_a_match": round((large.driver_s - bare.driver_s) / matches * 1000, 2),
        "store_bytes_a_match": round((large.store_bytes - bare.store_bytes) / matches),
        "report_bytes_a_match": round(large.report_bytes),
        "decisions_a_match": round(large.decisions / large.matches, 1),
    }


def _planned(pairs: int, costs: Mapping[str, float]) -> Mapping[str, float]:
    """The schedule is the real one; hours are those of the cores that play, or of the one that stores, if it is later.

    Messages are those between the driver and its workers: of each block an order and its end, of each match a report.
    """
    schedule = Schedule(tuple(f"b{number:04}" for number in range(BOTS)), pairs)
    matches, blocks = schedule.match_count, schedule.block_count
    played_s = (matches * costs["match_cpu_ms"] + blocks * costs["block_cpu_ms"]) / 1000
    driver_s = matches * costs["driver_cpu_ms_a_match"] / 1000
    return {
        "matches": matches,
        "blocks": blocks,
        "decisions": round(matches * costs["decisions_a_match"]),
        "messages": matches + 2 * blocks,
        "messages_gb": round(matches * costs["report_bytes_a_match"] / 1e9, 1),
        "store_gb": round(matches * costs["store_bytes_a_match"] / 1e9, 1),
        "cpu_h": round((played_s + driver_s) / 3600, 1),
        "driver_h": round(driver_s / 3600, 1),
        "cores_that_a_driver_feeds": round(played_s / driver_s),
        **{f"hours_on_{cores}_cores": round(max(played_s / cores, driver_s) / 3600, 1) for cores in CORES},
    }
