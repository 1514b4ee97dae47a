"""What a bot is: `resolve` turns the words of a user into a `BotSpec`, or says in a sentence why it cannot.

A spec is read in this order; the first that fits wins:

1. an address, `host:port`, `[v6]:port` or `unix:/path` (a file of such a name is written `./host:80`);
2. a path with a separator in it (folder or file), or the bare name of a folder that holds a bot.toml;
3. the name of a built-in sample bot (so `random` is ours even where a *file* `random` lies);
4. the bare name of a file or of a folder without bot.toml;
5. a command, `python3 my.py --x`: several words, or one program found in PATH.
"""

from __future__ import annotations

import hashlib
import os
import re
import reprlib
import shlex
import shutil
import stat
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, NoReturn

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from arena.bots.certificates import Keys
from arena.bots.certificates import read as read_keys
from arena.errors import UsageError
from arena.wire.remote import is_local

MANIFEST = "bot.toml"
NAME_LENGTH = 64
TEXT_LENGTH = 200

_NO_SOURCE = frozenset(
    {"__pycache__", ".git", "target", "node_modules", "dist", "build"}
    | {".venv", "venv", ".mypy_cache", ".pytest_cache", ".ruff_cache", "arena-data"}
)
"""Folders that tools make and authors do not write."""
_SCRIPT_SUFFIXES = frozenset({".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".sh", ".lua", ".jar"})
_ADDRESS = re.compile(r"unix:(?P<path>.+)|(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]+)")


Tools = tuple[tuple[str, str], ...]
"""Programs, each with the Debian packages (one or several words) that it takes."""


class BotKind(Enum):
    """How the bot was named."""

    BUILTIN = "builtin"
    """A sample bot that comes with the arena."""
    FOLDER = "folder"
    """A folder with a bot.toml that says how to run it."""
    FILE = "file"
    """A single file: Python source, or anything executable."""
    COMMAND = "command"
    """A command line."""
    ADDRESS = "address"
    """A remote bot: somebody else runs it, the arena only connects."""


@dataclass(frozen=True, slots=True)
class BotSpec:
    """A bot as its author or the organiser describes it: what to build, what to run, how it is called."""

    name: str
    """1 to 64 printable characters; foreign text, to be escaped where it is shown."""
    kind: BotKind
    digest: str
    """SHA-256 in hex of the bot's sources: the same digest is the same bot, under whatever name."""
    version: str = ""
    author: str = ""
    description: str = ""
    rules: tuple[str, ...] = ()
    """Names of the presets it says it plays; empty: ask it."""
    build: tuple[str, ...] = ()
    """Program and arguments that build it, run in `cwd`; empty: nothing to build."""
    build_network: bool = False
    """Whether its build asks for the network."""
    tools: Tools = ()
    """What it takes to build and run it."""
    run: tuple[str, ...] = ()
    """Program and arguments, run in `cwd`; empty for a remote bot."""
    cwd: Path = Path("/")
    cores: int = 1
    memory_mb: int | None = None
    """What it asks for; None: it does not say."""
    processes: bool = False
    """Whether it starts processes of its own."""
    address: str | None = None
    """Where a remote bot listens; None for a bot that the arena starts."""
    keys: Keys | None = None
    """How a remote bot and the arena know each other; None: in plain text, by nothing."""

    @property
    def remote(self) -> bool:
        return self.address is not None

    @property
    def known_here_only(self) -> bool:
        """Whether nothing says who it is but an address that means somebody else on every machine."""
        return self.address is not None and self.keys is None and is_local(self.address)


def resolve(spec: str, *, name: str | None = None, base: Path) -> BotSpec:
    """The bot that `spec` names; `name` overrides what it calls itself; paths are relative to `base`.

    Raises `UsageError`: nothing of that name, a broken bot.toml, a missing or unusable program, a bad name.
    """
    spec = spec.strip()
    if not spec or "\0" in spec:
        raise UsageError(
            f"a bot is named by {spec!r}; expected a built-in bot ({_builtins_in_words()}), "
            "a folder, a file, a command or an address"
        )
    given = None if name is None else checked_name(name, f"the name given to the bot {spec!r}")
    if match := _ADDRESS.fullmatch(spec):
        return _address(match, given, base)
    path = base / os.path.expanduser(spec)
    exists = os.path.exists(path)  # unlike Path.exists, false for what is too long to be a name
    if exists and (_has_separator(spec) or (path / MANIFEST).is_file()):
        return _path(path, given)
    if spec in builtin_names():
        return _folder(sample_bots_folder() / spec, given, BotKind.BUILTIN)
    if exists:
        return _path(path, given)
    return _command(spec, given, base)


def shipped(path: str) -> Path:
    """A folder that comes with the arena: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    in_wheel = package / "_data"
    return (in_wheel if in_wheel.is_dir() else package.parent) / path


def sample_bots_folder() -> Path:
    """Where the sample bots lie."""
    return shipped("sample_bots")


def builtin_names() -> tuple[str, ...]:
    """The names of the sample bots, sorted."""
    return tuple(sorted(manifest.parent.name for manifest in sample_bots_folder().glob(f"*/{MANIFEST}")))


# --- the five kinds -----------------------------------------------------------------------------------------


def _address(match: re.Match[str], name: str | None, base: Path) -> BotSpec:
    if match["path"] is not None:
        address = f"unix:{os.path.abspath(base / match['path'])}"
    else:
        address = checked_address(match[0], "the bot address")
    if not is_local(address):
        raise UsageError(
            f"the bot {address!r} is on another machine, where nothing is said in plain text; make keys for it by "
            f"`arena certs` and name the folder with its {MANIFEST} (or force it there: plaintext = true)"
        )
    return BotSpec(
        name=name or checked_name(_last(address, NAME_LENGTH), f"the bot address {address!r} as a name"),
        kind=BotKind.ADDRESS,
        digest=_digest_of_texts(address),
        address=address,
    )


def _last(text: str, length: int) -> str:
    return text if len(text) <= length else f"...{text[3 - length :]}"


def _path(path: Path, name: str | None) -> BotSpec:
    return _folder(path, name, BotKind.FOLDER) if path.is_dir() else _file(path, name)


def read_folder(folder: Path, name: str | None = None, kind: BotKind = BotKind.FOLDER) -> BotSpec:
    """The bot as its bot.toml describes it, whether or not its programs are here.  Raises `UsageError` as `resolve`."""
    folder = Path(os.path.abspath(folder))
    manifest = _read_manifest(folder / MANIFEST)
    if manifest.remote is not None:
        return _remote(folder, manifest, manifest.remote, name)
    assert manifest.run is not None
    return BotSpec(
        name=name or manifest.name,
        kind=kind,
        digest=digest_of_files(folder, sources(folder)),
        version=manifest.version,
        author=manifest.author,
        description=manifest.description,
        rules=tuple(manifest.rules),
        build=() if manifest.build is None else interpreted(manifest.build.command),
        build_network=manifest.build is not None and manifest.build.network,
        tools=() if manifest.build is None else tuple(manifest.build.tools.items()),
        run=interpreted(manifest.run.command),
        cwd=folder,
        cores=manifest.cores,
        memory_mb=manifest.memory_mb,
        processes=manifest.processes,
    )


def _folder(folder: Path, name: str | None, kind: BotKind) -> BotSpec:
    spec = read_folder(folder, name, kind)
    where = spec.cwd / MANIFEST
    if missing := missing_tools(spec):
        raise UsageError(f"{where}: the bot needs what is not in PATH: {tools_in_words(missing)}")
    if spec.build:
        _require_program(spec.build, spec.cwd, f"{where}: build.command")
    elif spec.run:
        _require_program(spec.run, spec.cwd, f"{where}: run.command")
    return spec


def missing_tools(spec: BotSpec) -> Tools:
    """Those of its tools that are not in PATH."""
    return tuple((tool, package) for tool, package in spec.tools if shutil.which(tool) is None)


def tools_in_words(tools: Tools) -> str:
    """What they are, and how to get them."""
    packages = dict.fromkeys(package for _, package in tools)
    return f"{', '.join(tool for tool, _ in tools)} (Debian: apt install {' '.join(packages)})"


def _remote(folder: Path, manifest: _Manifest, remote: _Remote, name: str | None) -> BotSpec:
    """A remote bot is its certificate: whoever has the key to it is the same bot, wherever it listens."""
    where = folder / MANIFEST
    address = checked_address(remote.address, f"{where}: remote.address")
    files = {key: value for key in _KEY_FILES if (value := getattr(remote, key)) is not None}
    keys = None
    if len(files) == len(_KEY_FILES):
        keys = read_keys(*(folder / file for file in files.values()))
    elif files:
        missing = ", ".join(key for key in _KEY_FILES if key not in files)
        raise UsageError(f"{where}: [remote] lacks {missing}; expected all four files that `arena certs` made, or none")
    elif not (is_local(address) or remote.plaintext):
        raise UsageError(
            f"{where}: {address} is on another machine and [remote] names no certificate; make keys by "
            "`arena certs`, or force plain text by plaintext = true"
        )
    return BotSpec(
        name=name or manifest.name,
        kind=BotKind.ADDRESS,
        digest=_digest_of_texts(address) if keys is None else keys.fingerprint,
        version=manifest.version,
        author=manifest.author,
        description=manifest.description,
        rules=tuple(manifest.rules),
        address=address,
        keys=keys,
    )


def _file(path: Path, name: str | None) -> BotSpec:
    path = Path(os.path.abspath(path))
    if not path.is_file():
        raise UsageError(f"the bot {path} is neither a file nor a folder; expected one of them")
    if path.suffix == ".py":
        run: tuple[str, ...] = (sys.executable, f"./{path.name}")
    elif os.access(path, os.X_OK):
        run = (f"./{path.name}",)
    else:
        raise UsageError(
            f"the bot file {path} is neither Python (*.py) nor executable; "
            'make it executable with `chmod +x`, or name the command that runs it, such as "node bot.js"'
        )
    return BotSpec(
        name=name or checked_name(path.stem, f"the name of the bot file {path}"),
        kind=BotKind.FILE,
        digest=digest_of_files(path.parent, [path]),
        run=run,
        cwd=path.parent,
    )


def _command(command: str, name: str | None, base: Path) -> BotSpec:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"the bot command {command!r} cannot be split into words: {error}") from None
    if not words or not words[0]:
        raise UsageError(f"the bot command {command!r} names no program; expected one: 'python3 bot.py'")
    if len(words) == 1:
        _require_known_word(words[0], base)
    cwd = Path(os.path.abspath(base))
    _require_program(words, cwd, f"the bot command {command!r}")
    script = next((word for word in words[1:] if Path(word).suffix in _SCRIPT_SUFFIXES), words[0])
    files = [path for word in words if os.path.isfile(path := cwd / word)]
    return BotSpec(
        name=name or checked_name(Path(script).stem, f"the name of the bot command {command!r}"),
        kind=BotKind.COMMAND,
        digest=_digest_of_texts(*words, *(digest_of_files(file.parent, [file]) for file in files)),
        run=interpreted(words),
        cwd=cwd,
    )


def _require_known_word(word: str, base: Path) -> None:
    """A single word that is no path and no built-in bot can still be a program; else it is a mistake."""
    if _has_separator(word):
        raise UsageError(f"there is no bot at {base / word}; expected a folder with a {MANIFEST}, or a file")
    if shutil.which(word) is None:
        near = get_close_matches(word, builtin_names(), n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise UsageError(
            f"there is no bot {word!r}{hint}; expected a built-in bot ({_builtins_in_words()}), "
            f"a folder or file in {base}, a command or an address"
        )


# --- programs -----------------------------------------------------------------------------------------------


def interpreted(words: Sequence[str]) -> tuple[str, ...]:
    """The words, with `python` meaning the Python that runs the arena: there the SDK can be imported."""
    return (sys.executable, *words[1:]) if words and words[0] in ("python", "python3") else tuple(words)


def _require_program(words: Sequence[str], cwd: Path, where: str) -> None:
    """What can be known before a start: the program is there and executable, and so is its script."""
    program = interpreted(words)[0]
    if _has_separator(program):
        path = cwd / program
        if not path.is_file():
            raise UsageError(f"{where} runs {program!r}, but there is no such file in {cwd}")
        if not os.access(path, os.X_OK):
            raise UsageError(f"{where} runs {program!r}, which is not executable; run `chmod +x {path}`")
    elif shutil.which(program) is None:
        raise UsageError(f"{where} runs {program!r}, which is not in PATH; install it, or give a path to it")
    script = words[1] if len(words) > 1 else ""
    if Path(script).suffix in _SCRIPT_SUFFIXES and not (cwd / script).is_file():
        raise UsageError(f"{where} runs the script {script!r}, but there is no such file in {cwd}")


def _has_separator(word: str) -> bool:
    return "/" in word or os.sep in word


def _builtins_in_words() -> str:
    return ", ".join(builtin_names()) or "none are installed"


# --- names and other foreign text ---------------------------------------------------------------------------


def checked_name(name: str, where: str) -> str:
    """The name of a bot without the blanks around it.  Raises `UsageError` that begins with `where`."""
    try:
        return _name(name)
    except ValueError as error:
        raise UsageError(f"{where} {error}; expected 1 to {NAME_LENGTH} printable characters") from None


def checked_address(address: str, where: str) -> str:
    """An address of the form `host:port`.  Raises `UsageError` that begins with `where`."""
    match = _ADDRESS.fullmatch(address)
    if match is None or match["port"] is None:
        raise UsageError(f"{where} is {address!r}; expected HOST:PORT such as bots.example.org:6600")
    if not 1 <= int(match["port"]) <= 65_535:
        raise UsageError(f"{where} {address!r} has port {match['port']}; expected 1 to 65535")
    return address


def _name(text: str) -> str:
    text = text.strip()
    if not text:
        raise ValueError("is empty")
    if len(text) > NAME_LENGTH:
        raise ValueError(f"has {len(text)} characters ({text[:20]!r}...), the most is {NAME_LENGTH}")
    return _printable(text)


def _text(text: str) -> str:
    text = text.strip()
    if len(text) > TEXT_LENGTH:
        raise ValueError(f"has {len(text)} characters, the most is {TEXT_LENGTH}")
    return _printable(text)


def _printable(text: str) -> str:
    """Refuses what could disturb a terminal or a table: control, direction and other invisible characters."""
    for character in text:
        if not character.isprintable():
            raise ValueError(f"holds the unprintable character {character!a}")
    return text


def _words(words: list[str]) -> list[str]:
    if not words or not words[0]:
        raise ValueError('names no program, expected one such as ["python3", "bot.py"]')
    if any("\0" in word for word in words):
        raise ValueError("holds a NUL character")
    return words


# --- bot.toml -----------------------------------------------------------------------------------------------

_Name = Annotated[str, AfterValidator(_name)]
_Text = Annotated[str, AfterValidator(_text)]
_Words = Annotated[list[str], AfterValidator(_words)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Run(_Table):
    command: _Words


class _Build(_Table):
    command: _Words
    network: bool = False
    tools: dict[_Name, _Name] = {}


class _Remote(_Table):
    address: str
    certificate: str | None = None
    client_certificate: str | None = None
    client_key: str | None = None
    token_file: str | None = None
    plaintext: bool = False


_KEY_FILES = ("certificate", "client_certificate", "client_key", "token_file")


class _Manifest(_Table):
    name: _Name
    version: _Text = ""
    author: _Text = ""
    description: _Text = ""
    run: _Run | None = None
    remote: _Remote | None = None
    build: _Build | None = None
    rules: list[_Name] = []
    cores: int = Field(default=1, ge=1, le=1024)
    memory_mb: int | None = Field(default=None, ge=1)
    processes: bool = False


_EXPECTED = {
    "name": 'expected a text such as name = "Greedy"',
    "run": 'expected a table [run] with command = ["python3", "bot.py"]',
    "run.command": 'expected a list such as command = ["python3", "bot.py"]',
    "remote": 'expected a table [remote] with address = "HOST:PORT"',
    "remote.address": 'expected an address such as address = "bots.example.org:6600"',
    "build": 'expected a table [build] with command = ["make"]',
    "build.command": 'expected a list such as command = ["make"]',
}
_TABLES: dict[str, type[_Table]] = {"": _Manifest, "run": _Run, "remote": _Remote, "build": _Build}


def _read_manifest(path: Path) -> _Manifest:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(
            f"the bot folder {path.parent} has no {MANIFEST}; expected one with a name and a [run] command"
        ) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 at byte {error.start}; save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not TOML: {error}") from None
    try:
        manifest = _Manifest.model_validate(data)
    except ValidationError as error:
        mistakes = [_mistake_in_words(dict(mistake)) for mistake in error.errors()]
    else:
        if manifest.run is not None and manifest.remote is not None:
            raise UsageError(
                f"{path}: both [run] and [remote] are there; expected one: it runs either here or elsewhere"
            )
        if manifest.run is not None or manifest.remote is not None:
            return manifest
        mistakes = [f"the key 'run' is missing; {_EXPECTED['run']} (or [remote], for a bot that runs elsewhere)"]
    raise UsageError("\n".join(f"{path}: {mistake}" for mistake in mistakes))


def _mistake_in_words(mistake: dict[str, Any]) -> str:
    """One sentence: key, what was found, what was expected."""
    location = tuple(str(part) for part in mistake["loc"])
    key = ".".join(location)
    match mistake["type"]:
        case "extra_forbidden":
            known = sorted(_TABLES[".".join(location[:-1])].model_fields)
            near = get_close_matches(location[-1], known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}"
            return f"unknown key {key!r}; {hint}"
        case "missing":
            return f"the key {key!r} is missing; {_EXPECTED[key]}"
        case "value_error":
            return f"{key} {mistake['ctx']['error']}"
        case "model_type":
            return f"{key} is {reprlib.repr(mistake['input'])}; {_EXPECTED[key]}"
        case _:
            expected = mistake["msg"].removeprefix("Input should be ")
            return f"{key} is {reprlib.repr(mistake['input'])}; expected {expected}"


# --- digests ------------------------------------------------------------------------------------------------


def sources(folder: Path) -> list[Path]:
    """All files below `folder` that an author could have written; links to folders are not followed."""
    files: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=_refuse_unreadable):
        folders[:] = [name for name in folders if name not in _NO_SOURCE]
        here = Path(parent)
        files += [here / name for name in names if name != ".git"]  # a file in a linked work tree
        files += [here / name for name in folders if (here / name).is_symlink()]
    return files


def _refuse_unreadable(error: OSError) -> NoReturn:
    raise UsageError(f"the bot's source {error.filename} cannot be read: {error.strerror}") from None


def digest_of_files(folder: Path, files: Iterable[Path]) -> str:
    """SHA-256 over (relative path, content) of all regular files in the order of their paths."""
    total = hashlib.sha256()
    for relative, file in sorted((file.relative_to(folder).as_posix(), file) for file in files):
        content = _digest_of_content(file)
        if content is not None:
            total.update(_framed(os.fsencode(relative)) + content)
    return total.hexdigest()


def _digest_of_content(file: Path) -> bytes | None:
    """SHA-256 of a file's bytes, of a link's text if it leads to no file; None for sockets and the like."""
    try:
        if file.is_symlink() and not file.is_file():
            return hashlib.sha256(os.fsencode(os.readlink(file))).digest()
        if not stat.S_ISREG(file.stat().st_mode):
            return None
        with file.open("rb") as source:
            return hashlib.file_digest(source, "sha256").digest()
    except OSError as error:
        _refuse_unreadable(error)


def _digest_of_texts(*texts: str) -> str:
    return hashlib.sha256(b"".join(_framed(os.fsencode(text)) for text in texts)).hexdigest()


def _framed(data: bytes) -> bytes:
    """Length first, so that no two lists of texts run together into the same bytes."""
    return len(data).to_bytes(8, "big") + data
