"""The pages of a run: which there are, how they are called, and what each is given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from arena.reports import Part, csv, json, trust, words
from arena.reports.columns import (
    CSV_COLUMNS,
    MARK,
    NOTHING,
    TABLE_COLUMNS,
    bot_tables,
    margin,
    parse_columns,
    percent,
    won_drawn_lost,
    worded,
)
from arena.reports.counting import counted
from arena.reports.foreign import printable
from arena.reports.html import charts
from arena.reports.html.course import Point
from arena.reports.model import RunReport
from arena.reports.text import HOW_TO_READ
from arena.reports.trust import TrustReport
from arena.tournament.standings import Encounter, PairResult

POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"
SHADES = 4
"""Of a heat map, on each side of even."""
STATIC = ("style.css",)
DOWNLOADS = {
    "report.json": "the report (JSON)",
    "ranking.csv": "the ranking (CSV)",
    "trust.json": "the trust report (JSON)",
}


@dataclass(frozen=True, slots=True)
class Site:
    """Everything that the pages show."""

    trust: TrustReport
    course: Mapping[str, Sequence[Point]]
    """By bot."""
    pairs: Mapping[tuple[str, ...], Sequence[PairResult]]
    """Complete ones by pairing."""

    @property
    def report(self) -> RunReport:
        return self.trust.report


def pages(site: Site) -> Iterator[tuple[str, str]]:
    """The files of the site: a path with slashes, and the text."""
    report = site.report
    names = [row.participant.name for row in report.rows]
    addresses = _addresses("bots", names)
    meetings = _addresses("pairings", [" - ".join(pairing) for pairing in site.pairs])
    of_pairing = dict(zip(site.pairs, meetings.values(), strict=True))
    common = {
        "report": report,
        "run": report.run,
        "policy": POLICY,
        "address_of": addresses,
        "address_of_pairing": of_pairing,
        "size": words.size(report.run),
        "state": str(report.run.state),
    }

    def page(path: str, template: str, **values: object) -> tuple[str, str]:
        root = "../" * path.count("/")
        return path, _environment().get_template(template).render(common, root=root, path=path, **values)

    columns = worded(parse_columns(TABLE_COLUMNS), report.run.unit)
    yield page(
        "index.html",
        "index.html",
        verdict=words.verdict(report),
        columns=columns,
        how_to_read=HOW_TO_READ[report.run.unit],
        heat_map=[[_heat(report.crosstable.get((name, other))) for other in names] for name in names],
        course={name: charts.course(site.course, name) for name in names if site.course.get(name)},
        ends=[
            (reason, deals, charts.bar(deals / max(report.end_reasons.values())))
            for reason, deals in report.end_reasons.items()
        ],
        deals=sum(report.end_reasons.values()),
        facts_of_run=[*words.absences(report), *words.provenance(report.run)],
        downloads=DOWNLOADS,
        faults=[words.fault_in_short(fault) for fault in reversed(report.faults)],
        voids=[words.void_in_words(void) for void in reversed(report.voids)],
    )
    tables = bot_tables(report.rows)
    yield page("bots.html", "bots.html", tables=tables)
    yield page(
        "trust.html",
        "trust.html",
        findings=list(trust.findings(site.trust)),
        duels=trust.duels(site.trust),
        verdict=words.verdict(report),
    )
    yield page("rules.html", "rules.html")
    for number, row in enumerate(report.rows):
        name = row.participant.name
        yield page(
            addresses[name],
            "bot.html",
            row=row,
            figures={"Figures": worded(parse_columns(CSV_COLUMNS), report.run.unit), **tables},
            chart=charts.course(site.course, name, charts.LARGE) if site.course.get(name) else None,
            meetings=[
                (other, met, _heat(met), next((each for each in site.pairs if {name, other} <= set(each)), None))
                for other in names
                if (met := report.crosstable.get((name, other)))
            ],
            faults=[words.fault_in_short(fault) for fault in reversed(report.faults) if fault.participant == name],
            before=names[number - 1] if number else None,
            after=names[number + 1] if number + 1 < len(names) else None,
        )
    for pairing, pairs in site.pairs.items():
        yield page(of_pairing[pairing], "pairing.html", pairing=pairing, pairs=pairs, table=report.crosstable)
    yield "report.json", json.render(report, Part.ALL)
    yield "ranking.csv", csv.render(report.rows, parse_columns(CSV_COLUMNS))
    yield "trust.json", trust.as_json(site.trust)
    for name in STATIC:
        yield name, (files(__package__) / "static" / name).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Heat:
    """One cell of the crosstable."""

    pairs: str
    points: str
    shade: str
    """A class: `even`, or `up-1` to `down-4`."""
    percent: str


def _heat(met: Encounter | None) -> Heat | None:
    if met is None or not met.pairs.total:
        return None
    share = (met.pairs.won + met.pairs.drawn / 2) / met.pairs.total
    steps = round((share - 0.5) * 2 * SHADES)
    shade = f"up-{steps}" if steps > 0 else f"down-{-steps}" if steps < 0 else "even"
    return Heat(won_drawn_lost(met.pairs), margin(met), shade, f"{share:.0%}")


def _addresses(folder: str, names: Sequence[str]) -> dict[str, str]:
    """A file for each name: readable, safe on every file system, and never two alike."""
    taken: set[str] = set()
    found = {}
    for name in sorted(names):
        plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "bot"
        unique, number = plain, 1
        while unique in taken:
            number += 1
            unique = f"{plain}-{number}"
        taken.add(unique)
        found[name] = f"{folder}/{unique}.html"
    return {name: found[name] for name in names}


_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]+")


def _prose(text: str) -> Markup:
    """A sentence that may quote names: words from right to left are isolated, so that they turn nothing around."""
    return Markup(_RIGHT_TO_LEFT.sub(r"<bdi>\g<0></bdi>", str(escape(printable(text)))))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["name"] = _name
    environment.filters["prose"] = _prose
    environment.filters["printable"] = printable
    environment.filters["percent"] = percent
    environment.globals |= {"MARK": MARK, "NOTHING": NOTHING, "counted": counted}
    return environment


def _name(text: str) -> Markup:
    """A bot's name on a page: isolated, so that its direction changes nothing around it; visible even if empty."""
    return Markup("<bdi>{}</bdi>").format(printable(text) or "(no name)")
