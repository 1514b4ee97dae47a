"""`arena duel`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from arena.cli.options import DATA, AllowBuildNetwork, Data, Quiet, building_in_words, check_seed, command_line
from arena.cli.screen import emit, say
from arena.errors import UsageError
from arena.game.presets import preset
from arena.ratings.duel import LEAST_PAIRS, Answer, DecidedBy
from arena.reports import Format
from arena.reports.foreign import printable

if TYPE_CHECKING:
    from arena.app.duel import DuelOptions, DuelState


def duel(
    bots: Annotated[list[str], typer.Argument(metavar="A B", help="The bot that may be better, and the other one.")],
    rules: Annotated[str, typer.Option(metavar="PRESET", help="The rules, by the name of a preset.")] = "sixty-six",
    pairs: Annotated[int, typer.Option(min=LEAST_PAIRS, metavar="N", help="Give up after so many pairs.")] = 400,
    edge: Annotated[
        float, typer.Option(min=1, max=40, metavar="PERCENT", help="Better means 50% of the pairs and this much more.")
    ] = 5.0,
    by: Annotated[
        DecidedBy, typer.Option(help="What decides a pair in which each has won a match: nothing, or the game points.")
    ] = DecidedBy.POINTS,
    seed: Annotated[str | None, typer.Option(metavar="SEED", help="Deal the decks of an earlier duel again.")] = None,
    format: Annotated[Format, typer.Option("--format", help="table (a sentence) or json.")] = Format.TABLE,
    data: Data = DATA,
    allow_build_network: AllowBuildNetwork = False,
    quiet: Quiet = False,
) -> None:
    """Find out whether A is better than B, in as few mirrored pairs as it takes.

    A sequential test: it ends as soon as the answer is clear.  Between 3 and 7 of 100 answers were wrong where it was
    measured (python -m bench ratings).  Nothing is stored, and it counts nowhere.
    """
    import asyncio

    from arena.app.data import BUILDS
    from arena.app.duel import DuelOptions, run_duel
    from arena.app.engines.local import Building

    check_seed(seed)
    if len(bots) != 2:
        raise UsageError(f"a duel is of two bots, but {len(bots)} were named: arena duel A B")
    if format not in (Format.TABLE, Format.JSON):
        raise UsageError(f"a duel has no {format} form: choose --format table or json")
    options = DuelOptions(
        bots=(bots[0], bots[1]),
        rules=preset(rules),
        most_pairs=pairs,
        edge=edge / 100,
        by=by,
        seed=seed,
        building=Building(
            data / BUILDS,
            network=allow_build_network,
            told=lambda name: None if quiet else say(building_in_words(name)),
        ),
    )
    last = asyncio.run(run_duel(options, (lambda _: None) if quiet else (lambda state: say(_progress(state)))))
    emit(_as_json(last, options) if format is Format.JSON else _sentence(last, options))
    if not quiet:
        say(f"the same decks again: {command_line('duel', *bots, '--rules', rules, '--seed', last.seed)}")


def _progress(state: DuelState) -> str:
    """`after 32 pairs: mine 12-15-5 other, 61% ± 10, evidence +1.20 of +2.94`."""
    pairs, judged = state.judgement.pairs, state.judgement
    one, other = map(printable, state.names)
    goal = judged.most if judged.ratio >= 0 else judged.least
    return (
        f"after {pairs.total} pairs: {one} {pairs.won}-{pairs.drawn}-{pairs.lost} {other}, "
        f"{pairs.share:.0%} ± {100 * pairs.error:.0f}, evidence {judged.ratio:+.2f} of {goal:+.2f}"
    )


def _sentence(state: DuelState, options: DuelOptions) -> str:
    pairs = state.judgement.pairs
    one, other = map(printable, state.names)
    share = f"{pairs.share:.0%} ± {100 * pairs.error:.0f} of {pairs.total} pairs"
    match state.judgement.answer:
        case Answer.BETTER:
            found = f"{one} is better than {other}: {share}"
        case Answer.NOT_BETTER:
            found = f"{one} is not better than {other} by {100 * options.edge:g} points of 100: {share}"
        case Answer.OPEN:
            found = f"{one} and {other} cannot be told apart in {pairs.total} pairs: {share}; try more --pairs"
        case answer:
            assert_never(answer)
    faults = [f"{name} {count}" for name, count in zip((one, other), state.faults, strict=True) if count]
    return found + (f"; faults: {', '.join(faults)}" if faults else "") + "\n"


def _as_json(state: DuelState, options: DuelOptions) -> str:
    judged = state.judgement
    plain = {
        "schema_version": 1,
        "bots": list(state.names),
        "answer": str(judged.answer),
        "pairs": {"won": judged.pairs.won, "drawn": judged.pairs.drawn, "lost": judged.pairs.lost},
        "share": round(judged.pairs.share, 4),
        "error": round(judged.pairs.error, 4),
        "edge": options.edge,
        "log_likelihood_ratio": round(judged.ratio, 4),
        "bounds": [round(judged.least, 4), round(judged.most, 4)],
        "faults": list(state.faults),
        "seed": state.seed,
    }
    return json.dumps(plain, indent=2) + "\n"
