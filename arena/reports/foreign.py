"""Foreign text (names, authors, evidence) is made harmless here, visibly, before any format shows it."""

from __future__ import annotations

import re

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]+")

_BLANK = "\u115f\u1160\u2800\u3164\uffa0"
"""Counted as printable, and yet nothing is seen of them."""


def printable(text: str) -> str:
    r"""The text with each unprintable character written as an escape, and a backslash as two.

    Control characters, terminal escapes, line breaks, direction overrides and lone surrogates all show as what they
    are: `\x1b`, `\n`, `\u202e`, and so do blanks where there is nothing else.  Two different texts never give the same.
    """
    return escaped(text.replace("\\", "\\\\")) if text.strip() else "".join(map(_escape, text))


def escaped(text: str) -> str:
    """As `printable`, but a backslash stays one: for sentences of ours that quote foreign text."""
    return "".join(char if char.isprintable() and char not in _BLANK else _escape(char) for char in text)


def _escape(char: str) -> str:
    return "\\x20" if char == " " else char.encode("unicode_escape").decode()


def isolated(text: str) -> str:
    """Printable text, each word from right to left in marks that keep it from turning its neighbours: for a page."""
    return _RIGHT_TO_LEFT.sub("\u2068\\g<0>\u2069", text)
