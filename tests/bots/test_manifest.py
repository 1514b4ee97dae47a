"""What a user's words for a bot come to, and which sentence answers a mistake."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from arena.bots import manifest
from arena.bots.manifest import BotKind, BotSpec, read_folder, resolve
from arena.errors import UsageError

MINIMAL = 'name = "Greedy"\n[run]\ncommand = ["python3", "bot.py"]\n'


def write_bot(folder: Path, toml: str = MINIMAL) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bot.toml").write_text(toml, encoding="utf-8")
    (folder / "bot.py").write_text("print('hello')\n", encoding="utf-8")
    return folder


def refusal(spec: str, base: Path, name: str | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        resolve(spec, name=name, base=base)
    return str(caught.value)


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two built-in bots of our own, so that these tests do not depend on which ones are shipped."""
    folder = tmp_path / "samples"
    write_bot(folder / "random", MINIMAL.replace("Greedy", "Random"))
    write_bot(folder / "greedy")
    monkeypatch.setattr(manifest, "sample_bots_folder", lambda: folder)
    return folder


# --- the kinds ----------------------------------------------------------------------------------------------


def test_a_folder_is_read_from_its_manifest_with_all_that_it_says(tmp_path: Path) -> None:
    write_bot(
        tmp_path / "mine",
        """
        name = "  Ämil 7 "
        version = "1.2"
        author = "Ada"
        description = "plays high"
        rules = ["schnapsen", "bummerl"]
        cores = 2
        memory_mb = 700
        [run]
        command = ["python", "bot.py", "--deep"]
        [build]
        command = ["true"]
        network = true
        tools = { sh = "dash", cat = "coreutils" }
        """,
    )
    spec = resolve("./mine", base=tmp_path)
    assert spec == BotSpec(
        name="Ämil 7",
        kind=BotKind.FOLDER,
        digest=spec.digest,
        version="1.2",
        author="Ada",
        description="plays high",
        rules=("schnapsen", "bummerl"),
        build=("true",),
        build_network=True,
        tools=(("sh", "dash"), ("cat", "coreutils")),
        run=(sys.executable, "bot.py", "--deep"),
        cwd=tmp_path / "mine",
        cores=2,
        memory_mb=700,
    )
    assert not spec.remote


def test_the_defaults_are_one_core_half_a_gigabyte_and_no_build(tmp_path: Path) -> None:
    spec = resolve(str(write_bot(tmp_path / "mine")), base=Path("/"))
    assert (spec.cores, spec.memory_mb, spec.build, spec.rules, spec.version) == (1, None, (), (), "")


def test_a_python_file_runs_with_the_python_of_the_arena_in_its_folder(tmp_path: Path) -> None:
    write_bot(tmp_path / "mine")
    spec = resolve("mine/bot.py", base=tmp_path)
    assert (spec.kind, spec.name, spec.cwd) == (BotKind.FILE, "bot", tmp_path / "mine")
    assert spec.run == (sys.executable, "./bot.py")


def test_an_executable_file_runs_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "clever").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "clever").chmod(0o755)
    spec = resolve("clever", base=tmp_path)
    assert (spec.kind, spec.run, spec.cwd) == (BotKind.FILE, ("./clever",), tmp_path)


def test_a_command_is_split_as_a_shell_would(tmp_path: Path) -> None:
    (tmp_path / "my bot.py").touch()
    spec = resolve("python3 'my bot.py' --x", base=tmp_path)
    assert (spec.kind, spec.name, spec.cwd) == (BotKind.COMMAND, "my bot", tmp_path)
    assert spec.run == (sys.executable, "my bot.py", "--x")


def test_a_single_program_in_path_is_a_command(tmp_path: Path) -> None:
    assert resolve("cat", base=tmp_path).kind is BotKind.COMMAND


@pytest.mark.parametrize("address", ["localhost:50051", "127.0.0.1:1", "[::1]:65535", "unix:/run/bot.sock"])
def test_an_address_is_a_remote_bot_with_nothing_to_run(address: str, tmp_path: Path) -> None:
    spec = resolve(address, base=tmp_path)
    assert (spec.kind, spec.address, spec.run, spec.remote) == (BotKind.ADDRESS, address, (), True)


def test_a_relative_socket_path_is_relative_to_the_config(tmp_path: Path) -> None:
    assert resolve("unix:a/b.sock", base=tmp_path, name="x").address == f"unix:{tmp_path}/a/b.sock"


def test_an_address_too_long_for_a_name_is_named_by_its_end(tmp_path: Path) -> None:
    spec = resolve(f"unix:/{'a' * 60}/bot.sock", base=tmp_path)
    assert (spec.name, len(spec.name)) == (f"...{'a' * 52}/bot.sock", 64)
    assert spec.address == f"unix:/{'a' * 60}/bot.sock"


