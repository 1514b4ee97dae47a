"""What a tournament file comes to, and which sentence answers each mistake in it."""

from __future__ import annotations

import json
import os
import re
import reprlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import UsageError
from arena.game.presets import PRESETS
from arena.game.rules import OPTION_TYPES, Rules, Tie
from arena.match.clock import TimeControl
from arena.tournament.config import (
    BotEntry,
    BotTable,
    ClockTable,
    Isolation,
    LeastSandbox,
    OnBrokenBot,
    StopRule,
    StopTable,
    TournamentConfig,
    TournamentTable,
    differences,
    json_schema,
    load_config,
)
from arena.tournament.engines import EngineKind
from arena.tournament.pairings import Format
from arena.tournament.schedule import Schedule

ROOT = Path(__file__).parents[2]
BOTS = '[[bots]]\nbot = "greedy"\n[[bots]]\nbot = "random"\n'
MORE_BOTS = BOTS + '[[bots]]\nbot = "counter"\n[[bots]]\nbot = "random"\nname = "other"\n'


def load(folder: Path, toml: str, name: str = "cup.toml") -> TournamentConfig:
    (folder / name).write_text(toml, encoding="utf-8")
    return load_config(folder / name)


def mistakes(folder: Path, toml: str, name: str = "cup.toml") -> list[str]:
    """The lines of the refusal without the file's name, which each must begin with."""
    with pytest.raises(UsageError) as caught:
        load(folder, toml, name)
    lines = str(caught.value).split("\n")
    file = f"{folder / name}: "
    assert all(line.startswith(file) for line in lines)
    return [line.removeprefix(file) for line in lines]


# --- what is asked for --------------------------------------------------------------------------------------


