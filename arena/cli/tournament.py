"""`arena tournament`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.exits import Exit
from arena.cli.options import (
    DATA,
    AllowBuildNetwork,
    Data,
    NoTimeouts,
    Quiet,
    ReportFormat,
    Store,
    Verbose,
    archive_of,
    check_seed,
    command_line,
)
from arena.cli.screen import emit, say
from arena.cli.stored import queries_of, report_of, shown
from arena.cli.web import LISTEN, Beside
from arena.errors import ArenaError
from arena.reports import Format
from arena.reports.counting import counted
from arena.reports.foreign import printable
from arena.tournament.engines import EngineKind

if TYPE_CHECKING:
    from arena.app.data import Archive
    from arena.app.runs import RunOptions
    from arena.app.tournament import Finished


def tournament(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="The tournament's file.")] = Path("tournament.toml"),
    data: Data = DATA,
    store: Store = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="What the run is called.")] = None,
    seed: Annotated[
        str | None, typer.Option(metavar="SEED", help="Rehearse with decks that anyone can predict; never rated.")
    ] = None,
    resume: Annotated[
        str | None, typer.Option(metavar="[NAME]", help="Go on with this run, or with the last one of CONFIG.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be played, and play nothing.")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, metavar="N", help="How many blocks are played at a time.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, metavar="N", help="How many processes play them.")] = None,
    cores: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="How many cores their bots may take together.")
    ] = None,
    engine: Annotated[
        EngineKind | None, typer.Option(help="Where matches are played: on this machine, or on a Ray cluster.")
    ] = None,
    ray_address: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="The cluster's head node; auto finds this machine's.")
    ] = None,
    pairs: Annotated[
        int | None, typer.Option(min=1, max=1_000_000, metavar="N", help="Pairs a pairing, in place of the file's.")
    ] = None,
    no_timeouts: NoTimeouts = False,
    allow_build_network: AllowBuildNetwork = False,
    no_pages: Annotated[
        bool, typer.Option("--no-pages", help="Write no pages at the end; arena report writes them, too.")
    ] = False,
    web: Annotated[
        str | None,
        typer.Option("--web", metavar="ADDRESS", help=f"Show the run in browsers, as at {LISTEN}."),
    ] = None,
    web_delay: Annotated[
        float, typer.Option("--web-delay", min=0, metavar="SECONDS", help="Show it that much later.")
    ] = 0.0,
    format: ReportFormat = Format.TABLE,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Play a tournament and rate the bots.

    Ctrl-C finishes what is under way, a second one stops at once; --resume goes on.
    """
    from arena.app.runs import RunOptions
    from arena.reports.words import lag_in_words

    check_seed(seed)
    archive = archive_of(data, store)
    options = RunOptions(
        config=config,
        archive=archive,
        name=name,
        seed=seed,
        resume=resume,
        jobs=jobs,
        workers=workers,
        cores=cores,
        engine=engine,
        ray_address=ray_address,
        pairs=pairs,
        no_timeouts=no_timeouts,
        allow_build_network=allow_build_network,
    )
    if dry_run:
        for line in _plan_in_words(options):
            emit(f"{line}\n")
        return
    live = None if web is None else Beside(archive, web, web_delay)
    try:
        finished = _played(options, live, quiet=quiet, verbose=verbose)
    finally:
        if live is not None:
            live.close()
    again = f"see it again: {command_line('show', finished.name, archive=archive)}"
    way_on = again if finished.complete else _way_on(options, finished.name)
    try:
        emit(shown(report_of(finished.name, archive), format))
        pages = None if no_pages or not finished.complete else _pages(finished.name, archive, quiet)
    except KeyboardInterrupt:  # what was played is stored: the table can wait
        say(way_on)
        raise
    except ArenaError as error:
        error.add_note(way_on)
        raise
    if not quiet:
        for number, secret in finished.secrets.items():
            say(f"secret{f' {number}' if len(finished.secrets) > 1 else ''}  {secret.hex()}")
        say(f"lag  {lag_in_words(finished.lag)}")
        if pages is not None:
            say(f"pages  {pages}")
        say(again)
    if finished.void:
        say(f"{counted(finished.void, 'match')} void, which the arena failed to play: nobody is charged")
    if not finished.complete:
        say(way_on)
        raise typer.Exit(Exit.STOPPED)
    if finished.void:
        raise typer.Exit(Exit.WRONG)


def _pages(run: str, archive: Archive, quiet: bool) -> Path:
    """Write the pages of the run into its folder; returns the path of the first."""
    from arena.app.report import write_site

    if not quiet:
        say("writing the pages ...")
    with queries_of(archive) as queries:
        return write_site(queries, run, archive)


def _plan_in_words(options: RunOptions) -> Iterator[str]:
    """The header of the run, and its blocks in the order of the schedule, but for those that are played."""
    from arena.app.tournament import dry_run
    from arena.cli.progress import header

    plan, tasks = dry_run(options)
    yield from header(plan)
    for task in tasks:
        block = task.block
        first, last = block.numbers[0], block.numbers[-1]
        lists = f"list {first}" if first == last else f"lists {first} to {last}"
        decks = "mirrored" if block.mirrored else "decks of their own"
        played = len(block.numbers) - len(task.keys)
        so_far = f", {played} of them played" if played else ""
        epoch = f"epoch {block.epoch}, " if len(plan.schedules) > 1 else ""
        seats = " - ".join(map(printable, block.seats))
        yield f"{epoch}block {block.position}: {seats}, {lists}, {decks}{so_far}"


def _played(options: RunOptions, live: Beside | None, *, quiet: bool, verbose: bool) -> Finished:
    import asyncio

    from arena.app.tournament import run_tournament
    from arena.cli.progress import Progress

    if not quiet:
        say(f"starting the bots of {options.config} ...")
    with Progress(live, quiet=quiet, verbose=verbose) as progress:
        try:
            return asyncio.run(run_tournament(options, progress))
        except KeyboardInterrupt:
            name = options.resume if progress.plan is None else progress.plan.name
            say("nothing was played" if name is None else _way_on(options, name))
            raise
        except Exception as error:
            if progress.plan is not None:
                error.add_note(_way_on(options, progress.plan.name))
            raise


def _way_on(options: RunOptions, name: str) -> str:
    words = ["tournament", str(options.config), "--resume", name]
    words += ["--pairs", str(options.pairs)] if options.pairs is not None else []
    words += ["--no-timeouts"] if options.no_timeouts else []
    return f"go on with: {command_line(*words, archive=options.archive)}"
