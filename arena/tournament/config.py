"""A tournament as its organiser asks for it: tournament.toml in, one frozen value out, or all its mistakes at once.

A mistake is one sentence with the file, the key, what was found and what was expected.
"""

from __future__ import annotations

import os
import re
import reprlib
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, WithJsonSchema
from pydantic.json_schema import GenerateJsonSchema

from arena.errors import RulesError, UsageError
from arena.game.presets import PRESETS, preset
from arena.game.rules import OPTION_TYPES, Rules, Seating
from arena.game.table import Table
from arena.match.clock import TimeControl
from arena.tournament.engines import EngineKind
from arena.tournament.pairings import Format
from arena.tournament.stop import StopRule

DEFAULT_RULES = "sixty-six"
MAX_PAIRS = 1_000_000
MAX_BLOCK = 1000
MAX_JOBS = 1024
MAX_CORES = 1024
MAX_BOTS = 1000
MAX_TITLE = 120
MAX_BOT_NAME = 64
MAX_SPEC = 4096
HOUR_MS = 3_600_000
HOUR_S = 3600
LEAST_SEPARATED, MOST_SEPARATED = 0.95, 0.999
"""Below the first the table lets bots share a rank."""


class Isolation(StrEnum):
    """How long a bot's process lives."""

    BLOCK = "block"
    """For one block, whose matches it plays at once."""
    MATCH = "match"
    """For one match."""


class LeastSandbox(StrEnum):
    """What local bots are to be held in at least."""

    AUTO = "auto"
    """The strongest level to be had."""
    STRONG = "strong"
    MEDIUM = "medium"
    WEAK = "weak"
    """This, though more were to be had."""


class OnBrokenBot(StrEnum):
    """What happens when a bot does not start or refuses the rules before the first deal."""

    STOP = "stop"
    """The tournament does not begin."""
    WALKOVER = "walkover"
    """The bot loses each of its matches."""


@dataclass(frozen=True, slots=True)
class BotEntry:
    """One `[[bots]]` table: which bot, and what it is called here."""

    bot: str
    """A built-in name, folder, file, command or address; the bots room makes sense of it."""
    name: str | None = None
    """None: the name in its bot.toml, else that of its file or folder."""


