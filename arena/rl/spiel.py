"""One deal as a game of OpenSpiel: `import arena.rl.spiel`, then `pyspiel.load_game("python_sixtysix(rules=pagat)")`.

The deck is dealt by chance, card after card; then the players, who are the seats, act by the numbers of
`arena.cards.ACTIONS`.  What a player observes is the view of its seat.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyspiel

from arena.cards import ACTIONS, CARDS, format_cards, hand_cards
from arena.game.deal import Deal
from arena.game.presets import preset
from arena.game.rules import Score
from arena.rl.deals import as_text, returns
from arena.rl.encoding import ACTION_COUNT, Encoder

_TYPE = pyspiel.GameType(
    short_name="python_sixtysix",
    long_name="Python Sixty-Six",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=4,
    min_num_players=2,
    provides_information_state_string=False,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"rules": "sixty-six"},
)
_MOST_CARD_POINTS = 520.0
"""More than a side can be ahead by where deals score card points."""


class SixtySixGame(pyspiel.Game):  # type: ignore[misc]  # OpenSpiel ships no types
    """The rules of a preset.  Raises `UsageError` for one that is not known."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        params = params or {}
        rules = preset(params.get("rules", "sixty-six"))
        self.encoder = Encoder(rules)
        most = _MOST_CARD_POINTS if rules.score is Score.CARD_POINTS else 3.0
        info = pyspiel.GameInfo(
            num_distinct_actions=ACTION_COUNT,
            max_chance_outcomes=len(CARDS),
            num_players=rules.seats,
            min_utility=-most,
            max_utility=most,
            utility_sum=0.0,
            max_game_length=2 * rules.deck + 10,  # cards, as many times going on, and a few others
        )
        super().__init__(_TYPE, info, params)

    def new_initial_state(self) -> SixtySixState:
        return SixtySixState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: dict[str, Any] | None = None) -> SixtySixObserver:
        return SixtySixObserver(self.encoder)


class SixtySixState(pyspiel.State):  # type: ignore[misc]
    """The cards dealt so far, and the deal once the deck is complete."""

    def __init__(self, game: SixtySixGame) -> None:
        super().__init__(game)
        self._encoder = game.encoder
        self.deck: list[int] = []
        self.deal: Deal | None = None

    def current_player(self) -> int:
        if self.deal is None:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self.deal.to_act is None else self.deal.to_act

    def chance_outcomes(self) -> list[tuple[int, float]]:
        left = Counter(map(int, self._encoder.game.cards)) - Counter(self.deck)
        return [(card, count / left.total()) for card, count in sorted(left.items())]

    def _legal_actions(self, player: int) -> list[int]:
        assert self.deal is not None
        return list(map(int, self.deal.legal_actions)) if player == self.deal.to_act else []

    def _apply_action(self, action: int) -> None:
        if self.deal is not None:
            self.deal.apply(action)
            return
        self.deck.append(action)
        if len(self.deck) == len(self._encoder.game.cards):
            self.deal = self._encoder.game.deal(self.deck)

    def _action_to_string(self, player: int, action: int) -> str:
        return f"deal {CARDS[action]}" if player == pyspiel.PlayerId.CHANCE else str(ACTIONS[action])

    def is_terminal(self) -> bool:
        return self.deal is not None and self.deal.outcome is not None

    def returns(self) -> list[float]:
        return returns(self.deal).tolist() if self.deal and self.deal.outcome else [0.0] * self.num_players()

    def __str__(self) -> str:
        if self.deal is None:
            return f"deck {format_cards(self.deck)}"
        return as_text(self.deal)


class SixtySixObserver:
    """What a player sees, as numbers (`Encoder`) and as text."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.tensor = np.zeros(encoder.size, np.float32)
        self.dict = {name: self.tensor[columns] for name, columns in encoder.layout.items()}

    def set_from(self, state: SixtySixState, player: int) -> None:
        self.tensor.fill(0)
        if state.deal is not None:
            self.tensor[:] = self._encoder.observe([state.deal.view(player)]).features[0]

    def string_from(self, state: SixtySixState, player: int) -> str:
        if state.deal is None:
            return "the deck is dealt"
        view = state.deal.view(player)
        past = zip(view.past_seats, view.past_actions, strict=True)
        facts = {
            "seat": player,
            "hand": format_cards(hand_cards(view.hand)),
            "known": ", ".join(format_cards(hand_cards(known)) for known in view.known),
            "dealer": view.dealer,
            "turn-up": CARDS[view.turn_up],
            "talon": view.talon,
            "past": " ".join(f"{seat}:{ACTIONS[action]}" for seat, action in past),
            "points": view.points,
            "pending": view.pending,
        }
        return "; ".join(f"{name}: {fact}" for name, fact in facts.items())


pyspiel.register_game(_TYPE, SixtySixGame)
