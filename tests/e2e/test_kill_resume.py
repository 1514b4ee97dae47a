"""A tournament survives its arena: the program that kills it, in its short form (`make soak` has the long one)."""

from __future__ import annotations

import pytest

from tests.e2e import kill_resume
from tests.postgres import Server

KILLS = 8


@pytest.mark.timeout(600)
def test_a_run_that_is_killed_and_resumed_is_the_uninterrupted_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert kill_resume.main([str(KILLS)]) == 0, capsys.readouterr().err


@pytest.mark.timeout(600)
def test_so_is_one_on_a_server(
    server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kill_resume, "KILLS_OF_ONE", 2)
    words = ["1", "--cup", "3", "--store", server.new()]
    assert kill_resume.main(words) == 0, capsys.readouterr().err
