"""Saving a project: its file and a backup; what a person changed is kept beside it."""

import re
from pathlib import Path

import pytest

from runtime.families.research_state.recovery import restore_case
from runtime.families.research_state.state_file import EDITED, parse_state, save
from runtime.state_files.backups import name_in
from tests.research import a_case
from tests.runtime.families.research_state.kit import CREATED, a_project, files, latest_valid


def state_file(folder: Path, project_id: str) -> Path:
    return folder / f"{name_in(folder, project_id)}.md"


@pytest.mark.req("PR-13", "PR-33")
def test_a_project_is_saved_in_its_file_and_in_a_backup(tmp_path: Path) -> None:
    saved = save(str(tmp_path), a_project())

    assert files(tmp_path) == ["T-1.md", "backups/T-1/000001-analyzing.md", "backups/T-1/latest"]
    assert (saved.backup, saved.edited) == ("000001-analyzing.md", "")
    assert parse_state((tmp_path / "T-1.md").read_text()) == a_project()
    backup = latest_valid(tmp_path, "T-1")
    assert backup is not None
    assert backup.read_text() == (tmp_path / "T-1.md").read_text()


def test_when_it_began_is_what_its_file_says(tmp_path: Path) -> None:
    save(str(tmp_path), a_project())

    save(str(tmp_path), a_project(created="2026-11-21T00:00:00.000Z", status="reporting"))

    found = parse_state((tmp_path / "T-1.md").read_text())
    assert (found.created, found.status) == (CREATED, "reporting")


def test_what_a_person_changed_is_kept_beside_the_new_file(tmp_path: Path) -> None:
    save(str(tmp_path), a_project())
    path = state_file(tmp_path, "T-1")
    mine = path.read_text().replace("- licensing", "- what I want to know")
    path.write_text(mine)

    saved = save(str(tmp_path), a_project(status="reporting"))

    assert saved.edited == "T-1.edited-20261120T093100000Z.md"
    assert (tmp_path / saved.edited).read_text() == mine
    assert parse_state(path.read_text()).status == "reporting"
    assert save(str(tmp_path), a_project()).edited == ""


@pytest.mark.parametrize("content", [b"", b"my notes on T-1", b"---\ntitle: x\n---\n", b"\xff\xfe"])
def test_a_file_that_is_none_of_ours_is_left_where_it_is(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "T-1.md").write_bytes(content)

    for status in ("analyzing", "reporting"):
        assert save(str(tmp_path), a_project(status=status)).edited == ""

    assert (tmp_path / "T-1.md").read_bytes() == content
    path = state_file(tmp_path, "T-1")
    assert path != tmp_path / "T-1.md"
    assert parse_state(path.read_text()) == a_project(status="reporting")
    assert [name for name in files(tmp_path) if name.startswith("T-1")] == ["T-1.md"]
    # and it stays where it is though the other goes
    (tmp_path / "T-1.md").unlink()
    assert state_file(tmp_path, "T-1") == path


@pytest.mark.parametrize("name", ["README", "index", "terminus.db", "backups", "logs", "knowledge.db", "latest", "con"])
def test_no_id_takes_the_place_of_anything_else(tmp_path: Path, name: str) -> None:
    for other in ("README.md", "index", "index.md", "terminus.db", "knowledge.db", "logs.md"):
        (tmp_path / other).write_text(f"this is {other}")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}

    project = a_project(a_case(ticket_id=name))
    save(str(tmp_path), project)
    save(str(tmp_path), project)

    assert {path: path.read_bytes() for path in before} == before
    assert parse_state(state_file(tmp_path, name).read_text()) == project
    assert restore_case(str(tmp_path), name_in(tmp_path, name)).project == project


def test_the_file_of_another_id_is_no_place_either(tmp_path: Path) -> None:
    other = a_project(a_case(ticket_id="t-1"))
    save(str(tmp_path), other)
    # where the file system does not tell T-1.md from t-1.md
    (tmp_path / "t-1.md").rename(tmp_path / "T-1.md")

    save(str(tmp_path), a_project())

    assert parse_state((tmp_path / "T-1.md").read_text()) == other
    assert parse_state(state_file(tmp_path, "T-1").read_text()) == a_project()


def test_what_is_damaged_beyond_recognition_is_known_by_its_backups(tmp_path: Path) -> None:
    save(str(tmp_path), a_project())
    (tmp_path / "T-1.md").write_text("I deleted all of it")

    saved = save(str(tmp_path), a_project())

    assert (tmp_path / saved.edited).read_text() == "I deleted all of it"
    assert parse_state((tmp_path / "T-1.md").read_text()) == a_project()


def test_however_often_somebody_edits_the_copies_stay_few(tmp_path: Path) -> None:
    save(str(tmp_path), a_project())
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

    assert parse_state((tmp_path / "T-1.md").read_text()).status == "reporting"
    assert parse_state(before).status == "analyzing"
    backup = latest_valid(tmp_path, "T-1")
    assert backup is not None
    assert backup.name == "000002-reporting.md"
