"""Faults at tables of three and four: who scores for them, who shares the loss, who sits out, how all rank."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.cards import CLAIM, CLOSE, actions_of
from arena.game.game import Game
from arena.game.presets import PRESETS
from arena.game.rules import Rules
from arena.game.scoring import FORFEITED_CARD_POINTS, Termination
from arena.match.clock import TimeControl
from arena.match.record import MatchRecord, Status, replay
from arena.match.referee import Ask, FaultRuled, NoReply, Reply, Tell, referee
from arena.match.rulings import Fault, Loss
from arena.match.summary import MatchKey, MatchSummary

MORE: Mapping[str, Rules] = {name: rules for name, rules in PRESETS.items() if rules.seats > 2}
THREE = [name for name, rules in MORE.items() if rules.seats == 3]
FOUR = [name for name, rules in MORE.items() if rules.seats == 4]

Player = Callable[[Ask], Reply | NoReply]


def deck_of(game: Game) -> Callable[[int], Sequence[int]]:
    def deck(number: int) -> Sequence[int]:
        cards = list(game.cards)
        random.Random(number).shuffle(cards)
        return cards

    return deck


def plays_on(ask: Ask) -> Reply:
    """Plays cards to the end, and neither claims nor closes."""
    return Reply(next(action for action in actions_of(ask.view.legal) if action not in (CLAIM, CLOSE)), 1.0)


def failing(fault: NoReply, *, deal: int, after: int = 0) -> Player:
    """Plays on, but answers its first question of that deal after so many actions of the deal with the fault."""
    failed = False

    def answer(ask: Ask) -> Reply | NoReply:
        nonlocal failed
        if not failed and ask.deal == deal and len(ask.view.past_actions) >= after:
            failed = True
            return fault
        return plays_on(ask)

    return answer


def played(rules: Rules, players: Mapping[int, Player]) -> tuple[MatchRecord, list[Ask | Tell]]:
    """A match of these players, the other seats playing on; its record replays."""
    game = Game(rules)
    match = referee(game, deck_of(game), TimeControl(1000, 2000))
    seen: list[Ask | Tell] = []
    request = next(match)
    while True:
        seen.append(request)
        answer = players.get(request.seat, plays_on)(request) if isinstance(request, Ask) else None
        try:
            request = match.send(answer)
        except StopIteration as end:
            record: MatchRecord = end.value
            break
    assert MatchRecord.from_json(json.loads(json.dumps(record.play_json()))) == record
    for _ in replay(game, deck_of(game), record):
        pass
    return record, seen


ERROR = NoReply(Fault.ERROR, 1.0, "boom")
GONE = NoReply(Fault.DIED, 1.0, "signal 9", whole_match=True)


# --- a lost deal ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", range(3))
def test_where_each_plays_for_itself_a_fault_scores_for_both_others(seat: int) -> None:
    record, seen = played(MORE["sessantasei-3"], {seat: failing(ERROR, deal=1)})
    first = record.deals[0]
    assert (first.termination, first.seat) == (Termination.FORFEIT, seat)
    assert first.points == tuple(0 if side == seat else 3 for side in range(3))
    (ruled,) = (telling for telling in seen if isinstance(telling, FaultRuled))
    assert (ruled.seat, ruled.points, ruled.match_lost) == (seat, first.points, False)
    assert record.status is Status.PLAYED
    assert len(record.deals) > 1


@pytest.mark.parametrize("deal", [1, 2, 3])
def test_where_the_dealer_sits_out_a_fault_scores_for_the_one_who_plays(deal: int) -> None:
    for seat in range(3):
        record, _ = played(MORE["three-handed"], {seat: failing(ERROR, deal=deal)})
        lost = record.deals[deal - 1]
        if lost.dealer == seat:
            assert record.faults == ()
            continue
        assert (lost.termination, lost.seat) == (Termination.FORFEIT, seat)
        assert lost.points[seat] == lost.points[lost.dealer] == 0
        assert sorted(lost.points)[-1] in (2, 3)


@pytest.mark.parametrize("name", FOUR)
@pytest.mark.parametrize("seat", range(4))
def test_a_partner_shares_the_loss(name: str, seat: int) -> None:
    rules = MORE[name]
    record, _ = played(rules, {seat: failing(ERROR, deal=1, after=2)})
    first = record.deals[0]
    side_of = Game(rules).table.side_of
    assert (first.termination, first.seat) == (Termination.FORFEIT, seat)
    assert first.points[side_of[seat]] == 0
    assert [bool(points) for points in first.points].count(True) == 1
    assert len(record.points) == 2


def test_a_partner_who_has_taken_a_trick_makes_the_fault_cheaper() -> None:
    """Without a trick of the side a fault costs 3, with one of either partner 2."""
    rules = MORE["four-handed"]
    record, seen = played(rules, {})
    second_trick = next(
        ask for ask in seen if isinstance(ask, Ask) and ask.deal == 1 and len(ask.view.winners) == 1 and ask.view.table
    )
    side_of = Game(rules).table.side_of
    winner = second_trick.view.winners[0]
    partner = next(seat for seat in range(4) if seat != winner and side_of[seat] == side_of[winner])
    opponent = next(seat for seat in range(4) if side_of[seat] != side_of[winner])
    for seat, value in ((partner, 2), (opponent, 3)):
        record, _ = played(rules, {seat: failing(ERROR, deal=1, after=4)})
        assert record.deals[0].termination is Termination.FORFEIT
        assert max(record.deals[0].points) == value


def test_a_forfeited_deal_of_1001_gives_the_most_that_a_deal_holds() -> None:
    record, _ = played(PRESETS["tausendeins"], {1: failing(ERROR, deal=2)})
    assert record.deals[1].points == (FORFEITED_CARD_POINTS, 0)


# --- the sitter ----------------------------------------------------------------------------------------------


def test_the_sitter_scores_nothing_and_is_not_asked() -> None:
    record, seen = played(MORE["three-handed"], {})
    for number, deal in enumerate(record.deals, start=1):
        assert deal.points[deal.dealer] == deal.card_points[deal.dealer] == 0
        asked = {ask.seat for ask in seen if isinstance(ask, Ask) and ask.deal == number}
        assert asked <= set(range(3)) - {deal.dealer}


def test_a_sitter_that_fails_is_judged_at_its_next_decision() -> None:
    record, _ = played(MORE["three-handed"], {2: lambda ask: ERROR})
    assert record.deals[0].dealer == 2
    assert record.deals[0].termination is not Termination.FORFEIT
    assert record.faults[0].deal == 2


# --- a lost match --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", THREE)
def test_who_loses_a_match_of_three_by_a_fault_is_last_and_the_others_rank_by_what_they_have(name: str) -> None:
    for deal in (1, 3, 4):
        record, _ = played(MORE[name], {0: failing(GONE, deal=deal)})
        assert record.status in (Status.FORFEIT, Status.WALKOVER)
        assert record.forfeited_by == 0
        assert record.ranks[0] == 3
        one, other = record.points[1:]
        assert record.ranks[1:] == ((1, 1) if one == other else (1, 2) if one > other else (2, 1))
        assert record.points == tuple(
            min(MORE[name].match_target, sum(deal.points[side] for deal in record.deals)) for side in range(3)
        )


def test_who_was_ahead_and_leaves_is_last_all_the_same() -> None:
    claims_nothing, _ = played(MORE["sessantasei-3"], {})
    ahead = claims_nothing.ranks.index(1)
    last = len(claims_nothing.deals)
    record, _ = played(MORE["sessantasei-3"], {ahead: failing(GONE, deal=last)})
    assert record.forfeited_by == ahead
    assert record.ranks[ahead] == 3


@pytest.mark.parametrize("name", FOUR)
def test_a_partner_loses_the_match_with_the_one_who_left_it(name: str) -> None:
    record, _ = played(MORE[name], {2: failing(GONE, deal=1)})
    assert record.forfeited_by == 0
    assert record.points == (0, MORE[name].match_target)
    assert record.ranks == (2, 1)


def test_late_decisions_are_counted_by_seat_not_by_side() -> None:
    late = NoReply(Fault.LATE, 3001.0)
    record, _ = played(MORE["four-handed"], {1: failing(late, deal=1), 3: failing(late, deal=2)})
    assert [(fault.seat, fault.loss) for fault in record.faults] == [(1, Loss.DEAL), (3, Loss.DEAL)]


# --- what tables need ----------------------------------------------------------------------------------------


def test_a_summary_has_the_participants_of_each_side_and_the_faults_of_both_partners() -> None:
    record, _ = played(MORE["four-handed"], {1: failing(ERROR, deal=1), 3: failing(ERROR, deal=2)})
    key = MatchKey(0, ("a", "d", "b", "c"), 0, 0)
    summary = MatchSummary.of(key, True, ("a", "b", "d", "c"), MORE["four-handed"], record)
    assert [side.participants for side in summary.sides] == [("a", "d"), ("b", "c")]
    assert [dict(side.faults) for side in summary.sides] == [{}, {"error": 2}]
    asked = [[times.total for times in side.times] for side in summary.sides]
    assert asked == [[len(record.testimony.took_us[seat]) for seat in seats] for seats in ((0, 2), (1, 3))]
    assert [len(side.conduct) for side in summary.sides] == [2, 2]
    assert MatchSummary.from_json(key, summary.status, True, json.loads(json.dumps(summary.to_json()))) == summary


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([*MORE, "tausendeins"]), st.randoms(use_true_random=False), st.sampled_from([0.0, 0.02, 0.2]))
def test_any_match_of_more_seats_replays_and_has_a_rank_for_each_side(
    name: str, chance: random.Random, rate: float
) -> None:
    faults = [ERROR, GONE, NoReply(Fault.LATE, 3001.0), NoReply(Fault.REFUSED, 0.0)]

    def player(ask: Ask) -> Reply | NoReply:
        if chance.random() < rate:
            return chance.choice(faults)
        return Reply(chance.choice(actions_of(ask.view.legal)), 0.5)

    rules = PRESETS[name]
    record, _ = played(rules, dict.fromkeys(range(rules.seats), player))
    sides = Game(rules).table.sides
    assert len(record.ranks) == len(record.points) == sides
    assert min(record.ranks) == 1
    if record.forfeited_by is not None:
        assert record.ranks[record.forfeited_by] == sides
