"""Deals and matches as text: what is written parses back, and what does not make sense is refused with its line."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import IllegalAction, NotationError
from arena.game.game import Game
from arena.game.notation import (
    DealText,
    MatchText,
    format_deal,
    format_match,
    format_rules,
    parse_deal,
    parse_match,
    parse_rules,
    replay,
)
from arena.game.position import parse_position, position_of
from arena.game.presets import PRESETS
from arena.game.rules import Rules
from tests.game.tables import GAMES, any_policy, at_random, do, mixed_rules, moments, shuffled

SEEDS = st.integers(0, 2**32 - 1)
EVERY_GAME = pytest.mark.parametrize("name", GAMES)

WORKED = """\
rules: sixty-six
dealer: 1
hand 0: TS AS AH KD QC KC
hand 1: TH 9D JD 9C TC AC
talon: KS QS JS 9S KH QH 9H AD TD QD JC JH
trump: H
0:TS 1:9C 0:go-on
0:MC 0:KC 1:AC 1:go-on
1:TH 0:AH 0:go-on
0:AS 1:JD 0:go-on
0:QC 1:TC 1:go-on
1:9D 0:KD 0:go-on
0:claim
=> claim by seat 0: 2-0 (68-28)
"""


# -- rules ------------------------------------------------------------------------------------------------------------


def test_rules_are_written_as_the_nearest_preset_and_what_differs() -> None:
    assert format_rules(PRESETS["pagat"]) == "pagat"
    assert format_rules(PRESETS["pagat"].with_options({"match_target": 5})) == "pagat match_target=5"
    changed = PRESETS["santase"].with_options({"claim": "own_turn", "close_needs_claim": True})
    assert set(format_rules(changed).split()) == {"santase", "claim=own_turn", "close_needs_claim=true"}


@settings(max_examples=100)
@given(seed=SEEDS)
def test_any_rules_come_back_from_their_text(seed: int) -> None:
    rules = mixed_rules(random.Random(seed))
    assert parse_rules(format_rules(rules)) == rules


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "unknown rules ''"),
        ("sixty-sick", "did you mean 'sixty-six'.*expected a preset"),
        ("pagat target", "'target' is not an option; expected option=value"),
        ("pagat deck=big", "deck is 'big'; it must be a whole number"),
        ("pagat close_first_lead=maybe", "must be true or false"),
        ("pagat clam=off", "did you mean 'claim'"),
        ("pagat claim=auto", "close_needs_claim"),
    ],
)
def test_rules_that_make_no_sense_are_refused(text: str, says: str) -> None:
    with pytest.raises(NotationError, match=says):
        parse_rules(text)


# -- deals ------------------------------------------------------------------------------------------------------------


def test_the_worked_example_reads_as_it_is_told() -> None:
    text = parse_deal(WORKED)
    assert format_deal(text) == WORKED
    assert text.rules == Rules()
    assert text.outcome is not None
    assert (text.outcome.termination, text.outcome.points, text.outcome.card_points) == ("claim", (2, 0), (68, 28))
    deal = replay(Game(text.rules), text.start, text.actions)
    assert deal.outcome == text.outcome


def text_round_trips(game: Game, rng: random.Random) -> None:
    """At every step of a random deal its text parses back, and replaying it gives the same deal."""
    deal = shuffled(game, rng)
    deal.score = tuple(rng.randrange(3) for _ in range(game.table.sides))
    deal.carry = rng.randrange(2)
    start = position_of(deal)
    for _ in moments(deal, any_policy(rng), rng):
        text = DealText.of(start, deal)
        assert parse_deal(format_deal(text)) == text
        again = replay(game, text.start, text.actions, score=text.score, carry=text.carry)
        assert [again.view(seat) for seat in range(game.rules.seats)] == [
            deal.view(seat) for seat in range(game.rules.seats)
        ]
    text = DealText.of(start, deal)
    assert text.outcome is not None
    assert parse_deal(format_deal(text)) == text
    assert replay(game, text.start, text.actions).outcome == deal.outcome


@EVERY_GAME
@settings(max_examples=8)
@given(seed=SEEDS)
def test_the_text_of_a_deal_parses_back_at_every_step(name: str, seed: int) -> None:
    text_round_trips(GAMES[name], random.Random(seed))


@settings(max_examples=30)
@given(seed=SEEDS)
def test_the_same_holds_for_options_mixed_at_random(seed: int) -> None:
    rng = random.Random(seed)
    text_round_trips(Game(mixed_rules(rng)), rng)


@EVERY_GAME
@given(seed=SEEDS)
def test_a_deal_begun_in_the_middle_and_lost_by_a_fault_parses_back(name: str, seed: int) -> None:
    rng = random.Random(seed)
    deal = at_random(GAMES[name], rng)
    begun = replay(deal.game, position_of(deal), [])
    start = position_of(begun)
    begun.apply(begun.legal_actions[0])
    if begun.outcome is None:
        begun.forfeit(rng.choice(begun.order))
    text = DealText.of(start, begun)
    assert parse_deal(format_deal(text)) == text


def test_a_line_holds_a_trick_and_what_was_asked_before_the_next_lead() -> None:
    start = WORKED.partition("\n")[2].partition("0:TS")[0]
    deal = replay(GAMES["pagat"], parse_position(GAMES["pagat"], start), [])
    do(deal, "TS 9C go-on MC close go-on KC AC TH AH claim")
    lines = format_deal(DealText.of(parse_position(GAMES["pagat"], start), deal)).splitlines()
    assert lines[6:] == [
        "0:TS 1:9C 0:go-on",
        "0:MC 0:close 1:go-on 0:KC 1:AC",
        "1:TH 0:AH",
        "0:claim",
        "=> false-claim by seat 0: 0-3 (51-15)",
    ]
    deal = replay(GAMES["pagat"], parse_position(GAMES["pagat"], start), [])
    do(deal, "TS 9C close go-on AS TH")
    lines = format_deal(DealText.of(parse_position(GAMES["pagat"], start), deal)).splitlines()
    assert lines[6:] == ["0:TS 1:9C 0:close 1:go-on", "0:AS 1:TH"]


def test_lines_may_be_broken_anywhere_and_carry_remarks() -> None:
    broken = WORKED.replace("1:9C 0:go-on\n", "\n  1:9C # the reply\n\n0:go-on ").replace("0:claim", "0:claim # 68")
    assert broken.count("\n") == WORKED.count("\n") + 2
    assert parse_deal("# a deal\n\n" + broken) == parse_deal(WORKED)


@pytest.mark.parametrize(
    ("found", "instead", "says"),
    [
        ("rules: sixty-six\n", "", "line 1: found 'dealer: 1', expected 'rules: '"),
        ("rules: sixty-six", "rules: sixty", "line 1: unknown rules 'sixty'"),
        ("hand 1", "hand one", "line 4: unknown key 'hand one'"),
        ("AS AH", "AS AC", "line 2: this position cannot arise: AC stands in 2 places"),
        ("dealer: 1\n", "dealer: 1\nscore: 1\n", "line 3: '1' is not a number for each of 2 sides"),
        ("dealer: 1\n", "dealer: 1\ncarry: one\n", "line 3: 'one' is not a number"),
        ("0:TS", "TS", "line 7: unknown key 'TS 1'"),
        ("1:9C", "9C", "line 7: '9C' is no seat and action; expected as in 0:TS"),
        ("0:TS", "0:XS", "line 7: 'XS' is not an action"),
        ("0:TS", "2:TS", "line 7: '2' is not a seat"),
        ("0:TS", "1:TS", "line 7: 1:TS: seat 0 is to act, expected one of TS AS AH KD QC KC close claim"),
        ("0:TS", "0:9S", "line 7: 9S is not legal for seat 0"),
        ("1:AC 1", "1:AC 0", "line 8: 0:go-on: seat 1 is to act"),
        ("1:TH 0:AH", "dealer: 1", "line 9: 'dealer' is not a seat; seats are 0 to 1"),
        ("=> claim", "=> clam", "line 14: unknown end 'clam', expected one of claim, reached, false-claim"),
        ("by seat 0", "by seat 4", "line 14: '4' is not a seat"),
        ("2-0 (", "3-0 (", "line 14: found .*3-0.* but the rules give '=> claim by seat 0: 2-0 \\(68-28\\)'"),
        ("68-28", "68-29", "line 14: .* but the rules give"),
        ("2-0 (68-28)", "2-0", "line 14: .*expected a result as in"),
        ("0:claim\n", "", "line 13: the deal is not over: seat 0 is to act"),
        ("=> claim by seat 0: 2-0 (68-28)\n", "", "line 13: the deal is over, expected '=> claim by seat 0"),
        ("0:claim\n", "0:claim 0:KD\n", "line 13: KD is refused: the deal is over"),
        ("(68-28)\n", "(68-28)\n=> draw\n", "line 15: found '=> draw' after the result"),
        ("=> claim", "=> forfeit", "line 14: .* but the rules give"),
    ],
)
def test_a_text_that_is_no_deal_is_refused_with_its_line(found: str, instead: str, says: str) -> None:
    assert found in WORKED
    with pytest.raises(NotationError, match=says):
        parse_deal(WORKED.replace(found, instead, 1))


def test_an_empty_text_is_no_deal() -> None:
    with pytest.raises(NotationError, match="line 1: the text is empty"):
        parse_deal("# nothing\n")


def test_replay_refuses_an_action_that_the_rules_refuse() -> None:
    text = parse_deal(WORKED)
    with pytest.raises(IllegalAction):
        replay(Game(text.rules), text.start, text.actions[1:])


# -- matches ----------------------------------------------------------------------------------------------------------


def some_match(game: Game, rng: random.Random) -> MatchText:
    deals = []
    score = (0,) * game.table.sides
    for _ in range(3):
        deal = shuffled(game, rng)
        deal.score, deal.carry = score, rng.randrange(2)
        start = position_of(deal)
        for _ in moments(deal, any_policy(rng), rng):
            pass
        assert deal.outcome is not None
        deals.append(DealText.of(start, deal))
        score = tuple(map(sum, zip(score, deal.outcome.points, strict=True)))
    return MatchText(game.rules, tuple(deals), score)


@EVERY_GAME
@settings(max_examples=5)
@given(seed=SEEDS)
def test_the_text_of_a_match_parses_back(name: str, seed: int) -> None:
    match = some_match(GAMES[name], random.Random(seed))
    assert parse_match(format_match(match)) == match


def test_a_match_under_way_has_no_result_and_may_have_no_deal() -> None:
    match = some_match(GAMES["pagat"], random.Random(3))
    under_way = MatchText(match.rules, match.deals[:1], None)
    assert "result" not in format_match(under_way)
    assert parse_match(format_match(under_way)) == under_way
    assert parse_match("rules: pagat\n") == MatchText(match.rules, (), None)


@pytest.mark.parametrize(
    ("found", "instead", "says"),
    [
        ("deal 2", "deal 3", "line 18: found 'deal 3', expected 'deal 2'"),
        ("deal 1\n", "", "line 3: found 'dealer: 1', expected 'deal 1'"),
        ("result: 4-0", "result: 4", "line 34: '4' is not a number for each of 2 sides"),
        ("result: 4-0", "results: 4-0", "line 34: found 'results: 4-0' after the result"),
        ("score: 2-0", "score: two", "line 19: 'two' is not a number"),
    ],
)
def test_a_text_that_is_no_match_is_refused_with_its_line(found: str, instead: str, says: str) -> None:
    worked = parse_deal(WORKED)
    second = DealText(worked.rules, worked.start, worked.actions, worked.outcome, (2, 0))
    text = format_match(MatchText(worked.rules, (worked, second), (4, 0)))
    assert parse_match(text).result == (4, 0)
    assert found in text
    with pytest.raises(NotationError, match=says):
        parse_match(text.replace(found, instead, 1))
