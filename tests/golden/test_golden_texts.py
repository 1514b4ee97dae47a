"""The readable deals and matches of this folder: each parses, replays to its stated result, and is written alike.

Reading a deal plays it, so that a rule that changes shows up here as a line of a file.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.game.game import Game
from arena.game.notation import format_deal, format_match, parse_deal, parse_match, replay
from arena.game.scoring import Termination

HERE = Path(__file__).parent
DEALS = sorted((HERE / "deals").glob("*.txt"))
MATCHES = sorted((HERE / "matches").glob("*.txt"))


def without_head(text: str) -> str:
    """The text from the line after `rules:` on: remarks come before it, and the nearest preset may be a new one."""
    _, rules, rest = text.partition("rules:")
    assert rules
    return rest.partition("\n")[2]


@pytest.mark.parametrize("path", DEALS, ids=lambda path: path.stem)
def test_a_golden_deal_replays_to_its_stated_result(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    deal = parse_deal(text)
    assert deal.outcome is not None
    assert without_head(format_deal(deal)) == without_head(text)
    played = replay(Game(deal.rules), deal.start, deal.actions)
    if deal.outcome.termination is Termination.FORFEIT:
        assert played.outcome is None
    else:
        assert played.outcome == deal.outcome


@pytest.mark.parametrize("path", MATCHES, ids=lambda path: path.stem)
def test_a_golden_match_reads_as_it_is_written(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    match = parse_match(text)
    assert without_head(format_match(match)) == without_head(text)
    score = (0, 0)
    for deal in match.deals:
        assert deal.score == score and deal.outcome is not None
        score = (score[0] + deal.outcome.points[0], score[1] + deal.outcome.points[1])
    assert match.result == score and max(score) >= match.rules.match_target > max(match.deals[-1].score)


def test_the_golden_deals_end_in_every_way() -> None:
    ends = {deal.outcome.termination for path in DEALS if (deal := parse_deal(path.read_text("utf-8"))).outcome}
    assert ends == set(Termination)
