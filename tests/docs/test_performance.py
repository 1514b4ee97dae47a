"""The page of figures has the parts, forms and presets of the bench: what they came to is for readers to judge."""

from __future__ import annotations

from arena.game.presets import PRESETS
from bench.__main__ import PARTS, table
from bench.decisions import BARE, FORMS
from tests.docs import pages

PAGE = pages.ROOT / "docs" / "performance.md"


def rows(heading: str) -> list[list[str]]:
    return pages.table(PAGE, heading)


def names(heading: str) -> list[str]:
    return [row[0].strip("`") for row in rows(heading)]


def test_every_part_of_the_bench_is_listed() -> None:
    assert names("part") == list(PARTS)


def test_every_form_of_asking_has_its_rate_and_its_cost() -> None:
    assert names("form") == list(FORMS)
    assert all(float(figure.replace(",", "")) > 0 for row in rows("form") for figure in row[2:])


def test_the_arena_is_compared_with_every_bare_form() -> None:
    assert names("the arena over") == list(BARE)
    assert all(float(figure) > 0 for row in rows("the arena over") for figure in row[1:])


def test_every_preset_has_the_cost_of_a_deal_and_of_a_card() -> None:
    assert names("preset") == list(PRESETS)
    assert all(float(figure.replace(",", "")) > 0 for row in rows("preset") for figure in row[1:])


def test_the_table_has_every_figure_of_the_object() -> None:
    figures = {"machine": {"cores": 2}, "rules": {"pagat": {"passes": 7.5}}, "web": {"cpu_us": 1.25, "page": {"kb": 3}}}
    shown = [line.split() for line in table(figures)]
    assert shown == [
        *(["machine"], ["cores", "2"]),
        *(["rules", "pagat"], ["passes", "7.5"]),
        *(["web"], ["cpu_us", "1.25"], ["page"], ["kb", "3"]),
    ]
