"""What a bot is shown is what is true of the deal, in every kind of rules, and nothing that its seat may not know."""

from __future__ import annotations

import random

import pytest

from arena.bot import CLAIM, CLOSE, EXCHANGE, Match, Suit, View, hand_cards, legal_replies, trick_winner
from arena.cards import ACTIONS, cards_of, parse_cards
from arena.cards import hand_cards as cards_of_hand
from arena.errors import UsageError
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.position import parse_position, resume
from arena.game.presets import PRESETS
from arena.game.rules import Rules, TrumpSource
from arena.game.solve import solve
from arena.game.views import DecisionPoint
from tests.wire.positions import asked

SEED = bytes(range(32))


def seen(deal: Deal, bot_seed: bytes = SEED, number: int = 1) -> View:
    """The view of the seat to act, as a bot gets it."""
    assert deal.to_act is not None
    match = Match("m", deal.game.rules, deal.to_act, bot_seed=bot_seed)
    return View.of(match, deal.view(deal.to_act), deal=number, time_left_ms=1500, last_took_ms=20)


@pytest.mark.parametrize("name", PRESETS)
def test_a_view_tells_the_truth(name: str) -> None:
    for deal in asked(PRESETS[name], deals=6):
        view = seen(deal)
        seat = deal.to_act
        assert seat is not None
        side = deal.game.table.side_of[seat]
        assert view.legal == deal.legal_actions
        assert view.hand == cards_of_hand(deal.hands[seat])
        assert view.table == tuple(deal.table)
        assert view.best == (deal.best if deal.table else None)
        assert (view.trump or 0) == deal.trump
        assert (view.turn_up or 0) == deal.turn_up
        assert view.talon == len(deal.talon)
        assert (view.seat, view.leader, view.dealer, view.point) == (seat, deal.leader, deal.dealer, deal.point)
        assert view.closer == deal.closer
        assert view.must_follow_strictly == deal.strict
        assert view.my_side == view.side_of(seat) == side
        assert {seat, *view.others} == set(deal.order)
        assert (view.my_points, view.my_tricks) == (deal.points[side], deal.tricks[side])
        assert view.their_points == max(deal.points[other] for other in deal.opponents(side))
        assert (view.points, view.pending, view.tricks_won) == (
            tuple(deal.points),
            tuple(deal.pending),
            tuple(deal.tricks),
        )
        assert (view.score, view.carry) == (deal.score, deal.carry)
        assert (view.deal, view.time_left_ms, view.last_took_ms, view.resumed) == (1, 1500, 20, False)
        assert view.sure_of_claim == (deal.points[side] >= deal.game.rules.target)


@pytest.mark.parametrize("name", PRESETS)
def test_the_other_seats_are_partners_and_opponents(name: str) -> None:
    for deal in asked(PRESETS[name], deals=6):
        view = seen(deal)
        side_of, mine = deal.game.table.side_of, deal.game.table.side_of[view.seat]
        assert view.seats[0] == deal.leader
        if view.point in (DecisionPoint.ON_LEAD, DecisionPoint.FOLLOW):
            assert view.seats == deal.order
        assert sorted((*view.partners, *view.opponents)) == sorted(view.others)
        assert {side_of[seat] for seat in view.partners} <= {mine}
        assert {side_of[seat] for seat in view.opponents} == set(deal.opponents(mine))
        assert {*view.seats, view.sits_out} - {None} == set(range(deal.game.rules.seats))


@pytest.mark.parametrize("name", PRESETS)
def test_the_seat_that_wins_the_trick_is_the_engines(name: str) -> None:
    for deal in asked(PRESETS[name], deals=6):
        view = seen(deal)
        assert tuple(view.table_by_seat) == deal.order[: len(deal.table)]
        assert tuple(view.table_by_seat.values()) == view.table
        assert view.winning_seat == (deal.best_seat if deal.table else None)
        assert view.partner_wins == (view.winning_seat in view.partners)


