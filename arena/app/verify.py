"""A run proved from its lines alone: decks from the secrets, every decision refereed again, both chains, the table.

The first difference is named with its place.  Times and evidence are testimony: sealed, but nobody can recompute them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, assert_never

from arena.app.data import Archive
from arena.app.export import lines_of
from arena.app.looks import Look, Looks
from arena.app.schedules import blocks_of, missed_lists
from arena.app.stopping import rule_of
from arena.app.totals import RunningTotals, exclusion_of, key_of, summary_of
from arena.cards import Card
from arena.errors import ArenaError
from arena.game.game import Game
from arena.game.rules import Rules
from arena.match.absence import Absences, Change, Exclusion, Place
from arena.match.lag import Lag
from arena.match.record import FaultRecord, MatchRecord, Status, prove
from arena.match.rulings import Fault, Loss, loss_of
from arena.match.summary import MatchKey, MatchSummary
from arena.store import Queries, Tournament
from arena.store.chains import canonical, play_hash
from arena.store.exchange import End, ExportError, Header, Line, Sealed, SealedRow, open_journal, read
from arena.store.queries import in_words
from arena.store.values import Epoch
from arena.tournament import decks
from arena.tournament.pairings import Pairing
from arena.tournament.quarantine import Quarantine
from arena.tournament.schedule import Block, Schedule
from arena.tournament.standings import Totals

NEAR = 1e-6
"""How far a rating may be from the recomputed one, in points: machines round differently."""

_ORDER = {"participants": 0, "epochs": 1, "exclusions": 2, "matches": 3, "faults": 3, "voids": 4, "sessions": 5}
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


def verify_run(
    run: str, archive: Archive, head: str | None = None, watch: Watch | None = None
) -> Verified | Difference:
    """Verify a run in the store.  Raises `UsageError` where there is none."""
    with open_journal(archive.store) as journal:
        tournament = journal.tournament(run)
        broken = journal.verify_seals(tournament)
        if broken is not None:
            return Difference(f"{broken.table}, row {broken.row}", broken.what)
        found = verify(lines_of(journal, tournament), head, watch)
        if isinstance(found, Verified) and not _kept_totals_are_right(journal, tournament):
            return Difference(
                "the database's table totals",
                "it is not what the matches add up to; delete its row of this run, and tables are counted anew",
            )
        return found


def _kept_totals_are_right(queries: Queries, tournament: Tournament) -> bool:
    """No seal covers what is kept of the table, and tables are made of it."""
    kept = queries.totals(tournament)
    if kept is None or queries.absences(tournament).log:  # then it is not looked at
        return True
    last, totals = kept
    matches = queries.summaries_after(tournament, 0)
    return canonical(totals) == canonical(Totals.of(each for row, each in matches if row <= last).to_json())


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


class _Proof:
    """What was proved so far."""

    def __init__(self, watch: Watch | None) -> None:
        self._watch = watch
        self._where = "the header"
        self._part = -1
        self._seals = _SealChain()
        self._totals: RunningTotals
        self._planned: Iterator[tuple[int, MatchKey, Block]] = iter(())
        self._last: SealedRow
        self._last_serial = 0
        """The last match's in the order of commits."""
        self._looks: list[tuple[int, Look]] = []
        """Each with the number of the epoch that it led to."""
        self._shown: Looks
        self._faults: list[dict[str, Any]] = []
        self._opened: list[int] = []
        """The serials of the epochs' rows."""
        self._log: list[tuple[int, Exclusion]] = []
        """Each entry with the serial of its row."""
        self._begins: dict[MatchKey, list[tuple[int, Exclusion]]] = {}
        """The entries that exclude somebody, by the first match that they leave out."""
        self._to_find: list[Exclusion] = []
        """The quarantines since the last inclusion: they follow from the matches.  All else in the log is as told."""
        self._quarantine: Quarantine
        self._forfeiters: set[str] = set()
        self._judged = 0
        self._found: list[Exclusion] = []
        self._block: Block | None = None
        """That of the last match."""
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
            tuple(epoch.number for epoch in self._totals.epochs if not epoch.revealed),
        )

    # -- lines in their order ---------------------------------------------------------------------------------------

    def _header(self, header: Header) -> None:
        if self._part != -1:
            raise _Different("the file", "there is a second header")
        self._part = 0
        self._facts = header.facts
        self._totals = RunningTotals(header.facts)
        self._game = Game(Rules().with_options(header.facts["rules"]))
        _same(self._where, "rules", self._game.rules.options(), header.facts["rules"])
        self._seals.start(header.seal)

    def _row(self, row: SealedRow) -> None:
        part = _ORDER[row.table]
        if part < self._part:
            raise _Different(f"row {row.serial}", f"a row of {row.table} is out of place")
        if part > 2 >= self._part:
            self._plan()
        self._part = part
        match row.table:
            case "participants":
                self._participant(row)
                revealed = True
            case "epochs":
                revealed = self._epoch(row).revealed
            case "exclusions":
                self._exclusion(row)
                revealed = True
            case "matches":
                revealed = self._match(row).revealed
            case "faults":
                revealed = self._fault(row).revealed
            case "voids":
                revealed = self._void(row).revealed
            case "sessions":
                self._session(row)
                revealed = True
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
        name = row.values["name"]
        self._where = f"the participant {name!r}"
        if name in self._totals.participants:
            raise _Different(self._where, "this name has entered before")
        self._totals.add(row)

    def _epoch(self, row: SealedRow) -> Epoch:
        number = len(self._totals.epochs)
        self._where = f"epoch {number}"
        _same(self._where, "number", number, row.values["number"])
        self._totals.add(row)
        self._opened.append(row.serial)
        epoch = self._totals.epochs[number]
        if epoch.secret is not None:
            _same(self._where, "commitment of the secret", decks.commitment(epoch.secret), epoch.commitment)
            seed = self._facts["about"].get("seed")
            if epoch.derived:
                before = self._totals.epochs[number - 1].secret
                follows = "unknown" if before is None else decks.next_secret(before).hex()
                _same(self._where, "secret that follows from the one before", follows, epoch.secret.hex())
            elif seed is not None:
                _same(self._where, "secret of the seed", decks.secret_from_seed(seed, number).hex(), epoch.secret.hex())
        identity = epoch.config["identity"]
        _same(self._where, "rules", self._facts["rules"], identity["rules"])
        if number == 0:
            _same(self._where, "config", self._facts["config"], identity)
        return epoch

    def _exclusion(self, row: SealedRow) -> None:
        """One entry of the log; those of quarantines are found again by themselves."""
        entry = exclusion_of(row.values)
        self._where = f"row {row.serial}, {entry.participant!r} {entry.change}"
        if entry.participant not in self._totals.participants:
            raise _Different(self._where, "no participant has this name")
        out = self._log_before(row.serial).out.get(entry.participant)
        _same(self._where, "whether it was out before", entry.change is Change.INCLUDED, out is not None)
        if out is not None and entry.place not in (out.place, Place(max(entry.place.epoch, out.place.epoch + 1), 0)):
            raise _Different(self._where, "it begins neither where it was out from, nor with a later epoch")
        self._log.append((row.serial, entry))
        self._totals.add(row)

    def _log_before(self, serial: int) -> Absences:
        """Who was out when a row was committed."""
        return Absences.of(entry for earlier, entry in self._log if earlier < serial)

    def _plan(self) -> None:
        """All epochs are known, and who is out: so is every match that must follow."""
        schedules = self._totals.schedules
        for number, schedule in enumerate(schedules):
            missed = missed_lists(schedules[:number], self._log_before(self._opened[number]))
            _same(f"epoch {number}", "what was missed before", missed, dict(schedule.missed))
        blocks = partial(blocks_of, schedules)
        self._planned = self._in_order(blocks())
        active = bool(self._totals.epochs) and self._totals.epochs[0].config["identity"]["quarantine"]
        log = [entry for _, entry in self._log]
        told = 1 + max((place for place, entry in enumerate(log) if entry.change is Change.INCLUDED), default=-1)
        self._to_find = [entry for entry in log[told:] if entry.change is Change.QUARANTINED]
        given = Absences.of([*log[:told], *(entry for entry in log[told:] if entry.change is not Change.QUARANTINED)])
        self._quarantine = Quarantine(blocks() if active else (), given)
        self._looks = [*self._looks_between(schedules), *self._look_at_the_end(schedules)]
        self._shown = Looks([look for _, look in self._looks])

    def _looks_between(self, schedules: Sequence[Schedule]) -> Iterator[tuple[int, Look]]:
        """Those after which there was another epoch, each with the number of that."""
        for number, schedule in enumerate(schedules):
            if schedule.remainder:
                rule = rule_of(self._totals.epochs[number].config["identity"])
                if rule is None:
                    raise _Different(f"epoch {number}", "it has a remainder, but no stop rule")
                serial = self._opened[number]
                yield number, Look(rule, schedules[:number], self._log_before(serial), serial)

    def _look_at_the_end(self, schedules: Sequence[Schedule]) -> Iterator[tuple[int, Look]]:
        """The one that ended the tournament, if it has come to its end."""
        latest = self._totals.epochs[-1] if schedules else None
        if latest is not None and latest.revealed and (rule := rule_of(latest.config["identity"])) is not None:
            yield len(schedules), Look(rule, schedules, self._totals.absences, math.inf)

    def _in_order(self, blocks: Iterator[Block]) -> Iterator[tuple[int, MatchKey, Block]]:
        """Every match of the schedule; noted is at which of them exclusions begin."""
        begin = [(each, self._log_before(each[0])) for each in self._log if each[1].change is Change.EXCLUDED]
        for block in blocks:
            for position, key in iter(block.keys()):
                for exclusion, before in begin[:]:
                    _, entry = exclusion
                    concerned = entry.participant in key.pairing and entry.place <= (key.epoch, position)
                    if concerned and not before.leave_out(key, position):
                        self._begins.setdefault(key, []).append(exclusion)
                        begin.remove((exclusion, before))
                yield position, key, block

    def _match(self, row: SealedRow) -> Epoch:
        self._last_is_complete()
        values = row.values
        key = key_of(values)
        self._where = f"the match {in_words(key)}"
        block = self._next(key, values["position"])
        if block is not self._block:
            self._block = block
            self._found += self._quarantine.judge()
        for serial, entry in self._begins.pop(key, ()):
            if row.serial < serial:  # nobody unmakes what was lost by excluding
                raise _Different(self._where, f"the exclusion of {entry.participant!r} came later, and leaves it out")
        _same(self._where, "seats", list(block.seats), values["seats"])
        _same(self._where, "mirrored", int(block.mirrored), values["mirrored"])
        epoch = self._totals.epochs[key.epoch]
        if epoch.secret is None:
            summary = summary_of(values)
        else:
            summary = self._played(key, block, epoch.secret, values)
            self._faults = _faults(row.serial, block.seats, values)
            texts = row.texts
            hashed = play_hash(key.epoch, texts["pairing"], key.leg, key.number, texts["seats"], texts["play"])
            _same(self._where, "hash of its play", hashed, values["play_hash"])
        losers = [name for side in summary.sides if side.rank > 1 for name in dict.fromkeys(side.participants)]
        _same(self._where, "losers", [] if summary.status is Status.VOID else losers, values["losers"])
        self._totals.add(row, summary)
        self._shown.show(row.serial, values["position"], summary)
        self._matches += 1
        self._last = row
        self._last_serial = max(self._last_serial, row.serial)
        if self._watch is not None:
            self._watch(self._matches)
        return epoch

    def _next(self, key: MatchKey, position: int) -> Block:
        """The block of the match, which must be the next one of the schedule, but for what is still to be played."""
        for place, planned, block in self._planned:
            if planned == key:
                _same(self._where, "place in the schedule", place, position)
                return block
            self._missing(planned, place)
        raise _Different(self._where, "it is not in the schedule, or stands here a second time")

    def _missing(self, planned: MatchKey, place: int) -> None:
        """A match that is planned is not here: right if it is left out, or as long as its epoch is not revealed.

        A play promises no match.
        """
        if self._facts["about"].get("play"):
            return
        if self._totals.epochs[planned.epoch].revealed and not self._totals.absences.leave_out(planned, place):
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
        epoch: Epoch = self._totals.epochs[self._last.values["epoch"]]
        _same(self._where, "row of its fault", self._last.serial, row.values["match"])
        if row.values["loss"] == Loss.MATCH.name.lower():
            self._forfeiters.add(row.values["participant"])
        if epoch.revealed:
            _same(self._where, "fault", self._faults.pop(0) if self._faults else "none", row.values)
        return epoch

    def _void(self, row: SealedRow) -> Epoch:
        self._last_is_complete()
        key = key_of(row.values)
        self._where = f"the void attempt {row.values['attempt']} at {in_words(key)}"
        schedule = self._totals.schedules[key.epoch]
        legs, lists = range(len(key.pairing)), range(schedule.lists(key.pairing))
        if not (schedule.field.has(key.pairing) and key.leg in legs and key.number in lists):
            raise _Different(self._where, "there is no such match in the schedule")
        self._attempts[key] += 1
        _same(self._where, "attempt", self._attempts[key], row.values["attempt"])
        return self._totals.epochs[key.epoch]

    def _session(self, row: SealedRow) -> None:
        self._last_is_complete()
        self._where = f"the session of {row.values['begun']}"
        _same(self._where, "lag", Lag.from_json(row.values["lag"]).to_json(), row.values["lag"])

    def _last_is_complete(self) -> None:
        """All faults of the last match have come, and so who forfeited it."""
        if self._faults:
            fault = self._faults[0]
            raise _Different(self._where, f"the row of the fault {fault['kind']} in deal {fault['deal']} is missing")
        if self._matches > self._judged:
            void = self._last.values["status"] == Status.VOID
            self._quarantine.add(key_of(self._last.values), None if void else frozenset(self._forfeiters))
            self._forfeiters.clear()
            self._judged = self._matches

    # -- the end ----------------------------------------------------------------------------------------------------

    def _add_up(self, end: End) -> None:
        if self._part <= 2:
            self._plan()
        self._last_is_complete()
        self._where = "the end"
        for place, planned, _ in self._planned:
            self._missing(planned, place)
        self._check_quarantines()
        self._check_looks()
        self._seals.finish(end.rows, end.seal)
        ours = self._totals.end(Sealed(end.rows, end.seal))
        _same(self._where, "number of matches", ours.matches, end.matches)
        for number, (mine, told) in enumerate(zip(ours.chains, end.chains, strict=True)):
            _same(f"the play chain of epoch {number}", "length", mine.length, told.length)
            _same(f"the play chain of epoch {number}", "head", mine.head, told.head)
        _near("the table", "draw probability", ours.draw_probability, end.draw_probability)
        _same("the table", "participants", sorted(ours.figures), sorted(end.figures))
        for name, figures in ours.figures.items():
            where = f"the table, {name!r}"
            _same(where, "figures", sorted(figures), sorted(end.figures[name]))
            for what, figure in figures.items():
                compare = _near if what in ("mu", "sigma") else _same
                compare(where, what, figure, end.figures[name][what])
        self._end = end

    def _check_quarantines(self) -> None:
        """Who is quarantined by the matches is so by the log, from the same match on and for the same reason."""
        self._found += self._quarantine.judge()
        logged = {entry.participant: _in_words(entry) for entry in self._to_find}
        found = {entry.participant: _in_words(entry) for entry in self._found}
        for name in sorted(logged.keys() | found.keys()):
            _same(f"the quarantine of {name!r}", "its entry", found.get(name, "none"), logged.get(name, "none"))

    def _check_looks(self) -> None:
        """Every epoch that a stop rule asked for was asked for by it, and at the end it asked for no more."""
        schedules = self._totals.schedules
        told = max((serial for serial, entry in self._log if entry.change is not Change.QUARANTINED), default=0)
        for number, look in self._looks:
            if number < len(schedules):
                where, planned = f"epoch {number}", schedules[number].remainder
            elif told < self._last_serial:
                where, planned = "the end", {}
            else:  # it ended before the organiser excluded or included somebody
                continue
            _same(where, "what the stop rule asks for", _by_name(look.asked()), _by_name(planned))


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


def _by_name(lists: Mapping[Pairing, int]) -> dict[str, int]:
    return {" - ".join(pairing): count for pairing, count in sorted(lists.items())}


def _in_words(entry: Exclusion) -> str:
    return f"{entry.reason} (from match {entry.place.position} of epoch {entry.place.epoch} on)"


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
