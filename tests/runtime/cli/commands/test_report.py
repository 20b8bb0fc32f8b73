"""Where a report may be written to is known before there is one."""

import os
from pathlib import Path

import pytest

from runtime import reports
from runtime.cli.commands.report import destination
from runtime.service_error import ServiceError


def test_a_report_may_be_written_where_there_is_a_folder(tmp_path: Path) -> None:
    for name in ("report.md", "REPORT.HTML", "a b.html"):
        assert destination(str(tmp_path / name)) == tmp_path / name


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("report.odt", "A report is written as .md, .html, .docx, .pdf, not '.odt'"),
        ("report", "not 'report'"),
        ("", "not ''"),
        ("folder.md", "is a folder. Name a file in it"),
        ("gone/report.md", "There is no folder "),
        ("\x1b[2J/report.md", "There is no folder "),
    ],
)
def test_a_file_that_cannot_be_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, part: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(ServiceError) as caught:
        destination(name)

    assert part in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_file_that_may_not_be_written_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # whoever runs the tests may be allowed everything

    with pytest.raises(ServiceError, match="cannot be written by this user"):
        destination(str(tmp_path / "report.md"))


def test_a_format_that_is_not_installed_says_how_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "find_spec", lambda _: None)

    with pytest.raises(ServiceError, match=r"pip install -e '\.\[documents\]'"):
        destination(str(tmp_path / "report.pdf"))
