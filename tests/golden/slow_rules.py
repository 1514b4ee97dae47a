"""A second interpreter of the rules, slow and obvious: lists of card names, nothing shared with the engine but words.

It reads the options of `Rules` as plain values and follows the pages of docs/rules/ sentence by sentence.  Tests play
the same deals here and in the engine and compare every step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Options = Mapping[str, str | int | bool]

LOW_TO_HIGH = "789JQKTA"
WORTH = {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2, "9": 0, "8": 0, "7": 0}
LOWEST_RANK = {20: "J", 24: "9", 32: "7", 48: "9"}
PACKETS = {5: [3, 2], 6: [3, 3], 7: [3, 4], 8: [3, 3, 2]}
MARRIAGE_OF_SUIT = {"C": 100, "S": 80, "H": 60, "D": 40}


def beats(card: str, other: str, trump: str | None) -> bool:
    """`card`, played later than `other`, takes the trick from it."""
    if card[1] == other[1]:
        return LOW_TO_HIGH.index(card[0]) > LOW_TO_HIGH.index(other[0])
    return card[1] == trump


def best_of(cards: Sequence[str], trump: str | None) -> str:
    """The card that holds the trick; of two identical cards the first played."""
    best = cards[0]
    for card in cards[1:]:
        if beats(card, best, trump):
            best = card
    return best


def duty(hand: Sequence[str], trick: Sequence[str], trump: str | None) -> list[str]:
    """What strict play allows on the cards of a trick."""
    led = trick[0][1]
    following = [card for card in hand if card[1] == led]
    trumps = [card for card in hand if card[1] == trump]
    if following:
        trumped = led != trump and any(card[1] == trump for card in trick)
        if trumped:
            return following
        same_suit = [card for card in trick if card[1] == led]
        higher = [card for card in following if all(beats(card, other, trump) for other in same_suit)]
        return higher or following
    if trumps:
        trumps_so_far = [card for card in trick if card[1] == trump]
        over = [card for card in trumps if all(beats(card, other, trump) for other in trumps_so_far)]
        return over or trumps
    return list(hand)


@dataclass(frozen=True)
class Closed:
    """Who closed the talon, and how the sides stood then."""

    seat: int
    points: tuple[int, ...]
    tricks: tuple[int, ...]


@dataclass(frozen=True)
class Result:
    """How a deal ended."""

    how: str
    seat: int
    points: tuple[int, ...]
    totals: tuple[int, ...]


class SlowDeal:
    """One deal.  `question` is who is asked what; `legal()` are the words it may answer; `do(word)` answers."""

    def __init__(
        self, options: Options, dealer: int, hands: Sequence[Sequence[str]], talon: Sequence[str], turn_up: str | None
    ) -> None:
        self.options = options
        self.dealer = dealer
        self.hands = [list(hand) for hand in hands]
        self.talon = list(talon)
        self.turn_up = turn_up
        self.trump = turn_up[1] if turn_up else None
        self.number_of_sides = 2 if options["seating"] == "partners" else int(options["seats"])
        self.players = players_of(options, dealer)
        self.won: list[list[str]] = [[] for _ in range(self.number_of_sides)]
        self.tricks = [0] * self.number_of_sides
        self.married = [0] * self.number_of_sides
        self.waiting = [0] * self.number_of_sides
        self.ten = [0] * self.number_of_sides
        self.trick: list[tuple[int, str]] = []
        self.pair: str | None = None  # the suit declared on this lead
        self.closed: Closed | None = None
        self.still_to_ask: list[int] = []
        self.result: Result | None = None
        self.question: tuple[str, int] | None = ("on_lead", self.players[0])

    @classmethod
    def dealt(cls, options: Options, deck: Sequence[str], dealer: int) -> SlowDeal:
        """Deal the deck, top first: the packets round the table, then the turn-up, then the talon."""
        rest = list(deck)
        hands: list[list[str]] = [[] for _ in range(int(options["seats"]))]
        for packet in PACKETS[int(options["hand"])]:
            for seat in players_of(options, dealer):
                hands[seat] += rest[:packet]
                rest = rest[packet:]
        if options["trump_source"] == "turn_up":
            turn_up = rest[0]
            return cls(options, dealer, hands, [*rest[1:], turn_up], turn_up)
        if options["trump_source"] == "dealer_card":
            return cls(options, dealer, hands, rest, hands[dealer][-1])
        return cls(options, dealer, hands, rest, None)

    # -- what can be seen ---------------------------------------------------------------------------------------------

    def side(self, seat: int) -> int:
        return seat % 2 if self.options["seating"] == "partners" else seat

    def opponents(self, side: int) -> list[int]:
        """The other sides that play this deal."""
        return sorted({self.side(seat) for seat in self.players} - {side})

    def totals(self) -> list[int]:
        """Card points by side: tricks, credited marriages and the ten for the last trick."""
        return [
            sum(WORTH[card[0]] for card in self.won[side]) + self.married[side] + self.ten[side]
            for side in range(self.number_of_sides)
        ]

    def strict(self) -> bool:
        return self.closed is not None or len(self.talon) < len(self.players)

    def clockwise_from(self, seat: int) -> list[int]:
        place = self.players.index(seat)
        return self.players[place:] + self.players[:place]

    # -- what is legal ------------------------------------------------------------------------------------------------

    def legal(self) -> list[str]:
        """The words that the seat asked may answer, each once, in no order."""
        if self.question is None:
            return []
        what, seat = self.question
        claims = self.options["claim"]
        if what == "after_last_trick":
            return ["claim", "go-on"]
        if what == "before_draw":
            return ["go-on", "close", *(["claim"] if claims in ("own_turn", "after_trick") else [])]
        if what == "on_close":
            return ["go-on", *(["exchange"] if self.options["exchange"] != "off" and self.has_lowest(seat) else [])]
        if what == "follow":
            cards = self.hands[seat]
            if self.strict():
                cards = duty(cards, [card for _, card in self.trick], self.trump)
            return [*set(cards), *(["claim"] if claims == "own_turn" else [])]
        words = list(set(self.hands[seat]))
        if self.pair:
            words = ["K" + self.pair]
            if self.options["marriage_lead"] != "king":
                words.append("Q" + self.pair)
        words += ["M" + suit for suit in self.marriages(seat)]
        if self.may_exchange(seat):
            words.append("exchange")
        if self.may_close_on_lead():
            words.append("close")
        if claims == "own_turn" or (claims == "after_trick" and (self.pair or sum(self.tricks) > 0)):
            words.append("claim")
        return words

    def marriages(self, seat: int) -> list[str]:
        """The suits that a seat on lead may declare."""
        if self.options["marriage"] == "off" or self.pair:
            return []
        if self.options["marriage"] == "needs_trick" and self.tricks[self.side(seat)] == 0:
            return []
        if self.options["marriage_phase"] == "open" and self.strict():
            return []
        return [suit for suit in "SHDC" if "K" + suit in self.hands[seat] and "Q" + suit in self.hands[seat]]

    def has_lowest(self, seat: int) -> bool:
        """The seat holds the lowest trump, and the turn-up is another card."""
        lowest = f"{LOWEST_RANK[int(self.options['deck'])]}{self.trump}"
        return lowest in self.hands[seat] and self.turn_up != lowest

    def may_exchange(self, seat: int) -> bool:
        if self.options["exchange"] == "off" or self.strict():
            return False
        if self.options["exchange"] == "with_trick" and self.tricks[self.side(seat)] == 0:
            return False
        return len(self.talon) >= int(self.options["exchange_min_talon"]) and self.has_lowest(seat)

    def talon_can_be_closed(self) -> bool:
        least = max(int(self.options["close_min_talon"]), len(self.players))
        return self.closed is None and self.options["close"] != "off" and len(self.talon) >= least

    def may_close_on_lead(self) -> bool:
        if not self.talon_can_be_closed():
            return False
        if sum(self.tricks) == 0:
            return bool(self.options["close_first_lead"])
        return self.options["close"] in ("after_draw", "either")

    # -- what happens -------------------------------------------------------------------------------------------------

    def do(self, word: str) -> None:
        """The seat asked answers."""
        assert self.question is not None and word in self.legal(), (word, self.question)
        what, seat = self.question
        if word == "claim":
            self.claim(seat)
        elif word == "close":
            self.close(seat)
        elif word == "exchange":
            self.exchange(what, seat)
        elif word == "go-on":
            self.go_on(what, seat)
        elif word[0] == "M":
            self.declare(seat, word[1])
        elif what == "on_lead":
            self.lead(seat, word)
        else:
            self.follow(seat, word)

    def lead(self, seat: int, card: str) -> None:
        by_itself = self.options["marriage_lead"] == "auto" and card[0] in "KQ" and card[1] in self.marriages(seat)
        if by_itself:
            self.declare(seat, card[1])
        if self.result is None and self.pair and self.options["marriage_credit"] == "led":
            self.credit(seat)
        if self.result is None:
            self.pair = None
            self.follow(seat, card)

    def follow(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        self.trick.append((seat, card))
        if len(self.trick) < len(self.players):
            following = self.clockwise_from(self.trick[0][0])[len(self.trick)]
            self.question = ("follow", following)
        else:
            self.take_trick()

    def take_trick(self) -> None:
        cards = [card for _, card in self.trick]
        best = best_of(cards, self.trump)
        winner = self.trick[cards.index(best)][0]
        side = self.side(winner)
        self.won[side] += cards
        self.tricks[side] += 1
        self.trick = []
        self.credit(winner)
        if self.result:
            return
        if not self.hands[winner]:
            if self.options["claim"] == "after_trick":
                self.question = ("after_last_trick", winner)
            else:
                self.cards_have_run_out(winner)
        elif self.options["close"] in ("before_draw", "either") and self.talon_can_be_closed():
            self.question = ("before_draw", winner)
        else:
            self.draw_and_lead(winner)

    def draw_and_lead(self, winner: int) -> None:
        if not self.strict():
            for seat in self.clockwise_from(winner):
                self.hands[seat].append(self.talon.pop(0))
            if not self.talon:
                self.turn_up = None
        self.question = ("on_lead", winner)

    def go_on(self, what: str, seat: int) -> None:
        if what == "before_draw":
            self.draw_and_lead(seat)
        elif what == "on_close":
            self.ask_next_about_the_close()
        else:
            self.cards_have_run_out(seat)

    def close(self, seat: int) -> None:
        self.closed = Closed(seat, tuple(self.totals()), tuple(self.tricks))
        if self.options["exchange_on_opponent_close"]:
            self.still_to_ask = self.clockwise_from(seat)[1:]
        self.ask_next_about_the_close()

    def ask_next_about_the_close(self) -> None:
        assert self.closed is not None
        if self.still_to_ask:
            self.question = ("on_close", self.still_to_ask.pop(0))
        else:
            self.question = ("on_lead", self.closed.seat)

    def exchange(self, what: str, seat: int) -> None:
        lowest = f"{LOWEST_RANK[int(self.options['deck'])]}{self.trump}"
        assert self.turn_up is not None
        self.hands[seat].remove(lowest)
        self.hands[seat].append(self.turn_up)
        self.turn_up = self.talon[-1] = lowest
        if what == "on_close":
            self.ask_next_about_the_close()

    def declare(self, seat: int, suit: str) -> None:
        self.pair = suit
        if self.options["marriage_values"] == "by_suit":
            self.trump = suit
            self.waiting[self.side(seat)] += MARRIAGE_OF_SUIT[suit]
        else:
            self.waiting[self.side(seat)] += 40 if suit == self.trump else 20
        if self.options["marriage_credit"] == "declared":
            self.credit(seat)

    def credit(self, seat: int) -> None:
        """Waiting marriage points count if the side has a trick; where the arena looks by itself, it looks now."""
        side = self.side(seat)
        if self.tricks[side] > 0:
            self.married[side] += self.waiting[side]
            self.waiting[side] = 0
        if self.options["claim"] == "auto" and self.totals()[side] >= int(self.options["target"]):
            self.end("reached", seat, self.only(side, self.value_of_being_out(side)))

    # -- how it ends --------------------------------------------------------------------------------------------------

    def claim(self, seat: int) -> None:
        side = self.side(seat)
        if self.totals()[side] >= int(self.options["target"]):
            self.end("claim", seat, self.only(side, self.value_of_being_out(side)))
        else:
            self.end("false-claim", seat, self.all_but(side, self.price_of_a_false_claim(side)))

    def cards_have_run_out(self, last: int) -> None:
        if self.closed is not None:
            side = self.side(self.closed.seat)
            if self.totals()[side] >= int(self.options["target"]) and not self.options["close_needs_claim"]:
                self.end("close-made", self.closed.seat, self.only(side, self.value_of_being_out(side)))
            else:
                self.end("close-failed", self.closed.seat, self.all_but(side, self.price_of_a_failed_close()))
            return
        last_side = self.side(last)
        if self.options["last_trick"] in ("plus10", "plus10_wins"):
            self.ten[last_side] = 10
        totals = self.totals()
        leaders = [side for side in range(self.number_of_sides) if totals[side] == max(totals)]
        if self.options["last_trick"] == "plus10_wins" or (
            self.options["tie"] == "last_trick" and len(leaders) > 1 and last_side in leaders
        ):
            leaders = [last_side]
        if self.options["score"] == "card_points":
            points = totals
        elif self.options["last_trick"] == "wins_one":
            points = self.only(last_side, 1)
        elif len(leaders) > 1:
            points = [0] * self.number_of_sides
        else:
            points = self.only(leaders[0], self.one_two_or_three(leaders[0], totals, self.tricks))
        self.end("played-out", last, points)

    def forfeit(self, seat: int) -> None:
        """A fault of the seat loses the deal."""
        side = self.side(seat)
        if self.options["score"] == "card_points":
            self.end("forfeit", seat, self.all_but(side, 400))
            return
        price = 3 if self.options["illegal_play"] == "forfeit3" or self.tricks[side] == 0 else 2
        price = max(price, self.dearest_right_claim_against(side))
        if self.closed is not None and self.side(self.closed.seat) == side:
            price = max(price, self.price_of_a_failed_close())
        self.end("forfeit", seat, self.all_but(side, price))

    def end(self, how: str, seat: int, points: Sequence[int]) -> None:
        self.question = None
        self.result = Result(how, seat, tuple(points), tuple(self.totals()))

    def only(self, winner: int, value: int) -> list[int]:
        return [value if side == winner else 0 for side in range(self.number_of_sides)]

    def all_but(self, loser: int, value: int) -> list[int]:
        return [value if side in self.opponents(loser) else 0 for side in range(self.number_of_sides)]

    def one_two_or_three(self, winner: int, points: Sequence[int], tricks: Sequence[int]) -> int:
        """The class of a win: any loser over the line 1, else any loser with a trick 2, else 3."""
        losers = self.opponents(winner)
        if any(points[loser] >= int(self.options["class_line"]) for loser in losers):
            return 1
        if any(tricks[loser] > 0 for loser in losers):
            return 2
        return 3

    def value_of_being_out(self, side: int) -> int:
        """What a side scores that has the target: by a claim, in silence, or noticed by the arena."""
        if self.closed is None:
            return self.one_two_or_three(side, self.totals(), self.tricks)
        if side == self.side(self.closed.seat):
            if self.options["close_snapshot"] == "closing":
                return self.one_two_or_three(side, self.closed.points, self.closed.tricks)
            return self.one_two_or_three(side, self.totals(), self.tricks)
        return 2 if self.options["close_beaten"] == "flat2" else self.price_of_a_failed_close()

    def price_of_a_failed_close(self) -> int:
        assert self.closed is not None
        closer = self.side(self.closed.seat)
        if self.options["close_fail"] == "flat3":
            return 3
        if self.options["close_fail"] == "2or3":
            return 2 if any(self.closed.tricks[side] > 0 for side in self.opponents(closer)) else 3
        would_have_won = self.one_two_or_three(closer, self.totals(), self.tricks)
        return max(would_have_won, self.dearest_right_claim_against(closer))

    def price_of_a_false_claim(self, side: int) -> int:
        kind = self.options["false_claim"]
        floor = self.dearest_right_claim_against(side)
        price = 2
        if kind == "claimant" and self.tricks[side] == 0:
            price = 3
        if kind == "opponent" and all(self.tricks[other] == 0 for other in self.opponents(side)):
            price = 3
        if kind == "mirror":
            price = max(self.value_of_being_out(side), floor)
        if self.closed is not None and self.side(self.closed.seat) == side:
            return max(price, self.price_of_a_failed_close())
        if self.options["close_snapshot"] == "closing" and kind != "flat2":
            return max(price, floor)
        return price

    def dearest_right_claim_against(self, side: int) -> int:
        """The floor: the most that an opponent would score with a right claim now, after a close by the snapshot."""
        points, tricks = self.totals(), self.tricks
        if self.closed is not None and self.options["close_snapshot"] == "closing":
            points, tricks = list(self.closed.points), list(self.closed.tricks)
        return max(self.one_two_or_three(opponent, points, tricks) for opponent in self.opponents(side))


def players_of(options: Options, dealer: int) -> list[int]:
    """The seats that play a deal, clockwise, the one left of the dealer first."""
    seats = int(options["seats"])
    around = [(dealer + step) % seats for step in range(1, seats + 1)]
    return [seat for seat in around if options["seating"] != "dealer_out" or seat != dealer]
