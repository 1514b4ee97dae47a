"""Foreign text (names, authors, evidence) is made harmless here, visibly, before any format shows it."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""The text with every character that is not printable written as an escape, and a backslash as two.

    Control characters, terminal escapes, line breaks, direction overrides and lone surrogates all become what they
    are: `\x1b`, `\n`, `\u202e`.  Two different texts never look the same.
    """
    return "".join(
        char if char.isprintable() and char != "\\" else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text
    )
