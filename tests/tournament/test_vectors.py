"""The published test vectors: the arena, the program in the docs and a third implementation agree on each of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import pytest

from arena.cards import format_cards, parse_cards
from arena.game.game import Game
from arena.game.presets import PRESETS
from arena.match.summary import MatchKey
from arena.tournament import decks
from tests.docs.pages import ROOT, blocks
from tests.tournament.test_decks import deck_as_specified

VECTORS: Mapping[str, Any] = json.loads((ROOT / "docs" / "vectors.json").read_text("ascii"))


@pytest.fixture(scope="module")
def program() -> dict[str, Any]:
    """What the program of the page defines."""
    (page,) = (block for block in blocks(ROOT / "docs" / "fairness.md") if block.language == "python")
    defined: dict[str, Any] = {}
    exec(page.text, defined)
    return defined


def test_the_program_needs_no_more_than_the_standard_library() -> None:
    (page,) = (block for block in blocks(ROOT / "docs" / "fairness.md") if block.language == "python")
    imports = [line for line in page.text.splitlines() if "import" in line]
    assert imports == ["import hashlib", "import hmac", "import json"]


def test_the_packs_are_those_of_all_rules() -> None:
    packs = {str(rules.deck): format_cards(Game(rules).cards) for rules in PRESETS.values()}
    assert VECTORS["packs"] == packs


@pytest.mark.parametrize("vector", VECTORS["secrets"])
def test_secrets_and_commitments(vector: Mapping[str, Any], program: Mapping[str, Any]) -> None:
    secret = bytes.fromhex(vector["secret"])
    assert decks.commitment(secret) == program["commitment"](secret) == vector["commitment"]
    if vector["seed"] is not None:
        of_seed = decks.secret_from_seed(vector["seed"], vector["epoch"])
        assert of_seed == program["secret_of_seed"](vector["seed"], vector["epoch"]) == secret


@pytest.mark.parametrize("vector", VECTORS["lists"])
def test_names_of_lists(vector: Mapping[str, Any], program: Mapping[str, Any]) -> None:
    names, leg, number = vector["names"], vector["leg"], vector["number"]
    assert decks.list_id(names, leg, number, mirrored=False) == vector["list"]
    assert program["list_of_one_match"](names, leg, number) == vector["list"]
    assert decks.list_id(names, leg, number, mirrored=True) == str(number)


@pytest.mark.parametrize("vector", VECTORS["decks"])
def test_decks(vector: Mapping[str, Any], program: Mapping[str, Any]) -> None:
    secret, name, number = bytes.fromhex(vector["secret"]), vector["list"], vector["number"]
    pack = VECTORS["packs"][str(vector["cards"])]
    assert format_cards(decks.deck(secret, name, number, parse_cards(pack))) == vector["deck"]
    assert format_cards(deck_as_specified(secret, name, number, list(parse_cards(pack)))) == vector["deck"]
    assert " ".join(program["deck"](secret, name, number, pack.split())) == vector["deck"]
    key = program["derive"](secret, "arena/deck/v1", name, str(number))
    assert (key.hex(), hashlib.shake_256(key).hexdigest(32)) == (vector["key"], vector["stream"])


@pytest.mark.parametrize("vector", VECTORS["matches"])
def test_match_ids_and_seeds(vector: Mapping[str, Any], program: Mapping[str, Any]) -> None:
    secret, names = bytes.fromhex(vector["secret"]), vector["names"]
    epoch, leg, number = vector["epoch"], vector["leg"], vector["number"]
    match = vector["match_id"]
    assert decks.match_id(secret, MatchKey(epoch, tuple(names), leg, number)) == match
    assert program["match_id"](secret, epoch, names, leg, number) == match
    for seat, seed in enumerate(vector["bot_seeds"]):
        assert decks.bot_seed(secret, match, seat).hex() == program["bot_seed"](secret, match, seat).hex() == seed
