"""A report as JSON: one object of a published, versioned schema (docs/show.schema.json), in ASCII.

It has two parts.  *Play* follows from decks, actions and faults: the same to the byte for the same seed.  *Testimony*
is what was observed: names of runs, dates, times, evidence, careers.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from arena.game.table import Role
from arena.reports import Part, model, words
from arena.reports.model import Row, RunReport
from arena.store.values import StoredFault

DIGITS = 4
"""Decimal places: more than the fit promises would be noise."""


def render(report: RunReport, part: Part) -> str:
    """The report as text, indented."""
    match part:
        case Part.PLAY:
            plain = _document(report).model_dump(mode="json", exclude=_TESTIMONY)
        case Part.ALL:
            plain = _document(report).model_dump(mode="json")
    return json.dumps(plain, indent=2) + "\n"


def json_schema() -> dict[str, Any]:
    """The schema of the whole report; the play part leaves out what is not required."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Document.model_json_schema()}


# -- the schema -------------------------------------------------------------------------------------------------------


class _Object(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True, use_attribute_docstrings=True)


# JSON knows no lone surrogates, but foreign text may hold some.
_Foreign = Annotated[str, BeforeValidator(lambda text: text.encode("utf-8", "backslashreplace").decode())]
_Number = Annotated[float, AfterValidator(lambda number: round(number, DIGITS) + 0.0)]  # no -0.0
_Hex = Annotated[str, BeforeValidator(lambda value: value.hex() if isinstance(value, bytes) else value)]


class Participant(_Object):
    """A bot at one version in this run."""

    name: _Foreign
    version: _Foreign
    digest: str
    """SHA-256 in hex of its sources, or the fingerprint of a remote bot."""
    kind: str
    """How it was named: builtin, folder, file, command or address."""
    author: _Foreign


class Epoch(_Object):
    """The matches that are dealt from one secret."""

    number: int
    commitment: str
    """SHA-256 in hex that was published before the first deal."""
    secret: _Hex | None
    """In hex; null until it is revealed."""
    derived: bool
    """Whether its secret follows from that of the epoch before."""


class Lag(_Object):
    """How late the arena itself was: what the times are worth."""

    median_ms: _Number | None
    """By how much its heartbeat came late."""
    p99_ms: _Number | None
    max_ms: _Number
    paused_s: _Number
    """Time that was charged to nobody, because the arena did not get to look at its clock."""
    waiting: _Number | None
    """The part of their time that bots waited for a core, 0 to 1, as far as it was looked at; charged to nobody."""


class Separation(_Object):
    """Two neighbours in the ranking."""

    better: _Foreign
    other: _Foreign
    probability: _Number
    """That the first is the better."""


class Stopping(_Object):
    """How far a run with a stop rule is."""

    separated: _Number
    """It is over once each bot is better than the next one with this probability, or the budget is spent."""
    asked: _Number
    """What a look asks of neighbours for that: more as long as it has not stopped."""
    max_pairs: int
    """The budget, in pairs a pairing, on the average."""
    pairs: _Number
    """Those that are planned so far."""
    open: tuple[Separation, ...]
    """The neighbours that are not separated as is asked."""
    over: bool
    """Whether it has stopped."""
    spent: bool
    """Whether nothing is left of the budget."""


