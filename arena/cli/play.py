"""`arena play`."""

from __future__ import annotations

from typing import Annotated

import typer

from arena.cli import screen
from arena.cli.exits import Exit
from arena.cli.options import NoTimeouts, check_seed, command_line
from arena.cli.screen import emit, say
from arena.game.presets import PRESETS, preset
from arena.game.table import Table
from arena.match.clock import TimeControl
from arena.reports.foreign import printable

PRESET_LIST = "\b\nPresets, and how many bots they are for:\n" + "\n".join(
    f"  {name:<18}{Table.of(rules).sides}" for name, rules in PRESETS.items()
)


def play(
    bots: Annotated[
        list[str],
        typer.Argument(metavar="A B", help="The bots: sample bots' names, folders, files, commands or addresses."),
    ],
    rules: Annotated[str, typer.Option(metavar="PRESET", help="The rules, by the name of a preset.")] = "sixty-six",
    seed: Annotated[str | None, typer.Option(metavar="SEED", help="Deal the decks of an earlier match again.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show each deal, card by card.")] = False,
    no_timeouts: NoTimeouts = False,
) -> None:
    """Play one match; it is stored nowhere and counts nowhere."""
    import asyncio

    from arena.app.play import PlayOptions, WatchedDeal, play_match
    from arena.cli import watching
    from arena.match.record import Status

    check_seed(seed)
    time = TimeControl(limit_ms=0) if no_timeouts else TimeControl()
    options = PlayOptions(bots=tuple(bots), rules=preset(rules), seed=seed, time=time)
    table = Table.of(options.rules)

    def show_deal(deal: WatchedDeal) -> None:
        console = screen.stdout()
        emit(screen.rendered(watching.deal(deal, table, symbols=not console.options.ascii_only), console))

    played = asyncio.run(play_match(options, show_deal if watch else None))
    emit(screen.rendered(watching.match(played, table), screen.stdout()))
    for number, evidence in enumerate(played.record.testimony.evidence):
        first, *more = evidence.strip().split("\n")
        say(f"{printable(played.names[played.record.faults[number].seat])}: {printable(first)}")
        for line in more:
            say(f"  {printable(line)}")
    clock = ["--no-timeouts"] if no_timeouts else []
    say(f"the same decks again: {command_line('play', *bots, '--rules', rules, '--seed', played.seed, *clock)}")
    if played.record.status is Status.VOID:
        raise typer.Exit(Exit.WRONG)
