"""What a run amounts to: its report as a pure function of the store, whoever finished or joined first."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from arena import __version__
from arena.app.data import RUNS
from arena.app.schedules import schedules_of
from arena.match.record import Status
from arena.ratings.base import Game, Rating
from arena.ratings.posterior import Posterior, posterior, verdicts
from arena.ratings.trueskill import fit
from arena.reports.model import Row, RunFacts, RunReport
from arena.store.chains import Participant
from arena.store.queries import Queries
from arena.store.values import StoredFault
from arena.tournament.standings import Standing, complete_pairs, crosstable, end_reasons, standings

LAST_FAULTS = 20
"""How many faults a report holds with their evidence."""
_SCORE_DIGITS = 4
"""Scores that differ by less are equal: the fit promises no more."""


def find_run(run: str, data: Path) -> tuple[Path, str]:
    """The data folder and the name of the run that a user calls by its name, by `last` or by its folder.

    A folder `DATA/runs/NAME` says by itself where its data are; else they are in `data`.
    """
    folder = Path(run).resolve()
    if folder.is_dir() and folder.parent.name == RUNS:
        return folder.parent.parent, folder.name
    return data, run


WITHHELD = "its evidence is withheld until the secret is revealed, since it names cards (--operator shows it)"


def build_report(queries: Queries, run: str, *, operator: bool = False) -> RunReport:
    """The report of a run by its name, or of the `last` one.  Raises `UsageError` where there is none.

    Evidence tells hidden cards, of lists that may still be dealt: before the reveal only an operator is shown it.
    """
    tournament = queries.tournament(run)
    participants = sorted(queries.participants(tournament), key=lambda participant: participant.name)
    epochs = queries.epochs(tournament)
    summaries = list(queries.summaries(tournament))
    void = {summary.key for summary in summaries if summary.status is Status.VOID}
    pairs = complete_pairs(summaries)
    games = [Game(pair.sides, pair.ranks) for pair in pairs]
    ratings = fit(games, (each.name for each in participants))
    schedules = schedules_of(epochs)
    chain = queries.chain_head(tournament)
    revealed = {epoch.number for epoch in epochs if epoch.revealed}
    kinds, faults = _faults(
        fault if operator or fault.key.epoch in revealed else replace(fault, evidence=WITHHELD)
        for fault in queries.faults(tournament)
        if fault.key not in void
    )
    table = {
        name: replace(standing, faults=dict(sorted(kinds[name].items())))
        for name, standing in standings(summaries, [each.name for each in participants]).items()
    }
    return RunReport(
        run=RunFacts(
            name=tournament.name,
            title=tournament.about.get("title", tournament.name),
            state=tournament.state,
            started=tournament.created,
            rated=tournament.rated,
            seed=tournament.about.get("seed"),
            format=str(schedules[-1].format),
            rules_name=tournament.about["rules_name"],
            rules=tournament.rules,
            participants=tuple(participants),
            epochs=epochs,
            pairs_planned=sum(schedule.lists(pairing) for schedule in schedules for pairing in schedule.pairings()),
            mirrored_pairs=sum(pair.mirrored for pair in pairs),
            unmirrored_pairs=sum(not pair.mirrored for pair in pairs),
            matches_planned=sum(schedule.match_count for schedule in schedules),
            matches_finished=len(summaries) - len(void),
            matches_void=len(void),
            draw_probability=ratings.draw_probability,
            chain_head=chain.head,
            chain_length=chain.length,
            sandbox=tournament.about["sandbox"],
            arena_version=__version__,
        ),
        rows=ranking(participants, ratings.ratings, posterior(games, ratings.draw_probability), table),
        crosstable=crosstable(summaries),
        end_reasons=end_reasons(summaries),
        fault_count=sum(map(Counter.total, kinds.values())),
        faults=faults,
        lost_bummerls=dict(sorted(queries.lost_bummerls().items(), key=lambda career: (-career[1], career[0]))),
    )


def ranking(
    participants: Sequence[Participant],
    ratings: Mapping[str, Rating],
    belief: Posterior,
    standings: Mapping[str, Standing],
) -> tuple[Row, ...]:
    """The ranking, best first: by rank, score and name; who has no complete pair yet stands last."""
    scores = {name: round(rating.score, _SCORE_DIGITS) for name, rating in ratings.items()}
    judged = verdicts(belief, scores)
    by_name = {participant.name: participant for participant in participants}
    return tuple(
        Row(by_name[name], ratings[name], judged.get(name), standings[name])
        for name in [*judged, *sorted(by_name.keys() - judged.keys())]
    )


def _faults(faults: Iterable[StoredFault]) -> tuple[Mapping[str, Counter[str]], tuple[StoredFault, ...]]:
    """Their number by participant and label (a side may be of two), and the last of them: all may not fit in memory."""
    kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    last: deque[StoredFault] = deque(maxlen=LAST_FAULTS)
    for fault in faults:
        kinds[fault.participant][fault.fault.label] += 1
        last.append(fault)
    return kinds, tuple(last)
