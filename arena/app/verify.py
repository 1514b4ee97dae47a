"""A run proved from its lines alone: decks from the secrets, every decision refereed again, both chains, the table.

The first difference is named with its place.  Times and evidence are testimony: sealed, but nobody can recompute them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, assert_never

from arena.app.data import STORE
from arena.app.export import RunningTable, key_of, lines_of, summary_of
from arena.app.schedules import schedules_of
from arena.cards import Card
from arena.errors import ArenaError
from arena.game.game import Game
from arena.game.rules import Rules
from arena.match.record import FaultRecord, MatchRecord, Status, prove
from arena.match.rulings import Fault, loss_of
from arena.match.summary import MatchKey, MatchSummary
from arena.store.chains import ChainHead, Participant, canonical, chain_start, link, play_hash
from arena.store.exchange import End, ExportError, Header, Line, SealedRow, open_journal, read
from arena.store.queries import in_words
from arena.store.values import Epoch
from arena.tournament import decks
from arena.tournament.schedule import Block, Schedule

NEAR = 1e-6
"""How far a rating may be from the recomputed one, in points: machines round differently."""

_ORDER = {"participants": 0, "epochs": 1, "matches": 2, "faults": 2, "voids": 3}
"""In which part of the file the rows of a table stand."""
_MALFORMED = (ArenaError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What a line may raise that no arena wrote."""

Watch = Callable[[int], object]
"""Is told the number of matches after each one."""


@dataclass(frozen=True, slots=True)
class Verified:
    """Nothing differs."""

    matches: int
    deals: int
    decisions: int
    """Those of the deals, and those at which a bot committed a fault."""
    head: str
    """The play chain's."""
    hidden: tuple[int, ...]
    """The epochs whose secret is not revealed: of their matches only order, chain and table were verified."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where the record contradicts itself, the rules or the promised head."""

    where: str
    what: str


def verify_file(file: Path, head: str | None = None, watch: Watch | None = None) -> Verified | Difference:
    """Verify the file of an export.  Raises `UsageError` where it cannot be read or is no export at all."""
    return verify(read(file), head, watch)


def verify_run(run: str, data: Path, head: str | None = None, watch: Watch | None = None) -> Verified | Difference:
    """Verify a run in the store.  Raises `UsageError` where there is none."""
    with open_journal(data / STORE) as journal:
        tournament = journal.tournament(run)
        broken = journal.verify_seals(tournament)
        if broken is not None:
            return Difference(f"{broken.table}, row {broken.row}", broken.what)
        return verify(lines_of(journal, tournament), head, watch)


def verify(lines: Iterable[Line], head: str | None = None, watch: Watch | None = None) -> Verified | Difference:
    """Verify the lines of a run; `head` is the play chain's as it was published.  Raises what `lines` raises."""
    proof = _Proof(watch)
    try:
        for line in lines:
            proof.add(line)
        return proof.finish(head)
    except _Different as different:
        return different.difference
    except ExportError as error:
        return Difference("the file", str(error))


class _Different(Exception):
    def __init__(self, where: str, what: str) -> None:
        super().__init__(where, what)
        self.difference = Difference(where, what)


@dataclass(slots=True)
class _Epoch:
    """An epoch, and how far its chain has come."""

    facts: Epoch
    head: str
    length: int = 0


