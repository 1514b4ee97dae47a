"""A new bot is a folder that plays at once, and type checkers and its own tests find nothing wrong with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from arena.app.new import new_bot
from arena.app.templates import TEMPLATES, Language
from arena.bots.manifest import read_folder, resolve, shipped, sources
from arena.errors import UsageError
from tests.cli.conftest import Arena, Here

SAMPLES_AUTHOR = "The Sixty-Six Arena authors"


def python(folder: Path, *words: str) -> str:
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("new") / "Rosa-2"
    new_bot(made, Language.PYTHON)
    return made


def test_it_has_the_four_files_with_its_name_in_them(folder: Path) -> None:
    files = sources(folder)
    assert {path.name for path in files} == {"bot.py", "bot.toml", "test_bot.py", "README.md"}
    assert resolve("./Rosa-2", base=folder.parent).name == "Rosa-2"
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert "mybot" not in text, path.name
        assert "Rosa-2" in text, path.name


def test_it_wins_a_match_against_the_random_bot(arena: Arena, folder: Path) -> None:
    done = arena("play", "./Rosa-2", "random", "--seed", "5", cwd=folder.parent)
    assert done.returncode == 0 and "by a fault" not in done.stdout
    assert "Rosa-2 wins 7-" in done.stdout, done.stdout


def test_its_own_tests_pass(folder: Path) -> None:
    assert "OK" in python(folder, "-m", "unittest")


def test_a_strict_type_checker_finds_nothing_in_it(folder: Path) -> None:
    python(folder, "-m", "mypy", "--strict", ".")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("1st", "cannot be called '1st'"),
        ("my bot", "such as mybot"),
        ("x" * 65, "64 in all at most"),
        ("greedy", "'greedy' is the name of a sample bot"),
        ("there", "there is there already; choose another name"),
        ("file/mybot", "cannot be made: "),
    ],
)
def test_a_name_that_is_of_no_use_is_refused_and_nothing_is_written(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, sentence: str
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    code, out, err = here("new", name)
    assert (code, out) == (2, "") and sentence in err
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "there"]


def test_the_command_says_what_it_made_and_what_to_do_next(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = here("new", "bots/mybot")
    assert done.out.splitlines() == [
        f"bots/mybot/{name}" for name in ("README.md", "bot.py", "bot.toml", "test_bot.py")
    ]
    assert done.err == "it plays already: arena play ./bots/mybot random --watch\n"


def test_every_language_has_a_template_that_is_shipped(tmp_path: Path) -> None:
    for language in Language:
        assert language in TEMPLATES
        assert new_bot(tmp_path / f"in-{language}", language)
    with pytest.raises(UsageError):
        new_bot(tmp_path / "in-python", Language.PYTHON)


@pytest.mark.parametrize("language", [language for language in Language if language is not Language.PYTHON])
def test_in_another_language_it_is_the_sample_bot_with_a_name_of_its_own_and_the_proto_files(
    tmp_path: Path, language: Language
) -> None:
    template, proto = shipped(TEMPLATES[language]), shipped("proto")
    made = new_bot(tmp_path / "Rosa-2", language).files
    of_sample = {path.relative_to(template): path for path in sources(template)}
    of_proto = {"proto" / path.relative_to(proto): path for path in proto.rglob("*.proto")}
    assert {path.relative_to(tmp_path / "Rosa-2") for path in made} == of_sample.keys() | of_proto.keys()
    for relative, path in (of_sample | of_proto).items():
        text = path.read_text(encoding="utf-8").replace(template.name, "Rosa-2")
        assert (tmp_path / "Rosa-2" / relative).read_text(encoding="utf-8") == text.replace(SAMPLES_AUTHOR, "")
    bot = read_folder(tmp_path / "Rosa-2")
    assert bot.name == "Rosa-2" and not bot.author
    assert bot.build and bot.tools


def test_the_languages_are_listed_with_their_tools(here: Here) -> None:
    done = here("new", "--list-langs")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()] == list(Language)
    assert "mvn (Debian: apt install default-jdk-headless maven)" in done.out


def test_a_bot_is_made_even_where_its_tools_are_missing_and_it_says_which(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    done = here("new", "mybot", "--lang", "cpp")
    assert done.code == 0 and (tmp_path / "mybot" / "main.cpp").exists()
    assert "it needs what is not in PATH: cmake, g++, protoc, grpc_cpp_plugin (Debian: apt install cmake" in done.err
