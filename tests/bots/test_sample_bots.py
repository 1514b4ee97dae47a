"""The sample bots never commit a fault, keep to their READMEs, and find the answer of good play where it is known."""

from __future__ import annotations

import asyncio
import random
import statistics
from collections import Counter
from pathlib import Path

import pytest

from arena.app.data import Archive
from arena.app.play import PlayOptions, play_match
from arena.bot import Match, View
from arena.cards import ACTIONS, CLAIM, CLOSE, Action, format_cards, parse_cards
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.notation import replay
from arena.game.position import parse_position
from arena.game.presets import PRESETS, preset
from bench.strength import Comparison, Player, compare, load

BOTS = {name: load(name) for name in ("random", "greedy", "counter")}
PARTNER = load("partner")
"""It plays two presets only, and thinks too long for as many deals as the others are tried on."""
PARTNERS_RULES = ("four-handed", "sessantasei-101")
ALL = pytest.mark.parametrize("bot", BOTS)
THINKING = pytest.mark.parametrize("bot", ["greedy", "counter"])


def view_of(deal: Deal, seed: bytes = b"") -> View:
    """What the seat to act sees."""
    assert deal.to_act is not None
    match = Match(id="m", rules=deal.game.rules, seat=deal.to_act, bot_seed=seed)
    return View.of(match, deal.view(deal.to_act))


def deal_at(position: str, actions: str = "", rules: str = "sixty-six") -> Deal:
    """The deal after the actions (as they print) from the position on, whose lines may be separated by `;`."""
    game = Game(preset(rules))
    start = parse_position(game, position.replace(";", "\n"))
    return replay(game, start, [Action.parse(word) for word in actions.split()])


def answer(bot: str, position: str, actions: str = "", rules: str = "sixty-six") -> str:
    """What the bot does there."""
    return str(ACTIONS[BOTS[bot](view_of(deal_at(position, actions, rules)))])


def spread(mine: str, theirs: str = "", *, turn_up: str, led: str = "", talon: int = 12, rest: str = "") -> str:
    """A position of 24 cards: seat 0, which is asked, holds `mine`; the other cards lie in the order of the deck.

    Seat 1 holds `theirs` and what is missing to six cards; it has led the card `led`, if there is one.  `rest` is the
    other lines of the position.
    """
    placed = parse_cards(f"{mine} {theirs} {led} {turn_up}")
    others = [card for card in Game(preset("sixty-six")).cards if card not in placed]
    missing = len(mine.split()) - len(led.split()) - len(theirs.split())
    hand = f"{theirs} {format_cards(others[:missing])}"
    below = f"{format_cards(others[missing : missing + talon - 1])} {turn_up}"
    return "; ".join(
        [
            f"dealer: {0 if led else 1}; leader: {1 if led else 0}; hand 0: {mine}; hand 1: {hand}; talon: {below}",
            *([f"table: {led}"] if led else []),
            rest,
        ]
    )


def shuffled(game: Game, rng: random.Random) -> Deal:
    deck = list(game.cards)
    rng.shuffle(deck)
    return game.deal(deck, dealer=rng.randrange(game.table.seats))


# -- no faults ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", PRESETS)
def test_every_answer_is_legal_under_every_preset(rules: str) -> None:
    """All bots are asked in every state of deals that they and pure chance play on in turn."""
    rng = random.Random(f"sample bots {rules}")
    game = Game(PRESETS[rules])
    for number in range(100):
        deal = shuffled(game, rng)
        while deal.to_act is not None:
            view = view_of(deal, seed=bytes([number]))
            answers = {name: choose(view) for name, choose in BOTS.items()}
            for name, action in answers.items():
                assert action in view.legal, f"{name} answered {action!r} to {view}"
            # A claim by chance ends the deal: seldom, so that most deals reach their end.
            by_chance = rng.choice([action for action in view.legal if action != CLAIM or rng.random() < 0.02])
            deal.apply(rng.choice([*answers.values(), by_chance]))


