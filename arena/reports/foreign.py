"""Foreign text (names, authors, evidence) is made harmless here, visibly, before any format shows it."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""The text with each unprintable character written as an escape, and a backslash as two.

    Control characters, terminal escapes, line breaks, direction overrides and lone surrogates all show as what they
    are: `\x1b`, `\n`, `\u202e`.  Two different texts never give the same.
    """
    return escaped(text.replace("\\", "\\\\"))


def escaped(text: str) -> str:
    """As `printable`, but a backslash stays one: for sentences of ours that quote foreign text."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
