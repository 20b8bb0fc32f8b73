"""From bytes to main text: what is read, what is left out, and what is refused."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.dedup import alike, hash_of, sketch_of
from actors.evidence.sources import PAGE_CHARACTERS
from runtime.crawl.extract.extracted import Extracted
from runtime.crawl.extract.page import COMPRESSED_BYTES, extract
from tests.site_pages import ARTICLES, NOISE

URL = "https://news.example.org/2024/tidal-barrage.html"
PARAGRAPHS = [
    f"The barrage at Esk number {n} has closed its gates again, and the harbour board explained on Monday why the "
    f"dredger had to work for {n + 3} weeks longer than it had been planned by the county."
    for n in range(8)
]


def page(body: str, head: str = "", lang: str = "en") -> str:
    title = "<title>The barrage - Esk News</title>"
    return f'<!doctype html><html lang="{lang}"><head>{title}{head}</head><body>{body}</body></html>'


def article(*paragraphs: str) -> str:
    return "<article><h1>The barrage</h1>" + "".join(f"<p>{p}</p>" for p in paragraphs or PARAGRAPHS) + "</article>"


def read(html: str | bytes, charset: str = "", kind: str = "text/html", question: str = "") -> Extracted:
    return extract(html.encode() if isinstance(html, str) else html, charset, kind, URL, question)


CLUTTER = """
<header><nav><a href="/">Home</a> <a href="/shop">Shop our brand new collection</a></nav></header>
<script>window.trackVisitor({"id": 7}); document.write("tracked by script");</script>
<style>.banner { color: red; background: hotpink }</style>
{body}
<div class="ad advertisement">Advertisement: buy two fridges now</div>
<aside class="related"><h3>Related articles</h3><ul><li><a href="/1">Ten fridges that you need</a></li></ul></aside>
<div class="share">Share on Facebook</div>
<footer>All rights reserved. Subscribe to our newsletter</footer>
<noscript>noscript tracker</noscript><!-- hidden comment -->
"""


@pytest.mark.req("RE-3", "RE-9", "PR-12")
def test_a_page_is_read_without_scripts_styles_navigation_and_advertisements() -> None:
    found = read(page(CLUTTER.replace("{body}", article())))

    assert all(paragraph in found.text for paragraph in PARAGRAPHS)
    for other in (
        "trackVisitor", "tracked by", "hotpink", "Home", "Shop our", "fridges", "Share on", "All rights", "newsletter",
        "noscript", "hidden comment", "<", ">",
    ):  # fmt: skip
        assert other not in found.text
    assert (found.thin, found.blocked) == ("", "")


@pytest.mark.req("RE-3")
def test_what_an_extractor_let_through_is_taken_out_afterwards() -> None:
    text = "\n\n".join(
        [
            "# The barrage", PARAGRAPHS[0], "<script>alert('x')\n\nmore()</script>", "Advertisement", PARAGRAPHS[1],
            "window.dataLayer = window.dataLayer || []; function gtag(){dataLayer.push(arguments);} gtag();",
            "**Related:** [Ten fridges](https://example.org/fridges)", PARAGRAPHS[2], "- Share\n- Tweet\n- Email",
            PARAGRAPHS[3], PARAGRAPHS[4], "Sign up for our newsletter and never miss a story.", "## Related articles",
            "- [Ten fridges](/1)\n- [Five ovens](/2)",
        ]
    )  # fmt: skip

    found = read(text, kind="text/markdown")

    assert found.text == "\n\n".join(["# The barrage", *PARAGRAPHS[:5]])


def test_marks_of_emphasis_and_links_become_words_and_code_keeps_its_signs() -> None:
    text = (
        f"{PARAGRAPHS[0]}\n\nSet **keep_alive** to *30* and see [the\\_manual](https://example.org/m) about `**kwargs` "
        f"and `<script />`.\n\n```\nif a < b: call(**kwargs)  # <script>\n```\n\n{PARAGRAPHS[1]}"
    )

    found = read(text, kind="text/markdown")

    assert "Set keep_alive to 30 and see the_manual about `**kwargs` and `<script />`." in found.text
    assert "```\nif a < b: call(**kwargs)  # <script>\n```" in found.text


def test_a_text_about_sharing_keeps_its_headings_and_lists() -> None:
    text = "\n\n".join(
        [
            "# Print",
            PARAGRAPHS[0],
            "## Related work",
            PARAGRAPHS[1],
            "- Email\n- Telephone",
            "## Share",
            PARAGRAPHS[2] * 2,
        ]
    )

    assert read(text, kind="text/markdown").text == text


@pytest.mark.req("RE-5", "PR-12")
def test_a_page_says_its_title_address_date_and_language() -> None:
    head = (
        '<meta property="og:title" content="The barrage of Esk"><link rel="canonical" href="/2024/barrage">'
        '<meta property="article:published_time" content="2024-03-05T07:00:00Z">'
    )

    found = read(page(article(), head, "en-GB"))

    assert found.title == "The barrage of Esk"
    assert found.canonical == "https://news.example.org/2024/barrage"
    assert (found.published, found.language) == ("2024-03-05", "en")
    assert found.sha256 == hash_of(found.text)
    assert alike(found.sketch, sketch_of(found.text))
    assert found.summary.startswith("The barrage at Esk number 0")


@pytest.mark.parametrize(
    "address", ["https://other.example.com/2024/barrage", "/", "javascript:alert(1)", "http://[", ""]
)
def test_no_page_speaks_for_another_site_or_for_all_of_its_own(address: str) -> None:
    assert read(page(article(), f'<link rel="canonical" href="{address}">')).canonical == ""


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>The barrage - Esk News</title><h1>The barrage</h1>", "The barrage"),
        ("<title></title><h1>Of   Esk</h1>", "Of Esk"),
        ("<p>nothing</p>", "tidal barrage"),
        ("<title>" + "x" * 5_000 + "</title>", "x" * 300),
        ('<script type="application/ld+json">{"@graph": [{"headline": "In data"}]}</script>', "In data"),
        ('<script type="application/ld+json">' + "[" * 100_000 + "</script>", "tidal barrage"),
    ],
)
def test_every_page_has_a_title(html: str, title: str) -> None:
    assert read(f"<html><head></head><body>{html}</body></html>").title == title


CHARSETS = [
    ("utf-8", "", ""), ("utf-8", "utf-8", ""), ("utf-8", "iso-8859-1", ""), ("utf-8", "klingon", ""),
    ("utf-8-sig", "ascii", ""),
    ("windows-1252", "windows-1252", ""), ("windows-1252", "utf-8", ""), ("windows-1252", "", "windows-1252"),
    ("windows-1252", "", ""), ("utf-16", "", ""), ("utf-16-le", "", ""), ("utf-16-be", "utf-8", ""),
    ("utf-8", "base64", ""),
]  # fmt: skip


@pytest.mark.req("RE-7")
@pytest.mark.parametrize(("encoding", "header", "meta"), CHARSETS)
def test_a_page_is_decoded_whatever_its_server_says(encoding: str, header: str, meta: str) -> None:
    text = "Müller's café für Gäste – “größer” als je zuvor. " + PARAGRAPHS[0]
    head = f'<meta charset="{meta}">' if meta else ""

    found = read(page(article(text, *PARAGRAPHS), head).encode(encoding), header)

    assert "Müller's café für Gäste – “größer” als je zuvor." in found.text


@pytest.mark.parametrize(
    ("encoding", "text"), [("euc-kr", "담장은 조수를 막고 전기를 만든다. "), ("gb2312", "潮汐坝在涨潮时关闭闸门。")]
)
def test_a_korean_or_chinese_page_is_decoded_by_its_own_word(encoding: str, text: str) -> None:
    html = page(
        article(text * 20, text * 15), f'<meta http-equiv="Content-Type" content="text/html; charset={encoding}">'
    )

    assert text.strip() in read(html.encode(encoding)).text


@pytest.mark.req("RE-7")
@pytest.mark.parametrize(
    "body",
    [
        b"%PDF-1.7\n" + b"binary " * 100, b"\x89PNG\r\n\x1a\n" + bytes(500), b"GIF89a" + bytes(100),
        gzip.compress(b"x" * 999),
        bytes(range(256)) * 20, b"PK\x03\x04" + bytes(90),
    ],
    ids=["pdf", "png", "gif", "gzip", "bytes", "zip"],
)  # fmt: skip
def test_what_is_no_text_is_refused_under_whatever_name(body: bytes) -> None:
    found = read(body)

    assert found.text == ""
    assert found.thin == "The file is not text, although its server says so."


@pytest.mark.req("RE-6")
def test_a_page_over_the_limit_is_cut_at_a_paragraph_and_says_how_long_it_was() -> None:
    many = [p.replace("number", f"part {n} number") for n in range(30) for p in PARAGRAPHS]

    found = read(page(article(*many)))

    assert PAGE_CHARACTERS == 20_000
    assert len(found.text) <= 20_000 < found.full_length
    assert found.text.endswith("by the county.")
    assert not found.compressed


@pytest.mark.req("PR-18")
def test_a_text_over_100_kb_is_compressed_to_what_bears_on_the_question() -> None:
    many = [p.replace("number", f"part {n} number") for n in range(80) for p in PARAGRAPHS]
    many[500] = (
        "The turbines of Brannock were made by Harrow Optics, and they cost 412 million crowns in the year 2011."
    )

    found = read(page(article(*many)), question="Who made the turbines of Brannock?")

    assert found.compressed
    assert found.full_length > COMPRESSED_BYTES
    assert len(found.text) <= PAGE_CHARACTERS
    assert many[500] in found.text
    assert all(part in many for part in found.text.split("\n\n"))


@pytest.mark.req("PR-18")
@pytest.mark.parametrize(("size", "compressed"), [(102_399, False), (102_400, False), (102_401, True)])
@pytest.mark.parametrize("letter", ["x", "é"])
def test_one_byte_over_100_kb_is_compressed_and_100_kb_are_not(size: int, compressed: bool, letter: str) -> None:
    line = f"It is built with PostgreSQL for the {letter * 40} of the county.\n\n"
    text = (line * 3_000).encode()[: size - 200].decode("utf-8", "ignore")
    text += "x" * (size - len(text.encode()))
    assert len(text.encode()) == size

    found = read(text, kind="text/plain")

    assert found.full_length == len(text)
    assert found.compressed == compressed
    assert len(found.text) <= PAGE_CHARACTERS
    assert found.entities.tech_stack == ("PostgreSQL",)


@pytest.mark.req("PR-18")
def test_the_names_of_a_compressed_text_are_those_of_the_whole() -> None:
    filler = "\n\n".join(f"The {n}th mooring of the harbour is free on all days of the week." for n in range(3_000))
    text = f"{filler}\n\n## Features\n\n- Sounding\n\n## Competitors\n\n- Lumen\n\n## Tech stack\n\n- Redis\n"

    found = read(text, kind="text/markdown", question="Which mooring is free?")

    assert found.compressed
    assert (found.entities.features, found.entities.competitors, found.entities.tech_stack) == (
        ("Sounding",), ("Lumen",), ("Redis",)
    )  # fmt: skip


def test_control_and_direction_characters_are_gone() -> None:
    found = read(page(article("Ev\u202eil\u2066 te\x00xt\x1b[31m \u200bhere. " + PARAGRAPHS[0], *PARAGRAPHS)))

    assert "Evil text[31m here." in found.text


def test_json_and_xml_are_read_as_lines() -> None:
    data = {"title": "Esk", "items": [{"cost": 412, "note": PARAGRAPHS[0]}, {"open": None}]}
    feed = f"<?xml version='1.0'?><r><a>Esk</a><b><c>{PARAGRAPHS[1]}</c></b></r>"

    assert (
        read(json.dumps(data), kind="application/json").text
        == f"title: Esk\nitems.cost: 412\nitems.note: {PARAGRAPHS[0]}"
    )
    assert read(feed, kind="application/xml").text == f"Esk\n{PARAGRAPHS[1]}"
    assert read("{broken " + PARAGRAPHS[0], kind="application/json").text == "{broken " + PARAGRAPHS[0]
    bomb = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "xx"><!ENTITY c "&b;&b;">]><a>&c;</a>'
    assert read(bomb, kind="text/xml").text == ""


def test_a_plain_text_keeps_every_sign() -> None:
    text = f"Notes\n\n  a *b* <c> [d](e) __init__\r\n\n\n\n{PARAGRAPHS[0]}\n{PARAGRAPHS[1]}"

    found = read(text, kind="text/plain")

    assert found.text == f"Notes\n\n  a *b* <c> [d](e) __init__\n\n{PARAGRAPHS[0]}\n{PARAGRAPHS[1]}"


@pytest.mark.req("RE-3")
@pytest.mark.parametrize("path", sorted(ARTICLES))
def test_articles_of_the_loopback_site_are_read_whole_and_clean(path: str) -> None:
    found = read(ARTICLES[path], kind="text/markdown")

    assert (found.blocked, found.thin) == ("", "")
    assert not any(noise in found.text for noise in NOISE)


@given(
    st.text(alphabet="<>/!-=\"'ab &;#x p[]()*_`\n\0é\u202e", max_size=300),
    st.sampled_from(["text/html", "text/markdown"]),
)
def test_no_text_breaks_the_extraction(text: str, kind: str) -> None:
    found = read(text, kind=kind)

    assert len(found.text) <= PAGE_CHARACTERS
    assert not set("\0\u202e") & set(found.text)
    assert found.title
