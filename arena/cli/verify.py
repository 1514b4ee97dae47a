"""`arena export` and `arena verify`."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.exits import Exit
from arena.cli.options import DATA, Data, Quiet, Store, archive_of
from arena.cli.screen import emit, say
from arena.cli.stored import with_store
from arena.errors import UsageError
from arena.reports.counting import counted
from arena.reports.foreign import escaped

COUNT_EVERY_S = 10.0
"""How often a long verification says how far it is."""


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's name or folder, or last.")] = "last",
    data: Data = DATA,
    store: Store = None,
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

    archive, name = find_run(run, archive_of(data, store))
    done = write_export(name, with_store(archive), emit if output == "-" else Path(output) if output else None)
    if done.hidden and not quiet:
        say(f"{secrets_in_words(done.hidden)} not revealed yet: cards, actions and evidence were left out")
    if done.file is not None and not quiet:
        say(f"written to {done.file}")
        say(f"verify it anywhere: {shlex.join(['arena', 'verify', str(done.file), '--head', done.head])}")


def verify(
    run: Annotated[
        str, typer.Argument(metavar="RUN|FILE", help="A run's name or folder, or last, or the file of an export.")
    ] = "last",
    data: Data = DATA,
    store: Store = None,
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
        archive, name = find_run(run, archive_of(data, store))
        found = verify_run(name, with_store(archive), head, watch)
    if isinstance(found, Difference):
        emit(f"different: {escaped(found.where)}: {escaped(found.what)}\n")
        raise typer.Exit(Exit.WRONG)
    if found.hidden:
        emit(f"not verifiable yet: {secrets_in_words(found.hidden)} not revealed, ")
        verb = "is" if found.matches == 1 else "are"
        emit(f"{counted(found.matches, 'match')} {verb} in order and chain; head {found.head}\n")
        raise typer.Exit(Exit.STOPPED)
    sizes = (found.matches, "match"), (found.deals, "deal"), (found.decisions, "decision")
    emit(f"identical: {', '.join(counted(count, noun) for count, noun in sizes)}; ")
    emit(f"head {found.head}\n")


def secrets_in_words(epochs: Sequence[int]) -> str:
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
