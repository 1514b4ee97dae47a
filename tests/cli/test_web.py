"""The live pages by HTTP: a real process on a real store, asked as browsers, scripts and attackers would."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import psutil
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page
from prometheus_client.parser import text_string_to_metric_families

from arena.cards import CARD_NAMES
from arena.store import State, open_store
from tests.browsers import SHAPES, needs_chromium
from tests.cli.conftest import Here
from tests.reports.html.conftest import MARKUP, NAMES
from tests.reports.runs import faulty, plain, play_run, sound

ARENA = [sys.executable, "-m", "arena"]
ON_NOW = r"greedy - random, leg [01], lists \d+ to \d+: [0-4] of 4 played, since \d\d:\d\d:\d\d UTC"
SLOW = """
import time
from arena.bot import serve

def choose(view):
    time.sleep(0.1)
    return view.legal[0]

serve(choose)
"""
WAIT_S = 90.0
"""For something that must happen, on a machine however busy."""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def served(data: Path, *words: str) -> Iterator[int]:
    """`arena web` over a store until the block ends: its port, once it answers."""
    port = free_port()
    command = [*ARENA, "web", "cup", "--data", str(data), "--listen", f"127.0.0.1:{port}", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(port, process)
            yield port
        finally:
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=WAIT_S)
    assert "Traceback" not in said
    assert process.returncode in (0, 130), said


def wait_for(port: int, process: subprocess.Popen[str]) -> None:
    """Until somebody listens there."""
    for _ in range(int(WAIT_S * 10)):
        assert process.poll() is None, process.stderr and process.stderr.read()
        with socket.socket() as knock:
            knock.settimeout(WAIT_S)
            if knock.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("nobody listens")


def ask(port: int, path: str, method: str = "GET", **headers: str) -> tuple[int, str, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers


def until_ready(port: int) -> None:
    """Until the first look is published."""
    for _ in range(int(WAIT_S * 5)):
        if ask(port, "/api/progress")[0] == 200:
            return
        time.sleep(0.2)
    raise AssertionError("nothing is shown")


def events(port: int) -> Iterator[dict[str, object]]:
    """What is told, as it comes."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
    connection.request("GET", "/events")
    answer = connection.getresponse()
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    try:
        for line in answer:
            if line.startswith(b"data: "):
                yield json.loads(line.removeprefix(b"data: "))
    finally:
        connection.close()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of which four pairs are played, as the arena left it."""
    folder = tmp_path_factory.mktemp("live")
    play_run(folder, bots=NAMES, pairs=4, matches=60, title="Cup of <all> names")
    return folder


@pytest.fixture(scope="module")
def port(data: Path) -> Iterator[int]:
    with served(data) as port:
        until_ready(port)
        yield port


def test_the_api_has_what_the_commands_say(port: int, data: Path, here: Here) -> None:
    for name, command in (("report", "show"), ("trust", "trust")):
        status, text, _ = ask(port, f"/api/{name}")
        assert status == 200
        assert json.loads(text) == json.loads(here(command, "cup", "--data", data, "--format", "json").out)
    progress = json.loads(ask(port, "/api/progress")[1])
    assert progress["matches_finished"] == 60 and progress["matches_planned"] == 80
    assert progress["state"] == "interrupted" and progress["eta_s"] is None
    assert ask(port, "/api/secrets")[0] == 404


def test_every_page_comes_with_a_policy_and_links_that_work(port: int) -> None:
    asked, left = set(), {"/"}
    while left - asked:
        path = (left - asked).pop()
        asked.add(path)
        status, text, headers = ask(port, path)
        assert status == 200, path
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert headers["X-Content-Type-Options"] == "nosniff"
        if headers["Content-Type"].startswith("text/html"):
            folder = path.rpartition("/")[0]
            for address in re.findall(r'(?:href|src)="([^"#]+)', text):
                left.add(os.path.normpath(f"{folder}/{address}"))
    assert len(asked) > 20


def test_no_card_is_shown_before_the_secret_is_revealed(port: int) -> None:
    cards = "|".join(CARD_NAMES[1:])
    for path in (
        "/",
        "/deals.html",
        "/api/report",
        "/api/trust",
        "/api/progress",
        *(f"/bots/{n}.html" for n in ("sound",)),
    ):
        assert not re.search(rf"\b(?:{cards})\b", ask(port, path)[1]), path
    assert "stay hidden until the secret" in ask(port, "/deals.html")[1]
    assert ask(port, "/matches/x.html")[0] == 404


@needs_chromium
def test_a_browser_shows_how_far_it_is_and_may_do_all_that_the_page_wants(port: int, page: Page) -> None:
    page.goto(f"http://127.0.0.1:{port}/")
    page.locator("#live p").wait_for()
    assert page.locator("#live p").inner_text() == "60 of 80 matches, interrupted"
    page.get_by_text("Just finished").click()
    assert page.locator("#recent li").count() == 8
    assert MARKUP in page.locator("table.ranking").first.inner_text()


@needs_chromium
@pytest.mark.parametrize("shape", SHAPES)
def test_everybody_can_use_the_live_page(port: int, page: Page, shape: str) -> None:
    width, scheme = SHAPES[shape]
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    page.goto(f"http://127.0.0.1:{port}/")
    page.locator("#live p").wait_for()
    page.get_by_text("Just finished").press("Enter")
    assert page.locator("#recent").is_visible()
    found = Axe().run(page, options={"preload": False})
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@needs_chromium
def test_a_page_that_is_open_becomes_the_new_one_by_itself(data: Path, tmp_path: Path, page: Page) -> None:
    copy = Path(shutil.copytree(data, tmp_path / "data"))
    with served(copy) as port:
        until_ready(port)
        page.goto(f"http://127.0.0.1:{port}/")
        page.locator("#live p").wait_for()
        assert "interrupted" in page.locator("#main").inner_text()
        with open_store(copy / "arena.db") as store:
            store.set_state(store.tournament("cup"), State.FINISHED)
        page.get_by_text("60 of 80 matches, finished").wait_for(timeout=1000 * WAIT_S)
        page.locator("#main", has_text=re.compile("cup, finished")).wait_for(timeout=1000 * WAIT_S)


def test_it_only_reads(port: int) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert ask(port, "/", method)[0] == 405
        assert ask(port, "/api/report", method)[0] == 405


def test_paths_lead_nowhere_but_to_pages(port: int) -> None:
    for path in (
        "/../../etc/passwd",
        "/%2e%2e/arena.db",
        "//arena.db",
        "/arena.db",
        "/static/../watch.py",
        "/bots/..%2f..%2fx",
    ):
        assert ask(port, path)[0] in (400, 404), path


def test_another_name_for_this_machine_is_refused(port: int) -> None:
    # A page of somebody else, whose name leads here, would be read by that somebody.
    assert ask(port, "/api/report", Host="evil.example")[0] == 400
    assert ask(port, "/api/report", Host=f"localhost:{port}")[0] == 200


def test_metrics_are_such_that_prometheus_reads_them(port: int) -> None:
    status, text, _ = ask(port, "/metrics")
    assert status == 200
    found = {family.name: family.samples for family in text_string_to_metric_families(text)}
    assert found["arena_matches_finished"][0].value == 60
    assert {sample.labels["bot"] for sample in found["arena_bot_mu"]} == set(NAMES)
    assert MARKUP in {sample.labels["bot"] for sample in found["arena_bot_faults"]}
    assert json.loads(ask(port, "/healthz")[1]) == {"ok": True}


def test_who_leaves_is_forgotten(port: int) -> None:
    listening = [events(port) for _ in range(5)]
    for each in listening:
        assert next(each)["matches_finished"] == 60
    assert spectators(port) == 5
    for each in listening:
        each.close()  # type: ignore[attr-defined]
    for _ in range(int(WAIT_S * 5)):
        if spectators(port) == 0:
            return
        time.sleep(0.2)
    raise AssertionError("some are still counted")


def test_it_ends_quietly_while_somebody_listens(data: Path) -> None:
    with served(data) as port:
        listening = events(port)
        assert next(listening)["matches_finished"] == 60
    assert list(listening) == []  # it was sent home; what the process said is looked at by `served`


def spectators(port: int) -> float:
    families = text_string_to_metric_families(ask(port, "/metrics")[1])
    return next(family.samples[0].value for family in families if family.name == "arena_web_spectators")


def test_with_a_delay_nothing_is_shown_before_its_time(data: Path) -> None:
    with served(data, "--delay", "3600") as port:
        assert ask(port, "/healthz")[0] == 200
        for path in ("/", "/api/report", "/api/progress"):
            assert ask(port, path)[0] == 503


def test_a_tournament_is_shown_while_it_is_played_and_no_longer(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "cup.toml").write_text(
        'name = "cup"\npairs = 120\nblock = 4\ntrust_bots = true\n[[bots]]\nbot = "random"\n[[bots]]\nbot = "greedy"\n'
    )
    command = [*ARENA, "tournament", "cup.toml", "--web", f"127.0.0.1:{port}", "--no-pages"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for(port, process)
        (child,) = [each for each in psutil.Process(process.pid).children() if "web" in each.cmdline()]
        seen: list[int] = []
        lags, now = [], set()
        for told in events(port):
            assert isinstance(told["matches_finished"], int)
            seen.append(told["matches_finished"])
            lags.append(told["lag"])
            now |= set(told["now"])
            if len(set(seen)) >= 3 and now and lags[-1] is not None:
                break
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=WAIT_S)
    assert seen == sorted(seen) and seen[-1] > seen[0]
    assert lags[-1]["p99_ms"] >= lags[-1]["median_ms"] >= 0
    assert all(re.fullmatch(ON_NOW, each) for each in now), now
    assert f"watch it at http://127.0.0.1:{port}/" in said and "Traceback" not in said
    assert not child.is_running()
    with socket.socket() as knock:
        assert knock.connect_ex(("127.0.0.1", port)) != 0


def test_a_block_is_on_now_before_anything_has_come_from_it(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "cup.toml").write_text(
        'name = "cup"\npairs = 3\ntrust_bots = true\n[[bots]]\nbot = "slow.py"\n[[bots]]\nbot = "greedy"\n'
    )
    command = [*ARENA, "tournament", "cup.toml", "--web", f"127.0.0.1:{port}", "--no-pages", "--quiet"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
        wait_for(port, process)
        told = next(told for told in events(port) if told["now"])
        process.terminate()
    assert told["matches_finished"] == 0
    (block,) = cast(list[str], told["now"])
    assert re.fullmatch(r"greedy - slow, leg 0, lists 0 to 2: 0 of 3 played, since \d\d:\d\d:\d\d UTC", block)


def test_it_ends_with_an_arena_that_is_killed(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "cup.toml").write_text(
        'name = "cup"\npairs = 500\ntrust_bots = true\n[[bots]]\nbot = "random"\n[[bots]]\nbot = "greedy"\n'
    )
    command = [*ARENA, "tournament", "cup.toml", "--web", f"127.0.0.1:{port}", "--quiet"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_for(port, process)
        (child,) = [each for each in psutil.Process(process.pid).children() if "web" in each.cmdline()]
        process.kill()
        process.wait()
    _, alive = psutil.wait_procs([child], timeout=WAIT_S)
    assert alive == []


def test_mistakes_are_told_in_a_sentence(here: Here, data: Path, tmp_path: Path) -> None:
    for address in ("8066", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:x", ":8066"):
        done = here("web", "cup", "--data", data, "--listen", address)
        assert done.code == 2 and "expected a host and a port" in done.err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = here("web", "cup", "--data", data, "--listen", address)
        assert done.code == 2 and "choose another address or port" in done.err
        play_run(tmp_path, "one", {"left": plain, "right": sound, "third": faulty}, pairs=1)
        (tmp_path / "cup.toml").write_text('[[bots]]\nbot = "random"\n[[bots]]\nbot = "greedy"\n')
        done = here("tournament", tmp_path / "cup.toml", "--data", tmp_path / "d", "--web", address)
        assert done.code == 2 and not (tmp_path / "d" / "arena.db").exists()
