"""`python -m bench [--quick] [PART ...]`: measure, and print one JSON object; progress and a table go to stderr.

A figure's name ends with its unit; one without is a ratio or a number of things.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from bench.machine import machine

PARTS = (
    "rules",
    "decisions",
    "sdk",
    "tournament",
    "store",
    "verify",
    "sandbox",
    "ratings",
    "stopping",
    "remote",
    "languages",
    "reading",
    "web",
    "pages",
    "scale",
    "plan",
)
"""Modules of this package, each with a function `run(quick)`."""
QUICK = ("rules", "decisions", "tournament", "verify")
"""What a quick run measures where no part is named."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help=f"which parts: {', '.join(PARTS)} (default: all; quick: {', '.join(QUICK)})",
    )
    parser.add_argument("--quick", action="store_true", help="under a minute, with wider scatter")
    arguments = parser.parse_args()
    unknown = [part for part in arguments.parts if part not in PARTS]
    if unknown:
        parser.error(f"unknown part {unknown[0]!r}; the parts are {', '.join(PARTS)}")
    result: dict[str, Any] = {"machine": machine(), "quick": arguments.quick}
    for name in arguments.parts or (QUICK if arguments.quick else PARTS):
        run: Callable[[bool], Mapping[str, Any]] = import_module(f"bench.{name}").run
        start = time.monotonic()
        print(f"measuring {name} ...", end=" ", file=sys.stderr, flush=True)
        result[name] = run(arguments.quick)
        print(f"{time.monotonic() - start:.0f} s", file=sys.stderr)
    print("\n".join(table(result)), file=sys.stderr)
    print(json.dumps(result, indent=2))


def table(result: Mapping[str, Any]) -> Iterator[str]:
    """The figures as lines, a part after the other: what it is, how much."""
    for name, value in result.items():
        if not isinstance(value, Mapping):
            yield f"  {name:<34} {value}"
        elif all(isinstance(part, Mapping) for part in value.values()) and value:
            for part, figures in value.items():
                yield f"{name} {part}"
                yield from table(figures)
        else:
            yield name
            yield from table(value)


if __name__ == "__main__":
    main()