class _Proof:
    """What was proved so far."""

    def __init__(self, watch: Watch | None) -> None:
        self._watch = watch
        self._where = "the header"
        self._part = -1
        self._seals = _SealChain()
        self._table = RunningTable()
        self._participants: dict[str, tuple[int, Participant]] = {}
        self._epochs: list[_Epoch] = []
        self._schedules: tuple[Schedule, ...] = ()
        self._planned: Iterator[tuple[int, MatchKey, Block]] = iter(())
        self._last: tuple[int, Epoch]
        self._faults: list[dict[str, Any]] = []
        self._attempts: Counter[MatchKey] = Counter()
        self._end: End | None = None
        self._matches = self._deals = self._decisions = 0

    def add(self, line: Line) -> None:
        """Prove one more line.  Raises `_Different`."""
        try:
            if self._end is not None:
                raise _Different("the file", "there is a line after the end")
            match line:
                case Header():
                    self._header(line)
                case SealedRow():
                    self._row(line)
                case End():
                    self._add_up(line)
                case _:
                    assert_never(line)
        except _Different:
            raise
        except _MALFORMED as error:
            what = str(error) if isinstance(error, ArenaError) else f"this was never written by an arena ({error!r})"
            raise _Different(self._where, what) from error

    def finish(self, head: str | None) -> Verified:
        """The result after the last line.  Raises `_Different`."""
        if self._end is None:
            raise _Different("the file", "it ends too early")
        _same("the play chain", "head", self._end.head, self._end.head if head is None else head, "published")
        return Verified(
            self._matches,
            self._deals,
            self._decisions,
            self._end.head,
            tuple(epoch.facts.number for epoch in self._epochs if not epoch.facts.revealed),
        )

    # -- lines in their order ---------------------------------------------------------------------------------------

    def _header(self, header: Header) -> None:
        if self._part != -1:
            raise _Different("the file", "there is a second header")
        self._part = 0
        self._facts = header.facts
        self._game = Game(Rules().with_options(header.facts["rules"]))
        _same(self._where, "rules", self._game.rules.options(), header.facts["rules"])
        self._seals.start(header.seal)

    def _row(self, row: SealedRow) -> None:
        part = _ORDER[row.table]
        if part < self._part:
            raise _Different(f"row {row.serial}", f"a row of {row.table} is out of place")
        if part > 1 >= self._part:
            self._plan()
        self._part = part
        match row.table:
            case "participants":
                self._participant(row)
                revealed = True
            case "epochs":
                revealed = self._epoch(row).revealed
            case "matches":
                revealed = self._match(row).revealed
            case "faults":
                revealed = self._fault(row).revealed
            case "voids":
                revealed = self._void(row).revealed
        if revealed:
            if row.computed_seal != row.seal:
                raise _Different(
                    self._where,
                    f"something in row {row.serial} was changed after it was committed: "
                    f"its seal would be {row.computed_seal}, recorded is {row.seal}",
                )
        elif not row.hidden:
            raise _Different(self._where, "it should hold no cards, as its secret is not revealed")
        self._seals.add(row, self._where)

    def _participant(self, row: SealedRow) -> None:
        participant = Participant(**row.values)
        self._where = f"the participant {participant.name!r}"
        if participant.name in self._participants:
            raise _Different(self._where, "this name has entered before")
        self._participants[participant.name] = (row.serial, participant)
        self._table.enter(participant.name)

    def _epoch(self, row: SealedRow) -> Epoch:
        number = len(self._epochs)
        values = row.values
        self._where = f"epoch {number}"
        _same(self._where, "number", number, values["number"])
        secret = None if values["secret"] is None else bytes.fromhex(values["secret"])
        if secret is not None:
            _same(self._where, "commitment of the secret", decks.commitment(secret), values["commitment"])
            seed = self._facts["about"].get("seed")
            if seed is not None:
                _same(self._where, "secret of the seed", decks.secret_from_seed(seed, number).hex(), secret.hex())
        identity = values["config"]["identity"]
        _same(self._where, "rules", self._facts["rules"], identity["rules"])
        if number == 0:
            _same(self._where, "config", self._facts["config"], identity)
        entered = [each for serial, each in self._participants.values() if serial < row.serial]
        facts = Epoch(
            number=number,
            commitment=values["commitment"],
            secret=secret,
            config=values["config"],
            participants=tuple(sorted(each.name for each in entered)),
        )
        start = chain_start(canonical(self._facts["rules"]), row.texts["config"], entered, number, facts.commitment)
        self._epochs.append(_Epoch(facts, start))
        return facts

    def _plan(self) -> None:
        """All epochs are known: so is every match that must follow."""
        self._schedules = schedules_of([epoch.facts for epoch in self._epochs])
        self._planned = (
            (position, key, block)
            for schedule in self._schedules
            for block in schedule.blocks()
            for position, key in iter(block.keys())
        )

    def _match(self, row: SealedRow) -> Epoch:
        self._no_more_faults()
        values = row.values
        key = key_of(values)
        self._where = f"the match {in_words(key)}"
        block = self._next(key, values["position"])
        _same(self._where, "seats", list(block.seats), values["seats"])
        _same(self._where, "mirrored", int(block.mirrored), values["mirrored"])
        epoch = self._epochs[key.epoch]
        if epoch.facts.secret is None:
            summary = summary_of(values)
        else:
            summary = self._played(key, block, epoch.facts.secret, values)
            self._faults = _faults(row.serial, block.seats, values)
            texts = row.texts
            hashed = play_hash(key.epoch, texts["pairing"], key.leg, key.number, texts["seats"], texts["play"])
            _same(self._where, "hash of its play", hashed, values["play_hash"])
        losers = [name for side in summary.sides if side.rank > 1 for name in dict.fromkeys(side.participants)]
        _same(self._where, "losers", [] if summary.status is Status.VOID else losers, values["losers"])
        if values["position"] == epoch.length:
            epoch.head, epoch.length = link(epoch.head, values["play_hash"]), epoch.length + 1
        self._table.add(summary)
        self._matches += 1
        self._last = (row.serial, epoch.facts)
        if self._watch is not None:
            self._watch(self._matches)
        return epoch.facts

    def _next(self, key: MatchKey, position: int) -> Block:
        """The block of the match, which must be the next one of the schedule, but for what is still to be played."""
        for place, planned, block in self._planned:
            if planned == key:
                _same(self._where, "place in the schedule", place, position)
                return block
            self._missing(planned)
        raise _Different(self._where, "it is not in the schedule, or stands here a second time")

    def _missing(self, planned: MatchKey) -> None:
        """A match that is planned is not here: right only as long as its epoch is not revealed."""
        if self._epochs[planned.epoch].facts.revealed:
            raise _Different(f"the match {in_words(planned)}", f"it is missing; what follows instead is {self._where}")

    def _played(self, key: MatchKey, block: Block, secret: bytes, values: Mapping[str, Any]) -> MatchSummary:
        """Referee a match again on its decks."""
        record = MatchRecord.from_json(values["play"], values["testimony"])
        list_id = decks.list_id(key.pairing, key.leg, key.number, block.mirrored)
        cards = self._game.cards
        self._decisions += prove(self._game, lambda number: _deck(secret, list_id, number, cards), record)
        self._deals += len(record.deals)
        _same(self._where, "record", record.play_json(), values["play"])
        _same(self._where, "testimony", record.testimony.to_json(), values["testimony"])
        _same(self._where, "status", str(_status(record)), values["status"])
        _same(self._where, "status", values["status"], values["play"]["status"])
        _check_rulings(self._where, record.faults)
        summary = MatchSummary.of(key, block.mirrored, block.seats, self._game.rules, record)
        _same(self._where, "summary", summary.to_json(), values["summary"])
        return summary

    def _fault(self, row: SealedRow) -> Epoch:
        """One of the faults of the last match."""
        match, epoch = self._last
        _same(self._where, "row of its fault", match, row.values["match"])
        if epoch.revealed:
            _same(self._where, "fault", self._faults.pop(0) if self._faults else "none", row.values)
        return epoch

    def _void(self, row: SealedRow) -> Epoch:
        self._no_more_faults()
        key = key_of(row.values)
        self._where = f"the void attempt {row.values['attempt']} at {in_words(key)}"
        schedule = self._schedules[key.epoch]
        legs, lists = range(len(key.pairing)), range(schedule.lists(key.pairing))
        if not (schedule.field.has(key.pairing) and key.leg in legs and key.number in lists):
            raise _Different(self._where, "there is no such match in the schedule")
        self._attempts[key] += 1
        _same(self._where, "attempt", self._attempts[key], row.values["attempt"])
        return self._epochs[key.epoch].facts

    def _no_more_faults(self) -> None:
        if self._faults:
            fault = self._faults[0]
            raise _Different(self._where, f"the row of the fault {fault['kind']} in deal {fault['deal']} is missing")

    # -- the end ----------------------------------------------------------------------------------------------------

    def _add_up(self, end: End) -> None:
        if self._part <= 1:
            self._plan()
        self._no_more_faults()
        self._where = "the end"
        for _, planned, _ in self._planned:
            self._missing(planned)
        self._seals.finish(end.rows, end.seal)
        _same(self._where, "number of matches", self._matches, end.matches)
        chains = tuple(ChainHead(epoch.head, epoch.length) for epoch in self._epochs)
        for number, (mine, told) in enumerate(zip(chains, end.chains, strict=True)):
            _same(f"the play chain of epoch {number}", "length", mine.length, told.length)
            _same(f"the play chain of epoch {number}", "head", mine.head, told.head)
        draw_probability, table = self._table.finish()
        _near("the table", "draw probability", draw_probability, end.draw_probability)
        _same("the table", "participants", sorted(table), sorted(end.figures))
        for name, figures in table.items():
            where = f"the table, {name!r}"
            _same(where, "figures", sorted(figures), sorted(end.figures[name]))
            for what, ours in figures.items():
                compare = _near if what in ("mu", "sigma") else _same
                compare(where, what, ours, end.figures[name][what])
        self._end = end


