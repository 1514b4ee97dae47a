"""Where output goes that nobody takes: closed streams, full disks, readers who have left, devices, pipes and links."""

from __future__ import annotations

import os
import shlex
import subprocess
import threading
from pathlib import Path

import pytest

from arena.cli.exits import Exit
from tests.cli.conftest import COMMAND, Here, environment
from tests.reports.runs import play_run

WRITERS = ("--help", "show --help", "--version", "show", "show --format json", "runs", "export --output -")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    play_run(folder / "arena-data", "cup", pairs=2)
    return folder


def shell(folder: Path, words: str, redirection: str) -> subprocess.CompletedProcess[str]:
    """Run `arena WORDS REDIRECTION` in a shell."""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{shlex.join(COMMAND)} {words} {redirection}"],
        cwd=folder, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("words", WRITERS)
def test_a_stdout_that_takes_nothing_is_a_sentence(folder: Path, words: str) -> None:
    done = shell(folder, words, ">/dev/full")
    assert (done.returncode, done.stderr) == (
        Exit.USAGE, "arena: stdout cannot be written: No space left on device\n"
    )  # fmt: skip


@pytest.mark.parametrize("words", ["--help", "show"])
def test_a_stdout_that_is_closed_is_a_sentence(folder: Path, words: str) -> None:
    done = shell(folder, words, ">&-")
    assert (done.returncode, done.stderr) == (Exit.USAGE, "arena: stdout cannot be written: Bad file descriptor\n")


@pytest.mark.parametrize("words", ["--help", "show", "export --output -"])
def test_a_reader_who_has_left_is_no_error(folder: Path, words: str) -> None:
    done = shell(folder, words, "| true")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("target", ["/dev/full", "&-"])
def test_a_mistake_is_a_mistake_where_stderr_takes_nothing(folder: Path, target: str) -> None:
    for words in ("frob", "show nobody"):
        done = shell(folder, words, f"2>{target}")
        assert (done.returncode, done.stdout) == (Exit.USAGE, "")


def test_no_file_of_the_arena_takes_the_place_of_a_closed_stream(folder: Path) -> None:
    store = (folder / "arena-data" / "arena.db").read_bytes()
    assert shell(folder, "show", "<&- >&- 2>&-").returncode == Exit.USAGE
    assert (folder / "arena-data" / "arena.db").read_bytes() == store


@pytest.mark.parametrize("words", [("show",), ("export", "-q")])
def test_a_pipe_and_what_a_link_points_at_are_written_to_and_stay(
    here: Here, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(folder)
    wanted, pipe, link = tmp_path / "wanted", tmp_path / "pipe", tmp_path / "link"
    assert here(*words, "--output", wanted).code == 0
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert here(*words, "--output", pipe).code == 0
    reader.join()
    assert read == [wanted.read_bytes()]
    assert pipe.is_fifo()
    link.symlink_to("file behind it")
    assert here(*words, "--output", link).code == 0
    assert link.is_symlink() and link.read_bytes() == wanted.read_bytes()
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    code, _, err = here(*words, "--output", full)
    assert (code, err) == (
        Exit.USAGE, f"arena: {full} cannot be written: No space left on device; choose another --output\n",
    )  # fmt: skip


@pytest.mark.parametrize("words", [("show",), ("export", "-q")])
def test_a_file_that_cannot_be_written_whole_leaves_the_old_one(
    folder: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "old").write_text("old")
    done = subprocess.run(
        ["bash", "-c", 'ulimit -f 0; exec "$@"', "-", *COMMAND, *words, "--output", str(tmp_path / "old")],
        cwd=folder, env=environment(), capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (
        Exit.USAGE, f"arena: {tmp_path / 'old'} cannot be written: File too large; choose another --output\n",
    )  # fmt: skip
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("old", "old")]
