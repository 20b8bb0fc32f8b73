"""An open index for reading, kept between searches."""

import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from runtime.embeddings.sentence_model import multiply
from runtime.knowledge.index import vector_store
from runtime.knowledge.index.index_version import LAPSED, lapsed_folders

T = TypeVar("T")
TWICE = 2
"""Who repeats a word more often does not mean it more."""
TELLING, TELLING_SHARE = 8, 0.05
"""
Terms that more passages than this share say tell hardly one from another, and take most of a search's time: so many are
looked for all the same (`bench.statutes`: R@10 of STARD is that of all terms, in half of the time or less).
"""


class Lapsed(Exception):
    """The index does not say what its folders hold."""


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


class IndexReader:
    """Reads one version of the index at a time; what it remembers is dropped when somebody writes."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.version = -1
        """Another number when somebody has written."""
        self.passages = 0
        self._remembered: dict[str, Any] = {}

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
            self.passages = self._db.execute("SELECT count(*) FROM passages").fetchone()[0]
            self._remembered.clear()
            self.version = version

    def recall(self, name: str, make: Callable[[], T]) -> T:
        """What somebody makes of this version of the index: made once, and dropped with the version."""
        if name not in self._remembered:
            self._remembered[name] = make()
        made: T = self._remembered[name]
        return made

    def end(self) -> None:
        if self._db.in_transaction:
            self._db.execute("COMMIT")

    def close(self) -> None:
        self._db.close()

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

    def list_about(self) -> list[tuple[int, bytes]]:
        """Number of each document that could be read, and what its reader knows of it."""
        return self._db.execute("SELECT id, about FROM documents WHERE reason = '' ORDER BY id").fetchall()

    def find_about(self, document: int) -> bytes:
        """What its reader knows of a document."""
        return bytes(self._db.execute("SELECT about FROM documents WHERE id = ?", (document,)).fetchone()[0])

    def list_paths(self) -> list[tuple[int, str]]:
        """Number of each document that could be read, and its path below its folder."""
        return self._db.execute("SELECT id, path FROM documents WHERE reason = ''").fetchall()

    def list_folders(self) -> list[tuple[str, int]]:
        """Path of each folder, with the number of its documents."""
        return self._db.execute(
            """SELECT f.path, count(d.id) FROM folders f LEFT JOIN documents d ON d.folder = f.id
            GROUP BY f.id ORDER BY f.path"""
        ).fetchall()

    def find_anchor(self, document: int, anchor: str) -> int | None:
        """The first passage of a document with an anchor."""
        sql = "SELECT id FROM passages WHERE document = ? AND anchor = ? ORDER BY ordinal LIMIT 1"
        row = self._db.execute(sql, (document, anchor)).fetchone()
        return int(row[0]) if row else None

    def load_parts(self, ids: Collection[int]) -> dict[int, Part]:
        """Some passages by their numbers."""
        sql = f"SELECT id, document, anchor, heading, text FROM passages WHERE id IN ({','.join('?' * len(ids))})"
        return {row[0]: Part(*row[1:]) for row in self._db.execute(sql, (*ids,))}

    def find_vectors(self, ids: Collection[int], width: int) -> dict[int, bytes]:
        """The vectors of some passages by their numbers: of so many bytes, or of none."""
        rows = self._db.execute(
            f"""SELECT p.id, v.vector FROM passages p JOIN vectors v ON v.digest = p.digest
            WHERE p.id IN ({",".join("?" * len(ids))}) AND length(v.vector) IN (0, ?)""",
            (*ids, width),
        )
        return dict(rows.fetchall())

    def find_nearest(self, vector: bytes, most: int, documents: Collection[int] | None = None) -> list[int]:
        """The numbers of the passages whose vectors are nearest to one, of some documents or of all."""

        def load() -> tuple[NDArray[np.int64], NDArray[np.int8]]:
            rows = self._db.execute(
                """SELECT p.id, p.document, v.vector FROM passages p JOIN vectors v ON v.digest = p.digest
                WHERE length(v.vector) = ?""",
                (len(vector),),
            ).fetchall()
            numbers = np.array([row[:2] for row in rows], np.int64).reshape(-1, 2)
            return numbers, np.frombuffer(b"".join(row[2] for row in rows), np.int8).reshape(-1, len(vector))

        numbers, vectors = self.recall("vectors", load)
        near = multiply(vectors, vector)
        if documents is not None:
            among = np.isin(numbers[:, 1], list(documents))
            numbers, near = numbers[among], near[among]
        return [int(number) for number in numbers[np.argsort(-near, kind="stable")[:most], 0]]

    def list_texts(self, ids: Collection[int]) -> list[vector_store.Unseen]:
        """What the vectors of some passages are made of, by their numbers."""
        rows = self._db.execute(
            f"SELECT digest, heading, text FROM passages WHERE id IN ({','.join('?' * len(ids))})", (*ids,)
        )
        return [
            vector_store.Unseen(digest, vector_store.embedded_text(heading, text)) for digest, heading, text in rows
        ]

    def learn_vectors(self, model: str, vectors: Sequence[tuple[bytes, bytes]]) -> None:
        """Take in vectors of texts, as (digest, vector); for an index in memory, which nobody else writes."""
        vector_store.begin(self._db, model)
        vector_store.keep(self._db, model, vectors)

    def find_place(self, passage: int) -> Place:
        """Where a passage stands."""
        rows = self._db.execute(
            """SELECT p.document, p.ordinal, f.name || '/' || d.path, d.title, p.heading, p.anchor, p.start, p."end"
            FROM passages p JOIN documents d ON d.id = p.document JOIN folders f ON f.id = d.folder WHERE p.id = ?""",
            (passage,),
        )
        return Place._make(rows.fetchone())

    def documents(self, sources: Iterable[str]) -> set[int]:
        """The numbers of the documents that some passages' `source` names."""
        wanted = set(sources)
        rows = self._db.execute(
            "SELECT d.id, f.name || '/' || d.path FROM documents d JOIN folders f ON f.id = d.folder"
        )
        return {row[0] for row in rows if row[1] in wanted}

    def list_titles(self, limit: int) -> list[tuple[int, str]]:
        """Number and title of the documents that could be read, the oldest first."""
        rows = self._db.execute("SELECT id, title FROM documents WHERE reason = '' ORDER BY id LIMIT ?", (limit,))
        return [(row[0], row[1]) for row in rows]

    def read(self, document: int, characters: int) -> str:
        """What a document begins with."""
        rows = self._db.execute("SELECT text FROM passages WHERE document = ? ORDER BY ordinal", (document,))
        text = ""
        for (said,) in rows:
            text += f"{said}\n\n"
            if len(text) > characters:
                break
        return text[:characters]

    def find_opening(self, document: int) -> int:
        """The passage that a document begins with."""
        rows = self._db.execute("SELECT id FROM passages WHERE document = ? ORDER BY ordinal LIMIT 1", (document,))
        return int(rows.fetchone()[0])

    def sources(self) -> list[tuple[str, str]]:
        """Source and title of the documents that could be read."""
        return self._db.execute(
            """SELECT f.name || '/' || d.path, d.title FROM documents d JOIN folders f ON f.id = d.folder
            WHERE d.reason = ''"""
        ).fetchall()

    def vector_model(self) -> str:
        """The name of the model that made the vectors; empty: there are none."""
        return vector_store.model_name(self._db)

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
