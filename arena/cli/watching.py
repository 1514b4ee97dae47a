"""A match for people to read: a line a deal; a deal with a column a seat and a line a trick, and what it was worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from arena.app.play import PlayedMatch, WatchedDeal
from arena.cards import CARDS, CLAIM, CLOSE, EXCHANGE, GO_ON, Action, Card, Suit, hand_cards
from arena.game.table import Table
from arena.game.tricks import BEATS
from arena.game.views import View
from arena.match.record import Status, Step
from arena.reports.foreign import printable
from arena.reports.replay import words
from arena.reports.replay.words import Cast, dashed, reason

SEAT_WIDTH = 22
"""Of a seat's column where two play: the same in every deal, so that deals stand below each other."""
NARROW_SEAT_WIDTH = 11
"""Where more play, so that four fit a terminal of 80 characters; a hand and a name may take two lines."""
TAKER_WIDTH = 20
"""Of the card points and the taker behind the narrow columns."""
_RED = {Suit.HEARTS, Suit.DIAMONDS}


def deal(deal: WatchedDeal, table: Table, *, symbols: bool) -> RenderableType:
    """One deal, card by card; `symbols` says whether the terminal can show ♠♥♦♣."""
    return _Writer(deal, table, symbols).deal()


def match(played: PlayedMatch, table: Table) -> RenderableType:
    """A line a deal, and who has won."""
    cast, record = Cast.of(played.names, table), played.record
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", style="dim", min_width=2)
    for number, each in enumerate(record.deals, start=1):
        grid.add_row(
            str(number),
            Text(reason(each.termination, each.seat, cast)),
            Text(cast.scored(each.points)),
            Text(f"({dashed(each.card_points)})", style="dim"),
        )
    first = [side for side in range(table.sides) if record.ranks[side] == 1]
    winners = " and ".join(cast.sides[side] for side in first)
    points = [record.points[side] for side in sorted(range(table.sides), key=lambda side: record.ranks[side])]
    how = "" if record.status is Status.PLAYED else f" ({record.status})"
    return Group(grid, Text(f"{winners} wins {dashed(points)}{how}", style="bold"))