class _SealChain:
    """The seals in the order of commits, though rows come in another one: each is due at its two neighbours."""

    def __init__(self) -> None:
        self._due: dict[int, str] = {}
        """The seal of a row by its serial, told by one of the two rows that know it; few at a time."""
        self._rows = 0

    def start(self, first: str) -> None:
        self._due[0] = first

    def add(self, row: SealedRow, where: str) -> None:
        self._rows += 1
        self._meet(row.serial - 1, row.previous, where)
        self._meet(row.serial, row.seal, where)

    def finish(self, rows: int, last: str) -> None:
        self._meet(rows, last, "the seals")
        if self._due and self._rows < rows:
            raise _Different("the seals", f"{rows} rows were committed; row {min(self._due) + 1} is missing")
        _same("the seals", "number of rows", self._rows, rows)
        if self._due:
            raise _Different("the seals", f"row {min(self._due)} and the one behind it do not hang together")

    def _meet(self, serial: int, seal: str, where: str) -> None:
        if serial in self._due:
            what = f"seal of row {serial}" if serial else "seal of the header"
            _same(where if serial else "the header", what, self._due.pop(serial), seal)
        else:
            self._due[serial] = seal


@lru_cache(maxsize=1024)
def _deck(secret: bytes, list_id: str, number: int, cards: tuple[Card, ...]) -> tuple[Card, ...]:
    """A list is dealt in every pairing and leg: worth keeping while the schedule is at it."""
    return decks.deck(secret, list_id, number, cards)