@pytest.mark.parametrize("rules", PRESETS)
def test_the_same_view_is_always_answered_alike(rules: str) -> None:
    """Greedy and counter need no randomness; random draws all of it from the seed that it is given."""
    rng = random.Random(f"alike {rules}")
    game = Game(PRESETS[rules])
    drawn: dict[bytes, list[int]] = {b"one": [], b"two": []}
    for _ in range(5):
        deal = shuffled(game, rng)
        while deal.to_act is not None:
            for name in ("greedy", "counter"):
                assert BOTS[name](view_of(deal, b"one")) == BOTS[name](view_of(deal, b"two"))
            for seed, answers in drawn.items():
                answers.append(BOTS["random"](view_of(deal, seed)))
                assert answers[-1] == BOTS["random"](view_of(deal, seed))
            deal.apply(drawn[b"one"][-1])
    assert drawn[b"one"] != drawn[b"two"]


def test_they_are_built_in_and_play_a_match_as_processes(tmp_path: Path) -> None:
    for names in (("random", "greedy"), ("greedy", "counter")):
        played = asyncio.run(play_match(PlayOptions(names, "sixty-six", Archive(tmp_path), seed="1")))
        assert played.names == names
        assert not played.record.faults
        assert max(played.record.points) == 7


# -- all of them -------------------------------------------------------------------------------------------------------


@ALL
def test_66_are_claimed_and_65_are_not(bot: str) -> None:
    position = "hand 0: KH 9C; hand 1: AS TS; known 1: AS TS; trump: C; tricks: 5-5; points: {}-20"
    assert answer(bot, position.format(66)) == "claim"
    assert answer(bot, position.format(65)) != "claim"


@ALL
def test_after_the_last_trick_only_66_are_claimed(bot: str) -> None:
    position = "trump: C; tricks: 6-6; points: {}-50"
    assert answer(bot, position.format(66), rules="pagat") == "claim"
    assert answer(bot, position.format(65), rules="pagat") == "go-on"


@THINKING
def test_the_lowest_trump_is_exchanged_before_anything_else(bot: str) -> None:
    leads = spread("KC QC 9C AH 9S JD", turn_up="AC", talon=10, rest="tricks: 1-0; points: 15-0")
    assert answer(bot, leads) == "exchange"
    closed = (
        "leader: 1; hand 0: KC 9C AH TH 9S JD; hand 1: AS TS KS QS JS KH; talon: QH JH 9H AD TD KD QD 9D TC AC; "
        "asked: 0 on_close; closer: 1; closed points: 0-21; closed tricks: 0-1; points: 0-21; tricks: 0-1"
    )
    assert answer(bot, closed, rules="pagat") == "exchange"


@THINKING
def test_the_royal_marriage_is_declared_before_a_plain_one(bot: str) -> None:
    won = "tricks: 1-0; points: 15-0"
    assert answer(bot, spread("KH QH KC QC 9S JS", turn_up="AC", talon=10, rest=won)) == "MC"
    assert answer(bot, spread("KH QH KC JC 9S JS", turn_up="AC", talon=10, rest=won)) == "MH"


# -- random ------------------------------------------------------------------------------------------------------------


def test_random_chooses_evenly_among_cards_marriages_and_the_exchange() -> None:
    position = spread("KH QH 9C JS 9S TD", turn_up="AC", talon=10, rest="tricks: 1-0; points: 15-0")
    deal = deal_at(position)
    chosen = Counter(str(BOTS["random"](view_of(deal, seed.to_bytes(2, "big")))) for seed in range(4000))
    assert set(chosen) == {"KH", "QH", "9C", "JS", "9S", "TD", "MH", "exchange"}
    # 500 of each are expected; the standard deviation is 21.
    assert all(abs(times - 500) < 4 * 21 for times in chosen.values()), chosen


@pytest.mark.parametrize("bot", ["random", "greedy"])
def test_these_never_close(bot: str) -> None:
    rng = random.Random(7)
    could = 0
    for _ in range(50):
        deal = shuffled(Game(preset("sixty-six")), rng)
        while deal.to_act is not None:
            view = view_of(deal)
            could += view.can(CLOSE)
            action = BOTS[bot](view)
            assert action != CLOSE
            deal.apply(action)
    assert could > 50


# -- greedy ------------------------------------------------------------------------------------------------------------


