"""The cards as pictures: a French deck that lies here as files, and two that are drawn: four-coloured, and German.

All are SVG of 240 by 336 units.  Each card is known by its name in records: `AS`, `TH`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files

from arena.cards import CARDS, Suit

DECKS = {"french": "French", "index": "Four colours", "german": "German"}
"""Folders, and what each is called."""
_FRAME = '<rect x="-119.5" y="-167.5" width="239" height="335" rx="12" fill="#fff" stroke="#555"/>'
_HEAD = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-120 -168 240 336">'


@dataclass(frozen=True, slots=True)
class _Sign:
    """A suit's sign, drawn in a square from -50 to 50."""

    shape: str
    ink: str
    """Of the letters beside it."""


_HEART = '<path fill="{}" d="M0 46C-14 26-48 6-48-20A25 25 0 0 1 0-28 25 25 0 0 1 48-20C48 6 14 26 0 46Z"/>'
_FOUR_COLOURS: Mapping[Suit, _Sign] = {
    Suit.SPADES: _Sign(
        '<path fill="#15181d" d="M0-47C14-26 47-6 47 18A22 22 0 0 1 6 27C7 37 11 42 17 47H-17C-11 42-7 37-6 27'
        'A22 22 0 0 1-47 18C-47-6-14-26 0-47Z"/>',
        "#15181d",
    ),
    Suit.HEARTS: _Sign(_HEART.format("#c1121f"), "#c1121f"),
    Suit.DIAMONDS: _Sign('<path fill="#0b57a4" d="M0-48Q16-20 38 0 16 20 0 48-16 20-38 0-16-20 0-48Z"/>', "#0b57a4"),
    Suit.CLUBS: _Sign(
        '<path fill="#1c6b34" d="M-6 14A22 22 0 1 1-18-17 22 22 0 1 1 18-17 22 22 0 1 1 6 14C7 32 11 40 17 46H-17'
        'C-11 40-7 32-6 14Z"/>',
        "#1c6b34",
    ),
}
_GERMAN: Mapping[Suit, _Sign] = {
    Suit.SPADES: _Sign(  # leaves
        '<path fill="#2f7d32" d="M0-48C20-34 44-22 40 4 37 24 16 24 3 22L8 46H-8L-3 22'
        'C-16 24-37 24-40 4-44-22-20-34 0-48Z"/>'
        '<path fill="none" stroke="#e8f3e2" stroke-width="3" d="M0-34V20M0-4 20-18M0-4-20-18M0 12 22 0M0 12-22 0"/>',
        "#2f7d32",
    ),
    Suit.HEARTS: _Sign(_HEART.format("#c1121f"), "#c1121f"),
    Suit.DIAMONDS: _Sign(  # bells
        '<circle r="42" fill="#e0a100" stroke="#7a4b00" stroke-width="3"/>'
        '<path fill="#c1121f" stroke="#7a4b00" stroke-width="2" d="M-42-6H42V6H-42Z"/>'
        '<circle cy="24" r="6" fill="#3c2500"/><path stroke="#3c2500" stroke-width="4" d="M0 24V40"/>'
        '<path fill="none" stroke="#7a4b00" stroke-width="4" d="M-7-42a7 6 0 0 1 14 0"/>',
        "#8a5a00",
    ),
    Suit.CLUBS: _Sign(  # acorns
        '<path fill="#b58b2a" stroke="#5a3d0c" stroke-width="3" d="M-27-8C-30 26-12 38 0 47 12 38 30 26 27-8Z"/>'
        '<path fill="#5d7d2b" stroke="#33481a" stroke-width="3" d="M-34-6C-36-34 36-34 34-6 22 2-22 2-34-6Z"/>'
        '<path stroke="#33481a" stroke-width="6" stroke-linecap="round" d="M0-27V-44"/>',
        "#6b4a10",
    ),
}
_LETTERS = {"Q": "O", "J": "U"}
"""Of the German deck where they differ: Ober has its sign above, Unter below."""


def pictures() -> Iterator[tuple[str, str]]:
    """All cards of all decks, and the back of a card: a path and the SVG text."""
    folder = files(__package__) / "static" / "cards"
    yield "cards/NOTICE", (folder / "NOTICE").read_text(encoding="utf-8")
    yield "cards/back.svg", _back()
    for card in CARDS[1:]:
        yield f"cards/french/{card}.svg", (folder / "french" / f"{card}.svg").read_text(encoding="utf-8")
        letter = "10" if card.rank == "T" else card.rank
        yield f"cards/index/{card}.svg", _indexed(letter, _FOUR_COLOURS[card.suit], 0)
        up = {"Q": -46, "J": 46}.get(card.rank, 0)
        yield f"cards/german/{card}.svg", _indexed(_LETTERS.get(card.rank, letter), _GERMAN[card.suit], up)


def _indexed(letter: str, sign: _Sign, up: int) -> str:
    """A card with big letters in two corners and one big sign, in the middle or moved from there."""
    size = 58 if len(letter) == 1 else 48
    corner = (
        f'<text x="-86" y="-110" font-family="Georgia,serif" font-size="{size}" font-weight="700" text-anchor="middle" '
        f'fill="{sign.ink}">{letter}</text><g transform="translate(-86-78)scale(.36)">{sign.shape}</g>'
    )
    middle = f'<g transform="translate(0 {up})scale(1.4)">{sign.shape}</g>'
    return f'{_HEAD}{_FRAME}{corner}<g transform="rotate(180)">{corner}</g>{middle}</svg>\n'


def _back() -> str:
    return (
        f'{_HEAD}<defs><pattern id="p" width="16" height="16" patternUnits="userSpaceOnUse">'
        '<path d="M8 0 16 8 8 16 0 8Z" fill="#2c4f7c"/><circle cx="8" cy="8" r="2" fill="#dfe8f3"/></pattern></defs>'
        f'{_FRAME}<rect x="-106" y="-154" width="212" height="308" rx="8" fill="#1f3b61"/>'
        '<rect x="-106" y="-154" width="212" height="308" rx="8" fill="url(#p)"/></svg>\n'
    )
