"""Bots that somebody else runs: the arena connects, asks and hangs up, and can start nothing."""

from __future__ import annotations

import asyncio
import pickle
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.app.certs import MadeKeys
from arena.app.engines.local import Setting, local_engine
from arena.bots import bot as bots
from arena.bots import channel
from arena.bots.manifest import BotSpec, resolve
from arena.bots.remote import knock
from arena.game.presets import preset
from arena.match.clock import TimeControl
from arena.match.record import MatchRecord, Status
from arena.match.rulings import Fault, Loss
from arena.tournament.runner import Played, Task
from arena.tournament.schedule import Block
from arena.wire import remote as tokens
from tests.bots.conftest import MARKER, SECRET, SINNER, Arena, remote
from tests.bots.remotes import LOWEST, TWICE, WITH_A_GATE, Line, Remote, free_port, keys_for, until

ROOMY = TimeControl(limit_ms=1000, bank_ms=60_000)
"""Nobody is late by it, however busy the machine."""
UNTIMED = TimeControl(limit_ms=0, bank_ms=0)


def test_a_remote_bot_plays_one_block_after_another(arena: Arena) -> None:
    with remote("honest") as address:
        first, second = arena.block(address), arena.block(address)
    assert first == second == arena.block("honest")
    assert not any(record.faults for record in first)


def test_both_seats_may_be_the_same_remote_process(arena: Arena) -> None:
    with remote("honest") as address:
        assert arena.block(address, address) == arena.block("honest")


def test_a_remote_bot_that_closes_its_stream_is_asked_again_on_a_new_one(arena: Arena) -> None:
    with remote("close") as address:  # at the third decision of each stream
        records = arena.block(address, matches=1)
    assert faults_of(records[0].faults)[:2] == [(0, Fault.STREAM_BROKEN, Loss.DEAL)] * 2


def test_a_remote_bot_that_is_gone_loses_what_it_owed_and_then_the_rest(arena: Arena) -> None:
    with remote("crash") as address:
        records = arena.block(address, matches=2, start_s=3.0)
    assert [record.forfeited_by for record in records] == [0, 0]
    kinds = {fault.fault for record in records for fault in record.faults}
    assert kinds == {Fault.STREAM_BROKEN, Fault.NOT_STARTED}


def test_nobody_at_the_address_is_a_walkover(arena: Arena) -> None:
    records = arena.block("unix:/nonexistent/socket", matches=1, start_s=0.5)
    assert records[0].status is Status.WALKOVER
    assert faults_of(records[0].faults) == [(0, Fault.NOT_STARTED, Loss.MATCH)]


def faults_of(faults: tuple[object, ...]) -> list[tuple[int, Fault, Loss]]:
    return [(fault.seat, fault.fault, fault.loss) for fault in faults]  # type: ignore[attr-defined]


# -- connections that are lost -----------------------------------------------------------------------------------------


def at(address: str, name: str = "a") -> BotSpec:
    return resolve(address, name=name, base=Path.cwd())


def local(folder: Path, name: str = "b") -> BotSpec:
    """A bot that plays its lowest card, started by the arena."""
    (folder / "lowest.py").write_text(LOWEST, encoding="utf-8")
    return resolve("./lowest.py", name=name, base=folder)


