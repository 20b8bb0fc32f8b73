"""What a process works on is known after its death, at the cost of a few bytes in memory."""

import os
import signal
from pathlib import Path

import pytest

from runtime.storage import work_mark
from runtime.storage.ends import SLOT_BYTES, PendingEnd
from runtime.storage.sqlite.process_lock import ProcessLock
from runtime.storage.work_mark import MARK_BYTES, WorkMark, read_mark


def marked(path: Path) -> str:
    file = os.open(path, os.O_RDONLY)
    try:
        return read_mark(file)
    finally:
        os.close(file)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "one.lock").touch()
    return tmp_path / "one.lock"


def test_it_stands_in_the_file_during_a_turn_and_not_after(path: Path) -> None:
    mark = WorkMark(path)
    one, other = mark.turns_of("R-1"), mark.turns_of("R-22")

    seen = [marked(path)]
    for turns in (other, one):
        turns.begin()
        seen.append(marked(path))
        turns.end()
        seen.append(marked(path))

    assert seen == ["", "R-22", "", "R-1", ""]


def test_a_kill_does_not_lose_it(path: Path) -> None:
    child = os.fork()
    if child == 0:
        WorkMark(path).turns_of("R-1").begin()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)

    assert marked(path) == "R-1"


def test_after_the_machine_died_only_who_was_tried_alone_is_known(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = WorkMark(path)
    mark.set_alone("R-7")
    mark.turns_of("R-1").begin()
    assert marked(path) == "R-1"

    monkeypatch.setattr(work_mark, "since_boot", lambda: ("another", 0.0))

    assert marked(path) == "R-7"
    mark.set_alone("")
    assert marked(path) == ""


def test_what_is_closed_holds_no_file_and_still_takes_turns(path: Path) -> None:
    mark = WorkMark(path)
    turns = mark.turns_of("R-1")
    mark.close()

    turns.begin()
    turns.end()
    mark.set_alone("R-1")

    assert marked(path) == ""
    assert str(path) not in Path("/proc/self/maps").read_text(encoding="ascii")


def test_without_room_on_the_disk_nobody_is_known_and_work_goes_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("runtime.storage.work_mark.os.pwrite", full)
    mark = WorkMark(path)
    mark.turns_of("R-1").begin()
    mark.set_alone("R-1")

    assert marked(path) == ""


def test_a_name_that_is_too_long_is_left_out(path: Path) -> None:
    mark = WorkMark(path)
    mark.turns_of("R" * work_mark.NAME_BYTES).begin()
    assert marked(path) == ""


def test_what_an_earlier_version_wrote_there_is_no_mark(path: Path) -> None:
    path.write_bytes(b"\0\x90" + b"x" * 400)
    assert marked(path) == ""


def test_it_takes_the_place_of_one_slot_and_lets_the_lock_go_with_its_owner(tmp_path: Path) -> None:
    assert MARK_BYTES == SLOT_BYTES
    first, second = ProcessLock(tmp_path), ProcessLock(tmp_path)
    first.mark.turns_of("R-1").begin()
    with second.legacy(first.token) as left:
        assert left is None, "it lives"
    os.close(first._file)  # as a kill does

    with second.legacy(first.token) as left:
        assert left is not None
        told: list[PendingEnd] = left.told
        assert (told, left.worked_on) == ([], "R-1")
    second.close()
