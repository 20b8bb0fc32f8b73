"""A file is there as it was or as it is to be, and a link leads nowhere."""

import os
import stat
from pathlib import Path

import pytest

from runtime.processes.atomic_files import MOST_BYTES, read_start, read_whole, replace_whole, write_whole


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "T-1.md"
    write_whole(path, "old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, "new")

    assert [each.name for each in tmp_path.iterdir()] == ["T-1.md"]
    assert path.read_text() == "old"


def test_a_link_in_the_place_of_the_file_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("mine")
    for name in ("T-1.md", ".T-1.md.new"):
        (tmp_path / name).symlink_to(tmp_path / "target")

    assert read_whole(tmp_path / "T-1.md") is None
    write_whole(tmp_path / "T-1.md", "theirs")

    assert (tmp_path / "target").read_text() == "mine"
    assert not (tmp_path / "T-1.md").is_symlink()


def test_what_is_no_file_of_text_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(MOST_BYTES + 1)

    assert [read_whole(tmp_path / name) for name in ("pipe", "folder", "binary", "huge", "none")] == [None] * 5
    assert read_start(tmp_path / "huge", 10) is None
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_whoever_asks_for_rights_gets_them_and_nobody_else_reads_the_file_otherwise(tmp_path: Path) -> None:
    for name, mode in (("mine", None), ("ours", 0o644)):
        with replace_whole(tmp_path / name, tmp_path / "draft", mode) as file:
            file.write(b"x")

    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("mine", "ours")] == [0o600, 0o644]
    assert not (tmp_path / "draft").exists()
