"""`arena play`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli import screen
from arena.cli.exits import Exit
from arena.cli.options import (
    DATA,
    AllowBuildNetwork,
    Data,
    NoTimeouts,
    Store,
    archive_of,
    building_in_words,
    check_seed,
    command_line,
)
from arena.cli.screen import emit, say
from arena.errors import UsageError
from arena.game.presets import PRESETS, preset
from arena.game.table import Table
from arena.reports.advice import advice
from arena.reports.foreign import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from arena.app.pairs import PlayedPairs
    from arena.app.play import PlayOptions, WatchedDeal

PRESET_LIST = "\b\nPresets, and how many bots they are for:\n" + "\n".join(
    f"  {name:<18}{Table.of(rules).sides}" for name, rules in PRESETS.items()
)
LINES_SHOWN = 5
"""Of what a bot wrote; the end of it."""


def play(
    bots: Annotated[
        list[str],
        typer.Argument(metavar="A B", help="The bots: sample bots' names, folders, files, commands or addresses."),
    ],
    rules: Annotated[str, typer.Option(metavar="PRESET", help="The rules, by the name of a preset.")] = "sixty-six",
    pairs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Play N mirrored pairs, and say how surely A is better than B."),
    ] = None,
    seed: Annotated[str | None, typer.Option(metavar="SEED", help="Deal the decks of an earlier match again.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show each deal, card by card, as it is played.")] = False,
    no_timeouts: NoTimeouts = False,
    data: Data = DATA,
    store: Store = None,
    allow_build_network: AllowBuildNetwork = False,
) -> None:
    """Play one match, or mirrored pairs.  They are kept to be looked at again, and count nowhere."""
    from arena.app.play import PlayOptions

    check_seed(seed)
    preset(rules)
    options = PlayOptions(
        tuple(bots),
        rules,
        archive_of(data, store),
        seed=seed,
        no_timeouts=no_timeouts,
        allow_build_network=allow_build_network,
        pairs=pairs or 1,
    )
    if pairs is None:
        _match(options, watch=watch)
    elif watch:
        raise UsageError("--watch shows one match, but --pairs asks for many; leave out one of the two")
    else:
        _pairs(options)


def _match(options: PlayOptions, *, watch: bool) -> None:
    import asyncio

    from arena.app.play import play_match
    from arena.cli import watching
    from arena.match.record import Status

    table = Table.of(preset(options.rules))
    with _Watching(table) as watcher:
        played = asyncio.run(
            play_match(options, watcher if watch else None, building=lambda name: say(building_in_words(name)))
        )
    emit(screen.rendered(watching.match(played, table), screen.stdout()))
    for number, evidence in enumerate(played.record.testimony.evidence):
        first, *more = evidence.strip().split("\n")
        say(f"{printable(played.names[played.record.faults[number].seat])}: {printable(first)}")
        for line in more:
            say(f"  {printable(line)}")
        if cure := advice(evidence):
            say(f"  what to do: {cure}")
    faulty = {played.names[fault.seat] for fault in played.record.faults}
    for name, log in played.logs.items():
        _show_log(name, log, lines=0 if name in faulty else LINES_SHOWN)
    say(f"see it again: {command_line('replay', 'last', archive=options.archive)}")
    _say_the_decks(options, played.seed)
    if played.record.status is Status.VOID:
        raise typer.Exit(Exit.WRONG)


def _pairs(options: PlayOptions) -> None:
    import asyncio

    from arena.app.pairs import play_pairs
    from arena.cli.progress import Progress

    with Progress(brief=True) as progress:
        played = asyncio.run(play_pairs(options, progress))
    emit("".join(f"{line}\n" for line in _verdict(played)))
    for name, log in played.logs.items():
        _show_log(name, log, lines=0)
    say(f"its table, and what each fault was: {command_line('show', played.run, archive=options.archive)}")
    say(f"the deal that cost most: {command_line('replay', 'last', '--worst', archive=options.archive)}")
    _say_the_decks(options, played.seed)
    if not played.complete:
        raise typer.Exit(Exit.STOPPED)


def _verdict(played: PlayedPairs) -> Iterator[str]:
    """What the pairs say in a sentence, and what it rests on."""
    from arena.ratings.posterior import LEVEL
    from arena.reports.columns import percent
    from arena.reports.counting import counted

    first, second = map(printable, played.names)
    pairs = played.standings[0].pairs
    better, other, sure = (first, second, played.better) if played.better >= 0.5 else (second, first, 1 - played.better)
    share, error = f"{played.deals.share:.0%}", f"{100 * played.deals.error:.0f}"
    if not pairs.total:
        yield f"no pair was finished, so nothing can be said of {first} and {second}"
        return
    told = f"{better} is better than {other} with {percent(sure)}"
    if sure < LEVEL:
        told = f"more pairs are needed to tell them apart: {told}"
    yield f"{first} wins {share} ± {error} of the deals; {told}"
    yield (
        f"{counted(pairs.total, 'pair')}: {pairs.won} won, {pairs.drawn} drawn, {pairs.lost} lost; "
        f"{counted(played.standings[0].deals, 'deal')}"
    )
    for standing in played.standings:
        if faults := sum(standing.faults.values()):
            kinds = ", ".join(f"{label} {count}" for label, count in sorted(standing.faults.items()))
            yield f"{printable(standing.participant)} committed {counted(faults, 'fault')}: {kinds}"


def _show_log(name: str, log: Path, *, lines: int) -> None:
    """Where a bot's output is, and the end of it."""
    from arena.reports.counting import counted

    written = log.read_text(encoding="utf-8", errors="replace").splitlines()
    say(f"{printable(name)} wrote {counted(len(written), 'line')}: {log}")
    for line in written[len(written) - lines :] if lines < len(written) else written:
        say(f"  {printable(line)}")


def _say_the_decks(options: PlayOptions, seed: str) -> None:
    pairs = ["--pairs", str(options.pairs)] if options.pairs > 1 else []
    clock = ["--no-timeouts"] if options.no_timeouts else []
    words = ["play", *options.bots, "--rules", options.rules, *pairs, "--seed", seed, *clock]
    say(f"the same decks again: {command_line(*words, archive=options.archive)}")


class _Watching:
    """Shows deals on stdout: a terminal shows the one that is being played as it goes."""

    def __init__(self, table: Table) -> None:
        from rich.live import Live

        self._table = table
        self._console = screen.stdout()
        self._now: Callable[[], WatchedDeal] | None = None
        self._live = Live(console=self._console, get_renderable=self._picture, refresh_per_second=8, transient=True)

    def __enter__(self) -> _Watching:
        return self

    def __exit__(self, *_: object) -> None:
        with screen.writing(sys.stdout):  # the terminal may be gone
            self._live.stop()

    def asked(self, deal: Callable[[], WatchedDeal]) -> None:
        self._now = deal
        if self._console.is_terminal and not self._console.is_dumb_terminal and not self._live.is_started:
            self._live.start()

    def ended(self, deal: WatchedDeal) -> None:
        self._now = None
        self._live.stop()
        emit(screen.rendered(self._drawn(deal), self._console))

    def _picture(self) -> RenderableType:
        now = self._now
        return "" if now is None else self._drawn(now())

    def _drawn(self, deal: WatchedDeal) -> RenderableType:
        from arena.cli import watching

        return watching.deal(deal, self._table, symbols=not self._console.options.ascii_only)
