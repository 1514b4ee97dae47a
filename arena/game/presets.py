"""The named rules: each preset is the data of one table in docs/rules/, and nothing else.

A later preset is written as an earlier one with options replaced, so that a difference can be seen at a glance.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from arena.errors import UsageError
from arena.game.rules import Rules

_SIXTY_SIX = Rules()

_SESSANTASEI_32 = _SIXTY_SIX.with_options(
    {
        "deck": 32,
        "exchange": "off",
        "marriage": "off",
        "close": "after_draw",
        "close_snapshot": "end",
        "close_fail": "mirror",
        "close_needs_claim": True,
        "claim": "after_trick",
        "false_claim": "mirror",
        "tie": "draw",
    }
)

_PAGAT = _SIXTY_SIX.with_options(
    {
        "deal_rotation": "winner",
        "exchange": "with_trick",
        "exchange_on_opponent_close": True,
        "marriage": "pending",
        "close_snapshot": "end",
        "close_beaten": "flat2",
        "close_needs_claim": True,
        "claim": "after_trick",
        "false_claim": "flat2",
        "tie": "draw",
    }
)

_SCHNAPSEN = _SIXTY_SIX.with_options(
    {
        "deck": 20,
        "hand": 5,
        "marriage": "pending",
        "marriage_phase": "any",
        "close": "after_draw",
        "close_needs_claim": True,
        "claim": "after_trick",
        "false_claim": "opponent",
        "last_trick": "wins_one",
        "illegal_play": "forfeit3",
    }
)

PRESETS: Mapping[str, Rules] = {
    # 000, the default
    "sixty-six": _SIXTY_SIX,
    # 000 "Sixty-Six a 32 carte"
    "sixty-six-32": _SIXTY_SIX.with_options({"deck": 32}),
    # 000 "Matrimoni dichiarati solo sulla propria apertura"
    "sixty-six-strict": _SIXTY_SIX.with_options({"marriage_credit": "led"}),
    # 002
    "sessantasei-32": _SESSANTASEI_32,
    # 003
    "sesenta-y-seis": _SIXTY_SIX.with_options(
        {
            "exchange": "with_trick",
            "marriage": "pending",
            "close": "after_draw",
            "close_snapshot": "end",
            "last_trick": "plus10_wins",
        }
    ),
    "pagat": _PAGAT,
    "schnapsen": _SCHNAPSEN,
    "schnapsen-sharp": _SCHNAPSEN.with_options(
        {
            "exchange": "with_trick",
            "exchange_min_talon": 4,
            "marriage": "needs_trick",
            "marriage_lead": "king",
            "close_min_talon": 4,
        }
    ),
    "vu-schnapsen": _SCHNAPSEN.with_options(
        {
            "marriage_lead": "king",
            "marriage_credit": "next_trick",
            "close": "off",
            "close_needs_claim": False,
            "claim": "auto",
            "illegal_play": "forfeit2",
        }
    ),
    "santase": _SIXTY_SIX.with_options(
        {
            "deal_rotation": "winner",
            "exchange": "with_trick",
            "exchange_min_talon": 4,
            "marriage_phase": "any",
            "marriage_lead": "auto",
            "close": "after_draw",
            "close_first_lead": False,
            "close_min_talon": 4,
            "close_snapshot": "end",
            "close_fail": "flat3",
            "claim": "auto",
            "tie": "draw",
            "match_target": 11,
        }
    ),
    # 000 "Sixty-Six a tre"
    "three-handed": _SIXTY_SIX.with_options({"seating": "dealer_out", "seats": 3, "deal_rotation": "clockwise"}),
    # 002 for three
    "sessantasei-3": _SESSANTASEI_32.with_options(
        {"hand": 7, "seating": "free_for_all", "seats": 3, "deal_rotation": "clockwise", "close_min_talon": 5}
    ),
    # 000 "Gioco in coppia a quattro"
    "four-handed": _SIXTY_SIX.with_options(
        {
            "seating": "partners",
            "seats": 4,
            "trump_source": "dealer_card",
            "deal_rotation": "clockwise",
            "exchange": "off",
            "marriage_phase": "any",
            "close": "off",
        }
    ),
    # 002 for four
    "sessantasei-101": _SESSANTASEI_32.with_options(
        {
            "deck": 48,
            "hand": 7,
            "seating": "partners",
            "seats": 4,
            "deal_rotation": "clockwise",
            "target": 101,
            "close_min_talon": 4,
            "class_line": 51,
        }
    ),
    # 000 "Tausendeins"
    "tausendeins": _SIXTY_SIX.with_options(
        {
            "hand": 8,
            "trump_source": "marriage",
            "exchange": "off",
            "marriage": "pending",
            "marriage_phase": "any",
            "close": "off",
            "claim": "off",
            "last_trick": "none",
            "match_target": 1001,
            "marriage_values": "by_suit",
            "score": "card_points",
        }
    ),
}


def preset(name: str) -> Rules:
    """The rules of that name; raises `UsageError` naming the nearest preset and all of them."""
    try:
        return PRESETS[name]
    except KeyError:
        near = difflib.get_close_matches(name, PRESETS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"unknown rules {name!r}{hint} (known: {', '.join(PRESETS)})") from None


def name_of(rules: Rules) -> str:
    """The preset's name, `custom` for any other rules."""
    return next((name for name, known in PRESETS.items() if known == rules), "custom")
