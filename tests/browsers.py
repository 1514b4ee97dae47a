"""Chromium, for tests that look at pages: the fixture `page` is in tests/conftest.py."""

from __future__ import annotations

import re
import shutil

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no chromium here (apt install chromium); it is required in CI"
)
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"]
LOCAL = re.compile(r"file:|http://127\.0\.0\.1:")
