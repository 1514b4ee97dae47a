"""How much stronger one sample bot is than another: mirrored deals inside this process, the same for the same seed.

    python -m bench.strength greedy random --pairs 2000 --rules sixty-six

A mirrored pair is one deck dealt twice, the bots changing sides; of partners a bot plays both.  A draw counts as half
a deal won.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path

from arena.bot import Action, Card, Match, View
from arena.bots.manifest import builtin_names, sample_bots_folder
from arena.errors import UsageError
from arena.game.game import Game
from arena.game.presets import preset
from arena.game.scoring import Outcome
from arena.tournament import decks

Choose = Callable[[View], Action | Card]


@dataclass(slots=True)
class Player:
    """A bot and the time that it takes."""

    name: str
    function: Choose
    decisions: int = 0
    total_ns: int = 0
    """CPU time of all decisions."""
    longest_ns: int = 0

    def choose(self, view: View) -> Action | Card:
        began = time.process_time_ns()
        action = self.function(view)
        took = time.process_time_ns() - began
        self.decisions += 1
        self.total_ns += took
        self.longest_ns = max(self.longest_ns, took)
        return action

    def times(self) -> str:
        mean_ms = self.total_ns / max(1, self.decisions) / 1e6
        return f"{self.name} takes {mean_ms:.3f} ms a decision, at most {self.longest_ns / 1e6:.1f} ms"


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over pairs and half of its 95 % interval."""

    value: float
    error: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        spread = statistics.stdev(values) if len(values) > 1 else float("inf")
        return cls(statistics.fmean(values), 1.96 * spread / sqrt(len(values)))


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came out for the first bot."""

    won: list[float] = field(default_factory=list)
    """By pair: the share of its two deals that it won."""
    points: list[float] = field(default_factory=list)
    """By pair: its lead over the other bot, a deal."""
    terminations: dict[str, int] = field(default_factory=dict)
    """How often deals ended which way: `claim won`, `close-failed lost`, ..."""


def load(name: str) -> Choose:
    """The `choose` of the sample bot of that name.  Raises `UsageError` if there is none."""
    if name not in builtin_names():
        raise UsageError(f"there is no sample bot {name!r}; expected one of {', '.join(builtin_names())}")
    return load_file(sample_bots_folder() / name / "bot.py")


def load_file(path: Path) -> Choose:
    """The `choose` of a bot written in Python."""
    spec = importlib.util.spec_from_file_location(f"sample_bot_{path.parent.name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    choose: Choose = module.choose
    return choose


def compare(one: Player, other: Player, game: Game, pairs: int, seed: str) -> Comparison:
    """Play the pairs, the same for the same seed.

    Raises `UsageError` for rules of more than two sides, `IllegalAction` for a fault of a bot.
    """
    if game.table.sides != 2:
        raise UsageError(f"a mirrored pair has two sides, these rules have {game.table.sides}")
    secret = decks.secret_from_seed(seed)
    result = Comparison()
    for number in range(pairs):
        deck = decks.deck(secret, str(number), 1, game.cards)
        won = points = 0.0
        for mine, players in enumerate(((one, other), (other, one))):
            outcome = play_deal(players, game, deck, secret, f"{number}.{mine}")
            (theirs,) = game.table.opponents[game.table.first_dealer][mine]
            lead = outcome.points[mine] - outcome.points[theirs]
            won += (lead > 0) + (lead == 0) / 2
            points += lead
            how = f"{outcome.termination} {'won' if lead > 0 else 'lost' if lead else 'drawn'}"
            result.terminations[how] = result.terminations.get(how, 0) + 1
        result.won.append(won / 2)
        result.points.append(points / 2)
    return result


def play_deal(players: Sequence[Player], game: Game, deck: Sequence[Card], secret: bytes, match_id: str) -> Outcome:
    """One deal between the players, by side."""
    side_of = game.table.side_of
    matches = [
        Match(id=match_id, rules=game.rules, seat=seat, bot_seed=decks.bot_seed(secret, match_id, seat))
        for seat in range(game.table.seats)
    ]
    deal = game.deal(deck)
    while (seat := deal.to_act) is not None:
        deal.apply(players[side_of[seat]].choose(View.of(matches[seat], deal.view(seat))))
    assert deal.outcome is not None
    return deal.outcome


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.strength", description=__doc__.splitlines()[0])
    parser.add_argument("one", help=f"a sample bot ({', '.join(builtin_names())})")
    parser.add_argument("other")
    parser.add_argument("--pairs", type=int, default=1000, help="mirrored pairs (default: 1000)")
    parser.add_argument("--rules", default="sixty-six", help="a preset (default: sixty-six)")
    parser.add_argument("--seed", default="1", help="the same seed deals the same decks (default: 1)")
    options = parser.parse_args()
    if options.pairs < 1:
        parser.error(f"--pairs is {options.pairs}; expected 1 or more")
    try:
        game = Game(preset(options.rules))
        one, other = Player(options.one, load(options.one)), Player(options.other, load(options.other))
        # What a bot loads when it first needs it is no part of its time.
        compare(Player(one.name, one.function), Player(other.name, other.function), game, 5, options.seed)
        result = compare(one, other, game, options.pairs, options.seed)
    except UsageError as error:
        parser.error(str(error))
    won, points = Mean.of(result.won), Mean.of(result.points)
    print(f"{options.one} v {options.other}, {options.rules}, {options.pairs} mirrored pairs, seed {options.seed}")
    print(f"{options.one} wins {100 * won.value:.1f} +- {100 * won.error:.1f} % of deals, "
          f"{points.value:+.2f} +- {points.error:.2f} game points a deal")  # fmt: skip
    print(", ".join(f"{how} {count / options.pairs / 2:.1%}" for how, count in sorted(result.terminations.items())))
    print(f"{one.times()}; {other.times()}")


if __name__ == "__main__":
    main()
