"""Saving a project: its file and a backup; what a person changed is kept beside it."""

import re
from pathlib import Path

import pytest

from runtime.projects.document import parsed
from runtime.projects.saving import EDITED, save, state_file
from tests.runtime.projects.kit import CREATED, a_project, files, latest_valid


@pytest.mark.req("PR-13", "PR-33")
def test_a_project_is_saved_in_its_file_and_in_a_backup(tmp_path: Path) -> None:
    saved = save(str(tmp_path), a_project())

    assert files(tmp_path) == ["T-1.md", "backups/T-1/000001-analyzing.md", "backups/T-1/latest"]
    assert (saved.backup, saved.edited) == ("000001-analyzing.md", "")
    assert parsed((tmp_path / "T-1.md").read_text()) == a_project()
    backup = latest_valid(tmp_path, "T-1")
    assert backup is not None
    assert backup.read_text() == (tmp_path / "T-1.md").read_text()


def test_when_it_began_is_what_its_file_says(tmp_path: Path) -> None:
    save(str(tmp_path), a_project())

    save(str(tmp_path), a_project(created="2026-11-21T00:00:00.000Z", status="reporting"))

    found = parsed((tmp_path / "T-1.md").read_text())
    assert (found.created, found.status) == (CREATED, "reporting")


def test_what_a_person_changed_is_kept_beside_the_new_file(tmp_path: Path) -> None:
    save(str(tmp_path), a_project())
    path = state_file(tmp_path, "T-1")
    mine = path.read_text().replace("- licensing", "- what I want to know")
    path.write_text(mine)

    saved = save(str(tmp_path), a_project(status="reporting"))

    assert saved.edited == "T-1.edited-20261120T093100000Z.md"
    assert (tmp_path / saved.edited).read_text() == mine
    assert parsed(path.read_text()).status == "reporting"
    assert save(str(tmp_path), a_project()).edited == ""


@pytest.mark.parametrize("content", [b"", b"my notes on T-1", b"---\ntitle: x\n---\n", b"\xff\xfe"])
def test_a_file_that_is_none_of_ours_is_never_written_over(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "T-1.md").write_bytes(content)

    saved = save(str(tmp_path), a_project())

    assert (tmp_path / saved.edited).read_bytes() == content
    assert parsed((tmp_path / "T-1.md").read_text()) == a_project()


def test_however_often_somebody_edits_the_copies_stay_few(tmp_path: Path) -> None:
    for number in range(EDITED + 5):
        (tmp_path / "T-1.md").write_text(f"edit {number}")
        save(str(tmp_path), a_project())

    assert len([name for name in files(tmp_path) if re.search("edited", name)]) == EDITED


def test_a_disk_that_takes_nothing_leaves_what_was_there(tmp_path: Path) -> None:
    save(str(tmp_path), a_project())
    before = (tmp_path / "T-1.md").read_text()
    (tmp_path / "backups" / "T-1" / "latest").unlink()
    (tmp_path / "backups" / "T-1" / "latest").mkdir()

    with pytest.raises(OSError, match="latest"):
        save(str(tmp_path), a_project(status="reporting"))

    assert parsed((tmp_path / "T-1.md").read_text()).status == "reporting"
    assert parsed(before).status == "analyzing"
    backup = latest_valid(tmp_path, "T-1")
    assert backup is not None
    assert backup.name == "000002-reporting.md"
