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
from runtime.knowledge.index import Index, Lapsed, find_lapsed, open_index
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

    def take(self, storage: Path, source: Path, show: Show = lambda *_: None) -> SourceReport:
        """
        Read a source; what was read of it and it holds no more goes. All of that holds, or none.

        What another version had indexed is read again as well.

        :raises OSError: the source cannot be read.
        """
        with self._write(storage) as index:
            self._renew(index, source.resolve(), show)
            report = self._fill(index, source.resolve(), show)
            index.optimize()
        return report

    def renew(self, storage: Path) -> None:
        """Read what another version had indexed again."""
        if find_lapsed(str(storage / self.file)):
            with self._write(storage) as index:
                self._renew(index, None, lambda *_: None)
                index.optimize()

    def remove(self, storage: Path, source: Path) -> int | None:
        """Take a source out, whether or not it is there. How many documents went; None: the index does not hold it."""
        with self._write(storage) as index:
            return index.remove_folder(str(source))

    def list_sources(self, storage: Path) -> list[tuple[str, int]]:
        """Path and number of documents of each source."""
        with self.open(storage) as index:
            return sorted((each.path, each.documents) for each in index.list_folders()) if index else []

    @contextlib.contextmanager
    def open(self, storage: Path) -> Iterator[Index | None]:
        """The index as it is at this moment, which this process keeps open; None where nothing was read yet."""
        with self._explain(storage.absolute() / self.file) as path:
            index = open_index(path)
            with index.reading() if index else contextlib.nullcontext():
                yield index

    @contextlib.contextmanager
    def _write(self, storage: Path) -> Iterator[Index]:
        with (
            self._explain(storage.absolute() / self.file) as path,
            contextlib.closing(Index.make(path)) as index,
            index.writing(),
        ):
            yield index

    def _renew(self, index: Index, but: Path | None, show: Show) -> None:
        for path in map(Path, index.list_lapsed()):
            if path != but and path.exists():
                self._fill(index, path, show)
        index.forget_lapsed()

    def _fill(self, index: Index, source: Path, show: Show) -> SourceReport:
        folder, _ = index.add_folder(source)
        before, kept = index.list_paths(folder), set[str]()
        others = [each for each in index.list_folder_numbers() if each != folder]
        skipped: list[tuple[str, str]] = []
        read = passages = 0
        for entry in self.read(source):
            show(entry.done, entry.total, len(kept))
            if isinstance(entry.found, str):
                skipped.append((entry.place, entry.found))
                continue
            key = entry.key or entry.place
            digest = hashlib.sha256(msgspec.msgpack.encode(entry.found)).hexdigest()
            kept.add(key)
            if index.find_key(folder, key) != (digest, ""):
                passages += index.add(folder, key, digest, entry.found, keep=False)
                read += 1
                for other in others if self.keys_are_unique else ():
                    index.remove(other, key)
        for key in before.keys() - kept:
            index.remove(folder, key)
        index.settle_folder(folder)
        return SourceReport(
            len(kept), passages, read, len(before.keys() - kept), tuple(skipped[:SKIPPED]),
            max(0, len(skipped) - SKIPPED),
        )  # fmt: skip

    @contextlib.contextmanager
    def _explain(self, path: Path) -> Iterator[Path]:
        try:
            yield path
        except Lapsed:
            again = command(f"index {self.option} {next(iter(find_lapsed(str(path))), self.takes.upper())}")
            said = f"The {self.what} were indexed by another version of Terminus. Run {again} once."
            raise SideIndexFailed(said) from None
        except sqlite3.Error as error:
            sentence = f"The {self.what} could not be used: {error}."
            if "locked" in str(error):
                sentence = f"Another process is reading {self.what} in. Try again when it has ended."
            elif not isinstance(error, sqlite3.OperationalError):  # those are of the disk, not of the file
                again = command(f"index {self.option}")
                sentence += f" Delete {path} and run {again} again: nothing else is kept in it."
            raise SideIndexFailed(sentence) from error
