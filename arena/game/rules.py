"""Rules are data: one frozen value whose fields are the options of the family, checked when it is made.

Functions elsewhere read these fields; no code asks for a preset's name.  The numbers in brackets name the
texts the option comes from (docs/rules/): 000 Sixty-Six, 002 Sessantasei, 003 Sesenta y seis.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from arena.errors import RulesError


class Seating(StrEnum):
    """Who sits at the table and who plays with whom."""

    TWO = "two"
    DEALER_OUT = "dealer_out"
    FREE_FOR_ALL = "free_for_all"
    PARTNERS = "partners"


class TrumpSource(StrEnum):
    """Where the trump suit comes from: the turn-up, the dealer's last card, or the last marriage."""

    TURN_UP = "turn_up"
    DEALER_CARD = "dealer_card"
    MARRIAGE = "marriage"


class DealRotation(StrEnum):
    """Who deals next; after a draw the same dealer deals again."""

    ALTERNATE = "alternate"
    WINNER = "winner"
    CLOCKWISE = "clockwise"


class Exchange(StrEnum):
    """Taking the turn-up for the lowest trump: never, on any lead, or on lead with a trick won."""

    OFF = "off"
    ON_LEAD = "on_lead"
    WITH_TRICK = "with_trick"


class Marriage(StrEnum):
    """Before the side's first trick a marriage is forbidden, or allowed and pending until that trick."""

    OFF = "off"
    NEEDS_TRICK = "needs_trick"
    PENDING = "pending"


class MarriagePhase(StrEnum):
    """Marriages in open play only, or in strict play too."""

    OPEN = "open"
    ANY = "any"


class MarriageLead(StrEnum):
    """Which card of the pair may be led; `auto`: leading either card of a held pair declares it by itself."""

    EITHER = "either"
    KING = "king"
    AUTO = "auto"


class MarriageCredit(StrEnum):
    """When the points count: at once, when the card is on the table, or with the declarer's next trick."""

    DECLARED = "declared"
    LED = "led"
    NEXT_TRICK = "next_trick"


class Close(StrEnum):
    """When the talon may be closed: never, before the draw, after the draw, or at either moment."""

    OFF = "off"
    BEFORE_DRAW = "before_draw"
    AFTER_DRAW = "after_draw"
    EITHER = "either"


class CloseSnapshot(StrEnum):
    """Which moment decides the opponents' class when a close succeeds."""

    CLOSING = "closing"
    END = "end"


class CloseFail(StrEnum):
    """What a failed close pays: 2 (3 if trickless at the close), always 3, or what the closer would have won."""

    TWO_OR_THREE = "2or3"
    FLAT_3 = "flat3"
    MIRROR = "mirror"


class CloseBeaten(StrEnum):
    """What the opponent scores who claims rightly before the closer: as a failed close, or always 2."""

    AS_FAIL = "as_fail"
    FLAT_2 = "flat2"


class Claim(StrEnum):
    """When a seat may say that it has reached the target; `auto`: the arena notices by itself."""

    OWN_TURN = "own_turn"
    AFTER_TRICK = "after_trick"
    AUTO = "auto"
    OFF = "off"


class FalseClaim(StrEnum):
    """What a false claim pays: 3 instead of 2 if the claimant / the opponent is trickless, 2, or the mirror."""

    CLAIMANT = "claimant"
    OPPONENT = "opponent"
    FLAT_2 = "flat2"
    MIRROR = "mirror"


class LastTrick(StrEnum):
    """What the last trick is worth when nobody claimed and the talon was not closed."""

    PLUS_10 = "plus10"
    PLUS_10_WINS = "plus10_wins"
    WINS_ONE = "wins_one"
    NONE = "none"


class Tie(StrEnum):
    """Equal totals at the end: nobody scores, nobody scores and the next deal pays 1 more, the last trick decides."""

    DRAW = "draw"
    DRAW_CARRY = "draw_carry"
    LAST_TRICK = "last_trick"