def test_a_file_with_two_bots_is_a_tournament_with_the_documented_defaults(tmp_path: Path) -> None:
    config = load(tmp_path, BOTS)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    assert config == TournamentConfig(
        path=tmp_path / "cup.toml",
        name="cup",
        title="cup",
        rules=Rules(),
        rules_name="sixty-six",
        format=Format.ROUND_ROBIN,
        champions=(),
        pairs=100,
        stop=None,
        block=32,
        jobs=max(1, cores // 2),
        workers=max(1, cores // 2),
        cores=cores,
        engine=EngineKind.LOCAL,
        ray_address="auto",
        isolation=Isolation.BLOCK,
        sandbox=LeastSandbox.AUTO,
        allow_build_network=False,
        trust_bots=False,
        on_broken_bot=OnBrokenBot.STOP,
        quarantine=True,
        reference=None,
        rated=True,
        clock=TimeControl(limit_ms=1000, bank_ms=10000),
        start_ms=10_000,
        build_s=600,
        bots=(BotEntry("greedy"), BotEntry("random")),
    )
    assert config.base == tmp_path


def test_everything_can_be_set(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        """
        name = "spring-2"
        title = "Spring cup №2"
        format = "gauntlet"
        champions = ["Ämil 7"]
        pairs = 7
        block = 3
        jobs = 2
        workers = 5
        cores = 3
        engine = "ray"
        ray_address = "10.0.0.1:6379"
        isolation = "match"
        sandbox = "strong"
        allow_build_network = true
        trust_bots = true
        on_broken_bot = "walkover"
        quarantine = false
        reference = "greedy"
        rated = false
        [rules]
        preset = "schnapsen"
        match_target = 11
        close_first_lead = false
        [stop]
        separated = 0.99
        max_pairs = 40
        [clock]
        limit_ms = 0
        bank_ms = 1
        start_ms = 2
        build_s = 3
        [[bots]]
        bot = "greedy"
        [[bots]]
        bot = " node mine.js "
        name = "  Ämil 7 "
        """,
    )
    assert config == TournamentConfig(
        path=tmp_path / "cup.toml",
        name="spring-2",
        title="Spring cup №2",
        rules=PRESETS["schnapsen"].with_options({"match_target": 11, "close_first_lead": False}),
        rules_name="schnapsen with close_first_lead false, match_target 11",
        format=Format.GAUNTLET,
        champions=("Ämil 7",),
        pairs=7,
        stop=StopRule(separated=0.99, max_pairs=40),
        block=3,
        jobs=2,
        workers=5,
        cores=3,
        engine=EngineKind.RAY,
        ray_address="10.0.0.1:6379",
        isolation=Isolation.MATCH,
        sandbox=LeastSandbox.STRONG,
        allow_build_network=True,
        trust_bots=True,
        on_broken_bot=OnBrokenBot.WALKOVER,
        quarantine=False,
        reference="greedy",
        rated=False,
        clock=TimeControl(limit_ms=0, bank_ms=1),
        start_ms=2,
        build_s=3,
        bots=(BotEntry("greedy"), BotEntry("node mine.js", "Ämil 7")),
    )


@pytest.mark.parametrize("name", PRESETS)
def test_rules_are_a_preset_by_name_or_in_a_table(tmp_path: Path, name: str) -> None:
    for toml in (f'rules = "{name}"\n', f'[rules]\npreset = "{name}"\n'):
        config = load(tmp_path, toml + MORE_BOTS)
        assert (config.rules, config.rules_name) == (PRESETS[name], name)


@pytest.mark.parametrize("name", ["four-handed", "sessantasei-101"])
def test_partners_are_of_one_bot_or_mixed(tmp_path: Path, name: str) -> None:
    assert load(tmp_path, f'rules = "{name}"\n' + BOTS).format is Format.ROUND_ROBIN
    config = load(tmp_path, f'rules = "{name}"\nformat = "mixed-partners"\n' + MORE_BOTS)
    assert config.format is Format.MIXED_PARTNERS
    assert config.identity()["format"] == "mixed-partners"
    assert config.seats_each == 1


def test_a_rules_table_without_a_preset_changes_the_default_rules(tmp_path: Path) -> None:
    config = load(tmp_path, '[rules]\ntie = "draw"\ndeck = 24\n' + BOTS)
    assert config.rules == Rules(tie=Tie.DRAW)
    assert config.rules_name == "sixty-six with tie draw"


def test_a_file_saved_by_an_editor_that_marks_utf_8_is_read(tmp_path: Path) -> None:
    assert load(tmp_path, "\ufeff" + BOTS).pairs == 100


def test_the_default_tournament_is_three_trusted_sample_bots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = Path("tournament.toml").read_text(encoding="utf-8")
    assert text.startswith("#:schema docs/tournament.schema.json\n")
    config = load_config(Path("tournament.toml"))
    assert [entry.bot for entry in config.bots] == ["random", "greedy", "counter"]
    assert (config.rules, config.format, config.trust_bots) == (Rules(), Format.ROUND_ROBIN, True)


def test_the_default_tournament_shows_every_key_and_the_defaults_of_those_not_set(tmp_path: Path) -> None:
    text = (ROOT / "tournament.toml").read_text(encoding="utf-8")
    for table in (TournamentTable, ClockTable, StopTable, BotTable):
        assert [key for key in table.model_fields if not re.search(rf"\b{key}\b", text)] == []
    identity = load(tmp_path, BOTS).identity()
    defaults = identity | identity["clock"]
    for key in ("rated", "block", "isolation", "on_broken_bot", "quarantine", "start_ms", "build_s"):
        shown = re.search(rf"^# {key} = (\S+)", text, re.MULTILINE)
        assert shown and json.loads(shown[1]) == defaults[key], key


# --- mistakes -----------------------------------------------------------------------------------------------

ONE = [
    ("pairs = true", "pairs is true; expected a whole number"),
    ("pairs = 100.0", "pairs is 100.0; expected a whole number"),
    ('pairs = "100"', "pairs is '100'; expected a whole number"),
    ("pairs = 0", "pairs is 0; expected at least 1"),
    ("pairs = 1_000_001", "pairs is 1000001; expected at most 1000000"),
    ("block = 0", "block is 0; expected at least 1"),
    ("block = 1001", "block is 1001; expected at most 1000"),
    ("jobs = 0", "jobs is 0; expected at least 1"),
    ("jobs = 1025", "jobs is 1025; expected at most 1024"),
    ("workers = 0", "workers is 0; expected at least 1"),
    ("cores = 1025", "cores is 1025; expected at most 1024"),
    ("rated = 1", "rated is 1; expected true or false"),
    ('sandbox = "tight"', "sandbox is 'tight'; expected 'auto', 'strong', 'medium' or 'weak'"),
    ('trust_bots = "yes"', "trust_bots is 'yes'; expected true or false"),
    ("title = 2026-11-29", "title is datetime.date(2026, 11, 29); expected a text in quotes"),
    ('title = " "', "title is empty; expected a text"),
    ('title = "a\\u202Eb"', "title holds the unprintable character '\\u202e'; expected printable ones only"),
    ("format = 'swiss'", "format is 'swiss'; expected 'round-robin', 'gauntlet' or 'mixed-partners'"),
    ("isolation = 'none'", "isolation is 'none'; expected 'block' or 'match'"),
    ("on_broken_bot = 'go'", "on_broken_bot is 'go'; expected 'stop' or 'walkover'"),
    ("name = 5", "name is 5; expected a text in quotes"),
    ("clock = 5", "clock is 5; expected a table"),
    ("pair = 5", "unknown key pair; did you mean 'pairs'?"),
    ('"a\\nb" = 5', f"unknown key 'a\\nb'; known here: {', '.join(TournamentTable.model_fields)}"),
    ('rules."a\\nb" = 5', "rules.'a\\nb': unknown rules option 'a\\nb'"),
    ("clock.limit = 5", "unknown key clock.limit; did you mean 'limit_ms'?"),
    ("clock.seed = 5", "unknown key clock.seed; known here: limit_ms, bank_ms, start_ms, build_s"),
    ("clock.pairs = 5", "unknown key clock.pairs; it belongs to the whole tournament: "
     "move it above the first [table] of the file"),
    ("clock.limit_ms = -1", "clock.limit_ms is -1; expected at least 0"),
    ("clock.limit_ms = 3_600_001", "clock.limit_ms is 3600001; expected at most 3600000"),
    ("clock.bank_ms = 0.5", "clock.bank_ms is 0.5; expected a whole number"),
    ("clock.start_ms = 0", "clock.start_ms is 0; expected at least 1"),
    ("clock.build_s = 3601", "clock.build_s is 3601; expected at most 3600"),
    ("stop = true", "stop is true; expected a table"),
    ("[stop]", "stop.max_pairs is missing; expected the budget, such as max_pairs = 400"),
    ("stop.max_pairs = '9'", "stop.max_pairs is '9'; expected a whole number"),
    ("stop = {max_pairs = 200, separated = '1'}", "stop.separated is '1'; expected a number"),
    ("stop = {max_pairs = 200, separated = 95}", "stop.separated is 95; expected at most 0.999"),
    ("stop = {max_pairs = 200, separated = 0.9}", "stop.separated is 0.9; expected at least 0.95"),
    ("stop = {max_pairs = 200, separated = nan}", "stop.separated is nan; expected at most 0.999"),
    ("stop = {max_pair = 200, max_pairs = 200}", "unknown key stop.max_pair; did you mean 'max_pairs'?"),
    ("stop.max_pairs = 99", "stop.max_pairs is 99, but pairs is 100; "
     "expected at least as many, since every pairing plays its pairs before the first look"),
    ("champions = 'x'\nformat = 'gauntlet'", "champions is 'x'; expected a list in brackets"),
    ("champions = [1]\nformat = 'gauntlet'", "champions #1 is 1; expected a text in quotes"),
    ("format = 'gauntlet'", "champions is missing or empty; expected the names of some bots, "
     'as in champions = ["greedy"]'),
    ("champions = ['greedy']", 'champions is set, but the format is "round-robin"; '
     'expected format = "gauntlet", or no champions'),
    ("champions = ['a', 'b', 'a']\nformat = 'gauntlet'", "champions holds 'a' more than once; "
     "expected each name once"),
    ("rules = 66", 'rules is 66; expected the name of a preset such as "sixty-six"'),
    ("rules.preset = 66", 'rules.preset is 66; expected the name of a preset such as "sixty-six"'),
    ("rules = 'sixtysix'", "rules: unknown rules 'sixtysix'; did you mean 'sixty-six'? "
     f"(known: {', '.join(PRESETS)})"),
    ("rules.preset = 'x'", f"rules.preset: unknown rules 'x' (known: {', '.join(PRESETS)})"),
    ("rules.deck = 25", "rules.deck: rules option deck is 25; it must be one of 20, 24, 32, 48"),
    ("rules.deck = '24'", "rules.deck: rules option deck is '24'; it must be a whole number"),
    ("rules.tie = []", "rules.tie: rules option tie is []; it must be one of draw, draw_carry, last_trick"),
    ("rules.decks = 24", "rules.decks: unknown rules option 'decks'; did you mean 'deck'?"),
    ("rules.last_trick = 'wins_one'\nrules.tie = 'draw'",
     "rules.tie: rules option tie: no tie is possible where last_trick is wins_one; use last_trick"),
    ("rules.marriage_values = 'by_suit'",
     "rules.marriage_values: rules option marriage_values: by_suit goes with trump_source marriage only"),
    ("rules.claim = 'auto'\nrules.preset = 'schnapsen'",
     "rules.close_needs_claim: rules option close_needs_claim: a closer cannot claim where claim is auto"),
    ("format = 'mixed-partners'",
     'format is "mixed-partners", but rules.seating is two; expected rules with partners, such as "four-handed"'),
    ("rules = 'sessantasei-3'", "[[bots]] lists 2 bots; expected at least the 3 that meet in a match"),
    ("format = 'mixed-partners'\nrules = 'four-handed'",
     "[[bots]] lists 2 bots; expected at least the 4 that meet in a match"),
    ("format = 'mixed-partners'\nrules = 'four-handed'\nchampions = ['a']",
     'champions is set, but the format is "mixed-partners"; expected format = "gauntlet", or no champions'),
]  # fmt: skip


@pytest.mark.parametrize(("toml", "sentence"), ONE, ids=[toml.partition("\n")[0] for toml, _ in ONE])
def test_a_mistake_is_named_with_key_found_and_expected(tmp_path: Path, toml: str, sentence: str) -> None:
    assert mistakes(tmp_path, f"{toml}\n{BOTS}") == [sentence]


BOT_MISTAKES = [
    ("", 'bots is missing; expected two or more tables [[bots]], each with a bot = "..."'),
    ("[bots]\nbot = 'x'\n", "bots is {'bot': 'x'}; expected two or more tables [[bots]], each with a bot = \"...\""),
    ("bots = []", "[[bots]] lists 0 bots; expected 2 to 1000"),
    ("[[bots]]\nbot = 'greedy'\n", "[[bots]] lists 1 bot; expected 2 to 1000"),
    ("[[bots]]\nbot = 'greedy'\n" * 1001, "[[bots]] lists 1001 bots; expected 2 to 1000"),
    ("bots = ['greedy', {bot = 'random'}]", "[[bots]] #1 is 'greedy'; expected a table"),
    (BOTS + "[[bots]]\nname = 'x'\n", '[[bots]] #3 bot is missing; expected a text such as bot = "greedy"'),
    (BOTS + "[[bots]]\nbot = 3\n", "[[bots]] #3 bot is 3; expected a text in quotes"),
    (BOTS + "[[bots]]\nbot = ' '\n", "[[bots]] #3 bot is empty; expected a text"),
    (BOTS + "[[bots]]\nbot = 'a'\nname = ''\n", "[[bots]] #3 name is empty; expected a text"),
    (BOTS + f"[[bots]]\nbot = 'a'\nname = '{65 * 'n'}'\n",
     "[[bots]] #3 name is 'nnnnnnnnnnnn...nnnnnnnnnnnnn'; expected at most 64 characters"),
    (BOTS + "nam = 'x'\n", "unknown key [[bots]] #2 nam; did you mean 'name'?"),
    (BOTS + "jobs = 2\n", "unknown key [[bots]] #2 jobs; it belongs to the whole tournament: "
     "move it above the first [table] of the file"),
    (BOTS + "[[bots]]\nbot = 'a'\nname = 'x'\n[[bots]]\nbot = 'a'\nname = ' x '\n",
     "[[bots]] #3 and #4 share the name 'x'; expected a name of its own for each"),
]  # fmt: skip


@pytest.mark.parametrize(("toml", "sentence"), BOT_MISTAKES, ids=[sentence for _, sentence in BOT_MISTAKES])
def test_a_mistake_in_the_bots_names_the_table_as_a_person_counts(tmp_path: Path, toml: str, sentence: str) -> None:
    assert mistakes(tmp_path, toml) == [sentence]


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    toml = """
        pair = 3
        jobs = 0
        format = "swiss"
        [rules]
        deck = 20
        hand = 9
        tie = "bogus"
        matchtarget = 3
        [clock]
        bank_ms = "much"
        [[bots]]
        bot = "random"
        nam = "x"
        [[bots]]
        name = "y"
        """
    keys = {line.removeprefix("unknown key ").split(";")[0].split(" is ")[0] for line in mistakes(tmp_path, toml)}
    assert keys == {
        "pair",
        "jobs",
        "format",
        "rules.hand: rules option hand",
        "rules.tie: rules option tie",
        "rules.matchtarget: unknown rules option 'matchtarget'",
        "clock.bank_ms",
        "[[bots]] #1 nam",
        "[[bots]] #2 bot",
    }


def test_no_mistake_in_the_rules_is_told_that_is_only_due_to_another(tmp_path: Path) -> None:
    """Without the wrong `tie` that of the preset would stand, and contradict `last_trick`."""
    toml = "rules.preset = 'pagat'\nrules.tie = 'bogus'\nrules.last_trick = 'wins_one'\n"
    assert mistakes(tmp_path, toml + BOTS) == [
        "rules.tie: rules option tie is 'bogus'; it must be one of draw, draw_carry, last_trick"
    ]


@pytest.mark.parametrize("name", ["my cup.toml", "-x.toml", "ümlaut.toml", 65 * "n" + ".toml"])
def test_a_run_cannot_be_named_by_every_file(tmp_path: Path, name: str) -> None:
    (sentence,) = mistakes(tmp_path, BOTS, name)
    assert sentence == (
        f"name is {reprlib.repr(name.removesuffix('.toml'))} (by default the file's name); "
        "expected 1 to 64 letters, digits, '.', '_' and '-', the first a letter or a digit"
    )
    assert load(tmp_path, f'name = "cup"\n{BOTS}', name).name == "cup"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"pairs = \n", "{file} is not TOML: Invalid value (at line 1, column 9)"),
        (b"pairs = 1\npairs = 2\n", "{file} is not TOML: Cannot overwrite a value (at line 2, column 10)"),
        (b'title = "\xff"', "{file} is not UTF-8 at byte 9; save it as UTF-8"),
    ],
)
def test_a_file_that_is_no_toml_is_refused_with_the_place(tmp_path: Path, content: bytes, sentence: str) -> None:
    file = tmp_path / "cup.toml"
    file.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        load_config(file)
    assert str(caught.value) == sentence.format(file=file)


