"""A watched deal shows every card where it was played, who took it, and why the deal ended."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator

import pytest
from rich.console import Console, RenderableType

from arena.app.play import PlayedMatch, WatchedDeal
from arena.cards import GO_ON, Card, actions_of, cards_of
from arena.cli import watching
from arena.game.scoring import Termination
from arena.match.record import MatchRecord, Step, replay_deal
from arena.match.referee import Ask, Reply
from arena.match.state import MatchState
from arena.match.summary import MatchKey
from arena.tournament import decks
from tests.reports import runs

NAMES = ("plain", "sound")
TABLE = runs.GAME.table


def shown(data: RenderableType) -> str:
    console = Console(file=io.StringIO(), width=120, markup=False, highlight=False, emoji=False)
    with console.capture() as captured:
        console.print(data)
    return captured.get()


def silent(ask: Ask, chance: random.Random) -> Reply:
    """Plays cards and says nothing."""
    return Reply(next(action for action in actions_of(ask.view.legal) if action <= 32 or action == GO_ON), took_ms=0.1)


def watched(number: int) -> tuple[MatchRecord, list[WatchedDeal]]:
    """A match of changing choosers, as its watcher saw it."""
    secret = decks.secret_from_seed(number)
    one, other = [(runs.plain, runs.sound), (runs.plain, runs.faulty), (silent, silent)][number % 3]
    key = MatchKey(0, NAMES, 0, number)
    choosers = {"plain": one, "sound": other}
    record = runs.play(secret, choosers, key, NAMES, mirrored=True)
    return record, list(_deals(secret, str(number), record))


def _deals(secret: bytes, list_id: str, record: MatchRecord) -> Iterator[WatchedDeal]:
    state = MatchState(runs.GAME.rules)
    for number, played in enumerate(record.deals, start=1):
        deck = decks.deck(secret, list_id, number, runs.GAME.cards)
        fault = next((fault.seat for fault in record.faults if fault.deal == number), None)
        replaying = replay_deal(runs.GAME, deck, number, state.score, state.carry, played.dealer, played.actions, fault)
        steps: list[Step] = []
        while True:
            try:
                steps.append(next(replaying))
            except StopIteration as end:
                outcome = end.value
                break
        points = state.add(outcome)
        yield WatchedDeal(number, NAMES, played.dealer, tuple(steps), outcome, points, state.score)


MATCHES = [watched(number) for number in range(12)]
DEALS = [deal for _, deals in MATCHES for deal in deals]


def tricks(page: str) -> list[list[str]]:
    """The words of each numbered line."""
    return [line.split() for line in page.splitlines() if line[:2].strip().isdigit()]


@pytest.mark.parametrize("deal", DEALS, ids=lambda deal: f"{len(deal.steps)} steps")
def test_every_trick_has_its_cards_its_taker_and_the_card_points(deal: WatchedDeal) -> None:
    page = shown(watching.deal(deal, TABLE, symbols=False))
    last = deal.steps[-1]
    lines = tricks(page)
    for number, seat in enumerate(last.view.winners):
        assert lines[number][0] == str(number + 1)
        assert lines[number][-1] == NAMES[seat]
    played = [str(step.action) for step in deal.steps if step.action is not None and step.action.card]
    words = [word for line in page.splitlines()[3:-2] for word in line.split()]
    for card in played:
        assert words.count(card) == 1 + (f"takes {card}" in page)
    if deal.outcome.termination is Termination.PLAYED_OUT:
        assert lines[-1][-2] == "-".join(map(str, deal.outcome.card_points))


@pytest.mark.parametrize("deal", DEALS[:10])
def test_the_hands_are_those_that_were_dealt(deal: WatchedDeal) -> None:
    line = shown(watching.deal(deal, TABLE, symbols=False)).splitlines()[2].split()
    hands: list[Card] = []
    for seat in range(TABLE.seats):
        hands += next((cards_of(step.view.hand) for step in deal.steps if step.seat == seat), ())
    assert [word for word in line if word in set(map(str, hands))] == list(map(str, hands))


def test_every_way_to_end_was_seen_and_is_told() -> None:
    told = {deal.outcome.termination: shown(watching.deal(deal, TABLE, symbols=True)) for deal in DEALS}
    assert {Termination.CLAIM, Termination.PLAYED_OUT, Termination.CLOSE_FAILED, Termination.FORFEIT} <= set(told)
    assert " claims rightly (" in told[Termination.CLAIM]
    assert " closed and failed (" in told[Termination.CLOSE_FAILED]
    assert " loses by a fault (" in told[Termination.FORFEIT] and "fails" in told[Termination.FORFEIT]


def test_a_seat_that_was_never_asked_has_no_hand_to_show() -> None:
    deal = next(deal for deal in DEALS if len({step.seat for step in deal.steps}) == 2)
    alone = WatchedDeal(1, NAMES, deal.dealer, deal.steps[:1], deal.outcome, deal.points, deal.score)
    assert "(was never asked)" in shown(watching.deal(alone, TABLE, symbols=True))


def test_suits_are_letters_where_the_terminal_has_no_symbols() -> None:
    assert shown(watching.deal(DEALS[0], TABLE, symbols=False)).replace("›", "").isascii()
    assert any(symbol in shown(watching.deal(DEALS[0], TABLE, symbols=True)) for symbol in "♠♥♦♣")


def test_the_points_of_a_match_add_up_and_the_winner_is_named() -> None:
    for record, deals in MATCHES:
        page = shown(watching.match(PlayedMatch(NAMES, "5", record), TABLE)).splitlines()
        winner = NAMES[record.ranks.index(1)]
        assert page[-1].startswith(f"{winner} wins {max(record.points)}-{min(record.points)}")
        assert len(page) == len(deals) + 1


def test_names_are_made_harmless() -> None:
    record, deals = MATCHES[0]
    evil = ("a\x1b[31m", "[red]b")
    deal = deals[0]
    renamed = WatchedDeal(1, evil, deal.dealer, deal.steps, deal.outcome, (0, 0), (0, 0))
    page = shown(watching.deal(renamed, TABLE, symbols=True))
    page += shown(watching.match(PlayedMatch(evil, "5", record), TABLE))
    assert "\x1b" not in page and r"a\x1b[31m" in page and "[red]b" in page
    assert "nobody scores" in page
