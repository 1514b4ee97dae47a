"""`arena export` and `arena verify`: a real run, proved in another folder from its file alone."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli.exits import Exit
from tests.cli.conftest import COMMAND, Arena, Here, environment, make_folder
from tests.reports.runs import play_run

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
IDENTICAL = re.compile(r"identical: 10 matches, (\d+) deals, ([\d,]+) decisions; head ([0-9a-f]{64})\n")


@pytest.fixture(scope="module")
def place(arena: Arena, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two real bots that was finished, and then grew by an epoch."""
    folder = make_folder(tmp_path_factory.mktemp("place"), pairs=3)
    assert arena("tournament", "--name", "cup", cwd=folder).returncode == 0
    make_folder(folder, pairs=5)
    assert arena("tournament", "--resume", "cup", cwd=folder).returncode == 0
    return folder


@pytest.fixture(scope="module")
def file(arena: Arena, place: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("elsewhere") / "cup.jsonl"
    assert arena("export", "cup", "--output", path, "--quiet", cwd=place).stderr == ""
    return path


def test_a_file_is_verified_in_another_folder_without_a_store(here: Here, place: Path, file: Path) -> None:
    shown = here("show", "cup", "--data", place / "arena-data").out
    head = re.search(r"Play chain +([0-9a-f]{64})", shown)
    assert head
    code, out, err = here("verify", file, "--head", head[1])
    found = IDENTICAL.fullmatch(out)
    assert (code, err) == (Exit.DONE, "") and found
    assert found[3] == head[1]


def test_the_file_is_all_that_a_verification_needs(file: Path, tmp_path: Path) -> None:
    """Nothing is set and nothing else lies there; nothing is written."""
    shutil.copy(file, tmp_path / "cup.jsonl")
    command = [sys.executable, "-I", "-B", "-m", "arena", "verify", "cup.jsonl"]
    done = subprocess.run(command, cwd=tmp_path, env={}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (Exit.DONE, "")
    assert IDENTICAL.fullmatch(done.stdout)
    assert [path.name for path in tmp_path.iterdir()] == ["cup.jsonl"]


def test_a_run_and_its_file_say_the_same(here: Here, place: Path, file: Path) -> None:
    data = place / "arena-data"
    assert here("verify", "cup", "--data", data) == here("verify", file)
    assert here("verify", data / "runs" / "cup") == here("verify", file)


def test_the_file_goes_to_the_folder_of_the_run_and_the_way_on_is_told(arena: Arena, place: Path, file: Path) -> None:
    done = arena("export", cwd=place)
    assert (done.returncode, done.stdout) == (0, "")
    written = place / "arena-data" / "runs" / "cup" / "export.jsonl"
    assert written.read_bytes() == file.read_bytes()
    command = re.search(r"arena verify arena-data/runs/cup/export\.jsonl --head [0-9a-f]{64}", done.stderr)
    assert command
    assert IDENTICAL.fullmatch(arena(*command[0].split()[1:], cwd=place).stdout)


def test_an_export_can_be_piped_into_a_verification(place: Path, file: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "export", "cup", "--output", "-"], cwd=place, stdout=subprocess.PIPE, env=environment()
    ) as writing:
        assert writing.stdout is not None
        done = subprocess.run(
            [*COMMAND, "verify", "/dev/stdin"], stdin=writing.stdout, capture_output=True, text=True, env=environment()
        )
    assert (writing.returncode, done.returncode) == (0, 0)
    assert IDENTICAL.fullmatch(done.stdout)


def test_a_reader_of_an_export_who_leaves_is_no_error(place: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "export", "cup", "--output", "-"],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as writing:
        assert writing.stdout is not None and writing.stderr is not None
        writing.stdout.close()
        assert writing.stderr.read() == b""
    assert writing.returncode == 0


def test_partners_are_verified_too_and_a_bot_with_two_seats_loses_once(arena: Arena, tmp_path: Path) -> None:
    example = (EXAMPLES / "four-handed.toml").read_text("utf-8")
    (tmp_path / "tournament.toml").write_text(re.sub(r"(?m)^pairs = \d+", "pairs = 1", example), "utf-8")
    assert arena("tournament", cwd=tmp_path).returncode == 0
    done = arena("verify", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("identical: 6 matches, ")


def test_a_changed_file_is_told_with_the_place(here: Here, file: Path, tmp_path: Path) -> None:
    lines = file.read_text("ascii").splitlines(keepends=True)
    number = next(number for number, line in enumerate(lines) if '"table":"matches"' in line)
    lines[number] = lines[number].replace('"points":[7,', '"points":[6,').replace(',7],"ranks"', ',6],"ranks"')
    changed = tmp_path / "changed.jsonl"
    changed.write_text("".join(lines), "ascii")
    code, out, err = here("verify", changed)
    assert (code, err) == (Exit.WRONG, "")
    assert re.fullmatch(r"different: the match one - two \(epoch 0, leg 0, number 0\): final score: .*\n", out)


def test_another_head_is_a_difference(here: Here, file: Path) -> None:
    code, out, _ = here("verify", file, "--head", "0" * 64)
    assert code == Exit.WRONG
    assert out.startswith("different: the play chain: head: computed ") and out.endswith(f"published {'0' * 64}\n")


def test_an_open_run_is_exported_without_cards_and_cannot_be_verified_yet(here: Here, tmp_path: Path) -> None:
    play_run(tmp_path, matches=9)
    code, out, err = here("export", "cup", "--data", tmp_path)
    assert (code, out) == (Exit.DONE, "")
    assert "the secret of epoch 0 is not revealed yet: cards, actions and evidence were left out" in err
    code, out, err = here("verify", tmp_path / "runs" / "cup" / "export.jsonl")
    assert (code, err) == (Exit.STOPPED, "")
    assert out.startswith("not verifiable yet: the secret of epoch 0 is not revealed, 9 matches")


def test_a_long_verification_says_how_far_it_is(here: Here, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.cli.verify.COUNT_EVERY_S", 0.0)
    assert here("verify", file).err.splitlines()[-1] == "10 matches verified ..."
    assert here("verify", file, "--quiet").err == ""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("verify", "none.jsonl"), "none.jsonl cannot be read: No such file or directory"),
        (("verify", "tournament.toml"), "tournament.toml is no export of a run"),
        (("verify", "cap"), "the store holds no tournament 'cap'; did you mean 'cup'?"),
        (("verify", "cup", "--head", "abc"), "--head is 'abc'; expected the 64 hex digits"),
        (("export", "cap"), "the store holds no tournament 'cap'; did you mean 'cup'?"),
        (("export", "cup", "--output", "."), ". is a folder; choose another --output"),
    ],
)
def test_a_mistake_is_a_sentence(
    here: Here, place: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.chdir(place)
    code, out, err = here(*words)
    assert (code, out) == (Exit.USAGE, "")
    assert sentence in err and err.count("\n") == 1


@pytest.mark.parametrize("command", ["export", "verify"])
def test_a_folder_without_a_store_says_what_to_do(here: Here, tmp_path: Path, command: str) -> None:
    code, _, err = here(command, "cup", "--data", tmp_path)
    assert code == Exit.USAGE and "no tournament was played in" in err


def test_a_file_that_cannot_be_written_is_a_sentence(here: Here, tmp_path: Path) -> None:
    play_run(tmp_path, pairs=1)
    (tmp_path / "runs").write_text("in the way of the folder of the run")
    nowhere = tmp_path / "no" / "such" / "file"
    for words in ((), ("--output", nowhere)):
        code, out, err = here("export", "cup", "--data", tmp_path, *words)
        assert (code, out) == (Exit.USAGE, "")
        assert re.fullmatch(r"arena: .* cannot be written: .*; choose another --output\n", err)
    assert not (tmp_path / "no").exists()
