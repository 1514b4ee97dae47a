"""The pages leave nothing out: what they list is compared with the code that they describe."""

from __future__ import annotations

import inspect
import json
import random
import re
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer.main

from arena.app.templates import Language
from arena.bot import DealResult, MatchResult, Trick, View, serve
from arena.bots import manifest
from arena.bots.check.checks import CHECKS
from arena.cli import app
from arena.cli.exits import MEANINGS
from arena.game.game import Game
from arena.game.presets import PRESETS
from arena.game.rules import _NUMBERS, OPTION_TYPES, Rules
from arena.game.scoring import Termination
from arena.game.views import DecisionPoint
from arena.match.rulings import Fault
from arena.match.summary import MatchKey
from arena.reports.columns import BOT_TABLES, COLUMNS, STATISTICS, TABLE_COLUMNS
from arena.reports.replay import json as replay_json
from arena.sixtysix.v1 import bot_pb2
from arena.tournament import decks
from arena.tournament.config import BotTable, ClockTable, StopTable, TournamentTable
from tests.docs import presets
from tests.docs.pages import ROOT, blocks, prose, table
from tests.reports.replays import replay_of

DOCS = ROOT / "docs"
SDK = DOCS / "authors" / "python.md"
RULES = DOCS / "rules" / "README.md"


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def code_words(page: Path) -> set[str]:
    """What stands in backticks outside of blocks; of calls and pairs of keys each part."""
    return {word for code in re.findall(r"`([^`]+)`", prose(page)) for word in re.findall(r"[\w-]+", code)}


def test_the_languages_of_a_new_bot_are_listed_with_their_sample_bots() -> None:
    page = DOCS / "authors" / "languages.md"
    assert [row[0].strip("`") for row in table(page, "`--lang`")] == list(Language)
    linked = set(re.findall(r"sample_bots/greedy-(\w+)/README", read(page)))
    assert linked == set(Language) - {Language.PYTHON}


# -- rules ----------------------------------------------------------------------------------------------------------


def test_the_tables_of_presets_are_fresh() -> None:
    page = read(RULES)
    assert page == presets.fresh(page), "run: python -m tests.docs.presets"


def test_every_preset_has_a_page() -> None:
    pages = [page for page in RULES.parent.glob("*.md") if page != RULES]
    assert set(PRESETS) <= {word for page in pages for word in code_words(page)}


def test_the_options_are_listed_with_all_their_values() -> None:
    listed = {row[0].strip("`"): re.findall(r"`(\w+)`", row[1]) for row in table(RULES, "option")}
    assert listed == {name: possible(name, kind) for name, kind in OPTION_TYPES.items()}


def possible(name: str, kind: type) -> list[str]:
    if issubclass(kind, StrEnum):
        return [str(value) for value in kind]
    return ["true", "false"] if kind is bool else [str(value) for value in _NUMBERS[name]]


# -- authors --------------------------------------------------------------------------------------------------------


def test_authors_read_of_everything_that_a_view_has() -> None:
    public = {name for name in dir(View) if not name.startswith("_")} | {"match"}
    assert public - {"of"} <= code_words(SDK)


def test_authors_read_of_everything_that_a_result_has() -> None:
    for kind in (DealResult, MatchResult):
        names = set(kind._fields)
        names |= {name for name, value in vars(kind).items() if isinstance(value, property)}
        assert names <= code_words(SDK)
    assert {*Trick._fields, "points"} <= code_words(SDK)


def test_authors_read_of_all_that_serve_takes() -> None:
    assert set(inspect.signature(serve).parameters) == {
        word.strip("`") for row in table(SDK, "parameter") for word in row[0].split(", ")
    }


def test_authors_read_of_all_that_the_json_of_a_replay_has() -> None:
    _, replay = replay_of("sixty-six")
    document = json.loads(replay_json.render(replay, replay.deals, None))
    deal = document["deals"][0]
    words = code_words(DOCS / "authors" / "debugging.md")
    assert {*document, *document["match"], *deal, *deal["steps"][0], *deal["steps"][0]["hands"][0]} <= words


def test_authors_read_of_every_key_of_a_bot() -> None:
    tables = (manifest._Manifest, manifest._Run, manifest._Build)
    assert {key for each in tables for key in each.model_fields} <= code_words(DOCS / "authors" / "folder.md")
    listed = {word for row in table(DOCS / "remote.md", "key in `[remote]`") for word in re.findall(r"\w+", row[0])}
    assert listed == set(manifest._Remote.model_fields)


def test_authors_read_of_every_check() -> None:
    listed = [[row[0].strip("`"), row[1]] for row in table(DOCS / "authors" / "check.md", "check")]
    assert listed == [[check.name, check.about] for check in CHECKS]