class IllegalPlay(StrEnum):
    """What an illegal play pays to the opponent, before the floor of `arena.game.scoring.forfeit_value`."""

    FORFEIT_2 = "forfeit2"
    FORFEIT_3 = "forfeit3"


class MarriageValues(StrEnum):
    """20 and 40 in trumps, or by suit: clubs 100, spades 80, hearts 60, diamonds 40."""

    TWENTY_FORTY = "20_40"
    BY_SUIT = "by_suit"


class Score(StrEnum):
    """What a deal adds to the match score: game points (1, 2 or 3) or its card points."""

    GAME_POINTS = "game_points"
    CARD_POINTS = "card_points"


_NUMBERS: Mapping[str, tuple[int, ...]] = {
    "deck": (20, 24, 32, 48),
    "hand": (5, 6, 7, 8),
    "seats": (2, 3, 4),
    "target": (66, 101),
    "exchange_min_talon": (2, 4),
    "close_min_talon": (2, 4, 5),
    "match_target": (1, 5, 7, 11, 1001),
    "class_line": (33, 51),
}


@dataclass(frozen=True, slots=True)
class Rules:
    """Every option of the family.  The defaults are the preset `sixty-six`.  Raises `RulesError` when made."""

    deck: int = 24
    hand: int = 6
    seating: Seating = Seating.TWO
    seats: int = 2
    trump_source: TrumpSource = TrumpSource.TURN_UP
    deal_rotation: DealRotation = DealRotation.ALTERNATE
    target: int = 66
    exchange: Exchange = Exchange.ON_LEAD
    exchange_min_talon: int = 2
    exchange_on_opponent_close: bool = False
    marriage: Marriage = Marriage.NEEDS_TRICK
    marriage_phase: MarriagePhase = MarriagePhase.OPEN
    marriage_lead: MarriageLead = MarriageLead.EITHER
    marriage_credit: MarriageCredit = MarriageCredit.DECLARED
    close: Close = Close.EITHER
    close_first_lead: bool = True
    close_min_talon: int = 2
    close_snapshot: CloseSnapshot = CloseSnapshot.CLOSING
    close_fail: CloseFail = CloseFail.TWO_OR_THREE
    close_beaten: CloseBeaten = CloseBeaten.AS_FAIL
    close_needs_claim: bool = False
    claim: Claim = Claim.OWN_TURN
    false_claim: FalseClaim = FalseClaim.CLAIMANT
    last_trick: LastTrick = LastTrick.PLUS_10
    tie: Tie = Tie.LAST_TRICK
    illegal_play: IllegalPlay = IllegalPlay.FORFEIT_2
    match_target: int = 7
    marriage_values: MarriageValues = MarriageValues.TWENTY_FORTY
    score: Score = Score.GAME_POINTS
    class_line: int = 33

    def __post_init__(self) -> None:
        for field, allowed in _NUMBERS.items():
            value = getattr(self, field)
            if value not in allowed:
                expected = ", ".join(map(str, allowed))
                raise RulesError(field, f"rules option {field} is {value!r}; it must be one of {expected}")
        for contradiction in _contradictions(self):
            raise contradiction

    @property
    def active_seats(self) -> int:
        """How many seats play a deal: all of them, less the dealer where the dealer sits out."""
        return self.seats - 1 if self.seating is Seating.DEALER_OUT else self.seats

    def with_options(self, options: Mapping[str, object]) -> Rules:
        """These rules with single options replaced by plain values (as they stand in a TOML file).

        Raises `RulesError` naming the option: unknown, of the wrong kind, or contradicting another one.
        """
        return dataclasses.replace(self, **{name: _coerce(name, value) for name, value in options.items()})

    def options(self) -> dict[str, str | int | bool]:
        """Every option as a plain value, in the order of the fields: the inverse of `with_options`."""
        plain: dict[str, str | int | bool] = {}
        for name in OPTION_TYPES:
            value = getattr(self, name)
            plain[name] = str(value) if isinstance(value, StrEnum) else value
        return plain


