"""A page as it was sent is kept once, can be read again without its server, and goes with the research that read it."""

import hashlib
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from actors.evidence.sources import Original, Page
from runtime.crawl import originals
from runtime.crawl.http_client import Client
from runtime.crawl.originals import forget, keep
from runtime.crawl.pages import Pages
from runtime.processes.pool import Workers
from runtime.settings import FetchSettings
from runtime.storage.effects import Effects
from tests.research import a_page
from tests.runtime.crawl.kit import Heard, Here, budget, extract_again, make_pages, results, settings
from tests.runtime.crawl.test_pages import Service
from tests.site import Site

BODY = b"<html><body>" + b"<p>The tide turns twice a day.</p>" * 50
MOST = 1_000_000


def kept(folder: Path) -> list[str]:
    return sorted(path.stem for path in (folder / "pages").glob("*.gz"))


async def crawled(pages: Pages, effects: Effects, *urls: str, source: str = "urls", project: str = "T-1") -> list[Page]:
    heard = Heard()
    run = pages.for_run(effects, budget(), project)
    await run.read(
        results(*urls, source=source), wanted=len(urls), query="the tide", within=30.0, done=heard,
        arrived=lambda _: None,
    )  # fmt: skip
    return heard.pages


@pytest.mark.req("PR-12")
async def test_pr_12_what_a_server_sent_is_kept_beside_its_text_and_read_again_without_it(
    web: Site, effects: Effects, pages: Pages, tmp_path: Path
) -> None:
    # given
    url = web.url("/article")
    (page,) = await crawled(pages, effects, url)
    asked = len(web.asked)

    # then
    assert page.original is not None
    body = originals.read(tmp_path, page.original.sha256)
    assert body is not None
    assert b"</p>" in body
    assert page.original == Original(hashlib.sha256(body).hexdigest(), "text/html", "utf-8", len(body))
    again = extract_again(tmp_path, page, "the tide")
    assert again is not None
    assert (again.title, again.text, again.sha256) == (page.title, page.text, page.sha256)
    assert len(web.asked) == asked


@pytest.mark.req("PR-12")
async def test_pr_12_what_an_extracting_service_sent_is_kept_as_well(
    effects: Effects, pages: Pages, tmp_path: Path
) -> None:
    url, text = "https://tide.example/a", "# Tides\n\n" + "The tide turns twice a day at the barrage. " * 30
    pages.extractor = Service({url: text})

    (page,) = await crawled(pages, effects, url, source="tavily")

    assert page.original is not None
    assert page.original.content_type == "text/markdown"
    assert originals.read(tmp_path, page.original.sha256) == text.encode()
    assert extract_again(tmp_path, page, "the tide").text == page.text  # type: ignore[union-attr]


