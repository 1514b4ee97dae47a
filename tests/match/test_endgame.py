"""What is given away in endgames: by hand in a golden deal, by bots that know it, and against every deal's result."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.cards import CLAIM, CLOSE, Action, Card, actions_of
from arena.errors import RecordError
from arena.game.game import Game
from arena.game.notation import parse_deal
from arena.game.presets import PRESETS
from arena.game.sample import view_is_open
from arena.game.scoring import Termination
from arena.game.solve import solve_view
from arena.game.views import View
from arena.match.clock import TimeControl
from arena.match.endgame import Judged, can_be_judged, judge
from arena.match.record import DealRecord, MatchRecord
from arena.match.referee import Ask, NoReply, Reply, referee
from arena.match.rulings import Fault

GOLDEN = Path(__file__).parents[1] / "golden" / "deals"
BETWEEN_TWO = [name for name, rules in PRESETS.items() if can_be_judged(rules)]
Choose = Callable[[View, random.Random], Action | None]


def golden(name: str) -> tuple[Game, list[int], DealRecord]:
    """A golden deal that begins with the first card: its deck and its record."""
    text = parse_deal((GOLDEN / f"{name}.txt").read_text(encoding="utf-8"))
    game = Game(text.rules)
    start = text.start
    hands = [list(start.hands[seat]) for seat, _ in game.table.roles(start.dealer)]
    deck: list[Card] = []
    for packet in game.packets:
        for hand in hands:
            deck += [hand.pop(0) for _ in range(packet)]
    assert start.turn_up is not None
    deck += [start.turn_up, *start.talon[:-1]]
    deal = game.deal(deck, start.dealer)
    for action in text.actions:
        deal.apply(action)
    assert deal.outcome is not None
    return game, list(map(int, deck)), DealRecord.of(deal, deal.outcome.points)


def test_the_mistake_of_a_golden_deal_is_found_and_priced() -> None:
    """51-43 and two cards each, KH JD against TC TD, hearts are trumps, and seat 0 leads.

    JD loses to TD (51-55), but KH takes TC and the last ten: 75, and seat 0 wins 1.  It led KH: 65-43, then JD loses
    to TD with the last ten, 65-65, and the last trick decides: seat 1 wins 1.  So KH gave 2 away.
    """
    game, deck, deal = golden("sixty-six-tie")
    found = {each.decision: each for each in judge(game, deck, 1, deal, 0) or ()}
    at = deal.actions.index(Action.parse("KH"))
    assert found[at] == Judged(at, Action.parse("KH"), {Action.parse("JD"): 1, Action.parse("KH"): -1, CLAIM: -2})
    assert {decision: each.given_away for decision, each in found.items() if each.given_away} == {at: 2}
    last = max(found)  # one card: to claim wrongly is the other choice
    assert found[last] == Judged(last, Action.parse("JD"), {Action.parse("JD"): -1, CLAIM: -2})


def test_no_decision_is_judged_after_a_close_nor_before_the_talon_is_gone() -> None:
    for name in ("sixty-six-close-made", "sixty-six-close-before-draw", "sixty-six-false-claim"):
        game, deck, deal = golden(name)
        assert judge(game, deck, 1, deal, 0) == judge(game, deck, 1, deal, 1) == ()
    game, deck, deal = golden("sixty-six-played-out")
    first = min(each.decision for seat in (0, 1) for each in judge(game, deck, 1, deal, seat) or ())
    assert sum(action <= 32 for action in deal.actions[:first]) == 12  # six tricks, six draws


def test_what_is_no_deal_of_the_deck_is_refused() -> None:
    game, deck, deal = golden("sixty-six-played-out")
    with pytest.raises(RecordError, match="deal 7, action 1"):
        judge(game, deck[::-1], 7, deal, 0)


def test_a_seat_that_sits_out_has_nothing_to_judge() -> None:
    game, deck, deal = golden("three-handed-claim")
    assert judge(game, deck, 1, deal, deal.dealer) is None


# -- bots -------------------------------------------------------------------------------------------------------------


def plays_on(view: View, chance: random.Random) -> Action:
    """Any action, but neither closes nor claims, so that many deals come to an endgame."""
    legal = actions_of(view.legal)
    return chance.choice([action for action in legal if action not in (CLAIM, CLOSE)] or legal)


def play(name: str, seats: list[Choose], seed: int) -> tuple[Game, Callable[[int], list[int]], MatchRecord]:
    """One match; a seat that chooses None commits a fault."""
    game = Game(PRESETS[name])
    chance = random.Random(seed)

    def deck_of(number: int) -> list[int]:
        return random.Random(f"{seed}/{number}").sample(list(map(int, game.cards)), len(game.cards))

    match = referee(game, deck_of, TimeControl())
    request = next(match)
    while True:
        answer: Reply | NoReply | None = None
        if isinstance(request, Ask):
            chosen = seats[request.seat](request.view, chance)
            answer = NoReply(Fault.ERROR, 1.0) if chosen is None else Reply(chosen, 1.0)
        try:
            request = match.send(answer)
        except StopIteration as end:
            record: MatchRecord = end.value
            return game, deck_of, record


@pytest.mark.parametrize("name", BETWEEN_TWO)
def test_a_deal_is_worth_its_first_judged_value_less_what_both_give_away(name: str) -> None:
    endgames = 0
    for seed in range(10):
        game, deck_of, record = play(name, [plays_on] * PRESETS[name].seats, seed)
        for number, deal in enumerate(record.deals[: 1 if name == "tausendeins" else 6], start=1):
            judged = {
                seat: judge(game, deck_of(number), number, deal, seat) or ()
                for seat, _ in game.table.roles(deal.dealer)
            }
            if not any(judged.values()):
                continue
            endgames += 1
            mover = min((found[0].decision, seat) for seat, found in judged.items() if found)[1]
            given = {seat: sum(each.given_away for each in found) for seat, found in judged.items()}
            (other,) = given.keys() - {mover}
            worth = max(judged[mover][0].values.values()) - given[mover] + given[other]
            side_of = game.table.side_of
            assert deal.points[side_of[mover]] - deal.points[side_of[other]] == worth, (seed, number)
    assert endgames >= 10


def test_who_throws_points_away_knowingly_is_charged_just_that_and_who_plays_exactly_nothing() -> None:
    game = Game(PRESETS["schnapsen"])
    thrown = 0

    def worst(view: View, chance: random.Random) -> Action:
        nonlocal thrown
        if not view_is_open(game, view):
            return plays_on(view, chance)
        values = solve_view(game, view, all_actions=True).values
        action = min(values, key=lambda action: values[action])
        thrown += max(values.values()) - values[action]
        return action

    def exact(view: View, chance: random.Random) -> Action:
        return solve_view(game, view).best if view_is_open(game, view) else plays_on(view, chance)

    given = [0, 0]
    for seed in range(10):
        _, deck_of, record = play("schnapsen", [worst, exact], seed)
        for number, deal in enumerate(record.deals, start=1):
            for seat in (0, 1):
                given[seat] += sum(each.given_away for each in judge(game, deck_of(number), number, deal, seat) or ())
    assert given == [thrown, 0]
    assert thrown > 20


def test_a_fault_is_no_mistake_and_a_single_legal_action_no_choice() -> None:
    def fails_late(view: View, chance: random.Random) -> Action | None:
        return None if not view.talon and view.hand.bit_count() == 2 else plays_on(view, chance)

    forfeits = 0
    for seed in range(10):
        game, deck_of, record = play("vu-schnapsen", [fails_late, plays_on], seed)
        for number, deal in enumerate(record.deals, start=1):
            judged = judge(game, deck_of(number), number, deal, 0) or ()
            assert all(len(each.values) > 1 and each.decision < len(deal.actions) for each in judged)
            forfeits += deal.termination is Termination.FORFEIT
    assert forfeits > 5


def test_what_is_judged_survives_the_store() -> None:
    game, deck, deal = golden("sixty-six-played-out")
    judged = judge(game, deck, 1, deal, 1)
    assert judged
    for each in judged:
        assert Judged.from_json(json.loads(json.dumps(each.to_json()))) == each
