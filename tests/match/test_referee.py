"""The referee, driven without any I/O: asked and answered by plain functions."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.cards import CLAIM, CLOSE, actions_of
from arena.errors import RecordError
from arena.game.game import Game
from arena.game.presets import PRESETS, preset
from arena.game.rules import Score
from arena.game.scoring import Termination
from arena.game.views import DecisionPoint
from arena.match.clock import TimeControl
from arena.match.record import MatchRecord, Status, replay
from arena.match.referee import Ask, DealEnded, FaultRuled, MatchEnded, MatchStarted, NoReply, Reply, Tell, referee
from arena.match.rulings import Fault, Loss

Player = Callable[[Ask], Reply | NoReply]
TIME = TimeControl(limit_ms=1000, bank_ms=2000)


def decks(game: Game) -> Callable[[int], Sequence[int]]:
    def deck_of(number: int) -> Sequence[int]:
        cards = list(game.cards)
        random.Random(number).shuffle(cards)
        return cards

    return deck_of


def first_legal(ask: Ask) -> Reply:
    return Reply(actions_of(ask.view.legal)[0], 1.0)


def play(
    name: str, players: Sequence[Player], waives: Sequence[bool] = (), time: TimeControl = TIME
) -> tuple[MatchRecord, list[Tell | Ask]]:
    game = Game(preset(name))
    match = referee(game, decks(game), time, waives)
    seen: list[Tell | Ask] = []
    request = next(match)
    try:
        while True:
            seen.append(request)
            request = match.send(players[request.seat](request) if isinstance(request, Ask) else None)
    except StopIteration as end:
        record: MatchRecord = end.value
        return record, seen


def at_every_seat(name: str, player: Player) -> list[Player]:
    """The same player at every seat of the table."""
    return [player] * PRESETS[name].seats


def replayed(name: str, record: MatchRecord) -> int:
    game = Game(preset(name))
    return sum(1 for _ in replay(game, decks(game), record))


def nth(count: int, fault: NoReply | Reply) -> Player:
    """Plays the first legal action, but answers its `count`-th question (from 0) with `fault`."""
    asked = -1

    def answer(ask: Ask) -> Reply | NoReply:
        nonlocal asked
        asked += 1
        return fault if asked == count else first_legal(ask)

    return answer


@pytest.mark.parametrize("name", PRESETS)
def test_a_match_is_told_from_start_to_end(name: str) -> None:
    record, seen = play(name, at_every_seat(name, first_legal))
    assert isinstance(seen[0], MatchStarted)
    assert isinstance(seen[-1], MatchEnded)
    ended = [telling for telling in seen if isinstance(telling, DealEnded)]
    assert [telling.deal for telling in ended] == list(range(1, len(record.deals) + 1))
    assert ended[-1].score != ended[0].score or len(ended) == 1
    assert record.status is Status.PLAYED
    target = PRESETS[name].match_target
    assert max(record.points) >= target
    assert max(record.points) == target or PRESETS[name].score is Score.CARD_POINTS
    assert replayed(name, record) == sum(isinstance(request, Ask) for request in seen)


def test_the_dealer_who_sits_out_is_asked_nothing_and_told_how_every_deal_ends() -> None:
    record, seen = play("three-handed", at_every_seat("three-handed", first_legal))
    deals = len(record.deals)
    assert [deal.dealer for deal in record.deals] == [(2, 0, 1)[number % 3] for number in range(deals)]
    asked = {(request.deal, request.seat) for request in seen if isinstance(request, Ask)}
    assert not {(number, deal.dealer) for number, deal in enumerate(record.deals, 1)} & asked
    assert all(deal.points[deal.dealer] == 0 for deal in record.deals)
    ended = [telling for telling in seen if isinstance(telling, DealEnded)]
    assert [telling.seen[telling.dealer] for telling in ended] == [0] * deals


def test_a_seat_of_three_that_is_gone_for_good_ranks_last_and_the_others_by_what_they_have() -> None:
    gone = NoReply(Fault.DIED, 1.0, whole_match=True)
    record, _ = play("sessantasei-3", (nth(0, gone), first_legal, first_legal))
    assert (record.forfeited_by, record.points, record.ranks) == (0, (0, 3, 3), (3, 1, 1))


@pytest.mark.parametrize("action", [0, -1, 3, 41, 99, 10**9])
def test_an_action_outside_the_legal_list_loses_the_deal(action: int) -> None:
    record, seen = play("sixty-six", (nth(0, Reply(action, 1.0)), first_legal))
    (fault,) = record.faults
    assert (fault.fault, fault.seat, fault.deal, fault.loss) == (Fault.ILLEGAL, 0, 1, Loss.DEAL)
    assert record.deals[0].termination is Termination.FORFEIT
    assert record.deals[0].points == (0, 3)  # the offender has no trick
    (ruled,) = [telling for telling in seen if isinstance(telling, FaultRuled)]
    assert ruled.seat == 0
    assert ruled.points == (0, 3)
    assert "asked for one of" in ruled.text
    assert record.testimony.evidence == (ruled.text,)


def test_a_mistimed_claim_is_an_illegal_play() -> None:
    record, _ = play("schnapsen", (nth(0, Reply(CLAIM, 1.0)), first_legal))
    assert record.faults[0].fault is Fault.ILLEGAL
    assert record.deals[0].points == (0, 3)  # illegal_play = forfeit3


def test_an_answer_beyond_limit_and_bank_is_late_and_not_played() -> None:
    record, _ = play("sixty-six", (nth(0, Reply(actions_of(1 << 8)[0], 3000.5)), first_legal))
    assert record.faults[0].fault is Fault.LATE
    assert record.deals[0].actions == b""


def test_the_third_late_decision_of_a_match_loses_the_match() -> None:
    def never(ask: Ask) -> NoReply:
        return NoReply(Fault.LATE, 3001.0)

    record, seen = play("sixty-six", (first_legal, never))
    assert [fault.loss for fault in record.faults] == [Loss.DEAL, Loss.DEAL, Loss.MATCH]
    assert record.status is Status.FORFEIT
    assert record.forfeited_by == 1
    assert record.ranks == (1, 2)
    assert record.points[0] == 7
    assert isinstance(seen[-1], MatchEnded)
    replayed("sixty-six", record)


def test_a_bot_that_never_starts_gives_a_walkover() -> None:
    gone = NoReply(Fault.NOT_STARTED, 0.0, "status 1")
    record, _ = play("sixty-six", (lambda ask: gone, first_legal))
    assert record.status is Status.WALKOVER
    assert record.points == (0, 7)
    replayed("sixty-six", record)


def test_a_bot_that_is_gone_for_good_loses_the_whole_match() -> None:
    record, _ = play("sixty-six", (first_legal, nth(30, NoReply(Fault.DIED, 0.0, "signal 9", whole_match=True))))
    assert record.status is Status.FORFEIT
    assert record.forfeited_by == 1
    assert "signal 9" in record.testimony.evidence[0]
    replayed("sixty-six", record)


def test_a_waived_before_draw_is_not_asked_and_changes_nothing_else() -> None:
    def keep_open(ask: Ask) -> Reply:
        action = next(a for a in actions_of(ask.view.legal) if a not in (CLOSE, CLAIM))
        return Reply(action, 1.0)

    asking, seen = play("sixty-six", (keep_open, keep_open))
    waiving, spared = play("sixty-six", (keep_open, keep_open), waives=(True, True))
    assert asking == waiving
    points = [request.view.point for request in spared if isinstance(request, Ask)]
    assert DecisionPoint.BEFORE_DRAW not in points
    assert any(isinstance(r, Ask) and r.view.point is DecisionPoint.BEFORE_DRAW for r in seen)


def test_every_decision_leaves_its_time_in_the_testimony() -> None:
    record, seen = play("schnapsen", (first_legal, lambda ask: Reply(first_legal(ask).action, 2.5, 2300)))
    asked = [request.seat for request in seen if isinstance(request, Ask)]
    assert [len(times) for times in record.testimony.took_us] == [asked.count(0), asked.count(1)]
    assert set(record.testimony.took_us[1]) == {2500}
    assert set(record.testimony.think_us[1]) == {2300}


def test_the_budget_that_a_seat_is_told_shrinks_with_its_bank() -> None:
    _, seen = play("sixty-six", (nth(0, Reply(0, 1500.0)), first_legal))
    budgets = [request.budget_ms for request in seen if isinstance(request, Ask) and request.seat == 0]
    assert budgets[:2] == [3000.0, 2500.0]


@pytest.mark.parametrize("name", PRESETS)
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rate=st.sampled_from([0.0, 0.01, 0.2]))
def test_any_match_has_a_record_that_replays_and_survives_json(name: str, seed: int, rate: float) -> None:
    rng = random.Random(seed)

    def player(ask: Ask) -> Reply | NoReply:
        if rng.random() < rate:
            faults: list[Reply | NoReply] = [
                Reply(0, 1.0),
                Reply(1, 9e9),
                NoReply(Fault.DIED, 3.0, "x"),
                NoReply(Fault.HUNG, 3.0),
                NoReply(Fault.ERROR, 1.0, "boom"),
                NoReply(Fault.REFUSED, 0.0),
            ]
            return rng.choice(faults)
        return Reply(rng.choice(actions_of(ask.view.legal)), rng.random())

    record, _ = play(name, at_every_seat(name, player))
    assert MatchRecord.from_json(json.loads(json.dumps(record.play_json()))) == record
    replayed(name, record)
    standing = [points for side, points in enumerate(record.points) if side != record.forfeited_by]
    for side, points in enumerate(record.points):
        if side == record.forfeited_by:
            assert record.ranks[side] == len(record.ranks)
        else:
            assert record.ranks[side] == 1 + sum(other > points for other in standing)


def test_a_changed_record_does_not_replay() -> None:
    rng = random.Random(5)

    def player(ask: Ask) -> Reply:
        return Reply(rng.choice([a for a in actions_of(ask.view.legal) if a not in (CLAIM, CLOSE)]), 1.0)

    record, _ = play("sixty-six", (player, player))
    data = record.play_json()

    def changed(path: str, value: object) -> dict[str, object]:
        copy = json.loads(json.dumps(data))
        where = copy
        *steps, last = path.split(".")
        for step in steps:
            where = where[int(step)] if step.isdigit() else where[step]
        where[last] = value
        return copy  # type: ignore[no-any-return]

    words = data["deals"][0]["actions"].split()
    for broken in (
        changed("points", [6, 7]),
        changed("ranks", [1, 1]),
        changed("forfeited_by", 1),
        changed("deals.0.points", [1, 0] if data["deals"][0]["points"] != [1, 0] else [0, 1]),
        changed("deals.0.card_points", [0, 0]),
        changed("deals.0.dealer", 0),
        changed("deals.0.actions", " ".join(words[:-1])),
        changed("deals.0.actions", " ".join([words[1], words[0], *words[2:]])),
        changed("deals", data["deals"][:-1]),
        changed("deals", data["deals"] * 2),
        changed("faults", [{"seat": 0, "deal": 1, "decision": 2, "fault": "late", "loses": "deal"}]),
    ):
        with pytest.raises(RecordError):
            replayed("sixty-six", MatchRecord.from_json(broken))


@pytest.mark.parametrize("broken", [{}, {"status": "played"}, {"status": "nonsense"}])
def test_what_is_no_record_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(RecordError, match="not the record of a match"):
        MatchRecord.from_json(broken)
