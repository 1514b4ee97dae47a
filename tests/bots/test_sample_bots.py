"""The sample bots never commit a fault, keep to what their READMEs say, and find the right answer where one is known."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import pytest

from arena.app.play import PlayOptions, play_match
from arena.bot import Match, View
from arena.cards import ACTIONS, CLAIM, CLOSE, Action
from arena.game.deal import Deal, Game
from arena.game.notation import replay
from arena.game.position import parse_position
from arena.game.presets import PRESETS, preset
from bench.strength import Player, compare, load

BOTS = {name: load(name) for name in ("random", "greedy", "counter")}


def view_of(deal: Deal, seed: bytes = b"") -> View:
    """What the seat to act sees."""
    assert deal.to_act is not None
    match = Match(id="m", rules=deal.game.rules, seat=deal.to_act, bot_seed=seed)
    return View.of(match, deal.view(deal.to_act))


def answer(bot: str, position: str, actions: str = "", rules: str = "sixty-six") -> str:
    """What the bot does after the actions (as they print) from the position on."""
    game = Game(preset(rules))
    start = parse_position(game, position.replace(";", "\n"))
    deal = replay(game, start, [Action.parse(word) for word in actions.split()])
    return str(ACTIONS[BOTS[bot](view_of(deal))])


# -- no faults ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", PRESETS)
def test_every_answer_is_legal_under_every_rules(rules: str) -> None:
    """All bots are asked in every state of deals that they and pure chance play on in turn."""
    rng = random.Random(f"sample bots {rules}")
    game = Game(PRESETS[rules])
    for number in range(100):
        deck = list(game.cards)
        rng.shuffle(deck)
        deal = game.deal(deck, dealer=rng.randrange(game.table.seats))
        while deal.to_act is not None:
            view = view_of(deal, seed=bytes([number]))
            answers = {name: choose(view) for name, choose in BOTS.items()}
            for name, action in answers.items():
                assert action in view.legal, f"{name} answered {action!r} to {view}"
            # A claim at random ends the deal: seldom, so that most deals reach their end.
            chance = [action for action in view.legal if action != CLAIM or rng.random() < 0.02]
            deal.apply(rng.choice([*answers.values(), rng.choice(chance)]))


@pytest.mark.parametrize("rules", PRESETS)
def test_the_same_view_is_always_answered_alike(rules: str) -> None:
    """Greedy and counter need no randomness; random draws all of it from the seed that it is given."""
    rng = random.Random(f"alike {rules}")
    game = Game(PRESETS[rules])
    drawn: dict[bytes, list[int]] = {b"one": [], b"two": []}
    for _ in range(5):
        deck = list(game.cards)
        rng.shuffle(deck)
        deal = game.deal(deck)
        while deal.to_act is not None:
            for name in ("greedy", "counter"):
                assert BOTS[name](view_of(deal, b"one")) == BOTS[name](view_of(deal, b"two"))
            for seed, answers in drawn.items():
                answers.append(BOTS["random"](view_of(deal, seed)))
                assert answers[-1] == BOTS["random"](view_of(deal, seed))
            deal.apply(drawn[b"one"][-1])
    assert drawn[b"one"] != drawn[b"two"]


def test_they_are_built_in_and_play_a_match_as_processes() -> None:
    for names in (("random", "greedy"), ("greedy", "counter")):
        played = asyncio.run(play_match(PlayOptions(names, preset("sixty-six"), seed="1")))
        assert played.names == names
        assert not played.record.faults
        assert max(played.record.score) >= 7


# -- what they have in common ------------------------------------------------------------------------------------------

# Clubs are trump; seat 0 leads and holds a plain pair, the royal pair and the nine.
RICH = "hand 0: KH QH KC QC 9C JS; hand 1: AS TS KS QS AD TD; talon: KD QD JD 9D JH 9H 9S AH TH AC; "


@pytest.mark.parametrize("bot", BOTS)
def test_66_are_claimed_and_65_are_not(bot: str) -> None:
    position = RICH + "talon: KD QD JD 9D JH 9H 9S AC"
    position = "hand 0: KH 9C; hand 1: AS TS; known 1: AS TS; trump: C; tricks: 5-5; points: {}-20"
    assert answer(bot, position.format(66)) == "claim"
    assert answer(bot, position.format(65)) != "claim"


@pytest.mark.parametrize("bot", BOTS)
def test_the_last_chance_to_claim_is_taken_only_with_66(bot: str) -> None:
    position = "trump: C; tricks: 6-6; points: {}-40; leader: 0"
    assert answer(bot, position.format(70), rules="pagat") == "claim"
    assert answer(bot, position.format(60), rules="pagat") == "go-on"