def test_greedy_leads_the_cheapest_plain_card_in_open_play() -> None:
    assert answer("greedy", spread("QC JS AD TD 9H 9D", turn_up="9C")) == "9H"
    assert answer("greedy", spread("JC QC AD TD AH TH", turn_up="9C")) == "TH"


def test_greedy_leads_its_dearest_card_in_strict_play() -> None:
    position = "hand 0: AH KC JS; hand 1: 9S 9H 9D; trump: C; tricks: 5-4; points: 30-40"
    assert answer("greedy", position) == "AH"
    assert answer("greedy", position.replace("KC", "AC")) == "AC"


def test_greedy_takes_as_high_as_it_can_in_the_suit_led() -> None:
    assert answer("greedy", spread("QH AH 9S 9C JD QD", turn_up="AC", led="JH")) == "AH"


def test_greedy_ruffs_an_ace_or_a_ten_with_its_lowest_trump_and_nothing_less() -> None:
    assert answer("greedy", spread("9C KC 9S JS 9H JH", turn_up="AC", led="TD")) == "9C"
    assert answer("greedy", spread("9C KC 9S JS 9H JH", turn_up="AC", led="KD")) == "9S"


def test_greedy_throws_its_cheapest_card_on_a_trick_that_it_cannot_take() -> None:
    assert answer("greedy", spread("TH KH JS QS TD QD", turn_up="AC", led="AH")) == "JS"


# -- counter -----------------------------------------------------------------------------------------------------------


def test_counter_keeps_a_pair_together() -> None:
    assert answer("counter", spread("KH QH 9S JD QD JS", turn_up="JC", led="9H")) == "9S"


def test_counter_ruffs_a_small_trick_to_get_in_and_declare_but_not_without_a_pair() -> None:
    assert answer("counter", spread("KH QH 9C 9S JS TH", turn_up="JC", led="JD")) == "9C"
    assert answer("counter", spread("JH QH 9C 9S JS TH", turn_up="JC", led="JD")) == "9S"


def test_counter_does_not_lead_an_ace_or_a_ten_that_can_be_ruffed() -> None:
    assert answer("counter", spread("AH TH KD JD 9C QC", turn_up="JC")) not in {"AH", "TH"}


def test_counter_leads_no_jack_under_a_king_that_it_has_seen() -> None:
    position = spread("JH JD AS TS AC TC", "KH", turn_up="9C", talon=10, rest="tricks: 1-0; points: 15-0; known 1: {}")
    assert answer("counter", position.format("KH")) == "JD"
    assert answer("counter", position.format("")) == "JH"


def test_counter_closes_when_its_trumps_alone_reach_66() -> None:
    # The nine is the turn-up; the jack and the king fall under the ace and the ten: 40 + 11 + 10 + 3 + 6.
    sure = spread("AC TC QC JH 9D 9S", "KC JC", turn_up="9C", talon=8, rest="tricks: 2-0; points: 40-0")
    assert answer("counter", sure) == "close"
    assert answer("counter", sure, "close") == "AC"
    assert answer("counter", sure, "close AC JC") == "TC"


def test_counter_does_not_close_while_a_hidden_trump_stands_in_the_way() -> None:
    unsure = spread("AC KC QC JH 9D 9S", turn_up="9C", talon=8, rest="tricks: 2-0; points: 42-0")
    assert answer("counter", unsure) != "close"


def test_counter_closes_before_the_draw_and_else_goes_on() -> None:
    strong = "hand 0: AS TS AH TH AD KC; hand 1: 9C JC QD JD QH 9H; talon: TC QC AC KH JH KD TD 9D KS QS JS 9S"
    assert answer("counter", strong, "KC 9C") == "close"
    weak = "hand 0: AS 9D JH TH JD KC; hand 1: 9C JC QD AD QH 9H; talon: TC QC AC KH AH KD TD TS KS QS JS 9S"
    assert answer("counter", weak, "KC 9C") == "go-on"


