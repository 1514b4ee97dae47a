"""Chromium, for tests that look at pages: the fixture `page` is in tests/conftest.py."""

from __future__ import annotations

import re
import shutil
from typing import Literal

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no chromium here (apt install chromium); it is required in CI"
)
SHAPES: dict[str, tuple[int, Literal["light", "dark"]]] = {
    "light": (1280, "light"),
    "dark": (1280, "dark"),
    "phone": (360, "light"),
}
"""How a page is looked at: the width of the window, and the colours."""
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"]
LOCAL = re.compile(r"file:|http://127\.0\.0\.1:")
