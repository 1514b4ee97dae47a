"""Who pays what: every row is worked by hand from the words of the rules, over small stated positions.

In all of them hearts are trump and seat 0 holds `AS KS` against `TS QS` (or only the first of each).
"""

from __future__ import annotations

from typing import Any

import pytest

from arena.game.deal import Deal
from arena.game.position import format_numbers
from arena.game.scoring import Termination
from tests.game.tables import do, game, state


def late(
    preset: str, points: str, tricks: str, *, leader: int = 0, hands: str = "AS KS / TS QS", **options: object
) -> Deal:
    """A deal with the talon exhausted."""
    first, second = hands.split("/")
    text = f"hand 0: {first}\nhand 1: {second}\ntrump: H\nleader: {leader}\npoints: {points}\ntricks: {tricks}\n"
    return state(game(preset, **options), text)


def closed(
    preset: str, at: str, tricks_then: str, points: str, tricks: str, *,
    closer: int = 0, leader: int = 0, hands: str = "AS KS / TS QS", **options: object,
) -> Deal:  # fmt: skip
    """A deal closed after a draw with four cards in the talon: `at` were the points then, `points` are they now."""
    first, second = hands.split("/")
    text = (
        f"hand 0: {first}\nhand 1: {second}\ntalon: AD TD KD JH\nleader: {leader}\npoints: {points}\n"
        f"tricks: {tricks}\ncloser: {closer}\nclosed points: {at}\nclosed tricks: {tricks_then}\n"
    )
    return state(game(preset, **options), text)


def result(deal: Deal) -> tuple[str, str]:
    assert deal.outcome is not None
    return str(deal.outcome.termination), format_numbers(deal.outcome.points)


# -- claims with nothing closed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "points", "tricks", "expected"),
    [
        ("sixty-six", "66-33", "6-4", "1-0"),
        ("sixty-six", "66-32", "6-4", "2-0"),
        ("sixty-six", "90-0", "9-1", "2-0"),  # a trick worth nothing is a trick
        ("sixty-six", "66-0", "10-0", "3-0"),
        ("pagat", "66-33", "6-4", "1-0"),
        ("pagat", "66-0", "10-0", "3-0"),
        ("sesenta-y-seis", "66-0", "9-1", "2-0"),
        ("schnapsen", "66-32", "7-1", "2-0"),
        ("schnapsen", "66-0", "8-0", "3-0"),
        ("sessantasei-32", "66-33", "9-5", "1-0"),
        ("sessantasei-32", "66-0", "14-0", "3-0"),
    ],
)
def test_a_right_claim_scores_by_the_opponents_points_and_tricks(
    preset: str, points: str, tricks: str, expected: str
) -> None:
    assert result(do(late(preset, points, tricks), "claim")) == ("claim", expected)


@pytest.mark.parametrize(
    ("preset", "points", "tricks", "expected"),
    [
        ("sixty-six", "65-0", "10-0", "0-2"),  # claimant: its own tricks decide
        ("sesenta-y-seis", "65-20", "6-4", "0-2"),
        ("schnapsen", "65-20", "6-2", "0-2"),  # opponent: 3 only while the other is trickless
        ("schnapsen", "65-0", "8-0", "0-3"),
        ("pagat", "65-0", "10-0", "0-2"),  # flat2
        ("sessantasei-32", "50-33", "7-7", "0-1"),  # mirror: what the claimant would have won ...
        ("sessantasei-32", "50-32", "7-7", "0-2"),
        ("sessantasei-32", "50-0", "14-0", "0-3"),
        ("sessantasei-32", "32-50", "7-7", "0-2"),  # ... but never less than the opponent's right claim
    ],
)
def test_a_false_claim_pays_as_the_option_says(preset: str, points: str, tricks: str, expected: str) -> None:
    assert result(do(late(preset, points, tricks), "claim")) == ("false-claim", expected)


def test_a_trickless_claimant_pays_three_unless_the_penalty_is_flat() -> None:
    for false_claim, expected in (("claimant", "3-0"), ("opponent", "3-0"), ("flat2", "2-0")):
        deal = late("sixty-six", "60-0", "10-0", false_claim=false_claim)
        assert result(do(deal, "AS claim")) == ("false-claim", expected)


