"""The house keeps its laws, and each law's checker sees what it is there to see."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.house import laws

ARENA = Path(__file__).parents[2] / "arena"


def house() -> list[Path]:
    """Every module written by hand: all but the generated package and a wheel's data."""
    modules = (path.relative_to(ARENA) for path in ARENA.rglob("*.py"))
    return sorted(path for path in modules if path.parts[0] not in {"sixtysix", "_data"})


def read(path: Path) -> laws.Module:
    is_package = path.name == "__init__.py"
    name = ".".join(["arena", *(path.parent if is_package else path.with_suffix("")).parts])
    return laws.Module(name, (ARENA / path).read_text(encoding="utf-8"), is_package=is_package)


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
def test_the_house_keeps_the_law(law: laws.Checker) -> None:
    broken = [f"arena/{path}:{line}: {what}" for path in house() for line, what in law(read(path))]
    assert not broken, "\n".join([law.__doc__ or "", *broken])


def test_every_module_says_its_law() -> None:
    silent = [str(path) for path in house() if not ast.get_docstring(read(path).tree)]
    assert not silent


def test_all_rooms_are_looked_into() -> None:
    assert {"__init__.py", "cards.py", "errors.py"} <= {str(path) for path in house()}


@pytest.mark.parametrize(
    ("law", "module", "source"),
    [
        (laws.imports_point_down, "arena.game.deal", "import arena.match.referee"),
        (laws.imports_point_down, "arena.game.deal", "def f():\n    from arena.match import referee"),
        (laws.imports_point_down, "arena.game.deal", "from ..match import referee"),
        (laws.imports_point_down, "arena.game.deal", "from .. import match"),
        (laws.imports_point_down, "arena.ratings.base", "from arena import store"),
        (laws.imports_point_down, "arena.bots.driver", "from arena.tournament.schedule import Block"),
        (laws.imports_point_down, "arena.bot.serve", "from arena.match.record import replay"),
        (laws.imports_point_down, "arena.cards", "from arena.game import rules"),
        (laws.imports_point_down, "arena.app.play", "import arena.cli"),
        (laws.imports_point_down, "arena.attic.thing", "import math"),
        (laws.rules_are_pure, "arena.game.sample", "import random"),
        (laws.rules_are_pure, "arena.match.clock", "from time import monotonic"),
        (laws.rules_are_pure, "arena.match.record", "from pathlib import Path"),
        (laws.rules_are_pure, "arena.game.solve", "import numpy as np"),
        (laws.rules_are_pure, "arena.cards", "cards = open('cards.txt')"),
        (laws.packages_have_one_room, "arena.app.play", "import grpc.aio"),
        (laws.packages_have_one_room, "arena.bots.channel", "from google.protobuf.message import Message"),
        (laws.packages_have_one_room, "arena.bots.channel", "from arena.sixtysix.v1 import bot_pb2"),
        (laws.packages_have_one_room, "arena.bot.serve", "from arena import sixtysix"),
        (laws.packages_have_one_room, "arena.reports.text", "from sqlalchemy import select"),
        (laws.packages_have_one_room, "arena.tournament.standings", "import trueskill"),
        (laws.packages_have_one_room, "arena.bots.driver", "print('hello')"),
        (laws.packages_have_one_room, "arena.bot.serve", "print('hello')"),
        (laws.packages_have_one_room, "arena.app.play", "import sys\nsys.exit(2)"),
        (laws.packages_have_one_room, "arena.app.play", "from sys import exit"),
        (laws.packages_have_one_room, "arena.app.play", "raise SystemExit(2)"),
        (laws.deal_state_stays_home, "arena.bots.driver", "from arena.game.deal import Deal"),
        (laws.deal_state_stays_home, "arena.bot.serve", "from arena.game import deal"),
        (laws.deal_state_stays_home, "arena.wire.codec", "from arena.game import Deal"),
        (laws.deal_state_stays_home, "arena.wire.codec", "from arena.game import *"),
        (laws.deal_state_stays_home, "arena.app.play", "from arena import game\ngame.deal.Deal()"),
        (laws.seats_are_no_numbers, "arena.match.referee", "other = 1 - seat"),
        (laws.seats_are_no_numbers, "arena.match.referee", "other = 1 - ask.seat"),
        (laws.seats_are_no_numbers, "arena.game.deal", "other = own_side ^ 1"),
        (laws.seats_are_no_numbers, "arena.game.deal", "nxt = (seat + 1) % 2"),
        (laws.seats_are_no_numbers, "arena.game.deal", "nxt = 1 ^ state.leader"),
        (laws.seats_are_no_numbers, "arena.reports.text", "side = self.seat % count"),
    ],
)
def test_a_planted_violation_is_found(law: laws.Checker, module: str, source: str) -> None:
    lines = [line for line, _ in law(laws.Module(module, source))]
    assert lines, f"{law.__name__} does not see {source!r} in {module}"


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("arena.match.referee", "from arena.game.deal import Deal\nfrom arena.match import clock"),
        ("arena.game.rules", "from . import tricks\nfrom ..cards import Card"),
        ("arena.app.play", "from arena import __version__, bots\nfrom arena.match.record import replay"),
        ("arena.wire.codec", "from google.protobuf import message\nfrom arena.sixtysix.v1 import bot_pb2"),
        ("arena.bots.channel", "import grpc\nfrom arena.wire import codec"),
        ("arena.bot.serve", "import grpc, sys\nfrom arena.game.position import Position\nsys.exit(1)"),
        ("arena.bots.keeper", "import sys\nif __name__ == '__main__':\n    sys.exit(main())"),
        ("arena.cli", "import sys\nprint('done')\nsys.exit(0)"),
        ("arena.store.schema", "import sqlalchemy as sa"),
        ("arena.ratings.trueskill", "import trueskill"),
        ("arena.game.table", "def other(seat): return 1 - seat"),
        ("arena.reports.text", "line = '%s' % seat\nleft = 1 - inside\nodd = 1 - odds[seat]"),
    ],
)
def test_what_the_laws_allow_passes(module: str, source: str) -> None:
    found = [what for law in laws.LAWS for _, what in law(laws.Module(module, source))]
    assert not found


def test_a_relative_import_of_a_package_counts_from_the_package() -> None:
    package = laws.Module("arena.game", "from .deal import Deal\nfrom ..match import clock", is_package=True)
    assert [target for _, target in package.imports()] == ["arena.game.deal.Deal", "arena.match.clock"]