def test_partners_sit_opposite_and_opponents_on_both_hands() -> None:
    for deal in asked(PRESETS["four-handed"], deals=1):
        view = seen(deal)
        (partner,) = view.partners
        left, right = view.opponents
        assert view.others == (left, partner, right)
        assert {view.seat, partner} in ({0, 2}, {1, 3})
        assert view.side_of(partner) == view.my_side
        assert view.side_of(left) == view.side_of(right) != view.my_side


def test_a_partners_trick_is_told_from_an_opponents() -> None:
    # Seat 2 ruffs the ten of its opponent; seat 0, its partner, is asked last.
    position = "dealer: 0; hand 0: KS QS; hand 1: AH; hand 2: AD; hand 3: JH; trump: C; turn-up: JC"
    game = Game(PRESETS["four-handed"])
    tricks = "leader: 1; tricks: 2-2; points: 20-20"
    ruffed = parse_position(game, f"{position}; {tricks}; table: TS 9C QH".replace(";", "\n"))
    view = seen(resume(game, ruffed))
    assert view.table_by_seat == dict(zip((1, 2, 3), parse_cards("TS 9C QH"), strict=True))
    assert (view.winning_seat, view.partner_wins) == (2, True)
    held = parse_position(game, f"{position}; {tricks}; table: TS 9H QH".replace(";", "\n"))
    view = seen(resume(game, held))
    assert (view.winning_seat, view.partner_wins) == (1, False)


def test_of_two_identical_cards_the_first_wins_the_trick() -> None:
    doubled = 0
    for deal in asked(PRESETS["sessantasei-101"], deals=40):
        view = seen(deal)
        if view.best is not None and view.table.count(view.best) == 2:
            doubled += 1
            assert view.winning_seat == min(
                (seat for seat, card in view.table_by_seat.items() if card == view.best), key=view.seats.index
            )
    assert doubled


def test_where_the_dealer_sits_out_the_other_two_are_opponents() -> None:
    for deal in asked(PRESETS["three-handed"], deals=6):
        view = seen(deal)
        assert view.sits_out == view.dealer
        assert view.opponents == view.others
        assert len(view.others) == 1
        assert view.partners == ()


@pytest.mark.parametrize("name", PRESETS)
def test_legal_actions_are_the_plays_the_marriages_and_what_can_be_done_besides(name: str) -> None:
    for deal in asked(PRESETS[name], deals=6):
        view = seen(deal)
        besides = {action for action in ACTIONS[37:] if view.can(action)}
        declared = {ACTIONS[32 + suit] for suit in view.marriages}
        assert {*map(int, view.plays), *declared, *besides} == set(view.legal)
        assert not any(view.can(action) for action in ACTIONS if action not in view.legal)


@pytest.mark.parametrize("name", PRESETS)
def test_the_unseen_cards_are_those_that_lie_hidden(name: str) -> None:
    for deal in asked(PRESETS[name], deals=6):
        view = seen(deal)
        hidden = list(deal.talon)
        if deal.turn_up and deal.talon:
            hidden.remove(deal.turn_up)
        for other in view.others:
            rest = list(cards_of_hand(deal.hands[other]))
            for card in cards_of(deal.known[other]):
                rest.remove(card)
            hidden += rest
        assert sorted(view.unseen) == sorted(hidden)
        assert view.known == tuple(map(cards_of, deal.known))


@pytest.mark.parametrize("name", PRESETS)
def test_the_other_hand_is_known_exactly_when_nothing_else_is_hidden(name: str) -> None:
    for deal in asked(PRESETS[name], deals=6):
        view = seen(deal)
        if len(view.others) != 1:
            assert view.other_hand is None
            continue
        (other,) = view.others
        hand = cards_of_hand(deal.hands[other])
        face_down = len(deal.talon) - (1 if deal.turn_up and deal.talon else 0)
        follows = face_down == 0 or len(view.known[other]) == len(hand)
        assert view.other_hand == (hand if follows else None)


