"""`arena exclude` and `arena include`."""

from __future__ import annotations

from typing import Annotated

import typer

from arena.cli.options import DATA, Data, Run, Store, archive_of, command_line
from arena.cli.screen import say
from arena.cli.stored import with_store
from arena.reports.counting import counted
from arena.reports.foreign import printable

Bot = Annotated[str, typer.Argument(metavar="BOT", help="The bot's name in that run.")]


def exclude(
    run: Run,
    bot: Bot,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; reports show it.")],
    data: Data = DATA,
    store: Store = None,
) -> None:
    """Let a bot play no more matches of a run.

    What it has played stays.  It is listed last, and if it played less than half of its matches they count for nobody.
    """
    from arena.app.exclude import exclude as exclude_bot
    from arena.app.show import find_run

    archive, name = find_run(run, archive_of(data, store))
    done = exclude_bot(name, bot, reason, with_store(archive))
    say(f"{printable(bot)} is excluded from {done.run}; {counted(done.matches, 'match')} will not be played")
    say(f"undo: {command_line('include', done.run, bot, archive=archive)}")


def include(
    run: Run,
    bot: Bot,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; reports show it.")] = "",
    data: Data = DATA,
    store: Store = None,
) -> None:
    """Let a bot take part again that was quarantined or excluded.

    What was left out is played when the run is resumed; where its decks are known by now, in a new epoch.
    """
    from arena.app.exclude import include as include_bot
    from arena.app.show import find_run

    archive, name = find_run(run, archive_of(data, store))
    done = include_bot(name, bot, reason, with_store(archive))
    say(f"{printable(bot)} takes part in {done.run} again")
    if done.matches:
        say(f"{counted(done.matches, 'match')} to be played: resume the run by --resume {done.run}")
