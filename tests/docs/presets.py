"""The tables of presets in docs/rules/README.md are made from `arena.game.presets`: `python -m tests.docs.presets`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from arena.game.presets import PRESETS
from arena.game.rules import OPTION_TYPES, Claim, Close, Exchange, LastTrick, Marriage, Rules, Score, TrumpSource

PAGE = Path(__file__).parents[2] / "docs" / "rules" / "README.md"
BEGIN = "<!-- presets: begin (python -m tests.docs.presets writes what is between these lines) -->\n"
END = "<!-- presets: end -->\n"
DASH = "–"
DEFAULT = "sixty-six"


def tables() -> str:
    """One for the ordinary games of two, one for all others."""
    ordinary = [name for name, rules in PRESETS.items() if _is_ordinary(rules)]
    others = [name for name in PRESETS if name not in ordinary]
    return f"{_table(ordinary)}\n{_table([DEFAULT, *others])}"


def _is_ordinary(rules: Rules) -> bool:
    return rules.seats == 2 and rules.trump_source is TrumpSource.TURN_UP


def _table(names: Sequence[str]) -> str:
    """Options by presets; in a sentence below it what is the same in all of these presets."""
    shown = [PRESETS[name] for name in names]
    common = [option for option in OPTION_TYPES if len({_cell(rules, option) for rules in shown}) == 1]
    lines = [
        _line(["option", *(f"`{name}`" for name in names)]),
        _line(["---"] * (len(names) + 1)),
        *(_line([f"`{option}`", *_cells(shown, option)]) for option in OPTION_TYPES if option not in common),
    ]
    if common:
        values = ", ".join(f"`{option} = {_cell(PRESETS[DEFAULT], option)}`" for option in common)
        lines += ["", *textwrap.wrap(f"The same in all of these: {values}.", 118, break_on_hyphens=False)]
    return "\n".join([*lines, ""])


def fresh(page: str) -> str:
    """The page with the table as it should be."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin and end, f"{PAGE} has lost the lines around the tables of presets"
    return before + begin + tables() + end + after


def _cells(shown: Sequence[Rules], option: str) -> Iterator[str]:
    default = _cell(PRESETS[DEFAULT], option)
    for rules in shown:
        cell = _cell(rules, option)
        yield cell if cell in (default, DASH) else f"**{cell}**"


def _cell(rules: Rules, option: str) -> str:
    return DASH if option in _meaningless(rules) else str(rules.options()[option]).lower()


def _meaningless(rules: Rules) -> set[str]:
    """The options that make no difference under the other ones."""
    options: set[str] = set()
    if rules.exchange is Exchange.OFF:
        options |= {"exchange_min_talon", "exchange_on_opponent_close"}
    if rules.marriage is Marriage.OFF:
        options |= {"marriage_phase", "marriage_lead", "marriage_credit"}
    if rules.close is Close.OFF:
        options |= {option for option in OPTION_TYPES if option.startswith("close_")}
    if rules.claim in (Claim.AUTO, Claim.OFF):
        options.add("false_claim")
    if rules.claim is Claim.OFF:
        options.add("target")
    if rules.score is Score.CARD_POINTS:
        options |= {"class_line", "illegal_play", "tie"}
    if rules.last_trick in (LastTrick.WINS_ONE, LastTrick.PLUS_10_WINS):
        options.add("tie")
    return options


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(fresh(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