@pytest.mark.parametrize("name", PRESETS)
def test_finished_tricks_add_up_to_what_was_played_and_won(name: str) -> None:
    for deal in asked(PRESETS[name], deals=6):
        view = seen(deal)
        table = deal.game.table
        played = [action for action in deal.past_actions if action <= 32]
        assert [card for trick in view.tricks for card in trick.cards] == played[: len(played) - len(deal.table)]
        assert [trick.winner for trick in view.tricks] == list(deal.winners)
        for trick, following in zip(view.tricks, view.tricks[1:], strict=False):
            assert following.leader == trick.winner
        won = [0] * table.sides
        for trick in view.tricks:
            won[table.side_of[trick.winner]] += 1
        assert tuple(won) == view.tricks_won
        assert [(turn.seat, int(turn.action)) for turn in view.history] == list(
            zip(deal.past_seats, deal.past_actions, strict=True)
        )


def test_the_points_of_a_trick_are_those_of_its_cards() -> None:
    for deal in asked(PRESETS["sessantasei-32"], deals=10):  # no marriages: all points come from tricks
        view = seen(deal)
        for side, points in enumerate(view.points):
            assert points == sum(trick.points for trick in view.tricks if trick.winner == side)


@pytest.mark.parametrize("name", PRESETS)
def test_a_card_takes_the_trick_if_the_engine_says_so(name: str) -> None:
    for deal in asked(PRESETS[name], deals=8):
        view = seen(deal)
        for card in view.plays:
            after = deal.copy()
            seat, played = deal.to_act, len(deal.table)
            after.apply(card)
            best = after.best_seat if len(after.table) > played else after.winners[-1]
            assert view.takes(card) == (best == seat)


def test_a_claim_is_sure_exactly_when_the_engine_calls_it_right() -> None:
    sure = 0
    for deal in asked(Rules(), deals=80):
        view = seen(deal)
        assert view.can(CLAIM)
        after = deal.copy()
        after.apply(CLAIM)
        assert after.outcome is not None
        assert view.sure_of_claim == (after.outcome.points[view.my_side] > 0)
        sure += view.sure_of_claim
    assert sure


def test_randomness_depends_on_the_seed_and_the_position_alone() -> None:
    deal = next(asked(Rules(), deals=1))
    first = [seen(deal).rng.random() for _ in range(3)]
    assert len(set(first)) == 1
    assert seen(deal, bot_seed=b"other").rng.random() != first[0]
    assert seen(deal, number=2).rng.random() != first[0]
    later = deal.copy()
    later.apply(view_of_plays(deal)[0])
    assert seen(later).rng.random() != first[0]
    view = seen(deal)
    assert view.rng is view.rng


def test_randomness_is_the_same_for_good() -> None:
    deal = next(asked(Rules(), deals=1))
    assert seen(deal).rng.randrange(10**6) == 757665


def view_of_plays(deal: Deal) -> tuple[int, ...]:
    return tuple(seen(deal).plays)


def test_a_view_prints_what_matters() -> None:
    game = Game(Rules())
    deal = game.deal(sorted(game.cards))
    assert repr(seen(deal)) == (
        "<View deal 1 seat 0 ON_LEAD: hand 9S JS QS 9H JH QH, table -, trump D, points (0, 0), "
        "legal 9S JS QS 9H JH QH close claim>"
    )


def test_a_marriage_can_be_declared_by_its_suit() -> None:
    suits = {suit for deal in asked(PRESETS["pagat"], deals=40) for suit in seen(deal).marriages}
    assert suits == set(Suit)


def test_an_action_of_a_newer_protocol_is_not_offered() -> None:
    deal = next(asked(Rules(), deals=1))
    assert deal.to_act is not None
    facts = deal.view(deal.to_act)
    view = View.of(Match("m", Rules(), deal.to_act), facts)
    view.facts = facts._replace(legal=facts.legal | 1 << 41 | 1 << 60)
    assert view.legal == deal.legal_actions


# -- worlds and exact values -----------------------------------------------------------------------------------------