def _status(record: MatchRecord) -> Status:
    """How the match ended, by what was played."""
    if record.status is Status.VOID:
        return Status.VOID
    if record.forfeited_by is None:
        return Status.PLAYED
    return Status.FORFEIT if any(deal.actions for deal in record.deals) else Status.WALKOVER


def _check_rulings(where: str, faults: Iterable[FaultRecord]) -> None:
    """A fault costs what the table of rulings says, or the match where its bot was gone for good."""
    counts: dict[int, Counter[Fault]] = {}
    for fault in faults:
        earlier = counts.setdefault(fault.seat, Counter())
        ruled = loss_of(fault.fault, earlier)
        if fault.loss < ruled:
            raise _Different(
                f"{where}, deal {fault.deal}", f"{fault.fault.label} loses the {ruled.name.lower()}, recorded is less"
            )
        earlier[fault.fault] += 1


def _faults(match: int, seats: tuple[str, ...], values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows that must follow the row of a match."""
    evidence = values["testimony"]["evidence"]
    return [
        {
            "match": match,
            "participant": seats[fault["seat"]],
            "seat": fault["seat"],
            "deal": fault["deal"],
            "decision": fault["decision"],
            "kind": fault["fault"],
            "loss": fault["loses"],
            "evidence": evidence[index] if index < len(evidence) else "",
        }
        for index, fault in enumerate(values["play"]["faults"])
    ]


def _same(where: str, what: str, ours: object, theirs: object, recorded: str = "recorded") -> None:
    """Raises `_Different` at the first place where two plain values differ."""
    if ours == theirs:
        return
    match ours, theirs:
        case dict(), dict() if ours.keys() == theirs.keys():
            for name, value in ours.items():
                _same(where, f"{what}: {name}", value, theirs[name], recorded)
        case list(), list() if len(ours) == len(theirs):
            for number, (mine, told) in enumerate(zip(ours, theirs, strict=True), start=1):
                _same(where, f"{what} {number}", mine, told, recorded)
        case _:
            raise _Different(where, f"{what}: computed {ours}, {recorded} {theirs}")


def _near(where: str, what: str, ours: float, theirs: float) -> None:
    if not abs(ours - theirs) <= NEAR:
        raise _Different(where, f"{what}: computed {ours}, recorded {theirs}")
