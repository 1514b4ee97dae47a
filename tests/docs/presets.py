"""The table of presets in docs/rules/README.md is made from `arena.game.presets`: `python -m tests.docs.presets`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from arena.game.presets import PRESETS
from arena.game.rules import OPTION_TYPES, Claim, Close, Exchange, LastTrick, Marriage, Rules

PAGE = Path(__file__).parents[2] / "docs" / "rules" / "README.md"
BEGIN = "<!-- presets: begin (python -m tests.docs.presets writes what is between these lines) -->\n"
END = "<!-- presets: end -->\n"
DASH = "–"


def table() -> str:
    """Options by presets, and in a sentence what is the same in all of them."""
    common = {option for option in OPTION_TYPES if len({_cell(rules, option) for rules in PRESETS.values()}) == 1}
    return "\n".join(
        [
            _line(["option", *(f"`{name}`" for name in PRESETS)]),
            _line(["---"] * (len(PRESETS) + 1)),
            *(_line([f"`{option}`", *_cells(option)]) for option in OPTION_TYPES if option not in common),
            "",
            f"The same in all of them: {_listed(option for option in OPTION_TYPES if option in common)}.",
            "",
        ]
    )


def fresh(page: str) -> str:
    """The page with the table as it should be."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin and end, f"{PAGE} has lost the lines around the table of presets"
    return before + begin + table() + end + after


def _cells(option: str) -> Iterator[str]:
    default = _cell(Rules(), option)
    for rules in PRESETS.values():
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
    if rules.last_trick in (LastTrick.WINS_ONE, LastTrick.PLUS_10_WINS):
        options.add("tie")
    return options


def _listed(options: Iterable[str]) -> str:
    return ", ".join(f"`{option} = {_cell(Rules(), option)}`" for option in options)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(fresh(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