def test_worlds_fit_what_is_seen_and_are_the_same_for_the_same_seed() -> None:
    for deal in asked(Rules(), deals=3):
        view, again = seen(deal), seen(deal)
        (other,) = view.others
        for world, same, _ in zip(view.worlds(), again.worlds(), range(3), strict=False):
            assert world == same
            assert hand_cards(world.hands[view.seat]) == view.hand
            assert set(hand_cards(world.hands[other])) <= {*view.unseen, *view.known[other]}


def test_a_known_hand_is_solved_as_the_deal_itself() -> None:
    solved = 0
    for deal in asked(Rules(), deals=12, seed=9):
        view = seen(deal)
        if deal.strict and len(view.hand) <= 5 and view.other_hand is not None:
            solution = view.solve()
            assert solution.value == solve(deal).value == view.solve(view.other_hand).value
            assert solution.best in view.legal
            solved += 1
    assert solved


def test_what_cannot_be_solved_is_said() -> None:
    deal = next(asked(Rules(), deals=1))
    with pytest.raises(UsageError):
        seen(deal).solve()


def test_closing_and_exchanging_can_be_asked_for() -> None:
    rng = random.Random(5)
    deals = [deal.copy() for deal in asked(Rules(), deals=30) if deal.point is DecisionPoint.ON_LEAD]
    rng.shuffle(deals)
    assert any(seen(deal).can(CLOSE) for deal in deals)
    assert any(seen(deal).can(EXCHANGE) for deal in deals)
    for deal in deals:
        if deal.strict:
            assert not seen(deal).can(CLOSE) and not seen(deal).can(EXCHANGE)


@pytest.mark.parametrize("name", PRESETS)
def test_what_may_be_replied_and_who_takes_a_trick_are_the_engines(name: str) -> None:
    for deal in asked(PRESETS[name], deals=6):
        view = seen(deal)
        if view.point is DecisionPoint.FOLLOW:
            replies = legal_replies(view.hand, view.table, view.trump, strictly=view.must_follow_strictly)
            assert replies == view.plays
        for trick in view.tricks:
            order = deal.game.table.orders[view.dealer][trick.leader]
            trump = view.trump if view.rules.trump_source is not TrumpSource.MARRIAGE else None
            if trump is not None:
                assert order[trick_winner(trick.cards, trump)] == trick.winner


def test_a_trick_of_no_cards_has_no_winner() -> None:
    with pytest.raises(ValueError, match="without cards"):
        trick_winner((), Suit.SPADES)


@pytest.mark.parametrize("name", PRESETS)
def test_a_sampled_world_has_every_card_once_and_fits_what_is_known(name: str) -> None:
    for deal in asked(PRESETS[name], deals=3):
        view = seen(deal)
        cards = view.sample_world()
        assert cards == seen(deal).sample_world()  # the same for the same decision
        assert cards.hands[view.seat] == view.hand
        assert [len(hand) for hand in cards.hands] == deal.hand_sizes and len(cards.talon) == view.talon
        for hand, known in zip(cards.hands, view.known, strict=True):
            assert set(known) <= set(hand)
        played = [turn.action.card for turn in view.history if turn.action.card is not None]
        assert sorted([*played, *cards.talon, *(card for hand in cards.hands for card in hand)]) == sorted(
            deal.game.cards
        )


def test_a_position_is_seen_by_the_seat_that_is_asked() -> None:
    text = """
    dealer: 0
    hand 0: AS KH
    hand 1: TS
    trump: H
    table: JS
    points: 50-40
    tricks: 4-4
    """
    view = View.at(text, "schnapsen")
    assert (view.seat, view.point, view.hand) == (0, DecisionPoint.FOLLOW, parse_cards("AS KH"))
    assert view.match.rules_name == "schnapsen" and view.rules == PRESETS["schnapsen"]


@pytest.mark.parametrize(
    ("text", "says"), [("nonsense", "line 1"), ("dealer: 0\nhand 0: AS\nhand 1: AS\n", "AS"), ("dealer: 7", "dealer")]
)
def test_what_is_no_position_is_refused_in_a_sentence(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        View.at(text)
