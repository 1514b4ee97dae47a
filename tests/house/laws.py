"""Laws 1-5 of the house as checkers: each reads one module of `arena/` and yields what breaks its law.

They read imports and names only, whatever runs when: those in functions and those made for types count too.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

GROUND = {"cards", "errors"}
COURT = {*GROUND, "game", "match"}
WORKSHOPS = {"bots", "tournament", "ratings", "store"}
HALL = {*COURT, *WORKSHOPS, "reports", "app"}

# Law 1: the rooms that a room may import, besides itself.
MAY_IMPORT: dict[str, set[str]] = {
    "": set(),
    "cards": GROUND,
    "errors": set(),
    "game": GROUND,
    "match": {*GROUND, "game"},
    "wire": {*GROUND, "game", "sixtysix"},
    "bot": {*GROUND, "game", "wire"},
    "rl": {*GROUND, "game", "wire"},
    "bots": {*COURT, "wire"},
    "tournament": COURT,
    "ratings": COURT,
    "store": COURT,
    "reports": {*COURT, *WORKSHOPS},
    "app": HALL,
    "web": HALL,
    "cli": {*HALL, "web"},
    "__main__": {"cli"},
}
# Law 2: all that the pure rooms may take from outside the house; an allow list, so that nothing slips in.
PURE_ROOMS = {*COURT}
PURE_MODULES = {
    *("__future__", "abc", "array", "bisect", "collections", "contextlib", "copy", "dataclasses", "difflib"),
    *("enum", "fractions", "functools", "hashlib", "heapq", "itertools", "json", "math", "numbers"),
    *("operator", "re", "string", "textwrap", "types", "typing"),
}
# Law 3: the rooms that alone may import a package, and that alone may print and exit.
ONLY_IN: dict[str, set[str]] = {
    "grpc": {"bots", "bot"},
    "google.protobuf": {"wire"},
    "arena.sixtysix": {"wire"},
    "sqlalchemy": {"store"},
    "sqlite3": {"store"},
    "psycopg": {"store"},
    "alembic": {"store"},
    "trueskill": {"ratings"},
    "cryptography": {"bots"},
    "ray": {"app"},
}
MAY_PRINT = {"cli"}
EXITS = {"sys.exit", "exit", "quit", "SystemExit"}
MAY_EXIT = {"cli", "bot"}
# Law 4: the rooms that may name the state of a deal.
DEAL_ROOMS = {"game", "match", "rl"}
# Law 5: the words by which the code names a seat or a side.
SEAT_WORDS = {"seat", "side", "dealer", "forehand", "leader", "follower", "closer"}


class Module:
    """One module's dotted name, its room ("" for the package itself) and its tree."""

    def __init__(self, name: str, source: str, *, is_package: bool = False) -> None:
        self.name = name
        self.room = [*name.split("."), ""][1]
        self.tree = ast.parse(source)
        self._package = name if is_package else name.rpartition(".")[0]

    def imports(self) -> Iterator[tuple[int, str]]:
        """(line, full dotted name) of everything imported; `from a import b` gives `a.b`."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield node.lineno, alias.name
            elif isinstance(node, ast.ImportFrom):
                above = self._package.split(".")
                base = ".".join(above[: len(above) - node.level + 1]) if node.level else ""
                source = ".".join(part for part in (base, node.module) if part)
                for alias in node.names:
                    yield node.lineno, f"{source}.{alias.name}"

    def names(self) -> Iterator[tuple[ast.Name | ast.Attribute, str]]:
        """Every name used and its text, also with its dots: of `a.b` both `a.b` and `a`."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name | ast.Attribute):
                yield node, ast.unparse(node)


Checker = Callable[[Module], Iterator[tuple[int, str]]]


def imports_point_down(module: Module) -> Iterator[tuple[int, str]]:
    """Law 1: imports point down, and the four workshops never import each other."""
    if module.room not in MAY_IMPORT:
        yield 1, f"the house has no room {module.room!r}"
        return
    for line, target in module.imports():
        package, _, room = target.partition(".")
        room = room.partition(".")[0]
        if package == "arena" and room not in {module.room, "__version__", *MAY_IMPORT[module.room]}:
            yield line, f"{module.room or 'arena'} may not import {target}"


def rules_are_pure(module: Module) -> Iterator[tuple[int, str]]:
    """Law 2: cards, errors, game and match take no I/O, time or randomness."""
    if module.room not in PURE_ROOMS:
        return
    for line, target in module.imports():
        if target.partition(".")[0] not in {"arena", *PURE_MODULES}:
            yield line, f"{target} is not on the list of pure modules"
    for node, name in module.names():
        if name in {"open", "input", "__import__"}:
            yield node.lineno, f"{name}() is I/O"


def packages_have_one_room(module: Module) -> Iterator[tuple[int, str]]:
    """Law 3: grpc, protobuf, SQL, trueskill and cryptography each in their room; printing and exiting in the roof."""
    for line, target in module.imports():
        for package, rooms in ONLY_IN.items():
            if f"{target}.".startswith(f"{package}.") and module.room not in rooms:
                yield line, f"{package} belongs to {', '.join(sorted(rooms))}"
        if target == "sys.exit" and module.room not in MAY_EXIT:
            yield line, "only the roof exits"
    # A module run as a program (a keeper, a worker) says its exit status in its guard, and nowhere else.
    guarded = {part for node in module.tree.body if _is_guard(node) for part in ast.walk(node)}
    for node, name in module.names():
        if name == "print" and module.room not in MAY_PRINT:
            yield node.lineno, "only the roof prints"
        if name in EXITS and module.room not in MAY_EXIT and node not in guarded:
            yield node.lineno, "only the roof exits"


def deal_state_stays_home(module: Module) -> Iterator[tuple[int, str]]:
    """Law 4: the state of a deal is named in game, match and rl only."""
    if module.room in DEAL_ROOMS:
        return
    for line, target in module.imports():
        if f"{target}.".startswith(("arena.game.deal.", "arena.game.Deal.")) or target == "arena.game.*":
            yield line, f"{target} is the state of a deal"
    for node, name in module.names():
        if name in {"arena.game.deal", "arena.game.Deal", "game.deal", "game.Deal"}:
            yield node.lineno, f"{name} is the state of a deal"


def seats_are_no_numbers(module: Module) -> Iterator[tuple[int, str]]:
    """Law 5: no `1 - seat`, `seat ^ 1` or `seat % n` outside game/table.py: the table knows who is next."""
    if module.name == "arena.game.table":
        return
    for node in ast.walk(module.tree):
        match node:
            case ast.BinOp(ast.Constant(1), ast.Sub() | ast.BitXor(), operand) | ast.BinOp(
                operand, ast.BitXor() | ast.Mod(), _
            ) if _is_seat(operand):
                yield node.lineno, f"{ast.unparse(node)}: ask the table"


def _is_guard(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def _is_seat(node: ast.expr) -> bool:
    """A name with a seat's word in it, or a sum with one: `ask.seat`, `own_side + 1`; not `hands[seat]`."""
    match node:
        case ast.BinOp(left, _, right):
            return _is_seat(left) or _is_seat(right)
        case ast.Name(name) | ast.Attribute(_, name):
            return not SEAT_WORDS.isdisjoint(name.lower().split("_"))
        case _:
            return False


LAWS = (
    imports_point_down,
    rules_are_pure,
    packages_have_one_room,
    deal_state_stays_home,
    seats_are_no_numbers,
)