@pytest.mark.parametrize("content", ["pairs = " + 5000 * "9", "pairs = " + 100_000 * "["])
def test_a_file_that_only_harms_its_parser_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(UsageError, match="is not TOML"):
        load(tmp_path, content)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as missing:
        load_config(tmp_path / "cup.toml")
    assert str(missing.value) == (
        f"there is no tournament file {tmp_path / 'cup.toml'}; expected a TOML file with [[bots]]"
    )
    with pytest.raises(UsageError) as folder:
        load_config(tmp_path)
    assert str(folder.value) == f"{tmp_path} cannot be read: Is a directory"


plain = st.recursive(
    st.integers() | st.booleans() | st.floats() | st.text('ab"\\\n\u202e', max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["bot", "x"]), inner, max_size=2),
    max_leaves=4,
)
tables = st.dictionaries(st.sampled_from([*TournamentTable.model_fields, "pair"]), plain)


@settings(deadline=None)
@given(tables)
def test_whatever_a_file_holds_a_mistake_is_a_usage_error(
    tmp_path_factory: pytest.TempPathFactory, table: dict[str, Any]
) -> None:
    try:
        load(tmp_path_factory.getbasetemp(), "".join(f"{key} = {_inline(value)}\n" for key, value in table.items()))
    except UsageError as error:
        assert all(line.startswith(str(tmp_path_factory.getbasetemp())) for line in str(error).split("\n"))