@dataclass(frozen=True, slots=True)
class TournamentConfig:
    """All that a tournament file says, its defaults filled in."""

    path: Path
    name: str
    """Names the run, and its folder."""
    title: str
    rules: Rules
    rules_name: str
    """The preset, with the options that differ from it: `sixty-six`, `sixty-six with match_target = 11`."""
    format: Format
    champions: tuple[str, ...]
    """Names of participants; empty but in a gauntlet."""
    pairs: int
    """Lists a pairing, each played in every seating: mirrored pairs where two meet."""
    stop: StopRule | None
    """None: it is over when every pairing has played its pairs."""
    block: int
    """Deck lists a block."""
    jobs: int
    """Blocks played at a time, as far as there are cores for their bots ..."""
    workers: int
    """... by at most so many processes ..."""
    cores: int
    """... and so many cores that bots take together; a block that needs more is played alone."""
    engine: EngineKind
    """On a cluster jobs, workers and cores are its own."""
    ray_address: str
    """HOST:PORT of the cluster's head node, or `auto`: the cluster that this machine is part of."""
    isolation: Isolation
    sandbox: LeastSandbox
    allow_build_network: bool
    """Whether builds that ask for the network may use it."""
    trust_bots: bool
    """Whether bots that nothing but limits holds may play mirrored lists all the same."""
    on_broken_bot: OnBrokenBot
    quarantine: bool
    """Whether a bot that keeps forfeiting plays no more."""
    reference: str | None
    """The name of a participant that stands at the scale's middle, with all others relative to it."""
    rated: bool
    """Whether it counts in the bots' careers."""
    clock: TimeControl
    start_ms: int
    """How long a bot may take to start."""
    build_s: int
    """How long a bot may take to build."""
    bots: tuple[BotEntry, ...]

    @property
    def base(self) -> Path:
        """The folder to which paths of bots are relative: that of the file."""
        return self.path.parent

    @property
    def seats_each(self) -> int:
        """How many seats of a match each of its participants has."""
        table = Table.of(self.rules)
        return 1 if self.format is Format.MIXED_PARTNERS else table.seats // table.sides

    def with_pairs(self, pairs: int) -> TournamentConfig:
        """The same with so many lists a pairing.  Raises `UsageError` where the stop rule's budget is smaller."""
        if self.stop is not None and self.stop.max_pairs < pairs:
            raise _refusal(self.path, [_small_budget(self.stop.max_pairs, pairs)])
        return replace(self, pairs=pairs)

    def check_names(self, names: Sequence[str]) -> None:
        """Check the names of all participants, in the order of `bots`, once those of nameless entries are known.

        Raises `UsageError` with every mistake: a name twice, a champion that does not play or has nobody to meet.
        """
        shared = _shared_names(names)
        mistakes = [f"[[bots]] {shared}"] if shared else []
        strangers = [champion for champion in self.champions if champion not in names]
        for champion in strangers:
            hint = _nearest(champion, names) or f"the participants are {_listed(names)}"
            mistakes.append(f"champions: no bot is named {champion!r}; {hint}")
        if self.champions and not strangers and set(names) <= set(self.champions):
            mistakes.append("champions names every bot; expected at least one bot that the champions meet")
        if self.reference is not None and self.reference not in names:
            hint = _nearest(self.reference, names) or f"the participants are {_listed(names)}"
            mistakes.append(f"reference: no bot is named {self.reference!r}; {hint}")
        if mistakes:
            raise _refusal(self.path, mistakes)

    @property
    def processes(self) -> int:
        """How many play: one that had no block would be in vain."""
        return min(self.jobs, self.workers)

    def identity(self) -> dict[str, Any]:
        """Everything that decides results and ratings, as plain values fit for JSON: no name or title, and not how much
        is played at a time.

        The same for any order of the bots and champions, and for any spelling of the same rules.
        """
        return {
            "rules": self.rules.options(),
            "format": str(self.format),
            "champions": sorted(self.champions),
            "pairs": self.pairs,
            "stop": self.stop and {"separated": self.stop.separated, "max_pairs": self.stop.max_pairs},
            "block": self.block,
            "isolation": str(self.isolation),
            "trust_bots": self.trust_bots,
            "on_broken_bot": str(self.on_broken_bot),
            "quarantine": self.quarantine,
            "reference": self.reference,
            "rated": self.rated,
            "clock": {
                "limit_ms": self.clock.limit_ms,
                "bank_ms": self.clock.bank_ms,
                "start_ms": self.start_ms,
                "build_s": self.build_s,
            },
            "bots": [
                {"bot": bot, "name": name or None}
                for bot, name in sorted((entry.bot, entry.name or "") for entry in self.bots)
            ],
        }


_GROW = ("pairs", "stop.separated", "stop.max_pairs")
"""What may grow while a run goes on."""


