"""A source as it is listed: where in it the link leads."""

import msgspec
import pytest

from actors.evidence.sources import Statement
from actors.reporting.citations import CitationIndex
from actors.reporting.links import source_link
from actors.reporting.sections import list_sources
from tests.actors.research import cases as c

FIRST, SECOND = "Lay the lamp on its side.", "Hold the switch for nine seconds."


@pytest.mark.parametrize(
    ("anchors", "file", "link"),
    [
        (("the reset", "the reset"), "/srv/lumo.html", "file:///srv/lumo.html#the%20reset"),
        (("page=3", "page=3"), "/srv/lumo.pdf", "file:///srv/lumo.pdf#page=3"),
        (("reset", "care"), "/srv/lumo.html", "file:///srv/lumo.html"),
        (("", ""), "/srv/lumo.html", "file:///srv/lumo.html"),
        (("reset", "reset"), "", ""),
    ],
    ids=["one section", "one sheet", "two sections", "none", "no file"],
)
def test_the_link_of_an_own_document_opens_the_one_section_that_is_cited(
    anchors: tuple[str, str], file: str, link: str
) -> None:
    passages = [
        msgspec.structs.replace(c.passage(c.MANUAL, text), id=f"{c.MANUAL}#{number}", anchor=anchor)
        for number, (text, anchor) in enumerate(zip((FIRST, SECOND), anchors, strict=True))
    ]
    register = CitationIndex([c.page(c.MANUAL, f"{FIRST} {SECOND}", file=file)], passages)
    lines = [register.line(each) for each in (_said(FIRST, 0), _said(SECOND, 1)) if register.supports(each)]

    (listed,) = list_sources([c.page(c.MANUAL, f"{FIRST} {SECOND}", file=file)], register, lines)

    assert (listed.cited, source_link(listed)) == (2, link)


def _said(text: str, number: int) -> Statement:
    return Statement(text, text, f"{c.MANUAL}#{number}", c.MANUAL, 1)
