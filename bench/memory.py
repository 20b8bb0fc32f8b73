"""
How well memory decides (hit, suggestion, miss) on two shops' tickets, and how fast it looks up in a large store.

With the installed sentence model, or by words; with all tickets of the stores, or with few for each answer.
"""

import argparse
import asyncio
import json
import random
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from actors.evidence.claims import Resolution
from bench.solved_tickets import SolvedTicket, remember_all
from runtime.embeddings.embedder import Embedder
from runtime.embeddings.providers import open_embedder
from runtime.memory.job_results import Learnt
from runtime.memory.ticket_memory import TicketMemory
from runtime.processes.pool import Workers
from runtime.settings import EmbeddingsSettings, MemorySettings, Settings
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.memory_store import SCHEMA, SqliteMemory

SETS = ("banking77", "clinc150")
WITHIN = 60.0
VECTOR_SECONDS = 7_200.0
QUESTIONS = 2_000
"""Look-ups that are timed."""
SETTINGS = MemorySettings(learn_after=1_000_000)  # learns when the benchmark says so, not in between


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def stored(data: Path, name: str) -> list[SolvedTicket]:
    """Tickets of the corpus; an answer's name stands for its text. They count as confirmed."""
    found = [row for path in sorted(data.glob(f"corpus/memory_{name}_store.*.jsonl")) for row in rows(path)]
    if not found:
        raise FileNotFoundError(f"There is no {data}/corpus/memory_{name}_store.*.jsonl: give --data.")
    return [SolvedTicket(row["id"], row["text"], Resolution(row["resolution"])) for row in found]


def thin(tickets: list[SolvedTicket], most: int) -> list[SolvedTicket]:
    """So many of each answer, by chance; 0: all."""
    left, kept = Counter[str](), list[SolvedTicket]()
    random.Random(1).shuffle(tickets)
    for ticket in tickets:
        left[ticket.resolution.text] += 1
        if not most or left[ticket.resolution.text] <= most:
            kept.append(ticket)
    return kept


def open_model(workers: Workers, *, by_words: bool) -> Embedder | None:
    """The sentence model that is installed here, unless words are to do."""
    chosen = EmbeddingsSettings(provider="none") if by_words else EmbeddingsSettings()
    return open_embedder(Settings(embeddings=chosen), workers)


async def quality(data: Path, split: str, name: str, folder: Path, most: int, *, by_words: bool) -> dict[str, float]:
    tickets = thin(stored(data, name), most)
    questions = rows(data / split / f"memory_{name}.jsonl")
    answers = {ticket.resolution.text for ticket in tickets}
    database, workers = Database(folder / f"{name}.db", SCHEMA), Workers(size=1)
    embedder = open_model(workers, by_words=by_words)
    memory = TicketMemory(SqliteMemory(database), workers, SETTINGS, embedder=embedder)
    resolvable = new = hits = right = false = suggested = useful = 0
    try:
        await remember_all(memory, tickets)
        learnt, cpu = await learn(memory)
        for question in questions:
            gold = question["resolution"]
            recall = await memory.recall(question["text"], within=WITHIN)
            if gold in answers:
                resolvable += 1
            else:
                new += 1
                false += recall.verdict == "hit"
            same = recall.resolution is not None and recall.resolution.text == gold
            hits += recall.verdict == "hit"
            right += recall.verdict == "hit" and same
            suggested += recall.verdict == "suggestion"
            useful += recall.verdict == "suggestion" and same
    finally:
        await memory.close()
        workers.close()
        database.close()
    return {
        "precision": right / max(1, hits),
        "recall": right / max(1, resolvable),
        "false_hits": false / max(1, new),
        "suggestions_right": useful / max(1, suggested),
        "resolvable": resolvable,
        "never_stored": new,
        "tickets": learnt.texts,
        "learn_cpu_seconds": cpu,
    }


async def learn(memory: TicketMemory) -> tuple[Learnt, float]:
    """What was learnt, and what it took of the processor, without making vectors."""
    await memory._embed_texts(asyncio.get_running_loop().time() + VECTOR_SECONDS)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    learnt = await memory.learn()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return learnt, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def at(times: list[float], share: float) -> float:
    """The time that this share of look-ups stays below, in milliseconds."""
    return times[int(share * len(times))] * 1e3


