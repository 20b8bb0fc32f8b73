"""PDF files: paragraphs, headings and pages; what is locked, damaged or a picture is refused with a sentence."""

import importlib.util
import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from runtime.knowledge.readers.parsed_document import Unreadable
from runtime.knowledge.readers.pdf_lines import Line, blocks, join_words, without_running
from runtime.knowledge.readers.reader import read
from tests.runtime.knowledge.readers.kit import check_offsets, check_read_or_refused, said, units

needs_pypdf = pytest.mark.skipif(importlib.util.find_spec("pypdf") is None, reason="pypdf is not installed yet")

PAGES = (
    ("Paper",
     ["Open the front tray and put in two hundred sheets; the re-", "placement is in the cupboard. Then close it."],
     "The lamp turns green. If it does not, ask the"),
    ("Toner", ["service desk for help.", "", "Shake the cartridge."], "Never touch the drum."),
    ("Network", ["The address is printed on the back. A replacement costs nothing."], "Use the cable."),
)  # fmt: skip


def handbook(*, outline: bool = True, title: str = "Printer handbook", **options: Any) -> bytes:
    """Three pages with a running header, page numbers, and a paragraph that goes on from the first to the second."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=A4, invariant=1, **options)
    canvas.setTitle(title)
    for number, (head, lines, last) in enumerate(PAGES, 1):
        canvas.setFont("Helvetica", 8)
        canvas.drawString(60, 810, "Company confidential")
        canvas.drawString(300, 30, f"{number} of 3")
        y = 780
        if number != 2:
            _head(canvas, head, y, outline=outline)
        canvas.setFont("Helvetica", 10)
        for line in [*lines, "", last]:
            y -= 12
            canvas.drawString(60, y, line)
        if number == 2:
            _head(canvas, head, y - 40, outline=outline)
            canvas.setFont("Courier", 10)
            canvas.drawString(60, y - 60, "lpadmin -p office")
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def _head(canvas: Canvas, text: str, y: float, *, outline: bool) -> None:
    canvas.setFont("Helvetica-Bold", 16)
    canvas.drawString(60, y, text)
    if outline:
        canvas.bookmarkPage(text)
        canvas.addOutlineEntry(text, text, 0)


@needs_pypdf
@pytest.mark.parametrize("outline", [True, False])
def test_paragraphs_are_whole_headings_are_found_and_a_page_is_an_anchor(outline: bool) -> None:
    document = read("handbook.pdf", handbook(outline=outline))
    assert document.title == "Printer handbook"
    assert units(document) == [
        (
            ("Paper",),
            "Open the front tray and put in two hundred sheets; the replacement is in the cupboard.",
            False,
        ),
        (("Paper",), "Then close it.", False),
        (("Paper",), "The lamp turns green.", False),
        (("Paper",), "If it does not, ask the service desk for help.", False),
        (("Paper",), "Shake the cartridge.", False),
        (("Paper",), "Never touch the drum.", False),
        (("Toner",), "    lpadmin -p office", True),
        (("Network",), "The address is printed on the back.", False),
        (("Network",), "A replacement costs nothing.", False),
        (("Network",), "Use the cable.", False),
    ]
    anchors = [(section.anchor, len(section.units)) for section in document.sections]
    assert anchors == [("page=1", 4), ("page=2", 2), ("page=2", 1), ("page=3", 3)]
    check_offsets(document)


@needs_pypdf
def test_without_a_title_of_its_own_it_is_called_by_what_is_largest() -> None:
    assert read("x.pdf", handbook(title="Microsoft Word - a.doc")).title == "Paper"


@needs_pypdf
def test_a_locked_file_and_pictures_of_pages_are_refused_with_what_helps() -> None:
    with pytest.raises(Unreadable, match="password: save it without"):
        read("a.pdf", handbook(encrypt=StandardEncryption("secret", strength=40)))
    assert said(read("a.pdf", handbook(encrypt=StandardEncryption("", "owner", strength=40))))
    file = io.BytesIO()
    canvas = Canvas(file)
    canvas.rect(10, 10, 100, 100, fill=1)
    canvas.save()
    with pytest.raises(Unreadable, match="OCR"):
        read("scan.pdf", file.getvalue())


@needs_pypdf
@pytest.mark.parametrize(
    ("data", "reason"), [(b"", "^empty$"), (b"\n", "^empty$"), (b"no PDF at all", "^damaged, or no PDF")]
)
def test_a_file_that_is_none_is_refused_in_words(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read("a.pdf", data)


@needs_pypdf
@settings(max_examples=40)
@given(cut=st.integers(min_value=0, max_value=6000), other=st.binary(max_size=8))
def test_a_damaged_file_is_read_or_refused(cut: int, other: bytes) -> None:
    for data in (WHOLE[:cut], WHOLE[:cut] + other + WHOLE[cut + len(other) :]):
        check_read_or_refused("a.pdf", data)


def test_without_pypdf_the_reason_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(Unreadable, match="needs pypdf: `pip install pypdf`"):
        read("a.pdf", WHOLE)


def line(text: str, y: float, size: float = 10.0) -> Line:
    return Line(text, size, mono=False, y=y)


def test_what_stands_above_and_below_every_page_goes_and_what_only_looks_so_stays() -> None:
    pages = [
        [
            line("Handbook", 800),
            line("Chapter", 780, 16.0),
            *(line(f"Words {'abcd'[p]}{'mnopqr'[n]}.", 700 - 12 * n) for n in range(6)),
            line(f"- {p} -", 20),
        ]
        for p in range(4)
    ]
    left = without_running(pages)
    assert {each.text for page in left for each in page if not each.text.startswith("Words")} == {"Chapter"}
    assert all(len(page) == 7 for page in left)


def test_a_hyphen_stays_where_the_document_writes_it_elsewhere() -> None:
    known = frozenset(("well-known", "replacement"))
    assert join_words("a well-\nknown re-\nplacement, dis-\nplay of Alsace-\nLorraine", known) == (
        "a well-known replacement, display of Alsace-Lorraine"
    )


def test_items_and_wider_gaps_begin_blocks_of_their_own() -> None:
    lines = [line("• One", 100), line("goes on.", 88), line("• Two.", 76), line("After", 50), line("it.", 38)]
    assert [(each.text, each.item) for each in blocks(lines, {})] == [
        ("One\ngoes on.", True),
        ("Two.", True),
        ("After\nit.", False),
    ]


WHOLE = handbook()
