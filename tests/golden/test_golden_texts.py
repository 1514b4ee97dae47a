"""The readable deals and matches of this folder: each parses, replays to its stated result, and is written alike.

Reading a deal plays it, so that a rule that changes shows up here as a line of a file.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.game.game import Game
from arena.game.notation import DealText, MatchText, format_deal, format_match, parse_deal, parse_match, replay
from arena.game.presets import PRESETS, name_of
from arena.game.scoring import Termination
from arena.match.state import MatchState
from tests.golden.slow_rules import Result, SlowDeal

HERE = Path(__file__).parent
DEALS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((HERE / "deals").glob("*.txt"))}
MATCHES = {path.stem: path.read_text(encoding="utf-8") for path in sorted((HERE / "matches").glob("*.txt"))}
AT_LEAST_SIX = ("three-handed", "sessantasei-3", "four-handed", "sessantasei-101", "tausendeins")


def without_remark(text: str) -> str:
    """The text from the line `rules:` on."""
    return text[text.index("rules:") :]


def slowly(deal: DealText) -> Result:
    """What the slow interpreter says that the deal was worth."""
    start = deal.start
    slow = SlowDeal(
        deal.rules.options(),
        start.dealer,
        [list(map(str, hand)) for hand in start.hands],
        list(map(str, start.talon)),
        str(start.turn_up) if start.turn_up else None,
    )
    for action in deal.actions:
        slow.do(str(action))
    if slow.question is not None:
        slow.forfeit(slow.question[1])
    assert slow.result is not None
    return slow.result


def agrees(deal: DealText) -> None:
    """The slow interpreter gives the stated result."""
    outcome, result = deal.outcome, slowly(deal)
    assert outcome is not None
    stated = (str(outcome.termination), outcome.seat, outcome.points, outcome.card_points)
    assert stated == (result.how, result.seat, result.points, result.totals)


@pytest.mark.parametrize("name", DEALS)
def test_a_golden_deal_replays_to_its_stated_result(name: str) -> None:
    deal = parse_deal(DEALS[name])
    assert deal.outcome is not None
    assert format_deal(deal) == without_remark(DEALS[name])
    played = replay(Game(deal.rules), deal.start, deal.actions)
    if deal.outcome.termination is Termination.FORFEIT:
        assert played.outcome is None
    else:
        assert played.outcome == deal.outcome


@pytest.mark.parametrize("name", DEALS)
def test_a_golden_deal_is_worth_the_same_to_the_slow_interpreter(name: str) -> None:
    agrees(parse_deal(DEALS[name]))


@pytest.mark.parametrize("name", MATCHES)
def test_a_golden_match_reads_as_it_is_written(name: str) -> None:
    match = parse_match(MATCHES[name])
    assert format_match(match) == without_remark(MATCHES[name])
    state = MatchState(match.rules)
    for deal in match.deals:
        assert not state.over
        assert (deal.start.dealer, deal.score, deal.carry) == (state.dealer, state.score, state.carry)
        agrees(deal)
        assert deal.outcome is not None
        state.add(deal.outcome)
    assert state.over and match.result == state.score


def test_a_match_of_1001_goes_to_the_higher_total_of_two_that_are_over() -> None:
    match: MatchText = parse_match(MATCHES["tausendeins"])
    assert match.result is not None and min(match.result) >= 1001 and max(match.deals[-1].score) < 1001
    state = MatchState(match.rules)
    state.score = match.result
    assert state.ranks[match.result.index(max(match.result))] == 1 and sum(state.ranks) == 3


def test_the_golden_deals_end_in_every_way() -> None:
    ends = {deal.outcome.termination for text in DEALS.values() if (deal := parse_deal(text)).outcome}
    assert ends == set(Termination)


def test_every_game_of_more_seats_and_1001_has_six_golden_deals() -> None:
    names = [name_of(parse_deal(text).rules) for text in DEALS.values()]
    for name in AT_LEAST_SIX:
        assert name in PRESETS and names.count(name) >= 6, name
