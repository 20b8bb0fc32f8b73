"""
Indexes beside that of the documents, one file each: of laws, of decided cases. Blocking.

Each is made of sources, folders or files, which it names, so that reading them again makes it anew.
"""

import contextlib
import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from actors.ports import PortFailed
from runtime.knowledge.index import folder_records, index_version, index_writer
from runtime.knowledge.index.index_reader import IndexReader, Lapsed
from runtime.knowledge.index_search import open_shelf
from runtime.knowledge.readers.parsed_document import Document
from runtime.program import command

SKIPPED = 20
"""So many entries that could not be read are named."""
Show = Callable[[int, int, int], None]
"""Is told how much of how much is read, in the unit of the source, and how many documents that were."""


class Entry(NamedTuple):
    """What a source holds at one place."""

    place: str
    """Where: a file of a folder, a line of a file."""
    found: Document | str
    """Or why there is no document, for the user."""
    done: int
    total: int
    key: str = ""
    """Under which the document is kept; empty: its place."""


class SourceReport(msgspec.Struct, frozen=True):
    """What became of a source."""

    documents: int
    """That the index now holds of it: laws, cases."""
    passages: int
    """New ones: articles, cases."""
    read: int
    """Documents that are new, or changed."""
    removed: int
    """Those that the source does not hold any more."""
    skipped: tuple[tuple[str, str], ...] = ()
    """Places at which there is none, with why; the first of them."""
    more_skipped: int = 0


class SideIndexFailed(PortFailed):
    """The index could not be read or written."""


@dataclass(frozen=True)
class SideIndex:
    """One of them. All that it does raises `SideIndexFailed`, with a sentence for the user."""

    file: str
    """Its name in the storage folder."""
    what: str
    """What is in it, in the plural."""
    option: str
    """Of `index`, which reads a source."""
    takes: Literal["folder", "file"]
    """What a source is."""
    read: Callable[[Path], Iterator[Entry]]
    """The entries of a source."""
    keys_are_unique: bool = False
    """What several sources hold under one key is as it was read last."""
    older: str = ""
    """The name of its file in versions that had one of another format."""

    def take(self, storage: Path, source: Path, show: Show = lambda *_: None) -> SourceReport:
        """
        Read a source; what was read of it and it holds no more goes. All of that holds, or none.

        What another version had indexed is read again as well.

        :raises OSError: the source cannot be read.
        """
        with self._open_for_writing(storage) as db:
            for path in index_version.lapsed_folders(db):
                if path != str(source.resolve()) and Path(path).exists():
                    self._fill(db, Path(path), show)
                index_version.settle_folder(db, path)
            report = self._fill(db, source.resolve(), show)
            db.execute("INSERT INTO terms (terms) VALUES ('optimize')")
        if self.older:
            (storage / self.older).unlink(missing_ok=True)
        return report

    def remove(self, storage: Path, source: Path) -> int | None:
        """Take a source out, whether or not it is there. How many documents went; None: the index does not hold it."""
        with self._open_for_writing(storage) as db:
            return folder_records.remove(db, str(source))

    def list_sources(self, storage: Path) -> list[tuple[str, int]]:
        """Path and number of documents of each source."""
        with self.open(storage) as shelf:
            return shelf.list_folders() if shelf else []

    @contextlib.contextmanager
    def open(self, storage: Path) -> Iterator[IndexReader | None]:
        """The index as it is at this moment, which this process keeps open; None where nothing was read yet."""
        path = storage.absolute() / self.file
        with self._explain(path):
            shelf = open_shelf(path)
            if shelf is None and self.older and (storage / self.older).exists():
                raise Lapsed
            if shelf is None:
                yield None
                return
            try:
                shelf.begin()
                yield shelf
            finally:
                shelf.end()

    @contextlib.contextmanager
    def _open_for_writing(self, storage: Path) -> Iterator[sqlite3.Connection]:
        path = storage.absolute() / self.file
        with self._explain(path), contextlib.closing(index_writer.connect(path)) as db, index_writer.transaction(db):
            yield db

    def _fill(self, db: sqlite3.Connection, source: Path, show: Show) -> SourceReport:
        folder, _ = index_writer.folder_id(db, source)
        before, kept = index_writer.list_paths(db, folder), set[str]()
        others = [int(id_) for (id_,) in db.execute("SELECT id FROM folders WHERE id != ?", (folder,))]
        skipped: list[tuple[str, str]] = []
        read = passages = 0
        for entry in self.read(source):
            show(entry.done, entry.total, len(kept))
            if isinstance(entry.found, str):
                skipped.append((entry.place, entry.found))
                continue
            key, digest = entry.key or entry.place, hashlib.sha256(msgspec.msgpack.encode(entry.found)).hexdigest()
            kept.add(key)
            if index_writer.stored_key(db, folder, key) != (digest, ""):
                passages += index_writer.replace(db, folder, key, digest, entry.found, keep=False)
                read += 1
                for other in others if self.keys_are_unique else ():
                    index_writer.remove(db, other, key)
        for key in before - kept:
            index_writer.remove(db, folder, key)
        return SourceReport(
            len(kept), passages, read, len(before - kept), tuple(skipped[:SKIPPED]), max(0, len(skipped) - SKIPPED)
        )

    @contextlib.contextmanager
    def _explain(self, path: Path) -> Iterator[None]:
        try:
            yield
        except Lapsed:
            sources = index_version.find_lapsed(path)
            again = command(f"index {self.option} {sources[0] if sources else self.takes.upper()}")
            raise SideIndexFailed(
                f"The {self.what} were indexed by another version of Terminus. Run {again} once."
            ) from None
        except sqlite3.Error as error:
            sentence = f"The {self.what} could not be used: {error}."
            if "locked" in str(error):
                sentence = f"Another process is reading {self.what} in. Try again when it has ended."
            elif not isinstance(error, sqlite3.OperationalError):  # those are of the disk, not of the file
                again = command(f"index {self.option}")
                sentence += f" Delete {path} and run {again} again: nothing else is kept in it."
            raise SideIndexFailed(sentence) from error
