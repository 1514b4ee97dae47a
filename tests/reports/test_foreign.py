"""Foreign text comes out printable, visibly, and never as another text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.reports.foreign import printable


def test_what_a_terminal_obeys_is_written_as_an_escape() -> None:
    assert printable("\x1b[31m\x07\n\r\x9b\x00") == r"\x1b[31m\x07\n\r\x9b\x00"


def test_direction_overrides_and_invisible_characters_show() -> None:
    assert printable("a\u202eb\u200bc\ufeff") == r"a\u202eb\u200bc\ufeff"


def test_a_name_that_looks_empty_is_seen() -> None:
    assert printable("  ") == r"\x20\x20" and printable(" a ") == " a "
    assert printable("\u2800") == r"\u2800" and printable("a\u3164") == r"a\u3164"


def test_letters_of_any_script_stay() -> None:
    assert printable("Zoë 漢字 🂡 ½") == "Zoë 漢字 🂡 ½"


@given(st.text(st.characters(codec=None)), st.text(st.characters(codec=None)))
def test_every_text_is_printable_and_two_never_look_the_same(one: str, other: str) -> None:
    assert printable(one).isprintable()
    assert (printable(one) == printable(other)) == (one == other)