OPTION_TYPES: Mapping[str, type] = {option.name: type(option.default) for option in dataclasses.fields(Rules)}
"""The type of each option by its name, in the order of the fields."""


def _coerce(name: str, value: object) -> Any:
    option = OPTION_TYPES.get(name)
    if option is None:
        import difflib  # bots start sooner without

        near = difflib.get_close_matches(name, OPTION_TYPES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise RulesError(name, f"unknown rules option {name!r}{hint}")
    if issubclass(option, StrEnum):
        try:
            return option(cast("str", value))
        except ValueError:
            expected = ", ".join(option)
            raise RulesError(name, f"rules option {name} is {value!r}; it must be one of {expected}") from None
    if type(value) is not option:
        kind = "true or false" if option is bool else "a whole number"
        raise RulesError(name, f"rules option {name} is {value!r}; it must be {kind}")
    return value


def _contradictions(rules: Rules) -> list[RulesError]:
    """Options that cannot stand together, each with the field to change."""
    found: list[RulesError] = []

    def refuse(field: str, message: str) -> None:
        found.append(RulesError(field, f"rules option {field}: {message}"))

    seats = {Seating.TWO: 2, Seating.DEALER_OUT: 3, Seating.FREE_FOR_ALL: 3, Seating.PARTNERS: 4}[rules.seating]
    if rules.seats != seats:
        refuse("seats", f"seating {rules.seating} has {seats} seats, not {rules.seats}")
    turn_up = rules.trump_source is TrumpSource.TURN_UP
    needed = rules.active_seats * rules.hand + turn_up
    if needed > rules.deck:
        refuse(
            "hand",
            f"{rules.active_seats} hands of {rules.hand}"
            f"{' and the turn-up' if turn_up else ''} need {needed} cards, the deck has {rules.deck}",
        )
    if rules.trump_source is TrumpSource.DEALER_CARD and rules.active_seats * rules.hand != rules.deck:
        refuse("trump_source", "dealer_card needs a deck that is dealt out to the last card")
    if not turn_up and rules.close is not Close.OFF:
        refuse("close", f"there is no talon with a turn-up to close where trump_source is {rules.trump_source}")
    if not turn_up and rules.exchange is not Exchange.OFF:
        refuse("exchange", f"there is no turn-up to exchange where trump_source is {rules.trump_source}")
    if rules.close_needs_claim and rules.claim in (Claim.AUTO, Claim.OFF):
        refuse("close_needs_claim", f"a closer cannot claim where claim is {rules.claim}")
    if rules.trump_source is TrumpSource.DEALER_CARD and rules.marriage_phase is MarriagePhase.OPEN:
        refuse("marriage_phase", "open play never happens where trump_source is dealer_card; use any")
    if rules.marriage_values is MarriageValues.BY_SUIT and rules.trump_source is not TrumpSource.MARRIAGE:
        refuse("marriage_values", "by_suit goes with trump_source marriage only")
    if (
        rules.trump_source is TrumpSource.MARRIAGE
        and rules.marriage is not Marriage.OFF
        and rules.marriage_values is not MarriageValues.BY_SUIT
    ):
        refuse("marriage_values", "every marriage makes trump where trump_source is marriage; use by_suit")
    if rules.deck == 48 and rules.marriage is not Marriage.OFF:
        refuse("marriage", "two packs of 24 have no marriages; use off")
    if rules.deck == 48 and rules.exchange is not Exchange.OFF:
        refuse("exchange", "two packs of 24 have no exchange; use off")
    if rules.last_trick in (LastTrick.WINS_ONE, LastTrick.PLUS_10_WINS) and rules.tie is not Tie.LAST_TRICK:
        refuse("tie", f"no tie is possible where last_trick is {rules.last_trick}; use last_trick")
    if rules.deal_rotation is not DealRotation.CLOCKWISE and rules.seats > 2:
        refuse("deal_rotation", f"{rules.deal_rotation} is for two seats; use clockwise")
    return found