class Run(_Object):
    """What the run is, and how far it has come."""

    name: _Foreign = ""
    title: _Foreign = ""
    state: str = ""
    """created, running, interrupted or finished."""
    started: str = ""
    """When it was created, in UTC, ISO 8601."""
    sandbox: str = ""
    """The level at which local bots are held."""
    arena_version: str = ""
    """Of the arena that computed the report."""
    lag: Lag | None = None
    """Over all sessions; null where none has come to its end."""
    rated: bool
    """Whether it counts in the bots' careers."""
    seed: _Foreign | None
    """Of a rehearsal, whose decks anyone can predict; null where the secret was drawn."""
    format: str
    rules_name: _Foreign
    rules: dict[str, str | int | bool]
    """Every option of the rules."""
    participants: tuple[Participant, ...]
    epochs: tuple[Epoch, ...]
    pairs_planned: int
    """Pairs of matches with seats swapped, over all pairings; a match in each seating where more than two bots meet."""
    pairs_finished: int
    """Complete pairs: the evidence of the ratings."""
    mirrored_pairs: int
    """Complete pairs whose matches were played on the same decks."""
    unmirrored_pairs: int
    """Complete pairs whose matches were not."""
    matches_planned: int
    matches_finished: int
    """Matches that count: neither open nor void."""
    matches_void: int
    """Matches that the arena failed to play: they count for nothing."""
    matches_left_out: int
    """Matches that are not played, or count for nobody, since somebody is out."""
    draw_probability: _Number
    """Of a pair, fitted together with the ratings."""
    stopping: Stopping | None
    """Null where the number of pairs is fixed."""
    reference: _Foreign | None
    """The bot that stays at mu 25, and to which all others are relative; null: the mean of the field does."""
    chain_head: str
    """The play chain's head, in hex."""
    chain_length: int
    """Matches that the play chain covers: the complete prefix of the schedule."""


class Tally(_Object):
    """Wins, draws and losses: first alone, first with others, not first; of an encounter ahead, level and behind."""

    won: int
    drawn: int
    lost: int


class Absence(_Object):
    """That a bot is out: it is listed behind all others."""

    change: Literal["quarantined", "excluded"]
    reason: _Foreign
    epoch: int
    position: int
    """The first match that it may concern, by its place in the schedule of the epoch."""
    played: int
    """Its matches that were played before."""
    scheduled: int
    """All that it would have."""
    withdrawn: bool
    """Whether none of its matches count, since less than half were played."""


class Standing(_Object):
    """One line of the ranking table."""

    rank: int | None
    """1 is first; bots that cannot be told apart share a rank; null, as all that follows from it, without a pair."""
    bot: _Foreign
    absence: Absence | None
    """Null while it takes part."""
    version: _Foreign
    author: _Foreign
    score: _Number
    """mu - 3 sigma."""
    mu: _Number
    sigma: _Number
    error: _Number | None
    """Half the bar that holds the strength, relative to the field, with 95%."""
    rank_best: int | None
    """The best of the ranks that hold the true one with 95%."""
    rank_worst: int | None
    """The worst of them."""
    better_than_next: _Number | None
    """The probability that it is better than the next in the list; null for the last."""
    first: _Number | None
    """The probability that it is the best of all."""
    one_pass: _Number | None
    """With --online: the score by a single pass of TrueSkill; another order of the games would give another."""
    matches: Tally
    pairs: Tally
    points_for: int
    """Game points scored over all matches."""
    points_against: int
    points: _Number | None
    """Game points a match, its own less the (mean of the) others'; null before the first match."""
    deals: int
    deals_won: int
    faults: dict[str, int]
    """Its faults by kind."""
    median_ms: _Number | None = None
    """Of a decision; null where there was none."""
    p99_ms: _Number | None = None
    """What 99 of 100 decisions stay under; null where there was none."""


class Ended(_Object):
    """Deals that ended in one way."""

    won: int
    drawn: int
    """Nobody scored."""
    lost: int


class InRole(_Object):
    """Deals in one role."""

    deals: int
    points_for: int
    """Game points of its side."""
    points_against: int
    """Those of all other sides that played."""
    points: _Number
    """Game points a deal, its own less the mean of the others'."""


class Closed(_Object):
    """Deals that it closed."""

    won: int
    failed: int


class Claimed(_Object):
    """Its claims."""

    right: int
    wrong: int


class Times(_Object):
    """Busy time of its decisions; null where there was none."""

    decisions: int
    median_ms: _Number | None
    p90_ms: _Number | None
    p99_ms: _Number | None
    max_ms: _Number | None


class Endgames(_Object):
    """What it gave away where it could work out all hands, in a sample of its deals."""

    deals: int
    """Those that were analysed."""
    reached: int
    """Those of them with a choice to judge."""
    choices: int
    mistakes: int
    """Choices that gave game points away."""
    given_away: int
    """Game points."""
    given_away_a_deal: _Number | None


