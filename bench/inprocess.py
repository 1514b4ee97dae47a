"""An engine without processes: players inside the arena, through the real referee, writer and store.

So what a match costs the arena itself can be measured over a hundred thousand of them.  Players are of all strengths,
and their answers take as long, by chance, as those of bots do: rows are as large as real ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

from arena.app import participants
from arena.app.data import Archive
from arena.app.epochs import grow
from arena.app.runs import RunOptions, create_run
from arena.app.schedules import blocks_of, schedules_of
from arena.app.writer import Writer
from arena.bots.sandbox import Level
from arena.cards import CLAIM, CLOSE, actions_of
from arena.game.game import Game
from arena.match.clock import Split
from arena.match.record import MatchRecord
from arena.match.referee import Ask, Reply, referee
from arena.store import State, open_store
from arena.tournament import decks
from arena.tournament.config import TournamentConfig
from arena.tournament.quarantine import Quarantine
from arena.tournament.runner import Played, Runner, Task, open_tasks
from arena.tournament.standings import Totals

NAME = "scale"
"""Of the run, of its file, and its seed."""
JOBS = 8
"""Blocks at a time: what becomes durable together is of several."""
TOOK_MS = [Random(NAME).lognormvariate(-1.6, 0.9) for _ in range(4096)]
"""What answers take, over and over: 0.2 ms at the median, as those of the sample bots."""

ENOUGH = 66
"""Points that a claim is right with."""


class InProcess:
    """Plays tasks: an `Engine`.  Nothing is awaited within a match."""

    def __init__(self, config: TournamentConfig, secret: bytes) -> None:
        self._config = config
        self._secret = secret
        self._game = Game(config.rules)

    async def play(self, task: Task, report: Callable[[Played], None]) -> None:
        """Play the task's matches one after the other."""
        block = task.block
        for position, key in task.keys:
            decks_of = decks.list_id(key.pairing, key.leg, key.number, block.mirrored)
            chance = Random(decks.match_id(self._secret, key))
            record = self._match(decks_of, block.seats, chance)
            report(Played(position, key, block.seats, block.mirrored, record, task.attempt))
            await asyncio.sleep(0)

    def _match(self, decks_of: str, seats: Sequence[str], chance: Random) -> MatchRecord:
        game = self._game
        match = referee(game, lambda number: decks.deck(self._secret, decks_of, number, game.cards), self._config.clock)
        skill = [int(name[1:]) % 10 for name in seats]
        random, start = chance.random, chance.randrange(len(TOOK_MS))
        answered = 0
        answer: Reply | None = None
        try:
            while True:
                request = match.send(answer)
                answer = None
                if isinstance(request, Ask):
                    answered += 1
                    took_ms = TOOK_MS[(start + answered) % len(TOOK_MS)]
                    won = request.view.points[game.side_of[request.seat]] >= ENOUGH
                    legal = actions_of(request.view.legal & ~(1 << CLOSE if won else 1 << CLOSE | 1 << CLAIM))
                    skilled = random() * 10 < skill[request.seat]
                    action = max(legal) if skilled else legal[int(random() * len(legal))]
                    took_us = round(took_ms * 1000)
                    answer = Reply(action, took_ms, took_us // 2, Split(60, took_us, 0, took_us // 2))
        except StopIteration as end:
            record: MatchRecord = end.value
            return record


def write_config(folder: Path, bots: int, pairs: int, block: int = 32) -> Path:
    """A tournament's file with so many participants; to an arena that goes on with it they are the bot `random`."""
    path = folder / f"{NAME}.toml"
    entries = "".join(f'[[bots]]\nbot = "random"\nname = "b{number:03}"\n' for number in range(bots))
    path.write_text(f"pairs = {pairs}\nblock = {block}\ntrust_bots = true\nrated = false\n{entries}")
    return path


def play(config: Path, matches: int) -> int:
    """Begin the run `NAME` in the folder of its file, and play the first blocks of its schedule.

    They have `matches` or a few more; returns how many.
    """

    async def play_on() -> int:
        with begun(config) as run:
            return await run.play(matches)

    return asyncio.run(play_on())


class Begun:
    """A run that was begun, and may be played on."""

    def __init__(self, tasks: Iterator[Task], engine: InProcess, writer: Writer) -> None:
        self._tasks = tasks
        self._engine = engine
        self._writer = writer

    async def play(self, matches: int) -> int:
        """Play the next blocks, with so many matches or a few more; returns how many once all are durable."""
        tasks: list[Task] = []
        left = matches
        while left > 0 and (task := next(self._tasks, None)) is not None:
            tasks.append(task)
            left -= len(task.keys)
        await Runner(iter(tasks), self._engine, self._writer.record, jobs=JOBS).run()
        return matches - left


@contextmanager
def begun(config: Path) -> Iterator[Begun]:
    """The run `NAME` in the folder of its file, begun on the running event loop."""
    options = RunOptions(config=config, archive=Archive(config.parent), name=NAME, seed=NAME)
    loaded = options.load()
    specs = participants.of_config(loaded)
    with open_store(options.archive.store) as store:
        tournament = create_run(store, NAME, options, loaded, specs, Level.WEAK)
        with store.lock(tournament):
            grow(store, tournament, loaded, specs, Level.WEAK)
            schedules = schedules_of(store.epochs(tournament))
            quarantine = Quarantine(blocks_of(schedules), store.absences(tournament))
            tasks = open_tasks(blocks_of(schedules), store.stored(tournament), lambda *match: False)
            engine = InProcess(loaded, store.secret_of(tournament, 0))
            with Writer(store, tournament, loaded.rules, quarantine, Totals(), lambda *_: None) as writer:
                yield Begun(tasks, engine, writer)
        store.set_state(tournament, State.INTERRUPTED)
