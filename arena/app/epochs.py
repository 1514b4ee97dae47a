"""What a run has still to play beyond its epochs, and the epoch that is opened for it.

Whatever moment an earlier arena was killed at, what it left undone is done here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from arena.app import participants
from arena.app.runs import participant
from arena.app.schedules import blocks_of, missed_lists, schedules_of
from arena.app.show import evidence_of
from arena.app.stopping import ask, lists_left
from arena.app.totals import games_of
from arena.bots.manifest import BotSpec
from arena.bots.sandbox import Level
from arena.match.absence import Absences
from arena.reports.model import Stopping
from arena.store import Epoch, Queries, Store, Tournament
from arena.tournament import decks
from arena.tournament.config import TournamentConfig
from arena.tournament.pairings import Pairing
from arena.tournament.runner import open_tasks
from arena.tournament.schedule import Schedule
from arena.tournament.stop import StopRule


def lacks_epoch(
    epochs: Sequence[Epoch], absences: Absences, config: TournamentConfig, specs: Mapping[str, BotSpec]
) -> bool:
    """Whether the run has no epoch yet, or has more to play than its epochs: more pairs, bots, or what was missed."""
    if not epochs:
        return True
    latest = epochs[-1]
    grown = not specs.keys() <= set(latest.participants) or config.pairs > latest.config["identity"]["pairs"]
    return grown or bool(missed_lists(schedules_of(epochs), absences))


def remainder_of(
    queries: Queries, tournament: Tournament, config: TournamentConfig, specs: Mapping[str, BotSpec]
) -> Mapping[Pairing, int]:
    """The lists that a stop rule asks for next: none as long as anything else is to be played."""
    if config.stop is None or _has_planned_work(queries, tournament, config, specs):
        return {}
    return asked_for(queries, tournament, config.stop)[1]


def asked_for(queries: Queries, tournament: Tournament, rule: StopRule) -> tuple[Stopping, Mapping[Pairing, int]]:
    """What a stop rule says of all that was played."""
    evidence = evidence_of(queries, tournament)
    return ask(rule, schedules_of(queries.epochs(tournament)), evidence.absences, games_of(evidence.totals))


def in_reserve(config: TournamentConfig, schedules: Sequence[Schedule], absences: Absences) -> int:
    """The matches that a stop rule's budget has beyond those that are planned."""
    if config.stop is None:
        return 0
    return schedules[-1].field.size * lists_left(config.stop, schedules, absences)


def has_work(queries: Queries, tournament: Tournament, config: TournamentConfig, specs: Mapping[str, BotSpec]) -> bool:
    """Whether there is anything to play, as far as is known before the bots are started."""
    return _has_planned_work(queries, tournament, config, specs) or bool(
        remainder_of(queries, tournament, config, specs)
    )


def _has_planned_work(
    queries: Queries, tournament: Tournament, config: TournamentConfig, specs: Mapping[str, BotSpec]
) -> bool:
    """Whether an epoch is lacking, or has matches that are not played yet."""
    epochs, absences = queries.epochs(tournament), queries.absences(tournament)
    if lacks_epoch(epochs, absences, config, specs):
        return True
    tasks = open_tasks(blocks_of(schedules_of(epochs)), queries.stored(tournament), absences.leave_out)
    return next(tasks, None) is not None


def grow(
    store: Store, tournament: Tournament, config: TournamentConfig, specs: Mapping[str, BotSpec], level: Level
) -> None:
    """Enter who is new and open the epoch that is missing, the first one included."""
    known = {participant.name for participant in store.participants(tournament)}
    if added := [participant(spec) for name, spec in specs.items() if name not in known]:
        store.add_participants(tournament, added)
    if lacks_epoch(store.epochs(tournament), store.absences(tournament), config, specs):
        open_next(store, tournament, config, specs, level, remainder={})


def open_next(
    store: Store,
    tournament: Tournament,
    config: TournamentConfig,
    specs: Mapping[str, BotSpec],
    level: Level,
    remainder: Mapping[Pairing, int],
) -> None:
    """Open the next epoch, with a secret of its own."""
    epochs = store.epochs(tournament)
    number, seed = len(epochs), tournament.about.get("seed")
    derived = bool(remainder) and not epochs[-1].revealed
    if derived:
        secret = decks.next_secret(store.secret_of(tournament, number - 1))
    else:
        secret = os.urandom(32) if seed is None else decks.secret_from_seed(seed, number)
    untrusted = participants.untrusted(specs, config.trust_bots, level)
    missed = missed_lists(schedules_of(epochs), store.absences(tournament))
    store.open_epoch(
        tournament,
        number,
        secret,
        decks.commitment(secret),
        config={
            "identity": config.identity(),
            "untrusted": sorted(untrusted),
            "missed": sorted(missed.items()),
            "remainder": sorted(remainder.items()),
            "derived": derived,
        },
    )
