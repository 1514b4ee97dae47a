"""How far to trust a run: a pure function of the store, beside the report."""

from __future__ import annotations

from collections import Counter

from arena.app.show import Rated, rate, report_on
from arena.match.rulings import SHARED_COUNT
from arena.ratings.trust import absences, head_to_head, separations, transitivity
from arena.reports.trust import FaultCosts, TrustReport
from arena.store.queries import Queries
from arena.store.values import Tournament


def build_trust(queries: Queries, run: str) -> TrustReport:
    """The trust report of a run by its name, or of the `last` one.  Raises `UsageError` where there is none."""
    tournament = queries.tournament(run)
    return trust_of(queries, tournament, rate(queries, tournament))


def trust_of(queries: Queries, tournament: Tournament, rated: Rated) -> TrustReport:
    """The trust report of a tournament that is rated already."""
    report = report_on(queries, tournament, rated)
    totals, games, belief = rated.evidence.totals, rated.games, rated.belief
    draws = rated.fit.draw_probability
    judged = {row.participant.name: row.verdict for row in report.rows if row.verdict is not None}
    met = head_to_head(games, belief, draws)
    return TrustReport(
        report=report,
        luck=totals.mirror_luck(),
        unmirrored=dict(sorted(Counter(pair.pairing for pair in rated.pairs if not pair.mirrored).items())),
        separations=separations(belief, judged),
        transitivity=transitivity(met, len(belief.names), draws),
        head_to_head=met,
        fault_costs=FaultCosts(
            matches=totals.matches,
            forfeits=totals.forfeits,
            lost_with_fault=totals.lost_with_fault,
            time_losses=sum(totals.faults[fault.label] for fault in SHARED_COUNT),
        ),
        absences=absences(games, draws, judged),
    )
