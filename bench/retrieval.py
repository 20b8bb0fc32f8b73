"""
Questions that need two documents, through the product's own index and search, without a model.

    python -m bench.retrieval --data DIR [--half 1|2] [--json]

DIR holds corpus/multihop_NAME.*.jsonl, one document a line (`title`, and `text` or `sentences`), and
dev/multihop_NAME.jsonl, one question a line (`question`, `gold_titles`).
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from actors.evidence.passages import SearchHits
from runtime.knowledge.indexing import index
from runtime.knowledge.knowledge_index import KnowledgeIndex
from runtime.processes.pool import Workers
from runtime.settings import KnowledgeSettings

T = TypeVar("T")

SETS = {"hotpot": "multihop_hotpot", "2wiki": "multihop_2wiki"}
TITLES = 10
"""All titles that a question needs must be among so many documents found."""
PASSAGES = 30
"""Asked for, so that there are enough documents among them."""
SECONDS = 60.0


class Item(msgspec.Struct, frozen=True):
    """A document of a corpus."""

    title: str
    text: str = ""
    sentences: list[str] = []


class Asked(msgspec.Struct, frozen=True):
    """A question and what its answer rests on."""

    id: str
    question: str
    gold_titles: list[str]


class Corpus(NamedTuple):
    """Documents as files, and where their sentences stand in them."""

    titles: dict[str, str]
    """By the name of the file."""
    sentences: dict[str, list[tuple[int, int]]]
    """By title: the places of its sentences in the file."""


class Result(NamedTuple):
    """How one question went."""

    titles: bool
    """All of them were among the documents found."""
    refused: bool
    milliseconds: float


def _written(items: list[Item], folder: Path) -> Corpus:
    folder.mkdir()
    titles, places = dict[str, str](), dict[str, list[tuple[int, int]]]()
    for number, item in enumerate(items):
        text, spans = f"---\ntitle: {item.title}\n---\n\n", list[tuple[int, int]]()
        for sentence in item.sentences or [item.text]:
            spans.append((len(text), len(text) + len(sentence)))
            text += sentence + " "
        name = f"{number:06}.md"
        (folder / name).write_text(text, encoding="utf-8")
        titles[name] = item.title
        places.setdefault(item.title, spans)
    return Corpus(titles, places)


def _found_titles(findings: SearchHits, corpus: Corpus) -> list[str]:
    sources = dict.fromkeys(Path(passage.source).name for passage in findings.passages)
    return [corpus.titles[name] for name in sources][:TITLES]


async def _ask(knowledge: KnowledgeIndex, asked: Asked, corpus: Corpus) -> Result:
    began = time.perf_counter()
    findings = await knowledge.search(asked.question, within=SECONDS, limit=PASSAGES, linked=True)
    took = (time.perf_counter() - began) * 1000
    titles = set(asked.gold_titles) <= set(_found_titles(findings, corpus))
    return Result(titles, bool(findings.abstain), took)


async def _measure(data: Path, name: str, half: int) -> list[Result]:
    items = [item for file in sorted((data / "corpus").glob(f"{name}.*.jsonl")) for item in _lines(file, Item)]
    questions = _lines(data / "dev" / f"{name}.jsonl", Asked)
    questions = questions[half - 1 :: 2] if half else questions
    with tempfile.TemporaryDirectory() as scratch:
        corpus = _written(items, Path(scratch) / name)
        workers = Workers(2)
        try:
            await index([Path(scratch) / name], scratch, workers, KnowledgeSettings(search_seconds=SECONDS))
            knowledge = KnowledgeIndex(scratch, workers, KnowledgeSettings(search_seconds=SECONDS))
            return [await _ask(knowledge, each, corpus) for each in questions]
        finally:
            workers.close()


def _lines(file: Path, kind: type[T]) -> list[T]:
    return [msgspec.json.decode(line, type=kind) for line in file.read_bytes().splitlines() if line.strip()]


def _mean(values: list[float]) -> float:
    return round(sum(values) / len(values), 4)


def _figures(results: dict[str, list[Result]]) -> dict[str, float]:
    figures = {}
    for name, each in results.items():
        figures[f"{name}.all_gold_at_10"] = _mean([one.titles for one in each])
        figures[f"{name}.questions"] = len(each)
        figures[f"{name}.refused"] = sum(one.refused for one in each)
        figures[f"{name}.ms"] = _mean([one.milliseconds for one in each])
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description="Questions that need two documents, without a model.")
    parser.add_argument("--data", type=Path, required=True, help="folder with corpus/ and dev/")
    parser.add_argument("--half", type=int, choices=(0, 1, 2), default=0, help="every second question only")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    missing = [name for name in SETS.values() if not (options.data / "dev" / f"{name}.jsonl").is_file()]
    if missing:
        sys.exit(f"Nothing to measure: {options.data} holds no dev/{missing[0]}.jsonl.")
    results = {key: asyncio.run(_measure(options.data, name, options.half)) for key, name in SETS.items()}
    figures = _figures(results)
    if options.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:28}{value:>10}")


if __name__ == "__main__":
    main()
