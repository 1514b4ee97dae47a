"""The roof: words to use cases, values to screens and exit codes.  Nothing is decided here.

Whatever is slow to import is imported in the command that needs it: `arena --help` must come at once.
"""

from __future__ import annotations

import io
import re
import shlex
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from arena import __version__
from arena.cli import screen
from arena.cli.exits import MEANINGS, Exit
from arena.cli.screen import emit, say
from arena.errors import ArenaError, UsageError
from arena.game.presets import PRESETS, preset
from arena.game.table import Table
from arena.reports import Format, Part
from arena.reports.columns import COLUMNS, CSV_COLUMNS, TABLE_COLUMNS, parse_columns
from arena.reports.counting import counted
from arena.reports.foreign import escaped, printable

if TYPE_CHECKING:
    from arena.app.tournament import Finished, RunOptions
    from arena.reports.model import RunReport
    from arena.store import Queries

_EXIT_CODES = "\b\nExit codes:\n" + "\n".join(f"  {code.value:<5}{meaning}" for code, meaning in MEANINGS.items())
_COLUMN_LIST = "\b\nColumns:\n" + "\n".join(f"  {column.name:<16}{column.about}" for column in COLUMNS)
_PRESET_LIST = "\b\nPresets, and how many bots they are for:\n" + "\n".join(
    f"  {name:<18}{Table.of(rules).sides}" for name, rules in PRESETS.items()
)

