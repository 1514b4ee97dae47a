"""A bot is examined: started, asked and ended as in a tournament, and asked what tournaments ask seldom.

Every answer is judged where it comes, whatever was being tried; what one check broke is started anew for the next.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from arena.bots import traces
from arena.bots.bot import EVIDENCE_LINES, BotFailed, Surroundings, start_all
from arena.bots.candidate import BUDGET_MS, TIME, Answer, Candidate, Case, Sparring
from arena.bots.checks import BY_NAME, CHECKS, NOT_TRIED, Check, Colour, Examination, Finding, Trouble
from arena.bots.driver import MatchOrder, MatchRun, Player
from arena.bots.manifest import NAME_LENGTH, BotSpec
from arena.bots.sandbox import Level
from arena.cards import CLAIM, CLOSE, DECLARE, DISTINCT, EXCHANGE, Card, actions_of
from arena.errors import ArenaError
from arena.game.game import Game
from arena.game.presets import PRESETS
from arena.game.questions import Kind, kind_of, position_text, questions, random_deals
from arena.game.scoring import Outcome, Termination
from arena.game.views import DecisionPoint, View
from arena.match.record import MatchRecord, Status
from arena.match.referee import LAST_WORDS, NoReply, Reply, action_name
from arena.match.rulings import Fault
from arena.wire import codec, later, stubs

CASES = 24
"""Questions of each kind, over all presets; but of each preset at least ..."""
LEAST_CASES = 3
DEALS = 200
"""They are looked for in so many random deals of a preset."""
AT_ONCE = 64
REPEATED = 12
LIVES = 3
"""A process that dies is started anew until it has died this often, for the rest of what is asked under a preset."""
STREAMS = 4
"""More are not tried, however many it says."""
END_S = 10.0
"""A tournament waits for half a second, and then kills; here nothing is to depend on how busy the machine is."""
QUIET_S = 0.3
"""How long is looked whether a file changes while the bot does not run."""
SLOW = 0.5
"""The part of the limit, and of the time to start, that its author may want to know of."""
SHOWN = 3
"""Troubles of one check that are kept."""

_BLAMED: Mapping[int, Kind] = {
    CLAIM: Kind.CLAIM,
    CLOSE: Kind.CLOSE,
    EXCHANGE: Kind.EXCHANGE,
    **dict.fromkeys(DECLARE[1:], Kind.MARRIAGE),
}
"""What an action that is not legal is held against, where it plays no card."""

Judged = Sequence[tuple[View, Answer]]
Trial = Callable[[Candidate, Game], Awaitable[Judged]]
_KINDS = frozenset(Kind)
_ALONG = frozenset({"in-time", "time-use", "answers-once", "output"})
"""What is seen whatever is asked."""
_ENDS = {"resumed", "sigterm", "children", "files", "repeatable"}


class _Absent(Exception):
    """The bot can be asked nothing more here; why has been noted."""


class Examiner:
    """Examines one bot: `wanted` are the names of the checks that are asked for, `said` hears what is being tried."""

    def __init__(
        self,
        spec: BotSpec,
        around: Surroundings,
        wanted: Iterable[str] = BY_NAME,
        said: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._spec = spec
        self._around = around
        self._wanted = frozenset(wanted)
        self._said = said
        self._notes = _Notes()
        self._numbers = itertools.count(1)
        self._plays: set[str] = set()
        self._gate = asyncio.Semaphore(1 if spec.remote else os.cpu_count() or 1)
        """How many processes are asked at a time."""
        self._blamed: set[str] = set()
        """The presets under which it committed a fault in a match."""
        self._places = traces.places(spec.cwd)
        self._suspects: frozenset[str] = frozenset()
        """Files that were written there each time that it ran."""
        self._slowest_ms = 0.0

    async def run(self) -> Examination:
        """All that is wanted, and whatever else is found to be wrong.

        Raises `UsageError` where the machine starts no more processes, and `ArenaError` where the arena itself fails.
        """
        names = self._preset_names()
        if first := await self._first(names):
            steps = [self._special(first), self._ends(first), self._describe_otherwise(first)]
            steps += [self._ordinary(first, stream_closed=True)]
            if self._wanted & (_KINDS | _ALONG | {"rules", "matches"}):
                steps += [self._ordinary(name) for name in names[names.index(first) + 1 :]]
            try:
                async with asyncio.TaskGroup() as group:
                    for step in steps:
                        group.create_task(self._in_turn(step))
            except ExceptionGroup as errors:
                raise errors.exceptions[0] from None
            await self._note_files()
            self._sum_up()
        shown = [check for check in CHECKS if check.name in self._wanted or check.name in self._notes.troubles]
        plays = tuple(name for name in PRESETS if name in self._plays)
        return Examination(self._spec.name, plays, tuple(map(self._notes.finding, shown)))

    def _preset_names(self) -> Sequence[str]:
        """The presets that it may play."""
        foreign = [name for name in self._spec.rules if name not in PRESETS]
        if foreign:
            self._notes.bad("rules", Trouble("rules in its bot.toml", f"no preset is called {', '.join(foreign)}"))
        return [name for name in self._spec.rules if name in PRESETS] or list(PRESETS)

    async def _in_turn(self, step: Coroutine[Any, Any, None]) -> None:
        """Take a step when there is a process to spare; it ends where the bot can be asked no more."""
        async with self._gate:
            with contextlib.suppress(_Absent):
                await step

    # -- processes ---------------------------------------------------------------------------------------------------

    def _candidate(self, rules_name: str, requests: Sequence[bytes] = (), address: str | None = None) -> Candidate:
        """Another process; with an address another stream to one that runs."""
        around = replace(
            self._around,
            rules=PRESETS[rules_name],
            rules_name=rules_name,
            logs=self._around.logs / str(next(self._numbers)),
        )
        spec = self._spec if address is None else replace(self._spec, address=address)

        def heard(view: View, answer: Answer) -> None:
            if not self._judge(rules_name, view, answer):
                self._blamed.add(rules_name)

        return Candidate(spec, around, heard, requests)

    async def _started(self, rules_name: str) -> Candidate:
        """A process that plays these rules, to be stopped by the caller.  Raises `_Absent`."""
        candidate = self._candidate(rules_name)
        began = time.monotonic()
        for failure in (await start_all({rules_name: candidate})).values():
            await candidate.stop()
            self._note_absence(rules_name, candidate.description, failure)
            raise _Absent
        took_s = time.monotonic() - began
        for name in ("start", "describe", "version", "rules"):
            self._notes.good(name)
        if took_s > SLOW * self._around.start_s:
            self._notes.yellow["start"] = f"it took {took_s:.1f} s of the {self._around.start_s:.0f} s that it has"
        return candidate

    def _note_absence(self, rules_name: str, said: codec.BotDescription | None, failure: BotFailed) -> None:
        text, _, output = failure.evidence.partition(LAST_WORDS)
        if failure.fault is Fault.NOT_STARTED or said is None:
            name = "describe" if "Describe" in text else "start"
            self._notes.bad(name, Trouble("start, and answer Describe", text, rules_name, evidence=output))
        elif said.protocol_major != stubs.PROTOCOL_MAJOR:
            self._notes.bad("version", Trouble("Describe", text, rules_name))
        elif rules_name in self._spec.rules:
            text = f"no: {said.refusal or 'it does not say why'}; but its bot.toml says that it plays {rules_name}"
            self._notes.bad("rules", Trouble("Describe", text, rules_name))
        elif not said.refusal:
            self._notes.bad("rules", Trouble("Describe", "no, without a word of refusal", rules_name))

    # -- the beginning -----------------------------------------------------------------------------------------------

    async def _first(self, names: Sequence[str]) -> str | None:
        """The first preset that it plays, if it starts and answers at all: else nothing more can be tried."""
        self._said("start")
        for name in names:
            try:
                candidate = await self._started(name)
            except _Absent:
                if self._notes.troubles.keys() & {"start", "describe", "version"}:
                    return None
                continue
            try:
                return name if await self._greet(candidate, name) else None
            finally:
                await candidate.stop()
        self._notes.bad("rules", Trouble("Describe, once for each preset", "it plays none of them"))
        return None

    async def _greet(self, candidate: Candidate, rules_name: str) -> bool:
        """See what it said of itself, and whether it answers a decision with an action."""
        said = candidate.description
        assert said is not None
        if 0 < len(said.name.strip()) <= NAME_LENGTH and said.name.isprintable():
            self._notes.good("name", text=f"{said.name} {said.version}".strip())
        else:
            self._notes.bad("name", Trouble("Describe", f"the name {said.name[: 2 * NAME_LENGTH]!r}"))
        case = next(self._cases(Game(PRESETS[rules_name])))
        answer = await candidate.try_case(case)
        if isinstance(answer, NoReply):
            self._notes.bad("answers", _trouble(rules_name, case.view, answer))
            return False
        self._notes.good("answers")
        if "capacity" in self._wanted:
            await self._open_streams(candidate, said, rules_name)
        return True

    async def _open_streams(self, candidate: Candidate, said: codec.BotDescription, rules_name: str) -> None:
        """As many streams at once as it says that it takes, each with a decision."""
        others = [self._candidate(rules_name, address=candidate.address) for _ in range(min(said.streams, STREAMS) - 1)]
        try:
            failures = await start_all({str(number): other for number, other in enumerate(others)})
            cases = list(itertools.islice(self._cases(Game(PRESETS[rules_name])), len(others)))
            answers = await asyncio.gather(*map(Candidate.try_case, others, cases)) if not failures else []
        finally:
            await asyncio.gather(*(other.stop() for other in others))
        for failure in failures.values():
            self._notes.bad("capacity", Trouble(f"{said.streams} streams at once", failure.evidence, rules_name))
        for case, answer in zip(cases, answers, strict=False):
            if not _legal(case.view, answer):
                self._notes.bad("capacity", _trouble(rules_name, case.view, answer))
        decisions = said.decisions_at_once or "any number of"
        self._notes.good("capacity", text=f"{said.streams} at once, with {decisions} decisions")

    async def _describe_otherwise(self, rules_name: str) -> None:
        """Describe as a later arena would call it, before the handshake of now."""
        if not self._wanted & {"next-major", "unknown-fields"}:
            return
        request = codec.describe_request(PRESETS[rules_name], rules_name)
        requests = (later.describe_of_next_major(request), later.describe_with_unknown_fields(request))
        candidate = self._candidate(rules_name, requests)
        try:
            failures = await start_all({rules_name: candidate})
        finally:
            await candidate.stop()
        next_major, unknown_fields = (*candidate.described, *failures.values(), None)[:2]
        if isinstance(next_major, codec.BotDescription) and next_major.plays:
            self._notes.yellow["next-major"] = f"it agrees to play by protocol {stubs.PROTOCOL_MAJOR + 1}"
        else:
            self._notes.good("next-major")
        if not (isinstance(unknown_fields, codec.BotDescription) and unknown_fields.plays):
            text = f"no: {unknown_fields.refusal}" if isinstance(unknown_fields, codec.BotDescription) else "no answer"
            self._notes.bad("unknown-fields", Trouble("Describe with fields that it does not know", text, rules_name))

    # -- what a tournament does ----------------------------------------------------------------------------------------

    async def _ordinary(self, rules_name: str, *, stream_closed: bool = False) -> None:
        """All kinds of decisions and a match to its end under one preset; the end of the stream, if that is wanted."""
        stand = _Stand(lambda: self._started(rules_name))
        try:
            await stand.ready()
            self._plays.add(rules_name)
            self._said(rules_name)
            await self._ask_all_kinds(stand, rules_name)
            if self._wanted & {"matches", *_ALONG}:
                await self._play_match(await stand.ready(), rules_name)
            if stream_closed and self._wanted & {"stream-closed", "children"}:
                await self._close_stream(await stand.ready())
        finally:
            await stand.close()
            for candidate in stand.candidates:
                self._look_at_manners(candidate)

    async def _ask_all_kinds(self, stand: _Stand, rules_name: str) -> None:
        game = Game(PRESETS[rules_name])
        each = max(LEAST_CASES, CASES // len(self._preset_names()))
        for kind, views in questions(game, Random(rules_name), each=each, deals=DEALS).items():
            for view in views if self._wanted & {kind, *_ALONG} else ():
                candidate = await stand.ready()
                if kind is Kind.BEFORE_DRAW and candidate.waives_before_draw:
                    self._notes.grey[kind] = "it waives this question"
                    break
                answer = await candidate.try_case(Case.of(game, view, next(self._numbers)))
                if not self._judge(rules_name, view, answer):
                    break

    async def _play_match(self, candidate: Candidate, rules_name: str) -> None:
        """A match against one that does anything, and then one more question: the end of a match is not the end."""
        game = Game(PRESETS[rules_name])
        rng = Random(f"{rules_name} match")
        decks: dict[int, Sequence[Card]] = defaultdict(lambda: rng.sample(game.cards, len(game.cards)))
        seat = rng.randrange(game.table.seats)
        order = MatchOrder(
            match_id=rng.randbytes(8).hex(),
            seats=tuple("candidate" if place == seat else "sparring" for place in range(game.table.seats)),
            deck_of=decks.__getitem__,
            bot_seeds=tuple(rng.randbytes(32) for _ in range(game.table.seats)),
        )
        over: asyncio.Future[MatchRecord] = asyncio.get_running_loop().create_future()
        players: dict[str, Player] = {"candidate": candidate, "sparring": Sparring(rng)}
        MatchRun(game, order, players, TIME, lambda _, record: over.set_result(record)).start()
        record = await over
        if record.status is Status.VOID:
            raise ArenaError(f"the arena failed to play a match: {record.testimony.evidence[0]}")
        await candidate.try_case(next(self._cases(game)))
        if candidate.gone is None:
            self._notes.good("matches", rules_name)
        elif rules_name not in self._blamed:
            text, _, output = candidate.gone.evidence.partition(LAST_WORDS)
            self._notes.bad("matches", Trouble("go on between decisions", text, rules_name, evidence=output))

    async def _close_stream(self, candidate: Candidate) -> None:
        await candidate.hang_up()
        if candidate.process is None:
            self._notes.good("stream-closed")
        else:
            await self._note_ending("stream-closed", "end: its stream was closed, then SIGTERM came", candidate)

    def _look_at_manners(self, candidate: Candidate) -> None:
        if candidate.dropped:
            self._notes.yellow["answers-once"] = f"{candidate.dropped} answers to no open decision, which were dropped"
        else:
            self._notes.good("answers-once")
        if candidate.spec.remote:
            return
        written = candidate.log.read_text("utf-8", "replace") if candidate.log.exists() else ""
        lines = [line for line in written.splitlines() if not line.startswith("[arena:")]
        if lines:
            self._notes.yellow["output"] = f"{len(lines)} lines, which go to its log; the last: {lines[-1][:80]}"
        else:
            self._notes.good("output")

    # -- what comes seldom ---------------------------------------------------------------------------------------------

    async def _special(self, rules_name: str) -> None:
        """Messages that are right but rare, each followed by a decision that it must answer as ever."""
        trials: Mapping[str, Trial] = {
            "many-matches": self._many_matches,
            "unasked-deal": self._unasked_deal,
            "long-history": self._long_history,
            "unknown-fields": self._unknown_fields,
            "unknown-numbers": self._unknown_numbers,
            "same-id": self._same_id,
            "withdrawn": self._withdrawn,
            "fault": self._fault,
            "full-message": self._full_message,
        }
        game = Game(PRESETS[rules_name])
        stand = _Stand(lambda: self._started(rules_name))
        try:
            for name, trial in trials.items():
                if name in self._wanted:
                    self._said(name)
                    judged = await trial(await stand.ready(), game)
                    wrong = [each for each in judged if not _legal(*each)]
                    for each in wrong[:1]:
                        await self._hold_against(name, rules_name, await stand.ready(), *each)
                    if not wrong:
                        self._notes.good(name)
        finally:
            await stand.close()

    async def _hold_against(self, name: str, rules_name: str, candidate: Candidate, view: View, answer: Answer) -> None:
        """Ask the same plainly: what is wrong even then is held against the kind of question, not against the trial.

        A question that is no plain one was itself what was tried.
        """
        case = Case.of(Game(PRESETS[rules_name]), view, next(self._numbers))
        if view.seat in view.past_seats or self._judge(rules_name, view, await candidate.try_case(case)):
            self._notes.bad(name, _trouble(rules_name, view, answer))

    def _cases(self, game: Game, deal: int = 1) -> Iterator[Case]:
        """The plainest of questions: to follow in the first trick.  Without end, each in a match of its own."""
        for played in random_deals(game, Random(next(self._numbers))):
            for view in played.views:
                if view.point is DecisionPoint.FOLLOW and view.closer is None and view.seat not in view.past_seats:
                    yield Case.of(game, view, next(self._numbers), deal)

    async def _many_matches(self, candidate: Candidate, game: Game) -> Judged:
        """The first decisions leave together, the second ones one by one as the first are answered."""
        cases = list(itertools.islice(self._cases(game), 2 * AT_ONCE))

        async def play(*both: Case) -> Judged:
            return [(case.view, await candidate.try_case(case)) for case in both]

        judged = await asyncio.gather(*map(play, cases[:AT_ONCE], cases[AT_ONCE:]))
        return list(itertools.chain.from_iterable(judged))

    async def _unasked_deal(self, candidate: Candidate, game: Game) -> Judged:
        case = next(self._cases(game, deal=2))
        candidate.tell(case.started)
        candidate.tell(_forfeited(case, game))
        return [(case.view, await candidate.decide(case))]

    async def _long_history(self, candidate: Candidate, game: Game) -> Judged:
        deals = itertools.islice(random_deals(game, Random(1)), DEALS)
        asked = [view for deal in deals for view in deal.views if view.legal & DISTINCT]
        view = max(asked, key=lambda view: len(view.past_actions))
        self._notes.texts["long-history"] = f"after {len(view.past_actions)} actions"
        return [(view, await candidate.try_case(Case.of(game, view, next(self._numbers))))]

    async def _unknown_fields(self, candidate: Candidate, game: Game) -> Judged:
        case = next(self._cases(game))
        candidate.tell(later.with_unknown_fields(case.started))
        return [(case.view, await candidate.decide(case, later.with_unknown_fields(case.decision)))]

    async def _unknown_numbers(self, candidate: Candidate, game: Game) -> Judged:
        case = next(self._cases(game, deal=2))
        candidate.tell(case.started)
        for event in (
            codec.fault(case.match_id, 0, Fault.LATE, "a check: nothing was wrong", (0,) * game.table.sides, False),
            codec.withdrawn(case.match_id, case.id - 1, codec.WithdrawnReason.LATE),
            _forfeited(case, game),
        ):
            candidate.tell(later.with_unknown_numbers(event))
        return [(case.view, await candidate.decide(case, later.with_unknown_numbers(case.decision)))]

    async def _same_id(self, candidate: Candidate, game: Game) -> Judged:
        case, control = itertools.islice(self._cases(game), 2)
        candidate.tell(case.started)
        first = await candidate.decide(case)
        candidate.tell(codec.asked_again(case.decision, BUDGET_MS))
        return [(case.view, first), (control.view, await candidate.try_case(control))]

    async def _withdrawn(self, candidate: Candidate, game: Game) -> Judged:
        case, control = itertools.islice(self._cases(game), 2)
        withdrawn = codec.withdrawn(case.match_id, case.id, codec.WithdrawnReason.LATE)
        for event in (case.started, case.decision, withdrawn, case.over):
            candidate.tell(event)
        return [(control.view, await candidate.try_case(control))]

    async def _fault(self, candidate: Candidate, game: Game) -> Judged:
        case = next(self._cases(game, deal=2))
        points = tuple(0 if side == game.side_of[case.view.seat] else 2 for side in range(game.table.sides))
        candidate.tell(case.started)
        candidate.tell(codec.fault(case.match_id, 0, Fault.ILLEGAL, "a check: nothing was wrong", points, False))
        return [(case.view, await candidate.decide(case))]

    async def _full_message(self, candidate: Candidate, game: Game) -> Judged:
        """As many events and bytes as there may be: words about faults are what can be long."""
        case = next(self._cases(game))

        def fault(size: int) -> bytes:
            return codec.fault(case.match_id, 0, Fault.ILLEGAL, "x" * size, (0,) * game.table.sides, False)

        count = stubs.MAX_ITEMS - 2
        each = (stubs.MAX_MESSAGE_BYTES - len(case.started) - len(case.decision)) // count
        candidate.tell(case.started + fault(each - (len(fault(each)) - each)) * count)
        return [(case.view, await candidate.decide(case))]

    # -- lives and ends ------------------------------------------------------------------------------------------------

    async def _ends(self, rules_name: str) -> None:
        """Two processes, one after the other: the second goes on where the first was killed, and is told to end."""
        if not self._wanted & _ENDS:
            return
        self._said("resumed")
        game = Game(PRESETS[rules_name])
        cases = list(itertools.islice(self._cases(game), REPEATED))
        case = next(self._cases(game))
        before = traces.look(self._places)
        candidate = await self._started(rules_name)
        try:
            first = [await candidate.try_case(each) for each in cases]
            between = traces.look(self._places)
            candidate.tell(case.started)
            candidate.decide(case)
            if candidate.process is not None:
                await candidate.process.stop(0)
        finally:
            await candidate.stop()
        candidate = await self._started(rules_name)
        try:
            candidate.tell(case.resumed)
            answer = await candidate.decide(case, codec.asked_again(case.decision, BUDGET_MS))
            if _legal(case.view, answer):
                self._notes.good("resumed")
            else:
                await self._hold_against("resumed", rules_name, candidate, case.view, answer)
            second = [await candidate.try_case(each) for each in cases]
            after = traces.look(self._places)
            if candidate.process is not None and candidate.gone is None:
                await self._note_ending("sigterm", "end: SIGTERM came", candidate)
        finally:
            await candidate.stop()
        self._compare(first, second)
        self._suspects = traces.changed(before, between) & traces.changed(between, after)

    def _compare(self, first: Sequence[Answer], second: Sequence[Answer]) -> None:
        differing = sum(_action(one) != _action(other) for one, other in zip(first, second, strict=True))
        if differing:
            self._notes.yellow["repeatable"] = f"{differing} of {len(first)} answers differ in a second process"
        else:
            self._notes.good("repeatable", text=f"{len(first)} answers are the same in a second process")

    async def _note_files(self) -> None:
        """Once none of its processes runs: what changes even now was written by somebody else."""
        if self._spec.remote or "files" not in self._wanted:
            return
        level = self._around.sandbox.level
        suspects = self._suspects
        if level > Level.WEAK:
            self._notes.good("files", text=f"its sandbox ({level}) lets it write nowhere else")
            return
        if suspects:
            quiet = traces.look(self._places)
            await asyncio.sleep(QUIET_S)
            suspects -= traces.changed(quiet, traces.look(self._places))
        for path in sorted(suspects):
            self._notes.bad("files", Trouble("play", f"{path} was written each time that it ran"))
        if not suspects:
            self._notes.good("files", text="nothing new beside its folder, at home or among temporary files")

    async def _note_ending(self, name: str, asked: str, candidate: Candidate) -> None:
        ending = await candidate.terminate(END_S)
        if ending.clean:
            self._notes.good(name)
        else:
            how = (
                f"it did not end in {END_S:.0f} s" if ending.status is None else f"it ended with status {ending.status}"
            )
            output = "" if candidate.process is None else candidate.process.stderr_tail(EVIDENCE_LINES)
            self._notes.bad(name, Trouble(asked, how, evidence=output))
        for command in ending.left:
            self._notes.bad("children", Trouble(asked, f"it left a process running: {command}"))
        if not ending.left:
            self._notes.good("children")

    # -- judging -------------------------------------------------------------------------------------------------------

    def _judge(self, rules_name: str, view: View, answer: Answer) -> bool:
        """Note an answer with the kind of its question, or with the action that is not legal there."""
        kind: str = kind_of(view)
        if _legal(view, answer):
            self._slowest_ms = max(self._slowest_ms, answer.took_ms)
            self._notes.good(kind, rules_name)
            self._notes.good("in-time")
            return True
        match answer:
            case Reply(action):
                kind = _BLAMED.get(action, kind)
            case NoReply(whole_match=True):  # it was gone before
                return False
            case NoReply(Fault.LATE | Fault.HUNG):
                kind = "in-time"
        self._notes.bad(kind, _trouble(rules_name, view, answer))
        return False

    def _sum_up(self) -> None:
        """What follows from all of it, and why the rest was not tried."""
        self._notes.texts["in-time"] = f"{self._notes.held('in-time')} decisions"
        used = f"{self._slowest_ms:.0f} ms of {TIME.limit_ms} at the slowest decision"
        if self._slowest_ms > SLOW * TIME.limit_ms:
            self._notes.yellow["time-use"] = used
        elif self._slowest_ms:
            self._notes.good("time-use", text=used)
        self._notes.good("rules", text=f"{len(self._plays)} presets" if len(self._plays) > 1 else "1 preset")
        for kind in Kind:
            self._notes.grey.setdefault(kind, "no such question came up under its rules")
        if self._spec.remote:
            for name in ("sigterm", "children", "output", "files"):
                self._notes.grey[name] = "it runs elsewhere"


class _Stand:
    """A process that is asked one thing after another; one that died is replaced, but not for ever."""

    def __init__(self, start: Callable[[], Awaitable[Candidate]]) -> None:
        self.candidates: list[Candidate] = []
        """All so far; the last is the one that lives."""
        self._start = start

    async def ready(self) -> Candidate:
        """One that lives.  Raises `_Absent`."""
        if not self.candidates or self.candidates[-1].gone is not None:
            if len(self.candidates) == LIVES:
                raise _Absent
            await self.close()
            self.candidates.append(await self._start())
        return self.candidates[-1]

    async def close(self) -> None:
        if self.candidates:
            await self.candidates[-1].stop()


class _Notes:
    """What was found so far, by the name of the check."""

    def __init__(self) -> None:
        self.troubles: dict[str, list[Trouble]] = {}
        self.yellow: dict[str, str] = {}
        self.grey: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        """What is said where all is well, instead of a count."""
        self._held: Counter[str] = Counter()
        self._under: defaultdict[str, set[str]] = defaultdict(set)

    def good(self, name: str, rules_name: str = "", text: str = "") -> None:
        """It held once (under that preset)."""
        self._held[name] += 1
        if rules_name:
            self._under[name].add(rules_name)
        if text:
            self.texts[name] = text

    def bad(self, name: str, trouble: Trouble) -> None:
        """It did not hold."""
        self.troubles.setdefault(name, []).append(trouble)

    def finding(self, check: Check) -> Finding:
        """What came of the check."""
        name = check.name
        if troubles := self.troubles.get(name):
            under = {trouble.rules_name for trouble in troubles} - {""}
            text = f"failed {_times(len(troubles))}{_under(under)}"
            return Finding(check, Colour.RED, text, tuple(troubles[:SHOWN]))
        if name in self.yellow:
            return Finding(check, Colour.YELLOW, self.yellow[name])
        if self._held[name]:
            under = self._under[name]
            text = f"{_times(self._held[name])}{_under(under)}" if under else ""
            return Finding(check, Colour.GREEN, self.texts.get(name, text))
        return Finding(check, Colour.GREY, self.grey.get(name, NOT_TRIED))

    def held(self, name: str) -> int:
        """How often it held."""
        return self._held[name]


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _under(names: Collection[str]) -> str:
    match len(names):
        case 0:
            return ""
        case 1:
            return f" ({next(iter(names))})"
        case count:
            return f" ({count} presets)"


def _legal(view: View, answer: Answer) -> bool:
    return isinstance(answer, Reply) and answer.action > 0 and bool(view.legal >> answer.action & 1)


def _action(answer: Answer) -> int:
    return answer.action if isinstance(answer, Reply) else 0


def _trouble(rules_name: str, view: View, answer: Answer) -> Trouble:
    """A question that was not answered as it should be."""
    match answer:
        case Reply(action):
            answered, output = action_name(action), ""
        case NoReply(fault, _, evidence):
            text, _, output = evidence.partition(LAST_WORDS)
            lines = text.strip().splitlines() or [""]
            if fault is Fault.ERROR and len(lines) > 1:  # the bot's own text: of an exception, the last line sums it up
                output = text
            answered = f"{fault.label}: {lines[-1]}" if lines[-1] else fault.label
    point = view.point.name if view.point is not None else ""
    return Trouble(
        asked=f"{point}: one of {' '.join(map(str, actions_of(view.legal)))}",
        answered=answered,
        rules_name=rules_name,
        view=view,
        position=position_text(Game(PRESETS[rules_name]), view, Random(1)),
        evidence=output.strip(),
    )


def _forfeited(case: Case, game: Game) -> bytes:
    """The framed end of a first deal that another seat lost by a fault before anything was played."""
    mine = game.side_of[case.view.seat]
    points = tuple(2 if side == mine else 0 for side in range(game.table.sides))
    zeros = (0,) * game.table.sides
    outcome = Outcome(Termination.FORFEIT, points, zeros, case.view.leader)
    return codec.deal_ended(
        case.match_id, 1, outcome, added=points, score=case.view.score, new_actions=b"", new_seats=b""
    )
