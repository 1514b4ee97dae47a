"""Endgames judged exactly: what each decision gave away, where the bot itself could work out all hands.

That is so between two seats once the talon is drawn to the end.  After a close cards stay hidden from the bot, and a
choice that turns out badly may have been the best; such decisions, those with a single legal action, and faults are
not judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.cards import Action
from arena.game.game import Game
from arena.game.rules import Rules
from arena.game.sample import view_is_open
from arena.game.scoring import Termination
from arena.game.solve import solve_view
from arena.match.record import DealRecord, replay_deal

VERSION = 1
"""Of what is judged and of the solver: what another version has judged is judged again."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One decision and what every legal action was worth."""

    decision: int
    """How many actions of the deal came before it."""
    action: Action
    """What the seat did."""
    values: Mapping[Action, int]
    """By legal action, ascending: what the deal then adds to the seat's match score less what it adds to the other's,
    if both go on playing their best."""

    def to_json(self) -> dict[str, Any]:
        """Plain values for the store."""
        return {
            "decision": self.decision,
            "action": str(self.action),
            "values": {str(action): value for action, value in self.values.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Judged:
        """The inverse of `to_json`."""
        values = {Action.parse(action): value for action, value in data["values"].items()}
        return cls(data["decision"], Action.parse(data["action"]), dict(sorted(values.items())))

    @property
    def given_away(self) -> int:
        """Game points less than the best action was worth; 0 where it was one of the best."""
        return max(self.values.values()) - self.values[self.action]


def can_be_judged(rules: Rules) -> bool:
    """Whether deals are between two seats, so that a bot can ever work out all hands."""
    return rules.active_seats == 2


def judge(game: Game, deck: Sequence[int], number: int, deal: DealRecord, seat: int) -> tuple[Judged, ...] | None:
    """The decisions of a seat in the deal of that number that can be judged, in order; None where the seat sat out.

    Raises `RecordError` naming the number where the record is none of a deal from this deck.
    """
    if seat not in dict(game.table.roles(deal.dealer)):
        return None
    faulty = deal.seat if deal.termination is Termination.FORFEIT else None
    none = (0,) * game.table.sides
    return tuple(
        Judged(len(step.view.past_actions), step.action, dict(sorted(values.items())))
        for step in replay_deal(game, deck, number, none, 0, deal.dealer, deal.actions, faulty)
        if step.seat == seat
        and step.action is not None
        and step.view.legal.bit_count() > 1
        and view_is_open(game, step.view)
        and (values := solve_view(game, step.view, all_actions=True).values)
    )