@contextmanager
def meanwhile(act: Callable[[], None]) -> Iterator[None]:
    """Do something beside the match; what goes wrong there is not lost."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    yield
    thread.join()
    if errors:
        raise errors[0]


@pytest.mark.parametrize("source", [WITH_A_GATE, TWICE + WITH_A_GATE], ids=["once", "and answered twice"])
def test_a_decision_whose_connection_is_lost_for_300_ms_is_put_again_with_the_rest_of_its_time(
    source: str, arena: Arena, tmp_path: Path
) -> None:
    with Remote(tmp_path / "far", source) as far, Line(far.port) as line:

        def break_off() -> None:
            until(lambda: len(far.asked()) == 3)
            line.cut()
            time.sleep(0.3)  # what the connection is away for
            line.mend()
            (far.folder / "gate").touch()

        with meanwhile(break_off):
            (record,) = asyncio.run(arena.play({"a": at(line.address), "b": local(tmp_path)}, matches=1, time=ROOMY))
    (expected,) = asyncio.run(arena.play({"a": local(tmp_path, "a"), "b": local(tmp_path)}, matches=1, time=ROOMY))
    assert record == expected and not record.faults  # one answer counts
    first, again = far.asked()[2:4]
    assert first[:3] == (3, again[1], False) and again[:3] == (3, again[1], True)
    spent_ms = first[3] - again[3]  # less than 300 where the arena was held up itself: its pauses are nobody's
    assert spent_ms > 0 and record.testimony.took_us[0][2] >= (spent_ms - 1) * 1000
    assert not any(resumed for _, _, resumed, _ in far.asked()[4:])


def test_a_bot_that_is_restarted_at_its_address_plays_on(arena: Arena, tmp_path: Path) -> None:
    with Remote(tmp_path / "far", WITH_A_GATE) as far:

        def restart() -> None:
            until(lambda: len(far.asked()) == 3)
            far.kill()
            (far.folder / "second-life").touch()
            far.start()

        with meanwhile(restart):
            records = asyncio.run(arena.play({"a": at(far.address), "b": local(tmp_path)}, time=ROOMY))
    assert records == asyncio.run(arena.play({"a": local(tmp_path, "a"), "b": local(tmp_path)}, time=ROOMY))
    assert not any(record.faults for record in records)
    assert sum(again for _, _, again, _ in far.asked()) == 2  # both matches were under way


def test_a_bot_that_is_told_to_end_and_started_again_plays_on(arena: Arena, tmp_path: Path) -> None:
    with Remote(tmp_path / "far", WITH_A_GATE) as far:

        def restart() -> None:
            until(lambda: len(far.asked()) == 3)
            far.process.terminate()
            far.process.wait()
            (far.folder / "second-life").touch()
            far.start()

        with meanwhile(restart):
            records = asyncio.run(arena.play({"a": at(far.address), "b": local(tmp_path)}, time=ROOMY))
    assert not any(record.faults for record in records)


def test_what_has_no_time_left_when_the_connection_is_back_is_late(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bots, "LEAST_RETURN_S", 60.0)
    with Remote(tmp_path / "far", WITH_A_GATE) as far:

        def restart() -> None:
            until(lambda: len(far.asked()) == 3)
            far.kill()
            time.sleep(3)  # longer than the decision has
            (far.folder / "second-life").touch()
            far.start()

        with meanwhile(restart):
            time_control = TimeControl(limit_ms=1000, bank_ms=0)
            (record,) = asyncio.run(
                arena.play({"a": at(far.address), "b": local(tmp_path)}, matches=1, time=time_control)
            )
    first, *_ = record.faults
    assert (first.seat, first.fault, first.loss) == (0, Fault.LATE, Loss.DEAL)
    assert "the connection was lost meanwhile" in record.testimony.evidence[0]


def test_a_connection_that_does_not_come_back_loses_what_was_owed(arena: Arena, tmp_path: Path) -> None:
    with Remote(tmp_path / "far", WITH_A_GATE) as far, Line(far.port) as line:

        def break_off() -> None:
            until(lambda: len(far.asked()) == 3)
            line.cut()

        with meanwhile(break_off):
            (record,) = asyncio.run(
                arena.play({"a": at(line.address), "b": local(tmp_path)}, matches=1, time=TimeControl(), start_s=2.0)
            )
    assert faults_of(record.faults) == [(0, Fault.STREAM_BROKEN, Loss.DEAL), (0, Fault.NOT_STARTED, Loss.MATCH)]
    assert "it did not come back: nobody answered at" in record.testimony.evidence[0]


@pytest.mark.parametrize("time", [ROOMY, UNTIMED], ids=["with a clock", "without one"])
def test_a_bot_that_drops_its_connection_at_each_decision_loses_in_the_end(
    time: TimeControl, arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bots, "MAX_LOSSES", 3)  # the sooner it is over
    crashing = "import os\nfrom arena.bot import serve\nserve(lambda view: os._exit(1))\n"
    over = threading.Event()
    with Remote(tmp_path / "far", crashing) as far:

        def keep_up() -> None:
            while not over.is_set():
                far.process.wait()
                far.start()

        with meanwhile(keep_up):
            try:
                (record,) = asyncio.run(arena.play({"a": at(far.address), "b": local(tmp_path)}, matches=1, time=time))
            finally:
                over.set()
                far.process.kill()
    assert record.ranks == (2, 1) and record.points[0] == 0
    assert {fault.fault for fault in record.faults} == {Fault.STREAM_BROKEN}


def test_a_connection_that_died_without_a_word_is_noticed_where_no_clock_runs(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    often = {"grpc.keepalive_time_ms": 2000, "grpc.http2.ping_timeout_ms": 5000}
    monkeypatch.setattr(channel, "REMOTE_OPTIONS", tuple({**dict(channel.REMOTE_OPTIONS), **often}.items()))
    with Remote(tmp_path / "far", WITH_A_GATE) as far, Line(far.port) as line:

        def fall_silent() -> None:
            until(lambda: len(far.asked()) == 3)
            line.silence()
            (far.folder / "gate").touch()

        with meanwhile(fall_silent):
            (record,) = asyncio.run(arena.play({"a": at(line.address), "b": local(tmp_path)}, matches=1, time=UNTIMED))
    assert not record.faults
    assert [again for _, _, again, _ in far.asked()[2:4]] == [False, True]
    assert "Traceback" not in far.said()


def test_blocks_wait_for_a_bot_that_takes_one_stream_at_a_time(tmp_path: Path) -> None:
    async def run(specs: dict[str, BotSpec]) -> list[MatchRecord]:
        setting = Setting(preset("schnapsen"), "schnapsen", ROOMY, 20.0)
        played: list[Played] = []
        blocks = [Block(n, 0, 0, ("a", "b"), n, range(1), ("a", "b"), mirrored=False) for n in range(3)]
        async with local_engine(setting, specs, {0: SECRET}, MARKER, tmp_path / "logs") as engine:
            assert await engine.preflight(specs) == {}
            await asyncio.gather(*(engine.play(Task(block, tuple(block.keys())), played.append) for block in blocks))
        return [match.record for match in played]

    with Remote(tmp_path / "far") as far:
        records = asyncio.run(run({"a": at(far.address), "b": local(tmp_path)}))
    assert len(records) == 3 and not any(record.faults for record in records)
    assert far.said() == ""


def test_a_bot_that_plays_two_seats_must_take_two_streams(tmp_path: Path) -> None:
    async def preflight(spec: BotSpec) -> list[str]:
        setting = Setting(preset("four-handed"), "four-handed", UNTIMED, 60.0)
        async with local_engine(setting, {"a": spec}, {0: SECRET}, MARKER, tmp_path / "logs") as engine:
            return [failure.evidence for failure in (await engine.preflight(["a"], seats=2)).values()]

    with Remote(tmp_path / "one") as one:
        (said,) = asyncio.run(preflight(at(one.address)))
    assert said == "it takes 1 of the 2 streams that its seats need; raise streams in its serve"
    with Remote(tmp_path / "two", LOWEST.replace("serve(choose", "serve(choose, streams=2")) as two:
        assert asyncio.run(preflight(at(two.address))) == []


# -- TLS ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> MadeKeys:
    return keys_for(tmp_path_factory.mktemp("keys") / "far", f"127.0.0.1:{free_port()}")


def named(made: MadeKeys) -> BotSpec:
    return resolve(str(made.arena), name="a", base=Path.cwd())


def far_bot(folder: Path, made: MadeKeys, *, keys: Path | None = None) -> Remote:
    """A bot where the arena's folder looks for it."""
    address = named(made).address
    assert address is not None
    return Remote(folder, keys=keys, port=int(address.rpartition(":")[2]))


