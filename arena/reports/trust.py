"""How far to trust a table, in words, in Markdown and as JSON.

Each finding is a label and a sentence that says what was found and what it means.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from arena.ratings.posterior import LEVEL
from arena.ratings.trust import Absence, Residual, Separation, Transitivity
from arena.reports import words
from arena.reports.columns import NOTHING, percent
from arena.reports.counting import counted
from arena.reports.foreign import printable
from arena.reports.markdown import escape
from arena.reports.model import RunReport
from arena.reports.text import facts_table, heading, matrix
from arena.tournament.standings import MirrorLuck

_SHOWN = 5
SCORED = "% scored (expected)"
DIGITS = 4


@dataclass(frozen=True, slots=True)
class FaultCosts:
    """What faults have decided."""

    matches: int
    """Matches that count."""
    forfeits: int
    """Lost by a fault as a whole."""
    lost_with_fault: int
    """Played to the end and lost by a side with a fault in it."""
    time_losses: int
    """Faults of time."""


@dataclass(frozen=True, slots=True)
class TrustReport:
    """Everything that the trust report says."""

    report: RunReport
    luck: MirrorLuck | None
    """None where nothing was mirrored, or nothing varied."""
    unmirrored: Mapping[tuple[str, ...], int]
    """Complete pairs on decks of their own, by pairing."""
    separations: tuple[Separation, ...]
    transitivity: Transitivity | None
    """None where it cannot be tested."""
    head_to_head: tuple[Residual, ...]
    """Of all sides that met; none where more than two meet."""
    fault_costs: FaultCosts
    absences: tuple[Absence, ...]


def render(trust: TrustReport, width: int) -> RenderableType:
    """For a terminal of `width` characters."""
    parts: list[RenderableType] = [
        heading(trust.report.run),
        Text(printable(words.verdict(trust.report))),
        "",
        facts_table(list(findings(trust))),
    ]
    if scored := duels(trust):
        names = [row.participant.name for row in trust.report.rows]
        table = matrix(SCORED, names, [[scored.get((one, other)) for other in names] for one in names], width)
        parts += ["", table or Text(f"no room for {SCORED}: see --format md or json", style="dim")]
    return Group(*parts)


def markdown(trust: TrustReport) -> str:
    """As GitHub Markdown."""
    lines = [
        f"# How far to trust: {escape(trust.report.run.title)}",
        "",
        escape(words.size(trust.report.run)),
        "",
        escape(words.verdict(trust.report)),
        "",
        *(f"- **{label}** {escape(text)}" if label else f"  - {escape(text)}" for label, text in findings(trust)),
    ]
    if scored := duels(trust):
        names = [row.participant.name for row in trust.report.rows]
        cells = [[scored.get((one, other), NOTHING) for other in names] for one in names]
        lines += [
            "",
            f"| {SCORED} | {' | '.join(map(escape, names))} |",
            f"|---|{'---:|' * len(names)}",
            *(f"| {escape(name)} | {' | '.join(line)} |" for name, line in zip(names, cells, strict=True)),
        ]
    return "\n".join(lines) + "\n"


def as_json(trust: TrustReport) -> str:
    """As one JSON object."""
    luck, test, run = trust.luck, trust.transitivity, trust.report.run
    plain: dict[str, Any] = {
        "schema_version": 1,
        "verdict": words.verdict(trust.report),
        "pairs": {
            "mirrored": run.mirrored_pairs,
            "unmirrored": run.unmirrored_pairs,
            "unmirrored_pairings": [
                {"pairing": list(pairing), "pairs": pairs} for pairing, pairs in trust.unmirrored.items()
            ],
        },
        "mirror_luck": luck and {"pairs": luck.pairs, "correlation": _rounded(luck.correlation)},
        "separations": [
            {
                "better": each.better,
                "other": each.other,
                "probability": _rounded(each.probability),
                "more_pairs_a_pairing": _more_pairs(trust, each),
            }
            for each in trust.separations
        ],
        "transitivity": test
        and {
            "chi_squared": _rounded(test.chi_squared),
            "freedom": test.freedom,
            "probability": _rounded(test.probability),
            "outliers": list(map(_plain, test.outliers)),
        },
        "head_to_head": list(map(_plain, trust.head_to_head)),
        "faults": {
            "matches": trust.fault_costs.matches,
            "forfeits": trust.fault_costs.forfeits,
            "lost_with_fault": trust.fault_costs.lost_with_fault,
            "time_losses": trust.fault_costs.time_losses,
        },
        "without": [
            {"bot": each.name, "ranks": {name: list(ranks) for name, ranks in each.ranks.items()}}
            for each in trust.absences
        ],
        "lag": run.lag and run.lag.figures,
        "sandbox": run.sandbox,
        "chain_head": run.chain_head,
        "chain_length": run.chain_length,
    }
    return json.dumps(plain, indent=2) + "\n"


def findings(trust: TrustReport) -> Iterator[words.Fact]:
    """What was found, one label and sentence each; an empty label goes on with the one before."""
    yield "Decks", _decks(trust)
    yield "Luck", _luck(trust)
    yield from _labelled("Neighbours", [_separation(trust, each) for each in trust.separations])
    yield from _labelled("One scale", list(_transitivity(trust.transitivity)))
    yield "Faults", _fault_costs(trust.fault_costs)
    yield from _labelled("Without", list(_absences(trust.absences)))
    run = trust.report.run
    if run.lag is not None:
        yield "Lag", words.lag_in_words(run.lag)
    yield "Sandbox", f"{run.sandbox}: the level at which local bots were held"
    yield "Play chain", f"{run.chain_head} over {counted(run.chain_length, 'match')}"


def _labelled(label: str, texts: Sequence[str]) -> Iterator[words.Fact]:
    for number, text in enumerate(texts):
        yield "" if number else label, text


def _decks(trust: TrustReport) -> str:
    run = trust.report.run
    if not run.pairs_finished:
        return f"no {run.unit[:-1]} is complete"
    if not run.unmirrored_pairs:
        return f"all {counted(run.mirrored_pairs, run.unit[:-1])} mirrored: the same decks in every seat"
    shown = [f"{' - '.join(pairing)} {pairs:,}" for pairing, pairs in trust.unmirrored.items()]
    if len(shown) > _SHOWN:
        shown[_SHOWN:] = [f"{counted(len(shown) - _SHOWN, 'more pairing')}"]
    return (
        f"{run.unmirrored_pairs:,} of {counted(run.pairs_finished, run.unit[:-1])} on decks of their own, "
        f"with luck that nothing removed: {'; '.join(shown)}"
    )


def _luck(trust: TrustReport) -> str:
    luck = trust.luck
    if luck is None:
        return "no mirrored pair tells how much of it the decks make"
    return (
        f"the two matches of a mirrored pair correlate by {luck.correlation:+.2f} ({counted(luck.pairs, 'pair')}): "
        f"without mirroring the same certainty would take {luck.gain:.1f} times as many matches"
    )


def _separation(trust: TrustReport, each: Separation) -> str:
    names = f"{each.better} over {each.other}: {percent(each.probability)}"
    more = _more_pairs(trust, each)
    if each.probability >= LEVEL:
        return f"{names}, told apart"
    if more is None:
        return f"{names}, nothing tells them apart so far"
    return f"{names}, about {counted(more, trust.report.run.unit[:-1])} more a pairing would tell them apart"


def _more_pairs(trust: TrustReport, each: Separation) -> int | None:
    """How many more lists a pairing it takes, if things go on as they went; None where there is no end to it."""
    run = trust.report.run
    pairings = len({tuple(sorted(names)) for names in trust.report.crosstable}) or 1
    so_far = run.pairs_finished / pairings
    if math.isinf(each.factor) or each.factor > 1e4:
        return None
    return max(0, math.ceil((each.factor - 1) * so_far))


def _transitivity(test: Transitivity | None) -> Iterator[str]:
    if test is None:
        yield "whether one number a bot explains who beats whom cannot be tested here"
        return
    verdict = (
        "one number a bot explains who beats whom"
        if test.probability >= 0.05
        else "one number a bot does not explain who beats whom: some beat each other in a circle"
    )
    yield f"{verdict} (chi squared {test.chi_squared:.1f} of {test.freedom}, p = {test.probability:.3f})"
    for each in test.outliers[:_SHOWN]:
        one, other = (" and ".join(side) for side in each.sides)
        yield (
            f"{one} scored {each.score:.0%} against {other} where {each.expected:.0%} was expected "
            f"({each.z:+.1f} standard deviations, {counted(each.games, 'pair')})"
        )


def _fault_costs(costs: FaultCosts) -> str:
    if not costs.forfeits and not costs.lost_with_fault and not costs.time_losses:
        return f"no fault decided any of {counted(costs.matches, 'match')}"
    return (
        f"{counted(costs.forfeits, 'match')} of {costs.matches:,} forfeited, "
        f"{costs.lost_with_fault:,} lost by a side with a fault in it; {counted(costs.time_losses, 'time loss')}"
    )


def _absences(absences: Sequence[Absence]) -> Iterator[str]:
    for each in absences:
        if each.ranks:
            changes = ", ".join(f"{name} {now} to {then}" for name, (now, then) in each.ranks.items())
            yield f"without {each.name} ranks would change: {changes}"
    if not any(each.ranks for each in absences):
        yield "no single bot's absence would change the rank of another"


def duels(trust: TrustReport) -> Mapping[tuple[str, str], str]:
    """What each bot scored against each other, and in brackets what was expected; none where partners play."""
    cells = {}
    for each in trust.head_to_head:
        if any(len(side) > 1 for side in each.sides):
            return {}
        (one,), (other,) = each.sides
        cells[one, other] = f"{100 * each.score:.0f} ({100 * each.expected:.0f})"
        cells[other, one] = f"{100 - 100 * each.score:.0f} ({100 - 100 * each.expected:.0f})"
    return cells


def _plain(each: Residual) -> Mapping[str, Any]:
    return {
        "sides": [list(side) for side in each.sides],
        "games": each.games,
        "score": _rounded(each.score),
        "expected": _rounded(each.expected),
        "z": _rounded(each.z),
    }


def _rounded(number: float) -> float | None:
    return None if math.isinf(number) else round(number, DIGITS)