def test_the_cards_on_the_table_are_nobodys_when_the_follower_claims() -> None:
    deal = do(late("sixty-six", "40-60", "5-5"), "KS claim")
    assert result(deal) == ("false-claim", "2-0")
    deal = do(late("sixty-six", "40-66", "5-5"), "KS claim")
    assert result(deal) == ("claim", "0-1")


# -- claims after a close ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "at", "tricks_then", "points", "tricks", "expected"),
    [
        # close_snapshot = closing: the opponent's class at the close
        ("sixty-six", "20-33", "2-2", "66-40", "5-3", "1-0"),
        ("sixty-six", "20-20", "2-2", "66-40", "5-3", "2-0"),
        ("sixty-six", "20-0", "4-0", "66-40", "6-2", "3-0"),
        ("schnapsen", "20-0", "3-0", "66-40", "5-1", "3-0"),
        # close_snapshot = end: the class now
        ("sesenta-y-seis", "20-0", "4-0", "66-40", "6-2", "1-0"),
        ("pagat", "20-0", "4-0", "66-10", "6-2", "2-0"),
        ("pagat", "20-0", "4-0", "66-0", "8-0", "3-0"),
        ("sessantasei-32", "20-0", "8-0", "66-40", "9-3", "1-0"),
    ],
)
def test_a_closers_right_claim_scores_by_the_snapshot(
    preset: str, at: str, tricks_then: str, points: str, tricks: str, expected: str
) -> None:
    assert result(do(closed(preset, at, tricks_then, points, tricks), "claim")) == ("claim", expected)


@pytest.mark.parametrize(
    ("preset", "tricks_then", "tricks", "options", "expected"),
    [
        ("sixty-six", "4-0", "6-2", {}, "0-3"),  # false claim 2, failed close 3
        ("sixty-six", "2-2", "5-3", {}, "0-2"),
        ("pagat", "4-0", "6-2", {}, "0-3"),  # flat2 for the claim, 3 for the close
        ("schnapsen", "3-0", "4-2", {}, "0-3"),
        ("sixty-six", "2-2", "5-3", {"close_fail": "flat3"}, "0-3"),
        ("sixty-six", "2-2", "5-3", {"close_fail": "mirror"}, "0-2"),  # mirror of 45 is 1, the claim costs 2
    ],
)
def test_a_closers_false_claim_costs_the_larger_of_claim_and_close(
    preset: str, tricks_then: str, tricks: str, options: dict[str, Any], expected: str
) -> None:
    at = "40-0" if tricks_then.endswith("-0") else "40-20"
    deal = closed(preset, at, tricks_then, "60-45", tricks, **options)
    assert result(do(deal, "claim")) == ("false-claim", expected)


@pytest.mark.parametrize(
    ("preset", "at", "tricks_then", "tricks", "expected"),
    [
        ("sixty-six", "20-20", "2-2", "3-5", "0-2"),  # as_fail: 3 only if trickless at the close
        ("sixty-six", "20-0", "4-0", "5-3", "0-3"),
        ("schnapsen", "20-0", "3-0", "4-2", "0-3"),
        ("pagat", "20-0", "4-0", "5-3", "0-2"),  # flat2
        ("sessantasei-32", "20-0", "8-0", "9-3", "0-2"),  # as_fail with mirror: 66 is class 1, the closer's 32 makes 2
    ],
)
def test_an_opponent_who_claims_rightly_first_scores_close_beaten(
    preset: str, at: str, tricks_then: str, tricks: str, expected: str
) -> None:
    assert result(do(closed(preset, at, tricks_then, "32-66", tricks, leader=1), "claim")) == ("claim", expected)


@pytest.mark.parametrize(
    ("preset", "options", "expected"),
    [
        ("sixty-six", {}, "0-3"),  # trickless at the snapshot: never less than the closer's right claim
        ("sixty-six", {"close_snapshot": "end"}, "0-2"),
        ("sixty-six", {"false_claim": "flat2"}, "0-2"),  # flat2 is exempt
        ("sesenta-y-seis", {}, "0-2"),
    ],
)
def test_a_false_claim_by_the_other_seat_is_floored_by_the_snapshot(
    preset: str, options: dict[str, Any], expected: str
) -> None:
    deal = closed(preset, "0-20", "0-4", "40-40", "3-5", closer=1, **options)
    assert result(do(deal, "claim")) == ("false-claim", expected)


