"""What the SDK costs a bot in CPU time, apart from its author's code: to start, and for each decision.

A start ends when Describe is answered, and is compared with `import grpc.aio`.  Decisions are those of 64 matches at
once, and are compared with a bare echo's; both ends are real processes.  All forms take turns within a round.
"""

from __future__ import annotations

import asyncio
import compileall
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from arena.bots.channel import connect, describe
from arena.game.presets import preset
from arena.wire import codec
from bench.decisions import HERE, RULES, stream

SERVERS = 2
PATIENCE_S = 60.0


def run(quick: bool) -> dict[str, float]:
    """CPU milliseconds of a start, CPU microseconds a decision, and their ratios to the bare forms."""
    compileall.compile_dir(Path(codec.__file__).parents[1], quiet=1)  # as it is wherever the arena is installed
    rounds = 5 if quick else 15
    imports, starts = [], []
    for _ in range(rounds):
        imports.append(_import_cpu_s())
        starts.append(asyncio.run(_start_cpu_s()))
    decisions = 20_000 if quick else 60_000
    echo, sdk = [], []
    for _ in range(3 if quick else 7):
        echo.append(asyncio.run(_decision_cpu_s(("echo.py", "grpc"), decisions)))
        sdk.append(asyncio.run(_decision_cpu_s(("constant.py",), decisions)))
    return {
        "import_grpc_cpu_ms": round(statistics.median(imports) * 1e3, 1),
        "start_cpu_ms": round(statistics.median(starts) * 1e3, 1),
        "start_over_import": _ratio(starts, imports),
        "echo_cpu_us": round(statistics.median(echo) * 1e6, 1),
        "sdk_cpu_us": round(statistics.median(sdk) * 1e6, 1),
        "sdk_over_echo": _ratio(sdk, echo),
    }


def _ratio(ones: Sequence[float], others: Sequence[float]) -> float:
    """The median of the ratios within a round."""
    return round(statistics.median(one / other for one, other in zip(ones, others, strict=True)), 2)


def _import_cpu_s() -> float:
    """What a process spends until it has imported gRPC for asyncio."""
    code = "import grpc.aio, time; print(time.process_time())"
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)


async def _start_cpu_s() -> float:
    """What a bot spends until it has answered Describe."""
    with _servers([sys.executable, str(HERE / "constant.py")], 1) as ((process, target),):
        await _describe(target)
        return _cpu_s(process)


async def _decision_cpu_s(server: Sequence[str], decisions: int) -> float:
    """What a server spends on one decision."""
    with _servers([sys.executable, str(HERE / server[0]), *server[1:]], SERVERS) as started:
        targets = [target for _, target in started]
        for target in targets:
            await (_reached(target) if server[1:] else _describe(target))
        made, _, spent_s = await stream(targets, decisions, lambda: sum(_cpu_s(process) for process, _ in started))
        return spent_s / made


async def _reached(target: str) -> None:
    connection = connect(target)
    await asyncio.wait_for(connection.channel_ready(), PATIENCE_S)
    await connection.close()


async def _describe(target: str) -> None:
    connection = connect(target)
    try:
        request = codec.describe_request(preset(RULES), RULES)
        assert (await describe(connection, request, PATIENCE_S)).plays
    finally:
        await connection.close()


def _cpu_s(process: subprocess.Popen[bytes]) -> float:
    tasks = Path(f"/proc/{process.pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


@contextmanager
def _servers(command: Sequence[str], count: int) -> Iterator[list[tuple[subprocess.Popen[bytes], str]]]:
    """So many processes with their addresses, in the environment and (for the echo) as their last argument."""
    with tempfile.TemporaryDirectory() as folder:
        targets = [f"unix:{folder}/{number}" for number in range(count)]
        processes = [
            subprocess.Popen([*command, target], env={**os.environ, "ARENA_ADDRESS": target}) for target in targets
        ]
        try:
            yield list(zip(processes, targets, strict=True))
        finally:
            for process in processes:
                process.kill()
                process.wait()
