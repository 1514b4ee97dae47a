"""What a bot would do now at a decision of a stored match, and how it plays on from there.

Nothing is stored, nothing counts.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from arena.app import participants
from arena.app.engines.local import LocalEngine, Setting, local_engine
from arena.app.replay import Stored, replay_of
from arena.app.sandboxes import chosen
from arena.bots.driver import MatchOrder
from arena.cards import ACTIONS
from arena.errors import ArenaError
from arena.game.game import Game
from arena.game.views import View
from arena.match.clock import TimeControl
from arena.match.record import Status, open_deal
from arena.match.referee import Opening, Reply
from arena.reports.replay.model import Advice, DealReplay, MatchReplay
from arena.tournament.config import LeastSandbox

MARKER = "arena-replay"
START_S = 10.0


@dataclass(frozen=True, slots=True)
class Moment:
    """A decision of a match."""

    match: Stored
    replay: MatchReplay
    deal: DealReplay
    step: int
    """From 1; not the end of the deal."""

    @property
    def view(self) -> View:
        """What the seat saw that was asked."""
        view = self.deal.open.scenes[self.step - 1].asked
        assert view is not None, "nobody is asked at the end of a deal"
        return view


async def ask_again(moment: Moment, bot: str, *, timed: bool = True) -> Advice:
    """What a bot would do at a decision: asked as it was, with the same view, bot seed and time that is left.

    Raises `UsageError`: the bot does not start.
    """
    async with _engine(moment.match, (bot,), timed) as (engine, (name,), logs):
        answer, ruled = await engine.consult(_order(engine, moment, moment.replay.seats), name, _opening(moment))
        return Advice(
            bot=name,
            action=ACTIONS[answer.action] if isinstance(answer, Reply) and ruled is None else None,
            took_ms=answer.took_ms,
            fault="" if ruled is None else ruled.fault.label,
            evidence="" if ruled is None else ruled.text,
            output=_written(logs),
        )


async def play_on(moment: Moment, bot: str, against: str | None, *, timed: bool = True) -> MatchReplay:
    """The deal with another end: from the decision on the bot plays the side that was asked, `against` the others.

    Without `against` the bot plays every side.  The replay holds this deal alone.  Raises as `ask_again`.
    """
    match, replay, deal = moment.match, moment.replay, moment.deal
    side = replay.table.members[replay.table.side_of[moment.view.seat]]
    words = (bot,) if against is None else (bot, against)
    async with _engine(match, words, timed) as (engine, names, _):
        seats = tuple(names[0] if seat in side else names[-1] for seat in range(replay.table.seats))
        order = _order(engine, moment, seats)
        record = await engine.play_one(order, seats, None, _opening(moment))
    if record.status is Status.VOID:
        raise ArenaError(f"the arena failed to play on: {' '.join(record.testimony.evidence)}")
    number = deal.open.number
    faulty = record.faults[0].seat if record.faults else None
    opened = open_deal(Game(match.rules), order.deck_of(number), number, moment.view, record.deals[0], faulty)
    return replay_of(match, replace(match.result, seats=seats, record=record), [opened], begun=moment.step - 1)


def _opening(moment: Moment) -> Opening:
    view = moment.view
    spent_ms = tuple(tuple(_spent_ms(moment, seat)) for seat in range(len(moment.replay.seats)))
    return Opening(moment.deal.open.number, view.dealer, view.score, view.carry, view.past_actions, spent_ms)


def _spent_ms(moment: Moment, seat: int) -> Iterator[float]:
    """What the decisions of a seat before that moment were charged."""
    for deal in moment.replay.deals:
        times = deal.times[: moment.step - 1] if deal is moment.deal else deal.times
        yield from (time.spent.took_us / 1000 for time in times if time is not None and time.seat == seat)
        if deal is moment.deal:
            return


def _order(engine: LocalEngine, moment: Moment, seats: tuple[str, ...]) -> MatchOrder:
    return engine.order(moment.match.result.key, seats, moment.match.result.mirrored)


def _written(logs: Path) -> str:
    """All that a bot wrote."""
    return "".join(log.read_text(encoding="utf-8", errors="backslashreplace") for log in logs.glob("*.log"))


@asynccontextmanager
async def _engine(
    match: Stored, words: tuple[str, ...], timed: bool
) -> AsyncIterator[tuple[LocalEngine, tuple[str, ...], Path]]:
    """An engine for these bots under the rules of the match; with their names, and where their output goes."""
    specs = participants.of_words(words)
    sandbox = await asyncio.to_thread(chosen, LeastSandbox.AUTO, "arena replay", specs, None)
    time = match.time if timed else TimeControl(limit_ms=0)
    setting = Setting(match.rules, match.rules_name, time, START_S, sandbox=sandbox)
    with tempfile.TemporaryDirectory(prefix="arena-replay-") as logs:
        async with local_engine(setting, specs, {match.result.key.epoch: match.secret}, MARKER, Path(logs)) as engine:
            yield engine, tuple(specs), Path(logs)
