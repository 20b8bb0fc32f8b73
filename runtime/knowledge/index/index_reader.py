"""An open index for reading, kept between searches: passages, terms and how frequent they are."""

import math
import sqlite3
import zlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from actors.text.tokenizer import tokens
from runtime.knowledge.index import vector_store
from runtime.knowledge.index.index_version import LAPSED, lapsed_folders
from runtime.knowledge.index.index_writer import StoredUnit, decode_units

KNOWN_TERMS = 200_000
"""So many frequencies are kept in memory."""
KNOWN_AT_ONCE = 2000
UNKNOWN, UNKNOWN_OF = 3, 1000
"""A few passages may have any word by chance: one of each thousand."""


class Lapsed(Exception):
    """The index does not say what its folders hold."""


class Candidate(NamedTuple):
    """A passage that shares a term with the question, as rows of terms."""

    id: int
    document: int
    prior: float
    leaf: str
    title: str
    path: str
    body: str


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


class Stored(NamedTuple):
    """A passage as it is shown."""

    id: int
    document: int
    ordinal: int
    source: str
    title: str
    heading: str
    leaf: str
    entry: int
    anchor: str
    start: int
    end: int
    text: str
    units: list[StoredUnit]
    path_terms: str
    body_terms: str


class IndexReader:
    """Reads one version of the index at a time; what it remembers is dropped when somebody writes."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.version = -1
        """Another number when somebody has written."""
        self._frequencies: dict[str, int] = {}
        self._rarities: dict[str, float] = {}
        self.passages = 0

    @classmethod
    def at(cls, path: Path) -> "IndexReader":
        """The index in a file, for reading only."""
        db = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=5.0)
        db.execute("PRAGMA cache_size = -32000")
        return cls(db)

    def begin(self) -> None:
        """
        Look at the newest state, and at that one until `end`.

        :raises Lapsed: another version made it, and what its folders hold is not read again yet.
        """
        self._db.execute("BEGIN")
        if lapsed_folders(self._db):
            raise Lapsed(LAPSED)
        version = self._db.execute("PRAGMA data_version").fetchone()[0]
        if version != self.version:
            self._frequencies.clear()
            self._rarities.clear()
            self.passages = self._db.execute("SELECT count(*) FROM passages").fetchone()[0]
            self.version = version

    def end(self) -> None:
        if self._db.in_transaction:
            self._db.execute("COMMIT")

    def close(self) -> None:
        self._db.close()

    @property
    def by_chance(self) -> int:
        """A word in no more passages than this is one that the documents do not speak of."""
        return min(UNKNOWN, self.passages // UNKNOWN_OF)

    def frequency(self, term: str) -> int:
        """In how many passages a term stands."""
        known = self._frequencies.get(term)
        if known is None:
            row = self._db.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,)).fetchone()
            known = row[0] if row else 0
            if len(self._frequencies) < KNOWN_TERMS:
                self._frequencies[term] = known
        return known

    def learn(self) -> None:
        """Take in how frequent all terms are: for an index that is asked often and not written any more."""
        rows = self._db.execute("SELECT term, doc FROM vocabulary LIMIT ?", (KNOWN_TERMS,))
        self._frequencies.update(rows)

    def find_known(self, terms: Iterable[str]) -> list[str]:
        """Those of some terms that the documents speak of."""
        wanted = sorted(terms)[:KNOWN_AT_ONCE]
        rows = self._db.execute(
            f"SELECT term FROM vocabulary WHERE doc > ? AND term IN ({','.join('?' * len(wanted))})",
            (self.by_chance, *wanted),
        )
        return [row[0] for row in rows]

    def rarity(self, term: str) -> float:
        """Inverse frequency, in nats."""
        known = self._rarities.get(term)
        if known is None:
            known = math.log(1 + self.passages / (0.5 + self.frequency(term)))
            if len(self._rarities) < KNOWN_TERMS:
                self._rarities[term] = known
        return known

    def candidates(self, terms: list[str], limit: int, documents: Collection[int] | None = None) -> list[Candidate]:
        """The passages with most of these terms, by FTS5's own ranking; of some documents only, if they are given."""
        if not terms:
            return []
        match = " OR ".join(f'"{term}"' for term in dict.fromkeys(terms))
        of = ""
        if documents is not None:  # the plus keeps SQLite from asking the full-text table once a passage
            numbers = ",".join(str(int(each)) for each in sorted(documents))
            of = f" AND +rowid IN (SELECT id FROM passages WHERE document IN ({numbers}))"
        rows = self._db.execute(
            f"""SELECT p.id, p.document, p.prior, p.leaf, t.title, t.path, t.body FROM (SELECT rowid AS id FROM terms
            WHERE terms MATCH ?{of} ORDER BY bm25(terms, 2.0, 3.0, 1.0), rowid LIMIT ?) best
            JOIN passages p ON p.id = best.id JOIN terms t ON t.rowid = best.id""",
            (match, limit),
        )
        return [Candidate(*row) for row in rows]

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
            f"""SELECT rowid, -bm25(terms, 0.0, 1.0, 1.0) FROM terms WHERE terms MATCH ?{within}
            ORDER BY 2 DESC, rowid LIMIT ?""",
            (" OR ".join(f'"{term}"' for term in terms), limit),
        )
        return [(int(id_), float(score)) for id_, score in rows]

    def find_vectors(self, ids: Collection[int], width: int) -> dict[int, bytes]:
        """The vectors of some passages by their numbers, of those that have one of so many bytes."""
        rows = self._db.execute(
            f"""SELECT p.id, v.vector FROM passages p JOIN vectors v ON v.digest = p.digest
            WHERE p.id IN ({",".join("?" * len(ids))}) AND length(v.vector) = ?""",
            (*ids, width),
        )
        return dict(rows.fetchall())

    def find_place(self, passage: int) -> Place:
        """Where a passage stands."""
        rows = self._db.execute(
            """SELECT p.document, p.ordinal, f.name || '/' || d.path, d.title, p.heading, p.anchor, p.start, p."end"
            FROM passages p JOIN documents d ON d.id = p.document JOIN folders f ON f.id = d.folder WHERE p.id = ?""",
            (passage,),
        )
        return Place._make(rows.fetchone())

    def saying(self, name: str, limit: int) -> set[int]:
        """The documents of the first passages that say a name as it is written."""
        phrase = " ".join(tokens(name))
        if not phrase:
            return set()
        rows = self._db.execute(
            """SELECT p.document, p.text FROM (SELECT rowid AS id FROM terms WHERE terms MATCH ? LIMIT ?) said
            JOIN passages p ON p.id = said.id""",
            (f'body : "{phrase}"', limit * 4),
        )
        return {row[0] for row in rows if name in row[1]}

    def openings(self, documents: Collection[int]) -> list[Candidate]:
        """The passages that some documents begin with."""
        rows = self._db.execute(
            f"""SELECT p.id, p.document, p.prior, p.leaf, t.title, t.path, t.body FROM passages p
            JOIN terms t ON t.rowid = p.id WHERE p.ordinal = 0 AND p.document IN ({",".join("?" * len(documents))})
            ORDER BY p.id""",
            sorted(documents),
        )
        return [Candidate(*row) for row in rows]

    def documents(self, sources: Iterable[str]) -> set[int]:
        """The numbers of the documents that some passages' `source` names."""
        wanted = set(sources)
        rows = self._db.execute(
            "SELECT d.id, f.name || '/' || d.path FROM documents d JOIN folders f ON f.id = d.folder"
        )
        return {row[0] for row in rows if row[1] in wanted}

    def titles(self, limit: int) -> list[tuple[int, str]]:
        """Number and title of the documents that could be read, the oldest first."""
        rows = self._db.execute("SELECT id, title FROM documents WHERE reason = '' ORDER BY id LIMIT ?", (limit,))
        return [(row[0], row[1]) for row in rows]

    def sources(self) -> list[tuple[str, str]]:
        """Source and title of the documents that could be read."""
        return self._db.execute(
            """SELECT f.name || '/' || d.path, d.title FROM documents d JOIN folders f ON f.id = d.folder
            WHERE d.reason = ''"""
        ).fetchall()

    def load(self, ids: list[int]) -> list[Stored]:
        """Passages by number, in order of their numbers."""
        rows = self._db.execute(
            f"""SELECT p.id, p.document, p.ordinal, f.name || '/' || d.path, d.title, p.heading, p.leaf, p.entry,
            p.anchor, p.start, p."end", p.text, p.units, t.path, t.body
            FROM passages p JOIN documents d ON d.id = p.document JOIN folders f ON f.id = d.folder
            JOIN terms t ON t.rowid = p.id WHERE p.id IN ({",".join("?" * len(ids))}) ORDER BY p.id""",
            ids,
        )
        return [Stored._make((*row[:12], decode_units(row[12]), *row[13:])) for row in rows]

    def vector_model(self) -> str:
        """The name of the model that made the vectors; empty: there are none."""
        return vector_store.model_name(self._db)

    def lacks_vectors(self) -> bool:
        """Whether vectors are still to be made, of however few passages."""
        return vector_store.count_missing(self._db) > 0

    def vectors(self, width: int) -> tuple[list[int], list[int], bytes]:
        """Passages that have vectors of so many bytes: their numbers, their documents', and the vectors in a row."""
        ids, documents, joined = list[int](), list[int](), bytearray()
        rows = self._db.execute(
            """SELECT p.id, p.document, v.vector FROM passages p JOIN vectors v ON v.digest = p.digest
            WHERE length(v.vector) = ? ORDER BY p.id""",
            (width,),
        )
        for passage, document, vector in rows:
            ids.append(passage)
            documents.append(document)
            joined += vector
        return ids, documents, bytes(joined)

    def documents_without_vectors(self) -> set[int]:
        """The documents of which no passage has a vector."""
        sql = """SELECT document FROM passages
        EXCEPT SELECT p.document FROM passages p JOIN vectors v ON v.digest = p.digest WHERE v.vector != x''"""
        return {row[0] for row in self._db.execute(sql)}

    def candidates_of(self, passages: Collection[int]) -> list[Candidate]:
        """Some passages, whether they share a term with the question or not."""
        rows = self._db.execute(
            f"""SELECT p.id, p.document, p.prior, p.leaf, t.title, t.path, t.body FROM passages p
            JOIN terms t ON t.rowid = p.id WHERE p.id IN ({",".join("?" * len(passages))}) ORDER BY p.id""",
            sorted(passages),
        )
        return [Candidate(*row) for row in rows]

    def neighbours(self, document: int, heading: str, around: int) -> list[int]:
        """The passages of the same section next to a passage."""
        rows = self._db.execute(
            "SELECT id FROM passages WHERE document = ? AND heading = ? AND id BETWEEN ? AND ?",
            (document, heading, around - 3, around + 4),
        )
        return [row[0] for row in rows]

    def outline(self, documents: Collection[int]) -> list[tuple[int, int, int, str, str]]:
        """(number, document, ordinal, heading, its last part) of all passages of some documents, in their order."""
        rows = self._db.execute(
            f"""SELECT id, document, ordinal, heading, leaf FROM passages
            WHERE document IN ({",".join("?" * len(documents))}) ORDER BY document, ordinal""",
            sorted(documents),
        )
        return rows.fetchall()

    def text(self, source: str) -> str | None:
        """The text of a document as it was read, which offsets of passages refer to; None if it is gone."""
        rows = self._db.execute(
            """SELECT d.text FROM documents d JOIN folders f ON f.id = d.folder
            WHERE f.name || '/' || d.path = ? AND d.reason = ''""",
            (source,),
        )
        row = rows.fetchone()
        return zlib.decompress(row[0]).decode() if row else None

    def sections(self, source: str) -> list[tuple[str, int, int]]:
        """Heading, start and end of all passages of a document, in their order."""
        rows = self._db.execute(
            """SELECT p.heading, p.start, p."end" FROM passages p JOIN documents d ON d.id = p.document
            JOIN folders f ON f.id = d.folder WHERE f.name || '/' || d.path = ? ORDER BY p.ordinal""",
            (source,),
        )
        return [(heading, start, end) for heading, start, end in rows]

    def file(self, source: str) -> str:
        """Where a document lies on this machine; empty if it is gone from the index."""
        rows = self._db.execute(
            """SELECT f.path || '/' || d.path FROM documents d JOIN folders f ON f.id = d.folder
            WHERE f.name || '/' || d.path = ?""",
            (source,),
        )
        row = rows.fetchone()
        return str(row[0]) if row else ""