app = typer.Typer(
    name="arena",
    help="Referee and arena for Sixty-Six bot tournaments, rated with TrueSkill.",
    epilog=_EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Data = Annotated[
    Path, typer.Option("--data", envvar="ARENA_DATA", metavar="DIR", help="The folder of the store and of the logs.")
]
ReportFormat = Annotated[Format, typer.Option("--format", help="In what form the report is written to stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on stderr but what went wrong.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="A line for each match.")]
DATA = Path("arena-data")
COUNT_EVERY_S = 10.0
"""How often a long verification says how far it is."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (of the process, if none is given); returns the exit code and raises nothing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a name is no error
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        app(_with_name_of_resume(words), prog_name="arena")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else Exit.DONE
    except UsageError as error:
        return _failed(error, Exit.USAGE)
    except ArenaError as error:
        return _failed(error, Exit.BUG)
    except Exception as error:
        traceback.print_exc()
        return _failed(error, Exit.BUG)
    return Exit.DONE


def _failed(error: Exception, code: Exit) -> Exit:
    sentence = str(error) if isinstance(error, ArenaError) else f"this is a bug of the arena ({type(error).__name__})"
    for line in f"arena: {sentence}".split("\n"):
        say(escaped(line))
    for note in getattr(error, "__notes__", ()):
        say(note)
    return code


def _with_name_of_resume(words: Sequence[str]) -> list[str]:
    """`--resume` alone means the last run: Typer knows no option whose value may be left out."""
    named = []
    for word, following in zip(words, [*words, "-"][1:], strict=True):
        alone = word == "--resume" and (following.startswith("-") or following.endswith(".toml"))
        named.append("--resume=last" if alone else word)
    return named


def _version(wanted: bool) -> None:
    if wanted:
        emit(f"arena {__version__}\n")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


# -- tournament -------------------------------------------------------------------------------------------------------


@app.command()
def tournament(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="The tournament's file.")] = Path("tournament.toml"),
    data: Data = DATA,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="What the run is called.")] = None,
    seed: Annotated[
        str | None, typer.Option(metavar="SEED", help="Rehearse with decks that anyone can predict; never rated.")
    ] = None,
    resume: Annotated[
        str | None, typer.Option(metavar="[NAME]", help="Go on with this run, or with the last one of CONFIG.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be played, and play nothing.")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, metavar="N", help="How many blocks are played at a time.")] = None,
    format: ReportFormat = Format.TABLE,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Play a tournament and rate the bots.

    Ctrl-C finishes what is under way, a second one stops at once; --resume goes on.
    """
    from arena.app.tournament import RunOptions

    _check_seed(seed)
    options = RunOptions(config=config, data=data, name=name, seed=seed, resume=resume, jobs=jobs)
    if dry_run:
        emit("".join(f"{line}\n" for line in _plan_in_words(options)))
        return
    finished = _played(options, quiet=quiet, verbose=verbose)
    try:
        emit(_shown(_report(finished.name, data), format))
    except KeyboardInterrupt:  # what was played is stored: the table can wait
        say(_way_on(options, finished.name) if not finished.complete else f"see it: {_command('show', finished.name)}")
        raise
    if not quiet:
        for number, secret in enumerate(finished.secrets):
            say(f"secret{f' {number}' if len(finished.secrets) > 1 else ''}  {secret.hex()}")
        say(f"see it again: {_command('show', finished.name, data=data)}")
    if finished.void:
        say(f"{counted(finished.void, 'match')} void, which the arena failed to play: nobody is charged")
    if not finished.complete:
        say(_way_on(options, finished.name))
        raise typer.Exit(Exit.STOPPED)
    if finished.void:
        raise typer.Exit(Exit.WRONG)


def _plan_in_words(options: RunOptions) -> Iterator[str]:
    """The header of the run, and its blocks in the order of the schedule."""
    from arena.app.tournament import dry_run
    from arena.cli.progress import header

    plan = dry_run(options)
    # Which number is free is known when the run begins.
    yield from header(replace(plan, name=options.name or options.resume or f"{plan.config.name}-N"))
    for schedule in plan.schedules:
        for block in schedule.blocks():
            first, last = block.numbers[0], block.numbers[-1]
            lists = f"list {first}" if first == last else f"lists {first} to {last}"
            decks = "mirrored" if block.mirrored else "decks of their own"
            yield f"block {block.position}: {' - '.join(map(printable, block.seats))}, {lists}, {decks}"


def _played(options: RunOptions, *, quiet: bool, verbose: bool) -> Finished:
    import asyncio

    from arena.app.tournament import run_tournament
    from arena.cli.progress import Progress

    if not quiet:
        say(f"starting the bots of {options.config} ...")
    with Progress(quiet=quiet, verbose=verbose) as progress:
        try:
            return asyncio.run(run_tournament(options, progress))
        except KeyboardInterrupt:
            if progress.plan is not None:
                say(_way_on(options, progress.plan.name))
            raise
        except Exception as error:
            if progress.plan is not None:
                error.add_note(_way_on(options, progress.plan.name))
            raise


def _check_seed(seed: str | None) -> None:
    if seed is not None and not seed.strip():
        raise UsageError(f"--seed is {seed!r}; expected a word or a number, or leave it out for decks that none knows")


def _way_on(options: RunOptions, name: str) -> str:
    return f"go on with: {_command('tournament', str(options.config), '--resume', name, data=options.data)}"


def _command(*words: str, data: Path = DATA) -> str:
    """A command line for a shell."""
    return shlex.join(["arena", *words, *(["--data", str(data)] if data != DATA else [])])


# -- show, runs -------------------------------------------------------------------------------------------------------


@app.command(epilog=_COLUMN_LIST)
def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's name or folder, or last.")] = "last",
    data: Data = DATA,
    format: ReportFormat = Format.TABLE,
    part: Annotated[
        Part, typer.Option(help="In JSON: all, or only what is the same for the same seed to the byte.")
    ] = Part.ALL,
    columns: Annotated[
        str | None, typer.Option(metavar="NAMES", help="The columns of the ranking, with commas between them.")
    ] = None,
    operator: Annotated[
        bool, typer.Option("--operator", help="Show evidence before the secret is revealed: it names hidden cards.")
    ] = False,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write to this file instead of stdout.")] = None,
) -> None:
    """Show the ranking, the crosstable and what they rest on.

    Everything is computed again from what the store holds.
    """
    if part is Part.PLAY and format is not Format.JSON:
        raise UsageError(f"--part play is of JSON, but the format is {format}; add --format json")
    if columns is not None and format is Format.JSON:
        raise UsageError("--columns is of tables, but the format is json; JSON always holds everything")
    if columns is not None:
        parse_columns(columns)  # a mistake in them comes before the work
    text = _shown(_report(run, data, operator=operator), format, part=part, columns=columns, to_file=output is not None)
    if output is None:
        emit(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}; choose another --output") from None


@app.command()
def runs(data: Data = DATA) -> None:
    """List the runs in the store, the newest last."""
    from arena.reports import text

    with _queries(data) as queries:
        tallies = queries.tournaments()
    console = screen.stdout()
    emit(screen.rendered(text.runs(tallies, console.width), console))


def _report(run: str, data: Path, *, operator: bool = False) -> RunReport:
    from arena.app.show import build_report, find_run

    folder, name = find_run(run, data)
    with _queries(folder) as queries:
        return build_report(queries, name, operator=operator)


def _queries(data: Path) -> Queries:
    from arena.app.show import STORE
    from arena.store import open_queries

    return open_queries(_with_store(data) / STORE)


def _with_store(data: Path) -> Path:
    """The folder, which must have a store."""
    from arena.app.show import STORE

    if not (data / STORE).exists():
        raise UsageError(f"no tournament was played in {data} yet; play one first, or name its folder by --data")
    return data


def _shown(
    report: RunReport,
    format: Format,
    *,
    part: Part = Part.ALL,
    columns: str | None = None,
    to_file: bool = False,
) -> str:
    """The report in the wanted form; a table is as wide as where it goes to."""
    from arena.reports import csv, json, markdown, text

    match format:
        case Format.TABLE:
            console = screen.plain() if to_file else screen.stdout()
            return screen.rendered(
                text.render(report, parse_columns(TABLE_COLUMNS if columns is None else columns), console.width),
                console,
            )
        case Format.JSON:
            return json.render(report, part)
        case Format.CSV:
            return csv.render(report.rows, parse_columns(CSV_COLUMNS if columns is None else columns))
        case Format.MD:
            return markdown.render(report, parse_columns(TABLE_COLUMNS if columns is None else columns))
        case _:
            assert_never(format)


# -- export, verify ---------------------------------------------------------------------------------------------------


@app.command()
def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's name or folder, or last.")] = "last",
    data: Data = DATA,
    output: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write it here, not into the run's folder; - is stdout.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write a run as one file that anyone can verify.

    As long as a secret is not revealed, cards and evidence are left out.
    """
    from arena.app.export import export as write_export
    from arena.app.show import find_run

    folder, name = find_run(run, data)
    done = write_export(name, _with_store(folder), emit if output == "-" else Path(output) if output else None)
    if done.hidden and not quiet:
        say(f"{_secrets(done.hidden)} not revealed yet: cards, actions and evidence were left out")
    if done.file is not None and not quiet:
        say(f"written to {done.file}")
        say(f"verify it anywhere: {shlex.join(['arena', 'verify', str(done.file), '--head', done.head])}")


@app.command()
def verify(
    run: Annotated[
        str, typer.Argument(metavar="RUN|FILE", help="A run's name or folder, or last, or the file of an export.")
    ] = "last",
    data: Data = DATA,
    head: Annotated[
        str | None, typer.Option(metavar="HASH", help="The head of the play chain, as it was published.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Prove a run from its record alone.

    Decks, decisions, chains, table and ratings are computed again.  Prints identical, or the first difference and its
    place (exit code 1).  A run whose secret is not revealed cannot be verified yet (exit code 4).
    """
    from arena.app.show import find_run
    from arena.app.verify import Difference, verify_file, verify_run

    if head is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", head):
        raise UsageError(f"--head is {head!r}; expected the 64 hex digits of the play chain, as `arena show` has them")
    head = head and head.lower()
    watch = None if quiet else _counting()
    file = Path(run)
    if file.suffix == ".jsonl" or (file.exists() and not file.is_dir()):
        found = verify_file(file, head, watch)
    else:
        folder, name = find_run(run, data)
        found = verify_run(name, _with_store(folder), head, watch)
    if isinstance(found, Difference):
        emit(f"different: {escaped(found.where)}: {escaped(found.what)}\n")
        raise typer.Exit(Exit.WRONG)
    if found.hidden:
        emit(f"not verifiable yet: {_secrets(found.hidden)} not revealed, ")
        verb = "is" if found.matches == 1 else "are"
        emit(f"{counted(found.matches, 'match')} {verb} in order and chain; head {found.head}\n")
        raise typer.Exit(Exit.STOPPED)
    sizes = (found.matches, "match"), (found.deals, "deal"), (found.decisions, "decision")
    emit(f"identical: {', '.join(counted(count, noun) for count, noun in sizes)}; ")
    emit(f"head {found.head}\n")


def _secrets(epochs: Sequence[int]) -> str:
    return f"the secret of epoch {', '.join(map(str, epochs))} is"


def _counting() -> Callable[[int], None]:
    """Says every few seconds how many matches are verified."""
    due = time.monotonic() + COUNT_EVERY_S

    def watch(matches: int) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + COUNT_EVERY_S
            say(f"{counted(matches, 'match')} verified ...")

    return watch


# -- play -------------------------------------------------------------------------------------------------------------


@app.command(epilog=_PRESET_LIST)
def play(
    bots: Annotated[
        list[str],
        typer.Argument(metavar="A B", help="The bots: sample bots' names, folders, files, commands or addresses."),
    ],
    rules: Annotated[str, typer.Option(metavar="PRESET", help="The rules, by the name of a preset.")] = "sixty-six",
    seed: Annotated[str | None, typer.Option(metavar="SEED", help="Deal the decks of an earlier match again.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show each deal, card by card.")] = False,
) -> None:
    """Play one match; it is stored nowhere and counts nowhere."""
    import asyncio

    from arena.app.play import PlayOptions, WatchedDeal, play_match
    from arena.cli import watching
    from arena.match.record import Status

    _check_seed(seed)
    options = PlayOptions(bots=tuple(bots), rules=preset(rules), seed=seed)
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
    say(f"the same decks again: {_command('play', *bots, '--rules', rules, '--seed', played.seed)}")
    if played.record.status is Status.VOID:
        raise typer.Exit(Exit.WRONG)