def failure_of(spec: BotSpec, folder: Path, start_s: float = 60.0) -> str:
    """What the preflight says of a remote bot; nothing if it can play."""

    async def preflight() -> str:
        setting = Setting(preset("schnapsen"), "schnapsen", UNTIMED, start_s)
        async with local_engine(setting, {"a": spec}, {0: SECRET}, MARKER, folder / "logs") as engine:
            failures = await engine.preflight(["a"])
        return failures["a"].evidence if failures else ""

    return asyncio.run(preflight())


def test_a_bot_behind_tls_plays_as_any_other(arena: Arena, tmp_path: Path, keys: MadeKeys) -> None:
    with far_bot(tmp_path / "far", keys, keys=keys.bot) as far:
        for _ in range(2):
            records = asyncio.run(arena.play({"a": named(keys), "b": local(tmp_path)}, time=ROOMY))
    assert records == asyncio.run(arena.play({"a": local(tmp_path, "a"), "b": local(tmp_path)}, time=ROOMY))
    assert not any(record.faults for record in records)
    assert far.said() == ""


def test_a_connection_by_tls_comes_back_too(arena: Arena, tmp_path: Path) -> None:
    port = free_port()
    with Line(port) as line:
        made = keys_for(tmp_path / "far", line.address)
        with Remote(tmp_path / "bot", WITH_A_GATE, keys=made.bot, port=port) as far:

            def break_off() -> None:
                until(lambda: len(far.asked()) == 3)
                line.cut()
                time.sleep(0.3)
                line.mend()
                (far.folder / "gate").touch()

            with meanwhile(break_off):
                (record,) = asyncio.run(arena.play({"a": named(made), "b": local(tmp_path)}, matches=1, time=ROOMY))
    assert not record.faults
    assert [id for id, _, again, _ in far.asked() if again] == [3]


