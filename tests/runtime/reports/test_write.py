"""Writing a report: by suffix, whole or not at all."""

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from actors.reporting.markdown import render_markdown
from runtime.reports import NotWritten, formats, write
from runtime.reports.figure import LETTER, WIDTH, Bar, Text, figure, fit
from runtime.reports.svg import draw
from tests import ROOT
from tests.runtime.reports import samples

BEGINNINGS = {".md": b"# ", ".html": b"<!doctype html>", ".docx": b"PK", ".pdf": b"%PDF-"}


@pytest.mark.parametrize("suffix", formats())
def test_the_suffix_says_the_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"report{suffix.upper()}"

    write(samples.plain(), path)

    assert path.read_bytes().startswith(BEGINNINGS[suffix])
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_markdown_is_what_the_run_answers(tmp_path: Path) -> None:
    write(samples.plain(), tmp_path / "report.md")

    assert (tmp_path / "report.md").read_text(encoding="utf-8") == render_markdown(samples.plain())


@pytest.mark.parametrize("name", ["report.exe", "report"])
def test_an_unknown_suffix_is_told_with_those_that_are_possible(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotWritten, match=r"name one of \.md, \.html, \.docx, \.pdf"):
        write(samples.plain(), tmp_path / name)

    assert list(tmp_path.iterdir()) == []


def test_a_missing_library_is_told_with_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docx", None)
    monkeypatch.delitem(sys.modules, "runtime.reports.docx", raising=False)

    with pytest.raises(NotWritten, match=r"pip install -e '\.\[documents\]'"):
        write(samples.plain(), tmp_path / "report.docx")


def test_an_earlier_file_is_replaced_and_keeps_its_rights(tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o600)

    write(samples.plain(), path)

    assert path.read_bytes().startswith(b"# ")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_write_that_fails_leaves_the_earlier_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.md"
    path.write_text("old", encoding="utf-8")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write(samples.plain(), path)

    assert path.read_text(encoding="utf-8") == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["report.md"]


def test_nothing_heavy_is_loaded_before_a_format_needs_it() -> None:
    program = "import sys\nimport runtime.reports\nprint({'docx', 'reportlab', 'lxml'} & set(sys.modules))"

    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.strip() == "set()"


def test_figures_stay_within_their_width() -> None:
    for chart in samples.hostile("设定" * 60).charts:
        for shape in figure(chart).shapes:
            if isinstance(shape, Bar):
                assert shape.x + shape.width <= WIDTH
            if isinstance(shape, Text) and not shape.right:
                assert (
                    shape.x + 2 * LETTER * sum("\u2e80" < each < "\u9fff" for each in shape.text) <= WIDTH + 2 * LETTER
                )


def test_a_label_that_has_no_room_is_cut() -> None:
    assert fit("abcdef", 4 * LETTER) == "abc…"
    assert fit("abcd", 4 * LETTER) == "abcd"


def test_a_pie_of_one_slice_is_a_circle() -> None:
    assert "<circle" in draw(figure(samples.hostile().charts[-1]), "T")
