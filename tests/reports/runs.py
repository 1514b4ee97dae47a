"""Runs in a store without bot processes: the real referee plays simple choosers, so that all figures hang together."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from arena.cards import CLAIM, CLOSE, GO_ON, Action, actions_of
from arena.game.game import Game
from arena.game.presets import preset
from arena.match.absence import NOBODY, Exclusion
from arena.match.clock import TimeControl
from arena.match.record import MatchRecord, Status
from arena.match.referee import Ask, NoReply, Reply, referee
from arena.match.rulings import Fault, Loss
from arena.match.summary import MatchKey, MatchSummary
from arena.reports.model import RunReport
from arena.store import MatchResult, Participant, State, open_store
from arena.tournament import decks
from arena.tournament.quarantine import Quarantine
from arena.tournament.schedule import Schedule

GAME = Game(preset("sixty-six"))
CREATED = datetime(2026, 11, 29, 20, 15, tzinfo=UTC)
EVIDENCE = "Traceback:\n  \x1b[31mValueError\x1b[0m: \ud800 | <b>no</b> idea"

Chooser = Callable[[Ask, random.Random], Reply | NoReply]


def plain(ask: Ask, chance: random.Random) -> Reply:
    """Any legal action, but a claim only when it is right."""
    return Reply(chance.choice(_sensible(ask)), took_ms=0.2)


def sound(ask: Ask, chance: random.Random) -> Reply:
    """Declares, exchanges and claims where it can, else plays a high card."""
    actions = [action for action in _sensible(ask) if action not in (CLOSE, GO_ON)] or _sensible(ask)
    return Reply(max(actions, key=lambda action: (action > 32, (action - 1) % 8, action)), took_ms=0.5)


def patient(ask: Ask, chance: random.Random) -> Reply:
    """Neither closes nor claims while it can do anything else, so that its deals come to an endgame."""
    calm = [action for action in _sensible(ask) if action not in (CLAIM, CLOSE)] or _sensible(ask)
    return Reply(chance.choice(calm), took_ms=0.2)


def faulty(ask: Ask, chance: random.Random) -> Reply | NoReply:
    """As `plain`, but one answer in fifty is a fault."""
    return NoReply(Fault.ERROR, took_ms=2.0, evidence=EVIDENCE) if chance.random() < 0.02 else plain(ask, chance)


def gone(ask: Ask, chance: random.Random) -> NoReply:
    """Forfeits every match at its first decision."""
    return NoReply(Fault.NOT_STARTED, took_ms=0.0, evidence="no such model", whole_match=True)


def _sensible(ask: Ask) -> list[Action]:
    right = ask.view.points[GAME.table.side_of[ask.seat]] >= 66
    return [action for action in actions_of(ask.view.legal) if action != CLAIM or right]


CHOOSERS: Mapping[str, Chooser] = {"plain": plain, "sound": sound, "faulty": faulty}


def bot(name: str, author: str = "Anna") -> Participant:
    return Participant(name=name, version="1.0", digest=64 * f"{len(name) % 10}", kind="folder", author=author)


def play_run(
    data: Path,
    name: str = "cup",
    bots: Mapping[str, Chooser] = CHOOSERS,
    *,
    pairs: int = 4,
    seed: str | None = "7",
    title: str = "Spring cup",
    matches: int | None = None,
    void: Sequence[int] = (),
    order: random.Random | None = None,
    untrusted: frozenset[str] = frozenset(),
    reference: str | None = None,
) -> Path:
    """Play a run into the store of `data` and return the store's path.

    Only the first `matches` of the schedule if that is given (it is then interrupted), those at the positions `void`
    spoilt by the arena, and recorded in an `order` other than the schedule's if that is given: as if so many jobs ran
    that all was played before anybody was quarantined.
    """
    identity = {
        "format": "round-robin",
        "champions": [],
        "pairs": pairs,
        "block": 4,
        "quarantine": True,
        "reference": reference,
        "clock": {"limit_ms": 1000, "bank_ms": 10000},
        "rules": GAME.rules.options(),
    }
    secret = decks.secret_from_seed(seed or "as if drawn")
    schedule = Schedule(tuple(bots), pairs, block=4, untrusted=untrusted)
    quarantine = Quarantine(schedule.blocks(), NOBODY)
    quarantined: list[Exclusion] = []
    results: list[MatchResult] = []
    for block in schedule.blocks():
        for position, key in iter(block.keys()):
            if matches is not None and position >= matches:
                break
            if order is None and quarantine.absences.leave_out(key, position):
                continue
            result = _result(secret, bots, position, key, block.seats, block.mirrored, position in void)
            faults = result.record.faults
            forfeiters = {block.seats[fault.seat] for fault in faults if fault.loss is Loss.MATCH}
            quarantine.add(key, None if position in void else forfeiters)
            quarantined += quarantine.judge()
            results.append(result)
    if order is not None:
        order.shuffle(results)
    data.mkdir(parents=True, exist_ok=True)
    with open_store(data / "arena.db") as store:
        tournament = store.create_tournament(
            name,
            identity,
            GAME.rules.options(),
            [bot(each) for each in (sorted(bots) if order is None else sorted(bots, reverse=True))],
            rated=seed is None,
            created=CREATED,
            about={"title": title, "rules_name": "sixty-six", "sandbox": "weak", **({"seed": seed} if seed else {})},
        )
        planned = {"identity": identity, "untrusted": sorted(untrusted), "missed": []}
        store.open_epoch(tournament, 0, secret, decks.commitment(secret), config=planned)
        store.record(tournament, results, quarantined)
        if matches is None:
            store.reveal(tournament, 0)
        store.set_state(tournament, State.INTERRUPTED if matches is not None else State.FINISHED)
    return data / "arena.db"


def _result(
    secret: bytes,
    bots: Mapping[str, Chooser],
    position: int,
    key: MatchKey,
    seats: tuple[str, ...],
    mirrored: bool,
    void: bool,
) -> MatchResult:
    record = play(secret, bots, key, seats, mirrored)
    if void:
        record = replace(record, status=Status.VOID, ranks=(1, 1), forfeited_by=None)
    summary = MatchSummary.of(key, mirrored, seats, GAME.rules, record)
    return MatchResult(key, position, seats, mirrored, record, summary)


def play(
    secret: bytes, bots: Mapping[str, Chooser], key: MatchKey, seats: tuple[str, ...], mirrored: bool
) -> MatchRecord:
    """Referee one match, on the decks that a tournament with this secret deals."""
    lists = decks.list_id(key.pairing, key.leg, key.number, mirrored)
    chance = random.Random(decks.match_id(secret, key))
    match = referee(GAME, lambda number: decks.deck(secret, lists, number, GAME.cards), TimeControl())
    request = next(match)
    while True:
        answer = bots[seats[request.seat]](request, chance) if isinstance(request, Ask) else None
        try:
            request = match.send(answer)
        except StopIteration as end:
            record: MatchRecord = end.value
            return record


NASTY = {
    "plain": "[red]plain[/red] `x` | <b>*bold*</b> $\\pi$ :smile: @all www.x.org https://x.org",
    "sound": '=HYPERLINK("http://x")\x1b[31m\x07\n\r\tnext | line \u202eevil\ud800',
    "faulty": "ß漢字🂡" * 20,
}
"""Names that no store takes, or that no format may believe; a report must survive them all the same."""


def with_names(report: RunReport, names: Mapping[str, str]) -> RunReport:
    """The same report, but for the names of the bots (which also write themselves so)."""

    def renamed(participant: Participant) -> Participant:
        return replace(participant, name=names[participant.name], author=names[participant.name])

    return replace(
        report,
        run=replace(
            report.run,
            title=" ".join(names.values()),
            participants=tuple(map(renamed, report.run.participants)),
        ),
        rows=tuple(replace(row, participant=renamed(row.participant)) for row in report.rows),
        crosstable={(names[bot], names[other]): met for (bot, other), met in report.crosstable.items()},
        faults=tuple(replace(fault, participant=names[fault.participant]) for fault in report.faults),
        lost_bummerls={(names[bot], names[bot]): lost for (_, bot), lost in report.lost_bummerls.items()},
    )
