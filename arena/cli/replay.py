"""`arena replay`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli import screen
from arena.cli.exits import Exit
from arena.cli.options import DATA, Data, NoTimeouts, Run, Store, archive_of
from arena.cli.screen import emit, say
from arena.cli.stored import with_store
from arena.errors import UsageError
from arena.reports import Format
from arena.reports.counting import counted
from arena.reports.foreign import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from arena.reports.replay.model import DealReplay, MatchReplay


def replay(
    run: Run = "last",
    match: Annotated[
        str | None,
        typer.Argument(
            metavar="MATCH", help="Its place in the schedule, or its name as other commands write it; else the newest."
        ),
    ] = None,
    data: Data = DATA,
    store: Store = None,
    deal: Annotated[int | None, typer.Option(min=1, metavar="D", help="Only this deal, or this one first.")] = None,
    step: Annotated[
        int | None, typer.Option("--step", "--decision", min=1, metavar="N", help="This decision of the deal.")
    ] = None,
    worst: Annotated[bool, typer.Option("--worst", help="The deal that cost a bot most game points.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the matches of the run by their places.")] = False,
    whose: Annotated[
        str | None, typer.Option("--for", metavar="BOT", help="The bot that --worst or --list is about.")
    ] = None,
    seat: Annotated[
        int | None, typer.Option(min=0, metavar="SEAT", help="Show what this seat saw, instead of all cards.")
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Write the deal as text, on a terminal, too.")] = False,
    format: Annotated[Format, typer.Option("--format", help="table (to look at) or json.")] = Format.TABLE,
    bot: Annotated[
        str | None, typer.Option(metavar="BOT", help="Ask this bot what it would do at --decision now.")
    ] = None,
    play_on: Annotated[
        bool, typer.Option("--play-on", help="Let --bot play the deal to its end from --decision on.")
    ] = False,
    against: Annotated[
        str | None, typer.Option(metavar="BOT", help="Who plays the other sides of --play-on; else the bot itself.")
    ] = None,
    no_timeouts: NoTimeouts = False,
    operator: Annotated[
        bool, typer.Option("--operator", help="Show cards before the secret is revealed: they are dealt again.")
    ] = False,
) -> None:
    """Look at a match, decision by decision, and ask a bot again.

    On a terminal the keys lead through it; else, or with --plain, it is told as text.  Nothing is stored.
    """
    import asyncio

    from arena.app import consult
    from arena.app.replay import Library, build_replay
    from arena.app.show import find_run
    from arena.reports.replay import json, text, words

    _check(format, deal, worst, list_, whose, bot, play_on, against, step)
    archive, name = find_run(run, archive_of(data, store))
    with Library(with_store(archive), operator=operator) as library:
        if list_:
            for result in library.listed(name, whose):
                emit(f"{text.listed(result)}\n")
            return
        if worst:
            found = library.worst(name, match, whose)
            stored, deal = found.match, found.deal
        else:
            stored = library.match(name, match)
    shown = build_replay(stored)
    deals = shown.deals if deal is None and step is None else (_deal(shown, deal or 1),)
    _check_place(shown, deals[0], step, seat, asks=bot is not None)
    if worst:
        say(
            f"the deal that cost {printable(found.bot)} most, {counted(found.lost, 'point')}: "
            f"deal {found.deal} of match {shown.position}"
        )
    if bot is not None:
        assert step is not None
        moment = consult.Moment(stored, shown, deals[0], step)
        if not play_on:
            advice = asyncio.run(consult.ask_again(moment, bot, timed=not no_timeouts))
            emit(_rendered(text.advised(shown, moment.deal, seat, step, advice)))
            return
        say(f"as it was: {words.ending(moment.deal.open, shown.cast)}")
        shown = asyncio.run(consult.play_on(moment, bot, against, timed=not no_timeouts))
        deals = shown.deals
    if format is Format.JSON:
        emit(json.render(shown, deals, seat))
    elif not plain and sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        _browse(shown, deals[0], step or 1, seat)
    else:
        emit(_rendered(text.title(shown)))
        for each in deals:
            alone = step is not None and not play_on
            emit(_rendered((text.moment if alone else text.story)(shown, each, seat, step or 1)))


def _browse(shown: MatchReplay, deal: DealReplay, step: int, seat: int | None) -> None:
    from arena.cli.browsing import browse

    try:
        browse(shown, shown.deals.index(deal), step, seat)
    except KeyboardInterrupt:
        raise typer.Exit(Exit.INTERRUPTED) from None


def _check(
    format: Format,
    deal: int | None,
    worst: bool,
    list_: bool,
    whose: str | None,
    bot: str | None,
    play_on: bool,
    against: str | None,
    step: int | None,
) -> None:
    """Raises `UsageError` for options that do not belong together."""
    if format not in (Format.TABLE, Format.JSON):
        raise UsageError(f"a replay has no {format} form: choose --format table or json")
    if worst and deal is not None:
        raise UsageError("--worst finds the deal; leave --deal out")
    if whose is not None and not (worst or list_):
        raise UsageError("--for names the bot of --worst or --list; add one of them")
    if play_on and bot is None:
        raise UsageError("--play-on needs a bot that plays; add --bot")
    if against is not None and not play_on:
        raise UsageError("--against names who else plays on; add --play-on")
    if bot is not None and step is None:
        raise UsageError("--bot is asked at a decision; name one by --decision")
    if bot is not None and not play_on and format is Format.JSON:
        raise UsageError("what a bot would do now has no json form; leave --format out, or add --play-on")


def _check_place(shown: MatchReplay, deal: DealReplay, step: int | None, seat: int | None, *, asks: bool) -> None:
    """Raises `UsageError` for a step or a seat that there is not."""
    last = deal.steps - 1 if asks else deal.steps
    if step is not None and step > last:
        end = "" if asks else ", which is its end"
        raise UsageError(f"deal {deal.open.number} has no step {step}; expected 1 to {last}{end}")
    if seat is not None and seat >= len(shown.seats):
        raise UsageError(f"this match has no seat {seat}; expected 0 to {len(shown.seats) - 1}")


def _deal(shown: MatchReplay, number: int) -> DealReplay:
    """Raises `UsageError` where the match has no such deal."""
    if number > len(shown.deals):
        raise UsageError(f"this match has no deal {number}; expected 1 to {len(shown.deals)}")
    return shown.deals[number - 1]


def _rendered(data: RenderableType) -> str:
    from arena.reports.replay.text import in_ascii

    console = screen.stdout()
    page = screen.rendered(data, console)
    return in_ascii(page) if console.options.ascii_only else page
