"""Matches of every preset to be looked at, played by the real referee without bot processes."""

from __future__ import annotations

import random
from functools import cache

from arena.cards import CLAIM
from arena.game.game import Game
from arena.match.clock import TimeControl
from arena.match.record import MatchRecord, replay_open
from arena.match.referee import Ask, NoReply, Reply, referee
from arena.match.rulings import Fault
from arena.match.summary import MatchKey
from arena.reports.replay.model import DealReplay, MatchReplay
from tests.game.tables import GAMES

FAULTS = 0.01
"""How many of the answers are faults."""


@cache
def replay_of(preset: str, seed: int = 0) -> tuple[MatchRecord, MatchReplay]:
    """A match of this preset: its record and its replay.  Actions are random, claims mostly right, faults rare."""
    game, rng = GAMES[preset], random.Random(f"{preset} {seed}")
    decks = {number: rng.sample(game.cards, len(game.cards)) for number in range(1, 101)}
    record = _refereed(game, decks, rng)
    seats = tuple(f"bot {seat}" for seat in range(game.table.seats))
    deals = tuple(
        DealReplay(deal, (None,) * (len(deal.scenes) - 1), *_fault(record, deal.number))
        for deal in replay_open(game, decks.__getitem__, record)
    )
    key = MatchKey(0, seats, 0, seed)
    status, points, ranks = record.status, record.points, record.ranks
    return record, MatchReplay("cup", key, 3, preset, game.rules, seats, status, points, ranks, deals)


def _refereed(game: Game, decks: dict[int, list[int]], rng: random.Random) -> MatchRecord:
    match = referee(game, decks.__getitem__, TimeControl())
    request = next(match)
    while True:
        try:
            request = match.send(_answer(game, request, rng) if isinstance(request, Ask) else None)
        except StopIteration as end:
            record: MatchRecord = end.value
            return record


def _answer(game: Game, ask: Ask, rng: random.Random) -> Reply | NoReply:
    if rng.random() < FAULTS:
        return NoReply(Fault.ERROR, 1.0, "ValueError: no idea")
    legal = [action for action in range(41) if ask.view.legal >> action & 1]
    right = ask.view.points[game.table.side_of[ask.seat]] >= game.rules.target
    sensible = [action for action in legal if action != CLAIM or right or rng.random() < 0.1]
    return Reply(rng.choice(sensible or legal), 1.0)


def _fault(record: MatchRecord, deal: int) -> tuple[str, str]:
    for fault, evidence in zip(record.faults, record.testimony.evidence, strict=True):
        if fault.deal == deal:
            return fault.fault.label, evidence
    return "", ""