def test_a_mirrored_false_claim_after_the_others_close_is_what_a_right_one_would_have_won() -> None:
    for points, expected in (
        ("50-40", "0-1"),  # beating this close: its mirror, 1 against 50
        ("50-32", "0-2"),  # the closer has no 33 itself, so beating it is worth 2
        ("32-50", "0-2"),  # the claimant has no 33 itself: the floor
    ):
        deal = closed("sessantasei-32", "20-30", "4-4", points, "6-6", closer=1)
        assert result(do(deal, "claim")) == ("false-claim", expected)


# -- the closer plays to the last card --------------------------------------------------------------------------------

ONE_CARD = "AS / TS"
"""The leader wins the last trick, 21 points."""
LOSES = "TS / AS"
"""The leader loses the last trick."""


@pytest.mark.parametrize(
    ("preset", "at", "tricks_then", "points", "tricks", "expected"),
    [
        ("sixty-six", "20-0", "4-0", "45-40", "6-3", "3-0"),
        ("sixty-six", "20-20", "2-2", "45-40", "5-4", "2-0"),
        ("sesenta-y-seis", "20-0", "4-0", "45-40", "6-3", "1-0"),
        ("sesenta-y-seis", "20-0", "4-0", "45-0", "9-0", "3-0"),
    ],
)
def test_a_closer_with_66_at_the_end_has_succeeded_without_a_word(
    preset: str, at: str, tricks_then: str, points: str, tricks: str, expected: str
) -> None:
    deal = closed(preset, at, tricks_then, points, tricks, hands=ONE_CARD)
    assert result(do(deal, "AS TS")) == ("close-made", expected)


def test_where_the_closer_must_say_66_silence_fails() -> None:
    for last, expected in (("go-on", ("close-failed", "0-2")), ("claim", ("claim", "2-0"))):
        deal = closed("schnapsen", "20-20", "2-1", "45-40", "4-3", hands=ONE_CARD)
        assert result(do(deal, f"AS TS {last}")) == expected


@pytest.mark.parametrize(
    ("preset", "at", "tricks_then", "points", "tricks", "expected"),
    [
        ("sixty-six", "20-20", "2-2", "40-40", "5-4", "0-2"),
        ("sixty-six", "20-0", "4-0", "40-40", "6-3", "0-3"),
        ("santase", "20-20", "2-2", "40-40", "5-4", "0-3"),  # flat3
        ("sesenta-y-seis", "20-0", "4-0", "40-40", "6-3", "0-3"),
    ],
)
def test_a_failed_close_pays_by_the_tricks_at_the_close(
    preset: str, at: str, tricks_then: str, points: str, tricks: str, expected: str
) -> None:
    """40 + 21 is 61: the +10 for the last trick never counts after a close."""
    deal = do(closed(preset, at, tricks_then, points, tricks, hands=ONE_CARD), "AS TS")
    assert result(deal) == ("close-failed", expected)
    assert deal.outcome is not None and deal.outcome.card_points == (61, 40)


@pytest.mark.parametrize(
    ("points", "tricks", "hands", "expected"),
    [
        ("40-12", "8-5", LOSES, "0-1"),  # the other side ends on 33
        ("40-11", "8-5", LOSES, "0-2"),  # 32; with +10 it would have the line
        ("40-0", "13-0", ONE_CARD, "0-3"),
        ("20-12", "8-5", LOSES, "0-2"),  # the closer has no 33 itself: never less than losing to a right claim
    ],
)
def test_a_failed_close_under_mirror_pays_what_the_closer_would_have_won(
    points: str, tricks: str, hands: str, expected: str
) -> None:
    deal = closed("sessantasei-32", "20-0", "8-0", points, tricks, hands=hands)
    lead, _, reply = hands.partition(" / ")
    assert result(do(deal, f"{lead} {reply} go-on")) == ("close-failed", expected)


