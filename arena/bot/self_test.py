"""A bot plays against itself in its own process, a few deals under each preset, until something goes wrong."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from arena.bot.player import Player
from arena.cards import ACTION_NAMES, GO_ON, actions_of
from arena.game.game import Game
from arena.game.presets import PRESETS, preset
from arena.game.rules import Rules
from arena.game.trial import Finished, Question, questions
from arena.game.views import DecisionPoint
from arena.wire import codec

DEALS = 8
"""Under each preset, the seats dealing in turn ..."""
ENOUGH_S = 3.0
"""... but no further one after so long: nobody waits minutes for a bot that thinks long."""
LIMIT_MS, BANK_MS = 1000, 10_000
"""As in a tournament by default."""


class _Wrong(Exception):
    """What went wrong, and where."""


class _Tried(NamedTuple):
    deals: int
    decisions: int
    slowest_ms: float


def self_test(player: Player, names: Sequence[str], write: Callable[[str], object]) -> bool:
    """Try the presets that are named, or all; returns whether nothing went wrong in any that the bot plays.

    Stops at the first thing that goes wrong, and writes what the bot was asked.  Raises `UsageError` for unknown names.
    """
    player.logs_errors = False  # they are written here
    wanted = {name: preset(name) for name in names} if names else PRESETS
    refused = []
    for name, rules in wanted.items():
        bot = codec.describe_response(player.describe(codec.describe_request(rules, name)))
        if not bot.plays:
            refused.append(f"{name}: {bot.refusal}")
            continue
        try:
            tried = _try(player, name, rules, waives=bot.waives_before_draw)
        except _Wrong as wrong:
            write(f"{name:<18}{wrong}\n")
            return False
        slow = f", which is over the {LIMIT_MS} ms of a decision" if tried.slowest_ms > LIMIT_MS else ""
        write(
            f"{name:<18}{tried.deals} deals, {tried.decisions} decisions, the slowest {tried.slowest_ms:.1f} ms{slow}\n"
        )
    for refusal in refused:
        write(f"not played  {refusal}\n")
    return len(refused) < len(wanted)


def _try(player: Player, name: str, rules: Rules, *, waives: bool) -> _Tried:
    """A few deals under these rules.  Raises `_Wrong`."""
    game = Game(rules)
    began = time.monotonic()
    decisions, slowest_ms = 0, 0.0
    for number in range(DEALS):
        deck = list(game.cards)
        random.Random(f"{name} {number}").shuffle(deck)
        asking = questions(game, deck, number % game.table.seats)
        table = _Seats(player, game, f"{name}-{number}")
        question: Question | Finished = next(asking)
        while isinstance(question, Question):
            if waives and question.view.point is DecisionPoint.BEFORE_DRAW:
                action = int(GO_ON)
            else:
                start = time.perf_counter()
                action = table.ask(question, decisions)
                slowest_ms = max(slowest_ms, (time.perf_counter() - start) * 1000)
                decisions += 1
            try:
                question = asking.send(action)
            except StopIteration as end:
                question = end.value
        table.end(question)
        if time.monotonic() - began > ENOUGH_S:
            break
    return _Tried(number + 1, decisions, slowest_ms)


class _Seats:
    """All seats of one deal, each of which is a match to the player."""

    def __init__(self, player: Player, game: Game, name: str) -> None:
        self._player = player
        self._matches = [f"{name}-{seat}" for seat in range(game.table.seats)]
        self._seen = [0] * game.table.seats
        for seat, match in enumerate(self._matches):
            seed = random.Random(match).randbytes(32)
            player.take_framed(codec.match_started(match, seat, game.side_of, seed, LIMIT_MS, BANK_MS))

    def ask(self, question: Question, id: int) -> int:
        """The answer.  Raises `_Wrong` if it is none, or not legal."""
        view = question.view
        self._seen[view.seat] = len(view.past_actions)
        item = codec.decision(
            view,
            match_id=self._matches[view.seat],
            id=id,
            deal=1,
            time_left_ms=LIMIT_MS + BANK_MS,
            last_took_ms=0,
        )
        (answer,) = codec.answers(self._player.take_framed(item))
        legal = " ".join(map(str, actions_of(view.legal)))
        if answer.error:
            wrong = f"it failed:\n{answer.error}"
        elif not view.legal >> answer.action & 1:
            wrong = f"it answered {ACTION_NAMES[answer.action]}, which is not legal"
        else:
            return answer.action
        raise _Wrong(f"{wrong}\nit was asked for one of {legal} in this position (see View.at):\n{question.position}")

    def end(self, finished: Finished) -> None:
        """Tell every seat."""
        outcome, seats, actions = finished
        sides = outcome.points
        ranks = [1 + sum(other > points for other in sides) for points in sides]
        for match, seen in zip(self._matches, self._seen, strict=True):
            self._player.take_framed(
                codec.deal_ended(
                    match,
                    1,
                    outcome,
                    added=sides,
                    score=sides,
                    new_actions=actions[seen:],
                    new_seats=seats[seen:],
                )
            )
            self._player.take_framed(codec.match_ended(match, sides, ranks))
