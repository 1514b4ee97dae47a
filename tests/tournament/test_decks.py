"""Decks, ids and seeds: the same for everyone who reads the specification, fair, and different where they must be."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from arena.cards import CARDS, Card, format_cards
from arena.game.game import Game
from arena.game.rules import Rules
from arena.match.summary import MatchKey
from arena.tournament.decks import bot_seed, commitment, deck, list_id, match_id, secret_from_seed

SECRET = secret_from_seed(66)
PACK = Game(Rules()).cards


def deck_as_specified(secret: bytes, list_of_decks: str, number: int, cards: list[Card]) -> list[Card]:
    """The docstring of `deck` once more, as somebody would write it who has never seen the code."""
    message = b"arena/deck/v1\0" + list_of_decks.encode("utf-8") + b"\0" + str(number).encode("ascii")
    stream = hashlib.shake_256(hmac.new(secret, message, hashlib.sha256).digest()).digest(20_000)
    at = 0
    for i in reversed(range(1, len(cards))):
        greatest_multiple = max(m for m in range(0, 257, i + 1))
        while stream[at] >= greatest_multiple:
            at += 1
        j = stream[at] % (i + 1)
        at += 1
        cards[i], cards[j] = cards[j], cards[i]
    return cards


# --- the specification --------------------------------------------------------------------------------------


def test_the_published_vectors_hold() -> None:
    assert SECRET.hex() == "6fddbd56935cb670ab59475d869ede6c2715989cecc8ec1dab6bbe8a6c4a9877"
    assert commitment(SECRET) == "d4a19ae3ce25d4a8793073156d4c67e5640a83c9d546cb81fdf1ce89f6cbac95"
    assert (
        format_cards(deck(SECRET, "0", 1, PACK))
        == "QH JH JD KC JS 9C AH AS 9D AD TH TC JC 9H QD KS AC KH 9S TS KD QC TD QS"
    )
    assert (
        format_cards(deck(SECRET, "17", 8, PACK))
        == "AC 9S TC TD JC KD 9C QS JH KS AD TH JS 9H AH TS AS 9D QC QD QH KC JD KH"
    )
    assert (
        format_cards(deck(SECRET, list_id(("Zoë", "anna"), 1, 7, mirrored=False), 2, PACK))
        == "9H AH QD KC TS TD 9D AC 9C 9S TC JC AD QH JD JS KH QC TH KS KD JH AS QS"
    )
    match = match_id(SECRET, MatchKey(0, ("Zoë", "anna"), 1, 7))
    assert match == "93420de5918ae948"
    assert bot_seed(SECRET, match, 1).hex() == "c32e8b54491f43af8acc242c3f56e367f296869d5da78dd4c4948d5563222e29"


@settings(deadline=None)
@given(
    st.binary(min_size=32, max_size=32),
    st.text('0123456789[],"\\ab', max_size=20),
    st.integers(1, 100),
    st.integers(0, 256),
)
def test_a_deck_is_what_the_specification_says(secret: bytes, name: str, number: int, size: int) -> None:
    cards = [CARDS[1 + index % 32] for index in range(size)]
    assert list(deck(secret, name, number, cards)) == deck_as_specified(secret, name, number, cards.copy())


def test_a_deck_whose_stream_needs_more_than_one_step_is_what_the_specification_says() -> None:
    cards = [CARDS[1 + index % 32] for index in range(256)]
    assert list(deck(SECRET, "0", 1, cards)) == deck_as_specified(SECRET, "0", 1, cards.copy())


def test_a_deck_deals_with_two_packs() -> None:
    packs = Game(Rules().with_options({"deck": 48, "marriage": "off", "exchange": "off"})).cards
    dealt = deck(SECRET, "0", 1, packs)
    assert sorted(dealt) == sorted(packs)
    assert dealt != packs


def test_a_seed_is_the_same_as_a_number_and_as_a_text_and_differs_by_epoch() -> None:
    assert secret_from_seed("66") == secret_from_seed(66)
    assert len({secret_from_seed(66), secret_from_seed(66, epoch=1), secret_from_seed(661), secret_from_seed("x")}) == 4


def test_the_commitment_is_not_what_the_decks_are_made_of() -> None:
    published = bytes.fromhex(commitment(SECRET))
    assert deck(published, "0", 1, PACK) != deck(SECRET, "0", 1, PACK)
    assert published != hashlib.sha256(SECRET).digest()


# --- fairness -----------------------------------------------------------------------------------------------


def chi_squared(counts: Counter[tuple[Card, ...]], cells: int) -> float:
    expected = counts.total() / cells
    return sum(count**2 for count in counts.values()) / expected - counts.total()


def test_every_order_of_a_small_deck_is_as_likely() -> None:
    small = CARDS[1:5]
    counts = Counter(deck(SECRET, str(number), 1, small) for number in range(24 * 1000))
    assert set(counts) == set(permutations(small))
    assert chi_squared(counts, 24) < 49.7  # 99.9 % of 23 degrees of freedom


def test_orders_of_five_cards_are_as_likely_within_one_list_too() -> None:
    counts = Counter(deck(SECRET, "0", number, CARDS[1:6]) for number in range(120 * 100))
    assert chi_squared(counts, 120) < 172.6  # 99.9 % of 119 degrees of freedom


def test_every_card_is_as_likely_at_every_place_of_a_real_deck() -> None:
    decks = [deck(SECRET, str(number), 1, PACK) for number in range(4800)]
    counts = Counter((place, card) for dealt in decks for place, card in enumerate(dealt))
    statistic = sum((counts[place, card] - 200) ** 2 / 200 for place in range(24) for card in PACK)
    assert statistic < 634  # 99.9 % of 23 * 23 degrees of freedom


# --- what is shared and what is not -------------------------------------------------------------------------


def test_mirrored_legs_and_pairings_share_a_list_and_unmirrored_ones_share_nothing() -> None:
    pairings = [("a", "b"), ("a", "c"), ("b", "c")]
    matches = [(pairing, leg, number) for pairing in pairings for leg in (0, 1) for number in (0, 1)]
    assert {list_id(*match, mirrored=True) for match in matches} == {"0", "1"}
    own = {list_id(*match, mirrored=False) for match in matches}
    assert len(own) == len(matches)
    assert own.isdisjoint({"0", "1"})


names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6)
keys = st.builds(MatchKey, st.integers(0, 3), st.tuples(names, names), st.integers(0, 1), st.integers(0, 30))


@settings(deadline=None)
@given(keys, keys)
def test_no_two_matches_share_an_id_a_list_or_a_bot_seed(one: MatchKey, other: MatchKey) -> None:
    def drawn(key: MatchKey) -> tuple[object, ...]:
        match = match_id(SECRET, key)
        return match, bot_seed(SECRET, match, 0), bot_seed(SECRET, match, 1)

    assert (drawn(one) == drawn(other)) == (one == other)
    assert set(drawn(one)).isdisjoint(drawn(other)) == (one != other)
    same_list = (one.pairing, one.leg, one.number) == (other.pairing, other.leg, other.number)
    assert (
        list_id(one.pairing, one.leg, one.number, False) == list_id(other.pairing, other.leg, other.number, False)
    ) == same_list


def test_another_deal_list_or_secret_gives_another_deck() -> None:
    decks = {
        deck(secret, name, number, PACK)
        for secret in (SECRET, secret_from_seed(66, epoch=1))
        for name in ("0", "1", "10")
        for number in (1, 2, 11)
    }
    assert len(decks) == 18


def test_a_match_id_is_short_and_tells_nothing_without_the_secret() -> None:
    key = MatchKey(0, ("a", "b"), 0, 1)
    assert len(match_id(SECRET, key)) == 16
    assert int(match_id(SECRET, key), 16) >= 0
    assert match_id(SECRET, key) != match_id(secret_from_seed(67), key)