def test_the_other_sides_silent_66_does_not_save_it_from_nothing_and_the_closer_from_failing() -> None:
    deal = closed("sixty-six", "20-20", "2-2", "40-60", "5-4", hands=LOSES)
    assert result(do(deal, "TS AS")) == ("close-failed", "0-2")


# -- the last card with an open talon ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "points", "expected", "totals"),
    [
        ("sixty-six", "80-1", "2-0", "80-32"),  # the higher total wins, not the last trick
        ("sixty-six", "80-2", "1-0", "80-33"),  # the +10 lifts the loser over the line
        ("sixty-six", "30-30", "0-2", "30-61"),
        ("sixty-six", "33-30", "0-1", "33-61"),
        ("sixty-six", "65-34", "0-1", "65-65"),  # equal: the last trick decides
        ("pagat", "65-34", "0-0", "65-65"),
        ("santase", "65-34", "0-0", "65-65"),
        ("sesenta-y-seis", "80-2", "0-1", "80-33"),  # plus10_wins
        ("sesenta-y-seis", "32-2", "0-2", "32-33"),
    ],
)
def test_an_open_deal_goes_to_the_higher_total_with_ten_for_the_last_trick(
    preset: str, points: str, expected: str, totals: str
) -> None:
    deal = do(late(preset, points, "6-5", hands=LOSES), "TS AS")
    if deal.outcome is None:
        do(deal, "go-on")
    assert result(deal) == ("played-out", expected)
    assert deal.outcome is not None and format_numbers(deal.outcome.card_points) == totals


@pytest.mark.parametrize("preset", ["schnapsen", "schnapsen-sharp"])
def test_the_last_trick_wins_one_and_nothing_more(preset: str) -> None:
    deal = do(late(preset, "65-0", "9-0", hands=LOSES), "TS AS go-on")
    assert result(deal) == ("played-out", "0-1")
    assert deal.outcome is not None and deal.outcome.card_points == (65, 21)


def test_the_arena_notices_66_before_the_ten_for_the_last_trick() -> None:
    deal = do(late("santase", "45-2", "6-5", hands=ONE_CARD), "AS TS")
    assert result(deal) == ("reached", "2-0")
    assert deal.outcome is not None and deal.outcome.card_points == (66, 2)
    deal = do(late("santase", "44-2", "6-5", hands=ONE_CARD), "AS TS")
    assert result(deal) == ("played-out", "2-0")
    assert deal.outcome is not None and deal.outcome.card_points == (75, 2)


def test_the_ten_is_no_part_of_a_claimed_total() -> None:
    deal = do(late("pagat", "44-40", "6-5", hands=ONE_CARD), "AS TS claim")
    assert result(deal) == ("false-claim", "0-2")


# -- illegal play and other faults ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "points", "tricks", "seat", "expected"),
    [
        ("sixty-six", "40-40", "5-5", 0, "0-2"),
        ("sixty-six", "40-0", "10-0", 1, "3-0"),  # no trick
        ("pagat", "40-40", "5-5", 1, "2-0"),
        ("schnapsen", "40-40", "4-4", 0, "0-3"),  # forfeit3
        ("sessantasei-32", "40-40", "7-7", 0, "0-2"),
    ],
)
def test_a_forfeit_pays_two_or_three(preset: str, points: str, tricks: str, seat: int, expected: str) -> None:
    deal = late(preset, points, tricks)
    outcome = deal.forfeit(seat)
    assert deal.outcome is outcome and deal.to_act is None
    assert result(deal) == ("forfeit", expected)
    assert outcome.seat == seat


@pytest.mark.parametrize(
    ("preset", "at", "tricks_then", "closer", "expected"),
    [
        ("sixty-six", "20-0", "4-0", 0, "0-3"),  # the closer: as its failed close
        ("sixty-six", "20-20", "2-2", 0, "0-2"),
        ("santase", "20-20", "2-2", 0, "0-3"),
        ("sixty-six", "0-20", "0-4", 1, "0-3"),  # the other seat: as the closer's right claim
        ("sixty-six", "20-20", "2-2", 1, "0-2"),
        ("sesenta-y-seis", "0-20", "0-4", 1, "0-2"),
    ],
)
def test_a_forfeit_after_a_close_costs_no_less_than_playing_on(
    preset: str, at: str, tricks_then: str, closer: int, expected: str
) -> None:
    deal = closed(preset, at, tricks_then, "40-40", "4-4", closer=closer)
    deal.forfeit(0)
    assert result(deal) == ("forfeit", expected)


