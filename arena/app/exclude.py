"""The organiser's word on who takes part: a bot is excluded from a run, or let in again; the log keeps both.

What was played stays as it is.  An exclusion begins at the bot's first match that is still to be played.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from arena.app.data import Archive
from arena.app.schedules import blocks_of, missed_lists, schedules_of
from arena.errors import UsageError
from arena.match.absence import Change, Exclusion, Place
from arena.store import State, Store, Tournament, open_store
from arena.tournament.runner import Task, open_tasks

MAX_REASON = 200


@dataclass(frozen=True, slots=True)
class Changed:
    """What became of it."""

    run: str
    matches: int
    """How many of the bot's matches are not played any more, or are to be played now."""


def exclude(run: str, bot: str, reason: str, archive: Archive) -> Changed:
    """Leave out all matches of a bot that are still to be played.

    Raises `UsageError`: no such run or bot, it is out already, the run is being played, or no fit reason.
    """
    with open_store(archive.store) as store:
        tournament = store.tournament(run)
        with store.lock(tournament):
            _check(store, tournament, bot, reason)
            if not reason.strip():
                raise UsageError("--reason is empty; say why the bot is excluded, the report shows it")
            if earlier := store.absences(tournament).out.get(bot):
                raise UsageError(f"{bot!r} is {earlier.change} in run {tournament.name!r} already: {earlier.reason}")
            tasks = list(_open(store, tournament, bot))
            place = Place(len(store.epochs(tournament)), 0)
            if tasks:
                place = Place(tasks[0].block.epoch, tasks[0].keys[0][0])
            store.log_exclusion(tournament, Exclusion(bot, Change.EXCLUDED, reason.strip(), place))
            return Changed(tournament.name, sum(len(task.keys) for task in tasks))


def include(run: str, bot: str, reason: str, archive: Archive) -> Changed:
    """Let a bot take part again that is quarantined or excluded: a resumed run plays what was left out.

    Where the decks of that are revealed by now, a new epoch deals others.  Raises `UsageError`: no such run or bot, it
    takes part already, the run is being played, or no fit reason.
    """
    with open_store(archive.store) as store:
        tournament = store.tournament(run)
        with store.lock(tournament):
            _check(store, tournament, bot, reason)
            earlier = store.absences(tournament).out.get(bot)
            if earlier is None:
                raise UsageError(
                    f"{bot!r} takes part in run {tournament.name!r}; only who is out can be included again"
                )
            revealed = sum(epoch.revealed for epoch in store.epochs(tournament))
            place = max(earlier.place, Place(revealed, 0))
            store.log_exclusion(tournament, Exclusion(bot, Change.INCLUDED, reason.strip(), place))
            missed = missed_lists(schedules_of(store.epochs(tournament)), store.absences(tournament))
            matches = sum(len(pairing) * lists for pairing, lists in missed.items() if bot in pairing)
            matches += sum(len(task.keys) for task in _open(store, tournament, bot))
            if matches and tournament.state is State.FINISHED:
                store.set_state(tournament, State.INTERRUPTED)
            return Changed(tournament.name, matches)


def _check(store: Store, tournament: Tournament, bot: str, reason: str) -> None:
    names = [participant.name for participant in store.participants(tournament)]
    if bot not in names:
        near = get_close_matches(bot, names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"its bots are {', '.join(map(repr, names))}"
        raise UsageError(f"no bot of run {tournament.name!r} is named {bot!r}; {hint}")
    if not reason.isprintable() or len(reason) > MAX_REASON:
        raise UsageError(f"--reason is {reason[:40]!r}...; expected one line of at most {MAX_REASON} characters")


def _open(store: Store, tournament: Tournament, bot: str) -> Iterator[Task]:
    """The matches of a bot that are still to be played."""
    blocks = (block for block in blocks_of(schedules_of(store.epochs(tournament))) if bot in block.pairing)
    return open_tasks(blocks, store.stored(tournament), store.absences(tournament).leave_out)
