"""The PDF: whatever stands in a report, it is laid out, and no character is dropped silently."""

import re
from pathlib import Path

import msgspec
import pytest

from actors.reporting.report import ReportSentence, Table
from actors.text.source_text import Span
from runtime.reports.fonts import CHINESE, JAPANESE, KOREAN, Fonts
from runtime.reports.pdf import render
from tests.runtime.reports import samples

BARE = Fonts(folders=())
"""As on a machine without any font."""


def test_a_report_has_its_pages_title_and_links() -> None:
    document = render(samples.plain())

    assert document.startswith(b"%PDF-")
    assert b"%%EOF" in document[-20:]
    assert len(re.findall(rb"/Type /Page\b", document)) >= 2
    assert b"(https://lamps.example/lumo)" in document


def test_only_plain_web_addresses_are_links() -> None:
    document = render(samples.hostile())

    targets = set(re.findall(rb"/URI \((.*?)\) ?>>|/URI \((.*?)\)\n", document))
    flat = {part for pair in targets for part in pair if part}
    assert flat
    assert all(each.startswith(b"https://a.example/") for each in flat)
    assert not re.search(rb"/(?:JavaScript|Launch|OpenAction /S)", document)


@pytest.mark.parametrize("said", [samples.EVIL, samples.SCRIPTS, "\x00\x0b\ufffe\ud800", "", "x" * 1000, "中" * 500])
def test_any_text_is_laid_out(said: str) -> None:
    assert render(samples.hostile(said)).startswith(b"%PDF-")


def test_a_cell_longer_than_a_page_is_broken() -> None:
    table = Table(("", "A"), ((ReportSentence("Long"), ReportSentence("word " * 4000, (1,))),))

    document = render(msgspec.structs.replace(samples.plain(), comparison=table))

    assert len(re.findall(rb"/Type /Page\b", document)) > 5


def test_the_same_report_makes_the_same_file() -> None:
    assert render(samples.plain()) == render(samples.plain())


@pytest.mark.parametrize(
    ("text", "font"),
    [("Jürgen", "Vera.ttf"), ("中文", CHINESE), ("한국어", KOREAN), ("Привет", CHINESE), ("日本語かな", JAPANESE)],
)
def test_without_fonts_of_the_system_the_bundled_one_and_those_of_the_reader_are_used(text: str, font: str) -> None:
    (run,) = BARE.runs(Span(text))

    assert run.text == text
    assert run.font.endswith(font)


@pytest.mark.parametrize("fonts", [BARE, Fonts()], ids=["bare", "system"])
@pytest.mark.parametrize("bold", [True, False])
@pytest.mark.parametrize("code", [True, False])
def test_what_no_font_has_is_named_and_nothing_is_lost(fonts: Fonts, *, bold: bool, code: bool) -> None:
    text = "a\U000f0000b\u0e01 中 \u1680é"

    said = "".join(run.text for run in fonts.runs(Span(text, code), bold=bold))

    assert "[U+F0000]" in said
    named = re.sub(r"\[U\+([0-9A-F]+)\]", lambda found: chr(int(found[1], 16)), said)
    assert named == text


def test_what_no_font_has_is_named_once_however_often_it_comes() -> None:
    """A name is eight times as long, and a paragraph of many pages takes a square of its length."""
    said = "".join(run.text for run in BARE.runs(Span("a\U000f0000\U000f0000\U000f0001b")))

    assert said == "a[U+F0000 × 2][U+F0001]b"


def test_a_broken_font_of_the_system_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "DejaVuSans.ttf").write_bytes(b"no font")

    assert Fonts(folders=(tmp_path,)).plain.endswith("Vera.ttf")
