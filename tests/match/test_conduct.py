"""What a seat did in its deals: counted by hand for the golden deals, and from every decision of whole matches."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from arena.cards import CLAIM, CLOSE, RANKS, SUIT_OF, actions_of
from arena.game.deal import MARRIAGE_BY_SUIT
from arena.game.game import Game
from arena.game.notation import parse_deal, replay
from arena.game.presets import PRESETS
from arena.game.rules import MarriageLead, MarriageValues, Rules
from arena.game.table import Table
from arena.game.views import View
from arena.match.clock import TimeControl
from arena.match.conduct import Conduct
from arena.match.record import DealRecord, FaultRecord, MatchRecord, Status
from arena.match.record import replay as steps
from arena.match.referee import Ask, NoReply, Reply, referee
from arena.match.rulings import Fault, Loss

GOLDEN = Path(__file__).parents[1] / "golden" / "deals"
OF_SIXTY_SIX = ("claim", "close-before-draw", "close-made", "false-claim", "forfeit", "played-out", "tie")


def golden(*names: str, faults: tuple[FaultRecord, ...] = ()) -> tuple[Conduct, ...]:
    """The conduct of each seat in a match that is made of golden deals."""
    texts = [parse_deal((GOLDEN / f"{name}.txt").read_text(encoding="utf-8")) for name in names]
    rules = texts[0].rules
    deals = []
    for text in texts:
        deal = replay(Game(rules), text.start, text.actions)
        if deal.outcome is None:
            assert text.outcome is not None and text.outcome.seat is not None
            deal.forfeit(text.outcome.seat)
        assert deal.outcome is not None
        deals.append(DealRecord.of(deal, deal.outcome.points))
    return Conduct.of(rules, MatchRecord(Status.PLAYED, tuple(deals), faults, (), ()))


def test_the_golden_deals_of_sixty_six_counted_by_hand() -> None:
    fault = FaultRecord(seat=1, deal=5, decision=21, fault=Fault.ILLEGAL, loss=Loss.DEAL)
    forehand, dealer = golden(*(f"sixty-six-{name}" for name in OF_SIXTY_SIX), faults=(fault,))
    assert forehand.to_json() == {
        "won": {"claim": 1, "close-made": 1, "false-claim": 1, "illegal": 1, "played-out": 1},
        "lost": {"claim": 1, "played-out": 1},
        "deals": {"forehand": 7},
        "points_for": {"forehand": 12},
        "points_against": {"forehand": 3},
        "opponents": {"forehand": 7},
        "closed": {"failed": 1, "won": 2},
        "claimed": {"right": 1},
        "marriages": {"20": 2},
    }
    assert dealer.to_json() == {
        "won": {"claim": 1, "played-out": 1},
        "lost": {"claim": 1, "close-made": 1, "false-claim": 1, "illegal": 1, "played-out": 1},
        "deals": {"dealer": 7},
        "points_for": {"dealer": 3},
        "points_against": {"dealer": 12},
        "opponents": {"dealer": 7},
        "closed": {"failed": 1},
        "claimed": {"right": 1, "wrong": 1},
    }
    assert forehand.margin("forehand") == pytest.approx(9 / 7) and forehand.margin("dealer") is None


def test_a_marriage_of_partners_is_that_of_the_seat_and_the_win_that_of_both() -> None:
    seats = golden("four-handed-marriage")
    assert [each.marriages for each in seats] == [{}, {}, {}, {"40": 1}]
    assert [each.claimed for each in seats] == [{}, {"right": 1}, {}, {}]
    assert [(each.won, each.lost) for each in seats] == [({}, {"claim": 1}), ({"claim": 1}, {})] * 2
    assert [list(each.deals) for each in seats] == [["forehand"], ["second"], ["third"], ["dealer"]]


def test_a_dealer_who_sits_out_has_no_part_in_the_deal() -> None:
    seats = golden("three-handed-claim")
    sitter = parse_deal((GOLDEN / "three-handed-claim.txt").read_text(encoding="utf-8")).start.dealer
    assert seats[sitter] == Conduct()
    assert sorted(role for each in seats for role in each.deals) == ["forehand", "second"]


def test_points_against_are_those_of_all_who_play_and_the_margin_is_to_their_mean() -> None:
    seats = golden("sessantasei-3-false-claim", "sessantasei-3-claim")
    assert {sum(each.opponents.values()) for each in seats} == {4}
    total = sum(sum(each.points_for.values()) for each in seats)
    assert sum(sum(each.points_against.values()) for each in seats) == 2 * total


def played(rules: Rules, seed: int) -> tuple[Game, MatchRecord]:
    """A match of random players that close, claim and declare more often than chance, and fail now and then."""
    game = Game(rules)
    chance = random.Random(seed)

    def answer(view: View) -> Reply | NoReply:
        if chance.random() < 0.01:
            return NoReply(Fault.ERROR, 1.0)
        legal = actions_of(view.legal)
        special = [action for action in legal if action > 32 and action != CLAIM]
        if view.points[game.table.side_of[view.seat]] >= rules.target and CLAIM in legal:
            return Reply(CLAIM, 1.0)
        wanted = special if special and chance.random() < 0.3 else [each for each in legal if each != CLAIM] or legal
        return Reply(CLAIM if CLAIM in legal and chance.random() < 0.01 else chance.choice(wanted), 1.0)

    match = referee(game, lambda number: deck(game, seed, number), TimeControl())
    request = next(match)
    while True:
        try:
            request = match.send(answer(request.view) if isinstance(request, Ask) else None)
        except StopIteration as end:
            record: MatchRecord = end.value
            return game, record


def deck(game: Game, seed: int, number: int) -> list[int]:
    cards: list[int] = list(game.cards)
    random.Random(f"{seed}/{number}").shuffle(cards)
    return cards


def declared(rules: Rules, view: View, action: int) -> str | None:
    """The points of the marriage that this decision declares, if any."""
    suit = action - 32 if 33 <= action <= 36 else 0
    if rules.marriage_lead is MarriageLead.AUTO and action <= 32 and not view.table and not view.bound:
        king_or_queen = RANKS[(action - 1) % 8] in "QK"
        suit = SUIT_OF[action] if king_or_queen and view.legal >> 32 + SUIT_OF[action] & 1 else 0
    if not suit:
        return None
    if rules.marriage_values is MarriageValues.BY_SUIT:
        return str(MARRIAGE_BY_SUIT[suit])
    return "40" if suit == view.trump else "20"


@pytest.mark.parametrize("name", PRESETS)
def test_the_counters_are_those_of_the_decisions_in_every_preset(name: str) -> None:
    rules = PRESETS[name]
    table = Table.of(rules)
    for seed in range(6):
        game, record = played(rules, seed)
        closed: Counter[int] = Counter()
        claimed: Counter[int] = Counter()
        marriages: Counter[tuple[int, str]] = Counter()
        for step in steps(game, lambda number: deck(game, seed, number), record):  # noqa: B023  # used up at once
            if step.action is not None:
                closed[step.seat] += step.action == CLOSE
                claimed[step.seat] += step.action == CLAIM
                if points := declared(rules, step.view, step.action):
                    marriages[step.seat, points] += 1
        seats = Conduct.of(rules, record)
        for seat, conduct in enumerate(seats):
            side = table.side_of[seat]
            dealt = [deal for deal in record.deals if seat in dict(table.roles(deal.dealer))]
            assert conduct.deals.total() == len(dealt)
            assert conduct.won.total() + conduct.drawn.total() + conduct.lost.total() == len(dealt)
            assert conduct.points_for.total() == sum(deal.points[side] for deal in dealt)
            assert conduct.closed.total() == closed[seat]
            assert conduct.claimed.total() == claimed[seat]
            assert {(seat, points): count for points, count in conduct.marriages.items()} == {
                key: count for key, count in marriages.items() if key[0] == seat
            }
            assert Conduct.from_json(json.loads(json.dumps(conduct.to_json()))) == conduct


def test_counters_add_up() -> None:
    rules = PRESETS["sessantasei-3"]
    total = Conduct()
    both = [Conduct.of(rules, played(rules, seed)[1])[0] for seed in (1, 2)]
    for each in both:
        total.add(each)
    assert total.deals == both[0].deals + both[1].deals
    assert total.points_against.total() == both[0].points_against.total() + both[1].points_against.total()
    assert total.won == both[0].won + both[1].won
