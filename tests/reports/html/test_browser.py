"""The pages in a real browser: nothing refused by their own policy, for everybody to use, and true to the replay."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from arena.app.data import Archive
from arena.app.replay import Library, build_replay
from arena.app.report import build_site
from arena.reports.highlights import Highlight, Kind
from arena.reports.html.decks import pictures
from arena.reports.html.site import STATIC, Pages, static
from arena.reports.replay.model import MatchReplay, sight
from arena.store import open_queries
from tests.browsers import SHAPES, needs_chromium
from tests.game.tables import GAMES
from tests.reports.html.conftest import MARKUP
from tests.reports.replays import replay_of

pytestmark = needs_chromium
PAGES = [
    "index.html",
    "bots.html",
    "deals.html",
    "trust.html",
    "rules.html",
    "bots/*.html",
    "pairings/*.html",
    "matches/*.html",
]
OUTSIDE = """() => {
  const within = (inner, outer) => inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
  const out = [];
  for (const seat of document.querySelectorAll(".seat")) {
    const box = seat.getBoundingClientRect();
    const parts = [...seat.querySelectorAll(".card, .who")].map((part) => part.getBoundingClientRect());
    const table = document.getElementById("table").getBoundingClientRect();
    if (!within(box, table) || !parts.every((part) => within(part, box))) out.push(seat.className);
    if (seat.querySelector("bdi").getClientRects().length > 1) out.push(`${seat.className} in pieces`);
  }
  return out;
}"""
"""Seats that are not whole, or not on the table."""
RANKS = dict(zip("ATKQJ987", ("ace", "ten", "king", "queen", "jack", "nine", "eight", "seven"), strict=True))
SUITS = {"S": "spades", "H": "hearts", "D": "diamonds", "C": "clubs"}


@pytest.fixture(scope="module")
def match(site: Path, data: Path) -> tuple[Path, MatchReplay]:
    """A page of a match, and the replay that it shows."""
    file = max((site / "matches").iterdir(), key=lambda path: path.stat().st_size)
    held = re.search(r'<script type="application/json" id="match">(.*?)</script>', file.read_text(encoding="utf-8"))
    assert held is not None
    shown = json.loads(held[1])
    with Library(Archive(data)) as library:
        return file, build_replay(library.match("cup", f"{shown['epoch']}:{shown['position']}"))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("pattern", PAGES)
def test_everybody_can_use_every_page(site: Path, page: Page, pattern: str, shape: str) -> None:
    width, scheme = SHAPES[shape]
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    path = sorted(site.glob(pattern))[0]
    page.goto(path.as_uri())
    found = Axe().run(page, options={"preload": False})  # its own look at the style sheet is refused, too
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page is wider than the screen"


def test_a_link_to_a_step_lands_there_and_the_step_is_that_of_the_replay(
    page: Page, match: tuple[Path, MatchReplay]
) -> None:
    file, replay = match
    deal = replay.deals[1]
    for step in (1, deal.steps // 2, deal.steps):
        page.goto(f"{file.as_uri()}#deal=2&step={step}")
        page.reload()
        seen = sight(replay, deal, step)
        assert page.locator("#count").inner_text() == f"{step} / {deal.steps}"
        assert page.locator("#caption").inner_text() == seen.caption
        for seat, place in ((0, "south"), (1, "north")):
            held = page.locator(f".{place} .hand img").evaluate_all("images => images.map((image) => image.alt)")
            assert sorted(held) == sorted(
                f"{RANKS[str(card)[0]]} of {SUITS[str(card)[1]]}" for card in seen.hands[seat].cards
            )
        assert page.locator("#choices li").count() == len(seen.choices)
        assert page.locator("#choices li.chosen").count() == sum(choice.chosen for choice in seen.choices)
        assert page.locator(".talon img").count() == len(seen.talon)


@pytest.mark.parametrize("preset", GAMES)
def test_every_game_is_shown_to_its_end(page: Page, data: Path, preset: str, tmp_path: Path) -> None:
    _, replay = replay_of(preset)
    with open_queries(data / "arena.db") as queries:
        site = build_site(queries, "cup")
    sample = {Kind.SAMPLE: [Highlight(Kind.SAMPLE, replay.key, 1, "")]}
    pages = Pages(replace(site, highlights=sample))
    address, text = pages.address_of_match[replay.key], pages.match(replay)
    for name, content in [(address, text), *pictures(), *((name, static(name)) for name in STATIC)]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    page.goto((tmp_path / address).as_uri())
    seats = page.locator(".seat")
    assert seats.count() == replay.table.seats
    deal = replay.deals[0]
    for step in range(1, deal.steps + 1):
        seen = sight(replay, deal, step)
        assert page.locator("#caption").inner_text() == seen.caption
        assert page.locator(".hand img").count() == sum(len(hand.cards) for hand in seen.hands)
        assert page.locator(".trick img").count() == len(seen.table)
        assert page.locator("#tricks li").count() == len(seen.tricks)
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Home")
    for width in (360, 768, 1024, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(OUTSIDE) == [], width


def test_from_a_seat_no_card_is_seen_that_it_did_not_see(page: Page, match: tuple[Path, MatchReplay]) -> None:
    file, replay = match
    page.goto(file.as_uri())
    for viewer in (0, 1):
        page.locator("#deal").select_option("1")
        page.locator("#start").click()
        page.locator("#eyes").select_option(str(viewer))
        for step in range(1, replay.deals[0].steps + 1):
            seen = sight(replay, replay.deals[0], step, viewer)
            other = page.locator(".north .hand img").evaluate_all("images => images.map((image) => image.alt)")
            hidden = seen.hands[1 - viewer]
            assert other.count("face down") == hidden.hidden
            assert len(other) == hidden.hidden + len(hidden.cards)
            talon = page.locator(".talon img").evaluate_all("images => images.map((image) => image.alt)")
            assert talon.count("face down") == seen.talon.count(None)
            assert page.locator("#choices li").count() == len(seen.choices)
            page.locator("#forward").click()


def test_the_keyboard_alone_leads_through_a_match(page: Page, match: tuple[Path, MatchReplay]) -> None:
    file, replay = match
    page.goto(file.as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator("#count").inner_text() == f"3 / {replay.deals[0].steps}"
    page.keyboard.press("End")
    assert page.locator("#count").inner_text() == f"{replay.deals[0].steps} / {replay.deals[0].steps}"
    page.keyboard.press("ArrowRight")
    assert page.locator("#score").inner_text().startswith("Deal 2 of ")
    assert page.url.endswith("#deal=2&step=1")
    page.keyboard.press("ArrowLeft")
    assert page.url.endswith(f"#deal=1&step={replay.deals[0].steps}")
    page.keyboard.press("v")
    assert page.locator("#eyes").input_value() == "0"
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "forward":
            break
    page.keyboard.press("Enter")
    assert page.url.endswith("#deal=2&step=1")


def test_it_plays_by_itself_until_it_is_told_to_stop(page: Page, match: tuple[Path, MatchReplay]) -> None:
    page.clock.install()
    page.goto(match[0].as_uri())
    page.keyboard.press("Space")
    page.clock.run_for(3 * 1300 + 50)
    assert page.url.endswith("#deal=1&step=4")
    page.keyboard.press("Space")
    page.clock.run_for(10 * 1300)
    assert page.url.endswith("#deal=1&step=4")


def test_each_deck_has_a_picture_of_every_card(site: Path, page: Page, match: tuple[Path, MatchReplay]) -> None:
    page.goto(match[0].as_uri())
    for deck in page.locator("#deck option").evaluate_all("options => options.map((option) => option.value)"):
        assert len(list((site / "cards" / deck).iterdir())) == 32
        page.locator("#deck").select_option(deck)
        page.wait_for_function("[...document.images].every((image) => image.complete && image.naturalWidth > 0)")


def test_an_address_that_leads_nowhere_leads_to_the_nearest_step(page: Page, match: tuple[Path, MatchReplay]) -> None:
    file, replay = match
    for wanted, there in (("deal=0&step=x", "deal=1&step=1"), ("deal=99&step=1", f"deal={len(replay.deals)}&step=1")):
        page.goto(f"{file.as_uri()}#{wanted}")
        page.reload()
        assert page.url.endswith(f"#{there}")


def test_names_of_markup_are_text(site: Path, page: Page) -> None:
    page.goto((site / "index.html").as_uri())
    assert MARKUP in page.locator("table.ranking").first.inner_text()
    assert page.locator("main script, main b").count() == 0


def test_it_prints_without_what_is_only_for_the_screen(site: Path, page: Page) -> None:
    page.goto((site / "index.html").as_uri())
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert page.locator("table.ranking").first.is_visible()
    assert page.pdf().startswith(b"%PDF")
