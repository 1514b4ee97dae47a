"""What a seat may not know changes no byte of what is sent to it."""

from __future__ import annotations

import random

import pytest

from arena.cards import hand_bytes
from arena.game.deal import Deal
from arena.game.presets import PRESETS
from arena.wire import codec
from tests.game.tables import GAMES
from tests.game.test_secrecy import compare

WORLDS = 300
"""Rounds for each preset: two pairs of worlds a seat in each."""


def sent(deal: Deal, seat: int) -> tuple[bytes, ...]:
    """All that the seat is sent about the deal as it stands: a question, or its end."""
    if deal.outcome is not None:
        return (
            codec.deal_ended(
                "0123456789abcdef",
                1,
                deal.outcome,
                added=deal.outcome.points,
                score=deal.outcome.points,
                new_actions=deal.past_actions,
                new_seats=deal.past_seats,
            ),
        )
    if deal.to_act != seat:
        return ()
    return (
        codec.decision(deal.view(seat), match_id="0123456789abcdef", id=7, deal=1, time_left_ms=11_000, last_took_ms=3),
    )


def leaking(deal: Deal, seat: int) -> tuple[bytes, ...]:
    """As `sent`, but the messages tell something of the other hands: how high their cards are in sum."""
    hidden = max(max(hand_bytes(hand), default=0) for other, hand in enumerate(deal.hands) if other != seat)
    return (*sent(deal, seat), bytes([hidden]))


@pytest.mark.parametrize("name", PRESETS)
def test_the_bytes_sent_to_a_seat_do_not_depend_on_hidden_cards(name: str) -> None:
    rng = random.Random(name)
    compared = sum(compare(GAMES[name], rng, sent) for _ in range(WORLDS))
    assert compared > 10 * WORLDS


def test_a_planted_leak_in_the_bytes_is_seen() -> None:
    rng = random.Random(1)
    with pytest.raises(AssertionError):
        for _ in range(WORLDS):
            compare(GAMES["sixty-six"], rng, leaking)