def differences(stored: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What keeps a run of the identity `stored` from going on as `new`, one sentence each; empty if nothing does.

    Pairs may have grown, the rule that stops it too or come into being, and bots may have been added.
    """
    found: list[str] = []
    before, after = _flat(stored), _flat(new)
    for key in sorted({*before, *after}):
        was, now = before.get(key), after.get(key)
        if key in _GROW:
            if was is not None and (now is None or now < was):
                found.append(f"{key} was {_in_full(was)}, is now {_in_full(now)}; it can only grow")
        elif was != now:
            found.append(f"{key} was {_in_full(was)}, is now {_in_full(now)}")
    lost = Counter(map(_entry_in_words, stored["bots"])) - Counter(map(_entry_in_words, new["bots"]))
    found += [f"the bot {entry} is gone; bots can only be added" for entry in sorted(lost.elements())]
    return found


def load_config(path: Path) -> TournamentConfig:
    """The tournament that a file asks for.

    Raises one `UsageError` with a line for each mistake in the file.
    """
    return config_of(_read(path), path)


def config_of(data: Mapping[str, Any], path: Path) -> TournamentConfig:
    """The tournament that the content of a file asks for; without a file `path` is what mistakes are blamed on.

    Raises as `load_config`.
    """
    mistakes: list[str] = []
    table = _table({"name": path.stem, **data}, mistakes)
    rules = _rules(data.get("rules", DEFAULT_RULES), mistakes)
    if table is not None and rules is not None:
        mistakes += _misfits(table, rules[0])
    if table is None or rules is None or mistakes:
        raise _refusal(path, mistakes)
    return TournamentConfig(
        path=path,
        name=table.name,
        title=table.title or table.name,
        rules=rules[0],
        rules_name=rules[1],
        format=table.format,
        champions=tuple(table.champions),
        pairs=table.pairs,
        stop=None if table.stop is None else StopRule(table.stop.separated, table.stop.max_pairs),
        block=table.block,
        jobs=table.jobs,
        workers=table.workers,
        cores=table.cores,
        engine=table.engine,
        ray_address=table.ray_address,
        isolation=table.isolation,
        sandbox=table.sandbox,
        allow_build_network=table.allow_build_network,
        trust_bots=table.trust_bots,
        on_broken_bot=table.on_broken_bot,
        quarantine=table.quarantine,
        reference=table.reference or None,
        rated=table.rated,
        clock=TimeControl(table.clock.limit_ms, table.clock.bank_ms),
        start_ms=table.clock.start_ms,
        build_s=table.clock.build_s,
        bots=tuple(BotEntry(entry.bot, entry.name or None) for entry in table.bots),
    )


def json_schema() -> dict[str, Any]:
    """The JSON schema of a tournament file, for editors; published as docs/tournament.schema.json."""
    schema = TournamentTable.model_json_schema(schema_generator=_Schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


# --- the file's tables --------------------------------------------------------------------------------------


def _printable(text: str) -> str:
    """Refuses what could disturb a terminal or a table: control, direction and other invisible characters."""
    text = text.strip()
    if not text:
        raise ValueError("is empty; expected a text")
    for character in text:
        if not character.isprintable():
            raise ValueError(f"holds the unprintable character {character!a}; expected printable ones only")
    return text


_RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def check_run_name(name: str) -> None:
    """Raises `UsageError` for a name that no run can have: it also names the run's folder."""
    if not _RUN_NAME.fullmatch(name) or name == "last":
        raise UsageError(
            f"a run cannot be named {_shortened(name)}; expected 1 to 64 letters, digits, '.', '_' and '-', "
            "the first a letter or a digit, and not the word last"
        )


def _run_name(name: str) -> str:
    if not _RUN_NAME.fullmatch(name):
        raise ValueError(
            f"is {_shortened(name)} (by default the file's name); expected 1 to 64 letters, digits, '.', '_' and '-', "
            "the first a letter or a digit"
        )
    return name


def _champions(champions: list[str], info: ValidationInfo) -> list[str]:
    match info.data.get("format"):
        case Format.GAUNTLET if not champions:
            raise ValueError('is missing or empty; expected the names of some bots, as in champions = ["greedy"]')
        case Format.ROUND_ROBIN | Format.MIXED_PARTNERS as format if champions:
            raise ValueError(f'is set, but the format is "{format}"; expected format = "gauntlet", or no champions')
    repeated = [name for name, count in Counter(champions).items() if count > 1]
    if repeated:
        raise ValueError(f"holds {_listed(repeated)} more than once; expected each name once")
    return champions


def _bots(bots: list[BotTable]) -> list[BotTable]:
    if not 2 <= len(bots) <= MAX_BOTS:
        raise ValueError(f"lists {len(bots)} bot{'s' * (len(bots) != 1)}; expected 2 to {MAX_BOTS}")
    shared = _shared_names([entry.name for entry in bots])
    if shared:
        raise ValueError(shared)
    return bots


def cores_here() -> int:
    """The cores of this machine that the arena may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _most_cores() -> int:
    return min(MAX_CORES, cores_here())


def _every_two_cores() -> int:
    """One for every two cores: the two bots of a block mostly take turns, and the arena needs its share."""
    return max(1, _most_cores() // 2)


def _rules_schema() -> dict[str, Any]:
    def option(kind: type) -> dict[str, Any]:
        if issubclass(kind, StrEnum):
            return {"enum": [str(value) for value in kind]}
        return {"type": "boolean" if kind is bool else "integer"}

    preset_name = {"enum": list(PRESETS)}
    keys = {"preset": preset_name, **{name: option(kind) for name, kind in OPTION_TYPES.items()}}
    return {"anyOf": [preset_name, {"type": "object", "additionalProperties": False, "properties": keys}]}


def _without_default(schema: dict[str, Any]) -> None:
    """Hides from editors the empty text that stands for a default which depends on something else."""
    del schema["default"]


class _Schema(GenerateJsonSchema):
    """Without the titles that only repeat the keys."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


_Text = Annotated[str, Field(max_length=MAX_TITLE), AfterValidator(_printable)]
_BotName = Annotated[str, Field(max_length=MAX_BOT_NAME), AfterValidator(_printable)]
_Spec = Annotated[str, Field(max_length=MAX_SPEC), AfterValidator(_printable)]
_Lax = Field(strict=False)
"""An enum is written as its value, a text."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ClockTable(_Table):
    """How long bots may take."""

    limit_ms: int = Field(
        default=TimeControl().limit_ms,
        ge=0,
        le=HOUR_MS,
        description="Thinking time that is free on each decision, in milliseconds; 0: no clock runs.",
    )
    bank_ms: int = Field(
        default=TimeControl().bank_ms,
        ge=0,
        le=HOUR_MS,
        description="Thinking time beyond the limit for a whole match, in milliseconds; never refilled.",
    )
    start_ms: int = Field(
        default=10_000, ge=1, le=HOUR_MS, description="How long a bot may take to start, in milliseconds."
    )
    build_s: int = Field(default=600, ge=1, le=HOUR_S, description="How long a bot may take to build, in seconds.")


class StopTable(_Table):
    """Until when to play on, once every pairing has played its pairs."""

    separated: float = Field(
        default=LEAST_SEPARATED,
        ge=LEAST_SEPARATED,
        le=MOST_SEPARATED,
        description="It is over once each bot is better than the next one with this probability.",
    )
    max_pairs: int = Field(
        ge=1,
        le=MAX_PAIRS,
        description="The budget: at most so many pairs a pairing, on the average; what is left after `pairs` of each "
        "goes to the pairings that say most about orders which are still open.",
    )


class BotTable(_Table):
    """One bot that takes part."""

    bot: _Spec = Field(
        description="A built-in name, a folder, a file, a command or an address; paths are relative to this file."
    )
    name: _BotName = Field(
        default="",
        description="What it is called in this tournament; default: the name in its bot.toml, else its file's.",
        json_schema_extra=_without_default,
    )


class TournamentTable(_Table):
    """A tournament of the Sixty-Six Arena."""

    name: Annotated[str, AfterValidator(_run_name)] = Field(
        default="",
        description="The name of the run and of its folder; default: the file's name.",
        json_schema_extra=_without_default,
    )
    title: _Text = Field(
        default="", description="The heading of the reports; default: the name.", json_schema_extra=_without_default
    )
    rules: Annotated[Any, WithJsonSchema(_rules_schema())] = Field(
        default=DEFAULT_RULES, description="A preset's name, or a table of a preset and the options that differ."
    )
    format: Annotated[Format, _Lax] = Field(
        default=Format.ROUND_ROBIN,
        description="round-robin: everyone meets everyone; gauntlet: each champion meets everyone else; "
        "mixed-partners: with rules of partners, every two bots, as partners, meet every other two.",
    )
    champions: Annotated[list[str], AfterValidator(_champions)] = Field(
        default=[], validate_default=True, description="The names of a gauntlet's champions."
    )
    pairs: int = Field(
        default=100,
        ge=1,
        le=MAX_PAIRS,
        description="Mirrored pairs of matches that a pairing plays: each list of decks twice, seats swapped; where "
        "more than two bots meet, as often as there are bots, so that each has each seat once.",
    )
    stop: StopTable | None = Field(
        default=None,
        description="Until when to play on; default: it is over when every pairing has played its pairs.",
        json_schema_extra=_without_default,
    )
    block: int = Field(default=32, ge=1, le=MAX_BLOCK, description="Lists of decks that one process of a bot plays.")
    jobs: int = Field(
        default_factory=_every_two_cores,
        ge=1,
        le=MAX_JOBS,
        description="Blocks played at a time; default: one for every two cores.",
    )
    workers: int = Field(
        default_factory=_every_two_cores,
        ge=1,
        le=MAX_JOBS,
        description="Processes that play them, never more than jobs; default: one for every two cores.",
    )
    cores: int = Field(
        default_factory=_most_cores,
        ge=1,
        le=MAX_CORES,
        description="Cores that the bots may take together, each as many as its bot.toml says; default: all there are.",
    )
    engine: Annotated[EngineKind, _Lax] = Field(
        default=EngineKind.LOCAL,
        description="Where matches are played: local, on this machine; or ray, on the nodes of a Ray cluster.",
    )
    ray_address: _Text = Field(
        default="auto",
        description="HOST:PORT of the Ray cluster's head node; auto: of the cluster that this machine is part of.",
    )
    isolation: Annotated[Isolation, _Lax] = Field(
        default=Isolation.BLOCK, description="Whether a bot's process lives for a block or for a single match."
    )
    sandbox: Annotated[LeastSandbox, _Lax] = Field(
        default=LeastSandbox.AUTO,
        description="The least level of sandbox for local bots. auto: the strongest to be had; weak: nothing more.",
    )
    allow_build_network: bool = Field(
        default=False, description="Whether builds of bots that ask for the network may use it."
    )
    trust_bots: bool = Field(
        default=False,
        description="Whether bots in a weak sandbox play mirrored lists, though they could remember decks.",
    )
    on_broken_bot: Annotated[OnBrokenBot, _Lax] = Field(
        default=OnBrokenBot.STOP,
        description="When a bot does not start: stop before the first deal, or let it lose by walkover.",
    )
    quarantine: bool = Field(
        default=True,
        description="Whether a bot plays no more that forfeits 3 matches in a row, or a fifth of at least 10.",
    )
    reference: _BotName = Field(
        default="",
        description="The name of a bot that is rated 25, and the others relative to it; default: the field's mean is.",
        json_schema_extra=_without_default,
    )
    rated: bool = Field(default=True, description="Whether the results count in the bots' careers.")
    clock: ClockTable = Field(default=ClockTable(), description="The time to think, to start and to build.")
    bots: Annotated[list[BotTable], AfterValidator(_bots)] = Field(description="Who takes part: two bots or more.")


_TABLES: Mapping[str, type[_Table]] = {
    "": TournamentTable,
    "clock": ClockTable,
    "stop": StopTable,
    "bots": BotTable,
}


# --- reading, and mistakes in words -------------------------------------------------------------------------

_EXPECTED = {
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "a text in quotes",
    "list_type": "a list in brackets",
    "model_type": "a table",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "string_too_long": "at most {max_length} characters",
    "enum": "{expected}",
}
"""By pydantic's type of the mistake."""
_EXPECTED_BOTS = 'expected two or more tables [[bots]], each with a bot = "..."'


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise UsageError(f"there is no tournament file {path}; expected a TOML file with [[bots]]") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 at byte {error.start}; save it as UTF-8") from None
    except (ValueError, RecursionError) as error:  # not only TOMLDecodeError: an endless number, endless brackets
        raise UsageError(f"{path} is not TOML: {error}") from None


def _refusal(path: Path, mistakes: Sequence[str]) -> UsageError:
    return UsageError("\n".join(f"{path}: {mistake}" for mistake in mistakes))


def _table(data: Mapping[str, Any], mistakes: list[str]) -> TournamentTable | None:
    """All but the rules; None once its mistakes are added to the others."""
    try:
        return TournamentTable.model_validate(data)
    except ValidationError as error:
        mistakes += [_in_words(dict(mistake)) for mistake in error.errors()]
        return None


def _in_words(mistake: Mapping[str, Any]) -> str:
    """One of pydantic's mistakes as a sentence: key, what was found, what was expected."""
    *table, last = mistake["loc"]
    key = _key(mistake["loc"])
    match mistake["type"]:
        case "extra_forbidden":
            return f"unknown key {key}; {_known_keys(table, last)}"
        case "missing" if last == "bots":
            return f"bots is missing; {_EXPECTED_BOTS}"
        case "list_type" if last == "bots":
            return f"bots is {_shortened(mistake['input'])}; {_EXPECTED_BOTS}"
        case "missing" if last == "max_pairs":
            return f"{key} is missing; expected the budget, such as {last} = 400"
        case "missing":
            return f'{key} is missing; expected a text such as {last} = "greedy"'
        case "value_error":
            return f"{key} {mistake['ctx']['error']}"
        case kind if kind in _EXPECTED:
            expected = _EXPECTED[kind].format_map(mistake.get("ctx", {}))
            return f"{key} is {_shortened(mistake['input'])}; expected {expected}"
        case _:
            return f"{key} is {_shortened(mistake['input'])}; {mistake['msg']}"


def _known_keys(table: Sequence[str | int], key: str) -> str:
    known = _TABLES[str(table[0]) if table else ""].model_fields
    if near := _nearest(key, known):
        return near
    if key in TournamentTable.model_fields:
        return "it belongs to the whole tournament: move it above the first [table] of the file"
    return f"known here: {', '.join(known)}"


def _key(location: Sequence[str | int]) -> str:
    """`("bots", 0, "name")` as a person counts: `[[bots]] #1 name`; foreign text cannot break the line."""
    match [part if isinstance(part, int) or part.isprintable() else repr(part) for part in location]:
        case ["bots"]:
            return "[[bots]]"
        case ["bots", int(index), *rest]:
            return " ".join([f"[[bots]] #{index + 1}", *map(str, rest)])
        case [name, int(index)]:
            return f"{name} #{index + 1}"
        case parts:
            return ".".join(map(str, parts))


def _rules(value: object, mistakes: list[str]) -> tuple[Rules, str] | None:
    """The rules that the key `rules` asks for, and their name; None once its mistakes are added to the others."""
    options = {"preset": DEFAULT_RULES, **value} if isinstance(value, dict) else {"preset": value}
    key = "rules.preset" if isinstance(value, dict) else "rules"
    name = options.pop("preset")
    if not isinstance(name, str):
        mistakes.append(f'{key} is {_shortened(name)}; expected the name of a preset such as "{DEFAULT_RULES}"')
        return None
    try:
        base = preset(name)
    except UsageError as error:
        mistakes.append(f"{key}: {error}")
        return None
    try:
        rules = base.with_options(options)
    except RulesError:
        mistakes += _rules_mistakes(base, options)
        return None
    changed = sorted(rules.options().items() - base.options().items())
    if changed:
        name += " with " + ", ".join(f"{option} {value}".lower() for option, value in changed)
    return rules, name


def _misfits(tournament: TournamentTable, rules: Rules) -> list[str]:
    """What is wrong with the tournament under these rules, though each may be right."""
    mistakes: list[str] = []
    table = Table.of(rules)
    mixed = tournament.format is Format.MIXED_PARTNERS
    if mixed and rules.seating is not Seating.PARTNERS:
        mistakes.append(
            f'format is "mixed-partners", but rules.seating is {rules.seating}; '
            'expected rules with partners, such as "four-handed"'
        )
    if tournament.stop is not None and tournament.stop.max_pairs < tournament.pairs:
        mistakes.append(_small_budget(tournament.stop.max_pairs, tournament.pairs))
    needed = table.seats if mixed else table.sides
    listed = len(tournament.bots)
    if listed < needed:
        mistakes.append(f"[[bots]] lists {listed} bots; expected at least the {needed} that meet in a match")
    return mistakes


def _small_budget(max_pairs: int, pairs: int) -> str:
    return (
        f"stop.max_pairs is {max_pairs}, but pairs is {pairs}; "
        "expected at least as many, since every pairing plays its pairs before the first look"
    )


def _rules_mistakes(base: Rules, options: Mapping[str, object]) -> list[str]:
    """Every mistake in the options: each is found once those found before are left out."""
    mistakes: list[str] = []
    left = dict(options)
    while True:
        try:
            base.with_options(left)
            return mistakes
        except RulesError as error:
            blamed = left.pop(error.field, None)
            if blamed is not None or not mistakes:
                mistakes.append(f"{_key(('rules', error.field))}: {error}")
            if blamed is None:  # a contradiction with the preset, or one made by leaving options out
                return mistakes


def _shared_names(names: Sequence[str]) -> str | None:
    """Which entries share a name, in words; empty names are not known yet."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for number, name in enumerate(names, start=1):
        places[name].append(f"#{number}")
    shared = [
        f"{' and '.join(numbers)} share the name {name!r}" for name, numbers in places.items() if name and numbers[1:]
    ]
    return f"{', '.join(shared)}; expected a name of its own for each" if shared else None


def _nearest(word: str, known: Iterable[str]) -> str | None:
    near = get_close_matches(word, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def _flat(identity: Mapping[str, Any]) -> dict[str, Any]:
    """All values but the bots, those of tables under `table.key`."""
    flat: dict[str, Any] = {}
    for key, value in identity.items():
        if isinstance(value, Mapping):
            flat.update({f"{key}.{inner}": value[inner] for inner in value})
        elif key not in ("bots", "stop"):
            flat[key] = value
    return flat


def _entry_in_words(entry: Mapping[str, Any]) -> str:
    return repr(entry["bot"]) if entry["name"] is None else f"{entry['bot']!r} named {entry['name']!r}"


def _in_full(value: object) -> str:
    """A value of an identity as its file has it; the identity of another version may lack it."""
    if value is None:
        return "not set"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _shortened(value: object) -> str:
    """A found value, which may be of any size."""
    return _in_full(value) if isinstance(value, bool) else reprlib.repr(value)
