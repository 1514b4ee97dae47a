"""One deal as a PettingZoo environment: seats act in turn, and each sees what it may know."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from arena.game.presets import preset
from arena.game.rules import Rules
from arena.rl.deals import as_text, returns, shuffled
from arena.rl.encoding import ACTION_COUNT, MOST, Encoder

Observation = dict[str, Any]


class SixtySix(AECEnv):  # type: ignore[misc]  # PettingZoo ships no types
    """A deal of these rules.  The agents are the seats that play it: `seat_0`, `seat_1`, ...

    An observation is a dict of `observation` (see `Encoder`) and `action_mask` (int8).  An action is its number in
    `arena.cards.ACTIONS`; an illegal one raises `IllegalAction`.  When the deal is over each seat is rewarded with
    what its side is ahead by, in game points (in card points where deals score those).
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "sixtysix_v0", "render_modes": ["ansi"], "render_fps": 1, "is_parallelizable": False,
    }  # fmt: skip

    def __init__(self, rules: Rules | str = "sixty-six", render_mode: str | None = None) -> None:
        """`rules` may be the name of a preset; raises `UsageError` for one that is not known."""
        super().__init__()
        self.render_mode = render_mode
        self.encoder = Encoder(preset(rules) if isinstance(rules, str) else rules)
        self.possible_agents = [f"seat_{seat}" for seat in range(self.encoder.game.table.seats)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0, MOST, (self.encoder.size,), np.float32),
                    "action_mask": spaces.Box(0, 1, (ACTION_COUNT,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(ACTION_COUNT) for agent in self.possible_agents}
        self.agent_selection = ""
        self._rng = np.random.default_rng()
        self.deal = shuffled(self.encoder.game, self._rng)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """A new deal by any dealer; the same `seed` deals the same, and again the same after it.  No options."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self.deal = shuffled(self.encoder.game, self._rng)
        self.agents = [agent for agent, seat in self._seat_of.items() if seat in self.deal.order]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._select()

    def observe(self, agent: str) -> Observation:
        features, legal = self.encoder.observe([self.deal.view(self._seat_of[agent])])
        return {"observation": features[0], "action_mask": legal[0].astype(np.int8)}

    def step(self, action: int | None) -> None:
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        assert action is not None
        self._cumulative_rewards[self.agent_selection] = 0.0
        self.deal.apply(int(action))
        if self.deal.outcome is None:
            self._select()
            return
        ahead = returns(self.deal)
        self.rewards = {agent: float(ahead[self._seat_of[agent]]) for agent in self.agents}
        self.terminations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()
        self.agent_selection = self.agents[0]

    def render(self) -> str | None:
        """The whole deal as text, hidden cards and all: for people, not for agents."""
        return as_text(self.deal) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """There is nothing to close."""

    def _select(self) -> None:
        assert self.deal.to_act is not None
        self.agent_selection = self.possible_agents[self.deal.to_act]
