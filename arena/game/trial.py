"""One deal as questions, for trying what answers them: no referee, no score, no clock."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import NamedTuple

from arena.game.game import Game
from arena.game.position import format_position, position_of
from arena.game.scoring import Outcome
from arena.game.views import View


class Question(NamedTuple):
    """A seat is asked."""

    view: View
    position: str
    """The whole deal with all cards, as `parse_position` reads it."""


class Finished(NamedTuple):
    """A deal is over."""

    outcome: Outcome
    past_seats: bytes
    past_actions: bytes


def questions(game: Game, deck: Sequence[int], dealer: int) -> Generator[Question, int, Finished]:
    """Deal, ask every question in turn, and be sent its answer.  Raises `IllegalAction` for one that is not legal."""
    deal = game.deal(deck, dealer)
    while deal.to_act is not None:
        deal.apply((yield Question(deal.view(deal.to_act), format_position(game, position_of(deal)))))
    assert deal.outcome is not None
    return Finished(deal.outcome, deal.past_seats, deal.past_actions)
