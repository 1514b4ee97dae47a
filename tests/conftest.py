"""A skipped test is a failure under CI=true: what cannot run there must be installed there."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

from tests import postgres
from tests.browsers import ARGUMENTS, CHROMIUM, LOCAL

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As a shell has it for what runs in the background; programs started here would be deaf to Ctrl-C, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.pop("COLUMNS", None)
"""Processes that run tests side by side have it, others do not; what the arena prints to a pipe is as wide as that."""
IN_CI = os.environ.get("CI") == "true"


def _unskip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"under CI=true nothing is skipped: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _unskip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _unskip(report)
    return report


@pytest.fixture(scope="session")
def server() -> Iterator[postgres.Server]:
    """A PostgreSQL server of our own."""
    if postgres.BINARIES is None:
        pytest.skip("there is no PostgreSQL here (apt install postgresql); it is required in CI")
    with postgres.running() as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, for one module: while it lives no other event loop may run."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails the test at its end if anything was refused, failed or asked of another."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))
    page.on("request", lambda request: None if LOCAL.match(request.url) else complaints.append(request.url))
    page.on("requestfailed", lambda request: complaints.append(f"failed: {request.url}"))
    yield page
    page.close()
    assert complaints == []