def _inline(value: Any) -> str:
    """A value as TOML writes it in one line."""
    match value:
        case bool() | str():
            return json.dumps(value)
        case list():
            return f"[{', '.join(map(_inline, value))}]"
        case dict():
            return "{" + ", ".join(f"{key} = {_inline(inner)}" for key, inner in value.items()) + "}"
        case _:
            return repr(value)


# --- names --------------------------------------------------------------------------------------------------


def test_names_that_the_bots_give_themselves_are_checked_with_both_places(tmp_path: Path) -> None:
    config = load(tmp_path, BOTS + "[[bots]]\nbot = 'mine'\n")
    config.check_names(["greedy", "random", "mine"])
    with pytest.raises(UsageError) as caught:
        config.check_names(["greedy", "random", "greedy"])
    assert str(caught.value) == (
        f"{tmp_path / 'cup.toml'}: [[bots]] #1 and #3 share the name 'greedy'; expected a name of its own for each"
    )


def test_champions_are_checked_once_the_names_are_known(tmp_path: Path) -> None:
    config = load(tmp_path, 'format = "gauntlet"\nchampions = ["greedy", "rand"]\n' + BOTS)
    file = tmp_path / "cup.toml"
    config.check_names(["greedy", "rand", "other"])
    for names, sentence in [
        (["greedy", "random"], "champions: no bot is named 'rand'; did you mean 'random'?"),
        (["greedy", "x"], "champions: no bot is named 'rand'; the participants are 'greedy', 'x'"),
        (["greedy", "rand"], "champions names every bot; expected at least one bot that the champions meet"),
    ]:
        with pytest.raises(UsageError) as caught:
            config.check_names(names)
        assert str(caught.value) == f"{file}: {sentence}"


