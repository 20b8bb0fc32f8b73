"""A file that is no database, not whole or damaged is told so in a sentence, before anything is written to it."""

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest
import structlog.testing

from runtime.storage.sqlite import integrity
from runtime.storage.sqlite.integrity import DatabaseUnusable, check, examine
from runtime.storage.sqlite.process_lock import ProcessLock
from runtime.storage.sqlite.schema import NEWEST
from tests.runtime.cli.commands.program import QUESTION, Place

ROWS = 2_000


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A sound database of some pages, with its index."""
    path = tmp_path / "some.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)")
    db.executemany("INSERT INTO word (text) VALUES (?)", ((f"word {number} " * 10,) for number in range(ROWS)))
    db.commit()
    db.close()
    return path


def harm(file: Path) -> None:
    """Overwrite a page in the middle."""
    with file.open("r+b") as stream:
        stream.seek(file.stat().st_size // 2 // 4096 * 4096)
        stream.write(b"\xff" * 4096)


def killed(file: Path) -> None:
    """Leave what a process leaves that was killed: a log that nobody wrote back."""
    file.with_name(f"{file.name}-wal").write_bytes(b"not written back")


def test_a_sound_database_is_sound_and_a_new_one_is_about_to_become_one(file: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    for each in (file, tmp_path / "none.db", tmp_path / "empty.db"):
        check(each, tmp_path / "owners", 3.0)
    assert examine(file, "integrity_check", 30.0) == ""


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (lambda _: b"this is no database " * 100, "is not a database"),
        (lambda whole: whole[: len(whole) // 2], r"is cut off: it has [\d,]+ of [\d,]+ bytes"),
        (lambda whole: whole[:50], "is cut off"),
    ],
)
def test_a_file_that_is_no_whole_database_is_told_at_every_start(file: Path, content: object, sentence: str) -> None:
    assert callable(content)
    before = content(file.read_bytes())
    file.write_bytes(before)

    with pytest.raises(DatabaseUnusable, match=rf"cannot be used: it {sentence}.*runtime restore BACKUP"):
        check(file, file.parent / "owners", 0.0)

    assert file.read_bytes() == before


def test_after_a_kill_the_whole_file_is_examined_and_after_an_orderly_end_it_is_not(file: Path) -> None:
    harm(file)
    check(file, file.parent / "owners", 30.0)

    killed(file)
    with pytest.raises(DatabaseUnusable, match=r"it is damaged \(.+\)\. Restore it with"):
        check(file, file.parent / "owners", 30.0)
    check(file, file.parent / "owners", 0.0)


def test_a_database_that_a_living_process_writes_is_not_examined(file: Path) -> None:
    harm(file)
    killed(file)
    owner = ProcessLock(file.parent / "owners")

    check(file, file.parent / "owners", 30.0)

    owner.close()
    with pytest.raises(DatabaseUnusable):
        check(file, file.parent / "owners", 30.0)


def test_the_examination_of_a_large_one_is_bounded(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integrity, "STEPS", 1)
    killed(file)

    with pytest.raises(TimeoutError):
        examine(file, "quick_check", 0.0)
    check(file, file.parent / "owners", 1e-9)


@pytest.fixture
def interrupted(tmp_path: Path) -> Path:
    """What a killed process leaves: ten commits in the log, none of them in the file."""
    db = sqlite3.connect(tmp_path / "living.db", isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT)")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for number in range(10):
        db.execute("INSERT INTO word (text) VALUES (?)", (f"word {number}",))
    file = tmp_path / "some.db"
    for suffix in ("", "-wal"):
        shutil.copy(tmp_path / f"living.db{suffix}", tmp_path / f"some.db{suffix}")
    db.close()
    return file


@pytest.mark.parametrize(("frame", "kept", "lost"), [(None, 10, 0), (1, 0, 10), (4, 3, 7), (10, 9, 0)])
def test_commits_of_a_log_that_cannot_be_read_back_are_counted_and_the_others_are_there(
    interrupted: Path, frame: int | None, kept: int, lost: int
) -> None:
    log = interrupted.with_name("some.db-wal")
    raw = bytearray(log.read_bytes())
    assert (len(raw) - 32) // (24 + 4096) == 10
    if frame is not None:
        raw[32 + (frame - 1) * (24 + 4096) + 24 + 4090] ^= 0xFF
        log.write_bytes(raw)

    with structlog.testing.capture_logs() as told:
        check(interrupted, interrupted.parent / "owners", 30.0)

    assert [each["lost"] for each in told if each["event"] == "storage.log_damaged"] == ([lost] if lost else [])
    with contextlib.closing(sqlite3.connect(interrupted)) as db:
        assert db.execute("SELECT count(*) FROM word").fetchone() == (kept,)


def test_an_empty_file_beside_a_log_was_a_database(interrupted: Path) -> None:
    interrupted.write_bytes(b"")
    log = interrupted.with_name("some.db-wal").read_bytes()

    with pytest.raises(DatabaseUnusable, match="is empty, though there is a log"):
        check(interrupted, interrupted.parent / "owners", 30.0)
    assert interrupted.with_name("some.db-wal").read_bytes() == log, "SQLite would delete it"


def test_a_command_says_what_is_wrong_with_one_sentence_and_doctor_says_all(place: Place) -> None:
    place.article()
    assert place.run("submit", QUESTION).status == 0
    database = place.folder / "task-data" / "terminus.db"
    sound = place.run("doctor")
    assert f"version {NEWEST}, examined and sound" in sound.out
    whole = database.read_bytes()

    database.write_bytes(whole[:8192])
    cut = place.run("status")
    database.write_bytes(b"once upon a time " * 600)
    strange = place.run("submit", "My VPN drops.")
    database.write_bytes(whole)
    db = sqlite3.connect(database)
    db.execute("PRAGMA user_version = 1000")
    db.close()
    newer = place.run("status")

    assert [done.status for done in (cut, strange, newer)] == [1, 1, 1]
    assert [done.out for done in (cut, strange, newer)] == ["", "", ""]
    assert "is cut off" in cut.err
    assert "is not a database" in strange.err
    assert "version 1000" in newer.err
    assert all(done.err.count("\n") == 1 and "Traceback" not in done.err for done in (cut, strange, newer))


def test_doctor_finds_what_only_the_full_examination_finds(place: Place) -> None:
    assert place.run("submit", "My VPN drops.").status in {0, 3}
    database = place.folder / "task-data" / "terminus.db"
    db = sqlite3.connect(database)
    db.execute("PRAGMA writable_schema = ON")
    db.execute("UPDATE sqlite_schema SET sql = replace(sql, '(ticket)', '(status)') WHERE name = 'run_of_ticket'")
    db.commit()
    db.close()

    done = place.run("doctor")

    assert done.status == 1
    assert "but it is damaged" in done.out
    assert "runtime restore BACKUP" in done.out
