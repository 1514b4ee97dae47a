"""An arena's needs do not grow with the matches it plays: the program that looks at them, in its short form."""

from __future__ import annotations

import pytest

from tests.e2e import flat


@pytest.mark.timeout(600)
@pytest.mark.parametrize("words", [("40",), ("600", "--block", "32")])
def test_the_second_half_of_a_run_needs_no_more_than_the_first(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert flat.main(words) == 0, capsys.readouterr().out
