"""The unit of the rules benchmark: one pass of the loop `x += i * i`."""

from __future__ import annotations

import time


def pass_seconds(passes: int) -> float:
    """CPU seconds of one pass of the loop, now."""
    start = time.process_time()
    x = 0
    for i in range(passes):
        x += i * i
    return (time.process_time() - start) / passes
