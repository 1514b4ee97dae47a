"""The pages by themselves: complete, linked, harmless, and with the figures of every other format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import islice
from pathlib import Path

import pytest

from arena.app import report
from arena.app.analyse import AnalyseOptions, analyse
from arena.app.data import Archive
from arena.app.highlights import DEAREST
from arena.app.report import HEADER, LIST, write_site
from arena.app.show import build_report
from arena.app.verify import Difference, Verified, verify_file
from arena.errors import UsageError
from arena.reports.html.site import Site, pages
from arena.store import open_queries
from tests.reports.html.conftest import LONG, MARKUP, NAMES
from tests.reports.runs import patient, plain, play_run, sound


class Page(HTMLParser):
    """What a browser would find in a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.ids: set[str] = set()
        self.cells: list[list[str]] = []
        self._cell = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.ids |= {value for name, value in attrs if name == "id" and value}
        if tag == "tr":
            self.cells.append([])
        if tag in ("td", "th") and self.cells:
            self.cells[-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        if self._cell:
            self.cells[-1][-1] += data


def pages_of(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def test_every_link_leads_to_a_page_that_is_there(site: Path) -> None:
    pages = pages_of(site)
    assert len([path for path in pages if path.parent.name == "bots"]) == len(NAMES)
    assert len([path for path in pages if path.parent.name == "pairings"]) == len(NAMES) * (len(NAMES) - 1) // 2
    followed = 0
    for path, page in pages.items():
        for _, attributes in page.tags:
            for address in (attributes.get("href"), attributes.get("src")):
                if address is None:
                    continue
                target, _, fragment = address.partition("#")
                to = (path.parent / target).resolve() if target else path
                assert to.is_file() and to.is_relative_to(site), f"{path.name}: {address}"
                assert not fragment or "=" in fragment or fragment in pages[to].ids, f"{path.name}: {address}"
                followed += 1
    assert followed > 100
    reached = {
        (path.parent / (attributes.get("href") or "").partition("#")[0]).resolve()
        for path, page in pages.items()
        for tag, attributes in page.tags
        if tag == "a"
    }
    assert reached >= set(pages)


def test_no_page_asks_anybody_or_carries_style_or_script(site: Path) -> None:
    for path, page in pages_of(site).items():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"https?:|//[a-z]|url\(|@import", text), path.name
        for tag, attributes in page.tags:
            assert not {name for name in attributes if name == "style" or name.startswith("on")}, path.name
            assert tag != "style"
            assert tag != "script" or attributes.get("src") or attributes.get("type") == "application/json"
        (policy,) = [
            attributes["content"]
            for tag, attributes in page.tags
            if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
        ]
        assert policy is not None and policy.startswith("default-src 'none';") and "unsafe" not in policy
    assert not re.search(r"url\(|@import", (site / "style.css").read_text(encoding="utf-8"))


def test_names_are_shown_as_they_are_and_do_nothing(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    assert "<script>" not in text and "<b>" not in text
    names = [row[1] for row in Page(site / "index.html").cells if len(row) > 10][1:]
    assert MARKUP in names and LONG.strip() in (name.strip() for name in names)


def test_the_numbers_are_those_of_the_json(site: Path) -> None:
    shown = json.loads((site / "report.json").read_text(encoding="utf-8"))
    rows = [row for row in Page(site / "index.html").cells if len(row) > 10]
    header, lines = rows[0], rows[1:]
    assert len(lines) == len(shown["standings"])
    for line, standing in zip(lines, shown["standings"], strict=True):
        cell = dict(zip(header, line, strict=True))
        assert cell["#"] == str(standing["rank"]) and cell["bot"] == standing["bot"]
        for column in ("score", "mu", "sigma"):
            assert float(cell[column]) == pytest.approx(standing[column], abs=0.00501)
        pairs = standing["pairs"]
        assert cell["pairs"] == f"{pairs['won']}-{pairs['drawn']}-{pairs['lost']}"
        assert cell["matches"] == str(sum(standing["matches"].values()))
        assert cell["faults"] == str(sum(standing["faults"].values()))
    for met in shown["crosstable"]:
        pairs = met["pairs"]
        assert f">{pairs['won']}-{pairs['drawn']}-{pairs['lost']}<br>" in (site / "index.html").read_text(
            encoding="utf-8"
        )


def test_the_record_beside_the_pages_proves_the_run(site: Path, data: Path) -> None:
    proved = verify_file(site / "record.jsonl.gz")
    assert isinstance(proved, Verified)
    with open_queries(data / "arena.db") as queries:
        assert proved.head == build_report(queries, "cup").run.chain_head


def test_a_packed_record_that_was_cut_off_or_changed_proves_nothing(site: Path, tmp_path: Path) -> None:
    packed = (site / "record.jsonl.gz").read_bytes()
    file = tmp_path / "record.jsonl.gz"
    for changed in (packed[:-20], packed[: len(packed) // 2], packed[:3000] + b"\0\0\0" + packed[3003:]):
        file.write_bytes(changed)
        assert isinstance(verify_file(file), Difference)
    file.write_bytes(b"not packed at all")
    with pytest.raises(UsageError, match="is no export of a run"):
        verify_file(file)


def test_writing_twice_gives_the_same_bytes(site: Path, data: Path, tmp_path: Path) -> None:
    with open_queries(data / "arena.db") as queries:
        write_site(queries, "cup", Archive(data), tmp_path / "again")
    files = {path.relative_to(site): path.read_bytes() for path in site.rglob("*") if path.is_file()}
    again = tmp_path / "again"
    assert files == {path.relative_to(again): path.read_bytes() for path in again.rglob("*") if path.is_file()}


def test_another_report_in_the_same_folder_leaves_nothing_of_the_first_and_all_else(tmp_path: Path) -> None:
    play_run(tmp_path, "one", {"left": plain, "right": sound}, pairs=1)
    play_run(tmp_path, "two", {"up": plain, "down": sound}, pairs=1)
    out = tmp_path / "web"
    with open_queries(tmp_path / "arena.db") as queries:
        write_site(queries, "one", Archive(tmp_path), out)
        (out / "CNAME").write_text("mine")
        write_site(queries, "two", Archive(tmp_path), out)
    assert (out / "CNAME").read_text() == "mine"
    assert {path.name for path in (out / "bots").iterdir()} == {"up.html", "down.html"}


def test_a_file_of_somebody_else_is_never_overwritten(data: Path, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("my own page")
    with (
        open_queries(data / "arena.db") as queries,
        pytest.raises(UsageError, match=r"index\.html is not of an earlier"),
    ):
        write_site(queries, "cup", Archive(data), tmp_path)
    assert (tmp_path / "index.html").read_text() == "my own page"


def test_a_list_that_leads_out_of_the_folder_removes_nothing_there(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "web"
    out.mkdir()
    (tmp_path / "precious").write_text("x")
    (out / LIST).write_text(f"{HEADER}\n../precious\n/etc/passwd\n")
    with open_queries(data / "arena.db") as queries:
        write_site(queries, "cup", Archive(data), out)
    assert (tmp_path / "precious").exists() and Path("/etc/passwd").exists()


def test_a_report_that_was_cut_short_can_be_written_again(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(site: Site) -> Iterator[tuple[str, str]]:
        yield from islice(pages(site), 3)
        raise KeyboardInterrupt

    with open_queries(data / "arena.db") as queries:
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(report, "pages", interrupted)
            write_site(queries, "cup", Archive(data), tmp_path)
        assert (tmp_path / "index.html").exists() and not (tmp_path / "style.css").exists()
        write_site(queries, "cup", Archive(data), tmp_path)
    assert (tmp_path / "style.css").exists()


@pytest.mark.parametrize("name", [LIST, "record.jsonl.gz"])
def test_what_only_has_the_name_of_a_file_of_ours_is_left_alone(data: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("notes.md\n")
    (tmp_path / "notes.md").write_text("mine")
    with open_queries(data / "arena.db") as queries, pytest.raises(UsageError, match="is not of an earlier report"):
        write_site(queries, "cup", Archive(data), tmp_path)
    assert (tmp_path / name).read_text() == "notes.md\n" and (tmp_path / "notes.md").read_text() == "mine"


def test_a_run_without_a_pair_has_pages_too(tmp_path: Path) -> None:
    play_run(tmp_path, "empty", matches=1)
    with open_queries(tmp_path / "arena.db") as queries:
        index = write_site(queries, "empty", Archive(tmp_path))
    assert index == tmp_path / "runs" / "empty" / "report" / "index.html"
    assert "there is nothing to rank" in index.read_text(encoding="utf-8")


def test_the_page_of_a_bot_leads_to_what_it_gave_away(tmp_path: Path) -> None:
    play_run(tmp_path, bots={"anna": patient, "bert": patient}, pairs=4, seed="5")
    analyse("cup", Archive(tmp_path), AnalyseOptions(deals=20, bots=(), jobs=1), lambda done, total: None)
    with open_queries(tmp_path / "arena.db") as queries:
        dearest = queries.dearest(queries.tournament("cup"), DEAREST)
        index = write_site(queries, "cup", Archive(tmp_path))
    seen = 0
    for name in ("anna", "bert"):
        mine = [judged for of, judged in dearest.items() if of.participant == name]
        bot = index.parent / "bots" / f"{name}.html"
        found = re.findall(r'href="\.\./(matches/[^"#]+)#deal=(\d+)&amp;step=(\d+)">([^<]+)<', bot.read_text())
        assert len(found) == len(mine) > 0
        for (address, deal, step, about), judged in zip(found, mine, strict=True):
            page = (index.parent / address).read_text()
            data = json.loads(re.findall(r'id="match">(.*?)</script>', page)[0])
            moment: dict[str, object] = {}
            for change in data["deals"][int(deal) - 1]["steps"][: int(step)]:
                moment |= change
            worst = max(judged, key=lambda each: each.given_away)
            assert moment["legal"] == [[str(action), value] for action, value in worst.values.items()]
            assert moment["action"] == str(worst.action) and moment["fair"] is True
            assert about.startswith(f"{name} gives away {worst.given_away} point")
            seen += 1
    assert seen == len(dearest)


def test_names_that_look_empty_are_seen_and_lead_somewhere(tmp_path: Path) -> None:
    play_run(tmp_path, bots={"": sound, "  ": plain}, pairs=1)
    with open_queries(tmp_path / "arena.db") as queries:
        index = write_site(queries, "cup", Archive(tmp_path))
    for page in (index, next((index.parent / "pairings").iterdir()), next((index.parent / "matches").iterdir())):
        text = page.read_text(encoding="utf-8")
        assert "(no name)" in text and r"\x20\x20" in text, page
    links = re.findall(r'href="(bots/[^"]+)"><bdi>([^<]*)</bdi>', index.read_text(encoding="utf-8"))
    assert {name for _, name in links} == {"(no name)", r"\x20\x20"}
    assert len({address for address, _ in links}) == 2
