"""A bot is examined: started, asked and ended as in a tournament, and asked what tournaments ask seldom.

Every answer is judged where it comes, whatever was being tried; what one check broke is started anew for the next.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from arena.bots.bot import EVIDENCE_LINES, BotFailed, Surroundings, start_all
from arena.bots.build import BuildError
from arena.bots.check import traces
from arena.bots.check.candidate import BUDGET_MS, TIME, Answer, Candidate, Cases, Sparring
from arena.bots.check.checks import BY_NAME, CHECKS, Examination, Trouble
from arena.bots.check.notes import Notes, legal, times, trouble_of
from arena.bots.check.trials import TRIALS
from arena.bots.driver import MatchOrder, MatchRun, Player
from arena.bots.manifest import NAME_LENGTH, BotSpec
from arena.bots.sandbox import Level
from arena.cards import CLAIM, CLOSE, DECLARE, EXCHANGE, Card
from arena.errors import ArenaError
from arena.game.presets import PRESETS
from arena.game.questions import Kind, kind_of, questions
from arena.game.table import Table
from arena.game.views import View
from arena.match.record import MatchRecord, Status
from arena.match.referee import LAST_WORDS, NoReply, Reply
from arena.match.rulings import Fault
from arena.wire import codec, later, stubs

CASES = 24
"""Questions of each kind, over all presets; but of each preset at least ..."""
LEAST_CASES = 3
DEALS = 200
"""They are looked for in so many random deals of a preset."""
REPEATED = 12
LIVES = 3
"""A process that dies is started anew until it has died this often, for the rest of what is asked under a preset."""
STREAMS = 4
"""More are not tried, however many it says."""
END_S = 10.0
"""A tournament waits for half a second, and then kills; here nothing is to depend on how busy the machine is."""
QUIET_S = 0.3
"""How long is looked whether a file changes while the bot does not run."""
PATIENCE_MS = 20_000
"""A bot that has thought for longer than this plays no more matches, and gets one question of each kind."""
MOST_LATE = 5
"""A bot that was late this often is asked no more: it would take for ever."""
SLOW = 0.5
"""The part of the limit, and of the time to start, that its author may want to know of."""

_BLAMED: Mapping[int, Kind] = {
    CLAIM: Kind.CLAIM,
    CLOSE: Kind.CLOSE,
    EXCHANGE: Kind.EXCHANGE,
    **dict.fromkeys(DECLARE[1:], Kind.MARRIAGE),
}
"""What an action that is not legal is held against, where it plays no card."""

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
        self._names = [name for name in spec.rules if name in PRESETS] or list(PRESETS)
        """The presets that it may play."""
        self._notes = Notes()
        self._processes = itertools.count(1)
        self._plays: set[str] = set()
        self._gate = asyncio.Semaphore(1 if spec.remote else os.cpu_count() or 1)
        """How many processes are asked at a time."""
        self._blamed: set[str] = set()
        """The presets under which it committed a fault in a match."""
        self._places = traces.places(spec.cwd)
        self._suspects: frozenset[str] = frozenset()
        """Files that were written there each time that it ran."""
        self._slowest_ms = 0.0
        self._thought_ms = 0.0
        self._late = 0
        self._wrong_claims = 0

    async def run(self) -> Examination:
        """All that is wanted, and whatever else is found to be wrong.

        Raises `UsageError` where the machine starts no more processes, and `ArenaError` where the arena itself fails.
        """
        for name in self._spec.rules:
            if name not in PRESETS:
                self._notes.bad("rules", Trouble("rules in its bot.toml", f"no preset is called {name}"))
        names = self._names
        if await self._is_built() and (first := await self._first(names)):
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

    @property
    def _patient(self) -> bool:
        return self._thought_ms < PATIENCE_MS

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
            logs=self._around.logs / str(next(self._processes)),
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

    async def _is_built(self) -> bool:
        builds = self._around.builds
        if builds is not None:
            try:
                self._spec = await builds.built(self._spec)
            except BuildError as error:
                text, _, output = str(error).partition("\n")
                self._notes.bad("build", Trouble(" ".join(self._spec.build), text, evidence=output))
                return False
        self._notes.good("build")
        return True

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
        case = next(Cases(rules_name).plain())
        answer = await candidate.try_case(case)
        if isinstance(answer, NoReply):
            self._notes.bad("answers", trouble_of(rules_name, case.view, answer))
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
            cases = list(itertools.islice(Cases(rules_name).plain(), len(others)))
            answers = await asyncio.gather(*map(Candidate.try_case, others, cases)) if not failures else []
        finally:
            await asyncio.gather(*(other.stop() for other in others))
        for failure in failures.values():
            self._notes.bad("capacity", Trouble(f"{said.streams} streams at once", failure.evidence, rules_name))
        for case, answer in zip(cases, answers, strict=False):
            if not legal(case.view, answer):
                self._notes.bad("capacity", trouble_of(rules_name, case.view, answer))
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
            cases = Cases(rules_name)
            await self._ask_all_kinds(stand, cases)
            if self._wanted & {"matches", *_ALONG} and self._patient:
                await self._play_match(await stand.ready(), cases)
            if stream_closed and self._wanted & {"stream-closed", "children"}:
                await self._close_stream(await stand.ready())
        finally:
            await stand.close()
            for candidate in stand.candidates:
                self._look_at_manners(candidate)

    async def _ask_all_kinds(self, stand: _Stand, cases: Cases) -> None:
        each = max(LEAST_CASES, CASES // len(self._names))
        for kind, views in questions(cases.game, Random(cases.rules_name), each=each, deals=DEALS).items():
            for view in views[: each if self._patient else 1] if self._wanted & {kind, *_ALONG} else ():
                if self._late >= MOST_LATE:
                    raise _Absent
                candidate = await stand.ready()
                if kind is Kind.BEFORE_DRAW and candidate.waives_before_draw:
                    self._notes.grey[kind] = "it waives this question"
                    break
                if not self._judge(cases.rules_name, view, await candidate.try_case(cases.of(view))):
                    break

    async def _play_match(self, candidate: Candidate, cases: Cases) -> None:
        """A match against one that does anything, and then one more question: the end of a match is not the end."""
        game, rules_name = cases.game, cases.rules_name
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
        await candidate.try_case(next(cases.plain()))
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
        """What tournaments send seldom."""
        cases = Cases(rules_name)
        stand = _Stand(lambda: self._started(rules_name))
        try:
            for name, trial in TRIALS.items():
                if name in self._wanted:
                    self._said(name)
                    judged = await trial(await stand.ready(), cases)
                    wrong = [each for each in judged if not legal(*each)]
                    for each in wrong[:1]:
                        await self._hold_against(name, cases, await stand.ready(), *each)
                    if not wrong:
                        self._notes.good(name)
        finally:
            await stand.close()

    async def _hold_against(self, name: str, cases: Cases, candidate: Candidate, view: View, answer: Answer) -> None:
        """Ask the same plainly: what is wrong even then is held against the kind of question, not against the trial.

        A question that is no plain one was itself what was tried.
        """
        plain = view.seat not in view.past_seats
        if not plain or self._judge(cases.rules_name, view, await candidate.try_case(cases.of(view))):
            self._notes.bad(name, trouble_of(cases.rules_name, view, answer))

    # -- lives and ends ------------------------------------------------------------------------------------------------

    async def _ends(self, rules_name: str) -> None:
        """Two processes, one after the other: the second goes on where the first was killed, and is told to end."""
        if not self._wanted & _ENDS:
            return
        self._said("resumed")
        cases = Cases(rules_name)
        repeated = list(itertools.islice(cases.plain(), REPEATED))
        case = next(cases.plain())
        before = traces.look(self._places)
        candidate = await self._started(rules_name)
        try:
            first = [await candidate.try_case(each) for each in repeated]
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
            if legal(case.view, answer):
                self._notes.good("resumed")
            else:
                await self._hold_against("resumed", cases, candidate, case.view, answer)
            second = [await candidate.try_case(each) for each in repeated]
            after = traces.look(self._places)
            if candidate.process is not None and candidate.gone is None:
                await self._note_ending("sigterm", "end: SIGTERM came", candidate)
        finally:
            await candidate.stop()
        self._compare(first, second)
        self._suspects = traces.changed(before, between) & traces.changed(between, after)

    def _compare(self, first: Sequence[Answer], second: Sequence[Answer]) -> None:
        both = ([answer.action if isinstance(answer, Reply) else 0 for answer in life] for life in (first, second))
        differing = sum(one != other for one, other in zip(*both, strict=True))
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
            if Path(path).parent in traces.SHARED:
                self._notes.yellow["files"] = f"{path} changed each time that it ran, maybe by others"
            else:
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
        if isinstance(answer, Reply) and legal(view, answer):
            if answer.action == CLAIM and not _has_target(rules_name, view):
                self._wrong_claims += 1
            self._slowest_ms = max(self._slowest_ms, answer.took_ms)
            self._thought_ms += answer.took_ms
            self._notes.good(kind, rules_name)
            self._notes.good("in-time")
            return True
        match answer:
            case Reply(action):
                kind = _BLAMED.get(action, kind)
            case NoReply(whole_match=True):  # it was gone before
                return False
            case NoReply(Fault.LATE | Fault.HUNG):
                self._notes.grey[kind] = "it was late"
                kind = "in-time"
                self._late += 1
        self._notes.bad(kind, trouble_of(rules_name, view, answer))
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
        if self._wrong_claims:
            self._notes.yellow[Kind.CLAIM] = f"{times(self._wrong_claims)} it claimed without the points for it"
        reason = "it was late too often to be asked" if self._late >= MOST_LATE else "no such question came up"
        for kind in Kind:
            self._notes.grey.setdefault(kind, reason)
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


def _has_target(rules_name: str, view: View) -> bool:
    """Whether a claim is right."""
    rules = PRESETS[rules_name]
    return view.points[Table.of(rules).side_of[view.seat]] >= rules.target
