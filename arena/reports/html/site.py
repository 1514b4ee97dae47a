"""The pages of a run: which there are, how they are called, and what each is given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from arena.match.summary import MatchKey
from arena.reports import Part, csv, trust, words
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
from arena.reports.foreign import isolated, printable
from arena.reports.highlights import Highlight, Kind
from arena.reports.html import charts
from arena.reports.html.course import Point
from arena.reports.html.decks import DECKS, pictures
from arena.reports.html.moments import match_data
from arena.reports.model import Row, RunReport
from arena.reports.replay.model import MatchReplay
from arena.reports.text import how_to_read
from arena.reports.trust import TrustReport
from arena.store.queries import in_words
from arena.tournament.standings import Encounter, PairResult

POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"
LIVE_POLICY = f"{POLICY}; connect-src 'self'"
"""Where a server is there to be asked for news."""
SHADES = 4
"""Of a heat map, on each side of even."""
STATIC = ("style.css", "replay.js")
DOWNLOADS = {
    "report.json": "the report (JSON)",
    "ranking.csv": "the ranking (CSV)",
    "trust.json": "the trust report (JSON)",
}


@dataclass(frozen=True, slots=True)
class Site:
    """Everything that the pages show."""

    trust: TrustReport
    course_of: Callable[[], Mapping[str, Sequence[Point]]]
    """By bot, how its strength became clear; asked for once, when it is needed."""
    pairs: Mapping[tuple[str, ...], Sequence[PairResult]]
    """Complete ones by pairing."""
    highlights: Mapping[Kind, Sequence[Highlight]]
    """Deals to look at; none where the cards are hidden yet."""
    replay_of: Callable[[MatchKey], MatchReplay]
    """The replay of a match with a highlight."""
    record: str | None = None
    """The file of the whole record that lies beside the pages, if one does."""

    @property
    def report(self) -> RunReport:
        return self.trust.report


def pages(site: Site) -> Iterator[tuple[str, str]]:
    """The files of the site: a path with slashes, and the text."""
    yield from ((path, make()) for path, make in Pages(site).makers().items())
    if site.highlights:
        yield from pictures()
    yield from ((name, static(name)) for name in STATIC)


def static(name: str) -> str:
    """A file that every site has."""
    return (files(__package__) / "static" / name).read_text(encoding="utf-8")


class Pages:
    """Each page of a site: its path and its text."""

    def __init__(self, site: Site, *, live: bool = False) -> None:
        """`live`: for a server that tells what is new."""
        self._site = site
        self._live = live
        self._report = site.report
        self._names = [row.participant.name for row in self._report.rows]
        self._address_of = _addresses("bots", self._names)
        meetings = _addresses("pairings", [" - ".join(pairing) for pairing in site.pairs])
        self._address_of_pairing = dict(zip(site.pairs, meetings.values(), strict=True))
        matches = {found.key: in_words(found.key) for kind in site.highlights.values() for found in kind}
        addresses = _addresses("matches", list(matches.values()))
        self.address_of_match = {key: addresses[words] for key, words in matches.items()}
        self._tables = bot_tables(self._report.rows)

    def makers(self) -> Mapping[str, Callable[[], str]]:
        """What makes each page and each file of data, by its path."""
        single = {"index": self.index, "bots": self.bots, "deals": self.deals, "trust": self.trust, "rules": self.rules}
        return {
            **{f"{name}.html": make for name, make in single.items()},
            **{self._address_of[row.participant.name]: partial(self.bot, row) for row in self._report.rows},
            **{address: partial(self.pairing, pairing) for pairing, address in self._address_of_pairing.items()},
            **{address: partial(self._played, key) for key, address in self.address_of_match.items()},
            "report.json": self._as_json,
            "ranking.csv": lambda: csv.render(self._report.rows, parse_columns(CSV_COLUMNS)),
            "trust.json": lambda: trust.as_json(self._site.trust),
        }

    @cached_property
    def _course(self) -> Mapping[str, Sequence[Point]]:
        return self._site.course_of()

    def _played(self, key: MatchKey) -> str:
        return self.match(self._site.replay_of(key))

    def _as_json(self) -> str:
        from arena.reports import json  # its models take a while to make

        return json.render(self._report, Part.ALL)

    def _page(self, path: str, template: str, **values: object) -> str:
        run = self._report.run
        return (
            _environment()
            .get_template(template)
            .render(
                report=self._report,
                run=run,
                policy=LIVE_POLICY if self._live else POLICY,
                live=self._live,
                path=path,
                root="../" * path.count("/"),
                address_of=self._address_of,
                address_of_pairing=self._address_of_pairing,
                address_of_match=self.address_of_match,
                size=words.size(run),
                state=str(run.state),
                **values,
            )
        )

    def _chart(self, name: str, size: tuple[int, int]) -> Markup | None:
        """None where nothing is known of it yet."""
        return charts.course(self._course, name, size) if self._course.get(name) else None

    def index(self) -> str:
        """The ranking, the crosstable, the course, and what they rest on."""
        report = self._report
        ends = report.end_reasons
        return self._page(
            "index.html",
            "index.html",
            verdict=words.verdict(report),
            columns=worded(parse_columns(TABLE_COLUMNS), report.run.unit),
            how_to_read=how_to_read(report.run.unit),
            heat_map=[[_heat(report.crosstable.get((name, other))) for other in self._names] for name in self._names],
            course={name: chart for name in self._names if (chart := self._chart(name, charts.SMALL))},
            ends=[(reason, deals, charts.bar(deals / max(ends.values()))) for reason, deals in ends.items()],
            deals=sum(ends.values()),
            facts_of_run=[*words.absences(report), *words.provenance(report.run)],
            downloads={**DOWNLOADS, **({self._site.record: "the record, to verify"} if self._site.record else {})},
            faults=[words.fault_in_short(fault) for fault in reversed(report.faults)],
            voids=[words.void_in_words(void) for void in reversed(report.voids)],
        )

    def bots(self) -> str:
        """What each bot did, side by side."""
        return self._page("bots.html", "bots.html", tables=self._tables)

    def deals(self) -> str:
        """The deals to look at."""
        return self._page("deals.html", "deals.html", highlights=self._site.highlights)

    def trust(self) -> str:
        """How far to trust the ranking."""
        found = self._site.trust
        return self._page(
            "trust.html",
            "trust.html",
            findings=list(trust.findings(found)),
            duels=trust.duels(found),
            verdict=words.verdict(self._report),
        )

    def rules(self) -> str:
        """Every option of the rules."""
        return self._page("rules.html", "rules.html")

    def bot(self, row: Row) -> str:
        """A bot: its strength, what it did, and against whom."""
        name, report = row.participant.name, self._report
        return self._page(
            self._address_of[name],
            "bot.html",
            row=row,
            figures={"Figures": worded(parse_columns(CSV_COLUMNS), report.run.unit), **self._tables},
            chart=self._chart(name, charts.LARGE),
            small_chart=self._chart(name, charts.SMALL),
            meetings=[
                (other, met, _heat(met), [each for each in self._site.pairs if {name, other} <= set(each)])
                for other in self._names
                if (met := report.crosstable.get((name, other)))
            ],
            mistakes=[found for found in self._site.highlights.get(Kind.MISTAKE, ()) if found.participant == name],
            faults=[words.fault_in_short(fault) for fault in reversed(report.faults) if fault.participant == name],
        )

    def pairing(self, pairing: tuple[str, ...]) -> str:
        """Everybody's results on each list."""
        seen = [(key, address) for key, address in self.address_of_match.items() if key.pairing == pairing]
        return self._page(
            self._address_of_pairing[pairing],
            "pairing.html",
            pairing=pairing,
            pairs=self._site.pairs[pairing],
            matches=[(in_words(key), address) for key, address in seen],
        )

    def match(self, replay: MatchReplay) -> str:
        """A match, to be moved through step by step."""
        points = " : ".join(map(str, replay.points))
        return self._page(
            self.address_of_match[replay.key],
            "match.html",
            replay=replay,
            title=in_words(replay.key),
            about=f"{in_words(replay.key)}: {points} in {counted(len(replay.deals), 'deal')}",
            decks=DECKS,
            data=match_data(replay),
        )


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


def _prose(text: str) -> Markup:
    """A sentence that may quote names."""
    return Markup(escape(isolated(printable(text))))


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
