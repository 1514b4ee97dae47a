"""What a new bot is copied from."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Language(StrEnum):
    """In what a new bot is written."""

    PYTHON = "python"
    GO = "go"
    JAVA = "java"
    NODE = "node"
    CPP = "cpp"
    RUST = "rust"


TEMPLATES: Mapping[Language, str] = {
    Language.PYTHON: "templates/python",
    **{language: f"sample_bots/greedy-{language}" for language in Language if language is not Language.PYTHON},
}
"""The bot that is copied, by where it is shipped: its name there is replaced by the new one in all its files."""