def test_termination_and_seat_say_who_did_what() -> None:
    deal = do(late("sixty-six", "40-40", "6-5", hands=LOSES), "TS AS")
    assert deal.outcome is not None
    assert (deal.outcome.termination, deal.outcome.seat) == (Termination.PLAYED_OUT, 1)
    deal = do(closed("sixty-six", "20-0", "4-0", "40-40", "6-3", hands=LOSES), "TS AS")
    assert deal.outcome is not None
    assert (deal.outcome.termination, deal.outcome.seat) == (Termination.CLOSE_FAILED, 0)


# -- more than two sides, partners, the sitter ------------------------------------------------------------------------


def three(
    points: str, tricks: str, *, leader: int = 0, hands: str = "AS KS QS", more: str = "talon: 7D 7H", **options: Any
) -> Deal:
    """`sessantasei-3` with one card each."""
    cards = "".join(f"hand {seat}: {card}\n" for seat, card in enumerate(hands.split()))
    text = f"{cards}{more}\nleader: {leader}\npoints: {points}\ntricks: {tricks}\n"
    return state(game("sessantasei-3", **options), text)


@pytest.mark.parametrize(
    ("points", "tricks", "expected"),
    [
        ("66-40-0", "4-5-0", "1-0-0"),  # the better placed opponent makes the class
        ("66-32-10", "4-3-2", "2-0-0"),
        ("66-0-0", "9-0-0", "3-0-0"),
        ("66-0-0", "8-0-1", "2-0-0"),
    ],
)
def test_of_three_the_better_placed_opponent_makes_the_class(points: str, tricks: str, expected: str) -> None:
    assert result(do(three(points, tricks), "claim")) == ("claim", expected)


def test_a_false_claim_at_three_gives_each_opponent_the_same() -> None:
    assert result(do(three("60-40-0", "4-5-0"), "claim")) == ("false-claim", "0-1-1")
    assert result(do(three("60-20-0", "4-5-0"), "claim")) == ("false-claim", "0-2-2")
    deal = three("40-40-0", "4-5-0")
    deal.forfeit(0)
    assert result(deal) == ("forfeit", "0-2-2")


def test_at_three_the_highest_total_wins_alone_and_a_tie_scores_nobody() -> None:
    # AS KS QS: 18 for seat 0, and 10 for the last trick
    assert result(do(three("10-37-0", "4-5-0"), "AS KS QS go-on")) == ("played-out", "1-0-0")
    assert result(do(three("10-39-0", "4-5-0"), "AS KS QS go-on")) == ("played-out", "0-1-0")
    assert result(do(three("10-38-0", "4-5-0"), "AS KS QS go-on")) == ("played-out", "0-0-0")
    assert result(do(three("10-50-50", "3-3-3"), "AS KS QS go-on")) == ("played-out", "0-0-0")


def test_at_three_the_last_trick_decides_between_equals_only() -> None:
    deal = three("10-38-0", "4-5-0", tie="last_trick")
    assert result(do(deal, "AS KS QS go-on")) == ("played-out", "1-0-0")
    deal = three("10-50-50", "3-3-3", tie="last_trick")
    assert result(do(deal, "AS KS QS go-on")) == ("played-out", "0-0-0")


CLOSED_AT_THREE = "talon: 8D 7D 9D JD 7H\ncloser: 0\nclosed points: 10-0-0\nclosed tricks: 2-0-0"


def test_at_three_a_failed_close_scores_for_each_opponent() -> None:
    deal = three("35-40-0", "4-4-0", more=CLOSED_AT_THREE)
    assert result(do(deal, "AS KS QS go-on")) == ("close-failed", "0-1-1")


def test_at_three_the_opponent_who_claims_rightly_scores_alone() -> None:
    deal = three("35-66-0", "4-4-0", leader=1, more=CLOSED_AT_THREE)
    assert result(do(deal, "claim")) == ("claim", "0-1-0")


