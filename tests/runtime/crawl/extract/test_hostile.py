"""Pages made to stop a reader: each is read, or refused, well within the time that a worker has for it."""

import sys
import time
from collections.abc import Iterator

import pytest

from runtime.crawl.extract import main_text
from runtime.crawl.extract.main_text import CHARACTERS, DEPTH, TAGS, parse, sanitize_html
from runtime.crawl.extract.page import extract
from runtime.processes.pool import Workers

TIMED = "tests.runtime.crawl.extract.test_hostile:timed"
SECONDS = 10.0
"""What the crawler gives a worker for a page; counted in CPU, so that a busy machine is no failure."""
TEXT = "<p>The barrage closes the mouth of the river Esk, and has produced electricity since the year 2011.</p>" * 5

HOSTILE = {
    "100,000 nested div": "<div>" * 100_000 + TEXT,
    "1,000,000 nested div": "<div>" * 1_000_000 + TEXT,
    "20,000 p b i u": "<p><b><i><u>x" * 20_000,
    "100,000 nested a": "<a href=x>y" * 100_000,
    "240,000 p": "<p>word word" * 240_000,
    "100,000 attributes": "<div " + " ".join(f"a{n}=1" for n in range(100_000)) + ">" + TEXT,
    "2,000,000 <": "<" * 2_000_000,
    "200,000 scripts": "<script>" * 200_000 + TEXT,
    "comments": "<!--" * 500_000 + TEXT,
    "quotes": '<a b="' * 200_000,
    "5 MB attribute": '<p title="' + "x" * 5_000_000 + '">' + TEXT,
    "5 MB word": "<p>" + "x" * 5_000_000,
    "entities": "&amp;" * 1_000_000,
    "tables": "<table><tr><td>" * 30_000 + TEXT,
    "JSON-LD": "<script type=application/ld+json>" + '{"a":[' * 600_000 + "</script>" + TEXT,
    "NUL": "\0" * 1_000_000 + TEXT,
    "white space": "<p>" + " " * 2_000_000 + TEXT,
    "line breaks": "<pre>" + "\n" * 1_000_000 + "</pre>" + TEXT,
}


def timed(body: bytes, content_type: str) -> tuple[int, float]:
    """(characters that are kept, seconds of CPU) of a page; runs in a worker process."""
    began = time.process_time()
    found = extract(body, "utf-8", content_type, "http://hostile.example/x", "What does the barrage cost?")
    return len(found.text), time.process_time() - began


@pytest.fixture
def workers() -> Iterator[Workers]:
    made = Workers(1)
    yield made
    made.close()


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_page_is_done_with_within_its_time(workers: Workers, name: str) -> None:
    body = f"<html><body>{HOSTILE[name]}".encode()

    characters, seconds = await workers.call(TIMED, body, "text/html", within=60, returns=tuple[int, float])

    assert characters <= 20_000
    assert seconds < SECONDS


@pytest.mark.parametrize(
    "sign", ["*", "_", "`", "[", "[a](", "<!--", "<a ", "# ", "- ", "|", "A ", "A, ", "\\", "```\n", "a vs "]
)
async def test_hostile_markdown_is_done_with_within_its_time(workers: Workers, sign: str) -> None:
    body = (sign * (1_000_000 // len(sign))).encode()

    characters, seconds = await workers.call(TIMED, body, "text/markdown", within=60, returns=tuple[int, float])

    assert characters <= 20_000
    assert seconds < SECONDS


def depth(html: str) -> int:
    root = parse(html)
    deepest, level = 0, 0
    from lxml.etree import iterwalk

    for event, _ in iterwalk(root, events=("start", "end")) if root is not None else ():
        level += 1 if event == "start" else -1
        deepest = max(deepest, level)
    return deepest


def test_deep_nesting_loses_its_tags_and_keeps_its_text() -> None:
    html = "<div>a" * 1_000 + "<p>core</p>" + "</div>" * 1_000 + "<p>after</p>"

    safe = sanitize_html(html)

    assert depth(safe) <= DEPTH + 5
    assert "core" in safe
    assert safe.endswith("<p>after</p>")


def test_a_plain_page_passes_unchanged() -> None:
    html = "<html><body><p>one<p>two<ul><li>a<li>b</ul><br><img src='x>y'>text &lt;b&gt;</body></html>" * 20

    assert sanitize_html(html) == html


def test_no_more_tags_and_characters_than_a_parser_can_bear() -> None:
    assert sanitize_html("<br>x" * (2 * TAGS)).count("<br>") == TAGS
    assert len(sanitize_html("x" * (2 * CHARACTERS))) == CHARACTERS


def test_data_of_a_page_stays_and_programs_go() -> None:
    data = '<script type="application/ld+json">{"a": 1}</script>'
    html = data + "<SCRIPT>bad()</SCRIPT ><style>p{}</style><p>text</p><script>rest"

    assert sanitize_html(html) == data + "<p>text</p>"


@pytest.mark.req("RE-9")
def test_without_trafilatura_a_page_is_read_by_its_structure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    html = f"<html><body><nav>Home</nav><main><h1>Barrage</h1>{TEXT}</main></body></html>"

    text = main_text.main_text(html, "http://h.example/x", shown=600, forum=False)

    assert text.count("electricity since the year 2011.") == 5
    assert "Home" not in text