# -- organisers -----------------------------------------------------------------------------------------------------


def test_organisers_read_of_every_key_of_a_tournament() -> None:
    listed = [row[0] for row in table(DOCS / "organisers.md", "key")]
    expected = {f"`{key}`" for key in TournamentTable.model_fields if key not in ("stop", "clock", "bots")}
    expected |= {f"`[stop]` `{key}`" for key in StopTable.model_fields}
    expected |= {f"`[clock]` `{key}`" for key in ClockTable.model_fields}
    expected |= {f"`[[bots]]` `{key}`" for key in BotTable.model_fields}
    assert set(listed) == expected


def test_organisers_read_the_defaults() -> None:
    listed = {row[0].split(" ")[-1].strip("`"): row[1] for row in table(DOCS / "organisers.md", "key")[:-2]}
    fields = TournamentTable.model_fields | ClockTable.model_fields | StopTable.model_fields
    for key, default in listed.items():
        if re.fullmatch(r'[\d.]+|true|false|`"[^"]+"`', default):
            assert default.strip('`"') == str(fields[key].default).lower(), key


def test_organisers_read_of_every_exit_code() -> None:
    assert {int(row[0]) for row in table(DOCS / "organisers.md", "code")} == set(map(int, MEANINGS))


def test_organisers_read_of_every_command() -> None:
    group = typer.main.get_command(app)
    commands: dict[str, object] = getattr(group, "commands")  # noqa: B009  # the class is Typer's own
    assert commands
    for command in commands:
        assert f"arena {command}" in read(DOCS / "organisers.md"), command


# -- the table ------------------------------------------------------------------------------------------------------


def test_every_column_is_explained() -> None:
    shown = TABLE_COLUMNS.split(",")
    expected = [[f"`{column.name}`", column.header, "yes" if column.name in shown else ""] for column in COLUMNS]
    assert [row[:3] for row in table(DOCS / "ratings.md", "column")] == expected


def test_every_column_of_what_bots_did_is_explained() -> None:
    expected = [[f"`{column.name}`", column.header] for column in STATISTICS]
    page = DOCS / "statistics.md"
    assert [row[:2] for row in table(page, "column")] == expected
    assert all(title in read(page) for title in BOT_TABLES)


def test_every_end_of_a_deal_is_named() -> None:
    ends = {str(end) for end in Termination if end is not Termination.FORFEIT} | {fault.label for fault in Fault}
    assert ends <= code_words(DOCS / "ratings.md")


def test_the_picture_has_the_columns_of_the_table() -> None:
    headers = [column.header for column in COLUMNS if column.name in TABLE_COLUMNS.split(",")]
    picture = next(block.text for block in blocks(ROOT / "README.md") if block.language == "text")
    assert any(re.split(r" {2,}", line) == headers for line in picture.splitlines()), picture


# -- the protocol ---------------------------------------------------------------------------------------------------


def test_every_fault_question_and_event_is_explained() -> None:
    words = code_words(DOCS / "protocol.md")
    assert {fault.name for fault in Fault} == {row[0].strip("`") for row in table(DOCS / "protocol.md", "kind")}
    assert {point.name for point in DecisionPoint} <= words
    assert {field.name for field in bot_pb2.Event.DESCRIPTOR.fields} <= words
    for message in (bot_pb2.DescribeRequest, bot_pb2.DescribeResponse, bot_pb2.Answer):
        assert {field.name for field in message.DESCRIPTOR.fields} <= words


# -- fairness -------------------------------------------------------------------------------------------------------


def test_the_algorithm_of_the_page_is_that_of_the_arena() -> None:
    snippet = next(block for block in blocks(DOCS / "fairness.md") if block.language == "python")
    page: dict[str, Any] = {}
    exec(compile(snippet.text, snippet.place, "exec"), page)  # its own test vectors are in it
    names = ("Zoë", "anna")
    pack = Game(Rules()).cards
    rng = random.Random(66)
    for number in range(50):
        secret = rng.randbytes(32)
        assert page["commitment"](secret) == decks.commitment(secret)
        assert page["secret_of_seed"](number, 1) == decks.secret_from_seed(number, 1)
        assert page["next_secret"](secret) == decks.next_secret(secret)
        own_list = page["list_of_one_match"](names, 1, number)
        assert own_list == decks.list_id(names, 1, number, mirrored=False)
        for name in (str(number), own_list):
            dealt = page["deck"](secret, name, number + 1, list(map(str, pack)))
            assert dealt == list(map(str, decks.deck(secret, name, number + 1, pack)))
        match = page["match_id"](secret, 2, names, 1, number)
        assert match == decks.match_id(secret, MatchKey(2, names, 1, number))
        assert page["bot_seed"](secret, match, 1) == decks.bot_seed(secret, match, 1)
