"""The Word document: opened again, it has the text, the headings and the links."""

import io
from typing import Any

import pytest
from docx import Document

from actors.reporting.report import Report, body
from runtime.reports.docx import render
from tests.runtime.reports import samples


def opened(report: Report) -> Any:
    return Document(io.BytesIO(render(report)))


def words(document: Any) -> str:
    cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    return "\n".join([*(each.text for each in document.paragraphs), *cells])


@pytest.mark.req("PR-7")
def test_a_document_has_every_sentence_and_every_source() -> None:
    report = samples.plain()
    said = words(opened(report))

    for line in body(report):
        assert line.text.split("\n")[0] in said
    for each in report.sources:
        assert each.url.removeprefix("knowledge:") in said
    assert "The Lumo lamp burns for 40 hours on one charge. [1]" in said
    assert "lumo reset --all\nlumo status" in said


def test_its_chapters_are_headings() -> None:
    titles = [each.text for each in opened(samples.plain()).paragraphs if each.style.name == "Heading 1"]

    assert titles[:2] == ["What was found", "How long does the Lumo lamp burn?"]
    assert titles[-1] == "Appendix: SHA-256 of what was read"


def test_only_plain_web_addresses_are_links() -> None:
    document = opened(samples.hostile())

    targets = {each.target_ref for each in document.part.rels.values() if each.is_external}
    assert targets == {"https://a.example/%22onmouseover=%22alert(1)", "https://a.example/%3Cscript%3E"}


@pytest.mark.parametrize("said", [samples.EVIL, samples.SCRIPTS, "\x00\x0b\ufffe\ud800", "", "a\n\n    code\n\nb"])
def test_any_text_makes_a_document_that_opens(said: str) -> None:
    document = opened(samples.hostile(said))

    assert document.paragraphs
    if said == samples.SCRIPTS:
        assert said in words(document)


def test_the_template_leaves_no_foreign_author() -> None:
    properties = opened(samples.plain()).core_properties

    assert (properties.author, properties.title) == ("Terminus", "Which lamp lasts longer, and what does it cost?")
