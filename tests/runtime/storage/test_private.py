"""What lies in the storage folder is for its owner only, whatever the umask; what is not ours is left alone."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.storage.private import make_database, make_folder, make_storage
from tests.runtime.cli.commands.program import QUESTION, Place


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def open_to_others(folder: Path) -> list[str]:
    """What anybody but the owner may look into."""
    there = [folder, *folder.rglob("*")]
    return sorted(str(path.relative_to(folder)) for path in there if mode(path) & 0o077)


def test_all_that_commands_leave_behind_is_private_and_a_report_goes_by_the_umask(place: Place) -> None:
    place.article()
    assert place.run("submit", QUESTION).status == 0
    assert place.run("submit", "--research", QUESTION, "--out", "report.html").status == 0

    storage = place.folder / "task-data"
    made = {str(path.relative_to(storage)).split("/", 1)[0] for path in storage.rglob("*")}
    assert {"terminus.db", "knowledge.db", "owners", "backups", "logs"} <= made
    assert any(name.endswith(".md") for name in made)
    assert open_to_others(storage) == []
    assert mode(place.folder / "report.html") == 0o644


def test_what_an_earlier_version_left_open_is_closed(place: Place) -> None:
    place.article()
    assert place.run("submit", "--research", QUESTION).status == 0
    storage = place.folder / "task-data"
    for path in [storage, *storage.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)

    assert place.run("status").status == 0

    assert open_to_others(storage) == []


def test_a_database_is_private_before_anything_stands_in_it_and_so_is_what_lies_beside_it(tmp_path: Path) -> None:
    fresh = make_database(tmp_path / "fresh.db")
    assert (mode(fresh), fresh.stat().st_size) == (0o600, 0)
    for suffix in ("", "-wal", "-shm"):
        (tmp_path / f"old.db{suffix}").write_bytes(b"x")
        (tmp_path / f"old.db{suffix}").chmod(0o644)

    make_database(tmp_path / "old.db")

    assert {mode(path) for path in tmp_path.glob("old.db*")} == {0o600}


def test_what_a_link_points_to_is_left_alone(tmp_path: Path) -> None:
    theirs, storage = tmp_path / "theirs", tmp_path / "storage"
    (theirs / "inner").mkdir(parents=True)
    (theirs / "file").write_text("x")
    storage.mkdir()
    (storage / "backups").symlink_to(theirs)
    (storage / "terminus.db").symlink_to(theirs / "file")
    (storage / "logs").mkdir()
    (storage / "logs" / "away").symlink_to(theirs / "inner")

    make_storage(storage)
    make_database(storage / "terminus.db")

    assert [mode(path) for path in (theirs, theirs / "inner", theirs / "file")] == [0o755, 0o755, 0o644]
    assert mode(storage) == 0o700


def test_a_folder_with_other_things_in_it_is_left_as_it_is_and_only_ours_is_closed(tmp_path: Path) -> None:
    for name in ("terminus.db", "knowledge.lock", "vectors.lock", "thesis.tex", "notes.md", "R-1.md", ".profile"):
        (tmp_path / name).write_text("x")
    (tmp_path / "backups" / "R-1").mkdir(parents=True)
    (tmp_path / "photos").mkdir()
    tmp_path.chmod(0o755)

    make_storage(tmp_path)

    closed = {path.name for path in tmp_path.iterdir() if not mode(path) & 0o077}
    assert closed == {"terminus.db", "knowledge.lock", "vectors.lock", "R-1.md", "backups"}
    assert mode(tmp_path) == 0o755


def test_what_belongs_to_somebody_else_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "terminus.db").write_bytes(b"")
    tmp_path.chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)

    make_storage(tmp_path)
    make_folder(tmp_path)

    assert (mode(tmp_path / "terminus.db"), mode(tmp_path)) == (0o644, 0o755)


def test_the_umask_of_the_process_stays_as_it_is(tmp_path: Path) -> None:
    make_database(make_storage(tmp_path / "new") / "terminus.db")

    before = os.umask(0o022)
    assert before == 0o022
