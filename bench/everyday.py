"""
Pages found for questions in everyday words: by words alone, with meaning, and by plain BM25 beside them.

    python -m bench.everyday --manual FOLDER --questions FILE.jsonl... [--words] [--json]

A question is a line `{"id": ..., "question": ..., "pages": [paths below FOLDER]}`; no pages: it has no answer there.
`parts`, of one that asks several things, are questions of their own.
"""

import argparse
import asyncio
import json
import re
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from actors.evidence.passages import SearchHits
from actors.text.stop_words import STOP
from bench.questions import find_name, list_pages, read_questions
from runtime.embeddings.embedder import open_embedder
from runtime.knowledge.index.indexing import IndexReport, index
from runtime.knowledge.knowledge_index import FILE, KnowledgeIndex
from runtime.processes.pool import Workers
from runtime.settings import KnowledgeSettings, Settings

PLACES = (1, 3, 10)
"""A right page must be among so many."""
PASSAGES = 40
"""Asked for, so that there are enough pages among them."""
SECONDS = 60.0
_OTHER_SCRIPTS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


class Asked(NamedTuple):
    """A question, or a part of one, as it is searched for."""

    set: str
    text: str
    pages: frozenset[str]


class Found(NamedTuple):
    """What one search gave: pages, the best first, how near they were, and how long it took."""

    pages: list[str]
    cosine: float | None
    sentence: float | None
    milliseconds: float


def _read(files: list[Path]) -> Iterator[Asked]:
    for file in files:
        for each in read_questions(file):
            yield Asked(file.stem, each.question, frozenset(each.pages))
            for part in each.parts:
                yield Asked(f"{file.stem} (parts)", part.question, frozenset(part.pages))


class Bm25:
    """SQLite's own ranking over the product's passages: words without stop words, or three characters at a time."""

    def __init__(self, storage: str | Path) -> None:
        database = Path(storage).absolute() / FILE
        self._db = sqlite3.connect(":memory:")
        self._db.execute("ATTACH ? AS own", (f"{database.as_uri()}?mode=ro",))
        for name, tokenizer in (("words", "porter unicode61"), ("trigrams", "trigram")):
            self._db.execute(f"CREATE VIRTUAL TABLE {name} USING fts5 (page UNINDEXED, text, tokenize = '{tokenizer}')")
            self._db.execute(
                f"INSERT INTO {name} SELECT f.name || '/' || d.path, p.text FROM own.passages p "
                "JOIN own.documents d ON d.id = p.document JOIN own.folders f ON f.id = d.folder"
            )

    def find(self, text: str) -> list[str]:
        """Sources of passages, the best first."""
        words = [word for word in re.findall(r"\w+", text.lower()) if word not in STOP]
        table = "words"
        if _OTHER_SCRIPTS.search(text):
            table, words = "trigrams", [word[i : i + 3] for word in words for i in range(len(word) - 2)]
        match = " OR ".join(f'"{word}"' for word in dict.fromkeys(words))
        sql = f"SELECT page FROM {table} WHERE {table} MATCH ? ORDER BY bm25({table}) LIMIT 200"
        return [row[0] for row in self._db.execute(sql, (match,))] if match else []


async def _ask(search: Callable[[str], Awaitable[SearchHits]], asked: Asked, manual: str) -> Found:
    began = time.perf_counter()
    hits = await search(asked.text)
    milliseconds = (time.perf_counter() - began) * 1000
    near = hits.meaning
    best = near.sentences[0].place.score if near and near.sentences else None
    pages = list_pages((each.source for each in hits.passages), manual)
    return Found(pages, near.best if near else None, best, milliseconds)


async def _measure(
    manual: Path, asked: list[Asked], kept: Path | None, *, meaning: bool
) -> tuple[IndexReport, dict[str, list[Found]]]:
    settings = KnowledgeSettings(search_seconds=SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        storage = kept or folder
        workers = Workers(2)
        embedder = open_embedder(Settings(), workers) if meaning else None
        try:
            report = await index([manual], storage, workers, settings, embedder=embedder)
            name = await find_name(manual, storage, workers)
            bm25 = Bm25(storage)
            found = {"BM25": [Found(list_pages(bm25.find(each.text), name), None, None, 0.0) for each in asked]}
            ways = {"words": KnowledgeIndex(storage, workers, settings)}
            if embedder is not None:
                ways["words + meaning"] = KnowledgeIndex(storage, workers, settings, embedder)
            for way, knowledge in ways.items():

                async def search(text: str, knowledge: KnowledgeIndex = knowledge) -> SearchHits:
                    return await knowledge.search(text, within=SECONDS, limit=PASSAGES)

                found[way] = [await _ask(search, each, name) for each in asked]
        finally:
            workers.close()
    return report, found


def _rows(asked: list[Asked], found: dict[str, list[Found]]) -> Iterator[dict[str, object]]:
    for name in dict.fromkeys(each.set for each in asked):
        for way, results in found.items():
            pairs = [pair for pair in zip(asked, results, strict=True) if pair[0].set == name]
            answerable = [(each, one) for each, one in pairs if each.pages]
            hits = {
                f"among_{n}": sum(bool(each.pages.intersection(one.pages[:n])) for each, one in answerable)
                for n in PLACES
            }
            times = sorted(one.milliseconds for _, one in pairs)
            yield {
                "set": name, "way": way, "answerable": len(answerable), **hits,
                "unanswerable": len(pairs) - len(answerable),
                "auc_passage": _auc([(bool(each.pages), one.cosine) for each, one in pairs]),
                "auc_sentence": _auc([(bool(each.pages), one.sentence) for each, one in pairs]),
                "ms_p50": round(times[len(times) // 2]), "ms_p95": round(times[int(len(times) * 0.95)]),
            }  # fmt: skip


def _auc(scores: list[tuple[bool, float | None]]) -> float | None:
    """How often a question with an answer scores above one without: .5 is chance."""
    yes = [score for answerable, score in scores if answerable and score is not None]
    no = [score for answerable, score in scores if not answerable and score is not None]
    if not yes or not no:
        return None
    return round(sum((a > b) + 0.5 * (a == b) for a in yes for b in no) / (len(yes) * len(no)), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description="Pages found for questions in everyday words.")
    parser.add_argument("--manual", type=Path, required=True, help="folder to index")
    parser.add_argument("--questions", type=Path, nargs="+", required=True, help="JSONL files")
    parser.add_argument("--words", action="store_true", help="leave meaning out, in the index too")
    parser.add_argument("--storage", type=Path, help="folder in which the index is kept, to be used again")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    if not options.manual.is_dir():
        sys.exit(f"Nothing to measure: {options.manual} is no folder.")
    asked = list(_read(options.questions))
    report, found = asyncio.run(_measure(options.manual, asked, options.storage, meaning=not options.words))
    rows = list(_rows(asked, found))
    build = {
        "passages": report.passages, "vectors": report.vectors, "index_seconds": round(report.seconds, 1),
        "index_megabytes": round(report.megabytes, 1),
        "worker_peak_megabytes": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024),
    }  # fmt: skip
    if options.json:
        print(json.dumps({**build, "sets": rows}))
        return
    print("".join(f"{name:24}{value}\n" for name, value in build.items()))
    lines = [list(rows[0]), *(["" if each is None else str(each) for each in row.values()] for row in rows)]
    widths = [max(map(len, column)) + 2 for column in zip(*lines, strict=True)]
    for line in lines:
        print("".join(f"{each:<{width}}" for each, width in zip(line, widths, strict=True)))


if __name__ == "__main__":
    main()
