"""How far to trust a run: a pure function of the store, beside the report."""

from __future__ import annotations

from arena.app.show import build_report, evidence_of
from arena.match.record import Status
from arena.match.rulings import SHARED_COUNT
from arena.ratings.base import Game
from arena.ratings.posterior import posterior
from arena.ratings.trust import absences, separations, transitivity
from arena.reports.trust import FaultCosts, TrustReport
from arena.store.queries import Queries
from arena.tournament.standings import complete_pairs, mirror_luck


def build_trust(queries: Queries, run: str) -> TrustReport:
    """The trust report of a run by its name, or of the `last` one.  Raises `UsageError` where there is none."""
    report = build_report(queries, run)
    summaries = evidence_of(queries, queries.tournament(run)).matches
    games = [Game(pair.sides, pair.ranks) for pair in complete_pairs(summaries)]
    draws = report.run.draw_probability
    belief = posterior(games, draws)
    judged = {row.participant.name: row.verdict for row in report.rows if row.verdict is not None}
    counted = [summary for summary in summaries if summary.status is not Status.VOID]
    forfeits = sum(summary.forfeited_by is not None for summary in counted)
    lost_with_fault = sum(
        summary.forfeited_by is None and any(side.faults and side.rank > 1 for side in summary.sides)
        for summary in counted
    )
    late = {fault.label for fault in SHARED_COUNT}
    return TrustReport(
        report=report,
        luck=mirror_luck(summaries),
        separations=separations(belief, judged),
        transitivity=transitivity(games, belief, draws),
        fault_costs=FaultCosts(
            matches=len(counted),
            forfeits=forfeits,
            lost_with_fault=lost_with_fault,
            time_losses=sum(
                count
                for summary in counted
                for side in summary.sides
                for kind, count in side.faults.items()
                if kind in late
            ),
        ),
        absences=absences(games, draws, judged),
    )