@pytest.mark.parametrize("tls", [False, True], ids=["in plain text", "by TLS"])
def test_a_line_that_breaks_again_and_again_costs_no_fault(arena: Arena, tmp_path: Path, tls: bool) -> None:
    over, rng, port = threading.Event(), random.Random(66), free_port()
    thinking = LOWEST.replace("    return", "    time.sleep(0.01)\n    return").replace("from", "import time\nfrom", 1)

    def break_off() -> None:
        while not over.wait(rng.uniform(0.1, 0.8)):
            line.cut()
            time.sleep(rng.choice((0, 0.02, 0.3)))
            line.mend()

    with Line(port) as line:
        made = keys_for(tmp_path / "far", line.address)
        spec = named(made) if tls else at(line.address)
        with Remote(tmp_path / "bot", thinking, keys=made.bot if tls else None, port=port), meanwhile(break_off):
            try:
                records = asyncio.run(arena.play({"a": spec, "b": local(tmp_path)}, matches=4, time=ROOMY))
            finally:
                over.set()
    assert records == asyncio.run(arena.play({"a": local(tmp_path, "a"), "b": local(tmp_path)}, matches=4, time=ROOMY))
    assert not any(record.faults for record in records)


def test_a_bot_at_the_other_end_of_the_world_is_reached(tmp_path: Path) -> None:
    port = free_port()
    with Line(port, delay_s=0.3) as line:
        made = keys_for(tmp_path / "far", line.address)
        with Remote(tmp_path / "bot", keys=made.bot, port=port):
            assert failure_of(named(made), tmp_path) == ""


def test_another_certificate_than_the_pinned_one_is_refused(tmp_path: Path, keys: MadeKeys) -> None:
    other = keys_for(tmp_path / "other", "127.0.0.1:1")
    with far_bot(tmp_path / "far", keys, keys=other.bot):
        said = failure_of(named(keys), tmp_path)
    address = named(keys).address
    assert said.startswith(f"the certificate at {address} is not {keys.arena / 'bot.crt'} (SHA-256 {keys.fingerprint})")
    assert "somebody else answers there, or the bot has new keys" in said


