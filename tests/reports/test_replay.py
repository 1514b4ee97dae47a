"""A replay shows what was played, all of it, and to the eyes of a seat nothing that the seat could not know."""

from __future__ import annotations

import dataclasses
import io
import json
import random
import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console, RenderableType

from arena.cards import ACTION_NAMES, Action, actions_of, hand_cards
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.scoring import Outcome, Termination
from arena.match.record import OpenDeal, Status, scene_of
from arena.match.summary import MatchKey
from arena.reports.replay import json as replay_json
from arena.reports.replay import text, words
from arena.reports.replay.model import DealReplay, MatchReplay, Sight, sight
from tests.game.tables import GAMES, at_random, shuffled
from tests.game.worlds import Window, indistinguishable, other_world
from tests.reports.replays import replay_of

SEATS_AND_ALL = (None, 0, 1, 2, 3)


def shown(data: RenderableType, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, markup=False, highlight=False, emoji=False)
    with console.capture() as captured:
        console.print(data)
    return captured.get()


def moments(replay: MatchReplay, viewer: int | None = None) -> Iterator[Sight]:
    for deal in replay.deals:
        for step in range(1, deal.steps + 1):
            yield sight(replay, deal, step, viewer)


# -- what was played --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", GAMES)
def test_every_decision_of_a_match_is_a_step_and_every_deal_has_an_end(preset: str) -> None:
    record, replay = replay_of(preset)
    assert len(replay.deals) == len(record.deals)
    faulty = {fault.deal for fault in record.faults}
    for number, (deal, played) in enumerate(zip(replay.deals, record.deals, strict=True), start=1):
        seen = [sight(replay, deal, step) for step in range(1, deal.steps + 1)]
        assert bytes(each.action for each in seen if each.action is not None) == played.actions
        assert len(seen) == len(played.actions) + (number in faulty) + 1
        assert all(each.asked is not None and each.outcome is None for each in seen[:-1])
        assert seen[-1].asked is None and seen[-1].outcome == deal.open.outcome
        assert deal.open.points == played.points
        assert all(a.action in [choice.action for choice in a.choices if choice.chosen] for a in seen if a.action)
    scores = [deal.open.score for deal in replay.deals]
    assert [sight(replay, deal, 1).score for deal in replay.deals[1:]] == scores[:-1]


@pytest.mark.parametrize("preset", GAMES)
def test_with_all_cards_open_every_card_of_the_deck_is_somewhere(preset: str) -> None:
    _, replay = replay_of(preset)
    for seen in moments(replay):
        cards = [card for hand in seen.hands for card in hand.cards]
        cards += [card for card in seen.talon if card is not None]
        cards += [played.card for played in seen.table]
        cards += [played.card for trick in seen.tricks for played in trick.cards]
        assert sorted(cards) == sorted(GAMES[preset].cards)
        assert not any(hand.hidden for hand in seen.hands)


@pytest.mark.parametrize("preset", GAMES)
def test_captions_tell_what_was_done_and_who_took_what(preset: str) -> None:
    _, replay = replay_of(preset)
    for deal in replay.deals:
        taken = [0] * replay.table.sides
        for step in range(1, deal.steps):
            seen = sight(replay, deal, step)
            assert seen.asked is not None
            assert seen.caption.startswith(replay.cast.seats[seen.asked])
            assert "None" not in seen.caption and "  " not in seen.caption
            if seen.action is not None and seen.action.card is not None:
                assert f" {words.card(seen.action.card)}" in seen.caption
            if takes := re.search(r"(bot \d)(?: plays \S+ and)? takes the trick, (\d+) point", seen.caption):
                trick = sight(replay, deal, step + 1).tricks[-1]
                assert takes[1] == replay.seats[trick.winner]
                assert int(takes[2]) == sum(each.card.points for each in trick.cards)
                taken[replay.table.side_of[trick.winner]] += int(takes[2])
            counted = re.findall(r"and (\d+) for the (?:marriage|last one)", seen.caption)
            if counted:
                taken[replay.table.side_of[sight(replay, deal, step + 1).tricks[-1].winner]] += sum(map(int, counted))
        end = sight(replay, deal, deal.steps)
        assert end.caption.endswith(f"the score is {words.dashed(deal.open.score)}")
        at_once = [now - all_told for now, all_told in zip(end.points, taken, strict=True)]
        assert all(points >= 0 for points in at_once), "a caption tells more points than there were"


