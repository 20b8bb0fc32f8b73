"""
The index: documents, their passages, a full-text table of their terms (FTS5) and vectors, in one SQLite file.

Of documents, of laws and of decided cases there is one each; the pages of a research have one in memory. Blocking, and
light: no reader of files is loaded.
"""

import contextlib
import datetime
import functools
import hashlib
import re
import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from actors.evidence.passages import BELOW
from actors.text.tokenizer import tokens
from runtime.knowledge import CASES_FILE, FILE, LAWS_FILE
from runtime.knowledge.readers.parsed_document import Document, Piece, pieces
from runtime.storage.private import make_database, make_storage

T = TypeVar("T")

VERSION = 13
"""Of the schema and of the readers: an index of another version is made anew, from the folders that it names."""
LAPSED = "The index was made by another version of Terminus and is not made anew yet"
"""What a worker process says. Who asks it has the index made anew, or waits for whoever does."""
BUSY_SECONDS = 5.0
CHARACTERS = 1000
"""Of a passage, its vector is made: with its headings 128 tokens, all that is looked at (more found no better)."""
TWICE = 2
"""Who repeats a word more often does not mean it more."""
TELLING, TELLING_SHARE = 8, 0.05
"""
Terms that more passages than this share say tell hardly one from another, and take most of a search's time: so many are
looked for all the same (`bench.statutes`: R@10 of STARD is that of all terms, in half of the time or less).
"""
SKIPPED_KEPT = 500
"""So many skipped files of a folder are kept by name."""

_SCHEMA = f"""
PRAGMA user_version = {VERSION};
CREATE TABLE folders (
  id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, path TEXT UNIQUE NOT NULL, record BLOB NOT NULL DEFAULT x'',
  lapsed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE documents (
  id INTEGER PRIMARY KEY, folder INTEGER NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL, title TEXT NOT NULL,
  reason TEXT NOT NULL, text BLOB NOT NULL, about BLOB NOT NULL, UNIQUE (folder, path));
CREATE TABLE passages (
  id INTEGER PRIMARY KEY, document INTEGER NOT NULL, ordinal INTEGER NOT NULL, heading TEXT NOT NULL,
  anchor TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, text TEXT NOT NULL, digest BLOB NOT NULL);
CREATE INDEX passages_of_document ON passages (document, ordinal);
CREATE INDEX passages_of_digest ON passages (digest, document);
CREATE VIRTUAL TABLE terms USING fts5 (heading, body, tokenize = 'ascii');
CREATE VIEW sources AS SELECT d.*, f.name || '/' || d.path AS source, f.path || '/' || d.path AS file
  FROM documents d JOIN folders f ON f.id = d.folder;
CREATE TABLE IF NOT EXISTS vectors (digest BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vector_model (name TEXT NOT NULL);
"""
"""Vectors are kept by what they were made of, and outlive a version: a text that is read again has its vector."""
_OLD = """SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view')
AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'terms_%' AND name NOT IN ('vectors', 'vector_model')"""

_UNTELLING = re.compile(
    r"html?|text|txt|pages|help|public|site|www|(?:en|de|fr|es|pt|nl|ru|zh|ja|ko)(?:[-_][a-z]{2})?", re.IGNORECASE
)
"""Names that a manual's folder shares with those of other manuals."""


class Lapsed(Exception):
    """The index does not say what its folders hold."""


class Ignored(msgspec.Struct, frozen=True):
    """Files of one kind that are none of ours."""

    kind: str
    """A suffix such as `.png`, or what else they have in common."""
    count: int
    examples: tuple[str, ...]
    """The first few, by path."""


