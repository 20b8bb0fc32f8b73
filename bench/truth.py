"""
What the search finds, on questions of people who did not know where the answer stands.

    python -m bench.truth --data DATA --corpora FOLDER [--sets git tau ...] [--words] [--keep FOLDER] [--json]

DATA has `questions/everyday_*.dev.jsonl` and `public/*.dev.jsonl` with the documents of some; FOLDER has a folder of
documents for each other set, by its name. A set whose documents are missing is named and left out. The sets of
`bench/small` are our own.

A question counts where one of its right pages is among the first three that are shown. `refused` is told nothing
though its answer is there, `off topic` is what is asked of another set's documents and rightly told nothing.
"""

import argparse
import asyncio
import contextlib
import json
import random
import re
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

from actors.text.stop_words import STOP
from bench.questions import find_name, list_pages
from runtime.embeddings.embedder import Provider
from runtime.embeddings.providers import open_embedder
from runtime.knowledge import FILE
from runtime.knowledge.indexing import index
from runtime.knowledge.knowledge_index import KnowledgeIndex
from runtime.processes.pool import Workers
from runtime.settings import EmbeddingsSettings, KnowledgeSettings, Settings

SECONDS = 60.0
OFF_TOPIC = 40
"""Questions of other sets that are asked of each set's documents."""
EVERYDAY = ("git", "python", "helpcentre", "postgres", "office")
PUBLIC = {"tau": "tau_knowledge", "mtrag": "mtrag_un"}
SMALL = Path(__file__).parent / "small"
"""Folders of a few short documents with questions of our own."""
SETS = (*EVERYDAY, "zh", "ko", *PUBLIC, *sorted(f"small-{each.stem}" for each in SMALL.glob("*.jsonl")))
_OTHER_SCRIPTS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


class Asked(NamedTuple):
    """A question, and the pages that answer it; none: it has no answer there."""

    text: str
    pages: frozenset[str]


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


class Row(NamedTuple):
    """What was found for one set."""

    set: str
    answerable: int
    bm25: int
    """Questions with a right page among the first three of plain BM25 over the same passages;"""
    first: int
    three: int
    refused: int
    unanswerable: int
    unanswerable_refused: int
    off_topic: int
    off_topic_refused: int


def read_set(data: Path, name: str) -> list[Asked]:
    """The questions of a set."""
    if name.startswith("small-"):
        file = SMALL / f"{name.removeprefix('small-')}.jsonl"
    elif name in PUBLIC:
        file = data / "public" / f"{PUBLIC[name]}.dev.jsonl"
    else:
        file = data / "questions" / f"everyday_{name}.dev.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [Asked(_text(each), _pages(each)) for each in rows if each.get("kind") != "UNDERSPECIFIED"]


def _text(row: dict[str, Any]) -> str:
    """Of a conversation what the person has said by then."""
    return str(row.get("whole") or row["question"])


def _pages(row: dict[str, Any]) -> frozenset[str]:
    answerable = row.get("answerable", row.get("kind", "ANSWERABLE") in {"ANSWERABLE", "PARTIAL"})
    return frozenset(row["pages"] if answerable else ())


@contextlib.contextmanager
def open_documents(data: Path, corpora: Path, name: str) -> Iterator[Path | None]:
    """The folder of a set's documents; None where it is missing."""
    packed = {
        "helpcentre": data / "corpus" / "helpcentre.jsonl",
        **{each: data / "public" / f"{file}.documents.jsonl" for each, file in PUBLIC.items()},
    }
    if name not in packed:
        folder = SMALL / name.removeprefix("small-") if name.startswith("small-") else corpora / name
        yield folder if folder.is_dir() else None
        return
    with tempfile.TemporaryDirectory() as unpacked:
        root = Path(unpacked) / name
        for line in packed[name].read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            file = root / row["page"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(row["text"], encoding="utf-8")
        yield root


async def measure(
    name: str, asked: list[Asked], others: list[str], manual: Path, storage: Path, provider: Provider
) -> Row:
    """
    Index a folder and ask it the questions.

    :param others: questions of other sets, which have nothing to do with it.
    :param provider: of the sentence model.
    """
    settings = KnowledgeSettings(search_seconds=SECONDS)
    workers = Workers(2)
    embedder = open_embedder(Settings(embeddings=EmbeddingsSettings(provider=provider)), workers)
    knowledge = KnowledgeIndex(storage, workers, settings, embedder)
    try:
        await index([manual], storage, workers, settings, embedder=embedder)
        called = await find_name(manual, storage, workers)
        bm25 = Bm25(storage)

        async def find(text: str) -> tuple[list[str], bool]:
            hits = await knowledge.search(text, within=SECONDS)
            return list_pages((each.source for each in hits.passages), called)[:3], not hits.passages

        answerable = [each for each in asked if each.pages]
        found = [await find(each.text) for each in answerable]
        plain = [list_pages(bm25.find(each.text), called)[:3] for each in answerable]
        unanswerable = [await find(each.text) for each in asked if not each.pages]
        off_topic = [await find(each) for each in others]
    finally:
        workers.close()
        await knowledge.close()
    return Row(
        set=name,
        answerable=len(answerable),
        bm25=sum(bool(each.pages.intersection(pages)) for each, pages in zip(answerable, plain, strict=True)),
        first=sum(bool(each.pages.intersection(pages[:1])) for each, (pages, _) in zip(answerable, found, strict=True)),
        three=sum(bool(each.pages.intersection(pages)) for each, (pages, _) in zip(answerable, found, strict=True)),
        refused=sum(refused for _, refused in found),
        unanswerable=len(unanswerable),
        unanswerable_refused=sum(refused for _, refused in unanswerable),
        off_topic=len(off_topic),
        off_topic_refused=sum(refused for _, refused in off_topic),
    )


def measure_all(data: Path, corpora: Path, names: list[str], kept: Path | None, provider: Provider) -> Iterator[Row]:
    """A row a set."""
    sets = {name: read_set(data, name) for name in names}
    for name, asked in sets.items():
        others = [each.text for other, questions in sets.items() if other != name for each in questions if each.pages]
        random.Random(1).shuffle(others)
        with open_documents(data, corpora, name) as manual, tempfile.TemporaryDirectory() as folder:
            if manual is None:
                print(f"{name} is left out: there is no folder {corpora / name}.", file=sys.stderr)
                continue
            storage = (kept or Path(folder)) / name
            yield asyncio.run(measure(name, asked, others[:OFF_TOPIC], manual, storage, provider))


def main() -> None:
    parser = argparse.ArgumentParser(description="What the search finds, on questions in people's own words.")
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--corpora", type=Path, required=True, help="folder with a folder of documents for each set")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument(
        "--provider", choices=get_args(Provider), default="builtin", help="of the sentence model (default: %(default)s)"
    )
    parser.add_argument("--keep", type=Path, help="folder in which the indexes are kept, to be used again")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    found = measure_all(options.data, options.corpora, options.sets, options.keep, options.provider)
    if options.json:
        print(json.dumps([each._asdict() for each in found]))
        return
    print("".join(f"{name:>22}" for name in Row._fields))
    for each in found:
        print("".join(f"{value!s:>22}" for value in each), flush=True)


if __name__ == "__main__":
    main()
