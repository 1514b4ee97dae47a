"""What a run amounts to: its report as a pure function of the store, whoever finished or joined first."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from arena import __version__
from arena.app.data import RUNS, Archive
from arena.app.schedules import left_out, matches_of_those_out, planned, schedules_of
from arena.app.stopping import rule_of, stopping_of
from arena.app.totals import games_of
from arena.match.absence import NOBODY, Absences
from arena.ratings.base import Game, Groups, Rating
from arena.ratings.posterior import Posterior, posterior, verdicts
from arena.ratings.trueskill import Fit, fit, online
from arena.reports.model import Absence, Row, RunFacts, RunReport
from arena.store.chains import Participant
from arena.store.queries import Queries
from arena.store.values import Endgames, State, StoredFault, Tournament
from arena.tournament.standings import PairResult, Standing, Totals, end_reasons, withdrawn

LAST_FAULTS = 20
"""How many faults a report holds with their evidence."""
_SCORE_DIGITS = 4
"""Scores that differ by less are equal: the fit promises no more."""


def find_run(run: str, archive: Archive) -> tuple[Archive, str]:
    """The archive and the name of the run that a user calls by its name, by `last` or by its folder.

    A folder `DATA/runs/NAME` says by itself which data folder it is of; else it is in that of `archive`.
    """
    folder = Path(run).resolve()
    if folder.is_dir() and folder.parent.name == RUNS:
        return replace(archive, folder=folder.parent.parent), folder.name
    return archive, run


WITHHELD = "its evidence is withheld until the secret is revealed, since it names cards (--operator shows it)"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a table rests on."""

    totals: Totals
    """What the matches that count add up to: without those left out, and of participants that are withdrawn."""
    finished: int
    """All matches that are not left out, but for the void ones."""
    end_reasons: Mapping[str, int]
    """Of their deals."""
    out: Mapping[str, Absence]
    absences: Absences
    endgames: Mapping[str, Endgames]
    """What those endgames of the matches that count came to that were analysed."""


def turnout(
    queries: Queries, tournament: Tournament, absences: Absences
) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """The matches scheduled for each participant that is out, and those played by all."""
    played: Counter[str] = Counter()
    for pairing, count in queries.played(tournament).items():
        played.update(dict.fromkeys(pairing, count))
    return matches_of_those_out(schedules_of(queries.epochs(tournament)), absences), played


@dataclass(slots=True)
class Count:
    """What was counted of a run; who asks for its evidence again has only what is new counted."""

    row: int = 0
    """Of the journal, up to which."""
    totals: Totals = field(default_factory=Totals)
    of_the_gone: Totals = field(default_factory=Totals)
    """Matches of participants that are withdrawn."""
    _known: tuple[Absences, Set[str]] = NOBODY, frozenset()

    def on(self, queries: Queries, tournament: Tournament, absences: Absences, gone: Set[str]) -> None:
        """Count on; from the start, where others are out by now."""
        if self._known != (absences, gone):
            self.row, self.totals, self.of_the_gone = 0, Totals(), Totals()
            self._known = absences, gone
        if not self.row and not absences.log:
            self._begin_with(queries.totals(tournament))
        for row, summary in queries.summaries_after(tournament, self.row):
            self.row = row
            (self.totals if gone.isdisjoint(summary.key.pairing) else self.of_the_gone).add(summary)

    def _begin_with(self, kept: tuple[int, Any] | None) -> None:
        """Take over what an arena has counted while it played."""
        if kept is not None and (totals := Totals.from_json(kept[1])) is not None:
            self.row, self.totals = kept[0], totals


def totals_of(queries: Queries, tournament: Tournament) -> Totals:
    """What all matches of a tournament add up to that nobody was ever out of."""
    count = Count()
    count.on(queries, tournament, NOBODY, frozenset())
    return count.totals


def evidence_of(queries: Queries, tournament: Tournament, count: Count | None = None) -> Evidence:
    """The matches of a tournament that count, and who is out of it; `count` is that of the last time."""
    absences = queries.absences(tournament)
    scheduled, played = turnout(queries, tournament, absences)
    gone = withdrawn(scheduled, played)
    count = count or Count()
    count.on(queries, tournament, absences, gone)
    totals, of_the_gone = count.totals, count.of_the_gone
    endgames: defaultdict[str, Endgames] = defaultdict(Endgames)
    for (name, pairing), judged in queries.endgames(tournament).items():
        if gone.isdisjoint(pairing):
            endgames[name] += judged
    return Evidence(
        totals=totals,
        finished=totals.matches + of_the_gone.matches,
        end_reasons=end_reasons(totals, of_the_gone),
        out={name: Absence(entry, played[name], scheduled[name], name in gone) for name, entry in absences.out.items()},
        absences=absences,
        endgames=endgames,
    )


@dataclass(frozen=True, slots=True)
class Rated:
    """The evidence of a tournament, and what it tells of the strengths."""

    evidence: Evidence
    pairs: Sequence[PairResult]
    """Complete ones, sorted."""
    games: Groups
    """A game for each pair."""
    fit: Fit
    belief: Posterior