class FolderRecord(msgspec.Struct, frozen=True):
    """How a folder was when it was last read."""

    indexed: str = ""
    """When, in UTC (ISO 8601)."""
    ignored: tuple[Ignored, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    """(path below the folder, reason); of many the first."""


class IndexedFolder(msgspec.Struct, frozen=True):
    """A folder of the index."""

    name: str
    """What stands before the paths of its documents."""
    path: str
    documents: int
    passages: int
    is_there: bool
    record: FolderRecord


class IndexedDocument(msgspec.Struct, frozen=True, omit_defaults=True):
    """A document of the index."""

    name: str
    """Its path below its folder, with the folder's name in front: what citations call it."""
    title: str
    passages: int
    bytes: int | None = None
    """Of its file, if that is there."""
    modified: str = ""
    """When its file was written last, in UTC (ISO 8601)."""
    skipped: str = ""
    """Why it is not searched."""


class MeaningState(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far an index can be searched by meaning."""

    texts: int
    ready: int
    """Those whose vectors are made, by the model that is set up."""
    why: str = ""
    """Why the others are not made now."""


class Named(NamedTuple):
    """A document that could be read."""

    document: int
    source: str
    path: str
    """Below its folder."""
    title: str


class Place(NamedTuple):
    """Where a passage stands: `text[start:end]` of its document."""

    document: int
    ordinal: int
    source: str
    title: str
    heading: str
    anchor: str
    start: int
    end: int


class Part(NamedTuple):
    """A passage as it stands in its document."""

    document: int
    anchor: str
    heading: str
    text: str


class Unseen(NamedTuple):
    """A text whose vector is to be made."""

    digest: bytes
    text: str


class Index:
    """An open index; whatever is asked of it for reading is asked within `reading`."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._version = -1
        """Another number when somebody has written."""
        self._remembered: dict[str, Any] = {}
        self.passages = 0

    @classmethod
    def at(cls, path: Path) -> "Index":
        """The index in a file, for reading only."""
        db = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=BUSY_SECONDS)
        db.execute("PRAGMA cache_size = -32000")
        return cls(db)

    @classmethod
    def make(cls, path: Path) -> "Index":
        """The index in a file, for writing; made if there is none, or one of another version."""
        make_storage(path.parent)
        db = sqlite3.connect(make_database(path), isolation_level=None, timeout=BUSY_SECONDS)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")  # a power cut may cost the last files, which are then read again
        db.execute("PRAGMA cache_size = -16000")
        index = cls(db)
        if not index.is_current():
            with index.writing():  # two processes may come here at once
                if not index.is_current():
                    index._make_tables()
        return index

    @classmethod
    def in_memory(cls) -> "Index":
        """An empty index, which ends with this process."""
        index = cls(sqlite3.connect(":memory:", isolation_level=None))
        index._make_tables()
        return index

    def _make_tables(self) -> None:
        folders = []
        with contextlib.suppress(sqlite3.OperationalError):  # a new file has none
            folders = self._db.execute("SELECT id, name, path FROM folders").fetchall()
        for kind, name in self._db.execute(_OLD).fetchall():
            self._db.execute(f"DROP {kind} {name}")
        for statement in _SCHEMA.split(";"):
            self._db.execute(statement)
        self._db.executemany("INSERT INTO folders (id, name, path, lapsed) VALUES (?, ?, ?, 1)", folders)

    def close(self) -> None:
        self._db.close()

    def is_current(self) -> bool:
        """Whether it is of this version."""
        return bool(self._db.execute("PRAGMA user_version").fetchone()[0] == VERSION)

    def list_lapsed(self) -> list[str]:
        """The folders that are to be read again, for another version read them last."""
        where = " WHERE lapsed" if self.is_current() else ""
        try:
            return sorted(path for (path,) in self._db.execute(f"SELECT path FROM folders{where}"))
        except sqlite3.OperationalError:
            return []  # there is no such table yet

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """
        Look at the newest state, and at that one until the end.

        :raises Lapsed: another version made it, and what its folders hold is not read again yet.
        """
        self._db.execute("BEGIN")
        try:
            if self.list_lapsed() or not self.is_current():
                raise Lapsed(LAPSED)
            version = self._db.execute("PRAGMA data_version").fetchone()[0]
            if version != self._version:
                self.passages = self._db.execute("SELECT count(*) FROM passages").fetchone()[0]
                self._remembered.clear()
                self._version = version
            yield
        finally:
            if self._db.in_transaction:
                self._db.execute("COMMIT")

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """What is written within it holds wholly or not at all; within another one, with that."""
        outer = self._db.in_transaction
        if outer:
            yield
            return
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def recall(self, name: str, make: Callable[[], T]) -> T:
        """What somebody makes of this version of the index: made once, and dropped with the version."""
        if name not in self._remembered:
            self._remembered[name] = make()
        made: T = self._remembered[name]
        return made

    # Found by words

    def match(
        self, terms: Collection[str], limit: int, documents: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        """
        The passages that say most of these terms, and how well they fit by SQLite's own BM25: the larger the better.

        :param documents: of these only; None: of all.
        """
        if not terms:
            return []
        within = ""
        if documents is not None:  # the plus keeps SQLite from asking the full-text table once a passage
            numbers = ",".join(str(int(each)) for each in sorted(documents))
            within = f" AND +rowid IN (SELECT id FROM passages WHERE document IN ({numbers}))"
        rows = self._db.execute(
            f"""SELECT rowid, -bm25(terms) FROM terms WHERE terms MATCH ?{within}
            ORDER BY 2 DESC, rowid LIMIT ?""",
            (" OR ".join(f'"{term}"' for term in terms), limit),
        )
        return [(int(id_), float(score)) for id_, score in rows]

    def find_telling(self, terms: Sequence[str], most: int) -> list[str]:
        """
        Of some terms the rarest of those that passages say, each twice if it stands there twice; of those that more
        than a share of all passages say the rarest few at most.
        """
        self._db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab (main, terms, row)")
        said, known = Counter(terms), dict[str, int]()
        for term in said:
            row = self._db.execute("SELECT doc FROM temp.vocabulary WHERE term = ?", (term,)).fetchone()
            known |= {term: int(row[0])} if row else {}
        rarest = sorted(known, key=lambda term: (known[term], term))[:most]
        telling = {*rarest[:TELLING], *(term for term in rarest if known[term] <= TELLING_SHARE * self.passages)}
        return [term for term in said for _ in range(min(TWICE, said[term])) if term in telling]

    # Documents and passages

    def list_names(self) -> list[Named]:
        """The documents that could be read, the oldest first."""
        rows = self._db.execute("SELECT id, source, path, title FROM sources WHERE reason = '' ORDER BY id")
        return [Named._make(row) for row in rows]

    def find_documents(self, sources: Iterable[str]) -> set[int]:
        """The numbers of the documents that some passages' `source` names."""
        wanted = set(sources)
        return {each for each, source in self._db.execute("SELECT id, source FROM sources") if source in wanted}

    def list_about(self) -> list[tuple[int, bytes]]:
        """Number of each document that could be read, and what its reader knows of it."""
        return self._db.execute("SELECT id, about FROM documents WHERE reason = '' ORDER BY id").fetchall()

    def find_about(self, document: int) -> bytes:
        """What its reader knows of a document."""
        return bytes(self._db.execute("SELECT about FROM documents WHERE id = ?", (document,)).fetchone()[0])

    def find_text(self, source: str) -> str | None:
        """The text of a document as it was read, which offsets of passages refer to; None if it is gone."""
        row = self._db.execute("SELECT text FROM sources WHERE source = ? AND reason = ''", (source,)).fetchone()
        return zlib.decompress(row[0]).decode() if row else None

    def find_file(self, source: str) -> str:
        """Where a document lies on this machine; empty if it is gone from the index."""
        row = self._db.execute("SELECT file FROM sources WHERE source = ?", (source,)).fetchone()
        return str(row[0]) if row else ""

    def list_sections(self, source: str) -> list[tuple[str, int, int]]:
        """Heading, start and end of all passages of a document, in their order."""
        sql = """SELECT heading, start, "end" FROM passages
        WHERE document = (SELECT id FROM sources WHERE source = ?) ORDER BY ordinal"""
        return self._db.execute(sql, (source,)).fetchall()

    def read(self, document: int, characters: int) -> str:
        """What a document begins with."""
        rows = self._db.execute("SELECT text FROM passages WHERE document = ? ORDER BY ordinal", (document,))
        text = ""
        for (said,) in rows:
            text += f"{said}\n\n"
            if len(text) > characters:
                break
        return text[:characters]

    def find_passage(self, document: int, anchor: str | None = None) -> int | None:
        """The first passage of a document, or the first with an anchor."""
        where, wanted = ("", ()) if anchor is None else (" AND anchor = ?", (anchor,))
        sql = f"SELECT id FROM passages WHERE document = ?{where} ORDER BY ordinal LIMIT 1"
        row = self._db.execute(sql, (document, *wanted)).fetchone()
        return int(row[0]) if row else None

    def find_place(self, passage: int) -> Place:
        """Where a passage stands."""
        rows = self._db.execute(
            """SELECT p.document, p.ordinal, s.source, s.title, p.heading, p.anchor, p.start, p."end"
            FROM passages p JOIN sources s ON s.id = p.document WHERE p.id = ?""",
            (passage,),
        )
        return Place._make(rows.fetchone())

    def load_parts(self, ids: Collection[int]) -> dict[int, Part]:
        """Some passages by their numbers."""
        sql = f"SELECT id, document, anchor, heading, text FROM passages WHERE id IN ({_mark(ids)})"
        return {row[0]: Part(*row[1:]) for row in self._db.execute(sql, (*ids,))}

    def add(
        self, folder: int, path: str, key: str, document: Document | None, reason: str = "", *, keep: bool = True
    ) -> int:
        """
        Put what was read in the place of what was there, in one transaction. Returns the number of passages.

        :param key: under which it need not be read again.
        :param document: None: it could not be read, for a `reason`.
        :param keep: keep its whole text, too.
        """
        rows, text, title, about = list[tuple[object, ...]](), b"", "", b""
        if document:
            rows = [_make_row(document, number, piece) for number, piece in enumerate(pieces(document))]
            text = zlib.compress(document.text.encode("utf-8", "replace"), 1) if keep else b""
            title, about = document.title, document.about
        with self.writing():
            self.remove(folder, path)
            number = self._db.execute(
                "INSERT INTO documents (folder, path, key, title, reason, text, about) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (folder, path, key, title, reason, text, about),
            ).lastrowid
            first = self._db.execute("SELECT coalesce(max(id), 0) + 1 FROM passages").fetchone()[0]
            self._db.executemany(
                "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                ((id_, number, *row[:-2]) for id_, row in enumerate(rows, first)),
            )
            self._db.executemany(
                "INSERT INTO terms (rowid, heading, body) VALUES (?, ?, ?)",
                ((id_, *row[-2:]) for id_, row in enumerate(rows, first)),
            )
        return len(rows)

    def remove(self, folder: int, path: str) -> bool:
        """Take a document out, in one transaction; true if it was there."""
        with self.writing():
            sql = "SELECT id FROM documents WHERE folder = ? AND path = ?"
            row = self._db.execute(sql, (folder, path)).fetchone()
            if row:
                self._db.execute("DELETE FROM documents WHERE id = ?", row)
                self._db.execute("DELETE FROM terms WHERE rowid IN (SELECT id FROM passages WHERE document = ?)", row)
                self._db.execute("DELETE FROM passages WHERE document = ?", row)
        return row is not None

    def find_key(self, folder: int, path: str) -> tuple[str, str] | None:
        """(key, reason) under which a file was read last."""
        sql = "SELECT key, reason FROM documents WHERE folder = ? AND path = ?"
        row = self._db.execute(sql, (folder, path)).fetchone()
        return (str(row[0]), str(row[1])) if row else None

    def optimize(self) -> float:
        """Merge what was written piece by piece, so that searching is quick; returns the size in megabytes."""
        self._db.execute("DELETE FROM vectors WHERE digest NOT IN (SELECT digest FROM passages)")
        self._db.execute("INSERT INTO terms (terms) VALUES ('optimize')")
        if not self._db.in_transaction:
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pages, size = (self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        return float(pages * size / 1e6)

    # Folders

    def add_folder(self, path: Path) -> tuple[int, str]:
        """
        The number and name of a folder, which tells what manual it is: `html` alone does not.

        A second folder of the same name gets its parent's name in front.
        """
        row = self._db.execute("SELECT id, name FROM folders WHERE path = ?", (str(path),)).fetchone()
        if row:
            return int(row[0]), str(row[1])
        parts = [part for part in path.parts if part != path.anchor] or ["root"]
        telling = 1
        while telling < len(parts) and _UNTELLING.fullmatch(parts[-telling]):
            telling += 1
        for depth in range(telling, len(parts) + 1):
            name = "/".join(parts[-depth:])
            cursor = self._db.execute("INSERT OR IGNORE INTO folders (name, path) VALUES (?, ?)", (name, str(path)))
            if cursor.rowcount:
                return int(cursor.lastrowid or 0), name
        return self.add_folder(path)  # another process was faster

    def find_folder(self, named: str) -> tuple[int, str, str] | None:
        """Number, name and path of a folder that was read, by its name or path; it need not be there any more."""
        given = Path(named).expanduser()
        row = self._db.execute(
            "SELECT id, name, path FROM folders WHERE NOT lapsed AND (path IN (?, ?, ?) OR name = ?)",
            (str(given.absolute()), str(given.resolve()), named.rstrip("/"), named),
        ).fetchone()
        return (int(row[0]), str(row[1]), str(row[2])) if row else None

    def settle_folder(self, folder: int, record: FolderRecord | None = None) -> None:
        """A folder was read by this version; keep how it was then."""
        self._db.execute("UPDATE folders SET lapsed = 0 WHERE id = ?", (folder,))
        if record:
            kept = msgspec.structs.replace(record, skipped=record.skipped[:SKIPPED_KEPT])
            self._db.execute("UPDATE folders SET record = ? WHERE id = ?", (msgspec.msgpack.encode(kept), folder))

    def list_folder_numbers(self) -> list[int]:
        return [number for (number,) in self._db.execute("SELECT id FROM folders")]

    def forget_lapsed(self) -> None:
        """Folders that another version had read and that are not there any more are not waited for."""
        self._db.execute("DELETE FROM folders WHERE lapsed")

    def remove_folder(self, named: str) -> int | None:
        """Take a folder out with all that was read from it; how many documents these were, or None: it is not known."""
        found = self.find_folder(named)
        if found is None:
            return None
        with self.writing():
            documents = self.list_paths(found[0])
            for path in documents:
                self.remove(found[0], path)
            self._db.execute("DELETE FROM folders WHERE id = ?", (found[0],))
        self.optimize()
        return sum(not reason for reason in documents.values())

    def list_paths(self, folder: int) -> dict[str, str]:
        """The paths of a folder's documents, each with the reason why it could not be read; empty: it could."""
        return dict(self._db.execute("SELECT path, reason FROM documents WHERE folder = ?", (folder,)).fetchall())

    def list_folders(self) -> list[IndexedFolder]:
        """The folders, in order of their names."""
        rows = self._db.execute(
            """SELECT f.name, f.path, (SELECT count(*) FROM documents WHERE folder = f.id AND reason = ''),
            (SELECT count(*) FROM passages p JOIN documents d ON d.id = p.document WHERE d.folder = f.id), f.record
            FROM folders f ORDER BY f.name"""
        )
        return [
            IndexedFolder(
                name, path, documents, passages, Path(path).is_dir(),
                msgspec.msgpack.decode(record, type=FolderRecord) if record else FolderRecord(),
            )
            for name, path, documents, passages, record in rows
        ]  # fmt: skip

    def list_documents(self, after: str, most: int) -> list[IndexedDocument]:
        """Documents by their names, those after one."""
        rows = self._db.execute(
            """SELECT source, title, file, reason, (SELECT count(*) FROM passages p WHERE p.document = s.id)
            FROM sources s WHERE source > ? ORDER BY 1 LIMIT ?""",
            (after, most),
        )
        return [
            IndexedDocument(name, title, passages, *_look_at(Path(file)), reason)
            for name, title, file, reason, passages in rows.fetchall()
        ]

    # Vectors

    def find_vector_model(self) -> str:
        """The name of the model that made the vectors; empty: there are none."""
        row = self._db.execute("SELECT name FROM vector_model").fetchone()
        return str(row[0]) if row else ""

    def find_vectors(self, ids: Collection[int], width: int) -> dict[int, bytes]:
        """The vectors of some passages by their numbers: of so many bytes, or of none."""
        rows = self._db.execute(
            f"""SELECT p.id, v.vector FROM passages p JOIN vectors v ON v.digest = p.digest
            WHERE p.id IN ({_mark(ids)}) AND length(v.vector) IN (0, ?)""",
            (*ids, width),
        )
        return dict(rows.fetchall())

    def list_vectors(self, width: int) -> list[tuple[int, int, bytes]]:
        """Passage, document and vector of all that have one of so many bytes."""
        sql = """SELECT p.id, p.document, v.vector FROM passages p JOIN vectors v ON v.digest = p.digest
        WHERE length(v.vector) = ?"""
        return self._db.execute(sql, (width,)).fetchall()

    def list_texts(self, ids: Collection[int]) -> list[Unseen]:
        """What the vectors of some passages are made of, by their numbers."""
        rows = self._db.execute(f"SELECT digest, heading, text FROM passages WHERE id IN ({_mark(ids)})", (*ids,))
        return [Unseen(digest, _join(heading, text)) for digest, heading, text in rows]

    def find_texts_without_vectors(self, after: bytes, most: int) -> list[Unseen]:
        """Some of them in order of their digests, from one on, and after the last of all from the first."""
        sql = """SELECT digest, heading, text FROM passages
        WHERE digest > ? AND digest NOT IN (SELECT digest FROM vectors) GROUP BY digest ORDER BY digest LIMIT ?"""
        rows = self._db.execute(sql, (after, most)).fetchall() or self._db.execute(sql, (b"", most)).fetchall()
        return [Unseen(digest, _join(heading, text)) for digest, heading, text in rows]

    def measure_meaning(self, model: str) -> MeaningState:
        """How many texts there are, and how many of them have a vector of this model."""
        texts, ready = self._db.execute(
            """SELECT count(DISTINCT digest),
            count(DISTINCT digest) FILTER (WHERE digest IN (SELECT digest FROM vectors)) FROM passages"""
        ).fetchone()
        return MeaningState(texts, ready if self.find_vector_model() == model else 0)

    def begin_vectors(self, model: str, anew: bool) -> tuple[int, bool]:
        """
        Forget the vectors of any other model. Returns how many texts have none, and whether there were others.

        :param anew: else those of another one stay, and no text is said to have none.
        """
        known = self.find_vector_model()
        if known not in {model, ""} and not anew:
            return 0, False
        if known != model:
            with self.writing():
                self._db.execute("DELETE FROM vectors")
                self._db.execute("DELETE FROM vector_model")
                self._db.execute("INSERT INTO vector_model VALUES (?)", (model,))
        state = self.measure_meaning(model)
        return state.texts - state.ready, known not in {model, ""}

    def keep_vectors(self, model: str, vectors: Sequence[tuple[bytes, bytes]]) -> bool:
        """Store vectors, as (digest, vector), at once; false: those of another model are kept now."""
        with self.writing():
            ours = self.find_vector_model() == model
            if ours:
                self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", vectors)
                self._remembered.clear()
        return ours


def _mark(ids: Collection[int]) -> str:
    return ",".join("?" * len(ids))


def _join(heading: str, text: str) -> str:
    """What the vector of a passage is made of."""
    return f"{heading}\n{text[:CHARACTERS]}"


def _look_at(file: Path) -> tuple[int | None, str]:
    try:
        its = file.lstat()
    except OSError:
        return None, ""
    at = datetime.datetime.fromtimestamp(int(its.st_mtime), datetime.UTC)
    return its.st_size, at.isoformat(timespec="seconds")


def _make_row(document: Document, number: int, piece: Piece) -> tuple[object, ...]:
    """A passage as its table has it, and then the terms of its heading and of its text."""
    head = [part for part in (document.above, document.title, *piece.path) if part]
    heading = BELOW.join(part for i, part in enumerate(head) if part not in head[:i])
    text = document.text[piece.start : piece.end].encode("utf-8", "replace").decode()
    digest = hashlib.blake2b(_join(heading, text).encode(), digest_size=16).digest()
    terms = (_tokenize_heading(heading), " ".join(tokens(text)))
    return number, heading, piece.anchor, piece.start, piece.end, text, digest, *terms


@functools.lru_cache(256)  # passages of one section follow each other
def _tokenize_heading(heading: str) -> str:
    """The terms of a heading, as the full-text table takes them."""
    return " ".join(tokens(heading))


_open: dict[tuple[str, bool], tuple[tuple[int, int], Index]] = {}


def open_index(path: Path) -> Index | None:
    """
    The index that this process keeps open for reading, opened again when the file is another one; None: there is none.
    """
    if path.exists():
        return _find_open(path, writes=False)
    _close((str(path), False))
    return None


def make_index(path: Path) -> Index:
    """The same for writing; made if there is none, or one of another version."""
    return _find_open(path, writes=True)


def _find_open(path: Path, *, writes: bool) -> Index:
    place = (str(path), writes)
    identity, index = _open.get(place, (None, None))
    if index and path.exists() and identity == _identify(path) and (not writes or index.is_current()):
        return index
    _close(place)
    index = Index.make(path) if writes else Index.at(path)
    _open[place] = (_identify(path), index)
    return index


def _identify(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def _close(place: tuple[str, bool]) -> None:
    if place in _open:
        _open.pop(place)[1].close()


def close_indexes() -> None:
    """Close this process's indexes. A worker process need not: it ends with them."""
    for place in list(_open):
        _close(place)


def find_lapsed(database: str) -> list[str]:
    """The folders that are to be read again before an index says what they hold; none where there is no index."""
    file = Path(database).absolute()
    if not file.exists():
        return []
    index = Index.at(file)
    try:
        return index.list_lapsed()
    except sqlite3.DatabaseError:
        return []  # it is none: who opens it next says so
    finally:
        index.close()


def is_lapsed(storage: Path) -> bool:
    """Whether one of the indexes in a storage folder is to be made anew."""
    return any(find_lapsed(str(storage / each)) for each in (FILE, LAWS_FILE, CASES_FILE))