class Bot(_Object):
    """What a bot did in its deals."""

    bot: _Foreign
    deals: int
    """Those that it took part in: not where it sat out."""
    ends: dict[str, Ended]
    """By how the deals ended; a deal that a fault ended stands under the kind of the fault."""
    roles: dict[str, InRole]
    """By forehand, second, third and dealer: the order in which cards are dealt."""
    closed: Closed
    claimed: Claimed
    marriages: dict[str, int]
    """Its declarations by their points."""
    times: Times | None = None
    endgames: Endgames | None = None
    """Null where `arena analyse` has analysed nothing."""


class Encounter(_Object):
    """One bot against one other, as the first sees it."""

    bot: _Foreign
    opponent: _Foreign
    matches: Tally
    pairs: Tally
    points_for: int
    points_against: int


class Fault(_Object):
    """One fault of a bot."""

    bot: _Foreign
    epoch: int
    pairing: tuple[_Foreign, ...]
    """The bots that met, side by side."""
    leg: int
    number: int
    seat: int
    deal: int
    """The deal's number in the match, from 1."""
    decision: int
    """How many actions of the deal came before the faulty decision."""
    fault: str
    loss: str
    """What it lost: deal or match."""
    evidence: _Foreign = ""


class VoidMatch(_Object):
    """A match that the arena failed to play, three times."""

    epoch: int
    pairing: tuple[_Foreign, ...]
    leg: int
    number: int
    reason: _Foreign = ""


class Exclusion(_Object):
    """An entry of the log: who is out, or in again."""

    bot: _Foreign
    change: str
    """quarantined, excluded or included."""
    reason: _Foreign
    epoch: int
    position: int
    """The first match that it may concern, by its place in the schedule of the epoch."""
    created: str
    """When it was entered, in UTC, ISO 8601."""


class LostBummerls(_Object):
    """A bot's career over all its versions and all rated tournaments of the store."""

    author: _Foreign
    bot: _Foreign
    lost: int
    """Matches lost."""


class Document(_Object):
    """The report of a run of the Sixty-Six Arena, as `arena show RUN --format json` writes it."""

    schema_version: Literal[1]
    run: Run
    verdict: _Foreign
    """What the ranking says, in one sentence."""
    standings: tuple[Standing, ...]
    """The ranking, best first."""
    crosstable: tuple[Encounter, ...]
    """Each bot against each other that it met on another side, both ways round."""
    bots: tuple[Bot, ...]
    """What each bot did, in the order of the ranking."""
    end_reasons: dict[str, int]
    """Deals by how they ended, the commonest first."""
    fault_count: int
    faults: tuple[Fault, ...]
    """The last faults, in schedule order."""
    voids: tuple[VoidMatch, ...]
    """The last void matches, in schedule order."""
    exclusions: tuple[Exclusion, ...] = ()
    """All that was ever said about who is out, in the order of events."""
    lost_bummerls: tuple[LostBummerls, ...] = ()


_TESTIMONY: dict[str, Any] = {
    "run": {"name", "title", "state", "started", "sandbox", "arena_version", "lag"},
    "standings": {"__all__": {"median_ms", "p99_ms"}},
    "bots": {"__all__": {"times", "endgames"}},
    "faults": {"__all__": {"evidence"}},
    "voids": {"__all__": {"reason"}},
    "exclusions": True,
    "lost_bummerls": True,
}


# -- from the report --------------------------------------------------------------------------------------------------


