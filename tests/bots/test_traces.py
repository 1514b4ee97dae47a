"""Files beside a bot's folder: what changed between two looks is found, but for what is the arena's own."""

from __future__ import annotations

from pathlib import Path

from arena.bots.check import traces


def test_what_is_new_and_what_has_changed_is_found(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("one")
    (tmp_path / "same").write_text("one")
    before = traces.look((tmp_path,))
    (tmp_path / "old").write_text("one, two")
    (tmp_path / "new").touch()
    (tmp_path / "arena-check-log").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "below").touch()
    assert traces.changed(before, traces.look((tmp_path,))) == {str(tmp_path / "old"), str(tmp_path / "new")}


def test_what_is_not_there_has_no_files(tmp_path: Path) -> None:
    assert traces.look((tmp_path / "nowhere",)) == {}


def test_a_bot_may_write_to_its_own_folder_wherever_it_lies(tmp_path: Path) -> None:
    assert traces.places(tmp_path)[0] == tmp_path.parent
    home = Path.home()
    assert home not in traces.places(home)