def test_a_reference_is_a_participant(tmp_path: Path) -> None:
    config = load(tmp_path, 'reference = "greedy"\n' + BOTS)
    config.check_names(["greedy", "random"])
    with pytest.raises(UsageError, match=r"reference: no bot is named 'greedy'; did you mean 'greedy2'\?"):
        config.check_names(["greedy2", "random"])


def test_names_that_pass_make_a_schedule(tmp_path: Path) -> None:
    config = load(tmp_path, 'format = "gauntlet"\nchampions = ["greedy"]\n' + BOTS)
    config.check_names(["greedy", "random"])
    schedule = Schedule(("greedy", "random"), config.pairs, config.format, frozenset(config.champions), config.block)
    assert schedule.match_count == 200


# --- identity and resuming ----------------------------------------------------------------------------------

BASE = {"rules.preset": "'sixty-six'", "pairs": "10"}
CHANGES = [
    ("rules.match_target", "11", "rules.match_target was 7, is now 11"),
    ("rules.close_first_lead", "false", "rules.close_first_lead was true, is now false"),
    ("block", "16", "block was 32, is now 16"),
    ("isolation", "'match'", "isolation was 'block', is now 'match'"),
    ("trust_bots", "true", "trust_bots was false, is now true"),
    ("on_broken_bot", "'walkover'", "on_broken_bot was 'stop', is now 'walkover'"),
    ("quarantine", "false", "quarantine was true, is now false"),
    ("reference", "'greedy'", "reference was not set, is now 'greedy'"),
    ("rated", "false", "rated was true, is now false"),
    ("clock.limit_ms", "500", "clock.limit_ms was 1000, is now 500"),
    ("clock.bank_ms", "500", "clock.bank_ms was 10000, is now 500"),
    ("clock.start_ms", "500", "clock.start_ms was 10000, is now 500"),
    ("clock.build_s", "500", "clock.build_s was 600, is now 500"),
    ("pairs", "9", "pairs was 10, is now 9; it can only grow"),
]


