"""Deals to look at: of each kind the best, from records that are made to be told apart."""

from __future__ import annotations

import random
from collections.abc import Sequence

from arena.app.highlights import SHOWN, highlights
from arena.game.presets import preset
from arena.game.scoring import Termination
from arena.match.record import DealRecord, FaultRecord, MatchRecord, Status
from arena.match.rulings import Fault, Loss
from arena.match.summary import MatchKey, MatchSummary
from arena.reports.highlights import Kind
from arena.store import MatchResult

RULES = preset("sixty-six")
SEATS = ("anna", "bert")
Deal = tuple[tuple[int, int], tuple[int, int], Termination, int]
"""Game points, card points, how it ended, and whose it was."""


def won(side: int, points: int = 1, cards: tuple[int, int] = (66, 30)) -> Deal:
    given = (points, 0) if side == 0 else (0, points)
    return given, cards if side == 0 else cards[::-1], Termination.CLAIM, side


def match(
    number: int,
    deals: Sequence[Deal],
    faults: Sequence[FaultRecord] = (),
    status: Status = Status.PLAYED,
    pairing: tuple[str, str] = SEATS,
) -> MatchResult:
    record = MatchRecord(
        status=status,
        deals=tuple(DealRecord(0, b"", ended, seat, points, cards, None, ()) for points, cards, ended, seat in deals),
        faults=tuple(faults),
        points=(7, sum(points[1] for points, *_ in deals)),
        ranks=(1, 2),
    )
    key = MatchKey(0, pairing, 0, number)
    sides = MatchSummary.of(key, True, pairing, RULES, MatchRecord(status, (), (), record.points, record.ranks))
    return MatchResult(key, number, pairing, True, record, sides)


def found(*results: MatchResult) -> dict[Kind, list[tuple[int, int]]]:
    """Number of the list and of the deal, by kind."""
    return {kind: [(each.key.number, each.deal) for each in best] for kind, best in highlights(results).items()}


def test_a_swing_turns_the_lead_and_the_greatest_comes_first() -> None:
    small = match(0, [won(0), won(1, 2)])
    great = match(1, [won(0, 2), won(1, 3), won(1, 3)])  # the third widens a lead: no swing
    narrow = match(2, [won(0, 2), won(1, 3, (66, 65))])
    assert found(small, great, narrow)[Kind.SWING] == [(2, 2), (1, 2), (0, 2)]


def test_to_draw_level_or_to_take_a_first_lead_is_no_swing() -> None:
    assert Kind.SWING not in found(match(0, [won(0, 2), won(1, 2), won(1, 2)]))


def test_closers_who_failed_stand_by_how_near_they_came() -> None:
    far = match(0, [((0, 2), (40, 50), Termination.CLOSE_FAILED, 0)])
    near = match(1, [won(0), ((3, 0), (20, 65), Termination.CLOSE_FAILED, 1)])
    made = match(2, [((2, 0), (70, 20), Termination.CLOSE_MADE, 0)])
    best = highlights([far, near, made])[Kind.CLOSE_FAILED]
    assert [each.about for each in best] == ["bert with 65", "anna with 40"]


def test_a_last_deal_is_the_more_decisive_the_more_the_side_behind_has() -> None:
    one_sided = match(0, [won(0, 3), won(0, 3), won(0, 1)])
    close = match(1, [won(0, 3), won(1, 3), won(0, 3), won(1, 3), won(0, 1)])
    assert found(one_sided, close)[Kind.DECISIVE] == [(1, 5), (0, 3)]
    assert [each.about for each in highlights([close])[Kind.DECISIVE]] == ["at 6 : 6"]


def test_the_last_faults_are_shown_but_none_before_the_first_card() -> None:
    faults = [match(number, [won(1)], [FaultRecord(0, 1, 2, Fault.LATE, Loss.DEAL)]) for number in range(SHOWN + 3)]
    walkover = match(99, [], [FaultRecord(0, 1, 0, Fault.NOT_STARTED, Loss.MATCH)])
    assert found(*faults, walkover)[Kind.FAULT] == [(number, 1) for number in range(SHOWN + 2, 2, -1)]


def test_each_pairing_has_one_match_whatever_the_order() -> None:
    other = ("anna", "cleo")
    results = [match(number, [won(0)]) for number in range(5)]
    results += [match(number, [won(0)], pairing=other) for number in range(3)]
    chosen = highlights(results)[Kind.SAMPLE]
    assert [each.key.pairing for each in chosen] == [SEATS, other]
    assert chosen == highlights(reversed(results))[Kind.SAMPLE]
    assert chosen[0] not in highlights(each for each in results if each.key != chosen[0].key)[Kind.SAMPLE]


def test_void_matches_have_nothing_to_look_at() -> None:
    assert highlights([match(0, [won(0), won(1, 3)], status=Status.VOID)]) == {}


def test_the_order_of_the_records_changes_nothing() -> None:
    rng = random.Random(66)
    results = [
        match(number, [won(rng.randrange(2), rng.choice((1, 2, 3)), (66, rng.randrange(66))) for _ in range(6)])
        for number in range(60)
    ]
    ordered = highlights(results)
    rng.shuffle(results)
    assert highlights(results) == ordered
