"""The report of a run as a folder of pages: what they show, gathered from the store, and written."""

from __future__ import annotations

import contextlib
import gzip
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TextIO

from arena.app.data import RUNS, Archive
from arena.app.export import export
from arena.app.files import whole_file
from arena.app.highlights import DEAREST, highlights
from arena.app.replay import Stored, build_replay
from arena.app.show import Count, Rated, rate
from arena.app.trust import trust_of
from arena.errors import UsageError
from arena.match.summary import MatchKey
from arena.ratings.base import Game, Groups, grouped
from arena.ratings.posterior import Posterior, posterior, verdicts
from arena.ratings.trueskill import Fit, fit
from arena.reports.html.course import Point
from arena.reports.html.site import Site, pages
from arena.reports.replay.model import MatchReplay
from arena.store import State
from arena.store.queries import Queries
from arena.tournament.standings import PairResult

FOLDER = "report"
"""What the folder of the pages is called in the folder of the run, where no other is given."""
LIST = "files.txt"
"""In the folder of the pages: what the arena has written there, and may write again or remove."""
HEADER = "# written by arena report, which may write these again or remove them"
RECORD = "record.jsonl.gz"
"""The record of a finished run, for `arena verify`."""
FIRST_MOMENT = 1 / 50
"""Of all lists: where the ratings are computed first on the way to those of now."""


def build_site(queries: Queries, run: str, count: Count | None = None) -> Site:
    """What the pages show of a run by its name, or of the `last` one; `count` is that of the last time.

    Raises `UsageError` where there is none.
    """
    tournament = queries.tournament(run)
    rated = rate(queries, tournament, count)
    by_pairing: defaultdict[tuple[str, ...], list[PairResult]] = defaultdict(list)
    for pair in rated.pairs:
        by_pairing[pair.pairing].append(pair)
    revealed = {epoch.number: epoch for epoch in queries.epochs(tournament) if epoch.secret is not None}

    def replay_of(key: MatchKey) -> MatchReplay:
        epoch = revealed[key.epoch]
        assert epoch.secret is not None
        judged = queries.judged(tournament, key)
        return build_replay(Stored(tournament, epoch, epoch.secret, queries.result(tournament, key), judged))

    return Site(
        trust=trust_of(queries, tournament, rated),
        course_of=partial(course, rated, tournament.config["reference"]),
        pairs=dict(sorted(by_pairing.items())),
        # While all is hidden no record is read: the live page asks again and again.
        highlights=highlights(
            (each for each in queries.results(tournament) if each.key.epoch in revealed),
            {of: each for of, each in queries.dearest(tournament, DEAREST).items() if of.key.epoch in revealed},
        )
        if revealed
        else {},
        replay_of=replay_of,
        record=RECORD if tournament.state is State.FINISHED else None,
    )


def write_site(queries: Queries, run: str, archive: Archive, out: Path | None = None) -> Path:
    """Write the pages into `out`, else into the folder of the run; returns the path of the first page.

    Pages of an earlier report are replaced or removed, nothing else is touched.  Raises `UsageError`: no such run, a
    file is in the way, or the folder cannot be written.
    """
    site = build_site(queries, run)
    folder = out or archive.folder / RUNS / site.report.run.name / FOLDER
    earlier = _written(folder)
    written = []
    with _journal(folder) as journal:

        def place(name: str) -> Path:
            """Where a file goes.  It is listed before it is there: a report that was cut short can be written again."""
            if name not in earlier and (folder / name).exists():
                raise _in_the_way(folder / name)
            written.append(name)
            journal.write(f"{name}\n")
            journal.flush()
            return folder / name

        for name, text in pages(site):
            with whole_file(place(name), make_folder=True) as stream:
                stream.write(text)
        if site.record:
            _write_record(site.report.run.name, archive, place(RECORD))
    for name in sorted(earlier.difference(written)):
        (folder / name).unlink(missing_ok=True)
    with whole_file(folder / LIST) as stream:
        stream.writelines(f"{line}\n" for line in (HEADER, *written))
    return folder / "index.html"


@contextlib.contextmanager
def _journal(folder: Path) -> Iterator[TextIO]:
    """The list, to go on with."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / LIST).open("a", encoding="utf-8", newline="\n") as journal:
            if not journal.tell():
                journal.write(f"{HEADER}\n")
            yield journal
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}; choose another --out") from None


def _in_the_way(file: Path) -> UsageError:
    return UsageError(f"{file} is not of an earlier report, and would be lost; choose another --out")


def _write_record(run: str, archive: Archive, file: Path) -> None:
    """The run as `arena export` writes it, packed; the same run is the same bytes."""
    part = file.with_name(f"{file.name}.part")
    try:
        with part.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
            export(run, archive, lambda line: packed.write(line.encode()))
        part.replace(file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}; choose another --out") from None
    finally:
        part.unlink(missing_ok=True)


def _written(folder: Path) -> frozenset[str]:
    """What an earlier report has left in the folder."""
    try:
        names = (folder / LIST).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return frozenset()
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"{folder / LIST} cannot be read; choose another --out") from None
    if names[:1] != [HEADER]:
        raise _in_the_way(folder / LIST)
    # Whoever changed the list must not lead out of the folder.
    return frozenset(name for name in names[1:] if not {"", "..", "."} & set(name.split("/")))


def course(rated: Rated, reference: str | None) -> Mapping[str, Sequence[Point]]:
    """By bot, what was known of it after so many lists: at some moments, and at the end."""
    lists = sorted({(pair.epoch, pair.number) for pair in rated.pairs})
    of_list: defaultdict[tuple[int, int], list[Game]] = defaultdict(list)
    for pair in rated.pairs:
        of_list[pair.epoch, pair.number].append(Game(pair.sides, pair.ranks))
    moments = set(_moments(len(lists)))
    known: Counter[Game] = Counter()
    found: defaultdict[str, list[Point]] = defaultdict(list)
    for count, each in enumerate(lists, start=1):
        known.update(of_list[each])
        if count not in moments:
            continue
        ended = count == len(lists)
        fitted, belief = (rated.fit, rated.belief) if ended else _rated(grouped(known))
        if reference in belief.names:
            fitted = fitted.anchored(reference, belief.names)
        judged = verdicts(belief, {name: rating.score for name, rating in fitted.ratings.items()}, reference)
        for name, verdict in judged.items():
            found[name].append(Point(count, fitted.ratings[name].mu, verdict.error))
    return found


def _moments(lists: int) -> Iterator[int]:
    """The end, and before it 1, 2, 3, 4, 6, 8, 12, ... but for those at the very start: as a run grows, they stay."""
    for power in range(lists.bit_length()):
        yield from (count for count in (1 << power, 3 << power >> 1) if FIRST_MOMENT * lists < count < lists)
    yield lists


@lru_cache(maxsize=32)
def _rated(games: Groups) -> tuple[Fit, Posterior]:
    """What these games tell; the live page asks for the same ones again and again."""
    fitted = fit(games)
    return fitted, posterior(games, fitted.draw_probability)