class _Writer:
    """Writes one deal."""

    def __init__(self, deal: WatchedDeal, table: Table, symbols: bool) -> None:
        self._deal = deal
        self._table = table
        self._symbols = symbols
        self._cast = Cast.of(deal.names, table)
        self._names = self._cast.seats
        first = next(self._views())
        self._turn_up = first.turn_up
        self._seats = sorted(table.orders[deal.dealer][first.leader])

    def deal(self) -> RenderableType:
        grid = Grid.grid(padding=(0, 2, 0, 0))
        grid.add_column(justify="right", style="dim", min_width=2)
        narrow = len(self._seats) > 2
        for _ in self._seats:
            grid.add_column(
                min_width=None if narrow else SEAT_WIDTH, width=NARROW_SEAT_WIDTH if narrow else None, overflow="fold"
            )
        grid.add_column(style="dim", no_wrap=True, max_width=TAKER_WIDTH if narrow else None)
        grid.add_row("", *(Text(self._names[seat], style="bold") for seat in self._seats), "")
        grid.add_row("", *map(self._first_hand, self._seats), "")
        for cells in self._lines():
            grid.add_row(*cells)
        return Group(self._heading(), grid, self._result(), "")

    def _views(self) -> Iterator[View]:
        """What the seats saw in turn, up to the one that is being asked."""
        yield from (step.view for step in self._deal.steps)
        if self._deal.asked is not None:
            yield self._deal.asked

    def _heading(self) -> Text:
        view = next(self._views())
        heading = Text()
        heading.append(f"Deal {self._deal.number}", style="bold")
        heading.append(f"  {self._names[self._deal.dealer]} deals")
        if self._deal.dealer not in self._seats:
            heading.append(" and sits out")
        if self._turn_up:
            heading.append(", turned up is " if view.talon else " and shows ").append(self._card(self._turn_up))
        elif view.trump:
            heading.append(f", trump is {self._suit(Suit(view.trump))}")
        return heading

    def _result(self) -> Text:
        deal, outcome = self._deal, self._deal.outcome
        if outcome is None:
            return Text("" if deal.asked is None else f"    {self._names[deal.asked.seat]} thinks ...", style="dim")
        return Text(
            f"    {reason(outcome.termination, outcome.seat, self._cast)} ({dashed(outcome.card_points)}): "
            f"{self._cast.scored(deal.points)}; score {dashed(deal.score)}"
        )

    def _first_hand(self, seat: int) -> Text:
        """The seat's hand when it was first asked: still the one that it was dealt."""
        view = next((view for view in self._views() if view.seat == seat), None)
        if view is None and self._deal.outcome is None:
            return Text("...", style="dim")
        return Text("(was never asked)", style="dim") if view is None else self._cards(hand_cards(view.hand))

    def _lines(self) -> Iterator[Sequence[str | Text]]:
        """Number, a cell a seat, and who took the trick and the card points by side after it."""
        trick: list[tuple[int, Card]] = []
        steps = self._deal.steps
        last_card = max((index for index, step in enumerate(steps) if _card_of(step)), default=-1)
        for index, step in enumerate(steps):
            card = _card_of(step)
            if card is not None:
                trick.append((step.seat, card))
                if len(trick) == len(self._seats) or index == last_card:
                    yield self._trick(step.view, trick, steps[index + 1 :])
                    trick = []
            elif step.action != GO_ON:
                yield self._aside(step)

    def _aside(self, step: Step) -> Sequence[str | Text]:
        did = Text("fails", style="bold red") if step.action is None else self._words(step.action)
        return ("", *(did if seat == step.seat else "" for seat in self._seats), "")

    def _trick(self, view: View, trick: Sequence[tuple[int, Card]], after: Sequence[Step]) -> Sequence[str | Text]:
        leader = trick[0][0]
        played = dict(trick)
        cells = [
            Text.assemble("› " if seat == leader else "  ", self._card(played[seat]) if seat in played else "")
            for seat in self._seats
        ]
        if len(trick) < len(self._seats):
            return ("", *cells, "")
        points = after[0].view.points if after else self._card_points()
        seat = _taker(trick, view.trump)
        name = printable(self._deal.names[seat])
        taker = name if name == self._names[seat] else f"seat {seat}"
        return (str(len(view.winners) + 1), *cells, f"{dashed(points)} {taker}")

    def _card_points(self) -> Sequence[int]:
        """By side, now or at the end of the deal."""
        outcome, asked = self._deal.outcome, self._deal.asked
        return outcome.card_points if outcome is not None else asked.points if asked is not None else ()

    def _words(self, action: Action) -> Text:
        suit = action.marriage
        if suit is not None:
            return Text(f"marriage in {self._suit(suit)}")
        if action == EXCHANGE:
            return Text("takes ").append(self._card(self._turn_up))
        return Text({CLOSE: "closes the talon", CLAIM: "claims"}[action])

    def _cards(self, cards: Sequence[Card]) -> Text:
        return Text(" ").join(map(self._card, cards))

    def _card(self, card: int) -> Text:
        text = words.card(card) if self._symbols else str(CARDS[card])
        return Text(text, style="red" if CARDS[card].suit in _RED else "")

    def _suit(self, suit: Suit) -> str:
        return words.suit(suit) if self._symbols else str(suit)


def _card_of(step: Step) -> Card | None:
    return None if step.action is None else step.action.card


def _taker(trick: Sequence[tuple[int, Card]], trump: int) -> int:
    """Who takes a finished trick."""
    taker, best = trick[0]
    for seat, card in trick[1:]:
        if BEATS[trump][best] >> card & 1:
            taker, best = seat, card
    return taker
