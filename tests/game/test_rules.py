"""Rules are data: every cell of the presets' table, and options that cannot stand together."""

from __future__ import annotations

import dataclasses

import pytest

from arena.errors import RulesError, UsageError
from arena.game.presets import PRESETS, preset
from arena.game.rules import Rules
from tests.game.tables import GAMES

# The presets for two as a table; a dash: the option has no say there.
TABLE = """
option                     | sixty-six  | sessantasei-32 | sesenta-y-seis | pagat       | schnapsen  | schnapsen-sharp | vu-schnapsen | santase
deck                       | 24         | 32             | 24             | 24          | 20         | 20              | 20           | 24
hand                       | 6          | 6              | 6              | 6           | 5          | 5               | 5            | 6
deal_rotation              | alternate  | alternate      | alternate      | winner      | alternate  | alternate       | alternate    | winner
exchange                   | on_lead    | off            | with_trick     | with_trick  | on_lead    | with_trick      | on_lead      | with_trick
exchange_min_talon         | 2          | -              | 2              | 2           | 2          | 4               | 2            | 4
exchange_on_opponent_close | no         | -              | no             | yes         | no         | no              | no           | no
marriage                   | needs_trick | off           | pending        | pending     | pending    | needs_trick     | pending      | needs_trick
marriage_phase             | open       | -              | open           | open        | any        | any             | any          | any
marriage_lead              | either     | -              | either         | either      | either     | king            | king         | auto
marriage_credit            | declared   | -              | declared       | declared    | declared   | declared        | next_trick   | declared
close                      | either     | after_draw     | after_draw     | either      | after_draw | after_draw      | off          | after_draw
close_first_lead           | yes        | yes            | yes            | yes         | yes        | yes             | -            | no
close_min_talon            | 2          | 2              | 2              | 2           | 2          | 4               | -            | 4
close_snapshot             | closing    | end            | end            | end         | closing    | closing         | -            | end
close_fail                 | 2or3       | mirror         | 2or3           | 2or3        | 2or3       | 2or3            | -            | flat3
close_beaten               | as_fail    | as_fail        | as_fail        | flat2       | as_fail    | as_fail         | -            | as_fail
close_needs_claim          | no         | yes            | no             | yes         | yes        | yes             | -            | no
claim                      | own_turn   | after_trick    | own_turn       | after_trick | after_trick | after_trick    | auto         | auto
false_claim                | claimant   | mirror         | claimant       | flat2       | opponent   | opponent        | -            | -
last_trick                 | plus10     | plus10         | plus10_wins    | plus10      | wins_one   | wins_one        | wins_one     | plus10
tie                        | last_trick | draw           | last_trick     | draw        | -          | -               | -            | draw
illegal_play               | forfeit2   | forfeit2       | forfeit2       | forfeit2    | forfeit3   | forfeit3        | forfeit2     | forfeit2
match_target               | 7          | 7              | 7              | 7           | 7          | 7               | 7            | 11
"""  # noqa: E501


def cells() -> list[tuple[str, str, str]]:
    """(preset, option, value) of every cell that says something."""
    head, *rows = ([cell.strip() for cell in line.split("|")] for line in TABLE.strip().splitlines())
    return [
        (name, option, value)
        for option, *values in rows
        for name, value in zip(head[1:], values, strict=True)
        if value != "-"
    ]


def test_every_cell_of_the_table_stands_in_its_preset() -> None:
    for name, option, value in cells():
        actual = PRESETS[name].options()[option]
        assert {"True": "yes", "False": "no"}.get(str(actual), str(actual)) == value, (name, option)


def test_what_the_table_does_not_name_is_the_same_for_all_presets_of_two() -> None:
    for name in {name for name, _, _ in cells()} | {"sixty-six-32", "sixty-six-strict"}:
        rules = PRESETS[name]
        assert (rules.seating, rules.seats, rules.trump_source) == ("two", 2, "turn_up")
        assert (rules.target, rules.class_line) == (66, 33)
        assert (rules.marriage_values, rules.score) == ("20_40", "game_points")


def test_the_variants_of_sixty_six_differ_from_it_in_one_option() -> None:
    assert PRESETS["sixty-six"] == Rules()
    assert PRESETS["sixty-six-32"] == dataclasses.replace(Rules(), deck=32)
    assert PRESETS["sixty-six-strict"] == Rules().with_options({"marriage_credit": "led"})


# The tables of three and four, and 1001: the preset that each begins as, and what is different there.
MORE_SEATS: dict[str, tuple[str, dict[str, object]]] = {
    "three-handed": ("sixty-six", {"seating": "dealer_out", "seats": 3, "deal_rotation": "clockwise"}),
    "sessantasei-3": (
        "sessantasei-32",
        {"seating": "free_for_all", "seats": 3, "hand": 7, "deal_rotation": "clockwise", "close_min_talon": 5},
    ),
    "four-handed": (
        "sixty-six",
        {
            "seating": "partners",
            "seats": 4,
            "trump_source": "dealer_card",
            "deal_rotation": "clockwise",
            "exchange": "off",
            "close": "off",
            "marriage_phase": "any",
        },
    ),
    "sessantasei-101": (
        "sessantasei-32",
        {
            "seating": "partners",
            "seats": 4,
            "deck": 48,
            "hand": 7,
            "deal_rotation": "clockwise",
            "target": 101,
            "class_line": 51,
            "close_min_talon": 4,
        },
    ),
    "tausendeins": (
        "sixty-six",
        {
            "hand": 8,
            "trump_source": "marriage",
            "exchange": "off",
            "close": "off",
            "claim": "off",
            "marriage": "pending",
            "marriage_phase": "any",
            "marriage_values": "by_suit",
            "last_trick": "none",
            "score": "card_points",
            "match_target": 1001,
        },
    ),
}


