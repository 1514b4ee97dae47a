"""The event loop that matches are played on: uvloop where it is installed (the extra `fast`), else asyncio's own.

`ARENA_LOOP=asyncio` in the environment stays with asyncio's.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """As `asyncio.run`."""
    if os.environ.get("ARENA_LOOP") == "asyncio" or importlib.util.find_spec("uvloop") is None:
        return asyncio.run(main)
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)
