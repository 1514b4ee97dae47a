"""The sample bots that imagine the hidden cards: legal everywhere, repeatable, right where the answer is known."""

from __future__ import annotations

import asyncio
import random
import statistics
import tomllib
from functools import partial
from pathlib import Path

import pytest

from arena.app.data import Archive
from arena.app.play import PlayOptions, play_match
from arena.bots.manifest import sample_bots_folder
from arena.cards import ACTIONS, CLAIM
from arena.game.game import Game
from arena.game.presets import PRESETS, preset
from arena.game.solve import solve
from bench.strength import Player, compare, load
from tests.bots.test_sample_bots import deal_at, shuffled, spread, view_of

PIMC = load("pimc")
ISMCTS = partial(load("ismcts"), iterations=60)
"""By number, not by time: so its answers are the same on every machine."""
BOTH = pytest.mark.parametrize("bot", [PIMC, ISMCTS], ids=["pimc", "ismcts"])
FOR_TWO = [name for name, rules in PRESETS.items() if rules.active_seats == 2]


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pimc imagines less, and so errs more, but does the same."""
    monkeypatch.setitem(PIMC.__globals__, "PLAYOUTS", 30)
    monkeypatch.setitem(PIMC.__globals__, "SOLVED", 2)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("rules", FOR_TWO)
def test_they_answer_legally_in_every_state(rules: str) -> None:
    rng = random.Random(f"searching {rules}")
    for number in range(4):
        deal = shuffled(Game(preset(rules)), rng)
        while deal.to_act is not None:
            view = view_of(deal, seed=bytes([number]))
            answers = [PIMC(view), ISMCTS(view, iterations=12)]
            for action in answers:
                assert action in view.legal
                assert action != CLAIM or view.sure_of_claim
            by_chance = rng.choice([action for action in view.legal if action != CLAIM or rng.random() < 0.02])
            deal.apply(rng.choice([*answers, by_chance]))


@BOTH
def test_they_answer_alike_with_the_same_seed(bot: partial[int]) -> None:
    deal = shuffled(Game(preset("sixty-six")), random.Random(5))
    while deal.to_act is not None:
        answered = bot(view_of(deal, b"one"))
        assert answered == bot(view_of(deal, b"one"))
        deal.apply(answered)


def test_the_rules_that_they_name_are_all_for_two() -> None:
    for name in ("pimc", "ismcts"):
        manifest = tomllib.loads((sample_bots_folder() / name / "bot.toml").read_text(encoding="utf-8"))
        assert set(manifest["rules"]) == set(FOR_TWO)


@BOTH
@pytest.mark.parametrize("rules", ["sixty-six", "schnapsen", "santase", "tausendeins"])
def test_in_an_open_endgame_they_take_an_action_of_the_highest_value(bot: partial[int], rules: str) -> None:
    rng = random.Random(f"endgames {rules}")
    solved = 0
    while solved < 12:
        deal = shuffled(Game(preset(rules)), rng)
        while deal.to_act is not None:
            view = view_of(deal)
            if view.must_follow_strictly and view.other_hand is not None and not view.sure_of_claim:
                values = solve(deal, all_actions=True).values
                playable = {action: value for action, value in values.items() if action != CLAIM}
                assert values[ACTIONS[bot(view)]] == max(playable.values())
                solved += 1
            deal.apply(rng.choice([action for action in deal.legal_actions if action != CLAIM] or deal.legal_actions))


def test_pimc_closes_when_its_trumps_are_enough() -> None:
    sure = spread("AC TC QC JH 9D 9S", "KC JC", turn_up="9C", talon=8, rest="tricks: 2-0; points: 40-0")
    assert str(ACTIONS[PIMC(view_of(deal_at(sure)))]) == "close"


@BOTH
def test_they_claim_what_they_have(bot: partial[int]) -> None:
    position = "hand 0: KH 9C; hand 1: AS TS; known 1: AS TS; trump: C; tricks: 5-5; points: {}-20"
    assert bot(view_of(deal_at(position.format(66)))) == CLAIM
    assert bot(view_of(deal_at(position.format(65)))) != CLAIM


@BOTH
def test_they_beat_random_by_far_even_in_haste(bot: partial[int]) -> None:
    """Decks and answers are fixed, so that 40 deals are enough to notice a bot that has become bad."""
    players = Player("it", bot), Player("random", load("random"))
    assert statistics.fmean(compare(*players, Game(preset("sixty-six")), 20, "test").won) > 0.75


def test_they_are_built_in_and_play_a_match_as_processes(tmp_path: Path) -> None:
    played = asyncio.run(play_match(PlayOptions(("ismcts", "pimc"), "schnapsen", Archive(tmp_path), seed="1")))
    assert not played.record.faults
    assert max(played.record.points) == 7