def _document(report: RunReport) -> Document:
    return Document(
        schema_version=1,
        run=Run.model_validate(report.run),
        verdict=words.verdict(report),
        standings=tuple(map(_standing, report.rows)),
        crosstable=tuple(
            Encounter(
                bot=bot,
                opponent=opponent,
                matches=Tally.model_validate(met.matches),
                pairs=Tally.model_validate(met.pairs),
                points_for=met.points_for,
                points_against=met.points_against,
            )
            for (bot, opponent), met in report.crosstable.items()
        ),
        bots=tuple(map(_bot, report.rows)),
        end_reasons=dict(report.end_reasons),
        fault_count=report.fault_count,
        faults=tuple(map(_fault, report.faults)),
        voids=tuple(
            VoidMatch(
                epoch=void.key.epoch,
                pairing=void.key.pairing,
                leg=void.key.leg,
                number=void.key.number,
                reason=void.reason,
            )
            for void in report.voids
        ),
        exclusions=tuple(
            Exclusion(
                bot=entry.participant,
                change=str(entry.change),
                reason=entry.reason,
                epoch=entry.place.epoch,
                position=entry.place.position,
                created=entry.created,
            )
            for entry in report.exclusions
        ),
        lost_bummerls=tuple(
            LostBummerls(author=author, bot=bot, lost=lost) for (author, bot), lost in report.lost_bummerls.items()
        ),
    )


def _standing(row: Row) -> Standing:
    standing, verdict = row.standing, row.verdict
    return Standing(
        rank=row.rank,
        bot=row.participant.name,
        absence=None if row.absence is None else _absence(row.absence),
        version=row.participant.version,
        author=row.participant.author,
        score=row.rating.score,
        mu=row.rating.mu,
        sigma=row.rating.sigma,
        error=verdict.error if verdict else None,
        rank_best=verdict.ranks[0] if verdict else None,
        rank_worst=verdict.ranks[1] if verdict else None,
        better_than_next=verdict.better_than_next if verdict else None,
        first=verdict.first if verdict else None,
        one_pass=row.one_pass.score if row.one_pass else None,
        matches=Tally.model_validate(standing.matches),
        pairs=Tally.model_validate(standing.pairs),
        points_for=standing.points_for,
        points_against=standing.points_against,
        points=standing.margin,
        deals=standing.deals,
        deals_won=standing.deals_won,
        faults=dict(standing.faults),
        median_ms=standing.times.quantile_ms(0.5),
        p99_ms=standing.times.quantile_ms(0.99),
    )


def _bot(row: Row) -> Bot:
    conduct, times = row.conduct, row.standing.times
    return Bot(
        bot=row.participant.name,
        deals=conduct.deals.total(),
        ends={
            end: Ended(won=conduct.won[end], drawn=conduct.drawn[end], lost=conduct.lost[end])
            for end in sorted({*conduct.won, *conduct.drawn, *conduct.lost})
        },
        roles={
            str(role): InRole(
                deals=conduct.deals[role],
                points_for=conduct.points_for[role],
                points_against=conduct.points_against[role],
                points=margin,
            )
            for role in Role
            if (margin := conduct.margin(role)) is not None
        },
        closed=Closed(won=conduct.closed["won"], failed=conduct.closed["failed"]),
        claimed=Claimed(right=conduct.claimed["right"], wrong=conduct.claimed["wrong"]),
        marriages=dict(sorted(conduct.marriages.items(), key=lambda item: int(item[0]))),
        times=Times(
            decisions=times.total,
            median_ms=times.quantile_ms(0.5),
            p90_ms=times.quantile_ms(0.9),
            p99_ms=times.quantile_ms(0.99),
            max_ms=times.quantile_ms(1.0),
        ),
        endgames=None if row.endgames is None else Endgames.model_validate(row.endgames),
    )


def _absence(absence: model.Absence) -> Absence:
    return Absence.model_validate(
        {
            "change": str(absence.entry.change),
            "reason": absence.entry.reason,
            "epoch": absence.entry.place.epoch,
            "position": absence.entry.place.position,
            "played": absence.played,
            "scheduled": absence.scheduled,
            "withdrawn": absence.withdrawn,
        }
    )


def _fault(stored: StoredFault) -> Fault:
    return Fault(
        bot=stored.participant,
        epoch=stored.key.epoch,
        pairing=stored.key.pairing,
        leg=stored.key.leg,
        number=stored.key.number,
        seat=stored.seat,
        deal=stored.deal,
        decision=stored.decision,
        fault=stored.fault.label,
        loss=stored.loss.name.lower(),
        evidence=stored.evidence,
    )
