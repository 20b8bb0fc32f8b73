"""The page: nothing runs, nothing is loaded, every number leads to its source and back."""

import base64
import hashlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html

from actors.reporting.report import Report, body
from runtime.reports.html import render
from tests.runtime.reports import samples

TAGS = {
    "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p", "ul", "ol", "li", "a", "span",
    "code", "pre", "strong", "small", "br", "details", "summary", "blockquote", "div", "table", "thead", "tbody", "tr",
    "th", "td",
    "figure", "figcaption", "svg", "text", "rect", "circle", "path", "nav",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "rel", "aria-label", "scope", "value",
    "viewbox", "width", "height", "role", "x", "y", "rx", "fill", "cx", "cy", "r", "d", "tabindex", "text-anchor",
}  # fmt: skip


def parsed(report: Report) -> Any:
    return html.document_fromstring(render(report).decode())


def words(page: Any) -> str:
    return " ".join(page.text_content().split())


def hold(page: Any) -> None:
    """What every page must keep, whatever stands in the report."""
    elements = [each for each in page.iter() if isinstance(each.tag, str)]
    assert {each.tag for each in elements} <= TAGS
    assert {name for each in elements for name in each.attrib} <= ATTRIBUTES
    assert len(page.findall(".//style")) == 1
    for each in elements:
        href = each.get("href", "#")
        assert href.startswith(("#", "https://", "http://"))
        if not href.startswith("#"):
            assert "noopener" in each.get("rel")
    ids = [each.get("id") for each in elements if each.get("id")]
    assert len(ids) == len(set(ids))


@pytest.mark.req("PR-7")
def test_a_page_has_every_sentence_and_every_source_of_the_report() -> None:
    report = samples.plain()
    page = parsed(report)

    hold(page)
    said = words(page)
    for line in body(report):
        assert " ".join(line.text.split("\n")[0].split()) in said
    for each in report.sources:
        assert each.title in said
        assert each.url.removeprefix("knowledge:") in said
    assert "first 154 of 45,120 characters" in said


def test_every_number_leads_to_its_source_and_the_source_back() -> None:
    page = parsed(samples.plain())

    ids = {each.get("id") for each in page.iter() if isinstance(each.tag, str)}
    links = [each.get("href")[1:] for each in page.iter("a") if each.get("href").startswith("#")]
    assert set(links) <= ids
    for number in range(1, 5):
        assert f"s{number}" in links
        assert f"c{number}-1" in links


def test_the_contents_name_every_chapter() -> None:
    page = parsed(samples.plain())

    chapters = [each.text_content() for each in page.findall(".//h2")]
    assert [each.text_content() for each in page.findall(".//nav//a")] == chapters


def test_the_words_of_the_source_stand_below_a_reworded_sentence() -> None:
    assert [each.text_content() for each in parsed(samples.plain()).findall(".//blockquote")] == [
        "The Lumo lamp burns for 40 hours on one charge."
    ]


def test_the_policy_forbids_everything_but_our_own_style() -> None:
    page = parsed(samples.plain())

    policy = page.find(".//meta[@http-equiv]").get("content")
    style = hashlib.sha256(page.find(".//style").text.encode()).digest()
    assert policy.split("; ")[:2] == ["default-src 'none'", f"style-src 'sha256-{base64.b64encode(style).decode()}'"]
    assert "url(" not in page.find(".//style").text
    assert "@import" not in page.find(".//style").text


def test_light_dark_and_paper_have_their_style() -> None:
    style = parsed(samples.plain()).find(".//style").text

    assert "prefers-color-scheme:dark" in style
    assert "@media print" in style


def test_nothing_that_a_source_says_runs_loads_or_leaves_its_place() -> None:
    page = parsed(samples.hostile())

    hold(page)
    assert {each.get("href") for each in page.iter("a") if not each.get("href").startswith("#")} == {
        "https://a.example/%22onmouseover=%22alert(1)", "https://a.example/%3Cscript%3E",
    }  # fmt: skip
    assert "<script>alert(1)</script>" in words(page), "it is shown as what it is"


def test_charts_are_drawn_with_their_labels_and_counts() -> None:
    page = parsed(samples.plain())

    figures = [" ".join(svg.itertext()) for svg in page.iter("svg")]
    assert len(figures) == 3
    assert "Weaknesses The hinge breaks easily." in figures[0]
    assert "2019 Glim followed" in figures[2]


@settings(max_examples=60)
@given(st.one_of(st.text(max_size=40), st.text(alphabet=st.sampled_from("<>&\"'`/ a=!-]\n|#*[]()"), max_size=50)))
def test_the_page_keeps_its_structure_whatever_stands_in_the_report(said: str) -> None:
    hold(parsed(samples.hostile(said)))


def test_other_scripts_are_kept() -> None:
    assert samples.SCRIPTS in words(parsed(samples.hostile(samples.SCRIPTS)))
