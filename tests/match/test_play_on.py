"""A match played on from within is the same match: the same question first, and the same end for the same answers."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.cards import CLAIM, actions_of
from arena.errors import IllegalAction
from arena.game.game import Game
from arena.game.presets import PRESETS, preset
from arena.match.clock import TimeControl
from arena.match.record import MatchRecord
from arena.match.referee import Ask, DealEnded, MatchStarted, NoReply, Opening, Referee, Reply, play_on, referee
from arena.match.rulings import Fault

TIME = TimeControl(limit_ms=1000, bank_ms=60_000)
Answer = Reply | NoReply


def decks(game: Game) -> dict[int, list[int]]:
    return {number: random.Random(number).sample(game.cards, len(game.cards)) for number in range(1, 101)}


def any_answer(ask: Ask, rng: random.Random) -> Answer:
    if rng.random() < 0.01:
        return NoReply(Fault.ERROR, 5.0)
    legal = actions_of(ask.view.legal)
    cards = [action for action in legal if action != CLAIM or rng.random() < 0.2]
    return Reply(rng.choice(cards or legal), rng.choice([0.5, 900.0, 1100.0]))


def refereed(match: Referee, answers: list[Answer] | random.Random) -> tuple[MatchRecord, list[tuple[Ask, Answer]]]:
    """A match to its end: its record, and every question with its answer."""
    asked: list[tuple[Ask, Answer]] = []
    answer: Answer | None = None
    while True:
        try:
            request = match.send(answer)
        except StopIteration as end:
            record: MatchRecord = end.value
            return record, asked
        answer = None
        if isinstance(request, Ask):
            answer = any_answer(request, answers) if isinstance(answers, random.Random) else answers[len(asked)]
            asked.append((request, answer))


def opening_at(ask: Ask, before: list[tuple[Ask, Answer]], seats: int) -> Opening:
    view = ask.view
    spent = tuple(tuple(answer.took_ms for then, answer in before if then.seat == seat) for seat in range(seats))
    return Opening(ask.deal, view.dealer, view.score, view.carry, view.past_actions, spent)


@pytest.mark.parametrize("name", PRESETS)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_deal_that_is_played_on_as_it_went_ends_as_it_did(name: str, seed: int) -> None:
    game, rng = Game(preset(name)), random.Random(seed)
    deck_of = decks(game).__getitem__
    record, asked = refereed(referee(game, deck_of, TIME), rng)
    place = rng.randrange(len(asked))
    ask, _ = asked[place]
    opening = opening_at(ask, asked[:place], game.table.seats)
    later = [answer for then, answer in asked[place:] if then.deal == ask.deal]
    again, asked_again = refereed(play_on(game, deck_of, TIME, (), opening), later)
    assert [then for then, _ in asked_again] == [then for then, _ in asked[place : place + len(later)]]
    assert again.deals == (record.deals[ask.deal - 1],)
    assert again.faults == tuple(fault for fault in record.faults if fault.deal == ask.deal)
    assert [len(deals) for deals in again.testimony.asked] in ([ask.deal] * game.table.seats, [])


def test_it_tells_of_the_end_of_that_deal_and_begins_no_other() -> None:
    game = Game(preset("sixty-six"))
    deck_of = decks(game).__getitem__
    _, asked = refereed(referee(game, deck_of, TIME), random.Random(5))
    second = next(place for place, (ask, _) in enumerate(asked) if ask.deal == 2)
    match = play_on(game, deck_of, TIME, (), opening_at(asked[second][0], asked[:second], 2))
    told = [next(match)]
    with pytest.raises(StopIteration):
        while True:
            told.append(match.send(asked[second + len(told) - 2][1] if isinstance(told[-1], Ask) else None))
    assert told[0] == MatchStarted()
    ends = [each for each in told if isinstance(each, DealEnded)]
    assert [end.deal for end in ends] == [2]
    assert all(each.deal == 2 for each in told if isinstance(each, Ask))


def test_actions_that_the_rules_refuse_are_no_opening() -> None:
    game = Game(preset("sixty-six"))
    opening = Opening(1, 1, (0, 0), 0, bytes([CLAIM, CLAIM]), ((), ()))
    with pytest.raises(IllegalAction):
        next(play_on(game, decks(game).__getitem__, TIME, (), opening))