@pytest.mark.parametrize("name", MORE_SEATS)
def test_the_presets_of_more_seats_and_1001_differ_from_their_base_in_these_options_only(name: str) -> None:
    base, options = MORE_SEATS[name]
    assert PRESETS[name].options() == {**PRESETS[base].options(), **options}


def test_there_are_no_other_presets() -> None:
    assert PRESETS.keys() == {name for name, _, _ in cells()} | {"sixty-six-32", "sixty-six-strict"} | MORE_SEATS.keys()


@pytest.mark.parametrize(
    ("base", "options", "field"),
    [
        ("sixty-six", {"deck": 20, "seats": 4, "seating": "partners", "deal_rotation": "clockwise"}, "hand"),
        ("sixty-six", {"deck": 24, "hand": 6, "seating": "partners", "seats": 4, "deal_rotation": "clockwise"}, "hand"),
        ("sessantasei-3", {"deck": 24, "hand": 8}, "hand"),
        ("sixty-six", {"seating": "partners", "seats": 3, "deal_rotation": "clockwise"}, "seats"),
        ("four-handed", {"seats": 2}, "seats"),
        ("sixty-six", {"seating": "dealer_out", "deal_rotation": "clockwise"}, "seats"),
        ("three-handed", {"seats": 4}, "seats"),
        ("sessantasei-3", {"seats": 2}, "seats"),
        ("sessantasei-3", {"seats": 4}, "seats"),
        ("sixty-six", {"seats": 3, "deal_rotation": "clockwise"}, "seats"),
        ("four-handed", {"close": "after_draw"}, "close"),
        ("tausendeins", {"close": "either"}, "close"),
        ("four-handed", {"exchange": "on_lead"}, "exchange"),
        ("tausendeins", {"exchange": "with_trick"}, "exchange"),
        ("schnapsen", {"claim": "auto"}, "close_needs_claim"),
        ("schnapsen", {"claim": "off"}, "close_needs_claim"),
        ("schnapsen", {"claim": "off", "close": "off"}, "close_needs_claim"),
        ("sixty-six", {"claim": "auto", "close_needs_claim": True}, "close_needs_claim"),
        ("four-handed", {"marriage_phase": "open"}, "marriage_phase"),
        ("four-handed", {"marriage_phase": "open", "marriage": "off"}, "marriage_phase"),
        ("sixty-six", {"marriage_values": "by_suit"}, "marriage_values"),
        ("four-handed", {"marriage_values": "by_suit"}, "marriage_values"),
        ("tausendeins", {"marriage_values": "20_40"}, "marriage_values"),
        ("sessantasei-101", {"marriage": "pending"}, "marriage"),
        ("sessantasei-101", {"marriage": "needs_trick"}, "marriage"),
        ("sessantasei-101", {"exchange": "on_lead"}, "exchange"),
        ("schnapsen", {"tie": "draw"}, "tie"),
        ("schnapsen", {"tie": "draw_carry"}, "tie"),
        ("sesenta-y-seis", {"tie": "draw"}, "tie"),
        ("three-handed", {"deal_rotation": "alternate"}, "deal_rotation"),
        ("three-handed", {"deal_rotation": "winner"}, "deal_rotation"),
        ("four-handed", {"deal_rotation": "winner"}, "deal_rotation"),
    ],
)
def test_options_that_contradict_each_other_are_refused_with_the_field_named(
    base: str, options: dict[str, object], field: str
) -> None:
    with pytest.raises(RulesError, match=field) as refusal:
        GAMES[base].rules.with_options(options)
    assert refusal.value.field == field
    assert isinstance(refusal.value, UsageError)


@pytest.mark.parametrize(
    ("options", "field", "says"),
    [
        ({"deck": 36}, "deck", "20, 24, 32, 48"),
        ({"hand": 9}, "hand", "5, 6, 7, 8"),
        ({"match_target": 6}, "match_target", "1, 5, 7, 11, 1001"),
        ({"close_min_talon": 3}, "close_min_talon", "2, 4, 5"),
        ({"claim": "sometimes"}, "claim", "own_turn, after_trick, auto, off"),
        ({"claim": True}, "claim", "must be one of"),
        ({"deck": "24"}, "deck", "whole number"),
        ({"deck": True}, "deck", "whole number"),
        ({"close_first_lead": 1}, "close_first_lead", "true or false"),
        ({"closing": "off"}, "closing", "unknown rules option"),
        ({"mariage": "off"}, "mariage", "did you mean 'marriage'"),
    ],
)
def test_an_impossible_value_is_refused_with_what_was_expected(
    options: dict[str, object], field: str, says: str
) -> None:
    with pytest.raises(RulesError, match=says) as refusal:
        Rules().with_options(options)
    assert refusal.value.field == field


def test_options_are_plain_values_and_come_back() -> None:
    for each in GAMES.values():
        options = each.rules.options()
        assert {type(value) for value in options.values()} <= {str, int, bool}
        assert Rules().with_options(options) == each.rules


def test_an_unknown_preset_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UsageError, match="did you mean 'schnapsen'"):
        preset("schnapsn")