def identity(folder: Path, settings: dict[str, str], bots: str = BOTS) -> dict[str, Any]:
    """As it comes back from a store that keeps JSON."""
    config = load(folder, "".join(f"{key} = {value}\n" for key, value in settings.items()) + bots)
    stored: dict[str, Any] = json.loads(json.dumps(config.identity()))
    assert stored == config.identity()
    return stored


@pytest.mark.parametrize(("key", "value", "sentence"), CHANGES, ids=[key for key, _, _ in CHANGES])
def test_a_change_that_decides_results_is_named(tmp_path: Path, key: str, value: str, sentence: str) -> None:
    before = identity(tmp_path, BASE)
    assert differences(before, identity(tmp_path, BASE | {key: value})) == [sentence]


def test_another_format_and_other_champions_are_named(tmp_path: Path) -> None:
    before = identity(tmp_path, BASE)
    gauntlet = identity(tmp_path, BASE | {"format": "'gauntlet'", "champions": "['greedy']"})
    assert differences(before, gauntlet) == [
        "champions was [], is now ['greedy']",
        "format was 'round-robin', is now 'gauntlet'",
    ]


def test_a_change_deep_in_a_long_list_of_champions_is_named(tmp_path: Path) -> None:
    champions = [f"bot-{index}" for index in range(20)]
    gauntlet = BASE | {"format": "'gauntlet'"}
    before = identity(tmp_path, gauntlet | {"champions": json.dumps(champions)})
    (sentence,) = differences(before, identity(tmp_path, gauntlet | {"champions": json.dumps(champions[:-1])}))
    assert "'bot-19'" in sentence


