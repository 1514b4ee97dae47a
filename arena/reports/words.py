"""What a report says besides its tables, in words that text and Markdown share.

Foreign text is in here as it came: each format makes it harmless in its own way.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby

from arena.match.absence import Change
from arena.match.lag import Lag
from arena.reports.columns import MARK, percent
from arena.reports.counting import counted
from arena.reports.model import Absence, RunFacts, RunReport, Stopping
from arena.store.queries import in_words
from arena.store.values import StoredFault, VoidMatch

CAREERS_SHOWN = 20
FIRST_ERROR = 0.02
"""By which chances to be first may differ by the drawing of samples alone."""
NAMES_SHOWN = 5
"""Of bots that are tied."""
Fact = tuple[str, str]
"""A label and its text."""
_FRAMES = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n)*")
"""A traceback up to the exception."""


def size(run: RunFacts) -> str:
    """Rules, format and size of a run."""
    void = f", {run.matches_void:,} void" if run.matches_void else ""
    void += f", {run.matches_left_out:,} left out" if run.matches_left_out else ""
    return (
        f"{run.rules_name}, {run.format} of {counted(len(run.participants), 'bot')}, "
        f"{run.matches_finished:,} of {counted(run.matches_planned, 'match')}{void}"
    )


def verdict(report: RunReport) -> str:
    """What the table says, in one sentence: who is first and how surely, and who cannot be told apart.

    `anna is first with 97%; bert, cleo and dora are tied.`
    """
    ranked = [(row.participant.name, row.verdict) for row in report.rows if row.verdict is not None]
    if len(ranked) == 1:
        return f"{ranked[0][0]} is alone in the ranking."
    parts = []
    for rank, rows in groupby(ranked, key=lambda row: row[1].rank):
        tied = [name for name, _ in rows]
        if rank == 1:
            most = max(verdict.first for _, verdict in ranked)
            best, first = next((name, each.first) for name, each in ranked if each.first > most - FIRST_ERROR)
            likely = f"{best} is first with {percent(first)}"
            parts.append(likely if len(tied) == 1 else f"{_all_of(tied)} cannot be told apart: {likely}")
        elif len(tied) > 1:
            parts.append(f"{_all_of(tied)} are tied")
    return f"{'; '.join(parts)}." if parts else nothing_to_rank(report.run)


def _all_of(names: Sequence[str]) -> str:
    """`anna, bert and cleo`; of many only their number."""
    if len(names) > NAMES_SHOWN:
        return f"{', '.join(names[: NAMES_SHOWN - 1])} and {len(names) - NAMES_SHOWN + 1} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def stopping(run: RunFacts) -> Iterator[Fact]:
    """Why a run with a stop rule is over, or until when it plays on."""
    found = run.stopping
    if found is None:
        return
    unit = f"{run.unit} a pairing"
    if not found.over:
        until = f"once every two neighbours are separated at {_level(found.separated)}"
        so_far = f"; so far {open_in_words(found)}" if found.ranked else ""
        yield "Stops", f"{until}, at the latest after {found.max_pairs:,} {unit}{so_far}"
    elif found.open and found.spent:
        yield "Stopped", f"the budget of {found.max_pairs:,} {unit} is spent: {open_in_words(found)}"
    else:
        yield "Stopped", f"after {found.pairs:.4g} of at most {found.max_pairs:,} {unit}: {open_in_words(found)}"


def open_in_words(stopping: Stopping) -> str:
    """Which neighbours in the ranking are not separated: `bert and cleo (81%) are not separated at 95%`.

    Before the end it is the level that looks ask for.
    """
    if stopping.ranked < 2:
        return "there are no two bots to tell apart"
    level = _level(stopping.separated if stopping.over else stopping.asked)
    at_looks = "" if stopping.over else ", which looks ask for before the end"
    if not stopping.open:
        return f"every two neighbours are separated at {level}{at_looks}"
    pairs = [f"{each.better} and {each.other} ({math.floor(100 * each.probability)}%)" for each in stopping.open]
    return f"{_all_of(pairs) if pairs[1:] else pairs[0]} are not separated at {level}{at_looks}"


def _level(probability: float) -> str:
    return f"{100 * probability:.6g}%"


def absences(report: RunReport) -> Iterator[Fact]:
    """Who is out and why, from when on, and what of it counts; and who was, but takes part again."""
    for row in report.rows:
        if row.absence is not None:
            yield f"{MARK} {str(row.absence.entry.change).capitalize()}", _absence(report.run, row.absence)
    last = {entry.participant: entry for entry in report.exclusions}
    for entry in last.values():
        if entry.change is Change.INCLUDED:
            because = f": {entry.reason}" if entry.reason else ""
            yield "Included again", f"{entry.participant}, {moment(entry.created)}{because}"


def _absence(run: RunFacts, absence: Absence) -> str:
    entry = absence.entry
    size = f"played {absence.played:,} of {counted(absence.scheduled, 'match')}"
    counts = "less than half, so they count for nobody" if absence.withdrawn else "which count"
    name = shlex.quote(entry.participant)
    return f"{entry.participant}: {entry.reason}; {size}, {counts} (undo: arena include {run.name} {name})"


def void_in_words(void: VoidMatch) -> tuple[str, str]:
    """Which match the arena failed to play, and why, in one line."""
    return in_words(void.key), " ".join(void.reason.split())


def results(report: RunReport) -> Iterator[Fact]:
    """How the deals ended, and who has lost how many Bummerls."""
    deals = sum(report.end_reasons.values())
    if deals:
        reasons = (f"{reason} {count:,} ({_share(count / deals)})" for reason, count in report.end_reasons.items())
        yield "Deals ended", ", ".join(reasons)
    if report.lost_bummerls:
        careers = [f"{_career(report, *who)} {count:,}" for who, count in report.lost_bummerls.items()]
        more = len(careers) - CAREERS_SHOWN
        rest = [counted(more, "other bot")] if more > 0 else []
        yield "Lost Bummerls", ", ".join([*careers[:CAREERS_SHOWN], *rest]) + " (in all rated tournaments)"


def provenance(run: RunFacts) -> Iterator[Fact]:
    """What the ratings rest on, if there are any, and what makes them verifiable."""
    if run.pairs_finished:
        pairs = f"{counted(run.pairs_finished, run.unit[:-1])} of matches"
        if run.unmirrored_pairs:
            pairs += f" ({run.mirrored_pairs:,} mirrored, {run.unmirrored_pairs:,} on decks of their own)"
        else:
            pairs += ", all mirrored"
        anchor = f"; relative to {run.reference}, which stays at 25" if run.reference else ""
        yield "Ratings", f"TrueSkill over {pairs}; draw probability {run.draw_probability:.2f}{anchor}"
    yield from stopping(run)
    committed = [epoch for epoch in run.epochs if not epoch.derived]
    for epoch in committed:
        of = f" {epoch.number}" if len(committed) > 1 else ""
        yield f"Commitment{of}", epoch.commitment
        yield f"Secret{of}", epoch.secret.hex() if epoch.secret else "revealed when the last deal is played"
    yield "Play chain", f"{run.chain_head} over {counted(run.chain_length, 'match')}"
    if run.seed is not None:
        yield "Seed", f"{run.seed} (a rehearsal: anyone can predict its decks)"
    if run.lag is not None:
        yield "Lag", lag_in_words(run.lag)
    rated = "rated" if run.rated else "not rated"
    about = (run.name, str(run.state), rated, f"begun {moment(run.started)}", f"sandbox {run.sandbox}")
    yield "Run", ", ".join([*about, f"arena {run.arena_version}"])


def lag_in_words(lag: Lag) -> str:
    """How late the arena was, and what is charged to nobody."""
    late = f"the arena was {lag.median_ms or 0:.1f} ms late at the median, {lag.p99_ms or 0:.0f} ms at the 99th "
    parts = [f"{late}percentile, {lag.max_ms:,.0f} ms at most", f"paused {lag.paused_s:.1f} s"]
    if lag.waiting is not None:
        parts.append(f"bots at work waited for a core {lag.waiting:.0%} of the time")
    return "; ".join(parts)


def moment(utc: str) -> str:
    """`2026-11-29 20:15 UTC`, of a time in ISO 8601."""
    return f"{datetime.fromisoformat(utc):%Y-%m-%d %H:%M} UTC"


def nothing_to_rank(run: RunFacts) -> str:
    """What stands in place of a ranking full of zeros, before the first pair is complete."""
    return f"No {run.unit[:-1]} of matches is complete yet: there is nothing to rank."


def fault_in_words(fault: StoredFault) -> str:
    """Whose fault, in which match, and the evidence, in one line."""
    evidence = " ".join(fault.evidence.split())
    return f"{_place(fault)}: {evidence or fault.fault.label}"


def fault_in_short(fault: StoredFault) -> tuple[str, str]:
    """Whose fault in which match, and the evidence in one line without the frames of a traceback."""
    evidence = " ".join(_FRAMES.sub("", fault.evidence).split())
    return _place(fault), evidence or fault.fault.label


def _place(fault: StoredFault) -> str:
    return f"{fault.participant} in {in_words(fault.key)}"


def _share(part: float) -> str:
    """`12%`; what is there is never 0%."""
    return f"{part:.0%}" if part >= 0.005 else "<1%"


def _career(report: RunReport, author: str, bot: str) -> str:
    """A bot's name, with its author where another author has a bot of that name."""
    alone = sum(name == bot for _, name in report.lost_bummerls) == 1
    return bot if alone else f"{bot} by {author or 'nobody'}"