def test_partners_win_and_lose_together() -> None:
    text = "hand 0: AS\nhand 1: KS\nhand 2: QS\nhand 3: JS\nturn-up: 9H\ntricks: 4-1\npoints: 60-10\nleader: 2\n"
    assert result(do(state(game("four-handed"), text), "claim")) == ("false-claim", "0-2")
    assert result(do(state(game("four-handed"), text.replace("60", "66")), "claim")) == ("claim", "2-0")
    for seat, expected in ((0, "0-2"), (2, "0-2"), (1, "2-0"), (3, "2-0")):
        deal = state(game("four-handed"), text)
        deal.forfeit(seat)
        assert result(deal) == ("forfeit", expected)


def test_two_packs_have_their_own_target_and_line() -> None:
    hands = "".join(f"hand {seat}: {card}\n" for seat, card in enumerate(("AS", "AS", "TS", "9S")))
    text = hands + "trump: H\nleader: 0\ntricks: 8-3\n"
    for points, expected in (("101-51", ("claim", "1-0")), ("101-50", ("claim", "2-0")),
                             ("100-50", ("false-claim", "0-2")), ("100-51", ("false-claim", "0-1"))):  # fmt: skip
        assert result(do(state(game("sessantasei-101"), f"{text}points: {points}\n"), "claim")) == expected


def test_the_dealer_who_sits_out_neither_scores_nor_pays() -> None:
    text = "dealer: 1\nhand 2: AS\nhand 0: TS\ntrump: H\nleader: 2\npoints: 10-0-60\ntricks: 2-0-9\n"
    deal = state(game("three-handed"), text)
    deal.forfeit(0)
    assert result(deal) == ("forfeit", "0-0-2")
    assert result(do(state(game("three-handed"), text), "claim")) == ("false-claim", "2-0-0")
    assert result(do(state(game("three-handed"), text), "AS TS")) == ("played-out", "0-0-2")


# -- 1001 -------------------------------------------------------------------------------------------------------------


def test_1001_adds_card_points_without_claim_or_last_trick() -> None:
    deal = state(game("tausendeins"), "hand 0: AS\nhand 1: TS\npoints: 30-20\ntricks: 6-5\n")
    assert result(do(deal, "AS TS")) == ("played-out", "51-20")


def test_1001_a_forfeit_gives_the_other_side_all_that_a_deal_can_hold() -> None:
    deal = state(game("tausendeins"), "hand 0: AS\nhand 1: TS\npoints: 30-20\ntricks: 6-5\n")
    deal.forfeit(0)
    assert result(deal) == ("forfeit", "0-400")


def test_1001_the_last_marriage_makes_trump_at_once() -> None:
    hands = "hand 0: KD QD KC QC AS\nhand 1: AH TH AC JC 9D\npoints: 0-0\ntricks: 7-0\n"
    deal = state(game("tausendeins"), hands)
    assert deal.trump == 0
    do(deal, "MD")
    assert (deal.trump, deal.points) == (3, [40, 0])
    do(deal, "KD 9D MC")  # clubs replace diamonds: 140 in all, and the kings' trick of 4
    assert (deal.trump, deal.points) == (4, [144, 0])
    do(deal, "KC AC")  # the new trump holds for this trick: the ace of trumps takes it
    assert (deal.leader, deal.points) == (1, [144, 15])


def test_1001_a_marriage_before_the_sides_first_trick_waits_for_it() -> None:
    text = """
        hand 0: KD QD AS 9S JS 9H TD JD
        hand 1: TH JH QS KS KH QH AD 9D
        talon: KC QC AC TC JC 9C AH TS
    """
    deal = do(state(game("tausendeins"), text), "MD")
    assert (deal.points, deal.pending, deal.trump) == ([0, 0], (40, 0), 3)
    do(deal, "QD AD")
    assert (deal.points, deal.pending) == ([0, 14], (40, 0))
    do(deal, "KH 9H QH AS")  # seat 1 wins with the king, then leads again
    assert deal.pending == (40, 0) and deal.points[0] == 0
    do(deal, "JH JD")  # the jack of trumps takes the trick: 4 and the waiting 40
    assert (deal.points[0], deal.pending) == (44, (0, 0))