def test_counter_knows_that_a_ten_is_high_once_the_ace_has_gone() -> None:
    """The first trick brings 15, three sure trumps 25, the ace of diamonds 11: only with a high ten it is enough."""
    rest = "hand 1: KS KH QD JD QC JC; talon: 9D TD KD 9S JS QS TS 9H JH QH {} 9C"
    gone = "hand 0: AH TH AD AC TC KC; " + rest.format("AS")
    assert answer("counter", gone, "AH KH") == "close"
    hidden = "hand 0: AS TH AD AC TC KC; " + rest.format("AH")
    assert answer("counter", hidden, "AS KS") == "go-on"


def test_counter_gives_the_ace_of_trumps_for_a_king_only_if_that_wins_the_deal() -> None:
    position = "hand 0: AC 9S JS QS 9H JH; hand 1: AS TS KS AH TH; talon: KH QH AD TD TC JC"
    trick = "leader: 1; table: KD; tricks: 2-1"
    assert answer("counter", f"{position}; {trick}; points: 51-20") == "AC"
    assert answer("counter", f"{position}; {trick}; points: 40-20") == "9S"


def test_counter_gives_a_trick_away_for_the_last_one_when_it_knows_the_other_hand() -> None:
    # The ace at once wins 64 against 66, as the last trump takes the last trick; the king draws it: 74 against 56.
    position = "hand 0: KS AH; hand 1: QH QC; known 1: QH QC; trump: C; tricks: 5-5; points: 50-49"
    assert answer("counter", position) == "KS"
    assert answer("greedy", position) == "AH"


def test_counter_plays_on_where_it_has_lost_against_the_best_play_only() -> None:
    # Whatever it does scores 2 for a side that errs nowhere, and so does a false claim, for any side.
    position = "hand 0: QH JS; hand 1: AS AH; known 1: AS AH; trump: C; tricks: 5-5; points: 20-58"
    assert answer("counter", position) != "claim"


# -- partner -----------------------------------------------------------------------------------------------------------


def partners(position: str, actions: str = "", rules: str = "four-handed") -> set[str]:
    """What partner does there, with several seeds for what it imagines."""
    deal = deal_at(position, actions, rules)
    return {str(ACTIONS[PARTNER(view_of(deal, bytes([seed])))]) for seed in range(8)}


def open_hands(hands: str, points: str) -> str:
    """Two tricks before the end of `four-handed` with clubs as trumps; the hands (parted by `|`) are known to all."""
    lines = [f"hand {seat}: {cards}; known {seat}: {cards}" for seat, cards in enumerate(hands.split("|"))]
    return "; ".join(["dealer: 0; leader: 0; turn-up: JC; trump: C", *lines, f"points: {points}; tricks: 2-2"])


@pytest.mark.parametrize(("rules", "deals"), [("four-handed", 300), ("sessantasei-101", 40)])
def test_partner_answers_legally_in_every_state(rules: str, deals: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PARTNER.__globals__, "WORLDS", 1)  # it imagines less, and so errs more, but does the same
    rng = random.Random(f"partner {rules}")
    for number in range(deals):
        deal = shuffled(Game(preset(rules)), rng)
        while deal.to_act is not None:
            view = view_of(deal, seed=number.to_bytes(2, "big"))
            answered = PARTNER(view)
            assert answered in view.legal, f"partner answered {answered!r} to {view}"
            assert answered != CLAIM or view.sure_of_claim
            by_chance = rng.choice([action for action in view.legal if action != CLAIM or rng.random() < 0.02])
            deal.apply(rng.choice([answered, by_chance]))


@pytest.mark.parametrize("rules", PARTNERS_RULES)
def test_partner_answers_alike_with_the_same_seed(rules: str) -> None:
    deal = shuffled(Game(preset(rules)), random.Random(5))
    while deal.to_act is not None:
        answered = PARTNER(view_of(deal, b"one"))
        assert answered == PARTNER(view_of(deal, b"one"))
        deal.apply(answered)


def test_partner_claims_what_its_side_has_won() -> None:
    # Seat 2 has won the last trick and led; nobody has trumped.
    position = "dealer: 0; turn-up: JC; leader: 2; hand 0: TD QH; hand 1: KD QD; hand 2: AD; hand 3: 9S; table: JH KH; "
    position += "points: {}-20; tricks: 3-1"
    assert partners(position.format(66)) == {"claim"}
    assert partners(position.format(65)) != {"claim"}