def test_a_close_is_told_with_the_points_of_the_closer_and_the_tricks_of_the_other() -> None:
    told = [seen.caption for seed in range(4) for seen in moments(replay_of("schnapsen", seed)[1])]
    assert any(
        re.fullmatch(r"bot \d closes with \d+ points?; bot \d has (no trick|1 trick|\d tricks)", each) for each in told
    )


def test_every_way_to_end_is_put_into_words() -> None:
    _, replay = replay_of("sixty-six")
    for termination in Termination:
        assert words.reason(termination, 0, replay.cast).startswith("bot 0 ")
    assert words.reason(Termination.PLAYED_OUT, None, replay.cast).startswith("nobody ")


def test_exact_values_are_there_in_strict_play_of_two_and_the_best_gives_nothing_away() -> None:
    solved = [
        seen for seen in moments(replay_of("sixty-six-strict")[1]) if seen.choices and seen.choices[0].value is not None
    ]
    assert solved
    for seen in solved:
        page = shown(text.picture(replay_of("sixty-six-strict")[1], seen))
        values = {choice.chosen: choice.value for choice in seen.choices}
        best = max(choice.value for choice in seen.choices if choice.value is not None)
        if True in values:
            assert ("gives away" in page) == (values[True] != best)
    assert not any(choice.value for seen in moments(replay_of("four-handed")[1]) for choice in seen.choices)


# -- what a seat sees -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", GAMES)
def test_a_seat_sees_its_hand_what_was_shown_and_its_own_choices(preset: str) -> None:
    _, replay = replay_of(preset)
    for viewer in range(replay.table.seats):
        for deal in replay.deals:
            for step, scene in enumerate(deal.open.scenes, start=1):
                seen, view = sight(replay, deal, step, viewer), scene.views[viewer]
                assert seen.hands[viewer].cards == hand_cards(view.hand)
                for seat, hand in enumerate(seen.hands):
                    assert len(hand.cards) + hand.hidden == view.hand_sizes[seat]
                    assert seat == viewer or hand.cards == hand_cards(view.known[seat])
                assert {card for card in seen.talon if card} <= {view.turn_up}
                assert [choice.action for choice in seen.choices] == list(actions_of(view.legal))
                if seen.asked != viewer:
                    assert (seen.point, seen.fault, seen.evidence) == (None, "", "")


def window(game: Game) -> Window:
    """All that a replay shows to a seat of the step that led here: picture, story and JSON."""
    before: dict[int, Deal] = {}

    def look(deal: Deal, seat: int, viewer: int | None) -> object:
        last = before.get(id(deal), deal)
        before[id(deal)] = deal.copy()
        done = Action(deal.past_actions[-1]) if len(deal.past_actions) > len(last.past_actions) else None
        outcome = Outcome(Termination.PLAYED_OUT, (0,) * game.table.sides, tuple(deal.points), seat)
        scenes = (scene_of(last, done), scene_of(deal, None))
        deals = (DealReplay(OpenDeal(1, deal.dealer, scenes, outcome, outcome.points), (None,)),)
        names = tuple(f"bot {number}" for number in range(game.table.seats))
        key = MatchKey(0, names, 0, 0)
        replay = MatchReplay("cup", key, 0, "x", game.rules, names, Status.PLAYED, (), (), deals)
        pictures = [shown(text.picture(replay, sight(replay, deals[0], step, viewer))) for step in (1, 2)]
        return pictures, shown(text.story(replay, deals[0], viewer)), replay_json.render(replay, deals, viewer)

    return lambda deal, seat: look(deal, seat, seat)


