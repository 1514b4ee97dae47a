"""The solver against a plain minimax over the engine, against another engine, and against values worked by hand."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.cards import CLAIM, DECLARE, EXCHANGE, GO_ON, Action, Card, Suit, hand_mask, parse_cards
from arena.errors import RulesError, UsageError
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.position import Position, position_of, resume
from arena.game.presets import preset
from arena.game.rules import Close, Rules, TrumpSource
from arena.game.sample import view_is_open
from arena.game.solve import Solution, solve, solve_view
from arena.game.views import DecisionPoint
from tests.game.tables import GAMES, any_policy, do, game, mixed_rules, moments, shuffled, state

DATA = Path(__file__).parents[1] / "golden" / "data"
TWO_SEATS = [name for name, game in GAMES.items() if game.rules.active_seats == 2]


# -- the reference ----------------------------------------------------------------------------------------------------


def gain(deal: Deal, seat: int) -> int:
    """What a finished deal adds to the seat's score less what it adds to the other's."""
    assert deal.outcome is not None
    side = deal.game.table.side_of[seat]
    return deal.outcome.points[side] - sum(deal.outcome.points[other] for other in deal.opponents(side))


def minimax(deal: Deal, seat: int, seen: dict[Position, int]) -> int:
    """The value to the seat, by trying every legal action to the end; `seen` keeps the positions met."""
    if deal.outcome is not None:
        return gain(deal, seat)
    position = position_of(deal)
    if position not in seen:
        best = max if deal.to_act == seat else min
        seen[position] = best(minimax(after(deal, action), seat, seen) for action in deal.legal_actions)
    return seen[position]


def after(deal: Deal, action: Action) -> Deal:
    twin = deal.copy()
    twin.apply(action)
    return twin


def true_values(deal: Deal) -> dict[Action, int]:
    assert deal.to_act is not None
    seen: dict[Position, int] = {}
    return {action: minimax(after(deal, action), deal.to_act, seen) for action in deal.legal_actions}


def agrees(deal: Deal) -> bool:
    """Both forms of `solve` give what the minimax gives."""
    expected = true_values(deal)
    value = max(expected.values())
    quick, full = solve(deal), solve(deal, all_actions=True)
    return (
        dict(full.values) == expected
        and quick.value == full.value == value
        and expected[quick.best] == expected[full.best] == value
    )


# -- random positions -------------------------------------------------------------------------------------------------


def some_strict(game: Game, rng: random.Random, fits: Callable[[Deal], bool]) -> Deal | None:
    """A random moment of strict play that fits, out of random deals; None if 50 deals have none."""
    for _ in range(50):
        deal = shuffled(game, rng)
        found = [deal.copy() for _ in moments(deal, any_policy(rng), rng) if deal.strict and fits(deal)]
        if found:
            return rng.choice(found)
    return None


def of_size(least: int, most: int) -> Callable[[Deal], bool]:
    return lambda deal: least <= max(hand.bit_count() for hand in deal.hands) <= most


def two_seat_rules(rng: random.Random) -> Rules:
    """Rules with every option mixed, deck, hand, seating and score included."""
    while (rules := mixed_rules(rng)).active_seats != 2:
        pass
    shapes: tuple[dict[str, object], ...] = (
        {"deck": 20, "hand": 5},
        {"deck": 32},
        {"deck": 48},
        {"hand": 7},
        {"score": "card_points"},
        {"target": 101},
        {"class_line": 51},
        {"seating": "dealer_out", "seats": 3, "deal_rotation": "clockwise"},
    )
    for shape in rng.sample(shapes, 2):
        try:
            rules = rules.with_options(shape)
        except RulesError:
            pass
    return rules


def composed(game: Game, rng: random.Random, size: int) -> Deal:
    """A position of strict play made up card by card, as random play seldom leaves them.

    Couples are together, points near what counts, marriages pending, seats without a trick, the talon often closed.
    """
    while True:
        try:
            deal = resume(game, _composed(game, rng, size))
        except UsageError:
            continue
        for _ in range(rng.randrange(3)):
            deal.apply(rng.choice([action for action in deal.legal_actions if action != CLAIM]))
            if deal.outcome is not None:
                break
        else:
            return deal


def _composed(game: Game, rng: random.Random, size: int) -> Position:
    rules = game.rules
    cards = list(game.cards)
    rng.shuffle(cards)
    dealer = rng.randrange(rules.seats)
    order = game.table.orders[dealer][game.table.forehand(dealer)]
    leader = rng.choice(order)
    hands: list[tuple[Card, ...]] = [()] * rules.seats
    for seat in order:
        hand: list[Card] = []
        while len(hand) < size:
            card = cards.pop()
            hand.append(card)
            couple = [other for other in cards if {other.rank, card.rank} == {"K", "Q"} and other.suit is card.suit]
            if couple and len(hand) < size:
                cards.remove(couple[0])
                hand.append(couple[0])
        hands[seat] = tuple(hand)
    undealt = rules.deck - 2 * rules.hand
    closes = rules.close is not Close.OFF and rng.random() < 0.5
    draws = rng.randint(0, (undealt - game.close_min) // 2) if closes else undealt // 2
    talon = tuple(cards[: undealt - 2 * draws])
    turns_up = rules.trump_source is TrumpSource.TURN_UP
    sides = [game.table.side_of[seat] for seat in order]

    def by_side(*values: int) -> tuple[int, ...]:
        return tuple(values[sides.index(side)] if side in sides else 0 for side in range(game.table.sides))

    def tricks(total: int) -> tuple[int, ...]:
        first = rng.choice([0, rng.randint(0, total), total])
        return by_side(first, total - first)

    won = tricks(rules.hand - size + draws)
    points = tuple(rng.choice([0, 20, 31, 33, 45, 55, 64, 66]) + rng.randrange(4) if taken else 0 for taken in won)
    pending = by_side(*(rng.choice([0, 0, 20, 40]) for _ in sides))
    closed_tricks = tricks(draws + rng.randint(0, 1)) if closes else ()
    closed = zip(points, closed_tricks, strict=True) if closes else ()
    return Position(
        dealer=dealer,
        hands=tuple(hands),
        talon=talon,
        turn_up=talon[-1] if talon and turns_up else None,
        trump=talon[-1].suit if talon and turns_up else rng.choice([*Suit] if turns_up else [None, *Suit]),
        leader=leader,
        to_act=leader,
        point=DecisionPoint.ON_LEAD,
        table=(),
        bound=(),
        points=points,
        pending=pending,
        tricks=won,
        closer=rng.choice(order) if closes else None,
        closed_points=tuple(min(rng.choice([0, 20, 33]), most) * bool(taken) for most, taken in closed),
        closed_tricks=closed_tricks,
        known=((),) * rules.seats,
        to_ask=(),
    )


@pytest.mark.parametrize("name", TWO_SEATS)
def test_composed_endgames_of_every_preset_have_the_minimax_value(name: str) -> None:
    rng = random.Random(f"composed {name}")
    for size in [2, 3, 4] * 30:
        deal = composed(GAMES[name], rng, size)
        assert agrees(deal), position_of(deal)


@pytest.mark.parametrize("seed", range(10))
def test_composed_endgames_of_mixed_rules_have_the_minimax_value(seed: int) -> None:
    rng = random.Random(f"composed {seed}")
    for size in [2, 3, 4] * 40:
        rules = two_seat_rules(rng)
        deal = composed(Game(rules), rng, size)
        assert agrees(deal), (rules.options(), position_of(deal))


@pytest.mark.parametrize("name", TWO_SEATS)
def test_short_endgames_of_every_preset_have_the_minimax_value(name: str) -> None:
    rng = random.Random(f"short {name}")
    for least, most in [(0, 2), (3, 3)] * 60:
        deal = some_strict(GAMES[name], rng, of_size(least, most))
        assert deal is not None
        assert agrees(deal), position_of(deal)


@pytest.mark.parametrize("seed", range(10))
def test_short_endgames_of_mixed_rules_have_the_minimax_value(seed: int) -> None:
    rng = random.Random(f"mixed {seed}")
    checked = 0
    while checked < 100:
        rules = two_seat_rules(rng)
        least = rng.choice([0, 2, 3])
        if (deal := some_strict(Game(rules), rng, of_size(least, 3))) is not None:
            assert agrees(deal), (rules.options(), position_of(deal))
            checked += 1


@pytest.mark.parametrize("seed", range(6))
def test_long_endgames_of_mixed_rules_have_the_minimax_value(seed: int) -> None:
    rng = random.Random(f"long {seed}")
    checked = 0
    while checked < 20:
        rules = two_seat_rules(rng)
        if (deal := some_strict(Game(rules), rng, of_size(4, 5))) is not None:
            assert agrees(deal), (rules.options(), position_of(deal))
            checked += 1


def test_deals_closed_at_the_first_lead_with_a_marriage_in_hand_have_the_minimax_value() -> None:
    rng = random.Random("first lead")
    for _ in range(15):
        deal = shuffled(GAMES["schnapsen"], rng)
        while not deal.legal_mask & sum(1 << marriage for marriage in DECLARE[1:]):
            deal = shuffled(GAMES["schnapsen"], rng)
        assert agrees(do(deal, "close")), position_of(deal)


def test_answers_to_a_close_have_the_minimax_value() -> None:
    rng = random.Random("on close")
    asked = game("schnapsen", close="before_draw", exchange_on_opponent_close=True)
    seen: set[Action] = set()
    for _ in range(12):
        deal = some_strict(asked, rng, lambda deal: deal.point is DecisionPoint.ON_CLOSE)
        assert deal is not None
        assert agrees(deal), position_of(deal)
        seen.update(deal.legal_actions)
    assert seen == {EXCHANGE, GO_ON}


# -- another engine ---------------------------------------------------------------------------------------------------


def test_recorded_endgames_of_another_engine_have_their_value() -> None:
    vu = Game(preset("vu-schnapsen"))
    with gzip.open(DATA / "schnapsen_endgames.jsonl.gz", "rt") as lines:
        records = [json.loads(line) for line in lines]
    for record in records:
        deal = Deal(
            vu,
            dealer=1,
            hands=[hand_mask(parse_cards(hand)) for hand in record["hands"]],
            talon=[],
            turn_up=0,
            trump=Suit.parse(record["trump"]),
            leader=0,
            points=record["pts"],
            pending=record["pend"],
            tricks=[int(points > 0) for points in record["pts"]],
            known=[0, 0],
            score=(0, 0),
        )
        move = Action.parse(record["move"].replace("m:", "M"))
        solution = solve(deal, all_actions=True)
        assert (solve(deal).value, solution.value, solution.values[move]) == (record["value"],) * 3, record
    assert len(records) == 100


# -- by hand ----------------------------------------------------------------------------------------------------------

CLOSED_AGAINST_TRICKLESS = """
dealer: 0
hand 0: 9S 9C
hand 1: AH
table: TH
talon: AS TS KS QS AC TC KC QC AD TD KD 9H
leader: 1
points: 0-56
tricks: 0-4
closer: 1
closed points: 0-0
closed tricks: 0-0
"""


def values(deal: Deal) -> dict[str, int]:
    solution = solve(deal, all_actions=True)
    assert solve(deal).value == solution.value == max(solution.values.values())
    return {str(action): value for action, value in solution.values.items()}


def test_a_false_claim_is_best_where_it_costs_less_than_the_trickless_loss() -> None:
    cheap = state(game("sixty-six", false_claim="flat2"), CLOSED_AGAINST_TRICKLESS)
    assert values(cheap) == {"9S": -3, "9C": -3, "claim": -2}
    assert solve(cheap) == Solution(-2, CLAIM)


def test_a_false_claim_without_a_trick_costs_three_in_the_default_rules() -> None:
    deal = state(GAMES["sixty-six"], CLOSED_AGAINST_TRICKLESS)
    assert values(deal) == {"9S": -3, "9C": -3, "claim": -3}


def test_a_right_claim_is_not_made_where_the_failed_close_pays_more() -> None:
    deal = state(
        GAMES["pagat"],
        """
        dealer: 0
        hand 0: AH
        hand 1: 9S
        talon: TS KS QS AC TC KC QC AD TD KD QD 9H
        leader: 0
        points: 66-10
        tricks: 4-1
        closer: 1
        closed points: 0-0
        closed tricks: 0-0
        """,
    )
    # close_beaten pays 2; a close that fails against a seat without a trick at the close pays 3
    assert values(deal) == {"AH": 3, "claim": 2}
    assert values(do(deal, "AH 9S")) == {"claim": 2, "go-on": 3}


LAST_TWO = """
hand 0: AH 9S
hand 1: TH AS
trump: C
points: {}
tricks: 5-5
"""


def test_the_leader_keeps_the_last_trick_if_that_is_worth_ten() -> None:
    deal = state(GAMES["sixty-six"], LAST_TWO.format("44-44"))
    # ace first: 44+21 against 44+11+10; nine first: the other takes 11 and leads the ten, 44+21+10 against 44+11
    assert values(deal) == {"AH": -1, "9S": 1, "claim": -2}


def test_equal_totals_go_to_the_last_trick_or_to_nobody() -> None:
    totals = LAST_TWO.format("44-44")
    assert solve(state(game("sixty-six", claim="off"), totals), all_actions=True).values[Action.parse("AH")] == -1
    assert solve(state(game("pagat"), totals), all_actions=True).values[Action.parse("AH")] == 0


QUEEN_OR_KING = """
hand 0: KS QS AH
hand 1: AS QH JH
trump: D
points: 40-51
tricks: 4-3
"""


def test_the_queen_of_a_marriage_must_be_led_where_the_king_gives_66_away() -> None:
    deal = state(GAMES["schnapsen"], QUEEN_OR_KING)
    # the ace takes 15 with the king: 66; with the queen 14, and the ace of hearts makes 60 + 13 next
    assert values(do(deal, "MS")) == {"QS": 1, "KS": -1, "claim": -2}


def test_a_declaration_is_lost_where_only_the_king_may_be_led() -> None:
    assert values(state(GAMES["schnapsen"], QUEEN_OR_KING))["MS"] == 1
    assert values(state(GAMES["schnapsen-sharp"], QUEEN_OR_KING))["MS"] == -1


@pytest.mark.parametrize("credit", ["declared", "led", "next_trick"])
def test_a_marriage_of_a_seat_without_a_trick_saves_no_class(credit: str) -> None:
    mirrored = game("schnapsen", close_fail="mirror", close_snapshot="end", marriage_credit=credit)
    deal = state(
        mirrored,
        """
        hand 0: KH QH JS JC JD
        hand 1: AH TH AS AC AD
        talon: TS KS QS TC KC QC TD KD QD JH
        """,
    )
    # 40 points would be over the line and cost one, but seat 0 never takes the trick that they wait for
    assert values(do(deal, "close"))["MH"] == -3
    assert values(do(deal, "MH")) == {"KH": -3, "QH": -3, "claim": -3}


def test_card_points_are_the_value_where_deals_score_card_points() -> None:
    deal = state(
        GAMES["tausendeins"],
        """
        hand 0: KC QC
        hand 1: AC AS
        trump: S
        points: 30-60
        tricks: 5-5
        """,
    )
    # declared: clubs are trumps from now on, 100 for them; the ace takes the queen, the king has to go under spades'
    # ace, which is no trump any more: 30+100+4+11 against 60+11+3
    assert solve(deal, all_actions=True).values[Action.parse("MC")] == 145 - 74


def test_the_order_of_two_marriages_decides_what_is_trump_at_the_end() -> None:
    deal = state(
        GAMES["tausendeins"],
        """
        hand 0: JS TS QD KD TD
        hand 1: QS KS AS AD TC
        trump: D
        points: 31-0
        pending: 0-40
        tricks: 7-0
        """,
    )
    assert agrees(deal)


def test_solving_changes_nothing() -> None:
    rng = random.Random("nothing")
    deal = some_strict(GAMES["schnapsen"], rng, of_size(4, 5))
    assert deal is not None and deal.to_act is not None
    before = position_of(deal), deal.view(deal.to_act)
    solve(deal, all_actions=True)
    assert (position_of(deal), deal.view(deal.to_act)) == before


def test_values_come_only_when_they_are_asked_for() -> None:
    deal = state(GAMES["sixty-six"], LAST_TWO.format("44-44"))
    assert solve(deal) == Solution(1, Action.parse("9S"), {})


# -- from a view ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TWO_SEATS)
def test_a_seat_solves_from_its_view_what_the_deal_is_worth(name: str) -> None:
    game = GAMES[name]
    rng = random.Random(f"view {name}")
    opened = 0
    for _ in range(20):
        deal = some_strict(game, rng, of_size(0, 6))
        assert deal is not None and deal.to_act is not None
        view = deal.view(deal.to_act)
        (other,) = (seat for seat in deal.order if seat != deal.to_act)
        expected = solve(deal, all_actions=True)
        assert solve_view(game.rules, view, deal.hands[other], all_actions=True) == expected
        assert view_is_open(game, view) == (not deal.talon)
        if not deal.talon:
            assert solve_view(game, view, all_actions=True) == expected
            opened += 1
    assert opened


def closed_deal() -> Deal:
    rng = random.Random("closed")
    deal = some_strict(GAMES["sixty-six"], rng, lambda deal: deal.closer is not None and of_size(3, 5)(deal))
    assert deal is not None
    return deal


def test_the_other_hand_of_a_closed_deal_must_be_given() -> None:
    deal = closed_deal()
    assert deal.to_act is not None
    with pytest.raises(UsageError, match="cannot work out the other hand"):
        solve_view(deal.game, deal.view(deal.to_act))


def test_a_hand_that_the_view_shows_elsewhere_is_refused() -> None:
    deal = closed_deal()
    assert deal.to_act is not None
    with pytest.raises(UsageError, match="shows it elsewhere"):
        solve_view(deal.game, deal.view(deal.to_act), deal.hands[deal.to_act])


def test_a_hand_of_the_wrong_size_is_refused() -> None:
    deal = closed_deal()
    assert deal.to_act is not None
    with pytest.raises(UsageError, match="it holds"):
        solve_view(deal.game, deal.view(deal.to_act), 0)


def test_the_view_of_a_seat_that_is_not_asked_is_refused() -> None:
    deal = closed_deal()
    (waiting,) = (seat for seat in deal.order if seat != deal.to_act)
    with pytest.raises(UsageError, match="not to act"):
        solve_view(deal.game, deal.view(waiting), deal.hands[waiting])


def test_open_play_is_refused() -> None:
    with pytest.raises(UsageError, match="open play"):
        solve(shuffled(GAMES["sixty-six"], random.Random(1)))


def test_four_seats_are_refused() -> None:
    with pytest.raises(UsageError, match="between 4 seats"):
        solve(shuffled(GAMES["four-handed"], random.Random(1)))


def test_a_finished_deal_is_refused() -> None:
    with pytest.raises(UsageError, match="finished"):
        solve(do(state(GAMES["sixty-six"], LAST_TWO.format("44-44")), "claim"))