def test_jobs_names_more_pairs_and_added_bots_may_differ(tmp_path: Path) -> None:
    before = identity(tmp_path, BASE)
    after = identity(
        tmp_path,
        BASE | {"name": "'other'", "title": "'Other'", "jobs": "3", "workers": "2", "cores": "7", "pairs": "11"},
        "[[bots]]\nbot = 'new'\n" + BOTS + "[[bots]]\nbot = 'greedy'\nname = 'greedy again'\n",
    )
    assert before != after
    assert differences(before, after) == []


def test_a_stop_rule_may_come_and_grow_but_never_shrink_or_go(tmp_path: Path) -> None:
    without = identity(tmp_path, BASE)
    rule = identity(tmp_path, BASE | {"stop": "{max_pairs = 40, separated = 0.96}"})
    more = identity(tmp_path, BASE | {"stop": "{max_pairs = 41, separated = 0.97}"})
    assert differences(without, rule) == differences(rule, more) == differences(rule, rule) == []
    assert differences(more, rule) == [
        "stop.max_pairs was 41, is now 40; it can only grow",
        "stop.separated was 0.97, is now 0.96; it can only grow",
    ]
    assert differences(rule, without) == [
        "stop.max_pairs was 40, is now not set; it can only grow",
        "stop.separated was 0.96, is now not set; it can only grow",
    ]


