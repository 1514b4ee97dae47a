"""A replay for a terminal: a picture of each moment, and a deal told step by step.

Makes Rich renderables and prints nothing.  Whatever colour says is said by signs as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from arena.cards import Action, Card, Suit
from arena.match.record import Status
from arena.reports.counting import counted
from arena.reports.foreign import printable
from arena.reports.replay import words
from arena.reports.replay.model import Advice, Choice, DealReplay, MatchReplay, Played, Sight, sight
from arena.reports.times import DecisionTime
from arena.store import MatchResult
from arena.store.queries import in_words

INDENT = 3
_RED = {Suit.HEARTS, Suit.DIAMONDS}
_PAPER, _LEGAL, _CHOSEN = "grey42 on grey82", "grey7 on grey93", "bold grey7 on khaki1"
_FACE_DOWN = "░░"
_ASCII = str.maketrans("♠♥♦♣›‹▸░·←→↑↓−×", "SHDC><>?,<>^v-x")


def in_ascii(text: str) -> str:
    """A rendered replay for a terminal that knows ASCII alone: cards as in records (`TS`)."""
    return re.sub("10(?=[♠♥♦♣])", "T", text).translate(_ASCII)


def title(replay: MatchReplay) -> Text:
    """Which match it is."""
    return Text(f"{replay.run}, match {replay.position}: {printable(in_words(replay.key))}, {replay.rules_name}")


def listed(result: MatchResult) -> str:
    """A match in a list: its place, what each side scored, and which one it is."""
    key = result.key
    place = f"{key.epoch}:{result.position}" if key.epoch else str(result.position)
    sides = " - ".join(f"{' and '.join(each.participants)} {each.points}" for each in result.summary.sides)
    how = "" if result.record.status is Status.PLAYED else f", {result.record.status}"
    return printable(f"{place:>7}  {sides}  (leg {key.leg}, list {key.number}{how})")


def picture(replay: MatchReplay, seen: Sight) -> RenderableType:
    """One moment of a deal: who holds what, what lies on the table, what was to be decided, and what was."""
    return Group(*_picture(replay, seen))


def moment(replay: MatchReplay, deal: DealReplay, viewer: int | None, step: int) -> RenderableType:
    """The picture of one step."""
    return picture(replay, sight(replay, deal, step, viewer))


def story(replay: MatchReplay, deal: DealReplay, viewer: int | None, begin: int = 1) -> RenderableType:
    """A deal told step by step, from one of them on: the cards, then what was done and what it was chosen from."""
    return Group(*_story(replay, deal, viewer, begin))


def advised(replay: MatchReplay, deal: DealReplay, viewer: int | None, step: int, advice: Advice) -> RenderableType:
    """The picture of a step, and what a bot would do in it now."""
    seen = sight(replay, deal, step, viewer)
    return Group(picture(replay, seen), *_advice(seen, advice))


# -- a picture --------------------------------------------------------------------------------------------------------


def _picture(replay: MatchReplay, seen: Sight) -> Iterator[RenderableType]:
    yield _heading(replay, seen)
    yield ""
    bottom = 0 if seen.viewer is None else seen.viewer
    *others, last = replay.table.orders[seen.dealer][replay.table.next_seat(bottom)]
    for seat in others:
        yield from _seat(replay, seen, seat)
        yield ""
    yield from _middle(replay, seen)
    yield ""
    yield from _seat(replay, seen, last)
    yield ""
    yield Text(seen.caption, style="bold")
    yield from map(_indented, _decision(seen))
    if seen.time is not None:
        yield _indented(Text(_time(seen.time), style="dim"))


def _heading(replay: MatchReplay, seen: Sight) -> Text:
    whose = "all cards open" if seen.viewer is None else f"as {replay.cast.seats[seen.viewer]} sees it"
    where = f"deal {seen.deal} of {replay.deals[-1].open.number}, step {seen.step} of {seen.steps}"
    carry = f" · {seen.carry} more for the winner" if seen.carry else ""
    score = f"score {words.dashed(seen.score)}{carry}"
    return Text.assemble((where, "bold"), (f" · {score} · {whose}", "dim"))


def _seat(replay: MatchReplay, seen: Sight, seat: int) -> Iterator[RenderableType]:
    side = replay.table.side_of[seat]
    facts = [counted(seen.points[side], "point"), counted(seen.tricks_won[side], "trick")]
    if seen.pending[side]:
        facts.append(f"{seen.pending[side]} to come")
    if seen.closer == seat:
        facts.append("closed")
    if seen.dealer == seat:
        facts.append("dealer")
    marker = "▸ " if seat == seen.asked else "  "
    yield Text.assemble((marker, "bold"), (replay.cast.seats[seat], "bold"), (f"  {' · '.join(facts)}", "dim"))
    hand = seen.hands[seat]
    choices = {choice.action.card: choice for choice in seen.choices} if seat == seen.asked else None
    cards = [_chip(card, _LEGAL if choices is None else _style(choices.get(card))) for card in hand.cards]
    yield _indented(_row([*cards, *_face_down(hand.hidden)]))


def _style(choice: Choice | None) -> str:
    """Of a card in the hand of the seat that is asked."""
    if choice is None:
        return _PAPER
    return _CHOSEN if choice.chosen else _LEGAL


def _middle(replay: MatchReplay, seen: Sight) -> Iterator[RenderableType]:
    """The talon, the trick on the table and the one before it."""
    trump = Text.assemble(("trump ", "dim"), words.suit(seen.trump) if seen.trump else "none yet")
    if seen.talon:
        trump.append("   talon ", style="dim").append(_talon(seen.talon))
    elif seen.turn_up:
        trump.append("   shown ", style="dim").append(_card(seen.turn_up))
    yield _indented(trump)
    yield _indented(Text.assemble(("table ", "dim"), _trick(replay, seen.table, _chip)))
    if seen.tricks:
        last = seen.tricks[-1]
        taker = replay.cast.seats[last.winner]
        yield _indented(Text.assemble("last  ", _trick(replay, last.cards, _card), f" → {taker}", style="dim"))


def _trick(replay: MatchReplay, cards: Sequence[Played], face: Callable[[Card], Text]) -> Text:
    played = (Text.assemble(face(each.card), (f" {replay.cast.seats[each.seat]}", "dim")) for each in cards)
    return Text("   ").join(played) if cards else Text("-", style="dim")


def _decision(seen: Sight) -> Iterator[Text]:
    """What the seat could do, and what was wrong with what it did."""
    if seen.choices:
        yield Text("  ").join(map(_choice, seen.choices))
    given_away = _given_away(seen.choices)
    if given_away:
        yield Text(f"gives away {counted(given_away, 'point')} against the best", style="bold red")
    if seen.fault:
        yield Text(f"fault: {seen.fault}", style="bold red")
        yield from (Text(printable(line), style="dim") for line in seen.evidence.splitlines())


def _choice(choice: Choice) -> Text:
    text = _valued(choice.action, choice.value)
    return Text(f"›{text}‹", style="bold") if choice.chosen else Text(text)


def _valued(action: Action, value: int | None) -> str:
    """`A♥ +2`; `A♥` where the value is unknown."""
    return words.action(action) if value is None else f"{words.action(action)} {value:+d}".replace("-", "−")


def _given_away(choices: Sequence[Choice]) -> int:
    """What the choice cost in game points against the best one, both sides knowing all cards; 0 where unknown."""
    values = [choice.value for choice in choices if choice.value is not None]
    chosen = next((choice.value for choice in choices if choice.chosen), None)
    return 0 if chosen is None else max(values) - chosen


def _time(time: DecisionTime) -> str:
    """`2.1 ms of 11,000: bot 0.1, wire 2.0; 0.3 more charged to nobody`."""
    spent = time.spent
    of = "" if time.budget_ms is None else f" of {time.budget_ms:,.0f}"
    nobody_us = spent.arena_us + spent.queue_us + spent.waited_us
    all_us = (spent.took_us, spent.took_us - spent.wire_us, spent.wire_us, nobody_us)
    charged, bot, wire, nobody = (f"{us / 1000:,.1f}" for us in all_us)
    return f"{charged} ms{of}: bot {bot}, wire {wire}; {nobody} more charged to nobody"


def _advice(seen: Sight, advice: Advice) -> Iterator[RenderableType]:
    bot = printable(advice.bot)
    yield ""
    if advice.action is None:
        yield Text(f"{bot} now commits a fault: {advice.fault}", style="bold red")
        yield from (_indented(Text(printable(line), style="dim")) for line in advice.evidence.splitlines())
    else:
        does = "the same" if advice.action == seen.action else "otherwise"
        values = {choice.action: choice.value for choice in seen.choices}
        yield Text(f"{bot} now does {does}: {_valued(advice.action, values.get(advice.action))}", style="bold")
    yield _indented(Text(f"{advice.took_ms:,.1f} ms", style="dim"))
    if advice.output:
        yield _indented(Text("it wrote:", style="dim"))
        yield from (_indented(Text(printable(line))) for line in advice.output.splitlines())


# -- a story ----------------------------------------------------------------------------------------------------------


def _story(replay: MatchReplay, deal: DealReplay, viewer: int | None, begin: int) -> Iterator[RenderableType]:
    first = sight(replay, deal, begin, viewer)
    trump = f", trump is {words.suit(first.trump)}" if first.trump else ""
    shown = f" ({words.card(first.turn_up)})" if first.turn_up else ""
    cast = replay.cast
    heading = f"Deal {first.deal}: {cast.seats[first.dealer]} deals{trump}{shown}, score {words.dashed(first.score)}"
    yield Text(heading, style="bold")
    dealt = Grid.grid(padding=(0, 2, 0, 0))
    dealt.add_column(style="dim", overflow="fold")
    dealt.add_column(overflow="fold")
    for seat in first.order:
        hand = first.hands[seat]
        dealt.add_row(cast.seats[seat], _row([*map(_card, hand.cards), *_face_down(hand.hidden)]))
    if first.talon:
        dealt.add_row("talon", _talon(first.talon))
    yield _indented(dealt)
    steps = Grid.grid(padding=(0, 2, 0, 0))
    steps.add_column(justify="right", style="dim", min_width=INDENT)
    steps.add_column(overflow="fold")
    for step in range(begin, deal.steps + 1):
        seen = sight(replay, deal, step, viewer)
        took = f"  {seen.time.spent.took_us / 1000:,.1f} ms" if seen.time else ""
        lines = (Padding(line, (0, 0, 0, 2)) for line in _decision(seen))
        steps.add_row(str(step), Group(Text.assemble(seen.caption, (took, "dim")), *lines))
    yield steps
    yield ""


# -- cards ------------------------------------------------------------------------------------------------------------


def _card(card: Card) -> Text:
    return Text(words.card(card), style="red" if card.suit in _RED else "")


def _chip(card: Card, style: str = _LEGAL) -> Text:
    """A card in a hand, as a piece of paper."""
    chip = Text(f" {words.card(card)} ", style=style)
    if card.suit in _RED:
        chip.stylize("rosy_brown" if style == _PAPER else "red3")
    return chip


def _face_down(count: int) -> list[Text]:
    return [Text(_FACE_DOWN, style="dim") for _ in range(count)]


def _talon(talon: Sequence[Card | None]) -> Text:
    """Its cards, the next one first; of those face down how many there are."""
    hidden = talon.count(None)
    face_down = [Text(f"{_FACE_DOWN} × {hidden}", style="dim")] if hidden else []
    return _row([*face_down, *(_card(card) for card in talon if card is not None)])


def _row(cards: Sequence[Text]) -> Text:
    return Text(" ").join(cards)


def _indented(line: RenderableType) -> Padding:
    return Padding(line, (0, 0, 0, INDENT))