@pytest.mark.req("PR-12")
def test_each_content_is_kept_once_in_a_file_for_its_user_alone(tmp_path: Path) -> None:
    digest = keep(str(tmp_path), "T-1", BODY, MOST)
    written = (tmp_path / "pages" / f"{digest}.gz").stat().st_mtime_ns

    assert [keep(str(tmp_path), each, BODY, MOST) for each in ("T-1", "T-2")] == [digest] * 2
    assert kept(tmp_path) == [digest] == [hashlib.sha256(BODY).hexdigest()]
    assert (tmp_path / "pages" / f"{digest}.gz").stat().st_mtime_ns == written
    assert (tmp_path / "pages" / f"{digest}.gz").stat().st_size < len(BODY) / 5
    assert (tmp_path / "pages" / "T-1.txt").read_text() == f"{digest}\n"
    files = [path for path in (tmp_path / "pages").iterdir() if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_what_is_larger_than_allowed_or_not_wanted_is_not_kept(tmp_path: Path) -> None:
    noise = bytes(n * n % 251 for n in range(5_000))

    assert keep(str(tmp_path), "T-1", noise, 10) == ""
    assert not (tmp_path / "pages").exists()


@pytest.mark.parametrize("megabytes", [0.0, 0.0001])
async def test_a_research_goes_on_without_originals(
    web: Site, effects: Effects, tmp_path: Path, here: Here, megabytes: float
) -> None:
    client = Client(FetchSettings(allow=("127.0.0.0/8",), original_megabytes=megabytes))
    try:
        pages = await crawled(
            make_pages(settings(tmp_path, client.settings), here, client), effects, web.url("/article")
        )
    finally:
        await client.close()

    assert [page.original for page in pages] == [None]
    assert kept(tmp_path) == []


async def test_a_disk_that_fails_costs_no_page(web: Site, effects: Effects, client: Client, tmp_path: Path) -> None:
    (tmp_path / "pages").symlink_to(tmp_path)
    workers = Workers(1)
    try:
        with capture_logs() as logs:
            read = await crawled(make_pages(settings(tmp_path), workers, client), effects, web.url("/article"))
    finally:
        workers.close()

    assert [page.original for page in read] == [None]
    assert [(each["event"], each["project"]) for each in logs if each["log_level"] == "warning"] == [
        ("original.not_kept", "T-1")
    ]


async def test_who_has_no_state_file_keeps_nothing(web: Site, effects: Effects, pages: Pages, tmp_path: Path) -> None:
    (page,) = await crawled(pages, effects, web.url("/article"), project="")

    assert page.original is None
    assert kept(tmp_path) == []


@pytest.mark.req("PR-12")
def test_with_a_research_go_the_pages_that_no_other_refers_to(tmp_path: Path) -> None:
    mine, shared = (keep(str(tmp_path), "T-1", body, MOST) for body in (b"mine", b"shared"))
    other, also = (keep(str(tmp_path), "T/2", body, MOST) for body in (b"other", b"shared"))
    assert shared == also

    assert forget(tmp_path, ["T-1", "T-404"]) == 1
    assert kept(tmp_path) == sorted([shared, other])
    assert originals.read(tmp_path, mine) is None
    assert forget(tmp_path, ["T/2", "T-1"]) == 2
    assert kept(tmp_path) == []
    assert list((tmp_path / "pages").glob("*.txt")) == []
    assert forget(tmp_path, ["T/2"]) == 0


def test_where_nothing_was_kept_nothing_is_removed(tmp_path: Path) -> None:
    assert forget(tmp_path, ["T-1"]) == 0
    assert extract_again(tmp_path, a_page(), "x") is None
    assert extract_again(tmp_path, a_page(original=Original("ab" * 32, "text/html")), "x") is None


@pytest.mark.parametrize("damage", [b"", b"not packed", b"\x1f\x8b\x08\0damaged"])
def test_what_is_damaged_is_not_given_for_what_was_sent_and_kept_anew(tmp_path: Path, damage: bytes) -> None:
    digest = keep(str(tmp_path), "T-1", BODY, MOST)
    (tmp_path / "pages" / f"{digest}.gz").write_bytes(damage)

    assert originals.read(tmp_path, digest) is None
    assert originals.read(tmp_path, "../../etc/passwd") is None
    keep(str(tmp_path), "T-1", BODY, MOST)
    assert originals.read(tmp_path, digest) == BODY


def test_keeping_and_removing_at_once_leave_what_is_referred_to(tmp_path: Path) -> None:
    def one(number: int) -> None:
        for _ in range(10):
            keep(str(tmp_path), f"T-{number}", BODY, MOST)
            assert originals.read(tmp_path, hashlib.sha256(BODY).hexdigest()) == BODY
            forget(tmp_path, [f"T-{number}"])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(one, range(6)))

    assert kept(tmp_path) == []


def test_who_keeps_for_too_long_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(str(tmp_path), "T-1", BODY, MOST)
    monkeypatch.setattr(originals, "LOCK_SECONDS", 0.0)

    with originals._alone(tmp_path / "pages"), pytest.raises(TimeoutError, match="another process"):
        keep(str(tmp_path), "T-2", BODY, MOST)

    assert keep(str(tmp_path), "T-2", BODY, MOST)