def test_pairs_may_be_changed_within_the_budget(tmp_path: Path) -> None:
    config = load(tmp_path, "pairs = 10\nstop.max_pairs = 40\n" + BOTS)
    assert config.with_pairs(40).identity() == {**config.identity(), "pairs": 40}
    with pytest.raises(UsageError, match=r"stop\.max_pairs is 40, but pairs is 41"):
        config.with_pairs(41)
    assert load(tmp_path, BOTS).with_pairs(1000).pairs == 1000


def test_a_bot_that_is_gone_or_renamed_is_named(tmp_path: Path) -> None:
    before = identity(tmp_path, BASE, BOTS + "[[bots]]\nbot = 'greedy'\nname = 'x'\n")
    after = identity(tmp_path, BASE, "[[bots]]\nbot = 'random'\n[[bots]]\nbot = 'greedy'\nname = 'y'\n")
    assert differences(before, after) == [
        "the bot 'greedy' is gone; bots can only be added",
        "the bot 'greedy' named 'x' is gone; bots can only be added",
    ]


def test_the_same_tournament_written_otherwise_is_the_same(tmp_path: Path) -> None:
    reversed_bots = '[[bots]]\nbot = "random"\n[[bots]]\nbot = "greedy"\n'
    assert identity(tmp_path, {"rules": "'sixty-six-32'"}) == identity(tmp_path, {"rules.deck": "32"}, reversed_bots)


def test_an_identity_of_a_version_with_other_keys_is_compared_key_by_key(tmp_path: Path) -> None:
    before = identity(tmp_path, BASE)
    old = {key: value for key, value in before.items() if key != "rated"} | {"seconds": 3}
    assert differences(old, before) == ["rated was not set, is now true", "seconds was 3, is now not set"]


# --- the schema ---------------------------------------------------------------------------------------------


def test_the_published_schema_is_that_of_the_code() -> None:
    """Write it anew with `json.dumps(json_schema(), indent=2, ensure_ascii=False)` and a newline at the end."""
    published = (ROOT / "docs" / "tournament.schema.json").read_text(encoding="utf-8")
    assert published == json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def test_the_schema_offers_every_key_preset_and_rules_option_with_a_description() -> None:
    schema = json_schema()
    assert set(schema["properties"]) == set(TournamentTable.model_fields)
    names, table = schema["properties"]["rules"]["anyOf"]
    assert names == {"enum": list(PRESETS)}
    assert set(table["properties"]) == {"preset", *OPTION_TYPES}
    assert table["properties"]["tie"] == {"enum": ["draw", "draw_carry", "last_trick"]}
    assert table["properties"]["deck"] == {"type": "integer"}
    assert table["properties"]["close_first_lead"] == {"type": "boolean"}
    tables = [schema, *(schema["$defs"][name] for name in ("BotTable", "ClockTable", "StopTable"))]
    assert all(field["description"] for each in tables for field in each["properties"].values())
    assert not any(each["additionalProperties"] for each in [*tables, table])


@pytest.mark.parametrize(("rules", "seats"), [("sixty-six", 1), ("three-handed", 1), ("four-handed", 2)])
def test_a_bot_has_as_many_seats_as_its_side(rules: str, seats: int, tmp_path: Path) -> None:
    assert load(tmp_path, f'rules = "{rules}"\n' + MORE_BOTS).seats_each == seats