def compare(game: Game, rng: random.Random, look: Window) -> int:
    compared = 0
    for deal in (shuffled(game, rng), at_random(game, rng)):
        seat = rng.randrange(game.table.seats)
        worlds = other_world(deal, seat, rng)
        if worlds is not None:
            compared += indistinguishable(worlds, seat, look, rng)
    return compared


@pytest.mark.parametrize("name", GAMES)
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_two_deals_that_a_seat_cannot_tell_apart_look_the_same_to_it(name: str, seed: int) -> None:
    compare(GAMES[name], random.Random(seed), window(GAMES[name]))


def test_the_comparison_finds_a_replay_that_shows_the_talon() -> None:
    game = GAMES["sixty-six"]
    honest = window(game)

    def leaky(deal: Deal, seat: int) -> object:
        return honest(deal, seat), deal.talon[:1]

    with pytest.raises(AssertionError):
        for seed in range(50):
            compare(game, random.Random(seed), leaky)


# -- how it looks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", GAMES)
def test_a_picture_fits_a_terminal_of_40_columns(preset: str) -> None:
    _, replay = replay_of(preset)
    for viewer in SEATS_AND_ALL[: replay.table.seats + 1]:
        for seen in moments(replay, viewer):
            lines = shown(text.picture(replay, seen), width=40).splitlines()
            assert max(map(len, lines)) <= 40
            assert all(words.card(card) in "\n".join(lines) for hand in seen.hands for card in hand.cards)


def test_a_picture_leaves_room_for_a_title_and_the_keys_on_24_lines() -> None:
    for seen in moments(replay_of("sixty-six")[1]):
        assert len(shown(text.picture(replay_of("sixty-six")[1], seen)).splitlines()) <= 22


def test_a_terminal_that_knows_ascii_alone_gets_cards_as_in_records() -> None:
    _, replay = replay_of("sixty-six")
    page = text.in_ascii("".join(shown(text.story(replay, deal, 0)) for deal in replay.deals))
    assert page.isascii()
    assert {"TH", "AS"} <= set(re.findall(r"[A-Z0-9]+", page))


def test_names_of_nasty_letters_and_any_length_do_no_harm() -> None:
    _, replay = replay_of("sixty-six")
    nasty = dataclasses.replace(replay, seats=("[red]a", "\x1b[31m\nb\ud800" + "x" * 100))
    page = shown(text.story(nasty, nasty.deals[0], None), width=400)
    assert "[red]a" in page and "\\x1b[31m\\nb\\ud800xxx" in page and "\x1b" not in page
    first = sight(nasty, nasty.deals[0], 1)
    for narrow in (text.story(nasty, nasty.deals[0], None), text.picture(nasty, first)):
        lines = shown(narrow, width=40).splitlines()
        assert max(map(len, lines)) <= 40
        assert all(
            words.card(card) in "\n".join(lines)
            for hand in sight(nasty, nasty.deals[0], 1).hands
            for card in hand.cards
        )
    assert json.loads(replay_json.render(nasty, nasty.deals, None))["seats"][0] == "[red]a"


# -- JSON -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", GAMES)
def test_the_json_holds_every_action_of_the_record(preset: str) -> None:
    record, replay = replay_of(preset)
    document = json.loads(replay_json.render(replay, replay.deals, None))
    assert document["schema_version"] == 1
    assert document["rules"]["name"] == preset
    for deal, played in zip(document["deals"], record.deals, strict=True):
        actions = [step["action"] for step in deal["steps"] if step["action"]]
        assert actions == [ACTION_NAMES[action] for action in played.actions]
        assert all(step["action"] in step["legal"] for step in deal["steps"] if step["action"])
        assert deal["points"] == list(played.points)
        assert deal["steps"][-1]["asked"] is None
