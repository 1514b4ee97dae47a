"""The game of OpenSpiel passes OpenSpiel's own tests under every preset."""

from __future__ import annotations

import pyspiel
import pytest

import arena.rl.spiel  # noqa: F401  # registers the game
from arena.game.presets import PRESETS


@pytest.mark.parametrize("rules", PRESETS)
def test_random_play_passes_the_tests_of_openspiel(rules: str) -> None:
    """It compares copies, undoing by replay, observations, returns and serialisation along whole games."""
    game = pyspiel.load_game(f"python_sixtysix(rules={rules})")
    assert game.num_players() == PRESETS[rules].seats
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)