def test_a_built_in_name_is_the_sample_bot(samples: Path, tmp_path: Path) -> None:
    spec = resolve("random", base=tmp_path / "elsewhere")
    assert (spec.kind, spec.name, spec.cwd) == (BotKind.BUILTIN, "Random", samples / "random")


def test_a_file_of_a_built_in_name_is_meant_only_with_a_separator(samples: Path, tmp_path: Path) -> None:
    (tmp_path / "random").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "random").chmod(0o755)
    assert resolve("random", base=tmp_path).kind is BotKind.BUILTIN
    assert resolve("./random", base=tmp_path).kind is BotKind.FILE


def test_a_bot_folder_of_a_built_in_name_wins_over_the_built_in_bot(samples: Path, tmp_path: Path) -> None:
    write_bot(tmp_path / "random")
    assert resolve("random", base=tmp_path).kind is BotKind.FOLDER


def test_a_folder_without_manifest_does_not_hide_a_built_in_bot(samples: Path, tmp_path: Path) -> None:
    (tmp_path / "random").mkdir()
    assert resolve("random", base=tmp_path).kind is BotKind.BUILTIN


def test_a_given_name_overrides_the_bots_own(tmp_path: Path) -> None:
    write_bot(tmp_path / "mine")
    assert resolve("./mine", name=" Second ", base=tmp_path).name == "Second"


def test_a_very_long_command_is_not_taken_for_a_path(tmp_path: Path) -> None:
    assert len(resolve("cat " + "x" * 5000, base=tmp_path).run[1]) == 5000


# --- mistakes -----------------------------------------------------------------------------------------------


def test_all_mistakes_of_a_manifest_are_told_at_once_with_file_and_key(tmp_path: Path) -> None:
    run = "[run]\ncommand = []\nshell = true\n"
    write_bot(tmp_path / "mine", f'naem = "x"\ncores = "two"\nmemory_mb = 0\n{run}')
    lines = refusal("./mine", tmp_path).splitlines()
    assert all(line.startswith(f"{tmp_path / 'mine' / 'bot.toml'}: ") for line in lines)
    text = "\n".join(lines)
    assert "unknown key 'naem'; did you mean 'name'?" in text
    assert "the key 'name' is missing" in text
    assert "cores is 'two'; expected a valid integer" in text
    assert "memory_mb is 0; expected greater than or equal to 1" in text
    assert "run.command names no program" in text
    assert "unknown key 'run.shell'; known here: command" in text
    assert len(lines) == 6


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("name = ", "is not TOML"),
        ('name = "x"\n', "the key 'run' is missing; expected a table [run]"),
        ('name = "x"\nrun = "python3 bot.py"\n', "expected a table [run]"),
        ('name = "x"\n[run]\n', "the key 'run.command' is missing"),
        ('name = "x"\n[run]\ncommand = "cat x"\n', "run.command is 'cat x'; expected a valid list"),
        ('name = "x"\n[run]\ncommand = ["cat"]\n[build]\n', "the key 'build.command' is missing"),
        (MINIMAL.replace("Greedy", "  "), "name is empty"),
        (MINIMAL.replace("Greedy", "x" * 65), "name has 65 characters"),
        (MINIMAL.replace("Greedy", "a\\u001b[31m"), "name holds the unprintable character '\\x1b'"),
        (MINIMAL.replace("Greedy", "a\\u202eb"), "name holds the unprintable character '\\u202e'"),
        (MINIMAL.replace("bot.py", "other.py"), "runs the script 'other.py', but there is no such file"),
        (MINIMAL.replace('"python3", "bot.py"', '"./bot"'), "runs './bot', but there is no such file"),
        (MINIMAL.replace('"python3", "bot.py"', '"./bot.py"'), "chmod +x"),
        (MINIMAL.replace("python3", "no-such-program"), "'no-such-program', which is not in PATH"),
    ],
)
def test_a_broken_manifest_is_refused_with_a_sentence(toml: str, words: str, tmp_path: Path) -> None:
    text = refusal(str(write_bot(tmp_path / "mine", toml)), tmp_path)
    assert words in text and str(tmp_path / "mine") in text


def test_a_tool_that_is_missing_is_named_with_what_to_install(tmp_path: Path) -> None:
    toml = 'name = "x"\n[run]\ncommand = ["no-vm"]\n[build]\ncommand = ["no-make"]\n[build.tools]\n'
    toml += 'no-vm = "vm-headless"\nsh = "dash"\nno-compiler = "vm-headless"\nno-make = "make-it libmake-dev"\n'
    write_bot(tmp_path / "mine", toml)
    assert refusal("./mine", tmp_path) == (
        f"{tmp_path}/mine/bot.toml: the bot needs what is not in PATH: no-vm, no-compiler, no-make "
        "(Debian: apt install vm-headless make-it libmake-dev)"
    )
    assert read_folder(tmp_path / "mine").name == "x"