def test_partner_smears_a_ten_on_the_trick_of_its_partner_and_none_on_that_of_an_opponent() -> None:
    position = "dealer: 0; turn-up: JC; leader: 1; hand 0: TD QH; hand 1: AD; known 1: AD; hand 3: KH; tricks: 2-2"
    # With the ten its side has 66; kept, it falls to the ace in the last trick.
    assert partners(f"{position}; hand 2: 9D; known 2: 9D; table: QS 9C JS; points: 51-49") == {"TD"}
    # The ten would give them 66; without it the last trump wins the last trick.
    assert partners(f"{position}; hand 2: TC; known 2: TC; table: QS JS 9C; points: 45-51") == {"QH"}


def test_partner_keeps_its_trump_where_its_partner_has_the_trick() -> None:
    """In open play it need not trump; with the ten of diamonds its side has 101, with a trump not yet."""
    hands = "hand 0: TD 9C 9S JS QS KS JD; hand 1: 9D JD QD KD JS QH; hand 2: 9S KS AS AD QS KH; "
    hands += "hand 3: KD QD TD TH AH KH; talon: 9D JC QC KC TC AC 9H AC"
    trick = "dealer: 0; leader: 1; table: 9H AH JH; tricks: 2-1; points: 78-40"
    assert partners(f"{hands}; {trick}", rules="sessantasei-101") == {"TD"}


def test_partner_leads_to_the_known_ace_of_its_partner() -> None:
    assert partners(open_hands("JH JD|KD QD|AH 9S|KH QS", "50-40")) == {"JH"}
    assert partners(open_hands("JH JD|KH QH|AD 9S|KD QS", "50-40")) == {"JD"}


def test_partner_leads_an_ace_unless_an_opponent_can_still_trump_it() -> None:
    assert partners(open_hands("AD 9S|9D KS|KD JS|QH TS", "48-49")) == {"AD"}
    assert partners(open_hands("AD 9S|9D KS|KD TS|JC QS", "49-49")) == {"9S"}


def test_partner_declares_and_claims_for_the_side() -> None:
    hands = "hand 0: KH QH AS 9D; hand 1: AD TD KD TS; hand 2: 9S JS AH TH; hand 3: 9H JH QS KS"
    position = f"dealer: 0; turn-up: JC; leader: 0; {hands}; tricks: 1-1; points: 46-15"
    assert partners(position) == {"MH"}
    assert partners(position, "MH") == {"claim"}


def test_partner_is_built_in_and_plays_a_match_for_four_as_processes(tmp_path: Path) -> None:
    played = asyncio.run(play_match(PlayOptions(("partner", "greedy"), "four-handed", Archive(tmp_path), seed="1")))
    assert not played.record.faults
    assert max(played.record.points) == 7


# -- strength ----------------------------------------------------------------------------------------------------------


def duel(one: str, other: str, pairs: int) -> Comparison:
    return compare(Player(one, BOTS[one]), Player(other, BOTS[other]), Game(preset("sixty-six")), pairs, "test")


def test_each_is_stronger_than_the_one_before() -> None:
    assert statistics.fmean(duel("greedy", "random", 60).won) > 0.75
    against_greedy = duel("counter", "greedy", 200)
    assert statistics.fmean(against_greedy.won) > 0.52
    assert against_greedy.terminations.get("close-failed lost", 0) < 8  # of 400 deals


def test_partner_is_stronger_at_a_table_of_partners() -> None:
    players = Player("partner", PARTNER), Player("greedy", BOTS["greedy"])
    assert statistics.fmean(compare(*players, Game(preset("four-handed")), 40, "test").won) > 0.52


def test_in_mirrored_deals_a_bot_is_exactly_as_strong_as_itself() -> None:
    against_itself = duel("greedy", "greedy", 10)
    assert set(against_itself.won) == {0.5}
    assert set(against_itself.points) == {0.0}


def test_the_same_seed_deals_the_same() -> None:
    assert duel("random", "random", 10) == duel("random", "random", 10)
