"""Word files: headings, lists and tables as Word shows them, and packages that are made to do harm."""

import io
import zipfile

import docx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.knowledge.readers import word_reader
from runtime.knowledge.readers.parsed_document import Unreadable
from runtime.knowledge.readers.reader import read
from runtime.knowledge.readers.word_reader import read_word
from tests.runtime.knowledge.readers.kit import check_offsets, check_read_or_refused, units

NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def handbook() -> bytes:
    """A document as Word writes it."""
    document = docx.Document()
    document.core_properties.title = "Template"
    document.add_heading("Printer handbook", 0)
    document.add_paragraph("It stands on the third floor. Ask for the key.")
    document.add_heading("Paper", 1)
    document.add_paragraph("Open the tray.", style="List Bullet")
    document.add_paragraph("Close the tray.", style="List Number")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(
        (c for row in table.rows for c in row.cells), ("Code", "Remedy", "E5", "add paper"), strict=True
    ):
        cell.text = text
    document.add_heading("Toner", 2)
    document.add_paragraph("Shake it.")
    document.sections[0].header.paragraphs[0].text = "Confidential"
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def package(body: str, **parts: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("word/document.xml", body)
        for name, content in parts.items():
            made.writestr(name, content)
    return file.getvalue()


def body(paragraphs: str) -> str:
    return f'<?xml version="1.0"?><w:document {NAMESPACE}><w:body>{paragraphs}</w:body></w:document>'


def test_headings_lists_and_tables_keep_their_place() -> None:
    document = read("handbook.docx", handbook())
    top = ("Printer handbook",)
    assert document.title == "Printer handbook"
    assert units(document) == [
        (top, "It stands on the third floor.", False),
        (top, "Ask for the key.", False),
        ((*top, "Paper"), "Open the tray.", False),
        ((*top, "Paper"), "Close the tray.", False),
        ((*top, "Paper"), "Code — Remedy", False),
        ((*top, "Paper"), "E5 — add paper", False),
        ((*top, "Paper", "Toner"), "Shake it.", False),
    ]
    assert "Confidential" not in document.text
    check_offsets(document)


def test_what_was_deleted_or_is_hidden_is_not_read() -> None:
    document = read_word(
        package(
            body(
                "<w:p><w:r><w:t>Press </w:t></w:r><w:del><w:r><w:delText>never </w:delText></w:r></w:del>"
                "<w:ins><w:r><w:t>the key.</w:t></w:r></w:ins>"
                "<w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r>"
                '<w:r><w:instrText>PAGEREF x</w:instrText></w:r></w:p><w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr>'
                "<w:r><w:t>Own heading</w:t></w:r></w:p><w:p><w:r><w:t>Below it.</w:t></w:r></w:p>"
            )
        )
    )
    assert units(document) == [((), "Press the key.", False), (("Own heading",), "Below it.", False)]


def test_a_package_that_unpacks_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_reader, "PART_MEGABYTES", 1)
    bomb = package(body(f"<w:p><w:r><w:t>{'word ' * 400_000}</w:t></w:r></w:p>"))
    assert len(bomb) < 20_000
    with pytest.raises(Unreadable, match="unpacked"):
        read_word(bomb)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (word_reader.OLD_FORMAT + b"\0" * 100, "password"),
        (b"no package", "damaged"),
        (package("<not closed"), "XML"),
        (package('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'), "entities"),
        (package("<a>" * 100_000), "XML"),
    ],
)
def test_what_is_no_word_document_is_refused_with_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read_word(data)


def test_tables_in_tables_end_somewhere() -> None:
    cells = "<w:tbl><w:tr><w:tc>" * 60 + "<w:p><w:r><w:t>Deep.</w:t></w:r></w:p>" + "</w:tc></w:tr></w:tbl>" * 60
    document = read_word(package(body(f"<w:p><w:r><w:t>Before.</w:t></w:r></w:p>{cells}")))
    assert units(document)[0] == ((), "Before.", False)


@given(cut=st.integers(min_value=0, max_value=30_000), other=st.binary(max_size=8))
def test_a_damaged_file_is_read_or_refused(cut: int, other: bytes) -> None:
    check_read_or_refused("a.docx", WHOLE[:cut])
    check_read_or_refused("a.docx", WHOLE[:cut] + other + WHOLE[cut + len(other) :])


WHOLE = handbook()
