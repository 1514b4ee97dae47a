"""Foreign text (names, authors, evidence) is made harmless here, visibly, before any format shows it."""

from __future__ import annotations

import re

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]+")


def printable(text: str) -> str:
    r"""The text with each unprintable character written as an escape, and a backslash as two.

    Control characters, terminal escapes, line breaks, direction overrides and lone surrogates all show as what they
    are: `\x1b`, `\n`, `\u202e`.  Two different texts never give the same.
    """
    return escaped(text.replace("\\", "\\\\"))


def escaped(text: str) -> str:
    """As `printable`, but a backslash stays one: for sentences of ours that quote foreign text."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def isolated(text: str) -> str:
    """Printable text, each word from right to left in marks that keep it from turning its neighbours: for a page."""
    return _RIGHT_TO_LEFT.sub("\u2068\\g<0>\u2069", text)
