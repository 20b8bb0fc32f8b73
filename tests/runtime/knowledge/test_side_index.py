"""Indexes beside that of the documents: made of sources, wholly or not at all; the words that are looked for."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.knowledge import index as index_file
from runtime.knowledge.index import Index, close_indexes
from runtime.knowledge.readers.parsed_document import Document, Piece
from runtime.knowledge.side_index import Entry, SideIndex, SideIndexFailed


def read_lines(source: Path) -> Iterator[Entry]:
    """A document a line, its first word the key; a line without any is none."""
    lines = source.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        key, _, text = line.partition(" ")
        found = Document(key, text, parts=[Piece((), "", 0, len(text))]) if text else "it says nothing"
        yield Entry(f"line {number}", found, number, len(lines), key)


NOTES = SideIndex("notes.db", "notes", "--notes", "file", read_lines, keys_are_unique=True)


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    """What a worker process keeps open until it ends, this one has to let go of."""
    yield
    close_indexes()


def write(file: Path, *lines: str) -> Path:
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def list_keys(storage: Path) -> list[str]:
    with NOTES.open(storage) as shelf:
        return sorted(each.path for each in shelf.list_names()) if shelf else []


def test_what_two_sources_hold_under_one_key_is_as_it_was_read_last(tmp_path: Path) -> None:
    first, second = write(tmp_path / "1", "a rent", "b deposit"), write(tmp_path / "2", "a salvage")
    NOTES.take(tmp_path, first)
    NOTES.take(tmp_path, second)

    assert list_keys(tmp_path) == ["a", "b"]
    assert NOTES.list_sources(tmp_path) == [(str(first), 1), (str(second), 1)]


def test_who_writes_while_another_does_is_told_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_file, "BUSY_SECONDS", 0.0)
    source = write(tmp_path / "1", "a rent")
    NOTES.take(tmp_path, source)

    with (
        contextlib.closing(Index.make(tmp_path / NOTES.file)) as index,
        index.writing(),
        pytest.raises(SideIndexFailed, match="Another process is reading notes in"),
    ):
        NOTES.take(tmp_path, source)
    assert list_keys(tmp_path) == ["a"]


def test_the_words_that_tell_most_are_looked_for_and_none_more_than_twice(tmp_path: Path) -> None:
    each = [f"{n} every common word{n % 10}" for n in range(100)]
    NOTES.take(tmp_path, write(tmp_path / "1", *each, *(f"x{n} rare{n} " for n in range(8)), "nothing"))

    with NOTES.open(tmp_path) as shelf:
        assert shelf is not None
        rare = [f"rare{n}" for n in range(8)]
        assert shelf.find_telling(["common", "word1", "absent"], 10) == ["common", "word1"], "there is nothing better"
        assert shelf.find_telling(["common", *rare, *rare, *rare], 10) == sorted(2 * rare)
        assert shelf.find_telling(["common", *rare], 2) == rare[:2]