def rate(queries: Queries, tournament: Tournament, count: Count | None = None) -> Rated:
    """All that a table and its trust report rest on, computed once; `count` is that of the last time."""
    evidence = evidence_of(queries, tournament, count)
    games = games_of(evidence.totals)
    fitted = fit(games, (participant.name for participant in queries.participants(tournament)))
    return Rated(evidence, evidence.totals.pairs, games, fitted, posterior(games, fitted.draw_probability))


def build_report(queries: Queries, run: str, *, operator: bool = False, one_pass: bool = False) -> RunReport:
    """The report of a run by its name, or of the `last` one.  Raises `UsageError` where there is none.

    `one_pass` adds what a single pass of TrueSkill says, list by list.

    Evidence tells hidden cards, of lists that may still be dealt: before the reveal only an operator is shown it.
    """
    tournament = queries.tournament(run)
    return report_on(queries, tournament, rate(queries, tournament), operator=operator, one_pass=one_pass)


def report_on(
    queries: Queries, tournament: Tournament, rated: Rated, *, operator: bool = False, one_pass: bool = False
) -> RunReport:
    """The report of a tournament that is rated already."""
    participants = sorted(queries.participants(tournament), key=lambda participant: participant.name)
    epochs = queries.epochs(tournament)
    schedules = schedules_of(epochs)
    evidence, pairs, ratings, belief = rated.evidence, rated.pairs, rated.fit, rated.belief
    absences = evidence.absences
    void = {match.key: match for match in queries.void_matches(tournament)}
    reference = tournament.config["reference"]
    if reference in belief.names:
        ratings = ratings.anchored(reference, belief.names)
    playing = [name for name in belief.names if name not in evidence.out]
    stopping = None
    if epochs and (rule := rule_of(epochs[-1].config["identity"])) is not None:
        scores = {name: rating.score for name, rating in ratings.ratings.items()}
        over = tournament.state is State.FINISHED
        stopping = stopping_of(rule, schedules, absences, belief, scores, over=over)
    in_order = sorted(pairs, key=lambda pair: (pair.epoch, pair.number, pair.pairing))
    online_ratings = online(Game(pair.sides, pair.ranks) for pair in in_order).ratings if one_pass else {}
    chain = queries.chain_head(tournament, lambda epoch: planned(schedules[epoch], absences))
    revealed = {epoch.number for epoch in epochs if epoch.revealed}
    kinds, faults = _faults(
        fault if operator or fault.key.epoch in revealed else replace(fault, evidence=WITHHELD)
        for fault in queries.faults(tournament)
        if fault.key not in void
    )
    conduct = evidence.totals.conduct()
    table = {
        name: replace(standing, faults=dict(sorted(kinds[name].items())))
        for name, standing in evidence.totals.standings(each.name for each in participants).items()
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
            matches_finished=evidence.finished,
            matches_void=len(void),
            matches_left_out=left_out(schedules, absences),
            draw_probability=ratings.draw_probability,
            stopping=stopping,
            reference=reference,
            chain_head=chain.head,
            chain_length=chain.length,
            sandbox=tournament.about["sandbox"],
            arena_version=__version__,
            lag=reduce(add, lags) if (lags := [session.lag for session in queries.sessions(tournament)]) else None,
        ),
        rows=tuple(
            replace(
                row,
                conduct=conduct.get(row.participant.name, row.conduct),
                endgames=evidence.endgames.get(row.participant.name),
            )
            for row in ranking(
                participants, ratings.ratings, belief.of(playing), table, evidence.out, reference, online_ratings
            )
        ),
        crosstable=evidence.totals.crosstable(),
        end_reasons=evidence.end_reasons,
        fault_count=sum(map(Counter.total, kinds.values())),
        faults=faults,
        voids=tuple(
            each if operator or each.key.epoch in revealed else replace(each, reason=WITHHELD)
            for each in list(void.values())[-LAST_FAULTS:]
        ),
        exclusions=absences.log,
        lost_bummerls=dict(sorted(queries.lost_bummerls().items(), key=lambda career: (-career[1], career[0]))),
    )


def ranking(
    participants: Sequence[Participant],
    ratings: Mapping[str, Rating],
    belief: Posterior,
    standings: Mapping[str, Standing],
    out: Mapping[str, Absence],
    reference: str | None = None,
    one_pass: Mapping[str, Rating] | None = None,
) -> tuple[Row, ...]:
    """The ranking, best first: by rank, score and name, then who has no complete pair yet, and last who is out."""
    scores = {name: round(rating.score, _SCORE_DIGITS) for name, rating in ratings.items()}
    judged = verdicts(belief, scores, reference)
    by_name = {participant.name: participant for participant in participants}
    return tuple(
        Row(by_name[name], ratings[name], judged.get(name), standings[name], out.get(name), (one_pass or {}).get(name))
        for name in [*judged, *sorted(by_name.keys() - judged.keys() - out.keys()), *sorted(out)]
    )


def _faults(faults: Iterable[StoredFault]) -> tuple[Mapping[str, Counter[str]], tuple[StoredFault, ...]]:
    """Their number by participant and label (a side may be of two), and the last of them: all may not fit in memory."""
    kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    last: deque[StoredFault] = deque(maxlen=LAST_FAULTS)
    for fault in faults:
        kinds[fault.participant][fault.fault.label] += 1
        last.append(fault)
    return kinds, tuple(last)
