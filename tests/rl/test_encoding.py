"""Encodings hold what a seat may know, from its own side, and nothing else."""

from __future__ import annotations

import random

import numpy as np
import pytest

from arena.cards import ACTIONS, CARDS, Card
from arena.errors import IllegalAction, UsageError
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.presets import PRESETS, preset
from arena.game.views import DecisionPoint
from arena.rl.deals import Deals, returns
from arena.rl.encoding import ACTION_COUNT, MOST, Encoder, Observations
from tests.game.tables import shuffled, state
from tests.game.worlds import indistinguishable, other_world

ALL = pytest.mark.parametrize("rules", PRESETS)


def of(encoder: Encoder, deal: Deal, seat: int) -> Observations:
    return encoder.observe([deal.view(seat)])


def at_random(game: Game, rng: random.Random, count: int) -> list[Deal]:
    """Deals after any number of actions by chance."""
    deals: list[Deal] = []
    while len(deals) < count:
        deal = shuffled(game, rng)
        for _ in range(rng.randrange(30)):
            if deal.to_act is not None and (actions := [action for action in deal.legal_actions if action <= 38]):
                deal.apply(rng.choice(actions))
        deals += [deal] if deal.to_act is not None else []
    return deals


@ALL
def test_two_worlds_that_a_seat_cannot_tell_apart_are_encoded_alike(rules: str) -> None:
    rng = random.Random(f"encoding {rules}")
    encoder = Encoder(PRESETS[rules])
    compared = 0
    for deal in at_random(encoder.game, rng, 20):
        seat = rng.choice(deal.order)
        if worlds := other_world(deal, seat, rng):
            compared += indistinguishable(worlds, seat, lambda deal, seat: as_bytes(of(encoder, deal, seat)), rng)
    assert compared >= 5


def as_bytes(observations: Observations) -> tuple[bytes, bytes]:
    return observations.features.tobytes(), observations.legal.tobytes()


@ALL
def test_many_at_once_are_encoded_as_each_alone(rules: str) -> None:
    rng = random.Random(f"many {rules}")
    encoder = Encoder(PRESETS[rules])
    views = [deal.view(seat) for deal in at_random(encoder.game, rng, 20) for seat in deal.order]
    features, legal = encoder.observe(views)
    assert features.shape == (len(views), encoder.size)
    assert features.dtype == np.float32
    assert legal.shape == (len(views), ACTION_COUNT)
    assert 0 <= features.min() <= features.max() <= MOST
    for row, mask, view in zip(features, legal, views, strict=True):
        alone = encoder.observe([view])
        assert np.array_equal(row, alone.features[0])
        assert np.array_equal(mask, alone.legal[0])
        assert {ACTIONS[number] for number in np.flatnonzero(mask)} == {
            action for action in ACTIONS if view.legal >> action & 1
        }


@ALL
def test_a_seat_is_seen_from_itself_whoever_deals(rules: str) -> None:
    """The forehand of the same deck sees the same at every place of the table."""
    encoder = Encoder(PRESETS[rules])
    game = encoder.game
    deck = list(game.cards)
    random.Random(rules).shuffle(deck)
    seen = []
    for dealer in range(game.table.seats):
        deal = game.deal(deck, dealer)
        for _ in range(3):
            deal.apply(deal.legal_actions[0 if deal.legal_actions[0].card else -1])  # a card, or go on
        clockwise = game.orders[dealer][game.table.forehand(dealer)]
        seen.append([as_bytes(of(encoder, deal, seat)) for seat in clockwise])
    assert all(each == seen[0] for each in seen)


def test_the_columns_hold_what_their_names_say() -> None:
    encoder = Encoder(preset("sixty-six"))
    deal = state(
        encoder.game,
        "dealer: 1; leader: 0; hand 0: KH QH 9C JS 9S TD; hand 1: AS TS KS QS AH TH; "
        "talon: JH 9H AD KD QD JD 9D TC KC AC; trump: C; tricks: 1-0; points: 33-0".replace("; ", "\n"),
    )
    deal.apply(ACTIONS[34])  # hearts
    deal.apply(Card.parse("QH"))
    (features,), _ = of(encoder, deal, 1)
    cards = sorted(encoder.game.cards)

    def part(name: str) -> list[float]:
        return features[encoder.layout[name]].astype(float).round(3).tolist()

    def named(name: str, start: int = 0) -> str:
        row = features[encoder.layout[name]][start : start + 24]
        return " ".join(str(CARDS[cards[place]]) for place in np.flatnonzero(row))

    assert named("hand") == "QS KS TS AS TH AH"
    assert named("table") == "QH"
    assert named("turn_up") == "AC"
    assert (named("played"), named("played", 24)) == ("", "QH")
    assert (named("known"), named("known", 24)) == ("", "KH")
    assert features[encoder.layout["when"]].max() == np.float32(1 / 12)
    assert part("trump") == [0, 0, 0, 0, 1]
    assert part("point").index(1) == DecisionPoint.FOLLOW
    assert (part("leader"), part("dealer"), part("closer")) == ([0, 1], [1, 0], [0, 0])
    assert part("hand_sizes") == [1, round(5 / 6, 3)]
    assert part("points") == [0, round(53 / 66, 3)]
    assert part("reached") == [0, 0]
    assert part("tricks") == [0, round(1 / 12, 3)]


@ALL
def test_returns_add_up_to_nothing_and_say_who_is_ahead(rules: str) -> None:
    rng = random.Random(f"returns {rules}")
    game = Game(PRESETS[rules])
    for _ in range(30):
        deal = shuffled(game, rng)
        while deal.to_act is not None:
            deal.apply(rng.choice(deal.legal_actions))
        assert deal.outcome is not None
        ahead = returns(deal)
        assert abs(ahead.sum()) < 1e-4
        assert all(ahead[seat] == 0 for seat in range(game.table.seats) if seat not in deal.order)
        if not deal.outcome.drawn:
            best = max(deal.order, key=lambda seat: deal.outcome.points[game.side_of[seat]])  # type: ignore[union-attr]
            assert ahead[best] == ahead.max() > 0


def test_many_deals_at_once_go_on_without_end() -> None:
    rng = np.random.default_rng(1)
    deals = Deals(preset("sixty-six"), 16, seed=1)
    ended = 0
    for _ in range(60):
        seats = deals.seats
        legal = deals.observe().legal
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in legal])
        before = list(deals.deals)
        for index, ahead in deals.step(actions).items():
            ended += 1
            assert before[index].outcome is not None and deals.deals[index] is not before[index]
            assert np.array_equal(ahead, returns(before[index]))
        assert seats.shape == (16,)
    assert ended > 16
    with pytest.raises(IllegalAction):
        deals.step([0] * 16)
    with pytest.raises(UsageError):
        Deals(preset("sixty-six"), 0, seed=1)


def test_the_same_seed_deals_the_same_cards() -> None:
    one, again, other = (Deals(preset("pagat"), 4, seed=seed).observe() for seed in (1, 1, 2))
    assert as_bytes(one) == as_bytes(again) != as_bytes(other)
