"""The roof: words to use cases, values to screens and exit codes.  Nothing is decided here.

Whatever is slow to import is imported in the command that needs it: `arena --help` must come at once.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from arena import __version__
from arena.cli import (
    analyse,
    certs,
    check,
    doctor,
    duel,
    exclude,
    new,
    play,
    replay,
    report,
    screen,
    serve,
    show,
    times,
    tournament,
    trust,
    upgrade,
    verify,
    web,
)
from arena.cli.exits import MEANINGS, Exit
from arena.cli.screen import emit, say
from arena.errors import ArenaError, UnfitBot, UsageError
from arena.reports.advice import advice
from arena.reports.foreign import escaped

_EXIT_CODES = "\b\nExit codes:\n" + "\n".join(f"  {code.value:<5}{meaning}" for code, meaning in MEANINGS.items())

app = typer.Typer(
    name="arena",
    help="Referee and arena for Sixty-Six bot tournaments, rated with TrueSkill.",
    epilog=_EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


app.command()(new.new)
app.command()(tournament.tournament)
app.command(epilog=show.COLUMN_LIST)(show.show)
app.command()(show.runs)
app.command()(trust.trust)
app.command()(report.report)
app.command()(web.web)
app.command()(analyse.analyse)
app.command()(exclude.exclude)
app.command()(exclude.include)
app.command()(times.times)
app.command()(verify.export)
app.command()(upgrade.upgrade)
app.command()(verify.verify)
app.command(epilog=play.PRESET_LIST)(play.play)
app.command(epilog=play.PRESET_LIST)(duel.duel)
app.command()(replay.replay)
app.command()(check.check)
app.command()(serve.serve)
app.command()(certs.certs)
app.command()(doctor.doctor)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (of the process, if none is given); returns the exit code and raises nothing."""
    screen.settle()
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        app(_with_name_of_resume(words), prog_name="arena")
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # the reader of the help has left
            return Exit.DONE
        return end.code if isinstance(end.code, int) else Exit.DONE
    except UsageError as error:
        return _failed(error, Exit.USAGE)
    except ArenaError as error:
        return _failed(error, Exit.BUG)
    except Exception as error:
        if isinstance(error, OSError) and _raised_by_typer(error):
            return _failed(screen.unwritable(sys.stdout, error), Exit.USAGE)
        traceback.print_exc()
        return _failed(error, Exit.BUG)
    return Exit.DONE


def _raised_by_typer(error: OSError) -> bool:
    """Whether it happened while Typer wrote a help or a mistake, which it does by itself."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return str(frame.f_globals["__name__"]).startswith("typer.")


def _failed(error: Exception, code: Exit) -> Exit:
    sentence = str(error) if isinstance(error, ArenaError) else f"this is a bug of the arena ({type(error).__name__})"
    for line in f"arena: {sentence}".split("\n"):
        say(escaped(line))
    if isinstance(error, UnfitBot) and (cure := advice(sentence)):
        say(f"what to do: {cure}")
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