def pieces(data: Path) -> Iterator[tuple[str, str]]:
    """(text, answer) of everything in the corpora that can play a ticket: sentences under their titles, articles."""
    for name in SETS:
        yield from ((ticket.text, ticket.resolution.text) for ticket in stored(data, name))
    for path in sorted(data.glob("corpus/multihop_*.jsonl")):
        for row in rows(path):
            sentences = row.get("sentences") or re.split(r"(?<=[.!?])\s+", row["text"])
            yield from ((sentence[:400], row["title"]) for sentence in sentences if sentence.strip())
    for path in sorted(data.glob("corpus/statutes.*.jsonl")):
        yield from ((row["text"][:400], row["law"]) for row in rows(path))


async def speed(data: Path, split: str, size: int, folder: Path, *, by_words: bool) -> dict[str, float]:
    dice = random.Random(1)
    everything = list(dict(pieces(data)).items())
    dice.shuffle(everything)
    if len(everything) < size:
        raise ValueError(f"The corpora give only {len(everything)} texts: ask for less with --large.")
    tickets = [SolvedTicket(f"t{i}", text, Resolution(answer)) for i, (text, answer) in enumerate(everything[:size])]
    texts = [row["text"] for name in SETS for row in rows(data / split / f"memory_{name}.jsonl")]
    chinese = data / split / "statutes_stard.jsonl"
    texts += [row.get("text") or row["query"] for row in rows(chinese)] if chinese.exists() else []
    dice.shuffle(texts)
    database, workers = Database(folder / "large.db", SCHEMA), Workers(size=1)
    embedder = open_model(workers, by_words=by_words)
    memory = TicketMemory(SqliteMemory(database), workers, SETTINGS, embedder=embedder)
    try:
        await remember_all(memory, tickets)
        learnt, cpu = await learn(memory)
        took, hop = [], []
        for text in texts[:QUESTIONS]:
            began = time.perf_counter()
            await memory.recall(text, within=WITHIN)
            took.append(time.perf_counter() - began)
            began = time.perf_counter()
            await workers.call("runtime.memory.ticket_text:fold", text, within=WITHIN, returns=str)
            hop.append(time.perf_counter() - began)
    finally:
        await memory.close()
        workers.close()
        database.close()
    took, hop = sorted(took[1:]), sorted(hop[1:])  # the first one loads the model
    return {
        "lookup_p50_ms": at(took, 0.5),
        "lookup_p95_ms": at(took, 0.95),
        "lookup_max_ms": took[-1] * 1e3,
        "hop_p50_ms": at(hop, 0.5),
        "hop_p95_ms": at(hop, 0.95),
        "stored": size,
        "answers": learnt.answers,
        "learn_large_cpu_seconds": cpu,
        "model_megabytes": memory.model.stat().st_size / 1e6,
    }


async def measure(data: Path, split: str, large: int, most: int, *, by_words: bool) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in SETS:
            figures[name] = await quality(data, split, name, Path(folder), most, by_words=by_words)
        if large:
            figures |= await speed(data, split, large, Path(folder), by_words=by_words)
    return figures


def show(figures: dict[str, Any]) -> None:
    names = list(figures[SETS[0]])
    print(f"{'':20}" + "".join(f"{name:>12}" for name in SETS))
    for name in names:
        print(f"{name:20}" + "".join(f"{figures[each][name]:>12.4g}" for each in SETS))
    print()
    for name, value in figures.items():
        if name not in SETS:
            print(f"{name:20}{value:>12.4g}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with corpus/ and the splits")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--large", type=int, default=100_000, help="tickets of the large store; 0 leaves it out")
    parser.add_argument("--most", type=int, default=0, help="tickets of each answer; 0: all")
    parser.add_argument("--words", action="store_true", help="without a sentence model")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        asked = options.data, options.split, options.large, options.most
        figures = asyncio.run(measure(*asked, by_words=options.words))
    except Exception as error:
        print(f"Could not measure: {error}", file=sys.stderr)
        return 1
    print(json.dumps(figures)) if options.json else show(figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
