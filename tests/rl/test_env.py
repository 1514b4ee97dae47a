"""The environment keeps PettingZoo's contract under every preset, and pays what the deals are worth."""

from __future__ import annotations

import warnings

import pytest
from pettingzoo.test import api_test, seed_test

from arena.game.presets import PRESETS
from arena.rl.env import SixtySix


@pytest.mark.parametrize("rules", PRESETS)
def test_the_api_is_kept(rules: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # It would rather see boxes than a dict with a mask; its own card games have that, too, and are on its list.
        warnings.filterwarnings("ignore", "Observation space for each agent probably should be")
        warnings.filterwarnings("ignore", "Observation is not a NumPy array")
        for _ in range(10):
            api_test(SixtySix(rules), num_cycles=100)


@pytest.mark.parametrize("rules", PRESETS)
def test_the_same_seed_plays_the_same(rules: str) -> None:
    seed_test(lambda: SixtySix(rules), num_cycles=100)