def test_a_program_that_the_build_makes_need_not_be_there_yet(tmp_path: Path) -> None:
    write_bot(tmp_path / "mine", 'name = "x"\n[run]\ncommand = ["./bot"]\n[build]\ncommand = ["true"]\n')
    assert resolve("./mine", base=tmp_path).run == ("./bot",)


def test_a_manifest_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (write_bot(tmp_path / "mine") / "bot.toml").write_bytes(b'name = "\xff"')
    assert "is not UTF-8" in refusal("./mine", tmp_path)


def test_missing_things_are_named(samples: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").touch()
    assert f"there is no bot at {tmp_path / 'bots/mine'}" in refusal("bots/mine", tmp_path)
    assert f"{tmp_path / 'empty'} has no bot.toml" in refusal("empty", tmp_path)
    assert "neither Python (*.py) nor executable" in refusal("notes.txt", tmp_path)
    assert "there is no bot 'gredy' (did you mean 'greedy'?)" in refusal("gredy", tmp_path)
    assert "no such file" in refusal("python3 mine.py", tmp_path)
    assert "not in PATH" in refusal("no-such-program --x", tmp_path)
    assert "cannot be split" in refusal("cat 'x", tmp_path)
    assert "expected 1 to 65535" in refusal("example.org:99999", tmp_path)
    assert "random" in refusal("  ", tmp_path)


@pytest.mark.parametrize("name", ["", "  ", "x" * 65, "a\nb", "a\x00b"])
def test_an_impossible_given_name_is_refused(name: str, tmp_path: Path) -> None:
    write_bot(tmp_path / "mine")
    assert "expected 1 to 64 printable characters" in refusal("./mine", tmp_path, name=name)


# --- digests ------------------------------------------------------------------------------------------------


def digest(folder: Path) -> str:
    return resolve(str(folder), base=folder).digest


def test_a_digest_depends_on_paths_and_contents_only(tmp_path: Path) -> None:
    one, two = write_bot(tmp_path / "one"), write_bot(tmp_path / "two")
    assert digest(one) == digest(two) == resolve(str(one), name="other", base=tmp_path).digest
    (two / "bot.py").write_text("print('other')\n", encoding="utf-8")
    assert digest(one) != digest(two)


def test_a_renamed_source_file_changes_the_digest(tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "mine")
    (bot / "a").write_text("b", encoding="utf-8")
    before = digest(bot)
    (bot / "a").rename(bot / "b")
    assert digest(bot) != before


def test_text_cannot_move_between_files_without_a_new_digest(tmp_path: Path) -> None:
    one, two = write_bot(tmp_path / "one"), write_bot(tmp_path / "two")
    (one / "a").write_text("xy", encoding="utf-8")
    (one / "b").write_text("z", encoding="utf-8")
    (two / "a").write_text("x", encoding="utf-8")
    (two / "b").write_text("yz", encoding="utf-8")
    assert digest(one) != digest(two)


@pytest.mark.parametrize("made", ["__pycache__", ".git", "target", "node_modules", "dist", "build"])
def test_what_tools_make_does_not_change_the_digest(made: str, tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "mine")
    before = digest(bot)
    (bot / "src" / made).mkdir(parents=True)
    (bot / "src" / made / "thing").write_text("x", encoding="utf-8")
    assert digest(bot) == before


def test_pipes_and_dangling_links_in_the_source_hang_nothing(tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "mine")
    before = digest(bot)
    os.mkfifo(bot / "pipe")
    assert digest(bot) == before
    (bot / "link").symlink_to("nowhere")
    linked = digest(bot)
    (bot / "link").unlink()
    (bot / "link").symlink_to("elsewhere")
    assert len({before, linked, digest(bot)}) == 3


def test_a_commands_digest_covers_the_files_it_names(tmp_path: Path) -> None:
    script = tmp_path / "my.py"
    script.write_text("1", encoding="utf-8")
    before = resolve("python3 my.py", base=tmp_path).digest
    assert resolve("python3 my.py --x", base=tmp_path).digest != before
    script.write_text("2", encoding="utf-8")
    assert resolve("python3 my.py", base=tmp_path).digest != before


def test_a_files_digest_does_not_look_at_its_neighbours(tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "mine")
    before = resolve("mine/bot.py", base=tmp_path).digest
    (bot / "neighbour.py").touch()
    assert resolve("mine/bot.py", base=tmp_path).digest == before