def test_a_bot_without_tls_is_refused(tmp_path: Path, keys: MadeKeys) -> None:
    with far_bot(tmp_path / "far", keys):
        said = failure_of(named(keys), tmp_path)
    assert said.startswith(f"no TLS is spoken at {named(keys).address} (") and "start the bot with its keys" in said


def test_a_bot_with_tls_is_not_spoken_to_in_plain_text(tmp_path: Path, keys: MadeKeys) -> None:
    address = named(keys).address
    assert address is not None
    with far_bot(tmp_path / "far", keys, keys=keys.bot) as far:
        until(far.serves)
        said = failure_of(at(address), tmp_path, start_s=4.0)
    assert said.startswith(f"nobody answered at {address} within 4 s: no gRPC in plain text is spoken there")


def test_a_bot_that_expects_another_arena_is_said(tmp_path: Path, keys: MadeKeys) -> None:
    other = keys_for(tmp_path / "other", "127.0.0.1:1")
    (other.arena / "bot.toml").write_bytes((keys.arena / "bot.toml").read_bytes())
    (other.arena / "bot.crt").write_bytes((keys.arena / "bot.crt").read_bytes())
    with far_bot(tmp_path / "far", keys, keys=keys.bot) as far:
        said = failure_of(named(other), tmp_path)
        assert said == (
            f"it does not take the arena's certificate {other.arena / 'arena.crt'}; "
            "give both sides the files of the same `arena certs`"
        )
        for name in ("arena.crt", "arena.key"):
            (other.arena / name).write_bytes((keys.arena / name).read_bytes())
        said = failure_of(named(other), tmp_path)
        assert said == "it refused the arena: the token is wrong; the arena's token file is not that of this bot"
        assert failure_of(named(keys), tmp_path) == ""
    assert "CERTIFICATE_VERIFY_FAILED" in far.said() and "refused ipv4:" in far.said()


def test_an_arena_whose_clock_is_wrong_is_told_so(
    tmp_path: Path, keys: MadeKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    with far_bot(tmp_path / "far", keys, keys=keys.bot):
        mint = tokens.mint
        monkeypatch.setattr(tokens, "mint", lambda *words: mint(*words[:3], words[3] - 600, words[4]))
        said = failure_of(named(keys), tmp_path)
    assert said.startswith("it refused the arena: the token expired 54") and "set the clocks" in said


def test_a_second_arena_is_told_that_the_bot_plays(arena: Arena, tmp_path: Path, keys: MadeKeys) -> None:
    port = int(str(named(keys).address).rpartition(":")[2])
    with Remote(tmp_path / "far", WITH_A_GATE, keys=keys.bot, port=port) as far:
        said: list[str] = []

        def come_second() -> None:
            until(lambda: len(far.asked()) == 3)
            command = [sys.executable, "-m", "arena", "play", str(keys.arena), "random"]
            said.append(subprocess.run(command, cwd=SINNER.parents[2], capture_output=True, text=True).stderr)
            (far.folder / "gate").touch()

        with meanwhile(come_second):
            (record,) = asyncio.run(arena.play({"a": named(keys), "b": local(tmp_path)}, matches=1, time=ROOMY))
    sentence = "this bot plays for another arena or in another block already, and takes 1 at once"
    assert said[0].startswith(f"arena: bot 'Far' cannot play: it refused the arena: {sentence}")
    assert sentence in far.said()
    assert not record.faults  # the first has noticed nothing


def test_keys_that_were_sent_to_another_process_open_the_same_door(tmp_path: Path) -> None:
    port = free_port()
    made = keys_for(tmp_path / "far", f"127.0.0.1:{port}")
    with Remote(tmp_path / "far", keys=made.bot, port=port) as far:
        keys = resolve(str(made.arena), base=tmp_path).keys
        sent = pickle.loads(pickle.dumps(keys))
        assert sent == keys
        asyncio.run(knock(far.address, sent, within_s=60))
